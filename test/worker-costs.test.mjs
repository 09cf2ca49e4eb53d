// What a sweep may cost: calls to the outside, and calls between wasm and JavaScript. Neither depends on the machine.

import assert from "node:assert/strict";
import { test } from "node:test";
import { limits } from "../scripts/bench/limits.mjs";
import { countingBuild } from "./worker/border.mjs";
import { at, opened, openScene } from "./worker/scene.mjs";

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
