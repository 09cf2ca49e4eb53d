// The process is killed in the middle of a sweep and starts again on the same storage (specification, sections 3.2, 3.6 and 13.9):
// after each step of test/worker/steps.mjs, when only the sweep does not know of it, and before, unless that is after another one.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { breaks, clears, newest, on, openAlarm, settings } from "./worker/alarm.mjs";
import { CALLS, incident, STAGES } from "./worker/calls.mjs";
import { assertInvariants } from "./worker/invariants.mjs";
import { killsTick, placesIn, playsPairs, stepsOf } from "./worker/killed.mjs";
import { CHAT, CONTROL_REPO, isList } from "./worker/scene.mjs";
import { nameOf, steppedBuild } from "./worker/steps.mjs";

const QUARTER = 15 * 60_000;
const OTHER_REPO = "octo-maintainer/other-alarms";

/** An ask that is lost after half an hour, and made again. */
const CALM = 5;

/**
 * A sweep that does all there is to do: it reads both lists, asks for two events, sends a message, which Telegram takes the second
 * time only, cuts the old one down, opens an issue in the repository that the settings name now, and closes the one in the other.
 */
async function busy(scene) {
  const open = [breaks(scene, "08:05")];
  await scene.tickAt(on(scene, "08:15"));
  const [from] = [CONTROL_REPO, OTHER_REPO].filter((repo) => scene.github.openIssues(repo).length > 0);
  open.push(breaks(scene, "09:20"));
  const waits = incident(scene, "09:30", 2);
  await settings(scene, { CONTROL_REPO: from === CONTROL_REPO ? OTHER_REPO : CONTROL_REPO });
  const body = { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 1 } };
  scene.telegram.fault({ method: "sendMessage" }, { status: 429, body });
  return { at: "09:30", waits, open, messages: 2 };
}

/** What a sweep awaits but its calls and sleeps. */
const SWEEP = [
  "read lease",
  "read failures",
  "read state",
  "write lease",
  "sign",
  "write state",
  "read history",
  "write state history -lease",
];

/** The object that has just started takes the key first; after its sweep the tick looks whether one without an App left anything. */
const FIRST_TICK = ["object sweep", "importKey", ...SWEEP, "object settle", "read state"];

const BUSY_CALLS = 14;

/** Of a stage, the calls that `busy` has not: the last of each name. The issue is the first one of its repository. */
const LACKING = {
  gap: ["call deliveries"],
  asking: ["call heartbeat"],
  editing: ["call 1", "call editMessageText"],
  closing: ["call 1", "call editMessageText"],
  telegramLost: ["call sendChatAction"],
};

const PAIRS = 12;

/** How many steps the tick after a killed one has at least: those of a first one, two pages, and the alarm told once more. */
const AFTER = 18;

const isNoCall = ({ kind }) => kind !== "call";

/** What a sweep awaits of its own object. */
const isWithin = ({ kind }) => kind !== "call" && kind !== "object";

/** What must hold when all is calm again: `sent` messages were taken and may not have been remembered. */
async function ends(scene, { at, waits, open, messages }, sent) {
  let last;
  for (let quarter = 1; quarter <= CALM; quarter += 1) {
    const { lease } = await scene.worker.state();
    last = await scene.tickAt(on(scene, at) + quarter * QUARTER);
    assert.equal(
      last.sweep.killed_in_a_row,
      lease ? JSON.parse(lease).killed_in_a_row + 1 : 0,
      "who left a lease was killed",
    );
    assertInvariants(scene, last);
  }
  assert.deepEqual(
    [last.outcome, last.sweep.killed_in_a_row, last.sweep.failures_in_a_row, last.calls],
    ["ok", 0, 0, scene.bindings.HEARTBEAT_URL ? 3 : 2],
  );
  assert.deepEqual(Object.keys(await scene.worker.state()), ["history", "state"]);
  for (const guid of waits) {
    const [first, ...more] = scene.codes(guid);
    assert.deepEqual([first === 200, more], [false, [200]], "every event came back, by one attempt");
  }
  const issues = [CONTROL_REPO, OTHER_REPO].flatMap((repo) => scene.github.openIssues(repo));
  assert.equal(issues.length, open.length > 0 ? 1 : 0, "open issues");
  for (const guid of open)
    assert.ok(newest(scene).includes(guid) && issues[0].body.includes(guid), "both channels show it");
  const count = scene.messages().length;
  assert.ok(count >= messages && count <= messages + sent, `${count} messages, ${sent} of them maybe twice`);
  assert.equal(scene.telegram.sounds(CHAT), count);
}

/** Kills a sweep, unless it has fewer steps. Returns the step, and how many messages it had sent that nobody remembers. */
async function kills(scene, time, place) {
  const messages = scene.messages().length;
  const passed = await killsTick(scene, time, { place, objects: [scene.bindings.GITHUB_APP_ID] });
  if (!passed) return { sent: 0 };
  const saved = passed.findLastIndex(({ side, puts }) => side === "after" && puts?.state !== undefined);
  const told = passed.slice(saved + 1).some(({ name }) => name === "sendMessage");
  return { step: passed.at(-1), sent: told ? scene.messages().length - messages : 0 };
}

async function opened(t, more) {
  const repositories = [CONTROL_REPO, OTHER_REPO].map((fullName) => ({ fullName, ownerType: "User" }));
  const { buildDir, asked } = await steppedBuild(t);
  // An attempt comes after the next sweep: only what was saved before the ask keeps that one from asking again.
  const scene = await openAlarm(t, {
    github: { repositories, redeliveryDelayMs: 20 * 60_000 },
    buildDir,
    settings: more,
  });
  return Object.assign(scene, { asked });
}

/** Brings the scene to the sweep that is to be killed, has `sweep` do what it likes with it, and looks what becomes of it. */
async function plays(scene, start, sweep) {
  await clears(scene);
  const stage = await start(scene);
  scene.github.pageLimit ??= stage.pageLimit;
  const sent = await sweep(stage);
  scene.github.pageLimit = undefined;
  await ends(scene, stage, sent);
}

/** What that sweep comes to when nobody kills it: each step twice, on both sides of it. */
async function undisturbed(scene, start) {
  let passed;
  await plays(scene, start, async ({ at, cursor }) => {
    scene.asked.follow();
    const { requests } = await scene.tickAt(on(scene, at));
    passed = scene.asked.end();
    // Gaps come after the lists: from its first page on all that is read is the gap.
    if (cursor) assert.ok(requests.some((request) => isList(request) && request.query.cursor === cursor));
    return 0;
  });
  return passed;
}

/** One after the other kills that sweep at these places of it. */
async function killsAtEach(scene, start, places) {
  for (const { number, side, ...step } of places) {
    await plays(scene, start, async ({ at }) => {
      const killed = await kills(scene, on(scene, at), { number, side });
      assert.equal(killed.step && nameOf(killed.step), nameOf(step), "it was killed there");
      return killed.sent;
    }).catch((error) => {
      throw new Error(`${side} step ${number}, ${nameOf(step)}: ${error.message}`, { cause: error });
    });
  }
}

// One after the other: a kill waits for what its workerd printed, and another one that starts meanwhile holds that up.
describe("a sweep that is killed", () => {
  test("at any of its steps, before it or after: nothing is lost, and nothing is done twice", async (t) => {
    const scene = await opened(t);
    const passed = await undisturbed(scene, busy);
    const others = stepsOf(passed).filter(isNoCall).map(nameOf);
    assert.deepEqual(others, FIRST_TICK.toSpliced(-4, 0, "sleep"));
    assert.equal(stepsOf(passed).length, others.length + BUSY_CALLS);
    const places = placesIn(passed, () => true);
    await killsAtEach(scene, busy, places);
    t.diagnostic(`${places.length} kills`);
  });

  for (const [stage, start] of Object.entries(STAGES)) {
    test(`${stage}: at any read or write of its storage, at its signature, or at a call that no other has`, async (t) => {
      const scene = await opened(t, CALLS.find((call) => call.stage === start).settings);
      const lacking = LACKING[stage] ?? [];
      if (lacking.includes("call heartbeat")) await settings(scene, { HEARTBEAT_URL: `${scene.github.url}/heartbeat` });
      const passed = await undisturbed(scene, start);
      const steps = stepsOf(passed);
      assert.deepEqual(steps.filter(isWithin).map(nameOf), SWEEP);
      const calls = lacking.map((name) => steps.findLast((step) => nameOf(step) === name)?.number);
      assert.ok(!calls.includes(undefined), steps.map(nameOf).join(", "));
      const places = placesIn(passed, (step) => isWithin(step) || calls.includes(step.number));
      await killsAtEach(scene, start, places);
      t.diagnostic(`${places.length} kills`);
    });
  }

  test("and the one after it too, wherever: the third tells it before it reads, and all comes back", async (t) => {
    const scene = await opened(t);
    const starts = [busy, STAGES.telling, STAGES.editing, STAGES.closing];
    const lengths = [];
    for (const start of starts) lengths.push(stepsOf(await undisturbed(scene, start)).length);
    const met = [];
    await playsPairs(t, PAIRS, ({ pair, place }) => {
      const start = pair % starts.length;
      const places = [lengths[start], AFTER].map(place);
      return plays(scene, starts[start], async (stage) => {
        let sent = 0;
        for (const [index, place] of places.entries()) {
          const killed = await kills(scene, on(scene, stage.at) + index * QUARTER, place);
          sent += killed.sent;
          met.push(killed.step);
        }
        stage.at = on(scene, stage.at) + QUARTER;
        return sent;
      });
    });
    assert.ok(met.every(Boolean), "both of each pair were killed");
  });
});
