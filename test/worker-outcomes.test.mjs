// Section 2 of the specification, end to end: what each answer of the endpoint leads to.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, openScene } from "./worker/scene.mjs";

const PASSED = [200, 201, 202, 204, 299];
const REFUSED = [300, 301, 302, 307, 399, 400, 401, 403, 404, 408, 410, 422, 429, 499];
const FAILED = [500, 501, 503, 505, 519, 528, 529, 531, 599];
const UNANSWERED = [0, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530, 100, 199, 600, 999];

/** One event for each code, a second apart, the codes by guid. */
function deliver(scene, codes) {
  const time = at("08:05");
  return new Map(codes.map((code, index) => [scene.fails(time + index * 1000, code), code]));
}

const ascending = (codes) => codes.toSorted((a, b) => a - b);

describe("what an answer of the endpoint leads to", { concurrency: 2 }, () => {
  test("every failed or unanswered code is asked for again, no passed or refused one", async (t) => {
    const scene = await openScene(t, { settings: { MAX_REDELIVERIES: "30", SUBREQUEST_LIMIT: "100" } });
    await scene.tickAt("08:00");
    const codes = deliver(scene, [...PASSED, ...REFUSED, ...FAILED, ...UNANSWERED]);
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(ascending(tick.asked.map((guid) => codes.get(guid))), ascending([...FAILED, ...UNANSWERED]));
    assert.equal(tick.sweep.events.refused, REFUSED.length);
    assert.equal(tick.sweep.events.redelivered, FAILED.length + UNANSWERED.length);
    assert.equal(tick.sweep.alarm_entries, 0);
    // GitHub's list now shows them as passed, so nothing of all that is asked for ever again.
    const later = await scene.ticks("08:30", "09:15");
    assert.deepEqual(
      later.flatMap(({ asked }) => asked),
      [],
    );
    assert.equal(later[0].sweep.events.recovered, FAILED.length + UNANSWERED.length);
    assert.deepEqual(scene.messages(), []);
  });

  test("a code in RETRY_STATUS is asked for again, its neighbours are not", async (t) => {
    const scene = await openScene(t, { settings: { RETRY_STATUS: "408, 429,302" } });
    await scene.tickAt("08:00");
    const codes = deliver(scene, [302, 303, 407, 408, 409, 428, 429, 430]);
    const tick = await scene.tickAt("08:15");
    assert.deepEqual(ascending(tick.asked.map((guid) => codes.get(guid))), [302, 408, 429]);
    assert.equal(tick.sweep.events.refused, 5);
  });

  test("a delivery with code 0 is found although status=failure hides it", async (t) => {
    const scene = await openScene(t);
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05", 0);
    const tick = await scene.tickAt("08:15");
    const hidden = tick.requests.find(({ query }) => query?.status === "failure");
    assert.ok(hidden.bytes <= 2, "the failures list is empty");
    assert.deepEqual(tick.asked, [guid]);
    assert.deepEqual((await scene.tickAt("08:30")).asked, []);
    assert.deepEqual(scene.codes(guid), [0, 200]);
  });

  test("a redelivery that the endpoint refuses ends the asking for its event, without an entry", async (t) => {
    const scene = await openScene(t);
    scene.github.endpoint = () => 410;
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05", 503);
    assert.deepEqual((await scene.tickAt("08:15")).asked, [guid]);
    const later = await scene.ticks("08:30", "09:00");
    assert.deepEqual(
      later.flatMap(({ asked }) => asked),
      [],
    );
    assert.equal(later[0].sweep.events.refused, 1);
    assert.deepEqual(scene.codes(guid), [503, 410]);
    assert.deepEqual(scene.messages(), []);
  });

  test("an event that passed is never asked for, though an older attempt failed and a click fails later", async (t) => {
    const scene = await openScene(t);
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05", 500);
    scene.now = at("08:07");
    scene.github.click(guid, 200);
    scene.now = at("08:08");
    scene.github.click(guid, 500);
    const ticks = await scene.ticks("08:15", "09:00");
    assert.deepEqual(
      ticks.flatMap(({ asked }) => asked),
      [],
    );
  });
});
