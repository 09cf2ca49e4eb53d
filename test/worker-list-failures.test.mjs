// A page of either list that cannot be read: nothing is decided on half a picture (specification, sections 3 and 9).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, isList, openScene } from "./worker/scene.mjs";
import { openStranger } from "./worker/stranger.mjs";

const html = { status: 200, headers: { "content-type": "text/html" }, body: "<!DOCTYPE html><title>Unicorn!</title>" };
const page = (change) => (answer) => ({ ...answer, body: answer.body.map((item) => ({ ...item, ...change })) });

/** What a page comes to, and the class of failure. A transient one is tried once more, so it happens twice. */
const FAILURES = [
  ["401", "auth", { status: 401, body: { message: "Bad credentials" } }],
  ["403", "auth", { status: 403, body: { message: "Resource not accessible" } }],
  ["403 of a rate limit", "rate_limited", { status: 403, headers: { "retry-after": "30" }, body: {} }],
  ["404", "config", { status: 404, body: { message: "Integration not found" } }],
  ["429", "rate_limited", { status: 429, headers: { "retry-after": "30" } }],
  ["500", "server_error", { status: 500 }],
  ["502 in HTML", "server_error", { status: 502, body: "<html>" }],
  ["a redirect", "config", { status: 301, headers: { location: "/elsewhere" } }],
  ["a reset", "transport", "reset"],
  ["a lost answer", "transport", "lost-answer"],
  ["a body that breaks off", "transport", { truncate: 100 }],
  ["HTML", "decode", html],
  ["an empty body", "decode", { rawBody: "" }],
  ["five megabytes", "decode", { rawBody: `[${" ".repeat(5 * 1024 * 1024)}]` }],
  ["an object", "decode", { rawBody: '{"deliveries":[]}' }],
  ["half of its JSON", "decode", (answer) => ({ ...answer, body: '[{"id":1,"guid":"' })],
  ["ids as text", "decode", page({ id: "3870570949141069831" })],
  ["a date that is none", "decode", page({ delivered_at: "yesterday" })],
  ["a status code as text", "decode", page({ status_code: "500" })],
  ["no guid", "decode", page({ guid: null })],
];

const isPage = (list, second) => (request) => {
  const { status, cursor } = request.query ?? {};
  return isList(request) && (status === "failure") === (list === "failures") && (cursor !== undefined) === second;
};

const PLACES = [
  ["the first page of the failures list", isPage("failures", false)],
  ["the second page of the failures list", isPage("failures", true)],
  ["the first page of the deliveries list", isPage("deliveries", false)],
  ["the second page of the deliveries list", isPage("deliveries", true)],
];

/** A scene with pages of five, in which one event gave up. */
async function stage(t) {
  const scene = await openScene(t, { settings: { MAX_ATTEMPTS: "2" } });
  scene.github.endpoint = ({ event }) => (event === "push" ? 500 : 200);
  await scene.tickAt("08:00");
  const poison = scene.fails("08:05", 500, { event: "push" });
  await scene.ticks("08:15", "08:30");
  scene.shows(poison);
  scene.github.pageLimit = 5;
  return { scene, poison };
}

/** Half an hour for each of `cases`: eight events fail, one tick meets the case, the next one has to ask for all of them. */
async function eachRecovers(scene, cases, meet) {
  let time = at("09:00");
  for (const one of cases) {
    const guids = Array.from({ length: 8 }, (_, index) => scene.fails(time - 300_000 + index * 1000));
    await meet(one, time);
    const next = await scene.tickAt(time + 15 * 60_000);
    assert.deepEqual([next.outcome, next.asked], ["ok", guids], `after ${one[0]}`);
    time += 30 * 60_000;
  }
}

describe("pages that cannot be read", { concurrency: 2 }, () => {
  for (const [place, isThere] of PLACES) {
    test(`${place}: no ask, cursor and alarm stay, the run fails, and the next tick recovers`, async (t) => {
      const { scene, poison } = await stage(t);
      await eachRecovers(scene, FAILURES, async ([name, failure, fault], time) => {
        const before = await scene.state();
        const messages = JSON.stringify(scene.messages());
        const armed = scene.github.fault(isThere, fault, 2);
        const tick = await scene.tickAt(time);
        armed.stop();
        const context = `${name}: ${JSON.stringify(tick.logs)}`;
        assert.deepEqual([tick.outcome, tick.sweep.failure], ["exception", failure], context);
        assert.deepEqual([tick.asked, tick.sweep.ending, tick.logs[0].class], [[], "failed", failure], context);
        assert.ok(
          tick.requests.every((request) => request.method === "GET" && isList(request)),
          context,
        );
        // What may pass is tried once more, and no further page is read.
        const tries = ["server_error", "transport"].includes(failure) ? 2 : 1;
        assert.ok(tick.requests.slice(-tries).every(isThere), context);
        assert.equal(tick.requests.filter(isThere).length, tries, context);
        const after = await scene.state();
        assert.deepEqual(
          [after.ledger.ground.cursor, after.alarm],
          [before.ledger.ground.cursor, before.alarm],
          context,
        );
        assert.equal(after.failures.last.class, failure);
        assert.equal(JSON.stringify(scene.messages()), messages, context);
        scene.shows(poison);
      });
    });
  }

  test("a failure in transport, or a 5xx, is tried once more, and then the sweep goes on", async (t) => {
    const { scene } = await stage(t);
    const cases = ["reset", { status: 503 }, { truncate: 9 }, "lost-answer"].map((fault) => [
      JSON.stringify(fault),
      fault,
    ]);
    let time = at("09:00");
    for (const [name, fault] of cases) {
      const guid = scene.fails(time - 300_000);
      scene.github.fault(isList, fault);
      const tick = await scene.tickAt(time);
      assert.deepEqual([tick.outcome, tick.asked], ["ok", [guid]], name);
      time += 15 * 60_000;
    }
  });
});

describe("next links that are not followed", { concurrency: 2 }, () => {
  test("another host, path or port, one that repeats or cannot be parsed: decode, and the JWT goes nowhere else", async (t) => {
    const { scene } = await stage(t);
    const { port, seen } = await openStranger(t);
    const own = `${scene.github.url}/app/hook/deliveries`;
    const links = [
      `<http://127.0.0.1:${port}/app/hook/deliveries?per_page=100&cursor=v1_x>; rel="next"`,
      `<http://localhost:${port}/app/hook/deliveries?per_page=100&cursor=v1_x>; rel="next"`,
      `<//127.0.0.1:${port}/app/hook/deliveries?cursor=v1_x>; rel="next"`,
      `<${scene.github.url.replace("http://", `http://127.0.0.1:${port}@`)}/app/hook/deliveries?cursor=v1_x>; rel="next"`,
      `<${scene.github.url}/app/installations?cursor=v1_x>; rel="next"`,
      `<${own}/../../elsewhere?cursor=v1_x>; rel="next"`,
      `<${own}?cursor=v1_x>; rel="next", <${own}?cursor=v1_y>; rel="next"`,
      `${own}?cursor=v1_x; rel="next"`,
      `<${own}?cursor=v1_x; rel="next"`,
      `<http://[>; rel="next"`,
    ];
    const cases = links.map((link) => [link]);
    await eachRecovers(scene, cases, async ([link], time) => {
      const armed = scene.github.fault(isList, (answer) => ({ ...answer, headers: { link } }));
      const tick = await scene.tickAt(time);
      armed.stop();
      assert.deepEqual([tick.outcome, tick.sweep.failure, tick.calls], ["exception", "decode", 1], link);
    });
    // A link to the page it stands on would be followed for ever.
    const same = `<${own}?per_page=100&status=failure&cursor=v1_MTIzNDU2Nzg%3D>; rel="next"`;
    scene.github.fault(isList, (answer) => ({ ...answer, status: 200, body: [], headers: { link: same } }), 9);
    const tick = await scene.tickAt("15:00");
    assert.deepEqual([tick.outcome, tick.sweep.failure, tick.calls], ["exception", "decode", 2]);
    assert.deepEqual(seen, []);
  });
});
