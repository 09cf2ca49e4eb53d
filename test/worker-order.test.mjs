// Which events are asked for, in which order (specification, sections 3.7 and 4).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, opened, openScene } from "./worker/scene.mjs";

const range = (count) => Array.from({ length: count }, (_, index) => index);
const asked = (ticks) => ticks.flatMap((tick) => tick.asked);

describe("which events are asked for", { concurrency: 2 }, () => {
  test("ten a sweep: the fewest attempts first, then the oldest; the rest by the next sweeps", async (t) => {
    const scene = await opened(t);
    scene.github.endpoint = () => 500;
    const first = range(12).map((index) => scene.fails(at("08:01") + index * 1000));
    assert.deepEqual((await scene.tickAt("08:15")).asked, first.slice(0, 10));
    // The newest have the fewest attempts: one each, as the two that did not have their turn.
    const second = range(9).map((index) => scene.fails(at("08:20") + index * 1000));
    assert.deepEqual((await scene.tickAt("08:30")).asked, [...first.slice(10), ...second.slice(0, 8)]);
    assert.deepEqual((await scene.tickAt("08:45")).asked, [second[8], ...first.slice(0, 9)]);
    const waiting = (await scene.tickAt("09:00")).asked;
    assert.deepEqual(waiting, [first[9], first[10], first[11], ...second.slice(0, 7)]);
    assert.deepEqual((await scene.tickAt("09:15")).asked, [second[7], second[8]]);
    assert.deepEqual((await scene.tickAt("09:30")).asked, []);
    assert.ok([...first, ...second].every((guid) => scene.codes(guid).join() === "500,500,500"));
  });

  test("MAX_REDELIVERIES is another number of asks", async (t) => {
    const scene = await opened(t, { settings: { MAX_REDELIVERIES: "2" } });
    const guids = range(5).map((index) => scene.fails(at("08:01") + index * 1000));
    const ticks = await scene.ticks("08:15", "09:00");
    assert.deepEqual(
      ticks.map((tick) => tick.asked),
      [guids.slice(0, 2), guids.slice(2, 4), guids.slice(4), []],
    );
  });

  test("a first delivery that failed a second ago is asked for at once", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:14:59");
    assert.deepEqual((await scene.tickAt("08:15")).asked, [guid]);
  });

  test("ten minutes pass between two asks for one event, though its attempt failed at once", async (t) => {
    const scene = await opened(t);
    scene.github.endpoint = () => 500;
    const guid = scene.fails("08:05");
    await scene.tickAt("08:15");
    assert.deepEqual((await scene.tickAt("08:24:59")).asked, []);
    assert.deepEqual((await scene.tickAt("08:25:01")).asked, [guid]);
  });

  test("a maintainer's pass settles an event that still waited for its turn", async (t) => {
    const scene = await opened(t, { settings: { MAX_REDELIVERIES: "1" } });
    const guids = [scene.fails("08:05"), scene.fails("08:06"), scene.fails("08:07")];
    assert.deepEqual((await scene.tickAt("08:15")).asked, [guids[0]]);
    scene.github.click(guids[1], 200);
    assert.deepEqual(asked(await scene.ticks("08:30", "09:00")), [guids[2]]);
  });

  test("an ignored event is neither asked for nor an entry, others are", async (t) => {
    const scene = await opened(t, { settings: { IGNORED_EVENTS: "push, star" } });
    scene.fails("08:05", 500, { event: "push", action: null });
    const guid = scene.fails("08:06");
    const ticks = await scene.ticks("08:15", "09:00");
    assert.deepEqual(asked(ticks), [guid]);
    assert.equal(ticks[0].sweep.events.ignored, 1);
  });

  test("an event whose first delivery lies before the window is left alone", async (t) => {
    const scene = await openScene(t);
    scene.fails("04:59");
    const inside = scene.fails("05:01");
    scene.now = at("07:00");
    for (const guid of scene.github.deliveries.byGuid.keys()) scene.github.click(guid, 500);
    const tick = await scene.tickAt("08:00");
    assert.deepEqual(tick.asked, [inside]);
    assert.equal(tick.sweep.events.uncountable, 1);
    assert.deepEqual(asked(await scene.ticks("08:15", "09:00")), []);
  });

  test("WINDOW_HOURS reaches as far back as it says", async (t) => {
    const scene = await openScene(t, { settings: { WINDOW_HOURS: "6" } });
    const guids = [scene.fails("02:01"), scene.fails("04:59")];
    scene.fails("01:59");
    assert.deepEqual((await scene.tickAt("08:00")).asked, guids);
  });

  test("events that leave the window while they wait for their turn are one entry that counts them", async (t) => {
    const scene = await opened(t, { settings: { MAX_REDELIVERIES: "1", WINDOW_HOURS: "1" } });
    const guids = range(7).map((index) => scene.fails(at("08:01") + index * 1000));
    // 08:15, 08:30, 08:45 and 09:00 ask for one each; then the hour is over.
    const ticks = await scene.ticks("08:15", "09:30");
    assert.deepEqual(asked(ticks), guids.slice(0, 4));
    assert.equal(
      ticks.reduce((sum, { sweep }) => sum + sweep.events.left_behind, 0),
      3,
    );
    assert.deepEqual([scene.messages().length, ticks.at(-1).sweep.alarm_entries], [1, 1]);
    assert.match(scene.messages()[0].text, /Left behind: 3 events/);
    assert.match(scene.openIssue().body, /Left behind\*\*: 3 events/);
  });

  test("a delivery that GitHub lists four minutes late is found behind the cursor", async (t) => {
    const scene = await opened(t);
    const pass = (from, count) => range(count).map((index) => scene.delivers(at(from) + index * 1000));
    const late = scene.fails("08:13", 0, { listedAfterMs: 4 * 60_000 });
    pass("08:13:20", 90);
    assert.deepEqual((await scene.tickAt("08:15")).asked, []);
    // New ground ends on the second page; the late one is on the third.
    pass("08:16", 150);
    const tick = await scene.tickAt("08:30");
    assert.deepEqual([tick.sweep.deliveries_list.pages, tick.asked], [3, [late]]);
  });
});
