// GitHub Enterprise Server: an older one without the filter of the failures list, and seven days in place of three.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, openScene } from "./worker/scene.mjs";
import { BEARER, openDoor } from "./worker/visitor.mjs";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** What an Enterprise Server is asked and answers. `statusFilter`: "known" from 3.17 or so on. */
const server = (statusFilter = "known") => ({
  basePath: "/api/v3",
  htmlUrl: "https://ghe.example.com",
  retentionMs: 7 * DAY,
  statusFilter,
});

/** A scene after five days in which the endpoint was down and the Worker asleep: `back` is their end, `down` are the events that failed. */
async function afterFiveDays(t, github) {
  const scene = await openScene(t, { github });
  scene.delivers("07:50");
  await scene.tickAt("08:00");
  const back = at("10:00") + 5 * DAY;
  const down = [scene.fails("09:00", 502), scene.fails("09:40", 502)];
  scene.github.endpoint = ({ at: time }) => (time < back ? 502 : 200);
  for (const clock of ["09:15", "09:30", "09:45", "10:00"]) await scene.tickAt(clock);
  scene.delivers(back - 60_000);
  return { scene, back, down };
}

const pagesOf = ({ sweep }) => [sweep.failures_list.pages, sweep.deliveries_list.pages];
const warned = ({ sweep }) => sweep.warnings.filter((warning) => /does not know the filter/.test(warning)).length;

describe("a server that does not know the filter of the failures list", { concurrency: 2 }, () => {
  for (const statusFilter of ["ignored", "refused"]) {
    test(`${statusFilter}: the failures come out of the deliveries list, and for a day it is not tried again`, async (t) => {
      const scene = await openScene(t, { github: server(statusFilter) });
      scene.delivers("07:40");
      const failed = [scene.fails("07:45"), scene.fails("07:46", 502), scene.fails("07:47", 0)];
      const passed = scene.fails("07:48");
      scene.github.deliveries.redeliver(passed, at("07:49"), 200);
      scene.github.endpoint = () => 200;
      const first = await scene.tickAt("08:00");
      assert.deepEqual([first.outcome, first.asked], ["ok", failed], first.lines.join("\n"));
      assert.deepEqual([pagesOf(first), warned(first)], [[1, 1], 1]);
      const second = await scene.tickAt("08:15");
      assert.deepEqual([second.outcome, pagesOf(second), warned(second), second.calls], ["ok", [0, 1], 0, 1]);
      assert.deepEqual(
        failed.map((guid) => scene.codes(guid).at(-1)),
        [200, 200, 200],
      );
      // It may be a newer one by the next day.
      scene.github.statusFilter = "known";
      const later = scene.fails("31:50");
      const next = await scene.tickAt("32:00");
      assert.deepEqual([next.asked, pagesOf(next)[0], warned(next)], [[later], 1, 0]);
      assert.equal((await scene.state()).ledger.ground.unfiltered_at, undefined);
    });
  }

  test("an event that gives up there is an entry, with a link to the App's page on that server", async (t) => {
    const scene = await openScene(t, { settings: { MAX_ATTEMPTS: "2" }, github: server("ignored") });
    scene.delivers("07:40");
    const guid = scene.fails("07:45");
    scene.github.endpoint = () => 500;
    for (const clock of ["08:00", "08:15"]) await scene.tickAt(clock);
    scene.shows(guid);
    const link = "https://ghe.example.com/settings/apps/example-app/advanced";
    assert.ok(scene.openIssue().body.includes(link));
    assert.ok(scene.messages()[0].html.includes(link));
    assert.match(scene.messages()[0].text, /Can be redelivered until 2026-11-09 07:45 UTC/);
  });

  test("one that refuses the deliveries list too is asked for nothing, and the run fails", async (t) => {
    const scene = await openScene(t, { github: server() });
    scene.github.fault(() => true, { status: 422, body: { message: "Validation Failed" } }, 99);
    const tick = await scene.tickAt("08:00");
    assert.deepEqual([tick.outcome, tick.sweep.failure, tick.calls], ["exception", "config", 2]);
  });

  test("a 422 for a later page of the failures list is no missing filter", async (t) => {
    const scene = await openScene(t, { github: server() });
    scene.github.pageLimit = 2;
    for (let i = 0; i < 5; i += 1) scene.fails(at("07:50") + i * 1000);
    const later = ({ query }) => query?.status === "failure" && query.cursor !== undefined;
    scene.github.fault(later, { status: 422, body: { message: "Validation Failed" } }, 99);
    const tick = await scene.tickAt("08:00");
    assert.deepEqual([tick.outcome, tick.sweep.failure], ["exception", "config"]);
  });
});

describe("seven days", { concurrency: 2 }, () => {
  test("an outage of five days is made up for, as far back as the server keeps it", async (t) => {
    const { scene, back, down } = await afterFiveDays(t, server());
    const ticks = [];
    for (let minutes = 0; minutes <= 45; minutes += 15) ticks.push(await scene.tickAt(back + minutes * 60_000));
    assert.deepEqual(new Set(ticks.flatMap(({ asked }) => asked)), new Set(down), ticks[0].lines.join("\n"));
    assert.deepEqual(
      down.map((guid) => scene.codes(guid).at(-1)),
      [200, 200],
    );
  });

  test("on github.com they are left behind after three, and that is told", async (t) => {
    const { scene, back, down } = await afterFiveDays(t, { retentionMs: 7 * DAY });
    const tick = await scene.tickAt(back);
    assert.deepEqual([tick.asked, tick.sweep.events.left_behind], [[], down.length]);
  });

  for (const [name, options, reach] of [
    ["of the server, by its address", { github: server() }, 168],
    ["of github.com and its kind", {}, 72],
    ["as it is set", { settings: { RETENTION_HOURS: 100 } }, 100],
  ]) {
    test(`a recovery by hand reaches as far back as GitHub keeps a delivery: ${name}`, async (t) => {
      const scene = await openDoor(t, options);
      const recover = (hours) =>
        scene.post(`/recover?since=${new Date(Date.now() - hours * HOUR).toISOString()}`, BEARER);
      const tooOld = await recover(reach + 0.1);
      assert.deepEqual(
        [tooOld.status, (await tooOld.json()).error],
        [400, `Since lies more than ${reach} hours back, and GitHub keeps no delivery for longer.`],
      );
      assert.equal((await recover(reach - 0.1)).status, 200);
    });
  }

  test("the window may be as long as GitHub keeps a delivery", async (t) => {
    const scene = await openScene(t, { settings: { WINDOW_HOURS: 168 }, github: server() });
    scene.delivers(at("08:00") - 6.5 * DAY);
    const failed = scene.fails(at("08:00") - 6 * DAY);
    const tick = await scene.tickAt("08:00");
    assert.deepEqual([tick.outcome, tick.asked], ["ok", [failed]]);
  });
});
