// Every call ends after ten seconds, however it is answered. Most of these take that long, by the real clock, and so run side by side.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FLOOD_BYTES } from "./fakes/http.mjs";
import { ASK, openScene } from "./worker/scene.mjs";

describe("calls that never end", { concurrency: true }, () => {
  test("a page that hangs is asked for once more, and then the sweep goes on", async (t) => {
    const scene = await openScene(t);
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05");
    scene.github.fault({ path: "/app/hook/deliveries" }, "hang");
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.outcome, tick.asked, tick.calls], ["ok", [guid], 4]);
    assert.ok(tick.sweep.duration_ms >= 9_900 && tick.sweep.duration_ms < 20_000);
  });

  test("a page without an end is given up for its size, long before its time is over", async (t) => {
    const scene = await openScene(t);
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05");
    scene.github.fault({ path: "/app/hook/deliveries" }, "endless");
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.sweep.failure, tick.asked], ["decode", []]);
    assert.match(tick.logs[0].error, /larger than 4 MiB/);
    assert.ok(tick.sweep.duration_ms < 9_900, `${tick.sweep.duration_ms} ms`);
    assert.ok(tick.requests[0].bytes < FLOOD_BYTES, "the rest of it was not taken");
    assert.deepEqual((await scene.tickAt("08:30")).asked, [guid]);
  });

  test("an ask that hangs stands as an ask: the others are made, and it is not made twice", async (t) => {
    const scene = await openScene(t);
    await scene.tickAt("08:00");
    const guids = [scene.fails("08:05"), scene.fails("08:06")];
    scene.github.fault({ method: "POST", path: ASK }, "hang-after");
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.outcome, tick.asked], ["ok", guids]);
    const next = await scene.tickAt("08:30");
    assert.deepEqual([next.asked, next.sweep.events.recovered], [[], 2]);
  });

  test("a message that arrives byte by byte ends too, and the issue is written all the same", async (t) => {
    const scene = await openScene(t, { settings: { MAX_ATTEMPTS: "2" } });
    scene.github.endpoint = () => 500;
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05");
    await scene.tickAt("08:15");
    scene.telegram.fault({}, "slow-drip");
    const tick = await scene.tickAt("08:30");
    assert.equal(tick.outcome, "ok");
    assert.ok(scene.openIssue().body.includes(guid));
    // Its answer was lost, so it is sent once more: two messages are better than none.
    await scene.tickAt("08:45");
    scene.shows(guid);
  });
});
