// Faults: what a client meets, and whether the effect happened.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { call } from "./fakes/client.mjs";
import { startGitHub } from "./fakes/github.mjs";
import { FLOOD_BYTES } from "./fakes/http.mjs";
import { startTelegram } from "./fakes/telegram.mjs";

/** @type {any} */
let github;
/** @type {string} */
let id;
beforeEach(async () => {
  github = await startGitHub();
  id = github.deliver({ event: "push", code: 500 }).id;
});
afterEach(() => github.close());

const list = (how = {}) => call(`${github.url}/app/hook/deliveries`, how);
const ask = (how = {}) => call(`${github.url}/app/hook/deliveries/${id}/attempts`, { method: "POST", ...how });
const MATCH = { method: "POST", path: /attempts$/ };

test("an answer instead, for as many requests as told, and logged as a fault", async () => {
  github.fault(MATCH, { status: 502, headers: { "retry-after": "9" }, body: "<html>" }, 2);
  assert.equal((await list()).status, 200);
  const first = await ask();
  assert.deepEqual([first.status, first.text, first.headers.get("retry-after")], [502, "<html>", "9"]);
  assert.equal((await ask()).status, 502);
  assert.equal((await ask()).status, 202);
  assert.deepEqual(
    github.requests.map(({ status, fault }) => [status, fault]),
    [
      [200, false],
      [502, true],
      [502, true],
      [202, false],
    ],
  );
  assert.equal(github.asks.length, 1);
});

test("a reset: nothing happened", async () => {
  github.fault(MATCH, "reset");
  await assert.rejects(ask());
  assert.equal(github.asks.length, 0);
  assert.equal(github.requests[0].status, null);
});

test("a lost answer: it happened", async () => {
  github.fault(MATCH, "lost-answer");
  await assert.rejects(ask());
  assert.equal(github.asks.length, 1);
});

for (const [fault, happened] of /** @type {[string, number][]} */ ([
  ["hang", 0],
  ["hang-after", 1],
  ["slow-drip", 1],
])) {
  test(`${fault}: no answer until the client gives up`, async () => {
    github.fault(MATCH, fault);
    await assert.rejects(ask({ signal: AbortSignal.timeout(60) }));
    assert.equal(github.asks.length, happened);
  });
}

test("an answer without an end goes on for as long as it is taken", async () => {
  github.fault({ path: "/app/hook/deliveries" }, "endless");
  const { body, headers } = await fetch(`${github.url}/app/hook/deliveries`);
  assert.equal(headers.get("content-length"), null);
  let taken = 0;
  for await (const chunk of body) {
    taken += chunk.length;
    if (taken > 1_000_000) break;
  }
  assert.ok(taken > 1_000_000 && github.requests.at(-1).bytes < FLOOD_BYTES);
});

test("an answer that breaks off", async () => {
  github.fault({ path: "/app/hook/deliveries" }, { truncate: 20 });
  await assert.rejects(list());
});

test("another body", async () => {
  github.fault(() => true, { rawBody: '{"not":"a list"}' });
  const answer = await list();
  assert.deepEqual([answer.status, answer.json], [200, { not: "a list" }]);
});

test("any change of the answer", async () => {
  const evil = '<http://127.0.0.1:1/app/hook/deliveries?cursor=x>; rel="next"';
  github.fault({ path: /deliveries/ }, (answer) => ({ ...answer, headers: { link: evil } }));
  assert.equal((await list()).headers.get("link"), evil);
});

test("a late answer", async () => {
  github.fault(() => true, { delayMs: 5 });
  assert.equal((await list()).status, 200);
});

test("a fault can be taken back, and an unknown one is none", async () => {
  const armed = github.fault(() => true, { status: 500 }, Infinity);
  assert.equal((await list()).status, 500);
  armed.stop();
  assert.equal((await list()).status, 200);
  assert.throws(() => github.fault(() => true, "hnag"), /no such fault/);
});

test("an injected answer is not judged by the description", async () => {
  github.fault(() => true, { status: 200, body: [{ id: "text" }] });
  await list();
  assert.deepEqual(github.violations, []);
});

test("close ends what hangs", async () => {
  const other = await startGitHub();
  other.fault(() => true, "hang");
  const pending = assert.rejects(call(`${other.url}/app`));
  while (!other.requests.length) await new Promise((resolve) => setImmediate(resolve));
  await other.close();
  await pending;
});

test("Telegram: a lost answer leaves the message", async (t) => {
  const telegram = await startTelegram();
  t.after(telegram.close);
  telegram.fault({ method: "sendmessage" }, "lost-answer");
  const json = { chat_id: -1001234567890, text: "hello" };
  await assert.rejects(call(`${telegram.url}/bot${telegram.token}/sendMessage`, { method: "POST", json, auth: null }));
  assert.equal(telegram.messages(-1001234567890).length, 1);
});
