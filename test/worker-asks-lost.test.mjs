// Asks that show up late, or never, or were cut off by a kill (specification, section 4).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ASK, at, isAsk, opened } from "./worker/scene.mjs";

/** Kills the Worker in the middle of its first asks, so many side by side; `step` is what they come to at GitHub. */
const killedWhileAsking = (scene, clock, step, times = 1) => scene.killedAt(clock, { call: isAsk, step, times });

const asked = (ticks) => ticks.map((tick) => tick.asked.length);

// One after the other: a kill waits for what its workerd printed, and another one that starts meanwhile holds that up.
describe("asks that are late, lost or cut off", () => {
  test("an attempt that comes late is waited for: no second ask within 30 minutes", async (t) => {
    const scene = await opened(t);
    scene.github.redeliveryDelayMs = 20 * 60_000;
    const guid = scene.fails("08:05");
    assert.deepEqual(asked(await scene.ticks("08:15", "09:15")), [1, 0, 0, 0, 0]);
    assert.deepEqual(scene.codes(guid), [500, 200]);
  });

  test("an ask that GitHub took and lost counts as an attempt, so two of them end in giving up", async (t) => {
    const scene = await opened(t);
    scene.github.onAsk = () => ({ lose: true });
    const guid = scene.fails("08:05");
    assert.deepEqual(asked(await scene.ticks("08:15", "10:30")), [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert.deepEqual(scene.codes(guid), [500]);
    scene.shows(guid);
    assert.equal(scene.messages().length, 1);
    assert.match(scene.messages()[0].text, /gave up/);
  });

  test("an attempt of a lost ask that shows up after all takes its place, and is no further attempt", async (t) => {
    const scene = await opened(t);
    // The first ask is delivered after 40 minutes, when it has been given up for lost and the second was made.
    scene.github.onAsk = ({ askNumber }) => (askNumber === 1 ? { delayMs: 40 * 60_000, code: 500 } : { code: 500 });
    const guid = scene.fails("08:05");
    // 08:15 asked, 08:45 lost and asked again, 08:55 the late one fails as well: that makes three, no fourth.
    assert.deepEqual(asked(await scene.ticks("08:15", "10:30")), [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    assert.deepEqual(scene.codes(guid), [500, 500, 500]);
    scene.shows(guid);
  });

  test("a pass of an ask that was lost settles its event, and no second ask is made", async (t) => {
    const scene = await opened(t);
    scene.github.onAsk = () => ({ delayMs: 29 * 60_000 });
    scene.fails("08:05");
    assert.deepEqual(asked(await scene.ticks("08:15", "09:30")), [1, 0, 0, 0, 0, 0]);
  });

  test("three asks in a row that were struck are an answer too: an entry, and no fourth", async (t) => {
    const scene = await opened(t);
    scene.github.fault({ method: "POST", path: ASK }, { status: 500 }, 99);
    const guid = scene.fails("08:05");
    assert.deepEqual(asked(await scene.ticks("08:15", "10:30")), [1, 0, 1, 0, 1, 0, 0, 0, 0, 0]);
    scene.shows(guid);
    assert.match(scene.messages()[0].text, /GitHub took the last requests to redeliver it and made no attempt/);
  });

  test("killed between save and ask: nothing is asked for twice at once, and nothing is forgotten", async (t) => {
    const scene = await opened(t);
    const guids = [scene.fails("08:05"), scene.fails("08:06")];
    await killedWhileAsking(scene, "08:15", "hang", 2);
    const kept = (await scene.state()).ledger.events;
    assert.deepEqual(
      kept.map(({ g, k }) => [g, k.length]).sort(),
      guids.map((guid) => [guid, 1]).sort(),
      "both asks are saved",
    );
    const next = await scene.tickAt("08:30");
    assert.equal(next.sweep.killed_in_a_row, 1);
    assert.deepEqual(next.asked, []);
    // Neither reached GitHub, so both are struck after half an hour.
    const later = await scene.tickAt("08:45");
    assert.deepEqual([later.asked, later.sweep.killed_in_a_row], [guids, 0]);
    assert.equal((await scene.tickAt("09:00")).sweep.events.recovered, 2);
  });

  test("killed after GitHub took the ask: its attempt shows it, and no second one is made", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    await killedWhileAsking(scene, "08:15", "hang-after");
    assert.deepEqual(asked(await scene.ticks("08:30", "09:30")), [0, 0, 0, 0, 0]);
    assert.deepEqual(scene.codes(guid), [500, 200]);
    assert.equal(scene.github.asks.length, 1);
  });

  test("the sweep after a killed one reads a quarter of its pages, the following ones the rest", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    await killedWhileAsking(scene, "08:15", "hang");
    for (let second = 0; second < 800; second += 1) scene.delivers(at("08:16") + second * 1000);
    for (let second = 0; second < 200; second += 1) scene.delivers(at("08:16") + second * 1000 + 500, { code: 404 });
    const next = await scene.tickAt("08:30");
    assert.deepEqual([next.sweep.failures_list.pages, next.sweep.deliveries_list.pages], [1, 5]);
    assert.equal(next.sweep.gaps, 1);
    const third = await scene.tickAt("08:45");
    assert.deepEqual([third.sweep.failures_list.pages, third.sweep.gaps], [3, 0]);
    assert.deepEqual(third.asked, [guid]);
  });

  test("a tick that finds the lease of a living sweep does nothing, and that of a killed one does not hold it up for long", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    await killedWhileAsking(scene, "08:15", "hang");
    const soon = await scene.tickAt("08:20");
    assert.deepEqual([soon.outcome, soon.sweep.ending, soon.calls], ["ok", "held", 0]);
    assert.deepEqual((await scene.tickAt("08:30")).sweep.ending, "done");
    assert.deepEqual((await scene.tickAt("08:45")).asked, [guid]);
  });
});
