// Two Apps of one maintainer on stage: one Worker, one GitHub that knows both, one chat and one control repository unless told
// otherwise.
//
// What holds in every test is checked here: GitHub's description is never violated, the calls that both sweeps report are those that
// arrived, no budget is exceeded, and no secret of either App is in anything that was written.

import assert from "node:assert/strict";
import { otherKeys, startGitHub, testKeys } from "../fakes/github.mjs";
import { startTelegram } from "../fakes/telegram.mjs";
import { startWorker } from "../harness.mjs";
import { ASK, at, CHAT, CONTROL_REPO, withSettings } from "./scene.mjs";
import { assertNoSecret, everythingWritten, keepAnswers } from "./secrets.mjs";
import { readState } from "./stored.mjs";

export const ONE = "1234567";
export const TWO = "7654321";

/** The second App. */
export const SECOND = { id: Number(TWO), clientId: "Iv23liOtherClient002", slug: "other-app", name: "Other App" };

/**
 * Sets the stage; it is cleared after the test.
 *
 * - `settings`: bindings that replace or add to those of two Apps with both channels in common; `undefined` takes one out.
 * - `github`: options of the fake, for both Apps.
 */
export async function openSeveral(t, { settings = {}, github: options = {}, now = at("08:00"), buildDir } = {}) {
  const repositories = [{ fullName: CONTROL_REPO, ownerType: "User" }];
  const one = await startGitHub({ now, repositories, ...options });
  const keys = otherKeys();
  const app = { ...SECOND, publicKey: keys.publicKey };
  const two = await startGitHub({ now, ...options, repositories: [], beside: one, app });
  const telegram = await startTelegram({ now, chats: [{ id: CHAT }] });
  const several = new Several({ apps: { [ONE]: one, [TWO]: two }, telegram });
  t.after(() => several.close());
  several.bindings = withSettings(
    {
      APPS: `${ONE}, ${TWO}`,
      [`GITHUB_APP_PRIVATE_KEY_${ONE}`]: testKeys().pkcs1,
      [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: keys.pkcs1,
      GITHUB_API_URL: one.url,
      TELEGRAM_API_URL: telegram.url,
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_CHAT_ID: String(CHAT),
      CONTROL_REPO,
      MAX_ATTEMPTS: "2",
    },
    settings,
  );
  several.worker = await startWorker({ bindings: several.bindings, buildDir });
  several.answers = keepAnswers(several.worker);
  return several;
}

class Several {
  constructor(parts) {
    Object.assign(this, parts);
  }

  set now(ms) {
    for (const github of Object.values(this.apps)) github.now = ms;
    this.telegram.now = ms;
  }

  /** An event of one App that gives up with the next sweep. Returns its guid. */
  breaks(app, clock, more = {}) {
    const time = typeof clock === "number" ? clock : at(clock);
    const github = this.apps[app];
    const { guid } = github.deliver({ event: "push", code: 500, at: time, guid: this.#guid(app), ...more });
    github.deliveries.redeliver(guid, time + 2_000, 500);
    return guid;
  }

  /** A first delivery of one App that fails. Returns its guid. */
  fails(app, clock, more = {}) {
    const time = typeof clock === "number" ? clock : at(clock);
    return this.apps[app].deliver({
      event: "issue_comment",
      action: "created",
      code: 500,
      at: time,
      guid: this.#guid(app),
      ...more,
    }).guid;
  }

  /** That of no other App. */
  #guid(app) {
    this.count = (this.count ?? 0) + 1;
    return `${app.padStart(8, "0")}-${this.count.toString(16).padStart(4, "0")}-11f1-959e-7ce606dfe5da`;
  }

  /**
   * Moves the clocks and fires the schedule. Of what comes back, `sweeps` are the lines of the sweeps by App, `asked` the guids that
   * each App asked for. `besides`: calls that no sweep makes.
   */
  async tickAt(clock, { besides = 0 } = {}) {
    const time = typeof clock === "number" ? clock : at(clock);
    this.now = time;
    const before = new Set(this.arrived());
    const run = await this.worker.tick(time);
    const requests = this.arrived().filter((request) => !before.has(request));
    const lines = run.logs.filter(({ message }) => message === "sweep");
    const sweeps = Object.fromEntries(lines.map((line) => [line.app, line]));
    assert.equal(Object.keys(sweeps).length, lines.length, "one line for each App");
    for (const { calls, call_limit } of lines) assert.ok(calls <= call_limit, `${calls} calls exceed the budget`);
    if (lines.length === Object.keys(this.apps).length) {
      const reported = lines.reduce((sum, { calls }) => sum + calls, 0);
      assert.equal(reported + besides, requests.length, "the calls that are reported are those that arrived");
    }
    const asked = Object.fromEntries(Object.keys(this.apps).map((app) => [app, this.asksIn(app, requests)]));
    return { ...run, sweeps, asked, requests };
  }

  /** Every call so far, to whomever. */
  arrived() {
    return [...Object.values(this.apps).flatMap((github) => github.requests), ...this.telegram.requests];
  }

  asksIn(app, requests) {
    const asks = requests.filter((request) => String(request.app) === app && request.method === "POST");
    const ids = asks.map(({ path }) => ASK.exec(path)?.[1]).filter(Boolean);
    return ids.map((id) => this.apps[app].deliveries.byId.get(BigInt(id))?.guid ?? id);
  }

  /** What an App's object has stored. */
  async state(app) {
    const text = await this.worker.state("state", app);
    return text && readState(text);
  }

  /** What stands in the chat, as a person reads it. */
  messages(chat = CHAT) {
    return this.telegram.messages(chat).map(({ text }) => text);
  }

  /** Who opened each issue of the control repository, whether it is open, and what it says first. */
  issues(repo = CONTROL_REPO) {
    return this.apps[ONE]
      .issues(repo)
      .map(({ author, state, title }) => [author.login, state, title.split(" (since")[0]]);
  }

  /** Other settings from the next sweep on; `undefined` takes one out. */
  async set(changed) {
    this.bindings = withSettings(this.bindings, changed);
    await this.worker.restart({ bindings: this.bindings });
  }

  get = (path, headers) => this.worker.fetch(path, { headers });
  post = (path, headers) => this.worker.fetch(path, { method: "POST", headers });

  async close() {
    const { worker, apps, telegram } = this;
    const written = worker ? await everythingWritten(this) : [];
    await worker?.stop();
    await telegram.close();
    for (const github of Object.values(apps).reverse()) await github.close();
    for (const settings of worker?.settings ?? []) assertNoSecret(written, settings);
  }
}
