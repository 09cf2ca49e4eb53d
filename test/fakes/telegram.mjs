// A stateful Telegram for one bot: `startTelegram(options)`. See telegram/server.mjs for what it holds.

export { startTelegram } from "./telegram/server.mjs";
