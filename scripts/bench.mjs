// `npm run bench`: what a sweep costs the Worker's isolate in CPU, cold and warm. `-- --runs N` for more fresh processes.
//
// Quiet: one page of either list, nothing to do. Busiest: 3 + 20 pages of 100, ten asks, a changed alarm in both places.
// "Cold" is the first tick of a fresh process, the making of the wasm instance included.

import { parseArgs } from "node:util";
import { startGitHub, testKeys } from "../test/fakes/github.mjs";
import { startTelegram } from "../test/fakes/telegram.mjs";
import { startWorker } from "../test/harness.mjs";
import { profileTicks } from "./cpu.mjs";
import { onPinnedNode } from "./setup.mjs";

const MINUTE = 60_000;
const CONTROL_REPO = "octo-maintainer/alarms";
// Ticks in one process; the first is cold.
const TICKS = 8;

/** What happens in the quarter of an hour before tick n. */
const scenes = {
  quiet(github, n) {
    github.deliver({ event: "push", at: github.now - n });
  },
  busiest(github) {
    const from = github.now - 14 * MINUTE;
    for (let i = 0; i < 2_000; i += 1) {
      const at = from + Math.floor((i * 13 * MINUTE) / 2_000);
      const repositoryId = 479_544_328 + (i % 10);
      // A tenth is refused, which fills the failures list, and ten need to come again.
      const code = i % 10 === 3 ? 404 : i % 200 === 7 ? 500 : 200;
      const event = code === 500 ? "issue_comment" : ["workflow_run", "check_run", "check_suite", "push"][i % 4];
      github.deliver({ event, action: "completed", repositoryId, at, code });
    }
    // One event that gives up in each sweep, so that the alarm changes.
    const poison = github.deliver({ event: "push", at: from, code: 500 });
    github.click(poison.guid, 500);
    github.click(poison.guid, 500);
  },
};

async function measure(scene, buildDir) {
  const start = Date.parse("2026-11-02T08:00:00Z");
  const github = await startGitHub({ now: start, repositories: [{ fullName: CONTROL_REPO }], validate: false });
  const telegram = await startTelegram({ now: start });
  const worker = await startWorker({
    inspector: true,
    buildDir,
    bindings: {
      GITHUB_APP_ID: "1234567",
      GITHUB_APP_PRIVATE_KEY: testKeys().pkcs1,
      GITHUB_API_URL: github.url,
      TELEGRAM_API_URL: telegram.url,
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_CHAT_ID: "-1001234567890",
      CONTROL_REPO,
    },
  });
  const sweeps = [];
  const result = await profileTicks(worker, TICKS, async (n) => {
    const now = start + n * 15 * MINUTE;
    github.now = now;
    scene(github, n);
    github.now = now + 1_000;
    telegram.now = now + 1_000;
    const { logs } = await worker.tick(now);
    sweeps.push(logs.find(({ message }) => message === "sweep"));
  });
  await worker.stop();
  await github.close();
  await telegram.close();
  return { ...result, sweep: sweeps.at(-1) };
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}

const spread = (values) =>
  `${median(values).toFixed(1)} (${Math.min(...values).toFixed(1)}–${Math.max(...values).toFixed(1)})`;

await onPinnedNode();
const { values } = parseArgs({ options: { runs: { type: "string", default: "5" }, build: { type: "string" } } });
console.log(`CPU of the isolate in ms: median (least–most) of ${values.runs} processes of ${TICKS} ticks\n`);
console.log("sweep    pages  asks calls      cold              warm");
for (const [name, scene] of Object.entries(scenes)) {
  const cold = [];
  const warm = [];
  let last;
  for (let run = 0; run < Number(values.runs); run += 1) {
    const { all, sweep } = await measure(scene, values.build);
    cold.push(all[0].cpuMs);
    warm.push(...all.slice(3).map(({ cpuMs }) => cpuMs));
    last = sweep;
  }
  const pages = `${last.failures_list.pages} + ${last.deliveries_list.pages + last.gap_pages}`;
  console.log(
    `${name.padEnd(8)} ${pages.padEnd(6)} ${String(last.events.redelivered).padStart(4)} ${String(last.calls).padStart(5)}  ${spread(cold).padEnd(18)}${spread(warm)}`,
  );
}
