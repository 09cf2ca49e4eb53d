// Days of ticks of one process, with traffic, outages and calls that go wrong: nothing grows, no event is lost, and the invariants
// hold after each tick. `npm run endure` plays a quarter of a year of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { endure, median } from "./worker/endurance.mjs";
import { at, openScene } from "./worker/scene.mjs";

/** Six days, of which the first three fill what is kept for three days. */
const TICKS = 576;
const EVERY = 24;

test("six days with faults of all kinds leave the process and the state as large as three did, and lose nothing", async (t) => {
  const run = await endure(t, { ticks: TICKS, seed: 3, every: EVERY });
  const half = TICKS / EVERY / 2;
  const of = (name) =>
    [run.samples.slice(0, half), run.samples.slice(half)].map((part) => median(part.map((one) => one[name])));
  for (const name of ["stateBytes", "historyBytes", "kept"]) {
    const [before, after] = of(name);
    assert.ok(before > 0 && after < 3 * before, `${name}: ${before}, then ${after}`);
  }
  // It only ever grows, by what the largest sweep so far needed.
  const [wasmBefore, wasmAfter] = of("wasmKb");
  assert.ok(wasmBefore > 1000 && wasmAfter - wasmBefore < 1024, `wasm: ${wasmBefore} kB, then ${wasmAfter}`);
  // V8 clears up now and then: what it leaves is the least of many ticks.
  const least = (part) => Math.min(...part.map(({ heapKb }) => heapKb));
  const heap = [least(run.samples.slice(0, half)), least(run.samples.slice(half))];
  assert.ok(heap[0] > 500 && heap[1] - heap[0] < 4096, `heap: ${heap} kB`);
  assert.ok(Math.max(...run.samples.map(({ largestState }) => largestState)) < 200_000);
  const { sums } = run;
  assert.ok(sums.faults > 10 && sums.failedSweeps > 3 && sums.recovered > 200, "enough went wrong");
  assert.deepEqual([sums.settled, sums.unexplained], [sums.deliveries, 0]);
});

test("the fake GitHub forgets what it lists no longer, an event with its last attempt", async (t) => {
  const scene = await openScene(t);
  const { github } = scene;
  const [early, late] = [scene.fails("08:00"), scene.fails("09:00")];
  scene.now = at("09:30");
  github.click(early);
  const attempts = () => [early, late].map((guid) => github.attempts(guid).length);
  scene.now = at("80:30");
  assert.deepEqual([github.deliveries.forget(), attempts(), github.deliveries.timeline.length], [[], [2, 1], 2]);
  scene.now = at("81:15");
  assert.deepEqual([github.deliveries.forget().map(({ guid }) => guid), attempts()], [[late], [2, 0]]);
  scene.now = at("81:45");
  assert.deepEqual([github.deliveries.forget().length, github.deliveries.byId.size, attempts()], [1, 0, [0, 0]]);
});
