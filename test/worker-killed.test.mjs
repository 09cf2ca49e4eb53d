// The process is killed in the middle of a sweep and starts again on the same storage (specification, sections 3.2, 3.6 and 13.9).
// A call that was made and a call whose answer is missing are two steps: the first changed nothing yet.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { randomNumbers } from "../scripts/demo/story.mjs";
import { breaks, clears, newest, on, openAlarm, settings } from "./worker/alarm.mjs";
import { incident, STAGES } from "./worker/calls.mjs";
import { assertInvariants } from "./worker/invariants.mjs";
import { CHAT, CONTROL_REPO } from "./worker/scene.mjs";

const QUARTER = 15 * 60_000;
const OTHER_REPO = "octo-maintainer/other-alarms";

/** An ask that is lost after half an hour, and made again. */
const CALM = 5;

const STEPS = ["hang", "hang-after"];

/**
 * A sweep that does all there is to do: it reads both lists, asks for two events, sends a message, cuts the old one down, opens an
 * issue in the repository that the settings name now, and closes the one in the other.
 */
async function busy(scene) {
  const open = [breaks(scene, "08:05")];
  await scene.tickAt(on(scene, "08:15"));
  const [from] = [CONTROL_REPO, OTHER_REPO].filter((repo) => scene.github.openIssues(repo).length > 0);
  open.push(breaks(scene, "09:20"));
  const waits = incident(scene, "09:30", 2);
  await settings(scene, { CONTROL_REPO: from === CONTROL_REPO ? OTHER_REPO : CONTROL_REPO });
  return { at: "09:30", waits, open, messages: 2 };
}

/** What the pairs of kills begin with, and how many calls that sweep makes. */
const STARTS = [
  [busy, 13],
  [STAGES.telling, 9],
  [STAGES.editing, 7],
  [STAGES.closing, 7],
];

/** How many calls the sweep after a killed one makes at least: it reads, and tells once more. */
const AFTER = 4;

const PAIRS = 8;

/** What must hold when all is calm again: `sent` messages were taken and may not have been remembered. */
async function ends(scene, { at, waits, open, messages }, sent) {
  let last;
  for (let quarter = 1; quarter <= CALM; quarter += 1) {
    last = await scene.tickAt(on(scene, at) + quarter * QUARTER);
    assertInvariants(scene, last);
  }
  assert.deepEqual(
    [last.outcome, last.sweep.killed_in_a_row, last.sweep.failures_in_a_row, last.calls],
    ["ok", 0, 0, 2],
  );
  assert.deepEqual(Object.keys(await scene.worker.state()), ["history", "state"]);
  for (const guid of waits) assert.deepEqual(scene.codes(guid), [500, 200], "every event came back, by one attempt");
  const issues = [CONTROL_REPO, OTHER_REPO].flatMap((repo) => scene.github.openIssues(repo));
  assert.equal(issues.length, open.length > 0 ? 1 : 0, "open issues");
  for (const guid of open)
    assert.ok(newest(scene).includes(guid) && issues[0].body.includes(guid), "both channels show it");
  const count = scene.messages().length;
  assert.ok(count >= messages && count <= messages + sent, `${count} messages, ${sent} of them maybe twice`);
  assert.equal(scene.telegram.sounds(CHAT), count);
}

/** Kills a sweep, unless it makes fewer calls. Returns the tick, and how many messages it had sent that nobody remembers. */
async function kills(scene, time, where) {
  const before = scene.messages().length;
  const tick = await scene.killedAt(time, where);
  return { tick, sent: tick.outcome === "killed" ? scene.messages().length - before : 0 };
}

async function opened(t) {
  const repositories = [CONTROL_REPO, OTHER_REPO].map((fullName) => ({ fullName, ownerType: "User" }));
  // An attempt comes after the next sweep: only what was saved before the ask keeps that one from asking again.
  return openAlarm(t, { github: { repositories, redeliveryDelayMs: 20 * 60_000 } });
}

// One after the other: a kill waits for what its workerd printed, and another one that starts meanwhile holds that up.
describe("a sweep that is killed", () => {
  test("at any of its calls, before it or before its answer: nothing is lost, and nothing is done twice", async (t) => {
    const scene = await opened(t);
    let count = 0;
    for (const step of STEPS) {
      for (let call = 0; ; call += 1) {
        await clears(scene);
        const stage = await busy(scene);
        const { tick, sent } = await kills(scene, on(scene, stage.at), { call, step });
        await ends(scene, stage, sent).catch((error) => {
          throw new Error(`${step} of call ${call}: ${error.message}`, { cause: error });
        });
        if (tick.outcome !== "killed") {
          assert.equal(call, tick.calls, "it has no more calls");
          break;
        }
        count += 1;
      }
    }
    t.diagnostic(`${count} kills`);
    assert.equal(count, 2 * 13);
  });

  test("and the one after it too, wherever: the third tells it before it reads, and all comes back", async (t) => {
    const scene = await opened(t);
    const seed = Number(process.env.SEED ?? 7);
    const numbers = randomNumbers(seed);
    const random = (below) => Math.floor(numbers() * below);
    let count = 0;
    for (let pair = 0; pair < PAIRS; pair += 1) {
      await clears(scene);
      const [start, most] = STARTS[pair % STARTS.length];
      const stage = await start(scene);
      const wheres = [most, AFTER].map((calls) => ({ call: random(calls), step: STEPS[random(STEPS.length)] }));
      let sent = 0;
      for (const [index, where] of wheres.entries()) {
        const killed = await kills(scene, on(scene, stage.at) + index * QUARTER, where);
        sent += killed.sent;
        count += killed.tick.outcome === "killed";
      }
      await ends(scene, { ...stage, at: on(scene, stage.at) + QUARTER }, sent).catch((error) => {
        throw new Error(`SEED=${seed}, pair ${pair}, ${JSON.stringify(wheres)}: ${error.message}`, { cause: error });
      });
    }
    t.diagnostic(`${PAIRS} pairs, ${count} kills, SEED=${seed}`);
    assert.ok(count > PAIRS, "most of them are killed twice");
  });
});
