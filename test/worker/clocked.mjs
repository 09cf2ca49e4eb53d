// Copies of the built Worker whose time-outs come when a fake says so, and not after ten seconds. That it ends a call after ten
// of the real clock is test/worker-timeouts.test.mjs.

import { builtWith } from "./built.mjs";

// Everything else is the runtime's own: the signal that ends a call, what then becomes of its answer, and the refusal of a
// connection where nobody listens.
const clock = `
const clocks = new WeakMap();
AbortSignal.timeout = (millis) => {
  if (millis !== 10_000) throw new Error("a call ends after ten seconds, not after " + millis);
  const controller = new AbortController();
  clocks.set(controller.signal, controller);
  return controller.signal;
};
const fetched = globalThis.fetch;
globalThis.fetch = async (url, init) => {
  const timedOut = begins();
  const response = await fetched(url, { ...init, headers: { ...init.headers, "x-fake-clock": "1" } });
  const fault = response.headers.get("x-fault");
  if (fault === "refused") return fetched("http://127.0.0.1:9/", init);
  if (fault) {
    clocks.get(init.signal).abort(new DOMException("the time is up", "TimeoutError"));
    timedOut();
  }
  return response;
};
`;

/** Makes the copy, which goes after the test, and returns its directory. */
export const clockedBuild = (t) => builtWith(t, `const begins = () => () => {};${clock}`);

// Only until the Worker is started again: GitHub knows the time, and takes no JWT from the future.
const late = `
let late = 0;
const { now } = Date;
Date.now = () => now() + late;
// Calls that are under way side by side end together.
const begins = () => {
  const end = late + 10_000;
  return () => {
    late = Math.max(late, end);
  };
};
`;

/** The same, and to that copy each call that ends so took its ten seconds. */
export const lateBuild = (t) => builtWith(t, late + clock);

// The runtime's inspector counts a wasm memory nowhere.
const measured = `
const { Instance } = WebAssembly;
const instances = [];
WebAssembly.Instance = class extends Instance {
  constructor(...args) {
    super(...args);
    instances.push(this);
  }
};
const { log } = console;
for (const level of ["log", "info", "warn", "error"]) {
  const print = console[level];
  console[level] = (...values) => {
    print(...values);
    if (!String(values[0]).includes('"message":"sweep"')) return;
    const bytes = instances.reduce((sum, { exports }) => sum + exports.memory.buffer.byteLength, 0);
    log(JSON.stringify({ message: "memory", bytes }));
  };
}
`;

/** That of `clockedBuild`, which after the line of each sweep says how much memory its wasm has. */
export const measuredBuild = (t) => builtWith(t, `const begins = () => () => {};${measured}${clock}`);
