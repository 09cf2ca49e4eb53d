// Two Apps share a control repository: GitHub tells both of what either writes there, and so the object of the one that wrote tells
// that of the other (specification, section 8). The process is killed at each step of that, and of the sweep that takes note of it,
// and starts again on the same storage.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { on } from "./worker/alarm.mjs";
import { killsTick, placesIn, playsPairs, stepsOf } from "./worker/killed.mjs";
import { CHAT, CONTROL_REPO } from "./worker/scene.mjs";
import { ONE, openSeveral, SECOND, TWO } from "./worker/several.mjs";
import { named, nameOf, steppedBuild } from "./worker/steps.mjs";

const QUARTER = 15 * 60_000;

/** Quarters of an hour after which all is calm: an event of ours that is taken for anybody's is asked for, gives up and is told. */
const CALM = 3;

/** The same where an ask may be lost, after half an hour, and made again. */
const CALM_AFTER_ASKS = 5;

/** How long after a write GitHub delivers its event. */
const DELAY = 5_000;

const MAX_ATTEMPTS = 2;

const PAIRS = 4;

/** How many steps a tick of both Apps has at least, after one that was killed. */
const AFTER = 24;

/** Who swept first, so that the steps of both come in one order each time. */
const FIRST = {
  theOneThatWrites: [[`before ${TWO}: object sweep`, `after ${ONE}: object sweep`]],
  theOther: [[`before ${ONE}: object sweep`, `after ${TWO}: object sweep`]],
  /** Its state is read when it is told, and will be written. */
  theOtherButForItsLastWrite: [
    [`before ${ONE}: object sweep`, `before ${TWO}: write state history -lease`],
    [`before ${TWO}: write state history -lease`, `after ${ONE}: object sweep`],
  ],
};

/**
 * What comes before a tick in which App ONE writes. Of what they return, `at` is its time, `writes` are the events that come of it,
 * `entries` how many ONE shows then, and `waits` the events of each App that are to come back.
 */
const STAGES = {
  /** The first entry. */
  async opening(several) {
    several.breaks(ONE, on(several, "08:05"));
    return { at: on(several, "08:15"), writes: ["opened"], entries: 1, waits: incident(several, on(several, "08:14")) };
  },

  /** The last one leaves. */
  async closing(several) {
    const guid = several.breaks(ONE, on(several, "08:05"));
    await several.tickAt(on(several, "08:15"));
    several.now = on(several, "08:20");
    several.apps[ONE].click(guid, 200);
    const waits = incident(several, on(several, "08:29"));
    return { at: on(several, "08:30"), writes: ["edited", "closed"], entries: 0, waits };
  },
};

/** One event of each App, and one of TWO that a person made in the control repository a minute before the write. */
function incident(several, time) {
  const repositoryId = several.apps[ONE].repository(CONTROL_REPO).id;
  const persons = several.fails(TWO, time, { event: "issues", action: "labeled", repositoryId });
  return { [ONE]: [several.fails(ONE, time)], [TWO]: [several.fails(TWO, time), persons] };
}

async function opened(t) {
  const { buildDir, asked } = await steppedBuild(t);
  const github = { subscribesToIssues: true, issueEventDelayMs: DELAY };
  const settings = { MAX_ATTEMPTS: String(MAX_ATTEMPTS) };
  const several = await openSeveral(t, { buildDir, github, settings });
  for (const fake of Object.values(several.apps)) {
    // Whatever we write fails there for good, so that nothing but what an App was told keeps it from asking.
    fake.endpoint = ({ event, action }) => (event === "issues" && action !== "labeled" ? 500 : 200);
  }
  return Object.assign(several, { asked, days: 0 });
}

/** Four days later: GitHub has forgotten all deliveries, and chat and repository are empty. */
async function clears(several) {
  several.days += 4;
  await several.tickAt(on(several, "08:00"));
  Object.assign(several.telegram.chat(CHAT), { messages: [], sounds: 0 });
  several.apps[ONE].issues(CONTROL_REPO).length = 0;
}

/** What GitHub told an App of our writes since the scene was cleared. */
function heardOf(several, app, { waits }) {
  return [...several.apps[app].deliveries.byGuid.values()]
    .map((attempts) => ({ ...attempts[0], codes: attempts.map(({ code }) => code) }))
    .filter(({ event, guid, at }) => event === "issues" && !waits[app].includes(guid) && at > on(several, "08:03"));
}

/**
 * What must hold when all is calm again after these ticks were `killed`, in which so many messages were `sent`. Returns of each App
 * what our writes came to: those it asked for, and how many entries it shows.
 */
async function ends(several, stage, { killed, sent = 0, calm = CALM }) {
  let last;
  for (let quarter = 1; quarter <= calm; quarter += 1) {
    const leases = await Promise.all([ONE, TWO].map((app) => several.worker.state("lease", app)));
    last = await several.tickAt(killed.at(-1) + quarter * QUARTER);
    for (const [index, app] of [ONE, TWO].entries()) {
      const before = leases[index] ? JSON.parse(leases[index]).killed_in_a_row + 1 : 0;
      assert.equal(last.sweeps[app].killed_in_a_row, before, "who left a lease was killed");
    }
  }
  assert.deepEqual([last.outcome, last.asked], ["ok", { [ONE]: [], [TWO]: [] }]);
  const came = {};
  for (const app of [ONE, TWO]) {
    const { calls, killed_in_a_row, failures_in_a_row, alarm_entries: shown } = last.sweeps[app];
    assert.deepEqual([calls, killed_in_a_row, failures_in_a_row], [2, 0, 0], `App ${app} is calm`);
    assert.equal(await several.worker.state("lease", app), undefined);
    for (const guid of stage.waits[app]) {
      const codes = several.apps[app].attempts(guid).map(({ code }) => code);
      assert.deepEqual(codes, [500, 200], "every event came back, by one attempt");
    }
    const heard = heardOf(several, app, stage);
    const asked = heard.filter(({ codes }) => codes.length > 1);
    assert.ok(
      asked.every(({ codes }) => codes.length <= MAX_ATTEMPTS),
      "within its attempts",
    );
    const lost = asked.filter(({ at }) => killed.includes(at - DELAY));
    assert.deepEqual(asked, lost, "an App asks for what we wrote only if a kill kept it from knowing");
    const entries = shown - (app === ONE ? stage.entries : 0);
    assert.ok(entries >= 0 && entries <= asked.length, `App ${app} shows ${shown} entries`);
    const login = app === ONE ? "example-app[bot]" : `${SECOND.slug}[bot]`;
    const open = several.issues().filter(([author, state]) => author === login && state === "open");
    assert.equal(open.length, shown > 0 ? 1 : 0, `open issues of App ${app}`);
    came[app] = { asked: asked.map(({ action }) => action), entries };
  }
  const count = several.messages().length;
  assert.ok(count <= several.issues().length + sent, `${count} messages, ${sent} of them maybe twice`);
  const open = several.messages().filter((text) => text.startsWith("🔴"));
  assert.equal(
    open.length,
    Object.values(last.sweeps).filter((line) => line.alarm_entries > 0).length,
    "both channels show it",
  );
  return came;
}

/** Brings the scene to the tick that is to be killed, and has `tick` do what it likes with it. */
async function plays(several, start, tick) {
  await clears(several);
  const stage = await start(several);
  return tick(stage);
}

/** What that tick comes to when nobody kills it: each step twice, on both sides of it. */
function undisturbed(several, start, turns) {
  return plays(several, start, async (stage) => {
    several.asked.follow({}, turns);
    await several.tickAt(stage.at);
    const passed = several.asked.end();
    const nothing = { asked: [], entries: 0 };
    const came = await ends(several, stage, { killed: [stage.at] });
    assert.deepEqual(came, { [ONE]: nothing, [TWO]: nothing }, "what one writes feeds neither alarm");
    return passed;
  });
}

/** Kills it, unless it has fewer steps: then nothing is returned. */
const kills = (several, time, place, turns) => killsTick(several, time, { place, objects: [ONE, TWO], turns });

/** Whether a write took effect. */
const isStored = (passed, app, key) =>
  passed.some(({ side, of, puts = {} }) => side === "after" && of === app && puts[key] !== undefined);

/** One after the other kills that tick at these places of it. */
async function killsAtEach(several, start, turns, places) {
  let untold = 0;
  for (const { number, side, ...step } of places) {
    await plays(several, start, async (stage) => {
      const passed = await kills(several, stage.at, { number, side }, turns);
      assert.equal(passed && named(passed.at(-1)), named({ side, ...step }), "it was killed there");
      const came = await ends(several, stage, { killed: [stage.at] });
      // Who wrote remembers it; who was not told takes it for anybody's, and says so once.
      const isUntold = isStored(passed, ONE, "history") && !isStored(passed, TWO, "others");
      const asked = isUntold ? stage.writes : [];
      assert.deepEqual(came, { [ONE]: { asked: [], entries: 0 }, [TWO]: { asked, entries: asked.length } });
      assert.deepEqual(
        [several.messages().length, several.issues().length],
        [1, 1].map((one) => one + Number(isUntold)),
      );
      untold += Number(isUntold);
    }).catch((error) => {
      throw new Error(`${side} step ${number}, ${nameOf(step)}: ${error.message}`, { cause: error });
    });
  }
  return untold;
}

const TELLING = [`${TWO}: object wrote`, `${TWO}: read others`, `${TWO}: write others`];

/** Of a sweep of the other, what has to do with what it was told. The rest is test/worker-killed.test.mjs. */
const TAKING_NOTE = ["read others", "write state", "write state history -lease"].map((name) => `${TWO}: ${name}`);

/** Its name without its side. */
const without = (step) => named(step).slice(step.side.length + 1);

const isWanted = (step) => step.kind === "object" || [...TELLING, ...TAKING_NOTE].includes(without(step));

/** Up to where the other takes note of it, all is as it was after it was told. */
const isWorthIt = (step) => !(TAKING_NOTE.includes(without(step)) && step.side === "before" && step.kind === "write");

const wantedIn = (passed) =>
  stepsOf(passed)
    .filter(isWanted)
    .map((step) => without(step));

// One after the other: a kill waits for what its workerd printed, and another one that starts meanwhile holds that up.
describe("a tick that is killed while one App tells another", () => {
  test("at any step of that, and of the other's sweep: what it was told it knows, of what it was not it asks in bounds", async (t) => {
    const several = await opened(t);
    const turns = FIRST.theOneThatWrites;
    const passed = await undisturbed(several, STAGES.opening, turns);
    assert.deepEqual(wantedIn(passed), [`${ONE}: object sweep`, ...TELLING, `${TWO}: object sweep`, ...TAKING_NOTE]);
    const places = placesIn(passed, isWanted).filter(isWorthIt);
    const untold = await killsAtEach(several, STAGES.opening, turns, places);
    assert.equal(untold, 3, "before the call, and on both sides of the read");
    t.diagnostic(`${places.length} kills`);
  });

  test("and when the other is just about to save a state that knows nothing of it", async (t) => {
    const several = await opened(t);
    const turns = FIRST.theOtherButForItsLastWrite;
    const passed = await undisturbed(several, STAGES.closing, turns);
    const [last, ...before] = [`${TWO}: object sweep`, ...TAKING_NOTE].reverse();
    assert.deepEqual(wantedIn(passed), [...before.reverse(), `${ONE}: object sweep`, ...TELLING, last]);
    const begins = passed.findIndex(({ of, kind }) => of === ONE && kind === "object");
    const places = placesIn(passed, isWanted).filter((step) => passed.indexOf(step) > begins);
    const untold = await killsAtEach(several, STAGES.closing, turns, places);
    assert.equal(untold, 3, "before the call, and on both sides of the read");
    t.diagnostic(`${places.length} kills`);
  });

  test("anywhere, and the one after it too: all comes back, and no alarm feeds itself or the other", async (t) => {
    const several = await opened(t);
    const [starts, orders] = [Object.values(STAGES), Object.values(FIRST)];
    const lengths = [];
    for (const start of starts) lengths.push(stepsOf(await undisturbed(several, start, orders[0])).length);
    await playsPairs(t, PAIRS, ({ pair, place, random }) => {
      const start = pair % starts.length;
      const places = [lengths[start], AFTER].map(place);
      const turns = orders[random(orders.length)];
      return plays(several, starts[start], async (stage) => {
        const killed = [stage.at, stage.at + QUARTER];
        const first = await kills(several, killed[0], places[0], turns);
        const second = await kills(several, killed[1], places[1]);
        assert.ok(first && second, "both were killed");
        const sent = [...first, ...second].filter(({ name, side }) => name === "sendMessage" && side === "before");
        await ends(several, stage, { killed, sent: sent.length, calm: CALM_AFTER_ASKS });
      });
    });
  });
});
