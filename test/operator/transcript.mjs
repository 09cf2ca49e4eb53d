// The transcripts of docs/setup.md, made by running both commands against the fakes. A test compares them with the page;
// run by itself, this file writes them there.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/setup.mjs";
import { alone, isRunAlone } from "../alone.mjs";
import { newcomer } from "./newcomer.mjs";
import { choose, type } from "./person.mjs";
import { CHAT, openDesk, REPO } from "./scene.mjs";

const page = join(root, "docs", "setup.md");
const block = /(<!-- transcript: ([\w-]+) -->\n```text\n)([\s\S]*?)(```)/g;

/** Every transcript by its name. @param {any} t  a test, or what clears up after one */
export async function transcripts(t) {
  const desk = await openDesk(t);
  const ada = newcomer(desk, [
    [/Control repository, for/, type("octo/alarms")],
    [/How to go on/, choose(0)],
    [/Control repository, for/, type(REPO)],
  ]);
  await desk.setup({}, [], ada.streams);

  desk.cloud.secrets = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"];
  const doctor = async (env, args) => {
    desk.printed = "";
    await desk.doctor(env, args);
    return desk.printed;
  };
  const env = { TELEGRAM_BOT_TOKEN: desk.telegram.token };
  const well = await doctor(env, ["--key-file", "app.private-key.pem"]);

  desk.github.webhook.secret = false;
  desk.github.installation("octo").permissions.issues = "read";
  desk.telegram.chat(CHAT).state = "kicked";
  const ill = await doctor(env, ["--key-file", "app.private-key.pem"]);

  const usual = (text) =>
    text
      .replaceAll(desk.folder, "/home/ada/Downloads")
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/g, "2026-11-02 08:14 UTC")
      .replace(/^\n+|\s+$/g, "");
  return { setup: usual(ada.rest), "doctor-well": usual(well), "doctor-ill": usual(ill) };
}

/** Every transcript that the page shows. */
export const shownTranscripts = () =>
  Object.fromEntries(
    Array.from(readFileSync(page, "utf8").matchAll(block), ([, , name, text]) => [name, text.trimEnd()]),
  );

if (isRunAlone(import.meta.url)) {
  const made = await alone(transcripts);
  const text = readFileSync(page, "utf8");
  writeFileSync(
    page,
    text.replace(block, (_whole, head, name, _old, foot) => `${head}${made[name]}\n${foot}`),
  );
}
