// A newer event that passed overtakes an older one of its kind (specification, section 6).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, opened } from "./worker/scene.mjs";

const KINDS = [
  "workflow_run",
  "check_suite",
  "check_run",
  "code_scanning_alert",
  "issues",
  "pull_request",
  "discussion",
  "release",
];
const OTHERS = [
  "issue_comment",
  "pull_request_review_comment",
  "discussion_comment",
  "push",
  "workflow_job",
  "an_event_of_2031",
];
const ROOM = { MAX_REDELIVERIES: "40", SUBREQUEST_LIMIT: "100" };

const asked = (ticks) => ticks.flatMap((tick) => tick.asked);

describe("which event overtakes which", { concurrency: 2 }, () => {
  test("every kind of the set is overtaken in its own repository; no other repository, no null, no other kind", async (t) => {
    const scene = await opened(t, { settings: ROOM });
    const names = new Map();
    const fails = (name, more) => names.set(scene.fails("08:05", 500, more), name);
    for (const event of KINDS) {
      fails(`${event} overtaken`, { event, repositoryId: 1 });
      fails(`${event} in another repository`, { event, repositoryId: 2 });
      fails(`${event} without a repository`, { event, repositoryId: null });
      scene.delivers("08:06", { event, repositoryId: 1 });
      scene.delivers("08:06", { event, repositoryId: null });
    }
    for (const event of OTHERS) {
      fails(`${event}`, { event, repositoryId: 1 });
      scene.delivers("08:06", { event, repositoryId: 1 });
    }
    const tick = await scene.tickAt("08:15");
    const again = (event) => [`${event} in another repository`, `${event} without a repository`];
    assert.deepEqual(tick.asked.map((guid) => names.get(guid)).sort(), [...KINDS.flatMap(again), ...OTHERS].sort());
    assert.equal(tick.sweep.events.superseded, KINDS.length);
    assert.deepEqual(asked(await scene.ticks("08:30", "09:15")), []);
    assert.deepEqual(scene.messages(), []);
  });

  test("one kind does not overtake another, nor a newer one that failed an older", async (t) => {
    const scene = await opened(t);
    const old = scene.fails("08:05", 500, { event: "check_run" });
    scene.delivers("08:06", { event: "check_suite" });
    const newer = scene.fails("08:07", 500, { event: "check_run" });
    assert.deepEqual((await scene.tickAt("08:15")).asked, [old, newer]);
  });

  test("an older event whose redelivery passes late does not overtake a newer one", async (t) => {
    const scene = await opened(t);
    const old = scene.fails("08:05", 500, { event: "pull_request" });
    const newer = scene.fails("08:06", 500, { event: "pull_request" });
    scene.github.endpoint = ({ guid, attemptNumber }) => (guid === old || attemptNumber === 3 ? 200 : 500);
    assert.deepEqual((await scene.tickAt("08:15")).asked, [old, newer]);
    const next = await scene.tickAt("08:30");
    assert.deepEqual([next.asked, next.sweep.events.superseded], [[newer], 0]);
    assert.deepEqual(scene.codes(newer), [500, 500]);
    assert.deepEqual(asked(await scene.ticks("08:45", "09:15")), []);
    assert.deepEqual(scene.codes(newer), [500, 500, 200]);
  });

  test("a newer event whose redelivery passes overtakes an older one that still fails", async (t) => {
    const scene = await opened(t);
    const old = scene.fails("08:05", 500, { event: "pull_request" });
    const newer = scene.fails("08:06", 500, { event: "pull_request" });
    scene.github.endpoint = ({ guid }) => (guid === newer ? 200 : 500);
    assert.deepEqual((await scene.tickAt("08:15")).asked, [old, newer]);
    const next = await scene.tickAt("08:30");
    assert.deepEqual([next.asked, next.sweep.events.superseded], [[], 1]);
    assert.deepEqual(asked(await scene.ticks("08:45", "09:15")), []);
  });

  test("of two at the same time the higher id is the newer, also beyond what a double tells apart", async (t) => {
    const scene = await opened(t);
    const same = { at: at("08:05"), event: "release" };
    const deliver = (repositoryId, id, code) => scene.github.deliver({ ...same, repositoryId, id, code }).guid;
    deliver(1, 3870570949141069831n, 500);
    deliver(1, 3870570949141069832n, 200);
    const newer = deliver(2, 3870570949141069834n, 500);
    deliver(2, 3870570949141069833n, 200);
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.asked, tick.sweep.events.superseded], [[newer], 1]);
    assert.equal(scene.github.asks[0].id, "3870570949141069834");
  });

  test("where one item has no milliseconds, all are compared by whole seconds", async (t) => {
    const [plain, mixed] = [await opened(t), await opened(t)];
    for (const scene of [plain, mixed]) {
      // By milliseconds the failed one is the newer, by seconds and ids the older.
      const one = { event: "release", repositoryId: 1 };
      scene.guid = scene.github.deliver({ ...one, at: at("08:05:00.900"), id: 3870570949141069831n, code: 500 }).guid;
      scene.github.deliver({ ...one, at: at("08:05:00.100"), id: 3870570949141069832n, code: 200 });
    }
    mixed.delivers("08:10", { wholeSeconds: true });
    assert.deepEqual((await plain.tickAt("08:15")).asked, [plain.guid]);
    assert.deepEqual((await mixed.tickAt("08:15")).asked, []);
  });

  test("an event that gave up keeps its entry, though the same sweep learns that a newer one passed", async (t) => {
    const scene = await opened(t);
    scene.github.endpoint = () => 500;
    const guid = scene.fails("08:05", 500, { event: "workflow_run" });
    assert.deepEqual(asked(await scene.ticks("08:15", "08:30")), [guid, guid]);
    scene.delivers("08:40", { event: "workflow_run" });
    await scene.tickAt("08:45");
    scene.shows(guid);
    scene.delivers("08:50", { event: "workflow_run" });
    await scene.tickAt("09:00");
    scene.shows(guid);
  });

  test("SUPERSEDED_EVENTS replaces the set, and none empties it", async (t) => {
    const replaced = await opened(t, { settings: { SUPERSEDED_EVENTS: "push,workflow_job" } });
    const none = await opened(t, { settings: { SUPERSEDED_EVENTS: "none" } });
    for (const scene of [replaced, none]) {
      scene.guids = ["push", "issues", "workflow_job"].map((event) => scene.fails("08:05", 500, { event }));
      for (const event of ["push", "issues", "workflow_job"]) scene.delivers("08:06", { event });
    }
    assert.deepEqual((await replaced.tickAt("08:15")).asked, [replaced.guids[1]]);
    assert.deepEqual((await none.tickAt("08:15")).asked, none.guids);
  });

  test("a kind that is added to the set overtakes only with events first delivered after the change was seen", async (t) => {
    const scene = await opened(t);
    scene.github.endpoint = () => 500;
    const guid = scene.fails("08:05", 500, { event: "push" });
    scene.delivers("08:06", { event: "push" });
    assert.deepEqual((await scene.tickAt("08:15")).asked, [guid]);
    await scene.worker.restart({ bindings: { ...scene.bindings, SUPERSEDED_EVENTS: "push", MAX_ATTEMPTS: "9" } });
    assert.deepEqual((await scene.tickAt("08:30")).asked, [guid]);
    scene.delivers("08:35", { event: "push" });
    const tick = await scene.tickAt("08:45");
    assert.deepEqual([tick.asked, tick.sweep.events.superseded], [[], 1]);
  });
});
