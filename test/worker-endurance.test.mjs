// Days of ticks of one process, with traffic, outages and calls that go wrong: nothing grows, no event is lost, and the invariants
// hold after each tick. `npm run endure` plays a quarter of a year of it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { endure, grown, SHORTEST } from "./worker/endurance.mjs";
import { at, openScene } from "./worker/scene.mjs";

const EVERY = 24;

test("six days with faults of all kinds leave process, state and time per tick as they were, and lose nothing", async (t) => {
  const { samples, sums } = await endure(t, { ticks: SHORTEST, seed: 3, every: EVERY });
  assert.deepEqual(grown(samples), []);
  const [{ wasmKb, heapKb }] = samples;
  assert.ok(wasmKb > 1000 && heapKb > 500, `${wasmKb} kB of wasm, ${heapKb} of heap`);
  assert.ok(sums.faults > 10 && sums.failedSweeps > 3 && sums.recovered > 200, "enough went wrong");
  assert.deepEqual([sums.settled, sums.unexplained], [sums.deliveries, 0]);
});

test("whatever grows with the ticks is named, and what only varies is not", () => {
  const kilobytes = { wasmKb: 1600, heapKb: 1500 };
  const flat = { ...kilobytes, stateBytes: 20_000, largestState: 60_000, historyBytes: 9_000, kept: 10_000, cpuMs: 8 };
  const samples = (change) => Array.from({ length: 12 }, (_, index) => ({ ...flat, ...change(index) }));
  assert.deepEqual(
    grown(samples((index) => ({ cpuMs: index % 3 ? 8 : 30, stateBytes: index % 3 ? 20_000 : 90_000 }))),
    [],
  );
  for (const [name, value] of Object.entries(flat)) {
    const grows = samples((index) => ({ [name]: value * (index + 1) }));
    assert.match(grown(grows).join("\n"), new RegExp(`^${name}: .*$`));
    // A figure that was not measured is none.
    assert.equal(grown(samples(() => ({ [name]: undefined }))).length, 1, name);
  }
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
