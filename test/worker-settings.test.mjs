// Settings that cannot be used: every problem in one line, without a value, and no call (specification, sections 9 and 11).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { otherKeys, testKeys } from "./fakes/github.mjs";
import { openScene } from "./worker/scene.mjs";

const WRONG = {
  GITHUB_APP_PRIVATE_KEY: "-----BEGIN CANARY KEY-----",
  GITHUB_API_URL: "http://canary.example",
  TELEGRAM_BOT_TOKEN: "canary token",
  TELEGRAM_CHAT_ID: "canary chat",
  TELEGRAM_THREAD_ID: "canary-thread",
  TELEGRAM_API_URL: "ftp://canary.example",
  CONTROL_REPO: "https://canary.example/a/b",
  WINDOW_HOURS: "73",
  RETENTION_HOURS: "169",
  MAX_ATTEMPTS: "1",
  MAX_REDELIVERIES: "0",
  SUBREQUEST_LIMIT: "12canary",
  FAILURE_PAGES: "1001",
  DELIVERY_PAGES: "-3",
  SUPERSEDED_EVENTS: "Canary Event",
  IGNORED_EVENTS: ",",
  RETRY_STATUS: "200",
  DRY_RUN: "canary",
  HEARTBEAT_URL: "http://canary.example/ping",
};

/** The one line that names the problems; the run failed, and nobody was called. */
async function problems(t, settings) {
  const scene = await openScene(t, { settings });
  const tick = await scene.tickAt("08:00");
  assert.equal(tick.outcome, "exception");
  assert.equal(tick.calls, 0);
  assert.deepEqual([tick.sweep.ending, tick.sweep.failure], ["failed", "config"]);
  const failures = tick.logs.filter(({ message }) => message === "failure");
  assert.equal(failures.length, 1, "all of them in one line");
  assert.equal(failures[0].class, "config");
  return { text: failures[0].error, tick, scene };
}

describe("settings that cannot be used", { concurrency: 2 }, () => {
  test("every problem is named at once, without its value, and no call is made", async (t) => {
    const { text, tick } = await problems(t, WRONG);
    for (const name of Object.keys(WRONG)) assert.ok(text.includes(`${name} `), `${name} is named`);
    assert.doesNotMatch(tick.lines.join("\n"), /canary|CANARY|73canary/i);
  });

  test("a key whose numbers do not belong together is damaged, and is named with all else that is wrong", async (t) => {
    const [first, ...lines] = testKeys().pkcs1.trim().split("\n");
    const last = lines.pop();
    const der = Buffer.from(lines.join(""), "base64");
    // In the middle of the private exponent: its form stays right.
    der[Math.floor(der.length / 3)] ^= 1;
    const damaged = [first, ...der.toString("base64").match(/.{1,64}/g), last, ""].join("\n");
    const { text } = await problems(t, { GITHUB_APP_PRIVATE_KEY: damaged });
    assert.match(text, /GITHUB_APP_PRIVATE_KEY is cut off, damaged/);
    const { text: both } = await problems(t, { GITHUB_APP_PRIVATE_KEY: damaged, MAX_ATTEMPTS: "1" });
    for (const name of ["GITHUB_APP_PRIVATE_KEY", "MAX_ATTEMPTS"]) assert.ok(both.includes(`${name} `), name);
  });

  test("a missing App id is named with all else that is wrong", async (t) => {
    const { text } = await problems(t, {
      GITHUB_APP_ID: undefined,
      GITHUB_APP_PRIVATE_KEY: undefined,
      MAX_ATTEMPTS: "many",
    });
    for (const name of ["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY", "MAX_ATTEMPTS"])
      assert.ok(text.includes(`${name} `), name);
  });

  test("an empty App id counts as none", async (t) => {
    const { text } = await problems(t, { GITHUB_APP_ID: "  " });
    assert.match(text, /GITHUB_APP_ID is missing/);
  });

  test("half of a bot is a problem, whichever half it is", async (t) => {
    const { text: noChat, scene } = await problems(t, { TELEGRAM_CHAT_ID: undefined });
    assert.match(noChat, /TELEGRAM_CHAT_ID is missing/);
    const { TELEGRAM_BOT_TOKEN: _, ...bindings } = { ...scene.bindings, TELEGRAM_CHAT_ID: "5" };
    await scene.worker.restart({ bindings });
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.outcome, tick.calls], ["exception", 0]);
    assert.match(tick.logs[0].error, /TELEGRAM_BOT_TOKEN is missing/);
  });

  test("a limit with which no page can fit is a problem; one call more is enough", async (t) => {
    // Three pages of failures, one of all deliveries, ten asks, twelve for the alarm.
    const { text, scene } = await problems(t, { SUBREQUEST_LIMIT: "25" });
    assert.match(text, /SUBREQUEST_LIMIT is below 26/);
    const HEARTBEAT_URL = `${scene.github.url}/heartbeat`;
    await scene.worker.restart({ bindings: { ...scene.bindings, SUBREQUEST_LIMIT: "26", HEARTBEAT_URL } });
    const [withHeartbeat] = (await scene.tickAt("08:15")).logs;
    assert.match(withHeartbeat.error, /SUBREQUEST_LIMIT is below 27/);
    await scene.worker.restart({ bindings: { ...scene.bindings, SUBREQUEST_LIMIT: "26" } });
    const guid = scene.fails("08:20");
    assert.deepEqual((await scene.tickAt("08:30")).asked, [guid]);
  });

  test("without any channel each sweep says so, and sweeps all the same", async (t) => {
    const settings = {
      TELEGRAM_BOT_TOKEN: undefined,
      TELEGRAM_CHAT_ID: undefined,
      CONTROL_REPO: undefined,
      MAX_ATTEMPTS: "2",
    };
    const scene = await openScene(t, { settings });
    scene.github.endpoint = () => 500;
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05");
    const ticks = await scene.ticks("08:15", "08:30");
    assert.ok(ticks.every(({ sweep, outcome }) => outcome === "ok" && /no channel/.test(sweep.warnings.join())));
    const gaveUp = ticks[1].logs.find(({ message }) => message === "gave_up");
    assert.deepEqual([gaveUp.guid, ticks[1].sweep.alarm_entries, ticks[1].calls], [guid, 1, 2]);
  });

  test("an empty setting has its default, and a client id is as good as an App id", async (t) => {
    const empty = Object.fromEntries(
      Object.keys(WRONG)
        .filter((name) => /^[A-Z_]*(HOURS|MAX|PAGES|LIMIT|EVENTS|STATUS|RUN|HEARTBEAT|THREAD)/.test(name))
        .map((name) => [name, ""]),
    );
    const scene = await openScene(t, { settings: { ...empty, GITHUB_APP_ID: "Iv23liExampleClient1" } });
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05");
    const tick = await scene.tickAt("08:15");
    assert.deepEqual([tick.asked, tick.outcome, tick.sweep.app], [[guid], "ok", "Iv23liExampleClient1"]);
    assert.equal(tick.requests[0].claims.iss, "Iv23liExampleClient1");
  });

  test("the key is taken as PKCS#8, with literal \\n, or as base64 of the file; one that signs for another App is auth", async (t) => {
    const scene = await openScene(t);
    const { pkcs1, pkcs8 } = testKeys();
    const forms = [pkcs8, pkcs1.replaceAll("\n", "\\n"), Buffer.from(pkcs1).toString("base64")];
    let clock = 8;
    for (const key of forms) {
      await scene.worker.restart({ bindings: { ...scene.bindings, GITHUB_APP_PRIVATE_KEY: key } });
      assert.equal((await scene.tickAt(`${clock++}:15`)).outcome, "ok");
    }
    await scene.worker.restart({ bindings: { ...scene.bindings, GITHUB_APP_PRIVATE_KEY: otherKeys().pkcs1 } });
    const tick = await scene.tickAt(`${clock}:15`);
    assert.deepEqual([tick.outcome, tick.sweep.failure], ["exception", "auth"]);
  });
});
