// One App on stage: the built Worker, a GitHub, a Telegram and one clock for all three.
//
// What holds in every test is checked here and not in each: GitHub's description is never violated, the calls that the
// Worker reports are those that arrived, no budget is exceeded, and no secret is in anything that was written.

import assert from "node:assert/strict";
import { startGitHub, testKeys } from "../fakes/github.mjs";
import { startTelegram } from "../fakes/telegram.mjs";
import { startWorker } from "../harness.mjs";
import { assertNoSecret, everythingWritten, keepAnswers } from "./secrets.mjs";
import { readState } from "./stored.mjs";

export const CHAT = -1001234567890;
export const CONTROL_REPO = "octo-maintainer/alarms";

const DAY = Date.parse("2026-11-02T00:00:00Z");
/** An ask, at github.com or at an Enterprise Server. */
export const ASK = /^(?:\/api\/v3)?\/app\/hook\/deliveries\/(\d+)\/attempts$/;

/** Whether a request reads a page of either list. */
export const isAsk = ({ method, path }) => method === "POST" && ASK.test(path);

export const isList = ({ path }) => /^(\/api\/v3)?\/app\/hook\/deliveries$/.test(path);

/** `10:15`, `10:15:30` or `10:15:30.250` of the day that all scenes play; `34:15` is 10:15 of the next one. */
export function at(clock) {
  const [hours, minutes, seconds = 0] = clock.split(":").map(Number);
  assert.ok(Number.isFinite(hours * minutes * seconds), `no time: ${clock}`);
  return DAY + Math.round(((hours * 60 + minutes) * 60 + seconds) * 1000);
}

/** A quarter of an hour later, as often as wanted. */
export function* quarters(from, to) {
  for (let time = at(from); time <= at(to); time += 15 * 60_000) yield time;
}

/**
 * Sets the stage; it is cleared after the test.
 *
 * - `settings`: bindings that replace or add to those of a Worker with both channels; `undefined` takes one out.
 * - `github`: options of the fake.
 * - `buildDir`: another build of the Worker.
 * - `inspector`: true opens the DevTools protocol of its isolate.
 * - `v8Flags`: flags for V8, as the harness takes them.
 */
export async function openScene(t, { settings = {}, github: options = {}, buildDir, inspector, v8Flags } = {}) {
  const repositories = [{ fullName: CONTROL_REPO, ownerType: "User" }];
  const github = await startGitHub({ now: at("08:00"), repositories, ...options });
  const telegram = await startTelegram({ now: at("08:00"), chats: [{ id: CHAT }] });
  const scene = new Scene({ github, telegram });
  t.after(() => scene.close());
  const usual = {
    GITHUB_APP_ID: "1234567",
    GITHUB_APP_PRIVATE_KEY: testKeys().pkcs1,
    GITHUB_API_URL: github.url,
    TELEGRAM_API_URL: telegram.url,
    TELEGRAM_BOT_TOKEN: telegram.token,
    TELEGRAM_CHAT_ID: String(CHAT),
    CONTROL_REPO,
  };
  const bindings = withSettings(usual, settings);
  const worker = await startWorker({ bindings, buildDir, inspector, v8Flags });
  return Object.assign(scene, { bindings, worker, answers: keepAnswers(worker) });
}

/** A tick that is killed as soon as `met` resolves, and the Worker started again. If it ends before, it was not killed. */
export async function killedOnce(scene, clock, met) {
  const tick = scene.tickAt(clock);
  const isMet = await Promise.race([met.then(() => true), tick.then(() => false)]);
  if (isMet) await scene.worker.kill();
  const killed = await tick;
  if (isMet) {
    assert.equal(killed.outcome, "killed");
    await scene.worker.restart();
  }
  return killed;
}

/** Bindings of which some are other ones now; `undefined` takes one out. */
export function withSettings(bindings, changed) {
  return Object.fromEntries(Object.entries({ ...bindings, ...changed }).filter(([, value]) => value !== undefined));
}

/** A scene after its first sweep, at 08:00, in which nothing is wrong. */
export async function opened(t, options) {
  const scene = await openScene(t, options);
  await scene.tickAt("08:00");
  return scene;
}

class Scene {
  /** Every ask that a tick made, whatever came of it: of which event, and when by GitHub's clock. */
  asks = [];
  /** By how much GitHub's clock is ahead of the ticks'. */
  githubAheadMs = 0;

  constructor(parts) {
    Object.assign(this, parts);
  }

  /** Moves the clock of both fakes; what is due by then happens first. */
  set now(ms) {
    this.github.now = ms + this.githubAheadMs;
    this.telegram.now = ms;
  }

  /** A first delivery that fails with `code`. Returns its guid. */
  fails(clock, code = 500, more = {}) {
    return this.delivers(clock, { code, ...more });
  }

  /** A first delivery, of a kind that nothing overtakes unless told otherwise. Returns its guid. */
  delivers(clock, more = {}) {
    const time = typeof clock === "number" ? clock : at(clock);
    return this.github.deliver({ event: "issue_comment", action: "created", code: 200, at: time, ...more }).guid;
  }

  /**
   * Moves the clock and fires the schedule. Of what comes back, `asked` are the guids of the asks in their order (of those that
   * are under way side by side any may arrive first, so it is that of the sweep's own lines), `requests` all calls that arrived at either fake, `sweep` the sweep's own line.
   */
  async tickAt(clock) {
    const time = typeof clock === "number" ? clock : at(clock);
    this.now = time;
    const before = this.arrived().length;
    const run = await this.worker.tick(time);
    const requests = this.arrived().slice(before);
    const sweep = run.logs.find(({ message }) => message === "sweep");
    const tick = { ...run, sweep, requests, calls: requests.length, asked: this.asksIn(requests) };
    this.asks.push(...tick.asked.map((guid) => ({ guid, at: this.github.now })));
    if (sweep) {
      const lines = run.logs.filter(({ message, answer }) => message === "redelivery" && answer !== "not made");
      const told = lines.map(({ guid }) => guid);
      assert.deepEqual(told.toSorted(), tick.asked.toSorted(), "the asks that are told are those that arrived");
      tick.asked = told;
      assert.equal(sweep.calls, requests.length, "the calls that are reported are those that arrived");
      assert.ok(requests.length <= sweep.call_limit, `${requests.length} calls exceed the budget`);
    }
    return tick;
  }

  /** One tick after the other, a quarter of an hour apart, both ends included. */
  async ticks(from, to) {
    const all = [];
    for (const time of quarters(from, to)) all.push(await this.tickAt(time));
    return all;
  }

  /**
   * A tick that is killed with one of its calls, and the Worker started again. `call` is which one, from zero on, or tells it from
   * others, of which so many as `times` are under way; `step` is `hang` if it has not arrived then, `hang-after` if only its answer is
   * missing. If no such call is made, the tick goes on to its end.
   */
  async killedAt(clock, { call, step = "hang", times = 1 }) {
    const met = Promise.withResolvers();
    let [calls, missing] = [0, times];
    const match = (request) => {
      const isIt = typeof call === "function" ? call(request) : calls++ === call;
      if (isIt && --missing === 0) met.resolve();
      return isIt;
    };
    const armed = [this.github, this.telegram].map((fake) => fake.fault(match, step, Number.MAX_SAFE_INTEGER));
    const tick = await killedOnce(this, clock, met.promise);
    for (const fault of armed) fault.stop();
    return tick;
  }

  /** Every call so far: GitHub's, then Telegram's. Only those of one fake are in the order they came. */
  arrived() {
    this.log ??= [];
    const seen = new Set(this.log);
    for (const request of [...this.github.requests, ...this.telegram.requests]) {
      if (!seen.has(request)) this.log.push(request);
    }
    return this.log;
  }

  /** Lets go of the calls so far, which a scene of many days has too many of. */
  forgetRequests() {
    this.log = [];
    for (const { requests } of [this.github.server, this.telegram]) requests.length = 0;
    this.github.asks.length = 0;
  }

  /** The guids that were asked for, whatever came of it. */
  asksIn(requests) {
    const ids = requests.map(({ method, path }) => method === "POST" && ASK.exec(path)?.[1]).filter(Boolean);
    return ids.map((id) => this.github.deliveries.byId.get(BigInt(id))?.guid ?? id);
  }

  /** Matches asks for these events, for a fault of their own. */
  asksFor(...guids) {
    return (request) => guids.includes(this.asksIn([request])[0]);
  }

  /** The codes of all attempts of an event, in their order. */
  codes(guid) {
    return this.github.attempts(guid).map(({ code }) => code);
  }

  async state() {
    const text = await this.worker.state("state");
    return text && readState(text);
  }

  /** What stands in the chat, as a person reads it. */
  messages() {
    return this.telegram.messages(CHAT);
  }

  /** The one open issue of the control repository, or nothing. */
  openIssue() {
    const open = this.github.openIssues(CONTROL_REPO);
    assert.ok(open.length <= 1, `${open.length} issues are open`);
    return open[0];
  }

  /** Both channels show exactly these events and no others, or that nothing is open. */
  shows(...guids) {
    const guidsIn = (text) => [...new Set(text.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? [])].sort();
    const wanted = [...guids].sort();
    assert.deepEqual(guidsIn(this.messages().at(-1)?.text ?? ""), wanted, "Telegram");
    assert.deepEqual(guidsIn(this.openIssue()?.body ?? ""), wanted, "the control repository");
  }

  async close() {
    const { worker, github, telegram } = this;
    const written = worker ? await everythingWritten(this) : [];
    await worker?.stop();
    await telegram.close();
    await github.close();
    for (const settings of worker?.settings ?? []) assertNoSecret(written, settings);
  }
}
