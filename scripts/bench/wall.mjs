// How long the busiest sweep takes against servers that take their time, and how much memory the isolate has.

import { runForMemory, runSlowly } from "./measure.mjs";
import { scenes } from "./scenes.mjs";
import { subjects } from "./subjects.mjs";
import { spread, table } from "./tables.mjs";

const DELAY_MS = 200;

export async function report({ runs, build }) {
  const directories = await subjects(build);
  const names = { worker: "this Worker", plain: "plain JavaScript" };
  const rows = [];
  for (const [name, title] of Object.entries(names)) {
    const all = [];
    // Most of it is waiting, which varies little.
    for (let run = 0; run < Math.ceil(runs / 3); run += 1) {
      all.push(await runSlowly(scenes.busiest, DELAY_MS, directories[name]));
    }
    const memory = await runForMemory(scenes.busiest, directories[name]);
    rows.push([
      title,
      all[0].sweep.calls,
      spread(all.map(({ ms }) => ms / 1000)),
      ...Object.values(memory).map(megabytes),
    ]);
  }
  const head = ["", "calls", `seconds, ${DELAY_MS} ms a call`, "V8's heap at most, MB", "buffers outside of it, MB"];
  table(`The busiest sweep (${scenes.busiest.what}): time by the clock, and memory`, [head, ...rows]);
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
