// What a sweep may cost: calls to the outside, and calls between wasm and JavaScript. Neither depends on the machine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../scripts/bench/limits.mjs";
import { breaks } from "./worker/alarm.mjs";
import { countingBuild } from "./worker/border.mjs";
import { builtWith } from "./worker/built.mjs";
import { at, CONTROL_REPO, opened, openScene } from "./worker/scene.mjs";

/** The calls over the border of the last sweep. */
const crossed = ({ logs }) => logs.findLast(({ message }) => message === "border").calls;

/** So many deliveries that passed in the minutes before. */
function delivers(scene, clock, count) {
  const from = at(clock);
  for (let i = 0; i < count; i += 1) scene.github.deliver({ event: "push", at: from + i * 100 });
}

test("a quiet sweep makes two calls, and one with pages and asks one for each", async (t) => {
  const scene = await opened(t);
  const quiet = await scene.tickAt("08:15");
  assert.equal(quiet.calls, 2);
  delivers(scene, "08:16", 350);
  scene.fails("08:20");
  const usual = await scene.tickAt("08:30");
  assert.equal(usual.calls, 1 + 4 + 1);
});

test("a page and an ask cross the border between wasm and JavaScript no more often than they must", async (t) => {
  const scene = await openScene(t, { buildDir: countingBuild(t) });
  // The first tick of an isolate looks once whether the settings were without an App; that is counted with the second.
  await scene.ticks("08:00", "08:10");
  await scene.tickAt("08:12");
  const quiet = crossed(await scene.tickAt("08:15"));
  delivers(scene, "08:16", 950);
  const reading = await scene.tickAt("08:30");
  const pages = reading.sweep.deliveries_list.pages - 1;
  assert.equal(pages, 9);
  const page = (crossed(reading) - quiet) / pages;
  for (let i = 0; i < 10; i += 1) scene.fails(`08:${31 + i}`);
  const asking = await scene.tickAt("08:45");
  assert.equal(asking.asked.length, 10);
  const ask = (crossed(asking) - quiet) / 10;
  t.diagnostic(`calls over the border: quiet sweep ${quiet}, page ${page.toFixed(1)}, ask ${ask.toFixed(1)}`);
  assert.ok(quiet <= limits.border.quietSweep, `a quiet sweep: ${quiet}, at most ${limits.border.quietSweep}`);
  assert.ok(page <= limits.border.page, `a page: ${page}, at most ${limits.border.page}`);
  assert.ok(ask <= limits.border.ask, `an ask, with what it adds to saving: ${ask}, at most ${limits.border.ask}`);
});

test("most of what the first sweep of an isolate runs was compiled when that started", async (t) => {
  // Without the first flag workerd drops it all again for the isolates that Miniflare makes after the Worker's.
  const v8Flags = "--no-flush-liftoff-code --trace-wasm-compilation-times";
  // As at Cloudflare, where no time passes before the first call.
  const buildDir = builtWith(t, "const { now } = Date; Date.now = () => 0; queueMicrotask(() => { Date.now = now; });");
  const scene = await openScene(t, { v8Flags, buildDir });
  const compiled = () =>
    scene.worker.lines.flatMap((line) => line.match(/ using Liftoff, .* bodysize (\d+)/)?.[1] ?? []);
  const bytes = (sizes) => sizes.reduce((sum, size) => sum + Number(size), 0);
  await scene.worker.flush();
  const atStart = compiled();
  assert.ok(bytes(atStart) > 5 * limits.firstSweep, "V8 says what it compiles");
  // It does all that was rehearsed, so whatever the rehearsal left out counts.
  scene.fails("07:58");
  breaks(scene, "07:50");
  const { outcome, sweep, asked } = await scene.tickAt("08:00");
  assert.deepEqual([outcome, sweep.alarm_entries, asked.length, scene.messages().length], ["ok", 1, 1, 1]);
  assert.equal(scene.github.openIssues(CONTROL_REPO).length, 1);
  const inSweep = bytes(compiled().slice(atStart.length));
  t.diagnostic(`bytes compiled: at the start ${bytes(atStart)}, in the first sweep ${inSweep}`);
  assert.ok(inSweep > 0 && inSweep <= limits.firstSweep, `${inSweep} bytes, at most ${limits.firstSweep}`);
});
