// One thing wrong at a time with Telegram, and what the doctor has to say about it.

import { refusal } from "../fakes/telegram.mjs";
import { CHAT } from "./scene.mjs";

/** @type {[string, import('./cases-app.mjs').Case][]} */
export const telegramCases = [
  [
    "the token is wrong",
    {
      row: "Telegram bot",
      says: /knows no bot with this token/,
      todo: /@BotFather/,
      with: { TELEGRAM_BOT_TOKEN: "7000000001:AAwrong" },
    },
  ],
  [
    "the token has a word too much",
    {
      row: "Telegram bot",
      says: /cannot be used/,
      todo: /Leave out the word "bot"/,
      with: { TELEGRAM_BOT_TOKEN: "bot7000000001:AAwrong" },
    },
  ],
  [
    "a token without a chat",
    { row: "Telegram chat", says: /TELEGRAM_CHAT_ID is not set/, with: { TELEGRAM_CHAT_ID: "" } },
  ],
  [
    "a chat without a token",
    { row: "Telegram bot", says: /TELEGRAM_BOT_TOKEN is not set/, with: { TELEGRAM_BOT_TOKEN: "" } },
  ],
  [
    "a group without the bot",
    {
      row: "Telegram chat",
      says: /not in this chat/,
      todo: /Add @redelivery_bot/,
      with: { TELEGRAM_CHAT_ID: "-100777" },
    },
  ],
  [
    "a person who never pressed Start",
    {
      row: "Telegram chat",
      says: /not in this chat/,
      todo: /t\.me\/redelivery_bot and press Start/,
      with: { TELEGRAM_CHAT_ID: "777" },
    },
  ],
  [
    "a person who blocked the bot",
    {
      row: "Telegram chat",
      says: /blocked the bot/,
      todo: /press Restart/,
      with: { TELEGRAM_CHAT_ID: "42" },
      world: ({ telegram }) => Object.assign(telegram.chat(42), { state: "blocked" }),
    },
  ],
  [
    "a bot that was kicked",
    {
      row: "Telegram chat",
      says: /kicked from the supergroup/,
      todo: /Add @redelivery_bot again/,
      world: ({ telegram }) => Object.assign(telegram.chat(CHAT), { state: "kicked" }),
    },
  ],
  [
    "a group that became a supergroup",
    {
      row: "Telegram chat",
      state: "warning",
      says: /its number is now -1009/,
      todo: /Set TELEGRAM_CHAT_ID to -1009/,
      world: ({ telegram }) => telegram.migrate(CHAT, -1009),
    },
  ],
  ["a topic that is not there", { row: "Telegram chat", says: /no such topic/, with: { TELEGRAM_THREAD_ID: "5" } }],
  [
    "a chat given as a link",
    {
      row: "Telegram chat",
      says: /cannot be used/,
      todo: /That is a link/,
      with: { TELEGRAM_CHAT_ID: "https://t.me/x" },
    },
  ],
  [
    "a web page in Telegram's place",
    {
      row: "Telegram bot",
      says: /web page, not Telegram's API/,
      world: ({ telegram }) => telegram.fault({}, { status: 200, body: "<html>" }),
    },
  ],
  [
    "a bot that may not post",
    {
      row: "Telegram chat",
      says: /may not write there/,
      todo: /administrator/,
      world: ({ telegram }) =>
        telegram.fault(
          { method: "sendChatAction" },
          refusal(400, "Bad Request: not enough rights to send text messages to the chat"),
        ),
    },
  ],
];
