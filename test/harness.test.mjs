// What every other test relies on: that the harness fires, reads, plants, restarts and kills as it says. Uses a Worker
// of its own, a few lines of JavaScript with the same names as ours, so that it fails for no other reason.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startWorker } from "./harness.mjs";

const source = `
import { DurableObject } from "cloudflare:workers";
export class Recovery extends DurableObject {
  memory = 0;
  async fetch(request) {
    const time = await request.text();
    const count = Number((await this.ctx.storage.get("state")) ?? "0") + 1;
    await this.ctx.storage.put("state", String(count));
    console.log(JSON.stringify({ count, memory: ++this.memory, time }));
    console.log("{ no JSON");
    if (this.env.FAKE) await (await fetch(this.env.FAKE)).text();
    await this.ctx.storage.put("done", String(count));
    return new Response("", { status: time.endsWith("1") ? 500 : 200 });
  }
}
export default {
  async scheduled(event, env) {
    const stub = env.RECOVERY.get(env.RECOVERY.idFromName(env.GITHUB_APP_ID));
    const body = String(event.scheduledTime);
    const answer = await stub.fetch("http://recovery", { method: "POST", body });
    if (!answer.ok) throw new Error("failed");
  },
  async fetch(request) {
    return new Response(new URL(request.url).pathname, { status: 404 });
  },
};`;

const bindings = { GITHUB_APP_ID: "42" };
let buildDir;

before(() => {
  buildDir = mkdtempSync(join(tmpdir(), "redeliver-build-"));
  writeFileSync(join(buildDir, "index.js"), source);
});

after(() => rmSync(buildDir, { recursive: true }));

async function started(t, options) {
  const worker = await startWorker({ buildDir, bindings, ...options });
  t.after(() => worker.stop());
  return worker;
}

test("a tick carries its time, its outcome and what it printed", async (t) => {
  const worker = await started(t);
  const first = await worker.tick(1_700_000_000_000);
  assert.equal(first.outcome, "ok");
  assert.deepEqual(first.logs, [{ count: 1, memory: 1, time: "1700000000000" }]);
  assert.deepEqual(first.lines.slice(1), ["{ no JSON"]);
  const second = await worker.tick(1_700_000_000_001);
  assert.equal(second.outcome, "exception");
  assert.deepEqual(second.logs, [{ count: 2, memory: 2, time: "1700000000001" }]);
  assert.equal(worker.logs.length, 2);
});

test("the HTTP side is reached by path", async (t) => {
  const worker = await started(t);
  const answer = await worker.fetch("/status?x=1");
  assert.equal(answer.status, 404);
  assert.equal(await answer.text(), "/status");
});

test("the state is read while it runs, planted, and kept over a restart", async (t) => {
  const worker = await started(t);
  assert.deepEqual(await worker.state(), {});
  assert.equal(await worker.state("state"), undefined);
  await worker.writeState("state", "7");
  assert.equal((await worker.tick(2)).logs[0].count, 8);
  assert.deepEqual(await worker.state(), { done: "8", state: "8" });
  await worker.restart();
  assert.deepEqual((await worker.tick(4)).logs, [{ count: 9, memory: 1, time: "4" }]);
  await worker.writeState("state", undefined);
  assert.equal((await worker.tick(6)).logs[0].count, 1);
  assert.equal(await worker.state("state", "another object"), undefined);
});

test("a kill cuts a tick off where it is, and a restart finds what was stored by then", async (t) => {
  const arrived = Promise.withResolvers();
  const fake = createServer(() => arrived.resolve()).listen(0, "127.0.0.1");
  t.after(() => fake.close().closeAllConnections());
  await new Promise((resolve) => fake.once("listening", resolve));
  const worker = await started(t, { bindings: { ...bindings, FAKE: `http://127.0.0.1:${fake.address().port}` } });
  const tick = worker.tick(2);
  await arrived.promise;
  await worker.kill();
  const { outcome, logs } = await tick;
  assert.equal(outcome, "killed");
  assert.equal(logs.length, 1);
  assert.deepEqual(await worker.state(), { state: "1" });
  await worker.restart({ bindings });
  assert.equal((await worker.tick(4)).outcome, "ok");
  assert.deepEqual(await worker.state(), { done: "2", state: "2" });
});

test("several Workers side by side keep their own process and storage", async (t) => {
  const workers = await Promise.all([started(t), started(t), started(t)]);
  assert.equal(new Set(workers.map((worker) => worker.pid)).size, 3);
  await Promise.all(workers.map((worker, index) => worker.writeState("state", String(index * 10))));
  const ticks = await Promise.all(workers.map((worker) => worker.tick(2)));
  assert.deepEqual(
    ticks.map((tick) => tick.logs[0].count),
    [1, 11, 21],
  );
});
