// The chats that lately wrote to the bot, so that nobody has to look for a number.

import { chatName } from "../telegram.mjs";
import { problem, unexpected } from "./finding.mjs";

/**
 * @typedef {{chatId: string, threadId?: string, label: string}} RecentChat
 *
 * Confirms nothing and changes no setting of the bot: whoever else reads its updates still gets all of them.
 * @param {import('../telegram.mjs').Telegram} telegram
 * @returns {Promise<{chats: RecentChat[], finding?: import('./finding.mjs').Finding}>}  the newest first
 */
export async function recentChats(telegram) {
  const answer = await telegram.bot("getUpdates", { limit: 100, timeout: 0 });
  if (answer.json?.ok) return { chats: chatsOf(answer.json.result) };
  if (answer.status === 409) {
    const hook = /webhook/i.test(answer.json?.description ?? "");
    const text = hook
      ? "The bot has a webhook, so what people write to it goes there and cannot be read here."
      : "Another program is reading what people write to this bot.";
    return {
      chats: [],
      finding: problem("find the chat", text, "Give the chat's number by hand, or use a bot of its own."),
    };
  }
  return { chats: [], finding: unexpected("find the chat", "Telegram", answer) };
}

function chatsOf(updates) {
  /** @type {Map<string, RecentChat>} */
  const found = new Map();
  for (const update of updates) {
    const content = update.message ?? update.channel_post ?? update.my_chat_member;
    if (!content?.chat) continue;
    const { chat, new_chat_member: member } = content;
    const leaves = ["left", "kicked"].includes(member?.status);
    if (leaves || content.migrate_to_chat_id) {
      for (const [key, { chatId }] of found) if (chatId === String(chat.id)) found.delete(key);
    }
    if (leaves) continue;
    const id = String(content.migrate_to_chat_id ?? chat.id);
    const thread = content.is_topic_message ? String(content.message_thread_id) : undefined;
    const type = content.migrate_to_chat_id ? "supergroup" : chat.type;
    const label = `${chatName(chat)} (${type}${thread ? `, topic ${thread}` : ""})`;
    const key = `${id} ${thread ?? ""}`;
    found.delete(key);
    found.set(key, { chatId: id, ...(thread && { threadId: thread }), label });
  }
  return [...found.values()].reverse();
}
