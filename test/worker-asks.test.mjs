// What follows from each answer of GitHub to an ask (specification, section 4).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ASK, at, openScene } from "./worker/scene.mjs";

const ASKS = { method: "POST", path: ASK };

/** A scene in which `count` events failed since its first sweep, the oldest first. */
async function failed(t, count) {
  const scene = await openScene(t);
  await scene.tickAt("08:00");
  const guids = Array.from({ length: count }, (_, index) => scene.fails(`08:0${index + 1}`));
  return { scene, guids };
}

/** Holds the answers to `count` asks back until no more of them come, round after round. Returns the guids of each round. */
async function roundsOf(scene, count, run) {
  const rounds = [];
  let held = [];
  let left = count;
  const letOn = async () => {
    // Whatever the Worker sent beside these has arrived when this is back.
    await scene.worker.flush();
    rounds.push(held.map(({ guid }) => guid));
    left -= held.length;
    for (const { answer } of held) answer();
    held = [];
  };
  const hold = (answer, logged) => {
    const { promise, resolve } = Promise.withResolvers();
    held.push({ guid: scene.asksIn([logged])[0], answer: () => resolve(answer) });
    if (held.length === Math.min(3, left)) letOn();
    return promise;
  };
  scene.github.fault(ASKS, hold, count);
  await run();
  return rounds;
}

describe("answers to an ask", { concurrency: 2 }, () => {
  test("202: each event is asked for once, on its newest attempt, and comes again", async (t) => {
    const { scene, guids } = await failed(t, 3);
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, guids);
    assert.deepEqual(
      scene.github.asks.map(({ id, status }) => [id, status]).sort(),
      guids.map((guid) => [scene.github.attempts(guid)[0].id, 202]).sort(),
    );
    assert.deepEqual(
      guids.map((guid) => scene.codes(guid)),
      [[500], [500], [500]],
    );
    const next = await scene.tickAt("08:30");
    assert.deepEqual(next.asked, []);
    assert.equal(next.sweep.events.recovered, 3);
    assert.deepEqual(
      guids.map((guid) => scene.codes(guid)),
      [
        [500, 200],
        [500, 200],
        [500, 200],
      ],
    );
  });

  test("three at a time: the fourth is made when the first three are answered", async (t) => {
    const { scene, guids } = await failed(t, 7);
    const rounds = await roundsOf(scene, 7, () => scene.tickAt("08:15"));
    // Of those side by side any may arrive first.
    assert.deepEqual(
      rounds.map((round) => round.toSorted()),
      [guids.slice(0, 3), guids.slice(3, 6), guids.slice(6)],
    );
  });

  test("400, 404, 410 and 422 are an entry with that answer, and the others are asked for all the same", async (t) => {
    const { scene, guids } = await failed(t, 6);
    const refusals = new Map(guids.slice(1, 5).map((guid, index) => [guid, [400, 404, 410, 422][index]]));
    scene.github.onAsk = ({ guid }) => ({ status: refusals.get(guid) });
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, guids);
    assert.equal(tick.outcome, "ok");
    assert.deepEqual([tick.sweep.events.redelivered, tick.sweep.events.not_redeliverable], [2, 4]);
    scene.shows(...refusals.keys());
    for (const status of refusals.values()) {
      assert.ok(scene.messages()[0].text.includes(`refused to redeliver it (${status})`), `Telegram names ${status}`);
      assert.ok(scene.openIssue().body.includes(`refused to redeliver it (${status})`), `the issue names ${status}`);
    }
    const later = await scene.ticks("08:30", "10:00");
    assert.deepEqual(
      later.flatMap(({ asked }) => asked),
      [],
      "not asked again",
    );
    assert.ok(later.slice(1).every(({ calls }) => calls === 2));
    scene.shows(...refusals.keys());
    // A maintainer's click delivers one of them after all.
    scene.github.click(guids[1]);
    await scene.tickAt("10:15");
    scene.shows(...guids.slice(2, 5));
  });

  test("a 5xx stands as an ask: the others are asked for, and its event comes again once it is lost", async (t) => {
    const { scene, guids } = await failed(t, 4);
    scene.github.fault(scene.asksFor(guids[0]), { status: 502, body: "<html>Bad Gateway</html>" });
    assert.deepEqual((await scene.tickAt("08:15")).asked, guids);
    const next = await scene.tickAt("08:30");
    assert.deepEqual([next.asked, next.sweep.events.waiting, next.sweep.events.recovered], [[], 1, 3]);
    assert.deepEqual((await scene.tickAt("08:45")).asked, [guids[0]]);
    assert.equal((await scene.tickAt("09:00")).sweep.events.recovered, 1);
    assert.deepEqual(scene.messages(), []);
  });

  test("a second 5xx ends the asking: the rest are struck, and asked for by the next sweep", async (t) => {
    const { scene, guids } = await failed(t, 6);
    scene.github.fault(scene.asksFor(guids[0], guids[3]), { status: 503 }, 2);
    const tick = await scene.tickAt("08:15");
    // Three side by side, and one by one after the first 5xx.
    assert.deepEqual(tick.asked, guids.slice(0, 4));
    assert.equal(tick.outcome, "ok");
    assert.deepEqual([tick.sweep.events.redelivered, tick.sweep.events.waiting], [4, 2]);
    const next = await scene.tickAt("08:30");
    assert.deepEqual(next.asked, guids.slice(4));
    assert.deepEqual((await scene.tickAt("08:45")).asked, [guids[0], guids[3]]);
    assert.equal((await scene.tickAt("09:00")).sweep.events.recovered, 2);
  });

  test("a 5xx, then a reset: they are of one sort, so the second one ends the asking too", async (t) => {
    const { scene, guids } = await failed(t, 4);
    scene.github.fault(scene.asksFor(guids[0]), { status: 500 });
    scene.github.fault(scene.asksFor(guids[1]), "reset");
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, guids.slice(0, 3));
    assert.deepEqual((await scene.tickAt("08:30")).asked, guids.slice(3));
  });

  test("an ask whose answer was lost is not made twice: its attempt shows it", async (t) => {
    const { scene, guids } = await failed(t, 2);
    scene.github.fault(ASKS, "lost-answer");
    assert.deepEqual((await scene.tickAt("08:15")).asked, guids);
    const later = await scene.ticks("08:30", "09:30");
    assert.deepEqual(
      later.flatMap(({ asked }) => asked),
      [],
    );
    assert.equal(later[0].sweep.events.recovered, 2);
    assert.deepEqual(scene.codes(guids[0]), [500, 200]);
  });

  test("a 202 with a body that breaks off may have been taken, so it stands as an ask", async (t) => {
    const { scene, guids } = await failed(t, 1);
    scene.github.fault(ASKS, { truncate: 1 });
    assert.deepEqual((await scene.tickAt("08:15")).asked, guids);
    assert.deepEqual(
      (await scene.ticks("08:30", "09:15")).flatMap(({ asked }) => asked),
      [],
    );
  });

  const limited = { message: "You have exceeded a secondary rate limit." };
  const turnedAway = [
    ["401", "auth", { status: 401, body: { message: "Bad credentials" } }],
    ["429", "rate_limited", { status: 429 }],
    ["403 with Retry-After", "rate_limited", { status: 403, headers: { "retry-after": "60" } }],
    ["403 with nothing remaining", "rate_limited", { status: 403, headers: { "x-ratelimit-remaining": "0" } }],
    ["403 that says so", "rate_limited", { status: 403, body: limited }],
  ];
  test("401, 429 and a 403 of a rate limit end the sweep: what was taken stays, that ask and the rest are struck", async (t) => {
    const scene = await openScene(t);
    await scene.tickAt("08:00");
    let time = at("09:00");
    for (const [name, failure, answer] of turnedAway) {
      const guids = [0, 1, 2, 3].map((index) => scene.fails(time - 300_000 + index * 1000));
      // The second ask is turned away, the third was under way beside it.
      scene.github.fault(scene.asksFor(guids[1]), answer);
      const tick = await scene.tickAt(time);
      assert.deepEqual([tick.outcome, tick.asked, tick.sweep.failure], ["exception", guids.slice(0, 3), failure], name);
      assert.equal((await scene.state()).failures.last.class, failure);
      const next = await scene.tickAt(time + 15 * 60_000);
      assert.deepEqual([next.outcome, next.asked], ["ok", [guids[1], guids[3]]], name);
      await scene.tickAt(time + 30 * 60_000);
      assert.deepEqual(
        guids.map((guid) => scene.codes(guid).join()),
        guids.map(() => "500,200"),
      );
      time += 60 * 60_000;
    }
    assert.deepEqual(scene.messages(), []);
  });

  test("any other 403 is an entry of its event, and the others are asked for", async (t) => {
    const { scene, guids } = await failed(t, 4);
    scene.github.onAsk = ({ guid }) =>
      guid === guids[1] ? { status: 403, message: "This installation has been suspended" } : {};
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, guids);
    assert.equal(tick.outcome, "ok");
    scene.shows(guids[1]);
    assert.ok(scene.messages()[0].text.includes("refused to redeliver it (403)"));
    assert.deepEqual(
      (await scene.ticks("08:30", "09:30")).flatMap(({ asked }) => asked),
      [],
    );
  });

  test("the second such 403 ends the asking: two entries, and the rest are asked for by the next sweep", async (t) => {
    const { scene, guids } = await failed(t, 5);
    scene.github.onAsk = ({ guid }) => (guids.indexOf(guid) < 2 ? { status: 403 } : {});
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, guids.slice(0, 3), "those under way side by side");
    assert.equal(tick.outcome, "ok");
    scene.shows(...guids.slice(0, 2));
    assert.deepEqual((await scene.tickAt("08:30")).asked, guids.slice(3));
  });

  test("an ask that is answered with a redirect is not followed, and stands as an ask", async (t) => {
    const { scene, guids } = await failed(t, 1);
    scene.github.fault(ASKS, { status: 307, headers: { location: `${scene.github.url}/elsewhere` } });
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, guids);
    assert.ok(tick.requests.every(({ path }) => path !== "/elsewhere"));
    assert.deepEqual((await scene.tickAt("08:30")).asked, []);
    assert.deepEqual((await scene.tickAt("08:45")).asked, guids);
  });
});
