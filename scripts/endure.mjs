// `npm run endure`: a quarter of ticks of the built Worker in one process, with faults of all kinds, and what grows meanwhile.
// `-- TICKS SEED` plays another number of them, or another quarter. docs/endurance.md says what it came to.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { alone } from "../test/alone.mjs";
import { onPinnedNode, SetupError } from "./setup.mjs";
import { main } from "./step.mjs";

/** Ninety days. */
const QUARTER = 8_640;
/** Lines of the table. */
const LINES = 12;

await main(async () => {
  const [ticks, seed] = choose(process.argv.slice(2));
  await onPinnedNode();
  await alone((t) => plays(t, ticks, seed));
});

async function plays(t, ticks, seed) {
  const { endure, grown, SHORTEST } = await import("../test/worker/endurance.mjs");
  console.log(`${ticks} ticks, seed ${seed}\n`);
  console.log("  tick │ process MB │ wasm MB │ heap MB │ state, median and largest kB │ history kB │ a tick ms");
  const { samples, sums } = await endure(t, { ticks, seed, every: Math.ceil(ticks / LINES), onSample: print });
  console.log(
    `\n${sums.deliveries} events, ${sums.asks} asks, ${sums.recovered} recovered, ${sums.leftBehind} left behind`,
  );
  console.log(
    `${sums.faults} calls went wrong, ${sums.failedSweeps} sweeps failed; how all ${sums.settled} events ended is known`,
  );
  const control = await ofTheRuntime(ticks);
  console.log(`\nA Worker of ten lines, as many ticks: ${control.map((kb) => (kb / 1024).toFixed(0)).join(", ")} MB`);
  if (ticks < SHORTEST) return console.log(`\nWhether anything grows is seen from ${SHORTEST} ticks on`);
  const growing = grown(samples);
  console.log(`\n${growing.length > 0 ? `Grew: ${growing.join("; ")}` : "Nothing grew"}`);
  if (growing.length > 0) process.exitCode = 1;
}

function print({ tick, rssKb, wasmKb, heapKb, stateBytes, largestState, historyBytes, ms }) {
  const columns = [
    String(tick).padStart(6),
    (rssKb / 1024).toFixed(0).padStart(10),
    (wasmKb / 1024).toFixed(1).padStart(7),
    (heapKb / 1024).toFixed(1).padStart(7),
    `${(stateBytes / 1000).toFixed(1)}, ${(largestState / 1000).toFixed(1)}`.padStart(28),
    (historyBytes / 1000).toFixed(1).padStart(10),
    ms.toFixed(1).padStart(9),
  ];
  console.log(columns.join(" │ "));
}

/** Memory of a process whose Worker only makes two calls and two writes a tick, at the end of each quarter of them: the runtime's own. */
async function ofTheRuntime(ticks) {
  const { startWorker } = await import("../test/harness.mjs");
  const { rssKb } = await import("../test/worker/endurance.mjs");
  const server = createServer((_, response) => response.end("[]"));
  await new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const buildDir = mkdtempSync(join(tmpdir(), "redeliver-"));
  writeFileSync(join(buildDir, "index.js"), plain(`http://127.0.0.1:${server.address().port}/`));
  const worker = await startWorker({ buildDir, bindings: { GITHUB_APP_ID: "1" } });
  try {
    const sizes = [];
    for (let tick = 1; tick <= ticks; tick += 1) {
      await worker.tick(tick * 900_000);
      worker.clearLogs();
      if (tick % Math.ceil(ticks / 4) === 0) sizes.push(rssKb(worker));
    }
    return sizes;
  } finally {
    await worker.stop();
    server.close();
    rmSync(buildDir, { recursive: true });
  }
}

function plain(url) {
  return `import { DurableObject } from "cloudflare:workers";
export class Recovery extends DurableObject {
  async fetch() {
    for (let call = 0; call < 2; call += 1) await (await fetch("${url}")).text();
    for (const key of ["state", "history"]) await this.ctx.storage.put(key, key.repeat(1000));
    return new Response("ok");
  }
}
export default {
  async scheduled(_, env) {
    await (await env.RECOVERY.get(env.RECOVERY.idFromName("1")).fetch("http://x/")).text();
    console.log("{}");
  },
};`;
}

function choose(args) {
  const [ticks = QUARTER, seed = 1] = args.map((text) => (/^[1-9]\d{0,6}$/.test(text) ? Number(text) : Number.NaN));
  if (args.length <= 2 && Number.isFinite(ticks + seed)) return [ticks, seed];
  throw new SetupError("npm run endure takes nothing, or -- TICKS SEED, both whole numbers from 1 on");
}
