// The HTTP side of a Worker with several Apps: all at a glance, and each by its own address.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isList } from "./worker/scene.mjs";
import { ONE, openSeveral, TWO } from "./worker/several.mjs";
import { ago, BEARER, openDoor, TOKEN } from "./worker/visitor.mjs";

const BROWSER = { ...BEARER, accept: "text/html" };
const UNCHOSEN = [
  ["GET", "/status.json"],
  ["GET", "/plan"],
  ["GET", "/plan.json"],
  ["POST", "/sweep"],
  ["POST", "/recover?since=2026-11-30T02:00Z"],
  ["POST", "/forget?guid=x"],
];

/** Two Apps that swept just now, with the HTTP side open. */
async function openBoth(t, more = {}) {
  const several = await openSeveral(t, {
    now: Date.now(),
    ...more,
    settings: { ADMIN_TOKEN: TOKEN, ...more.settings },
  });
  return Object.assign(several, {
    json: async (path) => (await several.get(path, BEARER)).json(),
    text: async (path, headers = BEARER) => (await several.get(path, headers)).text(),
  });
}

/** The addresses of a page that lead somewhere here. */
const links = (html) => [...html.matchAll(/(?:href|action)="(\/[^"]*)"/g)].map(([, address]) => address);

describe("all Apps at a glance", { concurrency: 2 }, () => {
  test("the page shows each with its word and a link, JSON and metrics say the same, and the health check is of all", async (t) => {
    const several = await openBoth(t);
    assert.equal((await several.get("/healthz", BEARER)).status, 503);
    await several.tickAt(ago(30));
    const broken = several.breaks(TWO, ago(25));
    await several.tickAt(ago(10));
    const page = await several.text("/", BROWSER);
    assert.match(page, /<h1>Not all is well with 1 of 2 Apps<\/h1><p>other-app: needs attention\.<\/p><\/div>/);
    assert.match(page, new RegExp(`<a href="/apps/${ONE}/">App ${ONE}</a></strong></p><p>All is well</p>`));
    assert.match(
      page,
      new RegExp(`<a href="/apps/${TWO}/">other-app</a></strong> \\(App ${TWO}\\)</p><p>Needs attention</p>`),
    );
    assert.deepEqual(links(page), [`/apps/${ONE}/`, `/apps/${TWO}/`, "/apps.json"]);
    const all = await several.json("/apps.json");
    assert.deepEqual(
      [all.version, all.ok, all.apps.map(({ app, ok, word, healthy, path }) => [app, ok, word, healthy, path])],
      [
        1,
        false,
        [
          [ONE, true, "all_well", true, `/apps/${ONE}/`],
          [TWO, false, "attention", true, `/apps/${TWO}/`],
        ],
      ],
    );
    const metrics = await several.text("/metrics");
    for (const line of [
      `redeliver_healthy{app="${ONE}"} 1`,
      `redeliver_ok{app="${TWO}"} 0`,
      `redeliver_alarm_entries{app="${TWO}",kind="gave_up"} 1`,
    ]) {
      assert.ok(metrics.split("\n").includes(line), line);
    }
    assert.equal(metrics.match(/^# TYPE redeliver_ok /gm).length, 1);
    const health = await several.get("/healthz", BEARER);
    assert.deepEqual([health.status, await health.text()], [200, "ok\n"]);
    // What is open at the one is on its own page alone.
    assert.ok((await several.text(`/apps/${TWO}/`, BROWSER)).includes(broken));
    assert.ok(!(await several.text(`/apps/${ONE}`, BROWSER)).includes(broken));
  });

  test("one that is unhealthy makes the check fail, and is named", async (t) => {
    const several = await openBoth(t);
    several.apps[TWO].fault(isList, { status: 401, body: {} }, 9);
    await several.tickAt(ago(10));
    const health = await several.get("/healthz", BEARER);
    assert.deepEqual(
      [health.status, await health.text()],
      [503, `App ${TWO}: no sweep has succeeded within the last hour\n`],
    );
    assert.deepEqual(
      [
        (await several.get(`/apps/${ONE}/healthz`, BEARER)).status,
        (await several.get(`/apps/${TWO}/healthz`, BEARER)).status,
      ],
      [200, 503],
    );
  });

  test("one whose object does not answer is said to be ill, and hides no other", async (t) => {
    const several = await openBoth(t);
    await several.tickAt(ago(10));
    await several.worker.breakStorage(TWO);
    const { ok, apps } = await several.json("/apps.json");
    assert.deepEqual([ok, apps.map(({ word }) => word)], [false, ["all_well", "failing"]]);
    assert.match(await several.text("/", BROWSER), /Its Durable Object does not answer\./);
    const metrics = (await several.text("/metrics")).split("\n");
    assert.ok(
      metrics.includes(`redeliver_healthy{app="${TWO}"} 0`) && metrics.includes(`redeliver_healthy{app="${ONE}"} 1`),
    );
    const health = await several.get("/healthz", BEARER);
    assert.deepEqual(
      [health.status, await health.text()],
      [503, `App ${TWO}: no sweep has succeeded within the last hour\n`],
    );
  });
});

describe("one of several Apps", { concurrency: 2 }, () => {
  test("has to be chosen, and whoever does not is told how", async (t) => {
    const several = await openBoth(t);
    const before = several.arrived().length;
    for (const [method, path] of UNCHOSEN) {
      const answer = await several.worker.fetch(path, { method, headers: BEARER });
      assert.equal(answer.status, 400, path);
      const { error } = await answer.json();
      const chosen = `/apps/${ONE}${path.split("?")[0]}`;
      assert.equal(error, `This Worker has several Apps: choose one, as in ${chosen}. They are ${ONE}, ${TWO}.`);
    }
    assert.match(await several.text("/plan", BROWSER), /<p>This Worker has several Apps: choose one/);
    const unknown = await several.get("/apps/99/plan", BEARER);
    assert.deepEqual([unknown.status, (await unknown.json()).error], [404, "The settings have no App 99."]);
    assert.deepEqual([several.arrived().length, await several.state(ONE)], [before, undefined]);
    // Without the token there is nothing, as ever.
    for (const path of ["/apps.json", `/apps/${ONE}/`, "/apps/99/"])
      assert.equal((await several.get(path, {})).status, 404, path);
    const wrongMethod = await several.get(`/apps/${ONE}/sweep`, BEARER);
    assert.deepEqual([wrongMethod.status, wrongMethod.headers.get("allow")], [405, "POST"]);
    const forged = await several.post(`/apps/${ONE}/sweep`, {
      ...BROWSER,
      authorization: `Basic ${btoa(`a:${TOKEN}`)}`,
      "sec-fetch-site": "cross-site",
    });
    assert.equal(forged.status, 403);
  });

  test("is swept, planned, recovered and has its entry taken out alone", async (t) => {
    const several = await openBoth(t);
    await several.tickAt(ago(60));
    const guids = [several.breaks(ONE, ago(50)), several.breaks(TWO, ago(50))];
    await several.tickAt(ago(40));
    const open = async () => {
      const { apps } = await several.json("/apps.json");
      return Promise.all(
        apps.map(async ({ path }) => (await several.json(`${path}status.json`)).entries.map(({ guid }) => guid)),
      );
    };
    assert.deepEqual(await open(), [[guids[0]], [guids[1]]]);
    several.now = Date.now();
    const failed = several.fails(TWO, ago(20));
    const plan = await several.json(`/apps/${TWO}/plan.json`);
    assert.deepEqual(
      [plan.app, plan.events.filter(({ redeliver }) => redeliver).map(({ guid }) => guid)],
      [TWO, [failed]],
    );
    assert.equal((await several.json(`/apps/${ONE}/plan.json`)).events.filter(({ redeliver }) => redeliver).length, 0);
    assert.match(await several.text(`/apps/${TWO}/plan`, BROWSER), /<p class="app">App 7654321<\/p>/);

    const forgotten = await several.post(`/apps/${TWO}/forget?guid=${guids[1]}`, BEARER);
    assert.deepEqual([forgotten.status, await forgotten.json()], [200, { forgotten: guids[1] }]);
    assert.equal((await several.post(`/apps/${ONE}/forget?guid=${guids[1]}`, BEARER)).status, 404);
    const since = new Date(ago(600)).toISOString();
    const recovering = await several.post(`/apps/${TWO}/recover?since=${since}`, BEARER);
    assert.deepEqual([recovering.status, (await recovering.json()).since], [200, since]);
    assert.equal((await several.json(`/apps/${ONE}/status.json`)).recovering, null);

    const before = several.apps[ONE].requests.length;
    const swept = await several.post(`/apps/${TWO}/sweep`, BEARER);
    assert.deepEqual([swept.status, (await swept.json()).app], [200, TWO]);
    assert.equal(several.apps[ONE].requests.length, before, "the other was left alone");
    assert.deepEqual(await open(), [[guids[0]], []]);
  });

  test("says on its page which secret is nobody's", async (t) => {
    const several = await openBoth(t, { settings: { TELEGRAM_BOT_TOKEN_99: "1:canary" } });
    await several.tickAt(ago(10));
    const { ok, notes } = await several.json(`/apps/${ONE}/status.json`);
    assert.deepEqual([ok, notes.length], [true, 1]);
    assert.match(notes[0], /^TELEGRAM_BOT_TOKEN_99 is for an App that is not in APPS; .*\.$/);
  });

  test("has its own page, whose forms lead back to it", async (t) => {
    const several = await openBoth(t);
    await several.tickAt(ago(60));
    const guid = several.breaks(ONE, ago(50));
    await several.tickAt(ago(40));
    const page = await several.text(`/apps/${ONE}/`, BROWSER);
    const below = ["", "plan", `forget?guid=${guid}`, "sweep", "status.json"].map((path) => `/apps/${ONE}/${path}`);
    assert.deepEqual(links(page), ["/", ...below]);
    for (const address of links(page).filter((link) => !/forget|sweep/.test(link))) {
      assert.equal((await several.get(address, BROWSER)).status, 200, address);
    }
    several.now = Date.now();
    for (const address of [below[2], below[3], `/apps/${ONE}/recover?since=${new Date(ago(90)).toISOString()}`]) {
      const answer = await several.post(address, BROWSER);
      assert.deepEqual([answer.status, answer.headers.get("location")], [303, `/apps/${ONE}/`], address);
    }
  });

  test("tells the others of a write by a sweep by hand as well", async (t) => {
    const several = await openBoth(t, { github: { subscribesToIssues: true } });
    for (const fake of Object.values(several.apps)) fake.endpoint = () => 500;
    await several.tickAt(ago(60));
    several.breaks(ONE, ago(50));
    several.now = Date.now();
    assert.equal((await several.post(`/apps/${ONE}/sweep`, BEARER)).status, 200);
    assert.equal(several.issues().length, 1);
    const { count, writes } = JSON.parse(await several.worker.state("others", TWO));
    assert.deepEqual([count, writes[0][0]], [1, several.apps[ONE].repository("octo-maintainer/alarms").id]);
    several.now = Date.now() + 60_000;
    assert.equal((await several.post(`/apps/${TWO}/sweep`, BEARER)).status, 200);
    assert.deepEqual([(await several.state(TWO)).heard, several.issues().length], [1, 1]);
  });
});

test("a Worker with one App answers below its id too, and its own addresses are as ever", async (t) => {
  const scene = await openDoor(t);
  await scene.tickAt(ago(10));
  const [root, below] = await Promise.all(
    ["/status.json", `/apps/${ONE}/status.json`].map(async (path) => (await scene.get(path)).json()),
  );
  assert.deepEqual({ ...below, now: root.now, next_sweep: root.next_sweep }, root);
  assert.equal((await (await scene.get("/apps.json")).json()).apps.length, 1);
  const html = await (await scene.get("/", BROWSER)).text();
  assert.deepEqual(links(html), ["/", "/plan", "/sweep", "/status.json"]);
  assert.ok(!(await (await scene.get("/metrics")).text()).includes("app="));
});
