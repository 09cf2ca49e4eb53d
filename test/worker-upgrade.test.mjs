// From one version of the Worker to another, forwards, backwards, and in the middle of a sweep (specification, sections 9 and 10).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { read } from "./operator/pages.mjs";
import { at, CHAT, CONTROL_REPO, isAsk, isList, opened } from "./worker/scene.mjs";
import { readState, VERSION } from "./worker/stored.mjs";
import {
  afternoon,
  cutOff,
  endpointIsBack,
  keptMidSweep,
  keptState,
  keptVersions,
  morning,
  version,
} from "./worker/upgrade.mjs";

/** Every place in a JSON value at which something stands, whatever it is; all items of a list count as one. */
function form(value, path = "") {
  if (value === null || typeof value !== "object") return [path];
  const inside = Object.entries(value).flatMap(([key, part]) =>
    form(part, Array.isArray(value) ? path : `${path}.${key}`),
  );
  return [...new Set(inside.length > 0 ? inside : [path])].sort();
}

/** Puts what an older version stored in place of what this one did, whose numbers it must know. */
async function takeOver(scene, stored) {
  const { ledger, alarm } = readState(stored.state);
  for (const [, id] of ledger.events.flatMap(({ t }) => t)) assert.ok(scene.github.deliveries.byId.has(BigInt(id)), id);
  assert.equal(alarm.telegram.message_id, scene.messages().at(-1).message_id);
  assert.equal(alarm.control_repo.issue.number, scene.openIssue().number);
  for (const [key, text] of Object.entries(stored)) await scene.worker.writeState(key, text);
}

describe("from one version to another", () => {
  test("each released version has a state that is kept, and the newest is of the form that this Worker writes", async (t) => {
    const released = [...read("CHANGELOG.md").matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, number]) => number).reverse();
    assert.deepEqual(keptVersions(), released);
    assert.equal(released.at(-1), version);
    const { scene } = await morning(t);
    const stored = await scene.worker.state();
    assert.deepEqual(Object.keys(stored), Object.keys(keptState(version)));
    assert.deepEqual(form(JSON.parse(stored.state)), form(JSON.parse(keptState(version).state)));
  });

  for (const of of keptVersions()) {
    test(`a state that ${of} wrote goes on: nothing is lost, asked for twice or told again`, async (t) => {
      const day = await morning(t);
      await takeOver(day.scene, keptState(of));
      await afternoon(day, "11:45");
    });
  }

  for (const of of keptVersions()) {
    test(`a sweep that ${of} began and this version finds cut off: nothing is lost, asked for twice or told again`, async (t) => {
      const day = await morning(t);
      await afternoon(day, "12:00", async () => {
        await cutOff(day);
        const stored = keptMidSweep(of);
        assert.ok(stored.lease, "it is under way");
        await takeOver(day.scene, stored);
      });
    });
  }

  test("a state of a newer version is refused in a sentence, stays to the last byte, and goes on under that version again", async (t) => {
    const day = await morning(t);
    const { scene } = day;
    const older = await scene.worker.state("state");
    const newer = JSON.stringify({
      ...JSON.parse(older),
      version: VERSION + 1,
      something: { of: "the newer version" },
    });
    await scene.worker.writeState("state", newer);
    const told = scene.messages().length;
    endpointIsBack(day);
    for (const clock of ["11:45", "12:00"]) {
      const tick = await scene.tickAt(clock);
      assert.deepEqual([tick.outcome, tick.sweep.failure, tick.asked], ["exception", "state", []]);
      assert.match(
        tick.lines.join("\n"),
        new RegExp(
          `the stored state has version ${VERSION + 1}, newer than this Worker's; deploy the newer Worker again`,
        ),
      );
      assert.equal(await scene.worker.state("state"), newer);
    }
    assert.match(scene.messages().at(-1).text, /the recovery itself fails/);
    assert.equal(scene.messages().length, told + 1, "the second failure in a row is told");
    // What the newer version, deployed again, reads of it.
    await scene.worker.writeState("state", older);
    await afternoon(day, "12:15");
  });

  // What a deploy does to a sweep under way, at its worst: the object is gone at once, and the new version finds what was stored.
  for (const [name, isCut, step] of [
    ["reads a list", isList, "hang"],
    ["has made its ask", isAsk, "hang-after"],
    [
      "opens the issue",
      ({ method, path }) => method === "POST" && path === `/repos/${CONTROL_REPO}/issues`,
      "hang-after",
    ],
  ]) {
    test(`a deploy while a sweep ${name} loses nothing and repeats nothing`, async (t) => {
      const scene = await opened(t, { settings: { MAX_ATTEMPTS: "2" } });
      scene.github.endpoint = ({ event }) => (event === "push" ? 500 : 200);
      const poison = scene.fails("08:05", 500, { event: "push" });
      scene.now = at("08:06");
      scene.github.click(poison, 500);
      const fails = scene.fails("08:07");
      assert.equal((await scene.killedAt("08:15", { call: isCut, step })).outcome, "killed");
      await scene.ticks("08:30", "09:30");
      assert.deepEqual(scene.codes(fails), [500, 200]);
      assert.deepEqual(
        scene.github.asks.map(({ guid }) => guid),
        [fails],
      );
      scene.shows(poison);
      assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
      assert.equal(scene.github.issues(CONTROL_REPO).length, 1);
      assert.deepEqual(Object.keys(await scene.worker.state()), ["history", "state"]);
    });
  }
});
