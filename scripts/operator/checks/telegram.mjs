// Whether the bot exists and may write to the chat. Nothing here makes a sound, but for the test message.

import { chatName } from "../telegram.mjs";
import { ok, problem, quoted, reached, unexpected, warning } from "./finding.mjs";

/** @typedef {import('../telegram.mjs').Telegram} Telegram @typedef {import('./finding.mjs').Finding} Finding */

/** @param {string} check @param {() => Promise<any>} work */
const asked = (check, work) => reached(check, work, (finding) => ({ finding }));

/** @param {Telegram} telegram @returns {Promise<{bot?: any, finding: Finding}>} */
export const checkBot = (telegram) =>
  asked("Telegram bot", async () => {
    const answer = await telegram.bot("getMe");
    const { status, json } = answer;
    if (json?.ok) return { bot: json.result, finding: ok("Telegram bot", `@${json.result.username} answers.`) };
    if (json === undefined) {
      const text = `${telegram.host} answers a web page, not Telegram's API.`;
      return { finding: problem("Telegram bot", text, "Look at TELEGRAM_API_URL and the proxy.", "TELEGRAM_API_URL") };
    }
    if (status === 401 || status === 404) {
      const text = "Telegram knows no bot with this token: it is mistyped, or was revoked.";
      const todo = "Ask @BotFather for it: /mybots, the bot, API Token.";
      return { finding: problem("Telegram bot", text, todo, "TELEGRAM_BOT_TOKEN") };
    }
    return { finding: unexpected("Telegram bot", "Telegram", answer) };
  });

/**
 * The chat by `getChat`, and by "typing" whether the bot may write there.
 * @param {Telegram} telegram
 * @param {{chatId: string, threadId?: string, bot: any}} where
 * @returns {Promise<{chat?: any, movedTo?: string, finding: Finding}>}
 */
export const checkChat = (telegram, { chatId, threadId, bot }) =>
  asked("Telegram chat", async () => {
    const about = await telegram.bot("getChat", { chat_id: chatId });
    if (!about.json?.ok) return refusal(about, { chatId, bot });
    const chat = about.json.result;
    const typing = await telegram.bot("sendChatAction", { ...place(chatId, threadId), action: "typing" });
    if (!typing.json?.ok) return refusal(typing, { chatId, bot });
    const topic = threadId ? `, topic ${threadId}` : "";
    return { chat, finding: ok("Telegram chat", `The bot may write to ${chatName(chat)} (${chat.type}${topic}).`) };
  });

/**
 * A message that a person can see.
 * @param {Telegram} telegram @param {{chatId: string, threadId?: string, bot: any, text: string}} what
 * @returns {Promise<{movedTo?: string, finding: Finding}>}
 */
export const sendTest = (telegram, { chatId, threadId, bot, text }) =>
  asked("test message", async () => {
    const answer = await telegram.bot("sendMessage", { ...place(chatId, threadId), text });
    if (!answer.json?.ok) return refusal(answer, { chatId, bot });
    return { finding: ok("test message", "It was sent: look for it in the chat.") };
  });

const place = (chatId, threadId) => ({
  chat_id: chatId,
  ...(threadId && { message_thread_id: Number(threadId) }),
});

const wrong = (text, todo, setting = "TELEGRAM_CHAT_ID") => problem("Telegram chat", text, todo, setting);

/** Telegram's words are matched, since its codes "are subject to change". */
function refusal(answer, { chatId, bot }) {
  const said = String(answer.json?.description ?? "");
  const moved = answer.json?.parameters?.migrate_to_chat_id;
  const name = `@${bot.username}`;
  if (moved !== undefined) {
    const text = `The group became a supergroup, and its number is now ${moved}.`;
    return {
      movedTo: String(moved),
      finding: warning("Telegram chat", text, `Set TELEGRAM_CHAT_ID to ${moved}; npm run setup does it.`),
    };
  }
  if (/thread not found/i.test(said)) {
    const todo = "Give the topic's number, or leave TELEGRAM_THREAD_ID empty.";
    return { finding: wrong("The group has no such topic.", todo, "TELEGRAM_THREAD_ID") };
  }
  if (/chat not found/i.test(said)) {
    const todo =
      chatId.startsWith("-") || chatId.startsWith("@")
        ? `Add ${name} to the group or channel, and look at the number.`
        : `A bot cannot write first: open https://t.me/${bot.username} and press Start.`;
    return { finding: wrong("The bot is not in this chat, or there is none with that number.", todo) };
  }
  if (/blocked by the user/i.test(said)) {
    return {
      finding: wrong("You have blocked the bot.", `Unblock it: open https://t.me/${bot.username} and press Restart.`),
    };
  }
  if (/kicked|not a member|group chat was deleted|deactivated/i.test(said)) {
    return {
      finding: wrong(
        `The bot is not in the chat any more (${quoted(said)}).`,
        `Add ${name} again, or give another chat.`,
      ),
    };
  }
  if (/rights|admin/i.test(said)) {
    return { finding: wrong("The bot may not write there.", `Make ${name} an administrator that may post messages.`) };
  }
  return { finding: { ...unexpected("Telegram chat", "Telegram", answer), setting: "TELEGRAM_CHAT_ID" } };
}
