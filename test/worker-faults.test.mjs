// Every call with every fault (specification, sections 3, 4, 8, 9 and 13): the sweep ends, says which call failed and how, and
// gives no secret away; the sweeps after it bring back what waits, and both channels show what they should.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { breaks, clears, newest, on, openAlarm, settings } from "./worker/alarm.mjs";
import { CALLS, incident } from "./worker/calls.mjs";
import { clockedBuild, lateBuild } from "./worker/clocked.mjs";
import { FAULTS } from "./worker/faults.mjs";
import { assertInvariants } from "./worker/invariants.mjs";
import { at, CHAT, isList, opened } from "./worker/scene.mjs";
import { VERSION } from "./worker/stored.mjs";

const QUARTER = 15 * 60_000;
/** `SWEEP` of src/http.rs, and with the call that is under way then, `CALL_MILLIS`. */
const FIVE_MINUTES = 5 * 60_000;
const LONGEST = FIVE_MINUTES + 10_000;
const HEARTBEAT = "/heartbeat/of-a-dead-mans-switch";

/** How the errors of the Worker name what was being done. */
const STEP = /"((?:reading|asking|failed to) [^"{}]+)"/g;

/** One sweep, after which the invariants hold and the state is one that the next sweep can read. */
async function sweeps(scene, time) {
  const tick = await scene.tickAt(time);
  assert.ok(tick.sweep, tick.lines.join("\n"));
  assertInvariants(scene, tick);
  const { state, history, ...others } = await scene.worker.state();
  assert.deepEqual([others, JSON.parse(state).version, Array.isArray(JSON.parse(history).rows)], [{}, VERSION, true]);
  return tick;
}

/** What a sweep's lines say of this call. */
function saidOf({ step }, { logs, sweep }) {
  const failures = logs.filter(({ message }) => message === "failure").map(({ error }) => error);
  const asks = logs.filter(({ message }) => message === "redelivery");
  const answers = asks.map(({ answer, status }) => `asking for a redelivery: ${answer} ${status}`);
  return [...failures, ...answers, ...sweep.warnings].filter((text) => step.test(text)).join("\n");
}

/** The sweep that meets the fault. */
async function meets(scene, call, fault, stage) {
  const messages = JSON.stringify(scene.messages());
  const armed = scene[call.fake].fault(call.match(stage), fault.fault, Number.MAX_SAFE_INTEGER);
  scene.github.pageLimit ??= stage.pageLimit;
  const tick = await sweeps(scene, on(scene, stage.at));
  armed.stop();
  if (stage.pageLimit) scene.github.pageLimit = undefined;
  assert.ok(
    tick.requests.some((request) => request.fault),
    "the call was made",
  );
  const failure = call.failure(fault);
  assert.deepEqual([tick.sweep.failure, tick.outcome], [failure, failure ? "exception" : "ok"], tick.lines.join("\n"));
  if (!call.unread.includes(fault.name)) assert.match(saidOf(call, tick), fault.log, tick.lines.join("\n"));
  if (call.isList) {
    assert.deepEqual([tick.asked, JSON.stringify(scene.messages())], [[], messages], "nothing on half a picture");
  }
}

/** What the sweeps after it come to. */
async function recovers(scene, call, fault, stage) {
  let last;
  for (let quarter = 1; quarter <= call.calm; quarter += 1) {
    last = await sweeps(scene, on(scene, stage.at) + quarter * QUARTER);
  }
  const { outcome, asked, sweep } = last;
  assert.deepEqual([outcome, sweep.failures_in_a_row, asked, sweep.warnings], ["ok", 0, [], []]);
  const others = last.requests.filter((request) => !isList(request));
  assert.equal(others.length, call.needs.length, "nothing is left to do");
  const refused = call.refused(fault, stage);
  const back = stage.waits.filter((guid) => scene.codes(guid).at(-1) === 200);
  const wanted = stage.waits.filter((guid) => !refused.includes(guid));
  assert.deepEqual(back, wanted, "what came back");
  scene.shows(...stage.open, ...(call.isLost ? [] : refused));
  if (call.isLost && refused.length > 0) assert.match(newest(scene), /Not read/);
  // A message whose answer was lost may stand twice, and no other; what GitHub refuses is a message of its own.
  const twice = call.name === "a message" && fault.done ? 1 : 0;
  const first = stage.messages === 0 && refused.length > 0 ? 1 : 0;
  const count = stage.messages + twice + first;
  assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [count, count]);
}

async function play(scene, call, fault) {
  await clears(scene);
  scene.github.pageLimit = undefined;
  const stage = await call.stage(scene);
  await meets(scene, call, fault, stage);
  await recovers(scene, call, fault, stage);
}

/** All that hangs in one sweep: of the lists each page, until it is asked for once more, and each call after them. */
async function hangs(scene, pages) {
  await settings(scene, { HEARTBEAT_URL: `${scene.github.url}${HEARTBEAT}` });
  await clears(scene);
  scene.github.pageLimit = 5;
  const stage = { at: "08:15", open: [breaks(scene, "08:05")], waits: incident(scene, "08:15", 5), messages: 1 };
  for (let n = 0; n < 5 * pages; n += 1) scene.delivers(on(scene, "08:01") + n * 100, { event: "push" });
  let reads = 0;
  const match = (request) => !isList(request) || reads++ % 2 === 0;
  const armed = [scene.github, scene.telegram].map((fake) => fake.fault(match, "hang", Number.MAX_SAFE_INTEGER));
  const tick = await sweeps(scene, on(scene, stage.at));
  for (const fault of armed) fault.stop();
  scene.github.pageLimit = undefined;
  // The clock of the copy is right again.
  await scene.worker.restart();
  await recovers(scene, { calm: 5, needs: ["HEARTBEAT_URL"], refused: () => [] }, {}, stage);
  return tick;
}

describe("every call with every fault", { concurrency: 2 }, () => {
  for (const call of CALLS) {
    test(call.name, async (t) => {
      const scene = await openAlarm(t, { settings: call.settings, buildDir: clockedBuild(t) });
      if (call.needs.includes("HEARTBEAT_URL")) {
        await settings(scene, { HEARTBEAT_URL: `${scene.github.url}${HEARTBEAT}` });
      }
      const failed = [];
      for (const fault of FAULTS) {
        await play(scene, call, fault).catch((error) => failed.push(`${fault.name}: ${error.message}`));
      }
      assert.equal(failed.length, 0, failed.join("\n\n"));
    });
  }

  test("calls that hang one after the other end with the five minutes of the sweep, and the next one recovers", async (t) => {
    const settings = { SUBREQUEST_LIMIT: "10000", DELIVERY_PAGES: "100" };
    const scene = await opened(t, { settings, buildDir: lateBuild(t) });
    scene.github.pageLimit = 5;
    for (let second = 0; second < 300; second += 1) scene.delivers(at("08:01") + second * 1_000, { event: "push" });
    const guids = ["08:02", "08:12"].map((clock) => scene.fails(clock));
    // Each page is read, but only when it is asked for once more.
    let calls = 0;
    const hangs = scene.github.fault(
      (request) => isList(request) && calls++ % 2 === 0,
      "hang",
      Number.MAX_SAFE_INTEGER,
    );
    const tick = await sweeps(scene, at("08:15"));
    hangs.stop();
    assert.deepEqual([tick.sweep.failure, tick.asked], ["transport", []]);
    assert.match(tick.logs[0].error, /^no answer from GitHub to reading the deliveries list: /);
    const hung = tick.requests.filter((request) => request.fault).length;
    assert.ok(tick.sweep.duration_ms > FIVE_MINUTES && hung <= 31, `${tick.sweep.duration_ms} ms, ${hung} of them`);
    await scene.worker.restart();
    assert.deepEqual((await sweeps(scene, at("08:30"))).asked, guids);
  });

  test("whatever hangs: a sweep ends within five minutes and one call, wherever they end, and all comes back after it", async (t) => {
    const settings = { SUBREQUEST_LIMIT: "10000", DELIVERY_PAGES: "100" };
    const scene = await openAlarm(t, { settings, buildDir: lateBuild(t) });
    // By the pages of the deliveries list, the call with which it ends: the last one by itself.
    const ends = /** @type {[number, RegExp][]} */ ([
      [26, /\/deliveries$/],
      [25, /\/attempts$/],
      [24, /\/(app|installation)$/],
      [1, /\/sendMessage$/],
    ]);
    for (const [pages, last] of ends) {
      const { sweep, requests } = await hangs(scene, pages);
      assert.ok(sweep.duration_ms <= LONGEST, `${pages} pages: ${sweep.duration_ms} ms`);
      assert.equal(sweep.duration_ms > FIVE_MINUTES, pages > 1);
      assert.match(requests.at(-1).path, last);
    }
  });

  test("each step that an error can name is one of these calls", (t) => {
    const source = new URL("../src/", import.meta.url);
    const files = readdirSync(source, { recursive: true }).filter(
      (file) => file.endsWith(".rs") && !file.includes("tests"),
    );
    const texts = files.map((file) => readFileSync(new URL(file, source), "utf8"));
    const steps = texts.flatMap((text) => [...text.matchAll(STEP)].map(([, step]) => step));
    assert.deepEqual(
      CALLS.filter(({ step, needs }) => needs.length === 0 && !steps.some((text) => step.test(text))),
      [],
    );
    assert.deepEqual(
      steps.filter((text) => !CALLS.some(({ step }) => step.test(text))),
      [],
    );
    t.diagnostic(`${CALLS.length} calls × ${FAULTS.length} faults = ${CALLS.length * FAULTS.length} combinations`);
  });
});
