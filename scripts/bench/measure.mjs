// Runs one scene in fresh processes and gives what each tick cost the isolate.

import { call, link } from "../../test/fakes/client.mjs";
import { startGitHub, testKeys } from "../../test/fakes/github.mjs";
import { startTelegram } from "../../test/fakes/telegram.mjs";
import { startWorker } from "../../test/harness.mjs";
import { profile } from "./cpu.mjs";
import { connect } from "./devtools.mjs";
import { phases } from "./phases.mjs";

const QUARTER = 15 * 60_000;
const CONTROL_REPO = "octo-maintainer/alarms";
const START = Date.parse("2026-11-02T08:00:00Z");

// workerd has V8 drop what it compiled of every isolate whenever it makes one, and Miniflare makes some after the Worker's. What that leaves
// open is in docs/benchmarks.md.
const v8Flags = "--no-flush-liftoff-code";

// Ticks in one process. The first is cold; those from the fourth on are warm: V8 has compiled anew what runs often.
const TICKS = 8;
const WARM_FROM = 3;

/**
 * One fresh process: `start`, the first request, which makes the instance; `cold`, the first sweep after it; `warm`, later
 * ones; and the log line of the last sweep. Each of them as `phases` gives it, with `threadMs`.
 */
export async function runSweeps(scene, buildDir) {
  let sweep;
  const costs = await measured(buildDir, ({ github, telegram, worker }) => async (n) => {
    sweep = await sweepOf(scene, { github, telegram, worker }, n);
  });
  return { ...costs, sweep };
}

/** Sweep n of a scene; its log line. */
async function sweepOf(scene, { github, telegram, worker }, n, before = () => {}) {
  const now = START + n * QUARTER;
  github.now = now;
  scene.play(github, n);
  github.now = now + 1_000;
  telegram.now = now + 1_000;
  before();
  const { outcome, logs, lines } = await worker.tick(now);
  if (outcome !== "ok") throw new Error(`the sweep ended as ${outcome}:\n${lines.join("\n")}`);
  return logs.find(({ message }) => message === "sweep");
}

/** The first sweep of a scene whose every call is answered after `delayMs`: its log line, and how long it took, ms. */
export function runSlowly(scene, delayMs, buildDir) {
  return onStage(buildDir, async (stage) => {
    let started;
    const sweep = await sweepOf(scene, stage, 0, () => {
      for (const fake of [stage.github, stage.telegram]) fake.fault(() => true, { delayMs }, Number.POSITIVE_INFINITY);
      started = performance.now();
    });
    return { sweep, ms: performance.now() - started };
  });
}

/** What V8 holds after some sweeps of a scene, bytes: its heap, and the buffers that a body is read into. The module has its own memory beside. */
export function runForMemory(scene, buildDir) {
  return onStage(buildDir, async (stage) => {
    const devtools = await connect(await stage.worker.inspectorUrl());
    try {
      const most = { heap: 0, buffers: 0 };
      for (let n = 0; n < TICKS; n += 1) {
        let ended = false;
        const sweep = sweepOf(scene, stage, n).finally(() => {
          ended = true;
        });
        while (!ended) {
          const { usedSize, backingStorageSize = 0 } = await devtools.send("Runtime.getHeapUsage");
          most.heap = Math.max(most.heap, usedSize);
          most.buffers = Math.max(most.buffers, backingStorageSize);
        }
        await sweep;
      }
      return most;
    } finally {
      devtools.close();
    }
  });
}

/** The floor of a scene: `JSON.parse` of as many of its pages as a sweep reads, and one signature. */
export function runFloor(scene, pages, buildDir) {
  return measured(buildDir, async ({ github, worker }) => {
    scene.play(github, 0);
    const body = await bodies(github, pages);
    return async () => {
      const { status } = await worker.fetch("/", { method: "POST", body });
      if (status !== 200) throw new Error(`the floor answered ${status}`);
    };
  });
}

/** Measures what `prepare` makes of a stage: a function that is called with 0, 1, 2 and so on. */
function measured(buildDir, prepare) {
  return onStage(buildDir, async (stage) => {
    const work = await prepare(stage);
    const steps = Array.from({ length: TICKS }, (_, n) => () => work(n));
    const [start, ...all] = await profile(stage.worker, [() => stage.worker.fetch("/"), ...steps]);
    return { start: phases(start), cold: phases(all[0]), warm: all.slice(WARM_FROM).map(phases) };
  });
}

/** Starts a Worker and both fakes for `run`. */
async function onStage(buildDir, run) {
  const github = await startGitHub({ now: START, repositories: [{ fullName: CONTROL_REPO }], validate: false });
  const telegram = await startTelegram({ now: START });
  const worker = await startWorker({ inspector: true, buildDir, v8Flags, bindings: bindings(github, telegram) });
  try {
    return await run({ github, telegram, worker });
  } finally {
    await worker.stop();
    await github.close();
    await telegram.close();
  }
}

function bindings(github, telegram) {
  const keys = testKeys();
  return {
    GITHUB_APP_ID: "1234567",
    GITHUB_APP_PRIVATE_KEY: keys.pkcs1,
    // For the others, which do not take what GitHub hands out.
    GITHUB_APP_PRIVATE_KEY_PKCS8: keys.pkcs8,
    GITHUB_API_URL: github.url,
    TELEGRAM_API_URL: telegram.url,
    TELEGRAM_BOT_TOKEN: telegram.token,
    TELEGRAM_CHAT_ID: "-1001234567890",
    CONTROL_REPO,
  };
}

/** So many pages of the list as they go over the wire, one a line; from the start again when it ends. */
async function bodies(github, pages) {
  const first = `${github.url}/app/hook/deliveries?per_page=100`;
  const found = [];
  for (let next = first; found.length < pages; ) {
    const { text, headers } = await call(next);
    found.push(text);
    next = link(headers, "next") ?? first;
  }
  return found.join("\n");
}
