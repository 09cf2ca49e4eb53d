// Measures what a tick costs the Worker's isolate: V8's own sampling profile, by the DevTools protocol.
//
// The isolate's CPU time is the samples that found it at work, JavaScript, wasm or garbage collection, each counted as
// one sampling interval at most. workerd's thread is sampled only while it runs the isolate, so the gap before a sample
// may have been a wait for the network, or for a core that others use; and "(idle)" and "(program)" are native code
// outside of any call, such as workerd's own networking. This is near to what Cloudflare bills, not the same. The upper
// bound is the time of the whole thread, the profiler's own included, as Linux counts it. On a machine that is busy with
// other things the profiler misses samples: raise its priority (`nice`), or let it rest.

import { existsSync, readFileSync } from "node:fs";
import { connect } from "./devtools.mjs";

// What V8 is asked for; it manages about 0.2 ms, five samples a millisecond.
const samplingIntervalUs = 100;
const notAtWork = new Set(["(root)", "(idle)", "(program)"]);

/**
 * Profiles `steps`, functions that are run in their order, of a Worker that was just started with `inspector: true`. Returns of each:
 * `cpuMs`, `threadMs`, `stacks` (pairs of milliseconds and the names of the functions, the innermost first), and V8's whole `profile`, which Chrome's DevTools open when saved as *.cpuprofile.
 */
export async function profile(worker, steps) {
  // One connection for all of them: workerd does not take a new one reliably soon after the last.
  const devtools = await connect(await worker.inspectorUrl());
  const all = [];
  try {
    await devtools.send("Profiler.enable");
    await devtools.send("Profiler.setSamplingInterval", { interval: samplingIntervalUs });
    for (const step of steps) {
      await devtools.send("Profiler.start");
      const before = threadTime(worker.pid);
      await step();
      const threadMs = threadTime(worker.pid) - before;
      const { profile } = await devtools.send("Profiler.stop");
      all.push({ threadMs, profile });
    }
  } finally {
    devtools.close();
  }
  // The real interval, of samples that nothing came in between of: the same for all steps of a process.
  const deltas = all.flatMap(({ profile }) => profile.timeDeltas.filter((delta) => delta > 0)).sort((a, b) => a - b);
  const interval = deltas[Math.floor(deltas.length / 4)] ?? 0;
  return all.map((one) => ({ ...one, ...sum(one.profile, interval * 1.25) }));
}

function sum({ nodes, samples, timeDeltas }, most) {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
  const stack = (id) => {
    const names = [];
    for (let at = id; at !== undefined; at = parents.get(at)) names.push(byId.get(at).callFrame.functionName);
    return names;
  };
  const ms = { cpuMs: 0, stacks: [] };
  samples.forEach((id, index) => {
    const spent = Math.min(Math.max(timeDeltas[index], 0), most) / 1000;
    const name = byId.get(id).callFrame.functionName;
    if (notAtWork.has(name)) return;
    ms.cpuMs += spent;
    ms.stacks.push([spent, stack(id)]);
  });
  return ms;
}

/** What the thread that runs the isolate, workerd's first, used so far, in ms; NaN where there is no /proc. */
export function threadTime(pid) {
  const path = `/proc/${pid}/task/${pid}/schedstat`;
  return existsSync(path) ? Number(readFileSync(path, "utf8").split(" ")[0]) / 1e6 : Number.NaN;
}
