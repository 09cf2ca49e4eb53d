// The endpoint refuses everything, which is no entry of any event (specification, section 8).

import assert from "node:assert/strict";
import { test } from "node:test";
import { ENTER, newest, on, openActs, quiet, readable, sweep } from "./worker/alarm.mjs";
import { CHAT } from "./worker/scene.mjs";

/** So many refusals with these codes, evenly from one time to another. */
function refuses(scene, count, from, to, codes) {
  const [start, end] = [on(scene, from), on(scene, to)];
  for (let index = 0; index < count; index += 1) {
    const time = start + Math.round(((end - start) * index) / (count - 1));
    scene.fails(time, codes[index % codes.length]);
  }
}

test("the endpoint refuses everything", async (t) => {
  const act = await openActs(t);

  await act(
    "ten times over half an hour: one entry with the codes and since when, and nothing is asked for",
    async (scene) => {
      refuses(scene, 10, "08:05", "08:35", [401, 403]);
      await quiet(scene, "08:30");
      const raised = await sweep(scene, "08:45");
      assert.deepEqual([raised.asked, raised.sweep.alarm_entries], [[], 1]);
      const told = `the endpoint answers with 401 and 403 since ${readable(scene, "08:05")}.`;
      for (const text of [newest(scene), scene.openIssue().body]) {
        assert.ok(text.includes(told), text);
        assert.match(text, /webhook secret/);
      }
      const headline = `example-app: the endpoint refuses everything (since ${readable(scene, "08:05")})`;
      assert.ok(newest(scene).startsWith(`🔴 ${headline}\n`));
      assert.equal(scene.openIssue().title, headline);
      // More of the same changes nothing, another code is an edit.
      refuses(scene, 5, "08:46", "08:55", [401]);
      await quiet(scene, "09:00");
      refuses(scene, 2, "09:01", "09:05", [404]);
      assert.deepEqual((await sweep(scene, "09:15")).told, [...ENTER, "PATCH 1", "editMessageText"]);
      assert.match(newest(scene), /401, 403 and 404/);
      // The first pass takes it out; nothing of what was refused has recovered by that.
      scene.delivers(on(scene, "09:20"));
      const left = await sweep(scene, "09:30");
      assert.deepEqual([left.asked, left.sweep.alarm_entries], [[], 0]);
      assert.equal(newest(scene), "🟢 Nothing is open any more.");
      assert.equal(scene.openIssue(), undefined);
      assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
      await quiet(scene, "09:45");
    },
  );

  await act("nine times, or for less than half an hour, or with a pass among them: no entry", async (scene) => {
    refuses(scene, 9, "08:01", "08:40", [401]);
    await quiet(scene, "08:45");
    scene.delivers(on(scene, "08:50"));
    refuses(scene, 40, "08:51", "09:20", [401]);
    await quiet(scene, "09:30");
    scene.delivers(on(scene, "09:30:30"));
    refuses(scene, 8, "09:31", "10:05", [401]);
    await quiet(scene, "10:15");
    // The tenth over all of it, but the second pass lies between.
    scene.fails(on(scene, "10:20"), 401);
    await quiet(scene, "10:30");
  });

  await act("again after a pass: a new entry, since the first refusal after it", async (scene) => {
    refuses(scene, 12, "08:01", "08:40", [401]);
    await sweep(scene, "08:45");
    scene.delivers(on(scene, "08:50"));
    await sweep(scene, "09:00");
    refuses(scene, 12, "09:01", "09:40", [410]);
    assert.deepEqual((await sweep(scene, "09:45")).toTelegram, ["sendMessage"]);
    assert.ok(newest(scene).includes(`the endpoint answers with 410 since ${readable(scene, "09:01")}.`));
    assert.equal(scene.telegram.sounds(CHAT), 2);
  });
});
