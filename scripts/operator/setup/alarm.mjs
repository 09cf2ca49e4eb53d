// Where the alarm goes: a chat of Telegram, an issue of the control repository, or both.

import { checkControlRepo } from "../checks/control-repo.mjs";
import { skipped, warning } from "../checks/finding.mjs";
import { wrongControlRepo } from "../checks/forms.mjs";
import { wrongSetting } from "../connect.mjs";
import { untilRight } from "./repair.mjs";
import { theTelegram } from "./telegram.mjs";

const NOBODY = warning(
  "alarm",
  "Neither a chat nor a control repository is set, so nobody will be told.",
  "Run npm run setup again when you have one.",
);

/** @param {import('./repair.mjs').Run} run @param {{github?: any, app?: any}} found @param {{telegram?: boolean}} chosen */
export async function theAlarm(run, found, { telegram: anew = false }) {
  const { settings, ask, deployed } = run;
  const set = (name) => settings.has(name) || deployed.includes(name);
  let telegram = anew || set("TELEGRAM_BOT_TOKEN") || set("TELEGRAM_CHAT_ID");
  let repo = settings.has("CONTROL_REPO");
  if (!telegram && !repo && ask.interactive) {
    const choice = await ask.select("Where shall the alarm go?", [
      {
        value: "both",
        label: "Telegram, and an issue in a repository",
        hint: "one still works when the other is down",
      },
      { value: "telegram", label: "Telegram" },
      { value: "repo", label: "An issue in a repository" },
      { value: "none", label: "Nowhere for now", hint: "it is in the log only" },
    ]);
    telegram = choice === "both" || choice === "telegram";
    repo = choice === "both" || choice === "repo";
  }
  if (telegram) await theTelegram(run);
  if (repo) await theControlRepo(run, found);
  if (!["TELEGRAM_CHAT_ID", "CONTROL_REPO"].some(settings.has)) ask.show(NOBODY);
}

async function theControlRepo(run, { github, app }) {
  const { settings, ask } = run;
  if (!github) {
    if (!settings.has("CONTROL_REPO")) await askControlRepo(run);
    ask.show(skipped("control repository", "Not checked, without the private key."));
    return;
  }
  const check = async () => {
    await askControlRepo(run);
    const wrong = wrongSetting(settings, ["CONTROL_REPO"]);
    return { findings: [wrong ?? (await checkControlRepo(github, app, settings.get("CONTROL_REPO")))] };
  };
  if (!(await untilRight(run, check, { without: "a control repository" }))) settings.forget("CONTROL_REPO");
}

async function askControlRepo({ settings, ask }) {
  if (settings.has("CONTROL_REPO")) return;
  const message = "Control repository, for the issue; the App must be installed there";
  const answer = await ask.text(message, { placeholder: "owner/name", validate: wrongControlRepo });
  settings.set("CONTROL_REPO", answer, "your answer");
}
