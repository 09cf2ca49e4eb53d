// What is kept between sweeps, and sweeps that overlap (specification, sections 3, 10 and 12).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gate } from "./worker/gate.mjs";
import { at, CHAT, CONTROL_REPO, opened, openScene } from "./worker/scene.mjs";
import { VERSION } from "./worker/stored.mjs";
import { keptState, version } from "./worker/upgrade.mjs";

const asked = (ticks) => ticks.flatMap((tick) => tick.asked);

describe("the state, and sweeps that overlap", { concurrency: 2 }, () => {
  test("ids are kept to the last digit in state, calls and logs", async (t) => {
    const scene = await opened(t);
    // A double holds neither of the first two; the last is the largest that 63 bits hold.
    const ids = ["3870570949141069831", "3870570949141069833", "9223372036854775807"];
    for (const [index, id] of ids.entries()) scene.fails(at("08:05") + index, 500, { id: BigInt(id) });
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(
      scene.github.asks.map(({ id }) => id),
      ids,
    );
    const lines = tick.logs.filter(({ message }) => message === "redelivery");
    assert.deepEqual(
      lines.map(({ delivery }) => delivery),
      ids,
    );
    assert.equal(tick.sweep.cursor.id, ids[2]);
    const { ledger } = await scene.state();
    assert.deepEqual(ledger.events.map(({ t: attempts }) => attempts[0][1]).sort(), ids);
    assert.equal(ledger.ground.cursor[1], ids[2]);
    assert.deepEqual((await scene.tickAt("08:30")).sweep.events.recovered, 3);
  });

  test("one line per sweep and one per ask, with the fields that the specification names", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    const tick = await scene.tickAt("08:15");
    assert.equal(tick.lines.length, 2);
    const { id } = scene.github.attempts(guid)[0];
    assert.deepEqual(tick.logs[0], {
      message: "redelivery",
      app: "1234567",
      guid,
      event: "issue_comment",
      action: "created",
      delivery: id,
      attempts: 1,
      answer: "taken",
      status: null,
    });
    const { sweep } = tick;
    assert.deepEqual(
      [sweep.app, sweep.scheduled, sweep.deliveries, sweep.calls],
      ["1234567", "2026-11-02T08:15:00.000Z", 2, 3],
    );
    assert.deepEqual(sweep.cursor, { id, at: "2026-11-02T08:05:00.000Z" });
    assert.deepEqual(sweep.failures_list, { pages: 1, reached: "2026-11-02T08:05:00.000Z", complete: true });
  });

  test("the same tick twice, and one of the past, change nothing", async (t) => {
    const scene = await opened(t);
    scene.fails("08:05");
    await scene.tickAt("08:15");
    const before = await scene.worker.state();
    for (const clock of ["08:15", "08:00"]) {
      const tick = await scene.tickAt(clock);
      assert.deepEqual([tick.outcome, tick.sweep.ending, tick.calls], ["ok", "not_later", 0]);
    }
    assert.deepEqual(await scene.worker.state(), before);
  });

  test("the same tick twice at once is one sweep", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    scene.now = at("08:15");
    const before = scene.arrived().length;
    const runs = await Promise.all([scene.worker.tick(at("08:15")), scene.worker.tick(at("08:15"))]);
    const requests = scene.arrived().slice(before);
    assert.deepEqual([scene.asksIn(requests), requests.length], [[guid], 3]);
    assert.deepEqual(
      runs.map(({ outcome }) => outcome),
      ["ok", "ok"],
    );
    assert.deepEqual(Object.keys(await scene.worker.state()), ["history", "state"], "the lease is gone");
  });

  test("a second tick while a sweep is under way changes nothing, whatever its time", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    const { url, arrived } = await gate(t);
    await scene.worker.restart({ bindings: { ...scene.bindings, HEARTBEAT_URL: url } });
    scene.now = at("08:15");
    const before = scene.arrived().length;
    const run = scene.worker.tick(at("08:15"));
    // The sweep has asked, and waits for the answer to its heartbeat, its last call.
    const answer = await arrived;
    const kept = await scene.worker.state();
    for (const clock of ["08:15", "08:16", "08:28:59"]) {
      const { outcome, logs } = await scene.worker.tick(at(clock));
      assert.deepEqual([outcome, logs[0].ending ?? logs[1].ending, logs.at(-1).calls], ["ok", "held", 0]);
    }
    assert.deepEqual(await scene.worker.state(), kept);
    answer();
    assert.equal((await run).outcome, "ok");
    assert.deepEqual(scene.asksIn(scene.arrived().slice(before)), [guid]);
    assert.deepEqual(Object.keys(await scene.worker.state()), ["history", "state"], "the lease is gone");
  });

  test("a restart between two ticks changes nothing", async (t) => {
    const scene = await opened(t);
    scene.github.endpoint = () => 500;
    const guid = scene.fails("08:05");
    const ticks = [];
    for (const clock of ["08:15", "08:30", "08:45", "09:00"]) {
      if (clock !== "08:30") await scene.worker.restart();
      ticks.push(await scene.tickAt(clock));
    }
    assert.deepEqual(
      ticks.map((tick) => tick.asked),
      [[guid], [guid], [], []],
    );
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
    assert.equal(ticks[3].calls, 2);
  });

  test("a lost state loses nothing: what passed stays so, what failed is asked for within its attempts, one issue is open", async (t) => {
    const scene = await opened(t);
    scene.github.endpoint = ({ event }) => (event === "push" ? 500 : 200);
    const poison = scene.fails("08:05", 500, { event: "push" });
    const passed = scene.fails("08:06");
    await scene.ticks("08:15", "08:45");
    scene.shows(poison);
    await scene.worker.writeState("state", undefined);
    const fresh = scene.fails("08:50");
    const ticks = await scene.ticks("09:00", "09:45");
    assert.deepEqual(asked(ticks), [fresh]);
    assert.deepEqual(
      [scene.codes(poison), scene.codes(passed)],
      [
        [500, 500, 500],
        [500, 200],
      ],
    );
    scene.shows(poison);
    assert.equal(scene.github.issues(CONTROL_REPO).length, 1);
    scene.github.click(poison, 200);
    await scene.tickAt("10:00");
    assert.equal(scene.openIssue(), undefined);
  });

  for (const [name, text] of [
    ["no JSON", "{"],
    ["another shape", `{"version":${VERSION},"ledger":[]}`],
    ["an event of another shape", keptState(version).state.replace('"events":[', '"events":["half an event",')],
    ["no version", '{"ledger":{}}'],
  ]) {
    test(`a stored state that cannot be read (${name}) is put aside, and the sweep is a first one`, async (t) => {
      const scene = await opened(t);
      await scene.worker.writeState("state", text);
      const guid = scene.fails("08:05");
      const tick = await scene.tickAt("08:15");
      assert.deepEqual([tick.outcome, tick.asked], ["ok", [guid]]);
      assert.match(tick.sweep.warnings.join(), /cannot be read/);
      const { state, history: _, ...others } = await scene.worker.state();
      assert.deepEqual(Object.values(others), [text]);
      assert.equal(JSON.parse(state).version, VERSION);
      await scene.tickAt("08:30");
      assert.deepEqual(Object.values(await scene.worker.state()).filter((value) => value === text).length, 1);
    });
  }

  test("a state of a newer version stops the sweep, and stays untouched", async (t) => {
    const scene = await opened(t);
    const text = `{"version":${VERSION + 1},"of":["another","shape"]}`;
    await scene.worker.writeState("state", text);
    scene.fails("08:05");
    for (const clock of ["08:15", "08:30"]) {
      const tick = await scene.tickAt(clock);
      assert.deepEqual([tick.outcome, tick.sweep.failure, tick.asked], ["exception", "state", []]);
      const { failures, history: _, ...others } = await scene.worker.state();
      assert.deepEqual(others, { state: text });
      assert.equal(JSON.parse(failures).failures.last.class, "state");
    }
  });

  test("a dry run reads, decides and keeps its cursor, asks for nothing and tells nobody", async (t) => {
    const scene = await opened(t, { settings: { DRY_RUN: "true", MAX_ATTEMPTS: "2" } });
    const failed = scene.fails("08:05");
    const old = scene.fails("08:06", 500, { event: "issues" });
    scene.delivers("08:07", { event: "issues" });
    const poison = scene.fails("08:08");
    scene.now = at("08:09");
    scene.github.click(poison, 500);
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.outcome, tick.sweep.ending, tick.calls, tick.asked], ["ok", "dry_run", 2, []]);
    const verdicts = new Map(
      tick.logs.filter(({ message }) => message === "plan").map(({ guid, verdict }) => [guid, verdict]),
    );
    assert.match(verdicts.get(failed), /asked for again/);
    assert.match(verdicts.get(old), /superseded/);
    assert.match(verdicts.get(poison), /gave up/);
    const { ledger } = await scene.state();
    assert.equal(ledger.ground.cursor[0], at("08:09"));
    assert.ok(
      ledger.events.every(({ k = [] }) => k.length === 0),
      "no ask is kept",
    );
    assert.deepEqual([scene.messages(), scene.github.issues(CONTROL_REPO)], [[], []]);
    // Once it is no longer dry, what still waits is asked for, and what gave up is told.
    await scene.worker.restart({ bindings: { ...scene.bindings, DRY_RUN: "false" } });
    assert.deepEqual((await scene.tickAt("08:30")).asked, [failed]);
    scene.shows(poison);
  });

  test("a wrong clock does not stop everything: a sweep of the far future is passed over", async (t) => {
    const scene = await openScene(t);
    scene.delivers("07:55");
    await scene.tickAt("08:00");
    await scene.worker.tick(at("08:00") + 40 * 86_400_000);
    const before = scene.fails("08:05");
    const first = await scene.tickAt("08:15");
    assert.match(first.sweep.warnings.join(), /a clock was wrong/);
    assert.deepEqual(first.asked, [before]);
    const later = scene.fails("08:20");
    assert.deepEqual((await scene.tickAt("08:30")).asked, [later]);
  });
});
