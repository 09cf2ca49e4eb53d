// What people do where the bot can see it, kept for `getUpdates`. It knows nothing of HTTP.

import { BOT, BotApiError } from "./bot.mjs";

const KEPT_MS = 24 * 3_600_000;
const PERSON = { id: 42, is_bot: false, first_name: "Ada" };

/** @param {any} telegram  the fake, for its clock and its webhook */
export function updateQueue(telegram) {
  /** @type {any[]} */
  let queue = [];
  let lastId = 800_000_000;

  const secs = () => Math.floor(telegram.now / 1000);

  function add(kind, content) {
    lastId += 1;
    queue.push({ at: telegram.now, update: { update_id: lastId, [kind]: content } });
  }

  /** A channel's posts have no author and are updates of their own kind. */
  function message(chat, content) {
    const isChannel = chat.type === "channel";
    const base = { message_id: lastId, date: secs(), chat, ...(!isChannel && { from: PERSON }) };
    add(isChannel ? "channel_post" : "message", { ...base, ...content });
  }

  return {
    /** @param {any} chat @param {{text?: string, thread?: number}} [given] */
    written: (chat, { text = "/start", thread } = {}) =>
      message(chat, { text, ...(thread && { message_thread_id: thread, is_topic_message: true }) }),

    botAdded(chat) {
      const status = chat.type === "channel" ? "administrator" : "member";
      add("my_chat_member", {
        chat,
        from: PERSON,
        date: secs(),
        old_chat_member: { user: BOT, status: "left" },
        new_chat_member: { user: BOT, status },
      });
    },

    migrated: (chat, grown) => message(chat, { migrate_to_chat_id: grown.id }),

    /** `getUpdates`: the oldest first, at most `limit`; those before `offset` are confirmed and gone. */
    read({ offset = 0, limit = 100 }) {
      if (telegram.webhook) {
        throw new BotApiError(
          409,
          "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
        );
      }
      queue = queue.filter(({ at, update }) => telegram.now - at < KEPT_MS && update.update_id >= offset);
      return queue.slice(0, limit).map(({ update }) => update);
    },
  };
}
