// What it costs to decide by the number of deliveries, built for this machine.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../setup.mjs";
import { run } from "../step.mjs";
import { buildCosts, costsOf, instructionsOf } from "./costs.mjs";
import { table } from "./tables.mjs";

const SIZES = [100, 1_000, 10_000, 100_000, 1_000_000];
// callgrind takes fifty times as long.
const MOST_COUNTED = 100_000;

export async function report() {
  await run("cargo", ["bench", "--locked", "--quiet", "--bench", "decide"], { cwd: root });
  const program = await buildCosts();
  const rows = [];
  for (const deliveries of SIZES) {
    const { allocations, peak_bytes } = await costsOf(program, deliveries);
    const instructions = deliveries <= MOST_COUNTED ? await instructionsOf(program, deliveries) : undefined;
    const nanoseconds = timeOf(deliveries);
    rows.push([
      deliveries,
      `${(nanoseconds / 1e6).toFixed(2)} ms`,
      `${(nanoseconds / deliveries).toFixed(0)} ns`,
      instructions ? (instructions / deliveries).toFixed(0) : "not counted",
      (allocations / deliveries).toFixed(2),
      `${(peak_bytes / 1e6).toFixed(2)} MB`,
    ]);
  }
  const head = ["deliveries", "time", "each", "instructions each", "allocations each", "peak memory"];
  table("Reading the pages and deciding, native", [head, ...rows]);
}

/** The median that criterion found. */
function timeOf(deliveries) {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
  const path = join(target, "criterion", "decide", String(deliveries), "new", "estimates.json");
  return JSON.parse(readFileSync(path, "utf8")).median.point_estimate;
}
