// The daily summary in the built Worker: one silent message a day, after everything else, and never a second one.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { appOpens, breaks, newest, openAlarm, sweep } from "./worker/alarm.mjs";
import { CHAT, CONTROL_REPO, openScene } from "./worker/scene.mjs";
import { ONE, openSeveral, TWO } from "./worker/several.mjs";
import { openDoor } from "./worker/visitor.mjs";

const isSummary = ({ text }) => /All well|last 24 hours/.test(text);

/** The summaries in the chat, of which none made a sound. */
function summaries({ telegram }) {
  const sent = telegram.messages(CHAT).filter(isSummary);
  assert.ok(sent.every(({ sentSilently }) => sentSilently));
  return sent.map(({ text }) => text);
}

const open = (t, DAILY_SUMMARY, more = {}) => openScene(t, { settings: { DAILY_SUMMARY, ...more } });

describe("the daily summary", { concurrency: 2 }, () => {
  test("it comes with the first sweep at or after its time, and once a day", async (t) => {
    const scene = await open(t, "08:20");
    await scene.ticks("08:00", "08:15");
    assert.deepEqual(summaries(scene), [], "not due");
    scene.delivers("08:16");
    const tick = await scene.tickAt("08:30");
    assert.deepEqual(
      tick.requests.map(({ method }) => method),
      ["GET", "GET", "sendMessage"],
    );
    assert.match(
      summaries(scene)[0],
      /^🟢 All well: 3 sweeps in 24 hours, \d+ deliver(y|ies) read, none failed, nothing is open\.\nKnown only since 2026-11-02 08:00 UTC\.$/,
    );
    // The tick again, and the rest of the day.
    await scene.tickAt("08:30");
    await scene.ticks("08:45", "32:15");
    assert.equal(summaries(scene).length, 1);
    await scene.ticks("32:30", "33:00");
    assert.equal(summaries(scene).length, 2);
    assert.match(summaries(scene)[1], /^🟢 All well: 96 sweeps in 24 hours, [^\n]+$/, "all 24 hours are known");
    assert.equal(scene.telegram.sounds(CHAT), 0);
  });

  test("without it nobody gets one", async (t) => {
    const scene = await open(t, undefined);
    await scene.ticks("08:00", "09:00");
    assert.deepEqual(scene.messages(), []);
  });

  test("a time after the last sweep of a day comes at midnight, once", async (t) => {
    const scene = await open(t, "23:50");
    for (const clock of ["12:00", "23:45"]) await scene.tickAt(clock);
    assert.deepEqual(summaries(scene), []);
    for (const clock of ["24:00", "24:15", "36:00", "47:45"]) await scene.tickAt(clock);
    assert.equal(summaries(scene).length, 1);
    await scene.tickAt("48:00");
    assert.equal(summaries(scene).length, 2);
  });

  test("an answer that is lost makes no second one, and a refusal is tried by the next sweep", async (t) => {
    const scene = await open(t, "08:00");
    const refusal = { status: 400, body: { ok: false, error_code: 400, description: "Bad Request: no" } };
    scene.telegram.fault({ method: "sendMessage" }, refusal, 1);
    assert.equal((await scene.tickAt("08:00")).outcome, "ok");
    assert.deepEqual(summaries(scene), []);
    await scene.tickAt("08:15");
    assert.equal(summaries(scene).length, 1);
    scene.telegram.fault({ method: "sendMessage" }, "lost-answer", 1);
    const lost = await scene.tickAt("32:00");
    assert.deepEqual([lost.outcome, summaries(scene).length], ["ok", 2]);
    await scene.ticks("32:15", "33:00");
    assert.equal(summaries(scene).length, 2);
  });

  test("a sweep that is killed while it sends has sent it, as far as anybody knows", async (t) => {
    const scene = await open(t, "08:30");
    await scene.ticks("08:00", "08:15");
    await scene.killedAt("08:30", { call: ({ method }) => method === "sendMessage", step: "hang-after" });
    await scene.ticks("08:45", "10:00");
    assert.equal(summaries(scene).length, 1);
  });

  test("the alarm and the asks have the calls, and it comes with the next sweep that has one left", async (t) => {
    const limits = { FAILURE_PAGES: "1", MAX_REDELIVERIES: "1", SUBREQUEST_LIMIT: "15" };
    const scene = await openAlarm(t, { settings: { DAILY_SUMMARY: "09:30", ...limits } });
    const guids = [breaks(scene, "08:05")];
    await sweep(scene, "08:15");
    // The issue is deleted, and there are others of ours to be closed; Telegram wants neither markup nor buttons; an event gives up, and one is to
    // be asked for.
    const { title, body } = scene.openIssue();
    scene.github.person.delete(CONTROL_REPO, 1);
    for (let copies = 0; copies < 9; copies += 1) await appOpens(scene, { title, body });
    for (const reason of ["can't parse entities: none", "BUTTON_URL_INVALID"]) {
      const body = { ok: false, error_code: 400, description: `Bad Request: ${reason}` };
      scene.telegram.fault({ method: "sendMessage" }, { status: 400, body }, 1);
    }
    guids.push(breaks(scene, "09:20"));
    scene.fails("09:21");
    const full = await sweep(scene, "09:30");
    assert.deepEqual([full.calls, full.asked.length, full.told.length], [15, 1, 12]);
    assert.ok(
      guids.every((guid) => newest(scene).includes(guid)),
      "Telegram shows what is so",
    );
    assert.deepEqual(summaries(scene), []);
    await sweep(scene, "09:45");
    assert.equal(summaries(scene).length, 1);
    assert.match(summaries(scene)[0], /^📋 example-app: the last 24 hours/);
  });

  test("a chat that cannot be reached is not called for it", async (t) => {
    const scene = await open(t, "08:30", { MAX_ATTEMPTS: "2" });
    const chat = scene.telegram.chat(CHAT);
    await scene.tickAt("08:00");
    chat.state = "blocked";
    breaks(scene, "08:05");
    await scene.tickAt("08:15");
    const tick = await scene.tickAt("08:30");
    assert.equal(tick.requests.filter(({ verb }) => verb).length, 1, "the alarm alone tries it");
    chat.state = "member";
    await scene.tickAt("08:45");
    assert.deepEqual([summaries(scene).length, scene.telegram.sounds(CHAT)], [1, 1]);
  });

  test("a dry run sends none, nor does a person's sweep", async (t) => {
    const dry = await open(t, "08:00", { DRY_RUN: "true" });
    await dry.tickAt("08:00");
    assert.deepEqual(dry.messages(), []);
    const now = new Date(Date.now() - 60_000).toISOString().slice(11, 16);
    const scene = await openDoor(t, { settings: { DAILY_SUMMARY: now } });
    assert.equal((await scene.post("/sweep")).status, 200);
    assert.deepEqual(scene.messages(), []);
    await scene.tickAt(Date.now() + 15 * 60_000);
    assert.equal(summaries(scene).length, 1);
  });

  test("each of several Apps has its own, with its name", async (t) => {
    const settings = { DAILY_SUMMARY: "08:15", [`DAILY_SUMMARY_${TWO}`]: "08:30" };
    const several = await openSeveral(t, { settings });
    for (const clock of ["08:00", "08:15"]) await several.tickAt(clock);
    assert.equal(summaries(several).length, 1);
    assert.match(summaries(several)[0], new RegExp(`^🟢 App ${ONE}: All well`));
    await several.tickAt("08:30");
    assert.match(summaries(several)[1], new RegExp(`^🟢 App ${TWO}: All well`));
  });

  test("without Telegram it is a problem of the settings", async (t) => {
    const scene = await open(t, "08:00", { TELEGRAM_BOT_TOKEN: undefined, TELEGRAM_CHAT_ID: undefined });
    const tick = await scene.tickAt("08:00");
    assert.deepEqual([tick.outcome, tick.sweep.failure], ["exception", "config"]);
    assert.ok(tick.lines.some((line) => line.includes("DAILY_SUMMARY is sent by Telegram, which is not set")));
  });
});

describe("the way to the status page", { concurrency: 2 }, () => {
  const STATUS_URL = "https://redeliver.octo.workers.dev";
  const ADMIN_TOKEN = "canary-of-the-admin-token";
  const buttons = ({ reply_markup: markup }) => markup.inline_keyboard.flat();

  test("the message has a button and the issue a link, without the token", async (t) => {
    const scene = await openAlarm(t, { settings: { STATUS_URL, ADMIN_TOKEN } });
    breaks(scene, "08:05");
    await sweep(scene, "08:15");
    const [message] = scene.messages();
    assert.deepEqual(
      buttons(message).map(({ text }) => text),
      ["Open the App's Advanced page", "Open the issue", "Open the status page"],
    );
    assert.equal(buttons(message)[2].url, `${STATUS_URL}/`);
    assert.ok(scene.openIssue().body.includes(`\n[Open the status page](${STATUS_URL}/)\n`));
    assert.ok(!JSON.stringify([scene.messages(), scene.openIssue().body]).includes(ADMIN_TOKEN));
  });

  test("with several Apps it leads to the App's own page", async (t) => {
    const several = await openSeveral(t, { settings: { STATUS_URL, ADMIN_TOKEN } });
    await several.tickAt("08:00");
    several.breaks(TWO, "08:05");
    await several.tickAt("08:15");
    const [message] = several.telegram.messages(CHAT);
    const page = buttons(message).at(-1).url;
    assert.equal(page, `${STATUS_URL}/apps/${TWO}/`);
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, accept: "text/html" };
    const answer = await several.worker.fetch(new URL(page).pathname, { headers });
    assert.deepEqual([answer.status, answer.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
  });

  test("without ADMIN_TOKEN there is no such page: the sweep says so, and nothing leads there", async (t) => {
    const scene = await openAlarm(t, { settings: { STATUS_URL } });
    breaks(scene, "08:05");
    const { sweep: line } = await sweep(scene, "08:15");
    assert.match(line.warnings.join(), /STATUS_URL is set without ADMIN_TOKEN/);
    assert.equal(buttons(scene.messages()[0]).length, 2);
    assert.ok(!scene.openIssue().body.includes("status page"));
  });
});
