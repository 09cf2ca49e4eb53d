// The fake GitHub's list of deliveries: filters, pages, ids, asks, and its judge.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { call, link, rawIds } from "./fakes/client.mjs";
import { ApiError } from "./fakes/github/errors.mjs";
import { startGitHub } from "./fakes/github.mjs";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** @type {any} */
let github;
beforeEach(async () => {
  github = await startGitHub();
});
afterEach(() => github.close());

const listing = (query = "") => call(`${github.url}/app/hook/deliveries${query}`);
const ids = async (query) => rawIds((await listing(query)).text);
const ask = (id) => call(`${github.url}/app/hook/deliveries/${id}/attempts`, { method: "POST" });

/** Ids of all pages, following `next`. */
async function pages(query, limit = 100) {
  const found = [];
  for (let url = `${github.url}/app/hook/deliveries${query}`; url && found.length < limit; ) {
    const answer = await call(url);
    assert.equal(answer.status, 200);
    found.push(rawIds(answer.text));
    url = link(answer.headers, "next");
  }
  return found;
}

test("the filters go by the code, and code 0 is in neither", async () => {
  const codes = [0, 200, 302, 399, 400, 404, 500, 599, 600];
  for (const code of codes) github.deliver({ event: "push", code });
  const listed = async (query) =>
    (await listing(query)).json.map(({ status_code }) => status_code).sort((a, b) => a - b);
  assert.deepEqual(await listed("?status=success"), [200, 302, 399]);
  assert.deepEqual(await listed("?status=failure"), [400, 404, 500, 599]);
  assert.deepEqual(await listed(""), codes);
});

test("the status text goes with the code", async () => {
  for (const code of [200, 302, 503, 0]) github.deliver({ event: "push", code });
  github.deliver({ event: "push", code: { code: 502, status: "failed to connect to host" } });
  assert.deepEqual(
    (await listing()).json.map(({ status }) => status),
    ["failed to connect to host", "timed out", "Invalid HTTP Response: 503", "Found", "OK"],
  );
});

test("ids have 19 digits, are integers of JSON and differ only beyond the precision of a double", async () => {
  const first = github.deliver({ event: "push" });
  const second = github.deliver({ event: "push" });
  const { text } = await listing();
  assert.deepEqual(rawIds(text), [second.id, first.id]);
  assert.match(text, /"id":\d{19},/);
  assert.notEqual(first.id, second.id);
  assert.equal(Number(first.id), Number(second.id));
});

test("times have milliseconds unless told otherwise", async () => {
  github.deliver({ event: "push", at: github.now - 918 });
  github.deliver({ event: "push", at: github.now - 900, wholeSeconds: true });
  assert.deepEqual(
    (await listing()).json.map(({ delivered_at }) => delivered_at),
    ["2026-11-02T07:59:59Z", "2026-11-02T07:59:59.082Z"],
  );
});

test("pages break newest first, at most 100, and link to the next with the filter kept", async () => {
  const made = [];
  for (let n = 0; n < 250; n += 1)
    made.push(github.deliver({ event: "push", at: github.now - HOUR + n, code: 500 }).id);
  const newest = made.toReversed();
  const found = await pages("?status=failure&per_page=100");
  assert.deepEqual(
    found.map((page) => page.length),
    [100, 100, 50],
  );
  assert.deepEqual(found.flat(), newest);
  assert.equal((await ids("")).length, 30);
  const { headers } = await listing("?status=failure&per_page=100");
  const next = new URL(link(headers, "next"));
  assert.equal(next.searchParams.get("status"), "failure");
  assert.equal(next.searchParams.get("per_page"), "100");
  assert.match(next.search, /cursor=v1_[^&]*%3D/);
});

test("a cursor stays where it is while new deliveries arrive", async () => {
  const made = [];
  for (let n = 0; n < 6; n += 1) made.push(github.deliver({ event: "push", at: github.now - 10 + n }).id);
  const next = link((await listing("?per_page=3")).headers, "next");
  for (let n = 0; n < 5; n += 1) github.deliver({ event: "push" });
  assert.deepEqual(rawIds((await call(next)).text), [made[2], made[1], made[0]]);
  const back = await call(next);
  assert.deepEqual(rawIds((await call(link(back.headers, "prev"))).text), [made[5], made[4], made[3]]);
});

test("pages can be shorter than asked for and still go on", async () => {
  for (let n = 0; n < 5; n += 1) github.deliver({ event: "push" });
  github.pageLimit = 2;
  assert.deepEqual(
    (await pages("?per_page=100")).map((page) => page.length),
    [2, 2, 1],
  );
});

test("a delivery can be listed late, at its own place", async () => {
  const early = github.deliver({ event: "push", listedAfterMs: 3 * MINUTE }).id;
  github.now += MINUTE;
  const later = github.deliver({ event: "push" }).id;
  assert.deepEqual(await ids(""), [later]);
  github.now += 2 * MINUTE;
  assert.deepEqual(await ids(""), [later, early]);
});

test("a delivery ahead of now happens when its time comes", async () => {
  github.endpoint = ({ at }) => (at >= Date.parse("2026-11-02T09:00:00Z") ? 200 : 503);
  const { guid } = github.deliver({ event: "push", at: github.now + HOUR });
  assert.deepEqual(await ids(""), []);
  github.now += HOUR;
  assert.deepEqual(
    github.attempts(guid).map(({ code }) => code),
    [200],
  );
});

test("the list forgets after 72 hours, a cursor into what it forgot included", async () => {
  const old = github.deliver({ event: "push", code: 500 }).id;
  github.now += HOUR;
  github.deliver({ event: "push", code: 500 });
  const next = link((await listing("?per_page=1")).headers, "next");
  github.now += 71 * HOUR;
  assert.equal((await listing()).json.length, 1);
  assert.equal((await call(next)).status, 422);
  assert.equal((await ask(old)).status, 404);
});

/** @type {[string, number][]} */
const refusedQueries = [
  ["?status=failed", 422],
  ["?page=2", 422],
  ["?redelivery=true", 422],
  ["?per_page=ten", 422],
  ["?per_page=101", 422],
  ["?per_page=0", 422],
  ["?cursor=v1_1", 422],
  ["?cursor=v1_AAAAAAAAAAA%3D", 422],
];
for (const [query, status] of refusedQueries) {
  test(`the list refuses ${query}`, async () => {
    assert.equal((await listing(query)).status, status);
    github.takeViolations();
  });
}

test("what a client asks against the description is a violation, and close tells it", async (t) => {
  const other = await startGitHub();
  t.after(() => other.close().catch(() => {}));
  await call(`${other.url}/app/hook/deliveries?page=2`);
  assert.deepEqual(other.violations, ["request GET /app/hook/deliveries: unknown query parameter page"]);
  await assert.rejects(other.close(), /unknown query parameter page/);
});

test("an answer against the description becomes a 500 and a violation", async () => {
  github.deliver({ event: "push", repositoryId: "many" });
  const answer = await listing();
  assert.equal(answer.status, 500);
  assert.match(answer.json.message, /answer 200 of GET \/app\/hook\/deliveries: \/0\/repository_id must be/);
  assert.equal(github.takeViolations().length, 1);
});

test("an answer with a status that the description does not have is one too", async () => {
  github.deliveries.list = () => {
    throw new ApiError(418, "I'm a teapot");
  };
  assert.equal((await listing()).status, 500);
  assert.deepEqual(github.takeViolations(), ["answer 418 of GET /app/hook/deliveries: a status that is not described"]);
});

test("an ask is taken with 202 and its attempt appears later, with the outcome of that time", async () => {
  github.endpoint = ({ attemptNumber, redelivery }) => (redelivery && attemptNumber === 2 ? 201 : 503);
  const { guid, id } = github.deliver({ event: "push" });
  assert.equal((await ask(id)).status, 202);
  assert.equal(github.attempts(guid).length, 1);
  github.now += 4_999;
  assert.equal((await listing()).json.length, 1);
  github.now += 1;
  const [newest, first] = (await listing()).json;
  assert.deepEqual([newest.guid, newest.redelivery, newest.status_code], [guid, true, 201]);
  assert.equal(newest.guid, first.guid);
  assert.deepEqual(
    github.asks.map(({ id, guid, status }) => ({ id, guid, status })),
    [{ id, guid, status: 202 }],
  );
});

test("an ask can be lost, late, or end as told", async () => {
  const { guid, id } = github.deliver({ event: "push", code: 500 });
  const fates = [{ lose: true }, { delayMs: 20 * MINUTE }, { code: 504 }];
  github.onAsk = ({ askNumber }) => fates[askNumber - 1];
  for (let n = 0; n < 3; n += 1) assert.equal((await ask(id)).status, 202);
  github.now += MINUTE;
  assert.deepEqual(
    github.attempts(guid).map(({ code }) => code),
    [500, 504],
  );
  github.now += 20 * MINUTE;
  assert.deepEqual(
    github.attempts(guid).map(({ code }) => code),
    [500, 504, 200],
  );
});

for (const status of [400, 401, 403, 404, 410, 422, 429, 500]) {
  test(`an ask can be refused with ${status}`, async () => {
    const { guid, id } = github.deliver({ event: "push", code: 500 });
    github.onAsk = () => ({ status, headers: { "retry-after": "60" } });
    const answer = await ask(id);
    assert.equal(answer.status, status);
    assert.equal(answer.headers.get("retry-after"), "60");
    github.now += HOUR;
    assert.equal(github.attempts(guid).length, 1);
    assert.equal(github.asks[0].status, status);
  });
}

test("an unknown delivery is not found, text is no id", async () => {
  assert.equal((await ask("3846290009938198563")).status, 404);
  assert.equal((await ask("abc")).status, 422);
  github.takeViolations();
});

test("a rounded id is another delivery", async () => {
  const { id } = github.deliver({ event: "push", code: 500 });
  assert.equal((await ask(String(BigInt(Number(id))))).status, 404);
  assert.equal((await ask(id)).status, 202);
});

test("a click of a maintainer redelivers at once", async () => {
  const { guid } = github.deliver({ event: "push", code: 500 });
  github.click(guid);
  assert.deepEqual(
    github.attempts(guid).map(({ code, redelivery }) => [code, redelivery]),
    [
      [500, false],
      [200, true],
    ],
  );
});

test("one delivery and the configuration of the webhook follow the description", async () => {
  const { id } = github.deliver({ event: "push", code: 500 });
  const one = await call(`${github.url}/app/hook/deliveries/${id}`);
  assert.deepEqual([one.status, rawIds(one.text)], [200, [id]]);
  assert.equal((await call(`${github.url}/app/hook/config`)).json.content_type, "json");
});

test("the webhook shows that it has a secret, and is not found when none is active", async () => {
  const config = async () => (await call(`${github.url}/app/hook/config`)).json;
  assert.equal((await config()).secret, "********");
  github.webhook = { ...github.webhook, secret: false, insecureSsl: true };
  assert.deepEqual(await config(), { url: "https://example.com/webhook", content_type: "json", insecure_ssl: "1" });
  github.webhook = null;
  assert.equal((await config()).message, "Not Found");
});

test("an API below a path, as GitHub Enterprise Server has it", async (t) => {
  const server = await startGitHub({ basePath: "/api/v3", htmlUrl: "https://ghe.example.com" });
  t.after(server.close);
  for (let n = 0; n < 2; n += 1) server.deliver({ event: "push" });
  const answer = await call(`${server.url}/app/hook/deliveries?per_page=1`);
  assert.ok(link(answer.headers, "next").startsWith(`${server.url}/app/hook/deliveries?`));
  assert.equal((await call(`${server.url}/app`)).json.html_url, "https://ghe.example.com/apps/example-app");
  const outside = await call(`${server.url.replace("/api/v3", "")}/app`);
  assert.deepEqual([outside.status, outside.headers.get("content-type")], [404, "text/html; charset=utf-8"]);
  assert.deepEqual(server.takeViolations(), ["request GET /app: no API here"]);
});
