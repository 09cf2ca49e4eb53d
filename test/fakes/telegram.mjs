// A stateful Telegram for one bot: `startTelegram(options)`. See telegram/server.mjs for what it holds.

export { refusal } from "./telegram/bot.mjs";
export { startTelegram } from "./telegram/server.mjs";
