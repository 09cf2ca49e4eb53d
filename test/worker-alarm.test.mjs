// What a person is told when an event gives up, and when it is well again (specification, sections 4 and 8).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, CHAT, CONTROL_REPO, openScene } from "./worker/scene.mjs";

/** A scene in which every redelivery fails, and events that failed at these times. */
async function poisoned(t, clocks, options) {
  const scene = await openScene(t, options);
  scene.github.endpoint = () => 500;
  await scene.tickAt("08:00");
  return { scene, guids: clocks.map((clock) => scene.fails(clock)) };
}

describe("the alarm of events that gave up", { concurrency: 2 }, () => {
  test("the third attempt fails: one entry in both channels, one sound, and no further ask for three days", async (t) => {
    const { scene, guids } = await poisoned(t, ["08:05:07.123"]);
    const ticks = await scene.ticks("08:15", "10:00");
    assert.deepEqual(
      ticks.map(({ asked }) => asked.length),
      [1, 1, 0, 0, 0, 0, 0, 0],
    );
    // Each ask was made on the newest attempt.
    const ids = scene.github.attempts(guids[0]).map(({ id }) => id);
    assert.deepEqual(
      scene.github.asks.map(({ id }) => id),
      ids.slice(0, 2),
    );
    const gaveUp = ticks.flatMap(({ logs }) => logs.filter(({ message }) => message === "gave_up"));
    assert.deepEqual(gaveUp, [
      { message: "gave_up", app: "1234567", guid: guids[0], event: "issue_comment", action: "created", attempts: 3 },
    ]);
    scene.shows(...guids);
    assert.deepEqual(
      [scene.messages().length, scene.telegram.sounds(CHAT), scene.github.issues(CONTROL_REPO).length],
      [1, 1, 1],
    );
    const [message] = scene.messages();
    for (const text of ["issue_comment", "created", guids[0], "2026-11-02 08:05 UTC", "500, 500, 500"]) {
      assert.ok(message.text.includes(text), `Telegram says ${text}`);
      assert.ok(scene.openIssue().body.includes(text), `the issue says ${text}`);
    }
    const link = "https://github.com/settings/apps/example-app/advanced";
    assert.equal(message.reply_markup.inline_keyboard[0][0].url, link);
    assert.ok(message.entities.some(({ url }) => url === link));
    assert.ok(scene.openIssue().body.includes(`(${link})`));
    // Unchanged, the alarm costs no call and no edit.
    assert.deepEqual(
      ticks.slice(3).map(({ calls }) => calls),
      [2, 2, 2, 2, 2],
    );
    assert.equal(message.edits, 0);
    // It leaves when GitHub no longer keeps the event.
    await scene.tickAt("79:45");
    scene.shows(...guids);
    const left = await scene.tickAt("80:15");
    assert.deepEqual([left.asked, left.sweep.alarm_entries], [[], 0]);
    assert.equal(scene.openIssue(), undefined);
    assert.doesNotMatch(scene.messages().at(-1).text, /recovered/i);
    assert.deepEqual(scene.codes(guids[0]), [500, 500, 500]);
  });

  test("MAX_ATTEMPTS counts the first delivery and a maintainer's clicks", async (t) => {
    const { scene, guids } = await poisoned(t, ["08:05"], { settings: { MAX_ATTEMPTS: "4" } });
    assert.deepEqual((await scene.tickAt("08:15")).asked, guids);
    scene.now = at("08:20");
    scene.github.click(guids[0]);
    assert.deepEqual((await scene.tickAt("08:30")).asked, guids);
    assert.deepEqual(
      (await scene.ticks("08:45", "09:30")).flatMap(({ asked }) => asked),
      [],
    );
    scene.shows(...guids);
    assert.deepEqual(scene.codes(guids[0]), [500, 500, 500, 500]);
  });

  test("a later pass takes the entry out in both places: edited without a sound, closed, and said to be recovered", async (t) => {
    const { scene, guids } = await poisoned(t, ["08:05", "08:06"]);
    await scene.ticks("08:15", "09:00");
    scene.shows(...guids);
    scene.github.click(guids[0], 200);
    await scene.tickAt("09:15");
    scene.shows(guids[1]);
    assert.equal(scene.openIssue().state, "open");
    scene.github.click(guids[1], 204);
    const last = await scene.tickAt("09:30");
    assert.equal(last.sweep.alarm_entries, 0);
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
    assert.match(scene.messages()[0].text, /recovered/i);
    assert.deepEqual(
      scene.github.issues(CONTROL_REPO).map(({ state }) => state),
      ["closed"],
    );
    const after = await scene.ticks("09:45", "10:15");
    assert.ok(after.every(({ calls, asked }) => calls === 2 && asked.length === 0));
  });

  test("an entry added within the hour edits the message, one added later sends a new one that the old points to", async (t) => {
    const { scene, guids } = await poisoned(t, ["08:05", "08:20", "09:35"]);
    await scene.ticks("08:15", "08:45");
    scene.shows(guids[0]);
    await scene.tickAt("09:00");
    scene.shows(guids[0], guids[1]);
    assert.deepEqual([scene.messages().length, scene.messages()[0].edits, scene.telegram.sounds(CHAT)], [1, 1, 1]);
    await scene.ticks("09:15", "10:15");
    scene.shows(...guids);
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [2, 2]);
    const [old, current] = scene.messages();
    assert.ok(old.entities.some(({ url }) => url === `https://t.me/c/1234567890/${current.message_id}`));
    assert.deepEqual([old.text.includes(guids[0]), old.reply_markup], [false, undefined]);
    // One issue stands through all of it.
    assert.equal(scene.github.issues(CONTROL_REPO).length, 1);
    for (const guid of guids) scene.github.click(guid, 200);
    await scene.tickAt("10:30");
    assert.match(current.text, /Recovered after .*: all 3/);
    assert.equal(scene.openIssue(), undefined);
    // The next entry is a new alarm.
    const later = scene.fails("10:35");
    await scene.ticks("10:45", "11:15");
    scene.shows(later);
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [3, 3]);
    assert.equal(scene.github.issues(CONTROL_REPO).length, 2);
  });

  const owners = [
    [
      { login: "acme", type: "Organization" },
      "https://github.com/organizations/acme/settings/apps/example-app/advanced",
    ],
    [{ slug: "acme-corp", type: "Enterprise" }, "https://github.com/apps/example-app"],
  ];
  for (const [owner, link] of owners) {
    test(`the link of an App that ${owner.type === "Organization" ? "an organization" : "an enterprise"} owns`, async (t) => {
      const { scene } = await poisoned(t, ["08:05"], { settings: { MAX_ATTEMPTS: "2" }, github: { app: { owner } } });
      await scene.ticks("08:15", "08:30");
      assert.equal(scene.messages()[0].reply_markup.inline_keyboard[0][0].url, link);
      assert.ok(scene.openIssue().body.includes(`(${link})`));
    });
  }

  test("the link is read once a day, and the last known one does if it cannot be read", async (t) => {
    const { scene, guids } = await poisoned(t, ["08:05", "09:05", "33:05"]);
    const ticks = [...(await scene.ticks("08:15", "10:00")), ...(await scene.ticks("32:00", "33:00"))];
    const reads = (list) => list.flatMap(({ requests }) => requests.filter(({ path }) => path === "/app")).length;
    assert.equal(reads(ticks), 1);
    scene.github.fault({ path: "/app" }, { status: 500 }, 5);
    await scene.ticks("33:15", "34:00");
    scene.shows(...guids);
    assert.equal(
      scene.messages().at(-1).reply_markup.inline_keyboard[0][0].url,
      "https://github.com/settings/apps/example-app/advanced",
    );
  });

  test("an alarm whose link was never read goes out without one", async (t) => {
    const { scene, guids } = await poisoned(t, ["08:05"], { settings: { MAX_ATTEMPTS: "2" } });
    scene.github.fault({ path: "/app" }, { status: 503 }, 9);
    const [, told] = await scene.ticks("08:15", "08:30");
    scene.shows(...guids);
    assert.equal(told.outcome, "ok");
    const buttons = scene.messages()[0].reply_markup?.inline_keyboard.flat() ?? [];
    assert.ok(buttons.every(({ url }) => !url.includes("/advanced")));
  });
});
