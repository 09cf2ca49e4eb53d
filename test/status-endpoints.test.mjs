// Every endpoint of the HTTP side: with no, a wrong, a malformed and the right token, with a wrong method or parameter, during a
// sweep and during a wait.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { checkWorker } from "../scripts/operator/checks/worker.mjs";
import { httpClient } from "../scripts/operator/http.mjs";
import { read } from "./operator/pages.mjs";
import { gate } from "./worker/gate.mjs";
import { ago, BASIC, BEARER, basic, givesUp, openDoor, statusOf, TOKEN } from "./worker/visitor.mjs";

const READ = ["/", "/status.json", "/apps.json", "/metrics", "/healthz", "/plan", "/plan.json"];
const CHANGE = ["/sweep", "/recover?since=2026-11-30T02:00Z", "/forget?guid=x"];

const WRONG = [
  {},
  { authorization: "" },
  { authorization: "Bearer" },
  { authorization: `Bearer ${TOKEN}x` },
  { authorization: `Bearer ${TOKEN.slice(0, -1)}` },
  { authorization: TOKEN },
  { authorization: `Digest ${TOKEN}` },
  { authorization: "Basic !" },
  basic(TOKEN),
  basic("admin:"),
  basic(`admin:${TOKEN} `),
];

/** All that a stranger can tell one answer from another by. */
async function told(answer) {
  return JSON.stringify([answer.status, [...answer.headers].sort(), await answer.text()]);
}

const BROWSER = { ...BASIC, accept: "text/html" };

/** A time as people read it: `2026-11-30 14:05 UTC`. */
const readable = (time) => `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`;

/** A page that says until when, in the reader's zone once its script has run. */
async function assertTells(answer, status, until) {
  assert.equal(answer.status, status);
  assert.match(answer.headers.get("content-type"), /^text\/html/);
  const minute = `${until.slice(0, 16)}:00.000Z`;
  assert.ok((await answer.text()).includes(`until <time datetime="${minute}">${readable(until)}</time>`));
}

describe("the endpoints", { concurrency: 2 }, () => {
  test("without the right token every path answers as one that is not there, and nothing is called or stored", async (t) => {
    const scene = await openDoor(t);
    const answers = new Set();
    for (const headers of WRONG) {
      for (const path of [...READ, ...CHANGE, "/nothing", "/login", "/login-x", "/login-000000000000000000000000"]) {
        for (const method of ["GET", "POST"]) {
          answers.add(await told(await scene.worker.fetch(path, { method, headers })));
        }
      }
    }
    assert.equal(answers.size, 1);
    assert.match([...answers][0], /^\[404,/);
    for (const method of ["GET", "POST"]) {
      answers.add(await told(await scene.worker.fetch("/nothing", { method, headers: BEARER })));
    }
    assert.equal(answers.size, 1, "nor is there more to find with it");
    assert.deepEqual([scene.arrived(), await scene.worker.state()], [[], {}]);
  });

  test("with the right one, as bearer or as Basic, each answers what it takes, and no other method", async (t) => {
    const scene = await openDoor(t);
    for (const headers of [BEARER, BASIC]) {
      for (const path of READ) {
        const expected = path === "/healthz" ? 503 : 200;
        const answer = await scene.get(path, headers);
        assert.equal(answer.status, expected, path);
        assert.equal(answer.headers.get("cache-control"), "no-store");
        assert.match(answer.headers.get("content-security-policy"), /^default-src 'none'; /);
        const head = await scene.worker.fetch(path, { method: "HEAD", headers });
        assert.deepEqual([head.status, await head.text()], [expected, ""], path);
        const types = [answer, head].map((one) => one.headers.get("content-type"));
        assert.equal(types[0], types[1]);
      }
      for (const [paths, methods, allow] of [
        [READ, ["POST", "PUT", "DELETE", "OPTIONS"], "GET, HEAD"],
        [CHANGE, ["GET", "HEAD", "PUT", "DELETE"], "POST"],
      ]) {
        for (const path of paths) {
          for (const method of methods) {
            const answer = await scene.worker.fetch(path, { method, headers });
            assert.deepEqual([answer.status, answer.headers.get("allow")], [405, allow], `${method} ${path}`);
          }
        }
      }
    }
  });

  test("the doctor understands what it says", async (t) => {
    const scene = await openDoor(t);
    const call = httpClient({ fetch, now: Date.now });
    const doctor = async (token = TOKEN) => checkWorker({ call }, { url: await scene.worker.url(), token });
    assert.match((await doctor()).text, /not all is well: no good sweep yet/);
    await scene.post("/sweep");
    assert.match((await doctor()).text, /^All is well, last good sweep 20\d\d-/);
    assert.match((await doctor("another-token-that-is-long")).text, /does not take this ADMIN_TOKEN/);
  });

  test("a token that is too short opens nothing, and is a problem of the settings", async (t) => {
    const scene = await openDoor(t, { settings: { ADMIN_TOKEN: "fifteen-letters" } });
    assert.equal((await scene.get("/", { authorization: "Bearer fifteen-letters" })).status, 404);
    const tick = await scene.tickAt(ago(0));
    assert.match(tick.lines.join("\n"), /ADMIN_TOKEN has fewer than 16 characters/);
    assert.equal(tick.outcome, "exception");
  });

  test("a browser is asked for the token on a path that only the token tells", async (t) => {
    const scene = await openDoor(t);
    const { login_path: login } = await statusOf(scene);
    assert.match(login, /^\/login-[0-9a-f]{24}$/);
    const [, command] = /\n(echo "https:\/\/YOUR-WORKER\/login-.*)\n/.exec(read("docs/status.md"));
    const shell = spawnSync("sh", ["-c", command], { env: { ...process.env, ADMIN_TOKEN: TOKEN }, encoding: "utf8" });
    assert.equal(shell.stdout, `https://YOUR-WORKER${login}\n`, shell.stderr);
    for (const headers of [{}, basic("admin:wrong-but-long-enough")]) {
      const answer = await scene.get(login, headers);
      assert.deepEqual([answer.status, answer.headers.get("www-authenticate")?.split(" ")[0]], [401, "Basic"]);
    }
    const answer = await scene.get(login, BASIC);
    assert.deepEqual([answer.status, answer.headers.get("location")], [303, "/"]);
  });

  test("no other site can make a browser change anything", async (t) => {
    const scene = await openDoor(t);
    const home = await scene.worker.url();
    const refused = "Another site may not do this: use the status page, or a bearer token.";
    const unknown = "The alarm has no entry of an event with this guid.";
    // Miniflare itself refuses a foreign Origin; that header alone is tested with the rule (src/status/auth.rs).
    for (const [more, error] of [
      [{ "sec-fetch-site": "cross-site" }, refused],
      [{ "sec-fetch-site": "same-site" }, refused],
      [{ "sec-fetch-site": "same-origin", origin: new URL(home).origin }, unknown],
      [{ "sec-fetch-site": "none" }, unknown],
      [{}, unknown],
    ]) {
      const post = async (headers) => (await fetch(`${home}forget?guid=x`, { method: "POST", headers })).json();
      assert.deepEqual(await post({ ...BASIC, ...more }), { error }, JSON.stringify(more));
      assert.deepEqual(await post({ ...BEARER, ...more }), { error: unknown });
    }
  });

  test("the status, the health and the metrics tell of a sweep by hand, which the next tick does not repeat", async (t) => {
    const scene = await openDoor(t);
    assert.deepEqual(await (await scene.get("/healthz")).text(), "no sweep has succeeded within the last hour\n");
    assert.deepEqual([(await statusOf(scene)).word, (await statusOf(scene)).last_sweep], ["starting", null]);
    const guid = scene.fails(ago(5));
    scene.now = Date.now();
    const answer = await scene.post("/sweep");
    const report = await answer.json();
    assert.deepEqual([answer.status, report.ending, report.events.redelivered], [200, "done", 1]);
    assert.deepEqual(scene.asksIn(scene.arrived()), [guid]);
    const health = await scene.get("/healthz");
    assert.deepEqual([health.status, await health.text()], [200, "ok\n"]);
    const status = await statusOf(scene);
    assert.deepEqual(
      [status.ok, status.word, status.last_sweep, status.waiting],
      [true, "all_well", report.scheduled, 1],
    );
    assert.deepEqual(
      status.history.map(({ at, failed, events }) => [at, failed, events.redelivered]),
      [[report.scheduled, 1, 1]],
    );
    const metrics = await (await scene.get("/metrics")).text();
    assert.match(metrics, /^redeliver_events_total\{verdict="redelivered"\} 1$/m);
    assert.match(metrics, /^redeliver_healthy 1$/m);
    // A tick of before has nothing to do, and the next one of the schedule sweeps as ever.
    assert.equal((await scene.tickAt(ago(1))).sweep.ending, "not_later");
    const next = Date.now() + 15 * 60_000;
    assert.equal((await scene.tickAt(next)).sweep.ending, "done");
    const late = await scene.post("/sweep");
    const { error } = await late.json();
    assert.deepEqual([late.status, error], [409, "A sweep of a later time has ended already; the schedule goes on."]);
  });

  test("a sweep that fails says so", async (t) => {
    const scene = await openDoor(t);
    scene.github.fault({ path: "/app/hook/deliveries" }, { status: 401, body: { message: "Bad credentials" } }, 9);
    const answer = await scene.post("/sweep");
    const report = await answer.json();
    assert.deepEqual([answer.status, report.ending, report.failure], [500, "failed", "auth"]);
    const status = await statusOf(scene);
    assert.deepEqual([status.failures_in_a_row, status.last_failure.class, status.last_sweep], [1, "auth", null]);
    const plan = await scene.get("/plan.json");
    assert.deepEqual([plan.status, /^The lists cannot be read/.test((await plan.json()).error)], [502, true]);
  });

  test("during a sweep what changes something has to wait, and what only reads has not", async (t) => {
    const { url, arrived } = await gate(t);
    const scene = await openDoor(t, { settings: { HEARTBEAT_URL: url } });
    const run = scene.post("/sweep");
    const letOn = await arrived;
    const before = await scene.worker.state();
    for (const path of ["/sweep", "/forget?guid=x", `/recover?since=${new Date(ago(60)).toISOString()}`]) {
      const answer = await scene.post(path);
      const { error, until } = await answer.json();
      const sentence = `A sweep is under way, until ${readable(until)} at the latest; try again when it has ended.`;
      assert.deepEqual([answer.status, error], [409, sentence], path);
      await assertTells(await scene.post(path, BROWSER), 409, until);
      assert.ok(Date.parse(until) > Date.now() && Date.parse(until) <= Date.now() + 14 * 60_000);
    }
    assert.deepEqual(await scene.worker.state(), before);
    // What the sweep read is saved by now, so it counts for the health check too.
    for (const path of READ) assert.equal((await scene.get(path)).status, 200, path);
    assert.ok((await statusOf(scene)).sweeping_since);
    letOn();
    assert.equal((await run).status, 200);
    assert.equal((await statusOf(scene)).sweeping_since, null);
  });

  test("while GitHub wants to be left alone nobody calls it, and a wait of our own keeps no person from trying", async (t) => {
    const scene = await openDoor(t);
    const lists = { path: "/app/hook/deliveries" };
    scene.github.fault(lists, { status: 503, body: {} }, 2);
    assert.equal((await (await scene.post("/sweep")).json()).failure, "server_error");
    assert.equal((await scene.tickAt(Date.now() + 60_000)).sweep.ending, "waiting");
    scene.now = Date.now();
    scene.github.fault(lists, { status: 429, headers: { "retry-after": "1200" }, body: {} }, 1);
    assert.equal((await (await scene.post("/sweep")).json()).failure, "rate_limited");
    const calls = scene.arrived().length;
    for (const request of [() => scene.post("/sweep"), () => scene.get("/plan.json")]) {
      const answer = await request();
      const { error, until } = await answer.json();
      assert.deepEqual([answer.status, error], [429, `GitHub asked to wait until ${readable(until)}; try again then.`]);
      const seconds = Number(answer.headers.get("retry-after"));
      assert.ok(seconds > 1100 && seconds <= 1200 && Date.parse(until) > Date.now() + 1100_000, `${seconds} ${until}`);
    }
    const { until } = await (await scene.post("/sweep")).json();
    for (const answer of [await scene.post("/sweep", BROWSER), await scene.get("/plan", BROWSER)]) {
      await assertTells(answer, 429, until);
    }
    assert.equal(scene.arrived().length, calls);
    const { failures_in_a_row: failures, word, next_sweep: next } = await statusOf(scene);
    assert.deepEqual([failures, word, Date.parse(next) > Date.now() + 1100_000], [2, "failing", true]);
    // What needs no call is done meanwhile.
    for (const path of READ.filter((path) => !path.startsWith("/plan"))) {
      assert.equal((await scene.get(path)).status, path === "/healthz" ? 503 : 200, path);
    }
    assert.equal((await scene.post(`/recover?since=${new Date(ago(60)).toISOString()}`)).status, 200);
  });

  test("the plan names each event with the reason, and asks, saves and tells nothing", async (t) => {
    const scene = await openDoor(t);
    const old = await givesUp(scene);
    const fresh = scene.fails(ago(3), 503, { event: "workflow_run", action: "completed" });
    scene.now = Date.now();
    const [before, asked, messages] = [
      await scene.worker.state(),
      scene.asksIn(scene.arrived()),
      scene.messages().length,
    ];
    const plan = await (await scene.get("/plan.json")).json();
    assert.deepEqual(
      plan.events.map(({ guid, event, attempts, redeliver, verdict }) => [guid, event, attempts, redeliver, verdict]),
      [[fresh, "workflow_run.completed", [503], true, "asked for again"]],
    );
    assert.ok(plan.could_read && plan.calls >= 2);
    const page = await (await scene.get("/plan", { ...BASIC, accept: "text/html" })).text();
    assert.ok(page.includes(fresh) && page.includes("asked for again") && !page.includes(old));
    assert.deepEqual(
      await (await scene.get("/plan", { ...BEARER, accept: "application/json" })).json().then(({ version }) => version),
      1,
    );
    assert.deepEqual(
      [await scene.worker.state(), scene.asksIn(scene.arrived()), scene.messages().length],
      [before, asked, messages],
    );
    const swept = await (await scene.post("/sweep")).json();
    assert.equal(swept.events.redelivered, 1, "and that is what the sweep does");
  });

  test("an entry is taken out for good, and only one that is there", async (t) => {
    const scene = await openDoor(t);
    const [first, second] = [await givesUp(scene), scene.fails(ago(70))];
    assert.deepEqual(
      (await statusOf(scene)).entries.map(({ guid, kind }) => [guid, kind]),
      [[first, "gave_up"]],
    );
    for (const [path, status, error] of [
      ["/forget", 400, "Say which, once, as in /forget?guid=…."],
      ["/forget?guid=", 400, "Say which, once, as in /forget?guid=…."],
      [`/forget?guid=${first}&guid=${first}`, 400, "Say which, once, as in /forget?guid=…."],
      ["/forget?guid=unknown", 404, "The alarm has no entry of an event with this guid."],
      [`/forget?guid=${second}`, 404, "The alarm has no entry of an event with this guid."],
    ]) {
      const answer = await scene.post(path);
      assert.deepEqual([answer.status, (await answer.json()).error], [status, error], path);
    }
    const answer = await scene.post(`/forget?guid=${first}`);
    assert.deepEqual([answer.status, await answer.json()], [200, { forgotten: first }]);
    assert.equal((await scene.post(`/forget?guid=${first}`)).status, 404);
    const status = await statusOf(scene);
    assert.deepEqual([status.word, status.entries], ["all_well", []]);
    scene.shows(first);
    // A browser's form goes back to the page.
    const form = await scene.post("/sweep", { ...BASIC, accept: "text/html" });
    assert.deepEqual([form.status, form.headers.get("location")], [303, "/"]);
    assert.match(scene.messages().at(-1).text, /Nothing is open any more/);
  });

  test("a recovery by hand reaches back to what the window had left, and asks for nothing that passed", async (t) => {
    const scene = await openDoor(t);
    const passed = scene.fails(ago(8 * 60));
    scene.github.click(passed, 200);
    const lost = scene.fails(ago(7 * 60));
    await scene.tickAt(ago(20));
    scene.now = Date.now();
    for (const [since, error] of [
      ["", "Say since when, once, as in /recover?since=2026-11-30T02:00Z."],
      ["?since=yesterday", "Say since when, once, as in /recover?since=2026-11-30T02:00Z."],
      [`?since=${new Date(ago(-60)).toISOString()}`, "Since lies in the future."],
      [
        `?since=${new Date(ago(73 * 60)).toISOString()}`,
        "Since lies more than 72 hours back, and GitHub keeps no delivery for longer.",
      ],
    ]) {
      const answer = await scene.post(`/recover${since}`);
      assert.deepEqual([answer.status, (await answer.json()).error], [400, error]);
    }
    assert.equal((await statusOf(scene)).recovering, null);
    const since = new Date(ago(9 * 60)).toISOString();
    const answer = await scene.post(`/recover?since=${since}`);
    const progress = await answer.json();
    assert.deepEqual([answer.status, progress.since, progress.gaps], [200, since, null]);
    await scene.post("/sweep");
    assert.deepEqual(scene.asksIn(scene.arrived()), [lost]);
    const { recovering, window } = await statusOf(scene);
    assert.deepEqual([recovering.gaps, recovering.waiting, window.start, window.stands_still], [0, 1, since, true]);
    assert.match(await (await scene.get("/", BASIC)).text(), /Recovery by hand/);
  });

  test("with settings that cannot be used the page names them, and nothing is called", async (t) => {
    const scene = await openDoor(t, { settings: { MAX_ATTEMPTS: "many" } });
    const status = await statusOf(scene);
    assert.deepEqual([status.word, status.ok], ["failing", false]);
    assert.match(status.reasons[0], /MAX_ATTEMPTS is no whole number/);
    assert.equal((await scene.get("/plan.json")).status, 500);
    assert.deepEqual(scene.arrived(), []);
    await scene.worker.restart({ bindings: { ...scene.bindings, GITHUB_APP_ID: "" } });
    const answer = await scene.get("/");
    assert.deepEqual([answer.status, /GITHUB_APP_ID is missing/.test(await answer.text())], [503, true]);
  });
});
