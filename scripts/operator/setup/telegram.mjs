// The bot and its chat.

import { failed, skipped } from "../checks/finding.mjs";
import { wrongBotToken, wrongChatId } from "../checks/forms.mjs";
import { recentChats } from "../checks/recent-chats.mjs";
import { checkBot, checkChat, sendTest } from "../checks/telegram.mjs";
import { connectTelegram, wrongSetting } from "../connect.mjs";
import { Unreachable } from "../http.mjs";
import { readVarsFile } from "../vars-file.mjs";
import { readVars } from "../wrangler-toml.mjs";
import { untilRight } from "./repair.mjs";

/** Given up together, or asked for anew. */
export const TELEGRAM_NAMES = ["TELEGRAM_BOT_TOKEN", "TELEGRAM_CHAT_ID", "TELEGRAM_THREAD_ID"];
const TEST = "Test of github-app-redeliver: the alarm will come to this chat. Nothing is wrong.";
const POLL_MS = 1_500;
/** Two minutes: long enough to open Telegram on a phone. */
const POLLS = 80;

/** @param {import('./repair.mjs').Run} run */
export async function theTelegram(run) {
  const { settings, ask, deployed } = run;
  if (
    !settings.has("TELEGRAM_BOT_TOKEN") &&
    deployed.includes("TELEGRAM_BOT_TOKEN") &&
    settings.has("TELEGRAM_CHAT_ID")
  ) {
    const choice = ask.interactive ? await keepOrGive(ask) : "keep";
    if (choice === "keep") {
      ask.show(skipped("Telegram", "Not checked: the Worker keeps the bot token to itself."));
      return;
    }
  }
  const without = "Telegram";
  const found = await untilRight(run, () => bot(run), { without });
  if (found && (await untilRight(run, () => chat(run, found), { without }))) return;
  for (const name of TELEGRAM_NAMES) settings.forget(name);
}

const keepOrGive = (ask) =>
  ask.select("The Worker has a bot token. It cannot be read back.", [
    { value: "keep", label: "Keep it", hint: "Telegram is not checked" },
    { value: "give", label: "Give it again", hint: "checks bot and chat" },
  ]);

async function bot({ settings, ask, world }) {
  if (!settings.has("TELEGRAM_BOT_TOKEN")) {
    const message = "Bot token, from @BotFather in Telegram (/newbot makes a bot)";
    settings.set("TELEGRAM_BOT_TOKEN", await ask.secret(message, { validate: wrongBotToken }), "your answer");
  }
  const { telegram, finding } = connectTelegram(world.ports, settings);
  if (!telegram) return { findings: [finding] };
  const checked = await checkBot(telegram);
  return { telegram, bot: checked.bot, findings: [checked.finding] };
}

async function chat(run, { telegram, bot }) {
  const { settings, world } = run;
  if (!settings.has("TELEGRAM_CHAT_ID")) await chooseChat(run, telegram, bot);
  const wrong = wrongSetting(settings, ["TELEGRAM_CHAT_ID", "TELEGRAM_THREAD_ID"]);
  if (wrong) return { findings: [wrong] };
  const where = () => ({ chatId: settings.get("TELEGRAM_CHAT_ID"), threadId: settings.get("TELEGRAM_THREAD_ID"), bot });
  let checked = await checkChat(telegram, where());
  if (checked.movedTo) {
    run.ask.show({ ...checked.finding, todo: "The new number is taken." });
    settings.set("TELEGRAM_CHAT_ID", checked.movedTo, "Telegram");
    checked = await checkChat(telegram, where());
  }
  if (failed([checked.finding])) return { findings: [checked.finding] };
  if (isKnown(where().chatId, world.root)) return { findings: [checked.finding] };
  return { findings: [checked.finding, (await sendTest(telegram, { ...where(), text: TEST })).finding] };
}

/** A chat that was set up before is not woken again. */
const isKnown = (chatId, root) =>
  [readVars(root), readVarsFile(root)].some(({ TELEGRAM_CHAT_ID: known }) => known?.trim() === chatId);

async function chooseChat(run, telegram, bot) {
  const { ask, settings } = run;
  ask.note(
    `A chat with you alone: open https://t.me/${bot.username}, press Start\n` +
      `A group: add @${bot.username} to it\n` +
      `A channel: make @${bot.username} an administrator of it`,
    "Write to the bot, and the chat is found",
  );
  const chats = await waitForChats(run, telegram);
  const options = chats.map(({ label }, index) => ({ value: String(index), label }));
  const hand = { value: "hand", label: "Another one", hint: "I type its number" };
  const again = { value: "again", label: "Look again" };
  const choice = await ask.select("Which chat shall the alarm go to?", [...options, again, hand]);
  if (choice === "again") return chooseChat(run, telegram, bot);
  if (choice === "hand") {
    const message = "Number of the chat (negative for groups), or @name of a channel";
    settings.set("TELEGRAM_CHAT_ID", await ask.text(message, { validate: wrongChatId }), "your answer");
    return undefined;
  }
  const { chatId, threadId } = chats[Number(choice)];
  settings.set("TELEGRAM_CHAT_ID", chatId, "Telegram");
  settings.set("TELEGRAM_THREAD_ID", threadId, "Telegram");
  return undefined;
}

/** The chats that wrote, as soon as there is one; none if they cannot be read, or nobody writes. */
async function waitForChats({ ask, world }, telegram) {
  ask.tell("Waiting for a message to the bot (two minutes; Ctrl-C ends the set-up).");
  for (let poll = 0; poll < POLLS; poll += 1) {
    const { chats, finding } = await recentChats(telegram).catch(quiet);
    if (finding) ask.show(finding);
    if (finding || chats.length > 0) return chats;
    await world.pause(POLL_MS);
  }
  return [];
}

/** One poll of many that got no answer. */
function quiet(error) {
  if (!(error instanceof Unreachable)) throw error;
  return { chats: [], finding: undefined };
}
