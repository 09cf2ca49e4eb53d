// The pages of docs/operate, played: each is done as it says, and whatever it quotes is what was said meanwhile.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { otherKeys, testKeys } from "./fakes/github.mjs";
import { startWorker } from "./harness.mjs";
import { PLAYED, quotesOf, read, unsaid } from "./operator/pages.mjs";
import { choose, person } from "./operator/person.mjs";
import { openDesk } from "./operator/scene.mjs";
import { breaks, issuesOf, openAlarm, quiet, settings, sweep } from "./worker/alarm.mjs";
import { at, CHAT, opened, openScene } from "./worker/scene.mjs";
import { VERSION } from "./worker/stored.mjs";
import { ago, openDoor, statusOf } from "./worker/visitor.mjs";

const OTHER_CHAT = -1009;
const OTHER_REPO = "octo-maintainer/elsewhere";
const KEY_FILE = ["--key-file", "app.private-key.pem"];

/** Pages that a play was written for. */
const played = [];

/** Plays a page. `hear` takes what was said so far: texts, or all of a scene, whose messages change. */
function page(name, play) {
  const file = `docs/operate/${name}.md`;
  played.push(file);
  test(file, async (t) => {
    const heard = [];
    const hear = (...what) => heard.push(...what.flatMap((one) => (typeof one === "string" ? one : saidBy(one))));
    await play(t, hear);
    const quotes = quotesOf(read(file));
    assert.ok(quotes.length > 0, "it quotes something");
    assert.deepEqual(unsaid(quotes, heard), [], `${file} quotes what nobody said`);
  });
}

function saidBy({ worker, telegram, github, otherChats = [] }) {
  const messages = [CHAT, ...otherChats].flatMap((chat) => telegram.messages(chat).map(({ text }) => text));
  const issues = github.repositories.all.flatMap(({ fullName }) =>
    github.issues(fullName).map(({ title, body }) => `${title}\n${body}`),
  );
  return [...worker.lines, ...messages, ...issues];
}

/** The doctor, and what it printed. */
async function doctor(desk, env, args) {
  desk.printed = "";
  const code = await desk.doctor(env, args);
  return { code, said: desk.printed };
}

describe("what an operator does", { concurrency: 2 }, () => {
  page("deploy", async (t, hear) => {
    const desk = await openDesk(t);
    desk.cloud.signedIn = false;
    const { said: shut } = await doctor(desk);
    desk.cloud.signedIn = true;
    hear(shut, (await doctor(desk)).said);
    desk.cloud.fails = "deploy";
    const someone = person([
      [/What shall be set up/, choose(0)],
      [/Deploy now/, choose(0)],
    ]);
    assert.equal(await desk.setup(desk.settings, [], someone.streams), 1);
    desk.cloud.fails = "";
    hear(someone.rest);
    desk.cloud.secrets = ["TELEGRAM_BOT_TOKEN"];
    const half = await doctor(desk);
    assert.equal(half.code, 1);
    assert.equal(await desk.setup(desk.settings, ["--deploy"]), 0, desk.printed);
    desk.cloud.secrets = Object.keys(JSON.parse(desk.wranglerCalls.findLast(({ args }) => args[1] === "bulk").input));
    const whole = await doctor(desk);
    assert.equal(whole.code, 0, whole.said);
    hear(half.said, whole.said);

    const scene = await openScene(t, { settings: { GITHUB_APP_PRIVATE_KEY: undefined } });
    const keyless = await scene.tickAt("08:00");
    assert.deepEqual([keyless.calls, keyless.sweep.failure], [0, "config"]);
    await settings(scene, { GITHUB_APP_PRIVATE_KEY: testKeys().pkcs1, DRY_RUN: "true" });
    const guid = scene.fails("08:05");
    assert.deepEqual([(await scene.tickAt("08:15")).asked, scene.messages()], [[], []], "a first look");
    await settings(scene, { DRY_RUN: undefined });
    const kept = await scene.state();
    assert.deepEqual((await scene.tickAt("08:30")).asked, [guid]);
    const { ledger } = await scene.state();
    assert.deepEqual(ledger.ground.watched_since, kept.ledger.ground.watched_since, "what was kept stays");
    await scene.worker.writeState("state", JSON.stringify({ ...kept, version: VERSION + 1 }));
    assert.equal((await scene.tickAt("08:45")).sweep.failure, "state");
    await scene.worker.writeState("state", JSON.stringify(kept));
    await settings(scene, { TELEGRAM_BOT_TOKEN: undefined, TELEGRAM_CHAT_ID: undefined, CONTROL_REPO: undefined });
    assert.equal((await scene.tickAt("09:00")).sweep.ending, "done");
    hear(scene);
  });

  page("rotate-a-secret", async (t, hear) => {
    const scene = await opened(t);
    const { app } = scene.github;
    const next = otherKeys();
    // Both keys hold, and only then the old one goes.
    app.otherPublicKeys = [next.publicKey];
    assert.equal((await scene.tickAt("08:15")).outcome, "ok");
    await settings(scene, { GITHUB_APP_PRIVATE_KEY: next.pkcs1 });
    assert.equal((await scene.tickAt("08:30")).outcome, "ok");
    Object.assign(app, { publicKey: next.publicKey, otherPublicKeys: [] });
    assert.equal((await scene.tickAt("08:45")).outcome, "ok");
    assert.deepEqual(scene.messages(), [], "nobody was told of anything");

    // In the other order, since somebody has the key.
    const newest = otherKeys();
    app.publicKey = newest.publicKey;
    const guid = scene.fails("08:50");
    const shut = await scene.ticks("09:00", "09:15");
    assert.deepEqual(
      shut.map(({ sweep, outcome, asked }) => [sweep.failure, outcome, asked]),
      Array(2).fill(["auth", "exception", []]),
    );
    hear(scene);
    await settings(scene, { GITHUB_APP_PRIVATE_KEY: newest.pkcs1.slice(0, 900) });
    assert.equal((await scene.tickAt("09:30")).sweep.failure, "config");
    await settings(scene, { GITHUB_APP_PRIVATE_KEY: newest.pkcs1 });
    assert.deepEqual((await scene.tickAt("09:45")).asked, [guid], "what failed meanwhile is asked for");
    hear(scene);

    // The bot: a token that was revoked, then the new one. The message stays the bot's own.
    breaks(scene, "09:50");
    await scene.tickAt("10:00");
    const [{ message_id: id }] = scene.messages().slice(-1);
    scene.telegram.token = "7000000001:AAtheNewTokenOfTheSameBotAfterRevoke";
    breaks(scene, "10:05");
    await scene.tickAt("10:15");
    hear(scene);
    await settings(scene, { TELEGRAM_BOT_TOKEN: scene.telegram.token });
    await scene.tickAt("10:30");
    const last = scene.messages().at(-1);
    assert.deepEqual([last.message_id, /cannot be reached/.test(last.text)], [id, false]);
    assert.doesNotMatch(scene.openIssue().body, /cannot be reached/i);

    const desk = await openDesk(t);
    hear((await doctor(desk, {}, ["--app-id", "1234567", ...KEY_FILE])).said);
    desk.github.app.publicKey = next.publicKey;
    const wrong = await doctor(desk, {}, ["--app-id", "1234567", ...KEY_FILE]);
    assert.equal(wrong.code, 1);
    hear(wrong.said);
  });

  page("move-the-alarm", async (t, hear) => {
    const scene = await openAlarm(t);
    scene.github.addRepository({ fullName: OTHER_REPO, ownerType: "User" });
    scene.telegram.addChat({ id: OTHER_CHAT, threads: [7] });
    scene.otherChats = [OTHER_CHAT];
    // With nothing open, nothing is to be seen.
    await settings(scene, { TELEGRAM_CHAT_ID: String(OTHER_CHAT) });
    await quiet(scene, "08:05");
    await settings(scene, { TELEGRAM_CHAT_ID: String(CHAT) });
    const guid = breaks(scene, "08:06");
    await sweep(scene, "08:15");

    await settings(scene, { TELEGRAM_CHAT_ID: String(OTHER_CHAT), CONTROL_REPO: OTHER_REPO });
    await sweep(scene, "08:30");
    assert.ok(scene.telegram.messages(OTHER_CHAT).at(-1).text.includes(guid));
    assert.deepEqual([scene.telegram.sounds(OTHER_CHAT), scene.messages().length], [1, 1]);
    assert.deepEqual([issuesOf(scene, [guid]), issuesOf(scene, [guid], OTHER_REPO)], [["1 closed "], ["1 open 0"]]);
    hear(scene);
    await quiet(scene, "08:45");

    await settings(scene, { TELEGRAM_THREAD_ID: "7" });
    await sweep(scene, "09:00");
    const [left, goesOn] = scene.telegram.messages(OTHER_CHAT);
    assert.deepEqual([left.thread, goesOn.thread, goesOn.text.includes(guid)], [null, 7, true]);
    hear(scene);

    await settings(scene, { TELEGRAM_CHAT_ID: "-77", TELEGRAM_THREAD_ID: undefined });
    await sweep(scene, "09:15");
    assert.match(scene.github.issues(OTHER_REPO)[0].title, /Telegram cannot be reached/);
    hear(scene);
    await settings(scene, { CONTROL_REPO: "octo-maintainer/none" });
    await sweep(scene, "09:30", "exception");
    await settings(scene, { TELEGRAM_CHAT_ID: String(OTHER_CHAT) });
    await sweep(scene, "09:45");
    hear(scene);
    const before = JSON.stringify([scene.telegram.messages(OTHER_CHAT), scene.github.issues(OTHER_REPO).length]);
    await settings(scene, { TELEGRAM_BOT_TOKEN: undefined, TELEGRAM_CHAT_ID: undefined, CONTROL_REPO: undefined });
    await sweep(scene, "10:00");
    const after = JSON.stringify([scene.telegram.messages(OTHER_CHAT), scene.github.issues(OTHER_REPO).length]);
    assert.equal(after, before, "what stands in the old places stays");
    hear(scene);
  });

  page("after-an-outage", async (t, hear) => {
    const scene = await openScene(t);
    scene.github.endpoint = () => 0;
    await scene.tickAt("22:00");
    const guids = Array.from({ length: 12 }, (_, index) => scene.fails(at("22:05") + index * 600_000, 0));
    const night = await scene.ticks("22:15", "30:00");
    assert.equal(scene.telegram.sounds(CHAT), 1, "one page for the night");
    assert.ok(
      night.slice(4).every(({ asked }) => asked.length <= 1),
      "a probe at a time",
    );
    hear(scene);
    scene.github.endpoint = () => 200;
    const morning = await scene.ticks("30:15", "32:15");
    assert.ok(morning.every(({ asked }) => asked.length <= 10));
    assert.ok(guids.every((guid) => scene.codes(guid).at(-1) === 200));
    assert.equal(scene.telegram.sounds(CHAT), 1);
    hear(scene);

    // 500s spend attempts, and a rotated webhook secret refuses all.
    scene.github.endpoint = () => 500;
    scene.fails("32:20", 500);
    await scene.ticks("32:30", "33:15");
    hear(scene);
    for (let index = 0; index < 12; index += 1) scene.fails(at("33:20") + index * 240_000, 401);
    await scene.ticks("33:30", "34:15");
    hear(scene);
    // More than could be asked for in time.
    await settings(scene, { MAX_REDELIVERIES: "1", WINDOW_HOURS: "1" });
    for (let index = 0; index < 9; index += 1) scene.fails(at("34:20") + index * 1000, 500);
    await scene.ticks("34:30", "36:00");
    hear(scene);

    const door = await openDoor(t);
    const lost = door.fails(ago(7 * 60));
    await door.tickAt(ago(20));
    door.now = Date.now();
    assert.deepEqual(door.asksIn(door.arrived()), [], "the window does not reach it");
    const early = await door.post(`/recover?since=${new Date(ago(73 * 60)).toISOString()}`);
    hear((await early.json()).error);
    assert.equal((await door.post(`/recover?since=${new Date(ago(9 * 60)).toISOString()}`)).status, 200);
    assert.ok((await statusOf(door)).recovering);
    await door.post("/sweep");
    assert.deepEqual(door.asksIn(door.arrived()), [lost]);
  });

  page("paid-plan", async (t, hear) => {
    const scene = await opened(t, { settings: { MAX_REDELIVERIES: "200" } });
    const { sweep: alone } = await scene.tickAt("08:05");
    assert.equal(alone.failure, "config");
    hear(scene);
    await settings(scene, settingsIn(read("docs/operate/paid-plan.md")));
    const guids = Array.from({ length: 150 }, (_, index) => scene.fails(at("08:06") + index * 1000));
    const { asked } = await scene.tickAt("08:15");
    assert.deepEqual(asked.toSorted(), guids.toSorted(), "all in one sweep");
    hear(scene);
  });

  page("uninstall", async (t, hear) => {
    const scene = await openAlarm(t);
    await settings(scene, { DRY_RUN: "true" });
    const guid = breaks(scene, "08:05");
    assert.deepEqual((await sweep(scene, "08:15")).told, [], "for a while: nobody is told");
    await settings(scene, { DRY_RUN: undefined });
    await sweep(scene, "08:30");
    scene.shows(guid);
    // The recovery fails when the Worker goes.
    const shut = scene.github.fault(() => true, { status: 500 }, 99);
    await scene.ticks("08:45", "09:00");
    hear(scene);
    shut.stop();
    const stands = () => structuredClone([scene.messages().map(({ text }) => text), issuesOf(scene, [guid])]);
    const before = stands();
    const stored = Object.keys(await scene.worker.state());
    await scene.worker.stop();
    scene.now = at("60:00");
    assert.deepEqual([stands(), stored.includes("state")], [before, true], "what was open stays as it stands");

    // A second installation begins with nothing stored: what is open is closed, and what comes is a new issue.
    const worker = await secondTime(t, scene);
    const tick = async (clock) => {
      scene.now = at(clock);
      return worker.tick(at(clock));
    };
    await tick("60:15");
    assert.deepEqual(issuesOf(scene, []), ["1 closed "]);
    const other = breaks(scene, "60:20");
    assert.equal((await tick("60:30")).outcome, "ok");
    assert.deepEqual(issuesOf(scene, [guid, other]), ["1 closed ", "2 open 1"]);

    const desk = await openDesk(t);
    hear((await doctor(desk)).said);
  });
});

test("each page of docs/operate is played", () => {
  assert.deepEqual(
    played.toSorted(),
    PLAYED.filter((file) => file !== "docs/operate/logs.md"),
  );
});

/** What a page sets in `[vars]`. */
function settingsIn(text) {
  const [, block] = /```toml\n([\s\S]*?)```/.exec(text) ?? [];
  return Object.fromEntries(Array.from(block.matchAll(/([A-Z_]+) = "(\w+)"/g), ([, name, value]) => [name, value]));
}

/** The Worker deployed again at the same services, with nothing stored. */
async function secondTime(t, { bindings }) {
  const worker = await startWorker({ bindings });
  t.after(() => worker.stop());
  return worker;
}
