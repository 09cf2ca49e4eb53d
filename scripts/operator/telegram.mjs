// The bot's calls. The token is in the address, so no address leaves this file.

export const TELEGRAM_API = "https://api.telegram.org";

/**
 * @param {{call: ReturnType<typeof import('./http.mjs').httpClient>, apiUrl: string, token: string}} of
 */
export function telegramClient({ call, apiUrl, token }) {
  const base = apiUrl.replace(/\/+$/, "");
  return {
    host: new URL(base).host,
    /** @param {string} method @param {any} [json] */
    bot: (method, json = {}) => call(`${base}/bot${token}/${method}`, { method: "POST", json }),
  };
}

/** @typedef {ReturnType<typeof telegramClient>} Telegram */

/** @param {any} chat  as Telegram shows it */
export function chatName({ title, first_name: first, last_name: last, username, id }) {
  const name = title ?? [first, last].filter(Boolean).join(" ");
  return name || (username ? `@${username}` : String(id));
}
