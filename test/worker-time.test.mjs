// Clocks that are wrong, ticks that come when they should not, and days that are none of the usual (specification, sections 3.1
// and 5). A tick that comes late is in test/worker-edges.test.mjs, the same tick twice in test/worker-state.test.mjs.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { breaks, clears, newest, on, openAlarm, quiet, readable } from "./worker/alarm.mjs";
import { incident } from "./worker/calls.mjs";
import { assertInvariants } from "./worker/invariants.mjs";
import { at, CHAT, isList, opened, quarters } from "./worker/scene.mjs";

const MINUTE = 60_000;

/** A tick whose clock shows one time while GitHub's shows another. */
function tickWhile(scene, clock, github) {
  scene.githubAheadMs = at(github) - at(clock);
  return scene.tickAt(clock);
}

/** The sweeps from one time to another, after each of which the invariants hold. */
async function sweeps(scene, times) {
  const ticks = [];
  for (const time of times) {
    ticks.push(await scene.tickAt(time));
    assertInvariants(scene, ticks.at(-1));
  }
  return ticks;
}

const endings = (ticks) => ticks.map(({ sweep }) => sweep.ending);
const asked = (ticks) => ticks.flatMap((tick) => tick.asked);

describe("time", { concurrency: 2 }, () => {
  for (const minutes of [5, -5]) {
    test(`GitHub's clock is ${minutes} minutes ahead: the App signs in, each event is asked for as it should, and our own are told apart`, async (t) => {
      const scene = await openAlarm(t, { settings: { MAX_ATTEMPTS: "3" }, github: { subscribesToIssues: true } });
      scene.githubAheadMs = minutes * MINUTE;
      scene.github.jwtClockAheadMs = minutes * MINUTE;
      // The alarm's own events fail too: they may feed nothing.
      scene.github.endpoint = ({ event }) => (["push", "issues"].includes(event) ? 500 : 200);
      const time = at("08:10") + minutes * MINUTE;
      const guids = incident(scene, time + 5 * MINUTE, 2);
      const poison = scene.fails(time, 500, { event: "push" });
      // It lies after the tick by the tick's clock, or is a minute old.
      const latest = scene.fails(at("08:14:30") + minutes * MINUTE);
      const ticks = await sweeps(scene, quarters("08:15", "10:15"));
      assert.deepEqual(ticks[0].asked.toSorted(), [...guids, poison, latest].sort());
      for (const guid of [...guids, latest]) assert.deepEqual(scene.codes(guid), [500, 200]);
      assert.deepEqual(scene.codes(poison), [500, 500, 500]);
      scene.shows(poison);
      assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
      assert.ok(ticks.some(({ sweep }) => sweep.events.own > 0));
      assert.ok(ticks.every(({ sweep }) => sweep.ending === "done"));
      // A JWT from GitHub's future is refused, and the next one goes by GitHub's clock; one that is five minutes old is still good.
      const refused = ticks.map(({ requests }) => requests.filter(({ status }) => status === 401).length);
      assert.deepEqual(refused, Array(ticks.length).fill(minutes < 0 ? 1 : 0));
      assert.deepEqual(
        ticks.slice(4).map(({ calls }) => calls),
        Array(ticks.length - 4).fill(minutes < 0 ? 3 : 2),
      );
      assert.deepEqual(
        ticks.flatMap(({ sweep }) => sweep.warnings),
        [],
      );
    });
  }

  test("a clock that stands still: nothing is called, and once it goes on, nothing was lost", async (t) => {
    const scene = await opened(t);
    const guids = [scene.fails("08:05"), scene.fails("08:20"), scene.fails("08:35")];
    assert.deepEqual((await tickWhile(scene, "08:15", "08:15")).asked, guids.slice(0, 1));
    const kept = await scene.worker.state();
    for (const github of ["08:30", "08:45"]) {
      const tick = await tickWhile(scene, "08:15", github);
      assert.deepEqual([tick.outcome, tick.sweep.ending, tick.calls], ["ok", "not_later", 0]);
    }
    assert.deepEqual(await scene.worker.state(), kept);
    assert.deepEqual((await tickWhile(scene, "08:16", "09:00")).asked, guids.slice(1));
    assert.equal((await tickWhile(scene, "09:15", "09:15")).sweep.events.recovered, 2);
    for (const guid of guids) assert.deepEqual(scene.codes(guid), [500, 200]);
  });

  test("a clock that jumps back by an hour: ticks do nothing until it has caught up, and nothing was lost", async (t) => {
    const scene = await opened(t);
    const before = scene.fails("09:50");
    assert.deepEqual(asked(await scene.ticks("08:15", "10:00")), [before]);
    const during = scene.fails("10:20");
    scene.githubAheadMs = 60 * MINUTE;
    const ticks = await scene.ticks("09:15", "10:00");
    assert.deepEqual(endings(ticks), Array(4).fill("not_later"));
    const [next, ...rest] = await sweeps(scene, quarters("10:15", "11:00"));
    assert.deepEqual([next.sweep.ending, next.asked, asked(rest)], ["done", [during], []]);
    for (const guid of [before, during]) assert.deepEqual(scene.codes(guid), [500, 200]);
    assert.deepEqual(scene.messages(), []);
  });

  test("a clock that jumps back by two hours: it is said, no sweep is missed, and nothing is asked for or told twice", async (t) => {
    const scene = await openAlarm(t);
    scene.github.endpoint = () => 200;
    const poison = breaks(scene, "09:20");
    await scene.ticks("09:15", "09:45");
    scene.shows(poison);
    // Its attempt shows up only after the jump, by GitHub's clock.
    scene.github.redeliveryDelayMs = 5 * MINUTE;
    const before = scene.fails("09:50");
    assert.deepEqual((await scene.tickAt("10:00")).asked, [before]);
    const during = scene.fails("10:10");
    scene.githubAheadMs = 120 * MINUTE;
    const ticks = await sweeps(scene, quarters("08:15", "10:30"));
    assert.match(ticks[0].sweep.warnings.join(), /a clock was wrong/);
    assert.deepEqual(new Set(endings(ticks)), new Set(["done"]));
    assert.deepEqual([ticks[0].asked, asked(ticks)], [[during], [during]]);
    for (const guid of [before, during]) assert.deepEqual(scene.codes(guid), [500, 200]);
    scene.shows(poison);
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
    assert.equal(ticks.at(-1).calls, 2);
  });

  test("ticks out of order: the newest sweeps, and those that come after it do nothing", async (t) => {
    const scene = await opened(t);
    const guids = ["08:05", "08:20", "08:35"].map((clock) => scene.fails(clock));
    const ticks = [];
    for (const clock of ["08:45", "08:15", "08:30", "08:45"]) ticks.push(await tickWhile(scene, clock, "08:46"));
    assert.deepEqual(endings(ticks), ["done", "not_later", "not_later", "not_later"]);
    assert.deepEqual(
      ticks.map(({ asked: each }) => each),
      [guids, [], [], []],
    );
    scene.githubAheadMs = 0;
    assert.equal((await scene.tickAt("09:00")).sweep.events.recovered, 3);
  });

  test("a delivery from the future hides nothing that follows, and is asked for like any other", async (t) => {
    const scene = await opened(t);
    const future = scene.fails("08:05");
    const passes = scene.delivers("08:06", { event: "push" });
    const isOfThem = ({ guid, redelivery }) => [future, passes].includes(guid) && !redelivery;
    const tomorrow = new Date(at("32:00")).toISOString();
    const moved = (item) => (isOfThem(item) ? { ...item, delivered_at: tomorrow } : item);
    scene.github.fault(isList, (answer) => ({ ...answer, body: answer.body.map(moved) }), Number.MAX_SAFE_INTEGER);
    const first = await scene.tickAt("08:15");
    assert.deepEqual(first.asked, [future]);
    assert.ok(first.sweep.cursor.at <= "2026-11-02T08:15:01", first.sweep.cursor.at);
    const later = [scene.fails("08:16"), scene.fails("08:20", 0)];
    const ticks = await sweeps(scene, quarters("08:30", "09:30"));
    assert.deepEqual(asked(ticks), later);
    for (const guid of [future, ...later]) assert.equal(scene.codes(guid).at(-1), 200);
    assert.deepEqual(scene.messages(), []);
  });

  test("times with and without milliseconds in one second: each event is found once, however late it is listed", async (t) => {
    const scene = await opened(t);
    const within = (clock, late = {}) =>
      Array.from({ length: 6 }, (_, index) =>
        scene.fails(at(clock) + index * 150, index % 3 ? 500 : 0, { wholeSeconds: index % 2 === 0, ...late }),
      );
    const guids = within("08:14:59");
    // Of the second of the cursor, and of one before it, that no list shows yet.
    const late = [...within("08:14:59", { listedAfterMs: MINUTE }), ...within("08:14:58", { listedAfterMs: MINUTE })];
    const ticks = await sweeps(scene, quarters("08:15", "09:45"));
    assert.deepEqual(ticks[0].asked.toSorted(), guids.toSorted());
    assert.deepEqual(asked(ticks).toSorted(), [...guids, ...late].sort());
    for (const guid of [...guids, ...late])
      assert.equal(
        scene
          .codes(guid)
          .join()
          .replace(/^(0|500),/, ""),
        "200",
      );
    assert.deepEqual(scene.messages(), []);
  });

  test("at the end of a year, before and after a leap day, and where there is none", async (t) => {
    const scene = await openAlarm(t);
    for (const date of ["2026-12-31", "2028-02-28", "2028-02-29", "2100-02-28"]) {
      scene.days = (Date.parse(date) - at("00:00")) / 86_400_000 - 4;
      await clears(scene);
      const waits = incident(scene, "23:45", 1);
      const poison = breaks(scene, "23:55");
      const days = scene.days * 86_400_000;
      const times = [...quarters("23:45", "24:30")].map((time) => time + days);
      const ticks = await sweeps(scene, times);
      assert.deepEqual(asked(ticks), waits, date);
      assert.equal(ticks[1].sweep.scheduled, new Date(Date.parse(date) + 86_400_000).toISOString());
      for (const guid of waits) assert.deepEqual(scene.codes(guid), [500, 200], date);
      scene.shows(poison);
      assert.ok(
        newest(scene).includes(readable(scene, "23:55")) && newest(scene).includes(`${date} 23:55 UTC`),
        newest(scene),
      );
      // Three days after its first delivery GitHub has forgotten it, and not before.
      await quiet(scene, "95:45");
      scene.shows(poison);
      const left = await scene.tickAt(on(scene, "96:00"));
      assert.equal(left.sweep.alarm_entries, 0, date);
    }
  });
});
