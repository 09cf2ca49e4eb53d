// Sweeps that fail in a row and not by GitHub: killed, without settings, without a state (specification, section 9).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, CHAT, CONTROL_REPO, isList, opened, openScene, quarters } from "./worker/scene.mjs";
import { VERSION } from "./worker/stored.mjs";

/** A sweep that is ended while it reads. */
const killed = (scene, time) => scene.killedAt(time, { call: isList });

/** First lines of the newest message and of the open issue. */
const told = (scene) => [scene.messages().at(-1)?.text.split("\n")[0], scene.openIssue()?.title];

describe("sweeps that fail by themselves", { concurrency: 1 }, () => {
  test("killed at every tick: told once, by the one that finds two, and over with the one that finishes", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    const line = "example-app: the recovery itself fails (since 2026-11-02 08:15 UTC)";
    for (const time of quarters("08:15", "08:30")) await killed(scene, time);
    assert.deepEqual(told(scene), [undefined, undefined]);
    for (const time of quarters("08:45", "09:15")) {
      await killed(scene, time);
      assert.deepEqual(told(scene), [`🔴 ${line}`, line]);
    }
    assert.match(scene.messages()[0].text, /CPU/);
    const tick = await scene.tickAt("09:30");
    assert.deepEqual([tick.sweep.killed_in_a_row, tick.sweep.failures_in_a_row, tick.asked], [5, 0, [guid]]);
    assert.deepEqual(told(scene), ["🟢 Nothing is open any more.", undefined]);
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
    assert.equal(scene.github.issues(CONTROL_REPO).length, 1);
    assert.equal((await scene.state()).failures.last.class, "killed");
  });

  test("without a key for hours: Telegram is told once what is missing, GitHub is not called, and it leaves", async (t) => {
    const scene = await opened(t);
    const guid = scene.fails("08:05");
    const settings = { GITHUB_APP_PRIVATE_KEY: "-----BEGIN CANARY-----", WINDOW_HOURS: "canary" };
    await scene.worker.restart({ bindings: { ...scene.bindings, ...settings } });
    const ticks = await scene.ticks("08:15", "10:00");
    assert.ok(ticks.every(({ outcome, sweep }) => outcome === "exception" && sweep.failure === "config"));
    assert.deepEqual(
      ticks.map(({ requests }) => requests.map(({ method }) => method)),
      [[], ["sendMessage"], [], [], [], [], [], []],
    );
    const [{ text }] = scene.messages();
    assert.match(text, /GITHUB_APP_PRIVATE_KEY is .*\n.*WINDOW_HOURS is no whole number from 1 to 72/);
    assert.doesNotMatch(text, /canary/i);
    await scene.worker.restart({ bindings: scene.bindings });
    assert.deepEqual((await scene.tickAt("10:15")).asked, [guid]);
    assert.deepEqual([told(scene)[0], scene.messages().length], ["🟢 Nothing is open any more.", 1]);
    assert.deepEqual(scene.github.issues(CONTROL_REPO), []);
  });

  for (const [name, id] of [
    ["missing", undefined],
    ["no App id", "my app, whatever its number"],
  ]) {
    test(`with an App id that is ${name}: told as well, and over once there is one`, async (t) => {
      const scene = await openScene(t, { settings: { GITHUB_APP_ID: id } });
      const ticks = await scene.ticks("08:00", "08:45");
      assert.ok(ticks.every(({ outcome, sweep }) => outcome === "exception" && sweep.app === ""));
      assert.match(scene.messages()[0].text, /GITHUB_APP_ID is /);
      assert.equal(scene.telegram.sounds(CHAT), 1);
      await scene.worker.restart({ bindings: { ...scene.bindings, GITHUB_APP_ID: "1234567" } });
      assert.equal((await scene.worker.tick(at("09:00"))).outcome, "ok");
      assert.deepEqual([told(scene)[0], scene.messages().length], ["🟢 Nothing is open any more.", 1]);
      assert.deepEqual(await scene.worker.state(undefined, "no App"), {}, "nothing is kept of it");
    });
  }

  test("with a state of a newer version: both channels are told, it stays, and the older alarm goes on", async (t) => {
    const scene = await opened(t, { settings: { MAX_ATTEMPTS: "2" } });
    scene.github.endpoint = () => 500;
    const poison = scene.fails("08:05");
    await scene.ticks("08:15", "08:30");
    scene.shows(poison);
    const before = await scene.worker.state("state");
    const newer = `{"version":${VERSION + 1},"of":["another","shape"]}`;
    await scene.worker.writeState("state", newer);
    const ticks = await scene.ticks("08:45", "09:45");
    assert.ok(ticks.every(({ outcome, sweep }) => outcome === "exception" && sweep.failure === "state"));
    assert.equal(await scene.worker.state("state"), newer);
    const line = "example-app: the recovery itself fails (since 2026-11-02 08:45 UTC)";
    assert.deepEqual(told(scene), [`🔴 ${line}`, line]);
    assert.equal(scene.telegram.sounds(CHAT), 2);
    await scene.worker.writeState("state", before);
    await scene.tickAt("10:00");
    scene.shows(poison);
    assert.deepEqual([scene.telegram.sounds(CHAT), scene.github.issues(CONTROL_REPO).length], [2, 1]);
    assert.deepEqual(Object.keys(await scene.worker.state()), ["history", "state"]);
    assert.equal((await scene.tickAt("10:15")).calls, 2);
  });
});
