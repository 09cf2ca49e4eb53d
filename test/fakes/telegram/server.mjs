// The fake Bot API over HTTP: the token in the path, the envelope, and a person's side of the chats.

import { serve } from "../http.mjs";
import { BotApiError, refusal } from "./bot.mjs";
import { chatModel } from "./chats.mjs";

const DEFAULTS = {
  token: "7000000001:AAtestTokenOfTheFakeTelegramServer01",
  now: Date.parse("2026-11-02T08:00:00Z"),
  chats: /** @type {any[]} */ ([{ id: -1001234567890 }]),
};

/** @param {Partial<typeof DEFAULTS>} [options] */
export async function startTelegram(options = {}) {
  const settings = { ...DEFAULTS, ...options };

  const telegram = {
    url: "",
    token: settings.token,
    /** Virtual time, ms. */
    now: settings.now,
    /** Adds a chat: `{id, type?, username?, title?, threads?, state?}`. */
    addChat: (given) => model.add(given),
    chats: () => model.chats,
    /** The chat itself; its `state` and `threads` may be changed. */
    chat: (name) => model.chat(name),
    messages: (name) => model.chat(name).messages,
    sounds: (name) => model.chat(name).sounds,
    migrate: (name, newId) => model.migrate(name, newId),
    /** A person writes in a chat that the bot can read; `thread` is a topic. */
    personWrites: (name, given) => model.personWrites(name, given),
    /** A person adds the bot to a group or channel. */
    personAddsBot: (name) => model.personAddsBot(name),
    /** Where the bot's updates are sent instead of waiting for `getUpdates`. @type {string | undefined} */
    webhook: undefined,
    /** A person deletes a message. */
    personDeletes(name, messageId) {
      const { messages } = model.chat(name);
      const index = messages.findIndex(({ message_id }) => message_id === messageId);
      if (index < 0) throw new Error(`no message ${messageId}`);
      messages.splice(index, 1);
    },
    /** The next `times` calls are too many. */
    flood: (retryAfterSecs, times = 1, match = {}) =>
      server.fault(
        match,
        refusal(429, `Too Many Requests: retry after ${retryAfterSecs}`, { retry_after: retryAfterSecs }),
        times,
      ),
  };
  const model = chatModel(telegram);
  for (const given of settings.chats) model.add(given);

  function describe(request, text) {
    const { pathname } = new URL(request.url, "http://fake");
    const [, token, method] = /^\/bot([^/]+)\/(\w+)$/.exec(pathname) ?? [];
    // The path is logged without its token, as a client must do too.
    const path = method ? `/bot…/${method}` : pathname;
    return {
      method: method ?? "",
      path,
      verb: request.method,
      at: telegram.now,
      status: null,
      fault: false,
      tokenIsRight: token === telegram.token,
      body: parsed(text),
      bytes: 0,
    };
  }

  function handle(entry, request, text) {
    try {
      return { status: 200, body: { ok: true, result: result(entry, request, text) } };
    } catch (error) {
      if (error instanceof BotApiError) return refusal(error.code, error.message, error.parameters);
      return refusal(500, `Internal Server Error: the fake itself failed: ${error.stack}`);
    }
  }

  function result(entry, request, text) {
    if (!entry.method || !/^\/bot\d+:[\w-]+\//.test(request.url)) throw new BotApiError(404, "Not Found");
    if (!entry.tokenIsRight) throw new BotApiError(401, "Unauthorized");
    // The real server takes forms and queries too; a client that meant JSON and forgot to say so is refused here.
    if (entry.verb !== "POST") throw new BotApiError(400, "Bad Request: the fake takes POST only");
    if (text !== "" && !/^application\/json\b/i.test(request.headers["content-type"] ?? "")) {
      throw new BotApiError(400, "Bad Request: the fake takes application/json only");
    }
    if (text !== "" && (typeof entry.body !== "object" || entry.body === null)) {
      throw new BotApiError(400, "Bad Request: can't parse JSON object");
    }
    return model.call(entry.method, entry.body ?? {});
  }

  const server = await serve({ describe, handle, now: () => telegram.now });
  telegram.url = server.origin;

  return Object.assign(telegram, {
    requests: /** @type {any[]} */ (server.requests),
    fault: server.fault,
    close: server.close,
  });
}

function parsed(text) {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
