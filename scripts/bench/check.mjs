// The step `costs` of `npm test`: size and cost of the Worker against their limits. What needs the running Worker is in
// test/worker-costs.test.mjs.

import { join } from "node:path";
import { root, SetupError } from "../setup.mjs";
import { buildCosts, costsOf, instructionsOf } from "./costs.mjs";
import { limits } from "./limits.mjs";
import { fileSize } from "./size.mjs";

// 20 pages of 100.
const DELIVERIES = 2_000;

/** Throws if anything costs more than it may, and names all of it. */
export async function checkCosts() {
  const wasm = fileSize(join(root, "build", "index_bg.wasm"));
  const program = await buildCosts();
  const { allocations, peak_bytes } = await costsOf(program, DELIVERIES);
  const instructions = await instructionsOf(program, DELIVERIES);
  const found = [
    ["bytes of the wasm", wasm.raw, limits.wasm.raw],
    ["bytes of the wasm after gzip", wasm.gzip, limits.wasm.gzip],
    ["instructions of deciding over 20 pages", instructions, limits.decide.instructions],
    ["allocations of deciding over 20 pages", allocations, limits.decide.allocations],
    ["bytes at a time of deciding over 20 pages", peak_bytes, limits.decide.peakBytes],
  ];
  const tooMuch = found
    .filter(([, cost, limit]) => cost > limit)
    .map(([what, cost, limit]) => `${what}: ${cost}, at most ${limit}`);
  if (tooMuch.length === 0) return;
  throw new SetupError(`costs more than scripts/bench/limits.mjs allows:\n${tooMuch.join("\n")}`);
}
