// The alarm on stage: events that give up at once, and sweeps that name each call they made for the alarm.

import assert from "node:assert/strict";
import { call } from "../fakes/client.mjs";
import { at, CHAT, CONTROL_REPO, isAsk, isList, openScene, withSettings } from "./scene.mjs";

/** Calls of one change of the alarm at most, whatever goes wrong. */
const MOST_CALLS = 12;

/** What the sweep does to the issue each time: it enters the repository. */
export const ENTER = ["GET installation", "POST access_tokens"];

/**
 * A scene in which two failed attempts are all, after its `first` sweep, in which nothing is wrong. `chat` is another chat
 * than the usual one, as the fake takes it.
 */
export async function openAlarm(t, { settings, chat, ...options } = {}) {
  const TELEGRAM_CHAT_ID = chat?.username ? `@${chat.username}` : String(chat?.id ?? CHAT);
  const all = { MAX_ATTEMPTS: "2", TELEGRAM_CHAT_ID, ...settings };
  const scene = await openScene(t, { settings: all, ...options });
  scene.chat = chat ? scene.telegram.addChat(chat) : scene.telegram.chat(CHAT);
  scene.faults = [];
  for (const fake of [scene.github, scene.telegram]) {
    const { fault } = fake;
    fake.fault = (...given) => scene.faults[scene.faults.push(fault(...given)) - 1];
  }
  scene.first = await sweep(scene, "08:00");
  return scene;
}

/**
 * One stage for several acts, each a test of its own, since to start the Worker takes longer than to play any of them.
 * Returns a function that plays one.
 */
export async function openActs(t, options) {
  const scene = await openAlarm(t, options);
  return (name, play) =>
    t.test(name, async () => {
      await clears(scene);
      await play(scene);
    });
}

/** Four days later: GitHub has forgotten all deliveries, no fault is armed any more, and chat and repository are empty. */
export async function clears(scene) {
  scene.days = (scene.days ?? 0) + 4;
  for (const fault of scene.faults.splice(0)) fault.stop();
  // Whatever was before is over with this sweep.
  await scene.tickAt(on(scene, "08:00"));
  Object.assign(scene.chat, { messages: [], sounds: 0 });
  scene.asks.length = 0;
  for (const { fullName } of scene.github.repositories.all) scene.github.issues(fullName).length = 0;
}

/** A time of the scene's day, such as `08:15`. */
export function on({ days = 0 }, clock) {
  return typeof clock === "number" ? clock : at(clock) + days * 86_400_000;
}

/** The same as a person reads it. */
export function readable(scene, clock) {
  return `${new Date(on(scene, clock)).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** An event whose attempts, as many as are made, fail within some seconds: the next sweep tells it. Returns its guid. */
export function breaks(scene, clock, more = {}) {
  const time = on(scene, clock);
  const guid = scene.fails(time, 500, more);
  for (let attempt = 1; attempt < Number(scene.bindings.MAX_ATTEMPTS ?? 3); attempt += 1) {
    scene.github.deliveries.redeliver(guid, time + attempt * 2_000, 500);
  }
  return guid;
}

/** A maintainer's click on the Advanced page, after which the event has passed unless `code` says otherwise. */
export function clicks(scene, guid, clock, code = 200) {
  scene.now = on(scene, clock);
  scene.github.click(guid, code);
}

/**
 * One sweep. Of what comes back, `told` are the calls of the alarm in short (those to GitHub, then those to Telegram),
 * `toTelegram` the latter alone, `failures` what was said of what failed.
 */
export async function sweep(scene, clock, outcome = "ok") {
  const tick = await scene.tickAt(on(scene, clock));
  assert.equal(tick.outcome, outcome, tick.lines.join("\n"));
  const told = tick.requests.filter(isAlarm).map(short);
  assert.ok(told.length <= MOST_CALLS, `${told.length} calls for one change: ${told.join(", ")}`);
  const failures = tick.logs.filter(({ message }) => message === "failure").map(({ error }) => error);
  return { ...tick, told, toTelegram: told.filter((name) => !name.includes(" ")), failures };
}

/** A sweep with nothing to tell: no call for it, nothing that changed in either channel or in what is remembered. */
export async function quiet(scene, clock) {
  const before = await everything(scene);
  const tick = await sweep(scene, clock);
  assert.deepEqual(tick.told, [], `${clock}: an unchanged alarm costs no call`);
  assert.deepEqual(await everything(scene), before, `${clock}: an unchanged alarm is not written`);
  return tick;
}

async function everything({ telegram, github, worker }) {
  const ids = new Set([CHAT, ...telegram.requests.map(({ body }) => body.chat_id)]);
  const chats = [...ids].map((id) => [id, telegram.messages(id), telegram.sounds(id)]);
  const issues = github.repositories.all.flatMap(({ fullName }) =>
    github.issues(fullName).map(({ repository: _, movedTo, ...issue }) => ({ ...issue, movedTo: movedTo?.id })),
  );
  const { alarm } = JSON.parse(await worker.state("state"));
  return structuredClone({ chats, issues, alarm });
}

/** Other settings from the next sweep on; `undefined` takes one out. */
export async function settings(scene, changed) {
  scene.bindings = withSettings(scene.bindings, changed);
  await scene.worker.restart({ bindings: scene.bindings });
}

/** The App itself opens an issue, as an earlier sweep, or another program of its, would. Returns its number. */
export async function appOpens(scene, { title, body }, repo = CONTROL_REPO) {
  const { github } = scene;
  const installation = `${github.url}/app/installations/${github.installation(repo.split("/")[0]).id}`;
  const access = await call(`${installation}/access_tokens`, { method: "POST", json: {} });
  const url = `${github.url}/repos/${repo}/issues`;
  const made = await call(url, { method: "POST", auth: access.json.token, json: { title, body } });
  assert.equal(made.status, 201, made.text);
  return made.json.number;
}

/** Of each issue its number, its state, and which of these events its table lists, by their place. */
export function issuesOf(scene, guids, repo = CONTROL_REPO) {
  return scene.github
    .issues(repo)
    .map(
      ({ number, state, body }) => `${number} ${state} ${guids.map((g, i) => (body.includes(g) ? i : "")).join("")}`,
    );
}

/** The newest message in the scene's chat, or in another one, as a person reads it. */
export function newest(scene, chat = scene.chat.id) {
  return scene.telegram.messages(chat).at(-1)?.text ?? "";
}

function isAlarm(request) {
  return !isList(request) && !isAsk(request) && !request.path.startsWith("/heartbeat");
}

/** `GET installation`, `PATCH 1`; of Telegram the method alone. */
function short({ method, path, verb }) {
  return verb ? method : `${method} ${path.split("/").at(-1)}`;
}
