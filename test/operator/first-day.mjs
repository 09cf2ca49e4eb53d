// docs/first-day.md: a newcomer's first day, played from a fresh clone against the GitHub and the Telegram of the tests. A test compares
// it with the page; run by itself, this file writes it.

import assert from "node:assert/strict";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { readVars } from "../../scripts/operator/wrangler-toml.mjs";
import { root } from "../../scripts/setup.mjs";
import { alone, isRunAlone } from "../alone.mjs";
import { startWorker } from "../harness.mjs";
import { assertNoSecret } from "../worker/secrets.mjs";
import { wranglerTail } from "./cloud.mjs";
import { newcomer } from "./newcomer.mjs";
import { type } from "./person.mjs";
import { CHAT, openDesk, REPO } from "./scene.mjs";

export const RENEW = "node test/operator/first-day.mjs";

const DAY_MS = 86_400_000;

/**
 * The set-up signs in, so it plays at the present. The day of the sweeps is far enough ahead for GitHub to have forgotten the present, so
 * that nothing of it depends on when it is played; the page shows it as the 2nd of November.
 */
const DAY = Math.floor(Date.now() / DAY_MS) * DAY_MS + 5 * DAY_MS;
const SHOWN = Date.parse("2026-11-02T00:00:00Z");

/** A time of that day, such as `08:15`. */
function at(clock) {
  const [hours, minutes] = clock.split(":").map(Number);
  return DAY + (hours * 60 + minutes) * 60_000;
}

/** What git does not have, and so no clone. */
const NOT_CLONED = /^(\.git|\.wrangler|build|node_modules|target|\.env|\.dev\.vars(?!\.example$).*|.*\.pem)$/;

/** The whole page. @param {any} t  a test, or what clears up after one */
export async function firstDay(t) {
  const desk = await openDesk(t);
  const { setup, doctor } = await clone(desk);
  const parts = { setup: await setsUp(desk, setup) };

  // What was put in is what the deployed Worker has.
  const secrets = JSON.parse(desk.wranglerCalls.find(({ args }) => args.join(" ") === "secret bulk").input);
  assert.equal(desk.wranglerCalls.filter(({ args }) => args[0] === "deploy").length, 1);
  desk.cloud.secrets = Object.keys(secrets);

  desk.printed = "";
  assert.equal(await doctor([], desk.world({})), 0, desk.printed);
  parts.doctor = desk.printed;

  const { worker, tick } = await deployed(t, desk, secrets);
  desk.github.deliver({ event: "push", code: 200, at: at("08:10") });
  const first = await tick("08:15");
  assert.equal(first.outcome, "ok");
  parts.tail = await wranglerTail(t, desk, { lines: first.lines, at: at("08:15"), format: "pretty" });

  desk.github.endpoint = () => 500;
  const event = { event: "issue_comment", action: "created", code: 500, at: at("08:20") };
  const { guid } = desk.github.deliver(event);
  for (const clock of ["08:30", "08:45", "09:00"]) await tick(clock);
  assert.deepEqual(codes(desk, guid), [500, 500, 500]);
  const issue = desk.github.issue(REPO, 1);
  parts.message = desk.telegram.messages(CHAT).at(-1).text;
  parts.issue = `${issue.title}\n\n${issue.body}`;

  desk.github.endpoint = () => 200;
  desk.github.click(guid, 200);
  await tick("09:15");
  assert.equal(issue.state, "closed");
  parts.recovered = desk.telegram.messages(CHAT).at(-1).text;
  parts.closed = `${issue.title} (${issue.state})`;

  const made = written(parts, desk);
  assertNoSecret([made, ...worker.lines], desk.settings);
  return made;
}

/** The day of the page for a day of the play. */
const shifted = (day) => new Date(Date.parse(day) - DAY + SHOWN).toISOString().slice(0, 10);

const codes = (desk, guid) => desk.github.attempts(guid).map(({ code }) => code);

/** The desk's folder becomes a clone, and the commands are those of the clone. */
async function clone(desk) {
  cpSync(root, desk.folder, { recursive: true, filter: (file) => file === root || !NOT_CLONED.test(basename(file)) });
  symlinkSync(join(root, "node_modules"), join(desk.folder, "node_modules"));
  const operator = (file) => import(pathToFileURL(join(desk.folder, "scripts", "operator", file)).href);
  const [{ setup }, { doctor }] = [await operator("setup/main.mjs"), await operator("doctor.mjs")];
  return { setup, doctor };
}

/** The set-up. @returns {Promise<string>} what is on the screen in the end */
async function setsUp(desk, setup) {
  const ada = newcomer(desk, [[/Control repository, for/, type(REPO)]]);
  assert.equal(await setup([], desk.world({}, ada.streams)), 0, ada.screen);
  assert.deepEqual(ada.unasked, []);
  return ada.rest;
}

/** The built Worker with what was deployed: the `[vars]` of the clone, and the secrets that were put in. */
async function deployed(t, desk, secrets) {
  const services = { GITHUB_API_URL: desk.github.url, TELEGRAM_API_URL: desk.telegram.url };
  const worker = await startWorker({ bindings: { ...readVars(desk.folder), ...secrets, ...services } });
  t.after(() => worker.stop());
  const tick = async (clock) => {
    desk.github.now = at(clock);
    desk.telegram.now = at(clock);
    return worker.tick(at(clock));
  };
  return { worker, tick };
}

function written(parts, desk) {
  const usual = (text) =>
    text
      .replaceAll(desk.folder, "/home/ada/github-app-redeliver")
      .replace(/\d{4}-\d\d-\d\d(?= \d\d:\d\d UTC, with code)( \d\d:\d\d)/, "2026-11-02 07:30")
      .replace(/(\d{4}-\d\d-\d\d)(?=[ T]\d\d:\d\d)/g, (day) => (Date.parse(day) < DAY ? day : shifted(day)))
      .replace(/\d+\/\d+\/\d{4}(?=, )/g, "11/2/2026")
      .replace(/"duration_ms":\d+/g, '"duration_ms":20')
      .replace(/"id":"\d+"/g, '"id":"3870572215820877833"')
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "0a1b2c3d-82e7-11f1-959e-7ce606dfe5da")
      .replace(/^\n+|\s+$/g, "");
  const [setup, doctor, tail, message, issue, recovered, closed] = Object.values(parts).map(usual);
  const shown = (text, language = "text") => `\`\`\`${language}\n${text}\n\`\`\``;
  return `# Your first day

You start with a clone of this repository, a GitHub App with its private key (here \`app.private-key.pem\`, in the clone), a Telegram bot, and a
repository in which the App is installed. All of this page is made by \`${RENEW}\`, which plays it against the GitHub and the Telegram of
the tests, with a wrangler that takes notes in the place of a deployment.

## 1. Install, and sign in to Cloudflare

${shown("npm ci && npx wrangler login", "sh")}

## 2. Set it up

${shown("npm run setup", "sh")}

${shown(setup)}

The bot wrote to the chat, so that you know it can:

${shown(desk.telegram.messages(CHAT)[0].text)}

## 3. Look whether all is right

${shown("npm run doctor", "sh")}

${shown(doctor)}

Cloudflare shows a secret to nobody, so the doctor does not see those of the Worker: [setup.md](setup.md) says how to have them checked too.

## 4. The first sweep

${shown("npx wrangler tail", "sh")}

At the next quarter of an hour:

${shown(tail)}

\`"failure":null\` says that all is well. [What the other fields mean](operate/logs.md).

## 5. An event fails for good

At 08:20 your endpoint answers an event with 500, and so it does when GitHub delivers it again, at 08:30 and 08:45. At 09:00 you are told, in Telegram:

${shown(message)}

and by an issue of the control repository, whose title and text are:

${shown(issue, "markdown")}

## 6. And is recovered

You repair the endpoint and press *Redeliver* on the App's Advanced page. The next sweep sees it pass. The message is edited, without a sound:

${shown(recovered)}

The issue is closed, with the same words:

${shown(closed)}

Next: [what each alarm means](alarm.md), and the pages for what else you do, in the README under "When …".
`;
}

if (isRunAlone(import.meta.url)) writeFileSync(join(root, "docs", "first-day.md"), await alone(firstDay));
