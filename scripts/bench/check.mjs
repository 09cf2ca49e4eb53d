// The step `costs` of `npm test`: size and cost of the Worker against their limits. What needs the running Worker is in
// test/worker-costs.test.mjs.

import { join } from "node:path";
import { root, SetupError } from "../setup.mjs";
import { buildCosts, costsOf, instructionsOf } from "./costs.mjs";
import { limits } from "./limits.mjs";
import { fileSize } from "./size.mjs";

// 20 pages of 100.
const DELIVERIES = 2_000;

// More than any sweep reads; each may cost as much as one of a tenth, or a hundredth, of them.
const MANY = 20_000;
const MILLION = 1_000_000;

/** Throws if anything costs more than it may, and names all of it. */
export async function checkCosts() {
  const wasm = fileSize(join(root, "build", "index_bg.wasm"));
  const program = await buildCosts();
  const { allocations, peak_bytes } = await costsOf(program, DELIVERIES);
  const instructions = await instructionsOf(program, DELIVERIES);
  const ofMany = { ...(await costsOf(program, MANY)), instructions: await instructionsOf(program, MANY) };
  const ofMillion = await costsOf(program, MILLION);
  const times = MILLION / MANY;
  const found = [
    ["bytes of the wasm", wasm.raw, limits.wasm.raw],
    ["bytes of the wasm after gzip", wasm.gzip, limits.wasm.gzip],
    ["instructions of deciding over 20 pages", instructions, limits.decide.instructions],
    ["allocations of deciding over 20 pages", allocations, limits.decide.allocations],
    ["bytes at a time of deciding over 20 pages", peak_bytes, limits.decide.peakBytes],
    [
      "instructions of deciding over ten times the pages, to those over 20",
      ofMany.instructions / instructions,
      (MANY / DELIVERIES) * limits.decide.linear,
    ],
    [
      "allocations of deciding over a million deliveries, to those over 20,000",
      ofMillion.allocations / ofMany.allocations,
      times * limits.decide.linear,
    ],
    [
      "bytes at a time of deciding over a million deliveries, to those over 20,000",
      ofMillion.peak_bytes / ofMany.peak_bytes,
      times * limits.decide.linear,
    ],
  ];
  const tooMuch = found
    .filter(([, cost, limit]) => cost > limit)
    .map(([what, cost, limit]) => `${what}: ${cost}, at most ${limit}`);
  if (tooMuch.length === 0) return;
  throw new SetupError(`costs more than scripts/bench/limits.mjs allows:\n${tooMuch.join("\n")}`);
}
