// Whether a setting can be what it should be, by its form alone: the rules of the Worker (src/config/reader.rs), and the
// mix-ups that people make. Each returns what is wrong and what to give instead, or nothing.

/** @typedef {string | undefined} Wrong */

/** @param {string} text @returns {Wrong} */
export function wrongAppId(text) {
  if (/^[0-9a-f]{40}$/.test(text)) return "That is a client secret. Give the App id, a number, or the client id.";
  if (text.startsWith("Ov")) return "That is the client id of an OAuth App. Give the id of a GitHub App.";
  if (/^gh[a-z]_|^github_pat_/.test(text)) return "That is a token. Give the App id, a number, or the client id.";
  if (/^Iv/.test(text)) return /^Iv[\w.]{6,62}$/.test(text) ? undefined : "That client id is not whole.";
  if (/^\d{1,18}$/.test(text)) return undefined;
  return "Give the App id, a number, or the client id (Iv...): both stand at the top of the App's settings page.";
}

/** @param {string} text @returns {Wrong} */
export function wrongBotToken(text) {
  if (/^\d+:[\w-]+$/.test(text)) return undefined;
  if (/^bot\d+:/.test(text)) return 'Leave out the word "bot" before the number.';
  if (/^@?\w+bot$/i.test(text))
    return "That is the bot's name. Give its token, such as 123456:ABC..., from @BotFather.";
  return "A bot token is a number, a colon, and letters and digits. @BotFather shows it under /mybots, API Token.";
}

/** @param {string} text @returns {Wrong} */
export function wrongChatId(text) {
  if (/^-?\d{1,18}$/.test(text) || /^@\w+$/.test(text)) return undefined;
  if (/t\.me\//.test(text)) return "That is a link. Give the chat's number, or @name if it is public.";
  return "Give the chat's number (negative for groups), or @name of a channel.";
}

/** @param {string} text @returns {Wrong} */
function wrongThreadId(text) {
  return /^[1-9]\d{0,17}$/.test(text) ? undefined : "Give the number of a topic of the group.";
}

/** @param {string} text @returns {Wrong} */
export function wrongControlRepo(text) {
  const parts = text.split("/");
  const good = (part) => /^[\w.-]{1,100}$/.test(part) && part !== "." && part !== "..";
  if (parts.length === 2 && parts.every(good)) return undefined;
  const [, named] = /^(?:https?:\/\/[^/]+\/|git@[^:]+:)([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(text) ?? [];
  return named ? `Write it as ${named}.` : "Write it as owner/name.";
}

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d+){3}|\[::1\])$/;

/** An address of a service, as the Worker takes it. @param {string} text @returns {Wrong} */
export function wrongServiceUrl(text) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url) return "Give a whole address, such as https://HOST/api/v3.";
  if (url.search || url.hash || url.username || url.password) return "Give the address without user, query and #.";
  const safe = url.protocol === "https:" || (url.protocol === "http:" && LOOPBACK.test(url.hostname));
  return safe ? undefined : "Give an https address; http is for this machine only.";
}

/** The form of each setting that has one. @type {Record<string, (text: string) => Wrong>} */
export const wrongForm = {
  GITHUB_APP_ID: wrongAppId,
  TELEGRAM_BOT_TOKEN: wrongBotToken,
  TELEGRAM_CHAT_ID: wrongChatId,
  TELEGRAM_THREAD_ID: wrongThreadId,
  CONTROL_REPO: wrongControlRepo,
  GITHUB_API_URL: wrongServiceUrl,
  TELEGRAM_API_URL: wrongServiceUrl,
};
