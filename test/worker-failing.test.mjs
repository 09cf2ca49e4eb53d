// Sweeps that fail in a row because of GitHub: what waits, who is told, and when it is over (specification, section 9).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { otherKeys } from "./fakes/github.mjs";
import { ASK, at, CHAT, CONTROL_REPO, isList, opened } from "./worker/scene.mjs";
import { openStranger } from "./worker/stranger.mjs";

const FAILS = /the recovery itself fails \(since 2026-11-02 08:15 UTC\)/i;

const toGitHub = ({ verb }) => verb === undefined;

/** Everything that is sent to GitHub goes wrong from now on. */
const breaks = (scene, fault) => scene.github.fault(() => true, fault, Number.POSITIVE_INFINITY);

const outcomes = (ticks) => ticks.map(({ sweep }) => sweep.ending);

/** One page was sent, which says by now that nothing is open any more; no issue was ever made. */
function toldByTelegramAlone(scene) {
  assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
  assert.equal(scene.messages()[0].text, "🟢 Nothing is open any more.");
  assert.deepEqual(scene.github.issues(CONTROL_REPO), []);
}

describe("GitHub fails", { concurrency: 2 }, () => {
  for (const [name, fault, failure] of [
    ["answers 500", { status: 500 }, "server_error"],
    ["resets each connection", "reset", "transport"],
  ]) {
    test(`for two hours it ${name}: ticks wait, one page, and it leaves with the first success`, async (t) => {
      const scene = await opened(t);
      const down = breaks(scene, fault);
      const guid = scene.fails("08:20");
      const ticks = await scene.ticks("08:15", "10:00");
      const [failed, waiting] = ["failed", "waiting"];
      assert.deepEqual(outcomes(ticks), [failed, failed, waiting, failed, waiting, waiting, waiting, failed]);
      for (const { sweep, outcome, calls, lines } of ticks) {
        if (sweep.ending === waiting) assert.deepEqual([outcome, calls, lines.length], ["ok", 0, 1]);
        else assert.deepEqual([outcome, sweep.failure], ["exception", failure]);
      }
      assert.deepEqual(
        ticks.map(({ sweep }) => [sweep.failures_in_a_row, sweep.wait_until.slice(11, 16)]),
        [
          [1, "08:30"],
          [2, "09:00"],
          [2, "09:00"],
          [3, "10:00"],
          [3, "10:00"],
          [3, "10:00"],
          [3, "10:00"],
          [4, "11:00"],
        ],
      );
      assert.match(scene.messages()[0].text, FAILS);
      assert.deepEqual([scene.messages()[0].edits, scene.telegram.sounds(CHAT)], [0, 1]);
      down.stop();
      const [, , , back] = await scene.ticks("10:15", "11:00");
      assert.deepEqual([back.sweep.ending, back.sweep.failures_in_a_row, back.asked], ["done", 0, [guid]]);
      toldByTelegramAlone(scene);
      assert.equal((await scene.state()).failures.last.class, failure, "the last failure stays");
    });
  }

  test("a key that is revoked at night: no wait, one page, GitHub is left alone, and the new key ends it", async (t) => {
    const scene = await opened(t);
    await scene.worker.restart({ bindings: { ...scene.bindings, GITHUB_APP_PRIVATE_KEY: otherKeys().pkcs1 } });
    const guid = scene.fails("08:20");
    const ticks = await scene.ticks("08:15", "10:00");
    assert.ok(ticks.every(({ sweep }) => sweep.failure === "auth" && sweep.wait_until === null));
    assert.ok(ticks.every(({ requests }) => requests.filter(toGitHub).length === 1));
    assert.match(scene.messages()[0].text, FAILS);
    assert.match(scene.messages()[0].text, /GITHUB_APP_PRIVATE_KEY/);
    assert.equal(scene.telegram.sounds(CHAT), 1);
    await scene.worker.restart({ bindings: scene.bindings });
    assert.deepEqual((await scene.tickAt("10:15")).asked, [guid]);
    toldByTelegramAlone(scene);
  });

  const seconds = (clock) => String(at(clock) / 1000);
  for (const [name, headers] of [
    ["Retry-After", { "retry-after": "7200" }],
    ["X-RateLimit-Reset", { "x-ratelimit-remaining": "0", "x-ratelimit-reset": seconds("10:15") }],
  ]) {
    test(`the two hours that GitHub names by ${name} are kept, and one failure tells nobody`, async (t) => {
      const scene = await opened(t);
      scene.github.fault(isList, { status: 429, headers });
      const limited = await scene.tickAt("08:15");
      assert.deepEqual([limited.sweep.failure, limited.sweep.wait_until], ["rate_limited", "2026-11-02T10:15:00.000Z"]);
      const kept = await scene.worker.state();
      const ticks = await scene.ticks("08:30", "10:00");
      assert.ok(ticks.every(({ sweep, calls }) => sweep.ending === "waiting" && calls === 0));
      assert.deepEqual(await scene.worker.state(), kept, "nothing is written");
      assert.equal((await scene.tickAt("10:15")).sweep.ending, "done");
      assert.deepEqual(scene.messages(), []);
    });
  }

  test("and Telegram too: the page is sent once Telegram works", async (t) => {
    const scene = await opened(t);
    breaks(scene, { status: 401, body: { message: "Bad credentials" } });
    const shut = scene.telegram.fault(() => true, { status: 502 }, 99);
    await scene.ticks("08:15", "09:15");
    assert.deepEqual(scene.messages(), []);
    shut.stop();
    await scene.ticks("09:30", "10:00");
    assert.match(scene.messages()[0].text, FAILS);
    assert.equal(scene.telegram.sounds(CHAT), 1);
  });

  test("to asks: none stands, and what was decided before is told at once", async (t) => {
    const scene = await opened(t, { settings: { MAX_ATTEMPTS: "2" } });
    const poison = scene.fails("08:05");
    scene.github.deliveries.redeliver(poison, at("08:06"), 500);
    const guids = [scene.fails("08:07"), scene.fails("08:08")];
    const away = scene.github.fault(
      { method: "POST", path: ASK },
      { status: 429, headers: { "retry-after": "600" } },
      2,
    );
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.outcome, tick.sweep.failure, tick.asked], ["exception", "rate_limited", guids]);
    assert.ok(scene.messages()[0].text.includes(poison));
    assert.equal(scene.openIssue(), undefined);
    assert.ok((await scene.state()).ledger.events.every(({ k = [] }) => k.length === 0));
    away.stop();
    assert.deepEqual((await scene.tickAt("08:30")).asked, guids);
    scene.shows(poison);
  });

  test("to one of several installations: only its event is given up, the others come back", async (t) => {
    const scene = await opened(t);
    const guids = ["08:05", "08:06", "08:07", "08:08"].map((clock) => scene.fails(clock));
    scene.now = at("08:10");
    const { id } = scene.github.attempts(guids[1])[0];
    scene.github.fault(({ path }) => path === `/app/hook/deliveries/${id}/attempts`, {
      status: 403,
      body: { message: "This installation has been suspended" },
    });
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.outcome, tick.sweep.failure, tick.asked], ["ok", null, guids]);
    scene.shows(guids[1]);
    const next = await scene.tickAt("08:30");
    assert.deepEqual([next.asked, next.sweep.events.recovered], [[], 3]);
  });

  test("by a Link to another host: no JWT goes there, and the second one in a row is told", async (t) => {
    const scene = await opened(t);
    const { port, seen } = await openStranger(t);
    scene.fails("08:05");
    const link = `<http://127.0.0.1:${port}/app/hook/deliveries?cursor=x>; rel="next"`;
    scene.github.fault(isList, (answer) => ({ ...answer, headers: { link } }), 99);
    const ticks = await scene.ticks("08:15", "08:30");
    assert.ok(ticks.every(({ sweep, asked }) => sweep.failure === "decode" && asked.length === 0));
    assert.match(scene.messages()[0].text, /cannot be read/);
    assert.deepEqual(seen, []);
  });
});
