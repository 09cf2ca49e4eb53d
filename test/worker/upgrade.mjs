// A morning that leaves something of everything in the state, and what must become of it in the afternoon, whichever version of the Worker
// had the morning. What a released version had stored by then is in test/fixtures/states, under its number; what it had stored when it was
// cut off in the middle of the next sweep, in test/fixtures/mid-sweep.
//
//   node test/worker/upgrade.mjs      writes both of the version in package.json, which are then never written again

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/setup.mjs";
import { alone, isRunAlone } from "../alone.mjs";
import { at, CHAT, CONTROL_REPO, isAsk, isList, openScene } from "./scene.mjs";

const folder = join(root, "test", "fixtures", "states");
const midSweep = join(root, "test", "fixtures", "mid-sweep");
export const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Few pages and asks, so that a morning is enough for a gap and for events that are left behind. */
const settings = {
  DELIVERY_PAGES: "2",
  FAILURE_PAGES: "1",
  MAX_REDELIVERIES: "2",
  WINDOW_HOURS: "1",
  IGNORED_EVENTS: "star",
};

/** The versions of which a state is kept, the oldest first. */
export function keptVersions() {
  const numbers = (name) => name.split(".").map(Number);
  const order = (a, b) => numbers(a).reduce((sum, number, index) => sum || number - numbers(b)[index], 0);
  return readdirSync(folder)
    .map((name) => name.replace(/\.json$/, ""))
    .sort(order);
}

/** What the storage of that version held at noon: texts by their key. */
export function keptState(of) {
  return JSON.parse(readFileSync(join(folder, `${of}.json`), "utf8"));
}

/** What it held when it was cut off at 11:45, with both asks made and none answered. */
export function keptMidSweep(of) {
  return JSON.parse(readFileSync(join(midSweep, `${of}.json`), "utf8"));
}

/** The sweep of 11:45, which is cut off there. */
export async function cutOff({ scene }) {
  const { outcome } = await scene.killedAt("11:45", { call: isAsk, step: "hang-after", times: 2 });
  assert.equal(outcome, "killed");
}

/** Plays the morning up to 11:30, and returns the scene with its events by what became of them. */
export async function morning(t) {
  const scene = await openScene(t, { settings, github: { subscribesToIssues: true } });
  const events = {};
  scene.github.endpoint = ({ event, at: time }) => {
    if (event === "push") return 500;
    return time >= at("10:40") ? 0 : 200;
  };
  scene.delivers("07:50", { wholeSeconds: true });
  await scene.tickAt("08:00");
  events.poison = scene.fails("08:05", 500, { event: "push", action: null });
  events.unwanted = scene.fails("08:05:30", 503);
  events.overtaken = scene.fails("08:06", 500, { event: "issues", action: "opened" });
  scene.delivers("08:07", { event: "issues", action: "edited" });
  events.ignored = scene.fails("08:08", 500, { event: "star" });
  events.refused = scene.fails("08:09", 422);
  scene.github.onAsk = ({ guid }) => (guid === events.unwanted ? { status: 404 } : undefined);
  // More than eight asks can bring back within the hour.
  for (let index = 0; index < 14; index += 1) scene.fails(at("08:31") + index * 1000);
  await scene.ticks("08:15", "09:45");
  // One sweep fails, and the window stands still for a while.
  scene.github.fault(isList, { status: 502 }, 2);
  await scene.tickAt("10:00");
  // More than is read before noon.
  for (let index = 0; index < 1_500; index += 1) {
    scene.delivers(at("10:16") + index * 500, { event: "check_run", action: "completed" });
  }
  // An outage, not over at noon.
  events.waiting = ["10:41", "10:55", "11:10"].map((clock) => scene.fails(clock, 0));
  await scene.ticks("10:15", "11:30");
  return { scene, events };
}

/** The end of the outage. */
export function endpointIsBack({ scene }) {
  scene.github.endpoint = ({ event }) => (event === "push" ? 500 : 200);
}

/** Plays on to 16:00, with an endpoint that answers again, and checks that nothing of the morning is lost or done twice. */
export async function afternoon({ scene, events }, from, first = async () => {}) {
  endpointIsBack({ scene });
  const told = { issues: scene.github.issues(CONTROL_REPO).length, messages: scene.messages().length };
  const sounds = scene.telegram.sounds(CHAT);
  const asked = scene.github.asks.length;
  await first();
  const ticks = await scene.ticks(from, "16:00");
  for (const { outcome, sweep } of ticks) {
    assert.deepEqual([outcome, sweep.failure, sweep.warnings], ["ok", null, []]);
  }
  const guids = scene.github.asks.slice(asked).map(({ guid }) => guid);
  const [probe, ...others] = events.waiting;
  assert.deepEqual(
    guids.toSorted(),
    others.toSorted(),
    `once for each that waits, and for none that was settled, nor for ${probe} again`,
  );
  for (const guid of events.waiting) assert.equal(scene.codes(guid).at(-1), 200);
  scene.shows(events.poison, events.unwanted);
  assert.match(scene.messages().at(-1).text, /left behind/);
  assert.deepEqual(
    { issues: scene.github.issues(CONTROL_REPO).length, messages: scene.messages().length },
    told,
    "the alarm of the morning goes on where it stands",
  );
  assert.equal(scene.telegram.sounds(CHAT), sounds);
  assert.deepEqual(Object.keys(await scene.worker.state()), ["history", "state"]);
  assert.equal(ticks.at(-1).sweep.gaps, 0, "the gap was read to its end");
}

/** Writes what the storage of this version holds at noon and in the middle of a sweep, unless that is there. */
async function keep() {
  const files = [folder, midSweep].map((place) => join(place, `${version}.json`));
  if (files.every((file) => existsSync(file))) {
    console.log(
      `${files.join(" and ")} are there. If ${version} was never released, delete them first; else give package.json a new version`,
    );
    process.exitCode = 1;
    return;
  }
  await alone(async (t) => {
    const day = await morning(t);
    const write = async (file) => {
      if (!existsSync(file)) writeFileSync(file, `${JSON.stringify(await day.scene.worker.state(), null, 2)}\n`);
    };
    await write(files[0]);
    endpointIsBack(day);
    await cutOff(day);
    await write(files[1]);
  });
}

if (isRunAlone(import.meta.url)) await keep();
