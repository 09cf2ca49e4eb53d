// Writing the issue makes GitHub deliver an `issues` event to the App itself: the alarm must not feed itself
// (specification, section 8).

import assert from "node:assert/strict";
import { test } from "node:test";
import { breaks, clicks, on, openActs, quiet, sweep } from "./worker/alarm.mjs";
import { CONTROL_REPO } from "./worker/scene.mjs";

/** A person's event of the control repository passes at its third attempt; after it something breaks. Returns its guid. */
function failsTwice(scene) {
  const repositoryId = scene.github.repository(CONTROL_REPO).id;
  const persons = scene.fails(on(scene, "08:04"), 500, { event: "issues", action: "labeled", repositoryId });
  breaks(scene, "08:05", { event: "push" });
  scene.github.endpoint = ({ guid, attemptNumber }) => (guid === persons && attemptNumber < 3 ? 500 : 200);
  return persons;
}

test("our own events", async (t) => {
  // GitHub takes its time, but less than two minutes.
  const github = { subscribesToIssues: true, issueEventDelayMs: 100_000 };
  const act = await openActs(t, { settings: { MAX_ATTEMPTS: "3" }, github });
  /** The events of the control repository in this act, each with the codes of its attempts. */
  const heard = (scene) =>
    [...scene.github.deliveries.byGuid.values()]
      .filter(([{ event, at }]) => event === "issues" && at > on(scene, "08:03"))
      .map((attempts) => [attempts[0].action, ...attempts.map(({ code }) => code)].join(" "));

  await act(
    "fail at the endpoint like all others: never asked for, never an entry, and no further write",
    async (scene) => {
      scene.github.endpoint = () => 500;
      const guids = [breaks(scene, "08:05")];
      const all = [await sweep(scene, "08:15")];
      await quiet(scene, "08:30");
      assert.deepEqual(heard(scene), ["opened 500"]);
      guids.push(breaks(scene, "08:35"));
      all.push(await sweep(scene, "08:45"));
      await quiet(scene, "09:00");
      clicks(scene, guids[0], "09:05");
      all.push(await sweep(scene, "09:15"));
      await quiet(scene, "09:30");
      clicks(scene, guids[1], "09:35");
      all.push(await sweep(scene, "09:45"));
      for (const clock of ["10:00", "10:15", "13:00", "80:15"]) {
        const tick = await quiet(scene, clock);
        assert.deepEqual([tick.asked, tick.sweep.alarm_entries], [[], 0]);
      }
      // The end is an edit and a closing in one write, and two events.
      assert.deepEqual(heard(scene), ["opened 500", "edited 500", "edited 500", "edited 500", "closed 500"]);
      assert.deepEqual(
        all.map(({ sweep: line }) => line.alarm_entries),
        [1, 2, 1, 0],
      );
      assert.ok(all.every(({ asked }) => asked.length === 0));
    },
  );

  await act("of a write whose answer was lost are ours too: not asked for, and no entry", async (scene) => {
    scene.github.endpoint = () => 500;
    const guid = breaks(scene, "08:05");
    scene.github.fault({ method: "POST", path: `/repos/${CONTROL_REPO}/issues` }, "lost-answer");
    const all = [await sweep(scene, "08:15")];
    // And it takes a while until GitHub can be asked what became of the write.
    scene.github.fault({ path: /\/installation$/ }, "reset", 2);
    for (const clock of ["08:30", "08:45", "09:00", "09:15"]) all.push(await sweep(scene, clock));
    assert.deepEqual(
      [heard(scene)[0], all.map(({ sweep: line }) => line.alarm_entries)],
      ["opened 500", [1, 1, 1, 1, 1]],
    );
    scene.shows(guid);
  });

  await act("of a write whose answer was lost are ours too, and overtake nothing", async (scene) => {
    const persons = failsTwice(scene);
    scene.github.fault({ method: "POST", path: `/repos/${CONTROL_REPO}/issues` }, "lost-answer");
    assert.deepEqual((await sweep(scene, "08:15")).asked, [persons]);
    assert.deepEqual((await sweep(scene, "08:30")).asked, [persons]);
    assert.deepEqual(heard(scene), ["labeled 500 500", "opened 200"]);
  });

  await act("of a sweep that was killed before it could save its write are ours too, and no entry", async (scene) => {
    scene.github.endpoint = () => 500;
    const guid = breaks(scene, "08:05");
    const call = ({ method, path }) => method === "POST" && path === `/repos/${CONTROL_REPO}/issues`;
    await scene.killedAt(on(scene, "08:15"), { call, step: "hang-after" });
    const all = [];
    // The first one reads them before it can know.
    for (const clock of ["08:30", "08:45", "09:00", "09:15"]) all.push(await sweep(scene, clock));
    assert.deepEqual(heard(scene), ["opened 500 500"]);
    assert.ok(all.every(({ sweep: line }) => line.alarm_entries === 1));
    scene.shows(guid);
  });

  for (const [clock, what] of [
    ["08:15:10", "just after our write"],
    ["08:20", "of nobody's write but theirs"],
  ]) {
    await act(`are counted once, whatever a later edit finds: a person's, ${what}, comes back`, async (scene) => {
      scene.github.endpoint = ({ action, attemptNumber }) => (action === "labeled" && attemptNumber === 3 ? 200 : 500);
      breaks(scene, "08:05");
      await sweep(scene, "08:15");
      scene.now = on(scene, clock);
      scene.github.person.edit(CONTROL_REPO, scene.openIssue().number, { labels: ["night"] });
      // The sweep of 08:30 is killed at once. The next one edits the issue once more, which changes nothing.
      const lease = { taken_at: on(scene, "08:30"), until: on(scene, "08:44"), killed_in_a_row: 0 };
      await scene.worker.writeState("lease", JSON.stringify(lease));
      const first = await sweep(scene, "08:45");
      assert.deepEqual([first.asked.length, first.told.includes("PATCH 1")], [1, true]);
      assert.deepEqual((await sweep(scene, "09:00")).asked, first.asked);
      await sweep(scene, "09:15");
      assert.deepEqual(heard(scene), ["opened 500", "labeled 500 500 200"]);
    });
  }

  await act("pass, and overtake nothing: an older event of the repository is asked for all the same", async (scene) => {
    const persons = failsTwice(scene);
    assert.deepEqual((await sweep(scene, "08:15")).asked, [persons]);
    assert.deepEqual((await sweep(scene, "08:30")).asked, [persons]);
    await quiet(scene, "08:45");
    assert.deepEqual(heard(scene), ["labeled 500 500 200", "opened 200"]);
  });

  await act(
    "a person's event in the control repository is anybody's, though it is close to our write",
    async (scene) => {
      scene.github.endpoint = () => 500;
      const poison = breaks(scene, "08:05");
      await sweep(scene, "08:15");
      scene.now = on(scene, "08:15:10");
      scene.github.person.edit(CONTROL_REPO, 1, { labels: ["night"] });
      const [guid, ...others] = (await sweep(scene, "08:30")).asked;
      assert.deepEqual([scene.github.deliveries.byGuid.get(guid)[0].action, others], ["labeled", []]);
      assert.deepEqual((await sweep(scene, "08:45")).asked, [guid]);
      await sweep(scene, "09:00");
      scene.shows(poison, guid);
      await quiet(scene, "09:15");
      assert.deepEqual(heard(scene), ["opened 500", "labeled 500 500 500", "edited 500"]);
    },
  );
});
