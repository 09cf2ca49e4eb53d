// The fake GitHub's issues: what the App writes, what people do meanwhile, and what comes back as deliveries.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { call, link } from "./fakes/client.mjs";
import { startGitHub } from "./fakes/github.mjs";

const REPO = "octo/control";

/** @type {any} */
let github;
/** @type {string} */
let token;
beforeEach(async () => {
  github = await startGitHub({ repositories: [{ fullName: REPO }, { fullName: "octo/other" }] });
  const { id } = github.installation("octo");
  token = (await call(`${github.url}/app/installations/${id}/access_tokens`, { method: "POST", json: {} })).json.token;
});
afterEach(() => github.close());

const issues = (path = "", how = {}) => call(`${github.url}/repos/${REPO}/issues${path}`, { auth: token, ...how });
const create = (json) => issues("", { method: "POST", json });
const change = (number, json) => issues(`/${number}`, { method: "PATCH", json });

test("an issue of the App names the App as its author", async () => {
  const made = await create({ title: "Alarm", body: "text", labels: ["alarm"] });
  assert.equal(made.status, 201);
  assert.deepEqual([made.json.user.login, made.json.user.type], ["example-app[bot]", "Bot"]);
  assert.equal(made.json.performed_via_github_app.id, github.app.id);
  assert.deepEqual(
    made.json.labels.map(({ name }) => name),
    ["alarm"],
  );
  assert.equal(made.headers.get("location"), made.json.url);
  assert.deepEqual((await issues("/1")).json, made.json);
});

test("a person who copies an issue is not the App", async () => {
  const number = github.person.open(REPO, { title: "Alarm", body: "<!-- marker -->", login: "mallory" });
  const { json } = await issues(`/${number}`);
  assert.deepEqual([json.user.login, json.user.type, json.performed_via_github_app], ["mallory", "User", null]);
});

test("the list filters by state, labels and creator, and sorts", async () => {
  await create({ title: "one", labels: ["alarm"] });
  github.now += 1_000;
  await create({ title: "two" });
  github.now += 1_000;
  github.person.open(REPO, { title: "three", labels: ["alarm"] });
  github.person.open(REPO, { title: "a pull request", pullRequest: true });
  await change(1, { state: "closed" });
  const titles = async (query) => (await issues(query)).json.map(({ title }) => title);
  assert.deepEqual(await titles(""), ["a pull request", "three", "two"]);
  assert.deepEqual(await titles("?state=all&direction=asc"), ["one", "two", "three", "a pull request"]);
  assert.deepEqual(await titles("?state=closed"), ["one"]);
  assert.deepEqual(await titles("?state=all&labels=alarm"), ["three", "one"]);
  assert.deepEqual(await titles("?creator=example-app%5Bbot%5D"), ["two"]);
  assert.ok((await issues("")).json[0].pull_request);
  const first = await issues("?per_page=2&direction=asc");
  assert.deepEqual(
    (await call(link(first.headers, "next"), { auth: token })).json.map(({ title }) => title),
    ["a pull request"],
  );
});

test("the list refuses what it does not know", async () => {
  for (const query of ["?state=opened", "?sort=age", "?label=alarm", "?per_page=500", "?page=first"]) {
    assert.equal((await issues(query)).status, 422, query);
  }
  github.takeViolations();
});

test("an issue is edited, closed with a reason, and reopened", async () => {
  await create({ title: "Alarm", body: "old" });
  github.now += 60_000;
  const closed = (await change(1, { body: "new", state: "closed", state_reason: "not_planned" })).json;
  assert.deepEqual([closed.body, closed.state, closed.state_reason], ["new", "closed", "not_planned"]);
  assert.equal(Date.parse(closed.updated_at), github.now);
  assert.equal(Date.parse(closed.closed_at), github.now);
  assert.equal(github.openIssues(REPO).length, 0);
  const reopened = (await change(1, { state: "open" })).json;
  assert.deepEqual([reopened.state_reason, reopened.closed_at], ["reopened", null]);
});

test("an edit that changes nothing leaves the time of the last change", async () => {
  await create({ title: "Alarm", body: "same" });
  const before = github.now;
  github.now += 60_000;
  assert.equal(Date.parse((await change(1, { body: "same" })).json.updated_at), before);
});

test("a comment stands below the issue", async () => {
  await create({ title: "Alarm" });
  const made = await issues("/1/comments", { method: "POST", json: { body: "goes on in #2" } });
  assert.equal(made.status, 201);
  assert.equal((await issues("/1")).json.comments, 1);
  assert.equal(github.issue(REPO, 1).comments[0].body, "goes on in #2");
});

test("wrong bodies are refused", async () => {
  await create({ title: "Alarm" });
  assert.equal((await create({ title: " " })).status, 422);
  assert.match((await create({ title: "x".repeat(257) })).text, /title is too long \(maximum is 256 characters\)/);
  assert.match(
    (await create({ title: "x", body: "x".repeat(65_537) })).text,
    /body is too long \(maximum is 65536 characters\)/,
  );
  assert.deepEqual(github.violations, [], "these are allowed by the description, and refused all the same");
  assert.equal((await create({ body: "no title" })).status, 422);
  assert.equal((await change(1, { state: "done" })).status, 422);
  assert.equal((await change(1, { state: "closed", state_reason: "fixed" })).status, 422);
  assert.equal((await create({ title: "x", labls: ["alarm"] })).status, 422);
  assert.equal((await issues("/1/comments", { method: "POST", json: {} })).status, 422);
  assert.equal(github.takeViolations().length, 5);
  assert.equal(github.issues(REPO).length, 1);
});

test("an issue can be gone, moved, or never have been", async () => {
  await create({ title: "deleted" });
  await create({ title: "moved" });
  github.person.delete(REPO, 1);
  github.person.transfer(REPO, 2, "octo/other");
  assert.equal((await issues("/1")).status, 410);
  assert.equal((await issues("/9")).status, 404);
  const moved = await change(2, { state: "closed" });
  assert.equal(moved.status, 301);
  const there = await call(moved.headers.get("location"), { auth: token });
  assert.deepEqual([there.json.number, there.json.title], [1, "moved"]);
  assert.deepEqual((await issues("")).json, []);
});

test("a repository can be deleted, renamed, or have its issues switched off", async () => {
  await create({ title: "Alarm" });
  github.repository(REPO).issuesEnabled = false;
  assert.equal((await create({ title: "again" })).status, 410);
  github.repository(REPO).issuesEnabled = true;
  github.repository(REPO).archived = true;
  assert.equal((await issues()).status, 200, "an archived repository is read");
  assert.deepEqual((await create({ title: "again" })).json.message, "Repository was archived so is read-only.");
  github.repository(REPO).archived = false;
  github.transferRepository(REPO, "octo/renamed");
  const moved = await issues("?state=open");
  assert.equal(moved.status, 301);
  assert.match(moved.headers.get("location"), /\/repositories\/\d+\/issues\?state=open$/);
  assert.equal((await call(moved.headers.get("location"), { auth: token })).json.length, 1);
  github.repository("octo/renamed").deleted = true;
  assert.equal((await issues("")).status, 404);
});

test("people close, reopen and edit", async () => {
  await create({ title: "Alarm" });
  github.person.close(REPO, 1);
  assert.equal((await issues("/1")).json.state, "closed");
  github.person.reopen(REPO, 1);
  github.person.edit(REPO, 1, { title: "Mine" });
  assert.equal((await issues("/1")).json.title, "Mine");
});

test("what is written comes back as deliveries of an App that subscribes to issues", async () => {
  const listed = async () => (await call(`${github.url}/app/hook/deliveries`)).json;
  await create({ title: "unheard" });
  assert.deepEqual(await listed(), []);
  github.subscribesToIssues = true;
  github.endpoint = () => 503;
  await create({ title: "Alarm" });
  github.now += 1_000;
  await change(2, { body: "new", state: "closed" });
  const heard = (await listed()).map(({ event, action, status_code, repository_id }) => [
    event,
    action,
    status_code,
    repository_id,
  ]);
  const { id } = github.repository(REPO);
  assert.deepEqual(heard, [
    ["issues", "closed", 503, id],
    ["issues", "edited", 503, id],
    ["issues", "opened", 503, id],
  ]);
});
