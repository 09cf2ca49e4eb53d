// An endpoint that is down: no attempt is wasted, no event is forgotten, one person is woken once (specification, section 5).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, opened, openScene } from "./worker/scene.mjs";

/** What GitHub lists of an endpoint that does not answer. Only the code 0 is not in the list of failures. */
const DOWN = [0, 502, 504, 521, 530];

/** An endpoint that is down from one time to another. */
function down(from, to, otherwise = () => 200) {
  return (context) =>
    at(from) <= context.at && context.at < at(to) ? DOWN[context.at % DOWN.length] : otherwise(context);
}

/** A scene whose first sweep was at 21:00, with `count` events of the hours from 22 to 6, and one delivery that ends the night. */
async function night(t, { count, settings, endpoint }) {
  const scene = await openScene(t, { settings: { CONTROL_REPO: undefined, ...settings } });
  scene.github.endpoint = endpoint ?? down("22:00", "30:00");
  await scene.tickAt("21:00");
  scene.delivers("21:50", { code: undefined });
  const guids = [];
  for (let index = 0; index < count; index += 1) {
    const time = at("22:00") + Math.floor(((index + 0.5) / count) * 8 * 3_600_000);
    guids.push(scene.delivers(time, { code: undefined, repositoryId: 1 + (index % 9) }));
  }
  scene.delivers("30:05", { code: undefined });
  return { scene, guids };
}

const passed = (scene, guids) => guids.filter((guid) => scene.codes(guid).at(-1) === 200).length;

const sum = (ticks, verdict) => ticks.reduce((total, { sweep }) => total + sweep.events[verdict], 0);

/** The sounds that a person heard. */
const pages = (scene) => scene.messages().filter(({ sentSilently }) => !sentSilently);

describe("outages", { concurrency: 2 }, () => {
  test("a night down with 400 waiting events: all pass in the morning, and one message came", async (t) => {
    const { scene, guids } = await night(t, { count: 400 });
    const dark = await scene.ticks("21:15", "30:00");
    assert.equal(passed(scene, guids), 0);
    assert.ok(
      dark.slice(9).every(({ asked }) => asked.length <= 1),
      "only a probe while it is down",
    );
    const probes = dark.slice(20).flatMap(({ asked }) => asked).length;
    assert.ok(probes >= 3 && probes <= 5, `once an hour after three hours: ${probes}`);
    assert.equal(pages(scene).length, 1);
    assert.match(
      scene.messages()[0].text,
      /^🔴 example-app: the endpoint does not answer, 3\d\d webhook events wait \(since 2026-11-02 22:00 UTC\)\n/,
    );
    const morning = await scene.ticks("30:15", "41:00");
    assert.equal(passed(scene, guids), 400);
    assert.ok(morning.every(({ asked }) => asked.length <= 10));
    assert.deepEqual(
      [sum(morning, "gave_up"), sum(morning, "left_behind"), sum(morning, "not_redeliverable")],
      [0, 0, 0],
    );
    assert.equal(pages(scene).length, 1);
    assert.equal(morning.at(-1).sweep.alarm_entries, 0);
    assert.ok(!("lost_time" in (await scene.state()).ledger.ground), "the window has moved on");
  });

  test("5,000 waiting events and 200 asks a sweep: all pass", async (t) => {
    const settings = { MAX_REDELIVERIES: "200", SUBREQUEST_LIMIT: "10000" };
    const { scene, guids } = await night(t, { count: 5000, settings });
    const dark = await scene.ticks("21:15", "30:00");
    assert.ok((await scene.worker.state("state")).length < 1_900_000);
    assert.ok(
      dark.every(({ sweep }) => sweep.events.left_behind === 0),
      "there is room for them",
    );
    const morning = await scene.ticks("30:15", "37:00");
    assert.equal(passed(scene, guids), 5000);
    assert.deepEqual([sum(morning, "gave_up"), sum(morning, "left_behind")], [0, 0]);
    assert.equal(pages(scene).length, 1);
  });

  test("5,000 waiting events and ten asks a sweep: what 72 hours can ask for waits, and the others are told at once", async (t) => {
    const { scene, guids } = await night(t, { count: 5000 });
    const ticks = [...(await scene.ticks("21:15", "30:00")), ...(await scene.ticks("30:15", "34:00"))];
    const left = sum(ticks, "left_behind");
    const last = ticks.at(-1).sweep.events;
    assert.equal(last.waiting + last.redelivered + passed(scene, guids) + left, 5000, "none is forgotten in silence");
    assert.ok(last.waiting + last.redelivered <= 2880);
    assert.ok(passed(scene, guids) >= 140);
    const told = (await scene.state()).ledger.left_behind;
    assert.equal(
      told.reduce((total, { count }) => total + count, 0),
      left,
    );
    assert.equal(told.length, 1, "one entry");
  });

  test("a state at its bound is stored and read again, and what it has no room for is told", async (t) => {
    const settings = {
      MAX_REDELIVERIES: "1000",
      SUBREQUEST_LIMIT: "10000",
      DELIVERY_PAGES: "200",
      CONTROL_REPO: undefined,
    };
    const scene = await opened(t, { settings });
    scene.github.endpoint = () => 502;
    const count = 11_500;
    for (let index = 0; index < count; index += 1) {
      scene.delivers(at("08:01") + index * 70, {
        code: undefined,
        event: "push",
        action: null,
        repositoryId: 1 + (index % 9),
      });
    }
    const [first, second] = [await scene.tickAt("08:15"), await scene.tickAt("08:30")];
    const size = (await scene.worker.state("state")).length;
    assert.ok(size > 1_000_000 && size < 1_900_000, `${size} bytes`);
    t.diagnostic(`the stored state has ${size} bytes`);
    const known = ({ sweep }) => sweep.events.waiting + sweep.events.redelivered;
    assert.ok(known(first) <= 10_000 && known(second) <= known(first));
    assert.equal(known(second) + sum([first, second], "left_behind"), count, "none is forgotten in silence");
    assert.equal(second.sweep.failure, null);
  });

  test("a poison event during an outage of others gives up, and only it", async (t) => {
    let poison;
    const endpoint = down("22:00", "24:00", ({ guid }) => (guid === poison ? 504 : 200));
    const { scene, guids } = await night(t, { count: 24, endpoint: (context) => endpoint(context) });
    poison = guids[3];
    for (let minute = 5; minute < 360; minute += 7) scene.delivers(at("24:00") + minute * 60_000, { code: undefined });
    const ticks = await scene.ticks("21:15", "30:15");
    assert.equal(passed(scene, guids), 23);
    assert.deepEqual([sum(ticks, "gave_up"), sum(ticks, "left_behind")], [1, 0]);
    assert.ok(ticks.some(({ sweep }) => sweep.attempts_not_counted > 0));
    assert.ok(scene.messages().at(-1).text.includes(poison));
  });

  test("an endpoint that always times out on a quiet App is one page, not one for each comment", async (t) => {
    const scene = await opened(t);
    scene.github.endpoint = () => 0;
    const guids = ["08:10", "13:00", "22:30", "37:00"].map((clock) => scene.delivers(clock, { code: undefined }));
    const ticks = await scene.ticks("08:15", "44:00");
    assert.equal(pages(scene).length, 1);
    assert.equal(scene.github.issues(scene.bindings.CONTROL_REPO).length, 1);
    assert.deepEqual([sum(ticks, "gave_up"), sum(ticks, "left_behind")], [0, 0]);
    assert.equal(ticks.at(-1).sweep.events.waiting + ticks.at(-1).sweep.events.redelivered, guids.length);
    scene.github.endpoint = () => 200;
    await scene.ticks("44:15", "46:30");
    assert.equal(passed(scene, guids), guids.length);
    assert.equal(scene.openIssue(), undefined);
    assert.equal(pages(scene).length, 1);
  });

  test("a pass that is only listed late is no page", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:10", 0);
    scene.github.deliver({
      guid,
      event: "issue_comment",
      action: "created",
      at: at("08:16"),
      code: 200,
      listedAfterMs: 50 * 60_000,
    });
    scene.github.onAsk = () => ({ lose: true });
    await scene.ticks("08:15", "09:30");
    assert.deepEqual(scene.messages(), []);
  });

  test("what failed while no sweep succeeded is asked for when one does", async (t) => {
    const scene = await opened(t);
    const guids = ["08:05", "09:00", "13:50"].map((clock) => scene.fails(clock));
    assert.deepEqual((await scene.tickAt("14:00")).asked, guids);
    assert.equal((await scene.tickAt("14:15")).sweep.events.recovered, 3);
    assert.deepEqual(scene.messages(), []);
  });

  test("after 72 hours an event is abandoned, and told", async (t) => {
    const scene = await opened(t, { settings: { CONTROL_REPO: undefined } });
    scene.github.endpoint = () => 522;
    scene.delivers("08:10", { code: undefined });
    const ticks = await scene.ticks("08:15", "80:45");
    assert.equal(sum(ticks, "left_behind"), 1);
    assert.ok(
      ticks.findLast(({ sweep }) => sweep.events.left_behind === 1).sweep.scheduled.startsWith("2026-11-05T08:"),
    );
    assert.equal(ticks.at(-1).sweep.alarm_entries, 1);
  });
});
