// The fake GitHub refuses what GitHub refuses before it looks at a request: gates, JWT, tokens of installations.

import assert from "node:assert/strict";
import http from "node:http";
import { after, before, test } from "node:test";
import { call, jwt } from "./fakes/client.mjs";
import { otherKeys, startGitHub, testKeys } from "./fakes/github.mjs";

/** @type {any} */
let github;
before(async () => {
  github = await startGitHub({ repositories: [{ fullName: "octo/control" }, { fullName: "octo/code" }] });
});
after(() => github.close());

const app = (how) => call(`${github.url}/app`, how);

test("a right JWT by App id or client id is taken", async () => {
  assert.equal((await app()).json.slug, "example-app");
  assert.equal((await app({ auth: jwt({ iss: github.app.clientId }) })).status, 200);
  assert.equal((await app({ auth: jwt({ iss: github.app.id }) })).status, 200, "as a number");
  assert.equal((await app({ auth: jwt({ key: testKeys().pkcs8 }) })).status, 200);
  assert.equal(github.requests.at(-1).auth, "jwt");
  assert.equal(github.requests.at(-1).claims.iss, "1234567");
});

test("a request without User-Agent is refused", async () => {
  // fetch adds a User-Agent of its own, so this one goes through node:http.
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${jwt()}` };
    http.get(`${github.url}/app`, { headers }, (response) => resolve(response.resume().statusCode)).on("error", reject);
  });
  assert.equal(status, 403);
  const empty = await app({ headers: { "user-agent": "" } });
  assert.equal(empty.status, 403);
  assert.match(
    empty.text,
    /Request forbidden by administrative rules\. Please make sure your request has a User-Agent/,
  );
  assert.deepEqual(github.takeViolations(), Array(2).fill("request GET /app: no User-Agent"));
});

/** @type {[string, string | null, number, RegExp][]} */
const refusedJwts = [
  ["no credential", null, 401, /could not be decoded/],
  ["no JWT", "nonsense", 401, /could not be decoded/],
  ["another key", jwt({ key: otherKeys().pkcs1 }), 401, /could not be decoded/],
  ["another algorithm", jwt({ alg: "HS256" }), 401, /could not be decoded/],
  ["alg none", jwt({ alg: "none" }), 401, /could not be decoded/],
  ["another App", jwt({ iss: "999" }), 404, /Integration not found/],
  ["no issuer", jwt({ iss: null }), 404, /Integration not found/],
  ["exp in the past", jwt({ exp: -1 }), 401, /'exp'\) must be a numeric value representing the future time/],
  ["exp as text", jwt({ exp: "99999999999" }), 401, /'exp'\) must be a numeric value/],
  ["exp with a fraction", jwt({ exp: 60.5 }), 401, /'exp'\) must be a numeric value/],
  ["exp too far ahead", jwt({ exp: 660 }), 401, /'exp'\) is too far in the future/],
  ["iat in the future", jwt({ iat: 120 }), 401, /'iat'\) must be an Integer/],
  ["iat with a fraction", jwt({ iat: -60.25 }), 401, /'iat'\) must be an Integer/],
  ["iat missing", jwt({ iat: null }), 401, /'iat'\) must be an Integer/],
];
for (const [why, auth, status, message] of refusedJwts) {
  test(`a JWT is refused: ${why}`, async () => {
    const answer = await app({ auth });
    assert.equal(answer.status, status);
    assert.match(answer.json.message, message);
  });
}

test("a JWT goes as Bearer, not as token", async () => {
  assert.equal((await app({ auth: null, headers: { authorization: `token ${jwt()}` } })).status, 401);
});

test("an unsupported API version is gone, the two supported ones and none are taken", async () => {
  const version = (value) => app({ headers: { "x-github-api-version": value } });
  assert.equal((await version("2022-11-28")).status, 200);
  assert.equal((await version("2026-03-10")).status, 200);
  assert.equal((await version("2021-01-01")).status, 410);
  assert.deepEqual(github.takeViolations(), ["request GET /app: API version 2021-01-01 is not supported"]);
});

test("an unknown path or method is not found", async () => {
  assert.equal((await call(`${github.url}/nowhere`)).status, 404);
  assert.equal((await app({ method: "DELETE" })).status, 404);
  assert.deepEqual(github.takeViolations(), ["request GET /nowhere: Not Found", "request DELETE /app: Not Found"]);
});

const installationId = () => github.installation("octo").id;
const tokens = (json, how = {}) =>
  call(`${github.url}/app/installations/${installationId()}/access_tokens`, { method: "POST", json, ...how });
const narrow = { repositories: ["control"], permissions: { issues: "write" } };
const issues = (auth, name = "control", how = {}) => call(`${github.url}/repos/octo/${name}/issues`, { auth, ...how });

test("a body must be a JSON object and say so", async () => {
  assert.equal((await tokens('{"repositories":', {})).status, 400);
  assert.equal((await tokens("[]", {})).status, 400);
  assert.equal((await tokens(narrow, { headers: { "content-type": "text/plain" } })).status, 415);
  assert.deepEqual(
    github.takeViolations().map((violation) => violation.replace(/^.*access_tokens: /, "")),
    ["Problems parsing JSON", "Body should be a JSON object", "Unsupported Media Type"],
  );
});

test("a token is narrowed to what was asked, and never wider than granted", async () => {
  const answer = await tokens(narrow);
  assert.equal(answer.status, 201);
  assert.match(answer.json.token, /^ghs_1234567_[\w-]+\.[\w-]+\.[\w-]+$/);
  assert.deepEqual(answer.json.permissions, { issues: "write", metadata: "read" });
  assert.deepEqual(
    answer.json.repositories.map(({ id }) => id),
    [github.repository("octo/control").id],
  );
  assert.equal(Date.parse(answer.json.expires_at), github.now + 3_600_000);
  assert.match((await tokens({ permissions: { contents: "read" } })).json.message, /not granted to this installation/);
  assert.match(
    (await tokens({ repositories: ["secret"] })).json.message,
    /at least one repository that does not exist/,
  );
  assert.equal(
    (await call(`${github.url}/app/installations/1/access_tokens`, { method: "POST", json: narrow })).status,
    404,
  );
});

test("a token opens issues of its repository and nothing else", async () => {
  const { token } = (await tokens(narrow)).json;
  assert.equal((await issues(token)).status, 200);
  assert.equal(github.requests.at(-1).auth, "installation");
  assert.equal((await issues(token, "code")).status, 404);
  assert.equal((await app({ auth: token })).status, 401);
  assert.equal((await call(`${github.url}/app/hook/deliveries`, { auth: token })).status, 401);
});

test("a JWT, no credential or an unknown token opens no issues", async () => {
  assert.match((await issues(jwt())).json.message, /Bad credentials/);
  assert.match((await issues(null)).json.message, /Requires authentication/);
  assert.equal((await issues("ghs_unknown")).status, 401);
});

test("a token with read only reads", async () => {
  const { token } = (await tokens({ ...narrow, permissions: { issues: "read" } })).json;
  assert.equal((await issues(token)).status, 200);
  const write = await issues(token, "control", { method: "POST", json: { title: "x" } });
  assert.deepEqual([write.status, write.json.message], [403, "Resource not accessible by integration"]);
});

test("a token ends after an hour of the virtual clock", async () => {
  const { token } = (await tokens(narrow)).json;
  github.now += 3_599_000;
  assert.equal((await issues(token)).status, 200);
  github.now += 1_000;
  assert.equal((await issues(token)).status, 401);
});

test("a suspended installation gives no token, and its tokens open nothing", async () => {
  const { token } = (await tokens(narrow)).json;
  github.installation("octo").suspendedAt = github.now;
  assert.equal((await tokens(narrow)).status, 403);
  assert.equal((await issues(token)).status, 403);
  github.installation("octo").suspendedAt = null;
});

test("an App that is not installed finds no installation", async () => {
  const installation = () => call(`${github.url}/repos/octo/control/installation`);
  assert.equal((await installation()).json.id, installationId());
  const ofUser = () => call(`${github.url}/users/octo/installation`);
  assert.equal((await ofUser()).json.id, installationId());
  github.installation("octo").installed = false;
  assert.equal((await installation()).status, 404);
  assert.equal((await ofUser()).status, 404);
  assert.equal((await tokens(narrow)).status, 404);
  github.installation("octo").installed = true;
});

/** @type {any[]} */
const owners = [
  { login: "ada", type: "User" },
  { login: "acme", type: "Organization" },
  { slug: "big", type: "Enterprise" },
];
for (const owner of owners) {
  test(`GET /app of an owner of type ${owner.type} follows GitHub's description`, async (t) => {
    const one = await startGitHub({ app: { owner } });
    t.after(one.close);
    const { json } = await call(`${one.url}/app`);
    assert.equal(json.owner.login ?? json.owner.slug, owner.login ?? owner.slug);
    assert.equal(json.html_url, "https://github.com/apps/example-app");
  });
}

test("rate limits are told to tokens and not to the App itself, and Date is the virtual clock", async () => {
  const { token } = (await tokens(narrow)).json;
  const answer = await issues(token);
  assert.equal(answer.headers.get("x-ratelimit-reset"), String(Math.floor(github.now / 1000) + 3600));
  assert.equal(Date.parse(answer.headers.get("date")), github.now);
  assert.equal((await app()).headers.get("x-ratelimit-limit"), null);
});
