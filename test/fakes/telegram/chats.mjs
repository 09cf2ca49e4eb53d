// The chats of the fake and the methods of the bot on them. It knows nothing of HTTP.

import { BOT, BotApiError } from "./bot.mjs";
import { isLink, parseHtml } from "./html.mjs";
import { updateQueue } from "./updates.mjs";

const MAX_UNITS = 4096;
const DELETE_WITHIN_MS = 48 * 3_600_000;

/** @param {string} why @param {Record<string, number>} [parameters] */
const bad = (why, parameters) => new BotApiError(400, `Bad Request: ${why}`, parameters);

/** Why the bot cannot write, by the state of the chat. @type {Record<string, string>} */
const FORBIDDEN = {
  blocked: "bot was blocked by the user",
  deactivated: "user is deactivated",
  "kicked:group": "bot was kicked from the group chat",
  "kicked:supergroup": "bot was kicked from the supergroup chat",
  "kicked:channel": "bot was kicked from the channel chat",
  "left:group": "bot is not a member of the group chat",
  "left:supergroup": "bot is not a member of the supergroup chat",
  "left:channel": "bot is not a member of the channel chat",
  deleted: "the group chat was deleted",
};

/**
 * @typedef {object} Chat
 * @property {number} id
 * @property {'private' | 'group' | 'supergroup' | 'channel'} type
 * @property {string} [username]
 * @property {string} title
 * @property {number[]} threads  topics of a forum; others have none
 * @property {'member' | 'blocked' | 'deactivated' | 'kicked' | 'left' | 'deleted'} state  a test changes it
 * @property {number} [migratedTo]
 * @property {Message[]} messages  those that still stand
 * @property {number} lastMessageId
 * @property {number} sounds  how many messages woke somebody, deleted ones included
 */

/**
 * @typedef {object} Message
 * @property {number} message_id @property {string} text  as a person reads it
 * @property {string} html  as it was sent @property {any[]} entities @property {any} reply_markup
 * @property {boolean} sentSilently @property {number} edits @property {number | null} thread @property {number} date  ms
 */

const SEND = [
  "chat_id",
  "text",
  "parse_mode",
  "entities",
  "link_preview_options",
  "disable_notification",
  "protect_content",
  "message_thread_id",
  "reply_markup",
  "reply_parameters",
];

/** The fields a method takes; a misspelt one would go unnoticed at the real server. @type {Record<string, string[]>} */
const FIELDS = {
  sendmessage: SEND,
  editmessagetext: ["chat_id", "message_id", "text", "parse_mode", "entities", "link_preview_options", "reply_markup"],
  deletemessage: ["chat_id", "message_id"],
  getchat: ["chat_id"],
  sendchataction: ["chat_id", "action", "message_thread_id"],
  getme: [],
  getupdates: ["offset", "limit", "timeout", "allowed_updates"],
};

/** @param {any} telegram  the fake, for its clock */
export function chatModel(telegram) {
  /** @type {Chat[]} */
  const chats = [];
  const updates = updateQueue(telegram);

  /** @param {Partial<Chat> & {id: number}} given */
  function add(given) {
    const type = given.type ?? (given.id > 0 ? "private" : "supergroup");
    const chat = {
      title: "Alarms",
      threads: [],
      state: "member",
      messages: [],
      lastMessageId: 1,
      sounds: 0,
      ...given,
      type,
    };
    chats.push(/** @type {Chat} */ (chat));
    return /** @type {Chat} */ (chat);
  }

  /** A chat by number, numeric text or @username. @param {number | string} name */
  function chat(name) {
    const found = chats.find(
      ({ id, username }) => String(id) === String(name) || (username && name === `@${username}`),
    );
    if (!found) throw new Error(`no chat ${name}`);
    return found;
  }

  function reached({ chat_id }) {
    if (chat_id === undefined || chat_id === "") throw bad("chat_id is empty");
    const found = chats.find(
      ({ id, username }) => String(id) === String(chat_id) || (username && chat_id === `@${username}`),
    );
    if (!found) throw bad("chat not found");
    if (found.migratedTo !== undefined) {
      throw bad("group chat was upgraded to a supergroup chat", { migrate_to_chat_id: found.migratedTo });
    }
    const why = FORBIDDEN[found.state] ?? FORBIDDEN[`${found.state}:${found.type}`];
    if (why) throw new BotApiError(403, `Forbidden: ${why}`);
    return found;
  }

  /** The topic that is written to, or none. @param {Chat} chat */
  function topic({ threads }, { message_thread_id: thread }) {
    if (thread === undefined || thread === null) return null;
    if (!threads.includes(Number(thread))) throw bad("message thread not found");
    return Number(thread);
  }

  function content({ text, parse_mode, entities, reply_markup }) {
    if (typeof text !== "string") throw bad("message text is empty");
    if (parse_mode !== undefined && String(parse_mode).toLowerCase() !== "html") throw bad("Unsupported parse_mode");
    const read = parse_mode ? parseHtml(text) : { text, entities: entities ?? [] };
    if ("error" in read) throw bad(`can't parse entities: ${read.error}`);
    if (!read.text.trim()) throw bad("message text is empty");
    if (read.text.length > MAX_UNITS) throw bad("message is too long");
    return { text: read.text, html: text, entities: read.entities, reply_markup: keyboard(reply_markup) };
  }

  function sendMessage(asked) {
    const found = reached(asked);
    const thread = topic(found, asked);
    const sentSilently = asked.disable_notification === true;
    const read = content(asked);
    found.lastMessageId += 1;
    const message = {
      message_id: found.lastMessageId,
      ...read,
      sentSilently,
      edits: 0,
      thread,
      date: telegram.now,
    };
    found.messages.push(message);
    if (!sentSilently) found.sounds += 1;
    return shown(found, message);
  }

  function editMessageText(asked) {
    const found = reached(asked);
    const message = found.messages.find(({ message_id }) => message_id === Number(asked.message_id));
    if (!message) throw bad("message to edit not found");
    const next = content(asked);
    const same = (one) => JSON.stringify([one.text, one.entities, one.reply_markup ?? null]);
    if (same(next) === same(message)) {
      throw bad(
        "message is not modified: specified new message content and reply markup are exactly the same as a " +
          "current content and reply markup of the message",
      );
    }
    // A keyboard that is not sent again is gone.
    Object.assign(message, next, { edits: message.edits + 1 });
    return { ...shown(found, message), edit_date: Math.floor(telegram.now / 1000) };
  }

  function deleteMessage(asked) {
    const found = reached(asked);
    const index = found.messages.findIndex(({ message_id }) => message_id === Number(asked.message_id));
    if (index < 0) throw bad("message to delete not found");
    if (telegram.now - found.messages[index].date > DELETE_WITHIN_MS) throw bad("message can't be deleted");
    found.messages.splice(index, 1);
    return true;
  }

  /** @type {Record<string, (asked: any) => any>} */
  const methods = {
    sendmessage: sendMessage,
    editmessagetext: editMessageText,
    deletemessage: deleteMessage,
    getchat: (asked) => about(reached(asked)),
    // "typing" for five seconds, without a sound: whether the bot may write here.
    sendchataction: (asked) => {
      topic(reached(asked), asked);
      if (asked.action !== "typing") throw bad("wrong parameter action in request");
      return true;
    },
    getme: () => ({
      ...BOT,
      can_join_groups: true,
      can_read_all_group_messages: false,
      supports_inline_queries: false,
    }),
    getupdates: updates.read,
  };

  return {
    add,
    chat,
    chats,
    /** The result of a method; throws `BotApiError`. @param {string} name @param {any} asked */
    call(name, asked) {
      const method = methods[name.toLowerCase()];
      if (!method) throw new BotApiError(404, "Not Found");
      const stranger = Object.keys(asked).find((field) => !FIELDS[name.toLowerCase()].includes(field));
      if (stranger) throw bad(`the fake knows no field "${stranger}" of ${name}`);
      return method(asked);
    },
    /** A group becomes a supergroup: a new chat, in which the old messages do not exist. */
    migrate(name, newId) {
      const old = chat(name);
      old.migratedTo = newId;
      const grown = add({ id: newId, type: "supergroup", title: old.title });
      updates.migrated(about(old), grown);
      return grown;
    },
    personWrites: (name, given) => updates.written(about(chat(name)), given),
    personAddsBot: (name) => updates.botAdded(about(chat(name))),
  };
}

/** @param {any} markup */
function keyboard(markup) {
  if (markup === undefined || markup === null) return undefined;
  if (!Array.isArray(markup.inline_keyboard)) throw bad("can't parse reply keyboard markup JSON object");
  for (const button of markup.inline_keyboard.flat()) {
    if (!button.text) throw bad("Text buttons are unallowed in the inline keyboard");
    if (!isLink(button.url)) throw bad("BUTTON_URL_INVALID");
  }
  return markup;
}

/** @param {Chat} chat */
function about({ id, type, title, username }) {
  return { id, type, ...(type === "private" ? { first_name: title } : { title }), ...(username && { username }) };
}

function shown(chat, { message_id, text, entities, reply_markup, thread, date }) {
  return {
    message_id,
    from: BOT,
    chat: about(chat),
    date: Math.floor(date / 1000),
    text,
    ...(entities.length && { entities }),
    ...(reply_markup && { reply_markup }),
    ...(thread !== null && { message_thread_id: thread, is_topic_message: true }),
  };
}
