// Measures what a tick costs the Worker's isolate: V8's own sampling profile, by the DevTools protocol.
//
// The isolate's CPU time is the samples that found it at work, JavaScript, wasm or garbage collection, each counted as
// one sampling interval at most. workerd's thread is sampled only while it runs the isolate, so the gap before a sample
// may have been a wait for the network; and "(idle)" and "(program)" are native code outside of any call, such as
// workerd's own networking. This is near to what Cloudflare bills, not the same. The upper bound is the time of the
// whole thread, the profiler's own included, as Linux counts it.
//
// The first tick of a fresh process includes making the wasm instance, since that happens at the first event.

import { existsSync, readFileSync } from "node:fs";

// What V8 is asked for; it manages about 0.2 ms, five samples a millisecond.
const samplingIntervalUs = 100;
const notAtWork = new Set(["(root)", "(idle)", "(program)"]);

/**
 * Profiles ticks of a Worker that was just started with `inspector: true`: `tick(n)` fires the n-th, from 0. Returns
 * `coldMs`, the first one; `warmMs`, the median of the others; and for each of `all`: `cpuMs`, of it `gcMs`, beside
 * it `programMs`, `threadMs`, and V8's whole `profile`, which Chrome's DevTools open when saved as *.cpuprofile.
 */
export async function profileTicks(worker, ticks, tick) {
  // One connection for all of them: workerd does not take a new one reliably soon after the last.
  const devtools = await connect(await worker.inspectorUrl());
  const all = [];
  try {
    await devtools.send("Profiler.enable");
    await devtools.send("Profiler.setSamplingInterval", { interval: samplingIntervalUs });
    for (let n = 0; n < ticks; n += 1) {
      await devtools.send("Profiler.start");
      const before = threadTime(worker.pid);
      await tick(n);
      const threadMs = threadTime(worker.pid) - before;
      const { profile } = await devtools.send("Profiler.stop");
      all.push({ ...sum(profile), threadMs, profile });
    }
  } finally {
    devtools.close();
  }
  const warm = all
    .slice(1)
    .map(({ cpuMs }) => cpuMs)
    .sort((a, b) => a - b);
  return { coldMs: all[0].cpuMs, warmMs: warm[Math.floor(warm.length / 2)], all };
}

function sum({ nodes, samples, timeDeltas }) {
  const names = new Map(nodes.map((node) => [node.id, node.callFrame.functionName]));
  const interval = timeDeltas.toSorted((a, b) => a - b)[Math.floor(timeDeltas.length / 2)] ?? 0;
  const ms = { cpuMs: 0, gcMs: 0, programMs: 0 };
  samples.forEach((id, index) => {
    const spent = Math.min(Math.max(timeDeltas[index], 0), interval) / 1000;
    const name = names.get(id);
    if (name === "(program)") ms.programMs += spent;
    if (name === "(garbage collector)") ms.gcMs += spent;
    if (!notAtWork.has(name)) ms.cpuMs += spent;
  });
  return ms;
}

/** What the thread that runs the isolate, workerd's first, used so far, in ms; NaN where there is no /proc. */
function threadTime(pid) {
  const path = `/proc/${pid}/task/${pid}/schedstat`;
  return existsSync(path) ? Number(readFileSync(path, "utf8").split(" ")[0]) / 1e6 : Number.NaN;
}

async function connect(url) {
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error(`no inspector at ${url}`));
  });
  const waitingFor = new Map();
  let last = 0;
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data);
    const request = waitingFor.get(id);
    waitingFor.delete(id);
    if (error) request?.reject(new Error(`${request.method}: ${error.message}`));
    else request?.resolve(result);
  };
  return {
    send: (method, params = {}) =>
      new Promise((resolve, reject) => {
        last += 1;
        waitingFor.set(last, { method, resolve, reject });
        socket.send(JSON.stringify({ id: last, method, params }));
      }),
    close: () => socket.close(),
  };
}
