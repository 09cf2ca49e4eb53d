// Weeks of ticks of one process: what may not grow, what must hold after each of them, and that no event is lost (`npm run endure`).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { threadTime } from "../../scripts/bench/cpu.mjs";
import { connect } from "../../scripts/bench/devtools.mjs";
import { median } from "../../scripts/bench/tables.mjs";
import { measuredBuild } from "./clocked.mjs";
import { assertInvariants, overtakenBy, passedBy } from "./invariants.mjs";
import { at, CONTROL_REPO, openScene } from "./scene.mjs";
import { assertNoSecret, everythingWritten } from "./secrets.mjs";
import { weather } from "./weather.mjs";

const QUARTER = 15 * 60_000;
const HOUR = 60 * 60_000;
/** A run of so many ticks has filled, by the half of it, what is kept for three days: a shorter one grows anyway. */
export const SHORTEST = 6 * 96;
/** Older events have come to an end, and GitHub still keeps all that is needed to see which: it does for 72 hours, and a tick may be late. */
const SETTLED = 60 * HOUR;
/** An outage spends no attempts, so only those that the endpoint answered are sure to count. */
const counts = ({ code, redelivery }) => !redelivery || (code !== 0 && code !== 502 && code !== 504 && code < 520);
/** What of the stored events is an entry of the alarm. */
const isTold = ({ f }) => f === "gave_up" || (typeof f === "object" && f !== null && "not_redeliverable" in f);

/**
 * Plays `ticks` ticks, with all that the seed brings, and measures the process after each `every` of them. `t` clears up at its end,
 * as a test does; `onSample` is shown each sample as it comes. Returns the samples, and sums over the whole run.
 */
export async function endure(t, { ticks, seed, every, onSample = () => {} }) {
  const scene = await openScene(t, {
    github: { subscribesToIssues: true },
    buildDir: measuredBuild(t),
    inspector: true,
  });
  const run = new Run(scene, seed);
  const devtools = await connect(await scene.worker.inspectorUrl());
  try {
    for (let tick = 1; tick <= ticks; tick += 1) {
      await run.tick(devtools);
      if (tick % every !== 0) continue;
      const sample = { tick, ...(await run.measure()) };
      run.samples.push(sample);
      onSample(sample, run);
    }
    await run.ends();
  } finally {
    devtools.close();
  }
  return run;
}

class Run {
  samples = [];
  sums = {
    deliveries: 0,
    asks: 0,
    failedSweeps: 0,
    faults: 0,
    recovered: 0,
    leftBehind: 0,
    settled: 0,
    unexplained: 0,
  };
  #scene;
  #weather;
  #now = at("08:00");
  /** Events that have not come to their end, the oldest first. */
  #open = [];
  #stretch = [];

  constructor(scene, seed) {
    this.#scene = scene;
    this.#weather = weather(scene, seed);
  }

  async tick(devtools) {
    const scene = this.#scene;
    const from = this.#now;
    this.#now += QUARTER + this.#weather.pause();
    const guids = this.#weather.blow(from, this.#now);
    this.#open.push(...guids);
    const { tick, worker } = await this.#fire();
    const size = (await worker.state("state"))?.length ?? 0;
    const { usedSize } = await devtools.send("Runtime.getHeapUsage");
    const { bytes } = tick.logs.find(({ message }) => message === "memory");
    this.#stretch.push({ ms: tick.ms, cpuMs: tick.cpuMs, size, heap: usedSize, wasm: bytes });
    assertInvariants(scene, tick, counts);
    this.#add(guids.length, tick);
    await this.#settle();
    // An ask is looked at again by the sweep after it and by none later.
    scene.asks = scene.asks.filter((ask) => ask.at >= scene.github.now - HOUR);
  }

  async #fire() {
    const { worker } = this.#scene;
    const [begun, used] = [performance.now(), threadTime(worker.pid)];
    const tick = await this.#scene.tickAt(this.#now);
    tick.ms = performance.now() - begun;
    const cpuMs = threadTime(worker.pid) - used;
    tick.cpuMs = Number.isNaN(cpuMs) ? tick.ms : cpuMs;
    assert.ok(tick.sweep, `the tick at ${new Date(this.#now).toISOString()} said nothing: ${tick.lines.join("\n")}`);
    return { tick, worker };
  }

  #add(deliveries, { sweep, asked, requests }) {
    const { sums } = this;
    sums.deliveries += deliveries;
    sums.asks += asked.length;
    sums.failedSweeps += sweep.failure === null ? 0 : 1;
    sums.faults += requests.filter(({ fault }) => fault).length;
    sums.recovered += sweep.events.recovered;
    sums.leftBehind += sweep.events.left_behind;
  }

  /** Looks at how each event ended that is old enough, and has GitHub forget what it keeps no longer. */
  async #settle(age = SETTLED) {
    const { github } = this.#scene;
    const isOld = (guid) =>
      (github.deliveries.byGuid.get(guid)?.[0].at ?? Number.POSITIVE_INFINITY) <= github.now - age;
    const old = this.#open.filter(isOld);
    if (old.length > 0) {
      this.#open = this.#open.filter((guid) => !isOld(guid));
      const { ledger } = await this.#scene.state();
      const told = new Set(ledger.events.filter(isTold).map(({ g }) => g));
      const lost = old.filter((guid) => !told.has(guid) && !this.#hasEnded(guid));
      this.sums.settled += old.length;
      this.sums.unexplained += lost.length;
      const text = lost.map((guid) => `${guid} ${JSON.stringify(github.attempts(guid))}`).join("\n");
      assert.ok(this.sums.unexplained <= this.sums.leftBehind, `lost in silence:\n${text}`);
    }
    github.deliveries.forget();
  }

  /** Whether it passed, was overtaken, or was refused by the endpoint. */
  #hasEnded(guid) {
    const { github } = this.#scene;
    const { code } = github.attempts(guid).at(-1);
    const isRefused = code >= 300 && code < 500;
    return isRefused || passedBy(this.#scene, guid, github.now) || overtakenBy(this.#scene, guid, github.now);
  }

  /** The process and the isolate as they are now, and the medians of the ticks since the last sample. */
  async measure() {
    const scene = this.#scene;
    const { worker } = scene;
    const stretch = this.#stretch.splice(0);
    const sample = {
      rssKb: rssKb(worker),
      wasmKb: stretch.at(-1).wasm / 1024,
      // What is left right after V8 has cleared up, which workerd does not do when it is asked to.
      heapKb: Math.min(...stretch.map(({ heap }) => heap)) / 1024,
      stateBytes: median(stretch.map(({ size }) => size)),
      largestState: Math.max(...stretch.map(({ size }) => size)),
      ms: median(stretch.map(({ ms }) => ms)),
      cpuMs: median(stretch.map(({ cpuMs }) => cpuMs)),
      historyBytes: (await worker.state("history"))?.length ?? 0,
      kept: scene.github.deliveries.timeline.length,
    };
    await this.#forget();
    return sample;
  }

  /** What was written so far holds no secret, and need not be kept for that. */
  async #forget() {
    const scene = this.#scene;
    const written = await everythingWritten(scene);
    for (const settings of scene.worker.settings) assertNoSecret(written, settings);
    scene.worker.clearLogs();
    scene.forgetRequests();
  }

  /** Half a day in which all is well: then every event has come to an end, and the alarm shows what gave up and nothing else. */
  async ends() {
    this.#weather.calm();
    let last;
    for (let tick = 0; tick < 48; tick += 1) {
      this.#now += QUARTER;
      last = (await this.#fire()).tick;
      assertInvariants(this.#scene, last, counts);
      this.#add(0, last);
      await this.#settle();
    }
    await this.#settle(0);
    assert.deepEqual([last.outcome, last.sweep.failure, last.asked, last.sweep.events.waiting], ["ok", null, [], 0]);
    assert.equal(this.#open.length, 0, "every event was looked at");
    const open = this.#scene.openIssue();
    assert.equal(open !== undefined, last.sweep.alarm_entries > 0, `the issue of ${CONTROL_REPO}`);
  }
}

/** What grew over a run: a line for each, none if all is flat. The memory of the process is the runtime's own (docs/endurance.md). */
export function grown(samples) {
  const third = samples.length / 3;
  const [first, middle, last] = [0, 1, 2].map((part) => samples.slice(part * third, (part + 1) * third));
  const half = samples.length / 2;
  const halves = [samples.slice(0, half), samples.slice(half)];
  const looks = [
    // What grew evenly from nothing on would be five thirds of it; busy days make less of a difference.
    ...["stateBytes", "historyBytes", "kept"].map((name) => [name, [middle, last], median, times(1.5)]),
    // That would be five times as much. Other work on the machine takes half as much again at most.
    ["cpuMs", [first, last], median, times(2)],
    // It only ever grows, by what the largest sweep so far needed.
    ["wasmKb", halves, median, more(1024)],
    // V8 clears up now and then: what it leaves is the least of many ticks.
    ["heapKb", halves, (values) => Math.min(...values), more(4096)],
    ["largestState", halves, (values) => Math.max(...values), (...values) => values.every((value) => value < 200_000)],
  ];
  return looks.flatMap(([name, parts, one, isFlat]) => {
    const figures = parts.map((part) => one(part.map((sample) => sample[name])));
    return isFlat(...figures) ? [] : [`${name}: ${figures.join(", then ")}`];
  });
}

const times = (most) => (before, after) => before > 0 && after < most * before;
const more = (most) => (before, after) => before > 0 && after - before < most;

/** Memory of the process that runs the Worker. */
export function rssKb(worker) {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(worker.pid)], { encoding: "utf8" }));
}
