// How far both lists are read, and what becomes of the part that is not (specification, sections 3 and 7).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, opened, openScene } from "./worker/scene.mjs";

/** `count` deliveries that pass, evenly from one time to the other; every `hidden`th gets no answer. Returns those. */
function busy(scene, count, from, to, hidden = Infinity) {
  const [start, end] = [at(from), at(to)];
  const unanswered = [];
  for (let index = 0; index < count; index += 1) {
    const time = start + Math.round(((end - start) * index) / count);
    const guid = scene.delivers(time, { event: "push", code: index % hidden === hidden - 1 ? 0 : 200 });
    if (index % hidden === hidden - 1) unanswered.push(guid);
  }
  return unanswered;
}

const asked = (ticks) => ticks.flatMap((tick) => tick.asked);

describe("how far both lists are read", { concurrency: 2 }, () => {
  test("a quiet sweep makes two calls: one for each list, 100 a page, the failures first", async (t) => {
    const scene = await opened(t);
    scene.delivers("08:05");
    for (const tick of await scene.ticks("08:15", "09:00")) {
      assert.deepEqual(
        tick.requests.map(({ method, path, query }) => [method, path, query]),
        [
          ["GET", "/app/hook/deliveries", { per_page: "100", status: "failure" }],
          ["GET", "/app/hook/deliveries", { per_page: "100" }],
        ],
      );
      assert.deepEqual([tick.outcome, tick.sweep.ending], ["ok", "done"]);
    }
  });

  test("1,300 deliveries between two ticks are read back to the cursor", async (t) => {
    const scene = await opened(t);
    // The first one after the cursor, which the failures list does not show.
    const first = scene.fails("08:00:01", 0);
    busy(scene, 1_299, "08:00:02", "08:14:59");
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, [first]);
    assert.deepEqual(
      [tick.sweep.gaps, tick.sweep.deliveries_list.complete, tick.sweep.deliveries_list.pages],
      [0, true, 13],
    );
    assert.deepEqual((await scene.tickAt("08:30")).asked, []);
  });

  test("3,000 deliveries leave a gap: what it could settle waits, what it hides is found, and it is no entry", async (t) => {
    const scene = await opened(t);
    // All of this lies in the oldest third, which the first sweep of it does not reach but by the failures list.
    const overtaken = scene.fails("08:01", 500, { event: "workflow_run", repositoryId: 1 });
    const alone = scene.fails("08:01", 500, { event: "workflow_run", repositoryId: 2 });
    const comment = scene.fails("08:01", 500, { event: "issue_comment" });
    scene.delivers("08:03", { event: "workflow_run", repositoryId: 1 });
    const hidden = busy(scene, 2_994, "08:00:02", "08:14:59", 300);
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(
      [tick.sweep.deliveries_list.pages, tick.sweep.deliveries_list.complete, tick.sweep.gaps],
      [20, false, 1],
    );
    assert.ok(tick.asked.includes(comment));
    assert.ok(!tick.asked.includes(overtaken) && !tick.asked.includes(alone), "both wait for the gap");
    assert.equal(tick.sweep.newest_gap, tick.sweep.deliveries_list.reached);
    const next = await scene.tickAt("08:30");
    assert.deepEqual([next.sweep.gaps, next.sweep.newest_gap], [0, null]);
    assert.ok(next.sweep.gap_pages >= 9);
    assert.ok(next.asked.includes(alone));
    const later = await scene.ticks("08:45", "09:30");
    const all = asked([tick, next, ...later]);
    assert.deepEqual(all.toSorted(), [alone, comment, ...hidden].sort());
    assert.deepEqual(
      hidden.map((guid) => scene.codes(guid).join()),
      hidden.map(() => "0,200"),
    );
    assert.deepEqual(scene.messages(), []);
  });

  test("5,000 deliveries leave a gap that later sweeps read to the end, and nothing is lost", async (t) => {
    const scene = await opened(t);
    const overtaken = scene.fails("08:00:01", 500, { event: "release", repositoryId: 1 });
    scene.delivers("08:00:03", { event: "release", repositoryId: 1 });
    const hidden = busy(scene, 4_998, "08:00:02", "08:14:59", 125);
    const ticks = await scene.ticks("08:15", "10:00");
    assert.deepEqual(
      ticks.slice(0, 3).map(({ sweep }) => sweep.gaps),
      [1, 1, 1],
    );
    assert.equal(ticks.at(-1).sweep.gaps, 0);
    assert.ok(!asked(ticks).includes(overtaken), "nobody asked for it while what overtook it was unread");
    assert.deepEqual(asked(ticks).toSorted(), hidden.toSorted());
    assert.deepEqual(
      hidden.map((guid) => scene.codes(guid).join()),
      hidden.map(() => "0,200"),
    );
    assert.deepEqual(scene.messages(), []);
  });

  test("busy quarter hours in a row leave a gap each: the newest is read first, and all of them in the end", async (t) => {
    const scene = await opened(t);
    const hidden = [
      ...busy(scene, 3_200, "08:00:01", "08:14:59", 640),
      ...busy(scene, 2_400, "08:15:01", "08:29:59", 480),
    ];
    const ticks = [await scene.tickAt("08:15"), await scene.tickAt("08:30")];
    assert.equal(ticks[1].sweep.gaps, 2);
    const newest = ticks[1].sweep.newest_gap;
    ticks.push(...(await scene.ticks("08:45", "10:00")));
    assert.ok(newest > "2026-11-02T08:15");
    assert.equal(ticks.at(-1).sweep.gaps, 0);
    assert.deepEqual(asked(ticks).toSorted(), hidden.toSorted());
  });

  test("the first sweep of a busy App leaves the rest of its three hours to later ones, without an entry", async (t) => {
    const scene = await openScene(t);
    const overtaken = scene.fails("06:00", 500, { event: "issues", repositoryId: 1 });
    scene.delivers("06:01", { event: "issues", repositoryId: 1 });
    const early = scene.fails("04:55", 0);
    const hidden = busy(scene, 6_000, "04:56", "07:59", 200);
    const first = await scene.tickAt("08:00");
    assert.deepEqual([first.sweep.deliveries_list.pages, first.sweep.gaps], [20, 1]);
    assert.equal(first.sweep.watched_since, first.sweep.deliveries_list.reached);
    const ticks = [first, ...(await scene.ticks("08:15", "09:00"))];
    assert.equal(ticks.at(-1).sweep.gaps, 0);
    assert.ok(ticks.at(-1).sweep.watched_since < "2026-11-02T05:46", "it is watched since as far back as was read");
    const all = asked(ticks);
    assert.ok(!all.includes(overtaken) && !all.includes(early));
    assert.equal(new Set(all).size, all.length);
    // Read in time: what left the window before is not known to this Worker.
    const inTime = hidden.filter((guid) => scene.github.attempts(guid)[0].at >= at("06:00"));
    const rest = asked(await scene.ticks("09:15", "09:45"));
    assert.deepEqual(
      inTime.filter((guid) => ![...all, ...rest].includes(guid)),
      [],
    );
    assert.doesNotMatch(
      scene
        .messages()
        .map(({ text }) => text)
        .join(),
      /Not read/,
    );
  });

  test("never more than 50 calls: 3 + 20 pages, a gap, ten asks, both channels and a heartbeat", async (t) => {
    const scene = await openScene(t, { settings: { HEARTBEAT_URL: undefined } });
    scene.bindings.HEARTBEAT_URL = `${scene.github.url}/heartbeat/a-secret-path`;
    await scene.worker.restart({ bindings: scene.bindings });
    scene.github.endpoint = () => 500;
    // The last attempt comes late enough to be among what is read.
    scene.github.redeliveryDelayMs = 14 * 60_000;
    await scene.tickAt("08:00");
    const poison = scene.fails("08:05");
    await scene.ticks("08:15", "08:30");
    // What the next sweep meets: 400 failures, 2,600 passes, ten and more to ask for, one that has just given up.
    const failing = Array.from({ length: 400 }, (_, index) => scene.fails(at("08:31") + index * 2_000, 500));
    busy(scene, 2_600, "08:30:10", "08:44:50");
    const busiest = await scene.tickAt("08:45");
    assert.deepEqual(
      [busiest.sweep.failures_list.pages, busiest.sweep.deliveries_list.pages, busiest.asked.length],
      [3, 20, 10],
    );
    // 33 so far, the App, four for the issue, one message, one heartbeat.
    assert.equal(busiest.calls, 40);
    assert.ok(busiest.requests.some(({ path }) => path.startsWith("/heartbeat/")));
    scene.shows(poison);
    // The same again, with a gap to read, a message that is older than an hour, and a new entry.
    busy(scene, 2_600, "09:45:10", "09:59:50");
    scene.github.onAsk = ({ guid }) => (guid === failing[30] ? { status: 404 } : {});
    const ticks = await scene.ticks("09:00", "10:15");
    assert.ok(ticks.every(({ calls, asked: guids }) => calls <= 50 && guids.length <= 10));
  });

  test("at the least limit one page of all deliveries is read, and ten asks and the alarm still fit", async (t) => {
    const scene = await opened(t, { settings: { SUBREQUEST_LIMIT: "26" } });
    scene.github.endpoint = () => 500;
    const poison = scene.fails("08:05");
    await scene.ticks("08:15", "08:30");
    for (let index = 0; index < 250; index += 1) scene.fails(at("08:31") + index * 1_000, 500, { event: "push" });
    const tick = await scene.tickAt("08:45");
    assert.deepEqual([tick.sweep.failures_list.pages, tick.sweep.deliveries_list.pages, tick.sweep.gaps], [3, 1, 1]);
    assert.equal(tick.asked.length, 10);
    const ticks = await scene.ticks("09:00", "09:45");
    assert.equal(ticks.at(-1).sweep.call_limit, 26);
    assert.ok(scene.messages().at(-1).text.includes(poison));
  });

  test("pages shorter than asked for, empty ones and items in any order are read as they are", async (t) => {
    const scene = await opened(t);
    scene.github.pageLimit = 7;
    const guids = [0, 1, 2, 3].map((index) => scene.fails(at("08:01") + index * 1_000, 0));
    busy(scene, 60, "08:02", "08:14");
    scene.github.fault(
      { path: "/app/hook/deliveries" },
      (answer) => ({ ...answer, body: answer.body.toReversed() }),
      99,
    );
    // One page comes without its items, but with its next link; the failures list is the first call.
    let calls = 0;
    const empty = (answer) => ({ ...answer, body: [] });
    scene.github.fault(() => ++calls === 3, empty);
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(tick.asked, guids);
    assert.equal(tick.sweep.gaps, 0);
  });
});
