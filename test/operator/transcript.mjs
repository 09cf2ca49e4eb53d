// The transcripts of docs/setup.md, made by running both commands against the fakes. A test compares them with the page;
// run by itself, this file writes them there.

import { readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "../../scripts/setup.mjs";
import { choose, KEY, person, type } from "./person.mjs";
import { CHAT, openDesk, REPO } from "./scene.mjs";

const page = join(root, "docs", "setup.md");
const block = /(<!-- transcript: ([\w-]+) -->\n```text\n)([\s\S]*?)(```)/g;

/** Every transcript by its name. @param {any} t  a test, or what clears up after one */
export async function transcripts(t) {
  const desk = await openDesk(t);
  // The commands believe that they talk to the real services.
  const places = { "https://api.github.com": desk.github.url, "https://api.telegram.org": desk.telegram.url };
  desk.services = {};
  desk.change.fetch = (url, how) => {
    const real = Object.keys(places).find((place) => url.startsWith(place));
    return fetch(url.replace(real, places[real]), how);
  };
  desk.change.pause = async () => desk.telegram.personWrites(CHAT);

  const newcomer = person([
    [/What shall be set up/, choose(0)],
    [/App id, as/, type("1234567")],
    [/Private key: the/, KEY.enter],
    [/Where shall the alarm go/, choose(0)],
    [/Bot token, from/, type(desk.telegram.token)],
    [/Which chat shall the alarm go to/, choose(0)],
    [/Control repository, for/, type("octo/alarms")],
    [/How to go on/, choose(0)],
    [/Control repository, for/, type(REPO)],
    [/Deploy now/, choose(0)],
  ]);
  await desk.setup({}, [], newcomer.streams);

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
  return { setup: usual(newcomer.rest), "doctor-well": usual(well), "doctor-ill": usual(ill) };
}

/** Every transcript that the page shows. */
export const shownTranscripts = () =>
  Object.fromEntries(
    Array.from(readFileSync(page, "utf8").matchAll(block), ([, , name, text]) => [name, text.trimEnd()]),
  );

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const cleaners = [];
  const made = await transcripts({ after: (clean) => cleaners.push(clean) });
  const text = readFileSync(page, "utf8");
  writeFileSync(
    page,
    text.replace(block, (_whole, head, name, _old, foot) => `${head}${made[name]}\n${foot}`),
  );
  for (const clean of cleaners) await clean();
}
