// Several Apps in one Worker: each has its own object, budget and alarm, and one that fails touches no other.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { otherKeys } from "./fakes/github.mjs";
import { settings } from "./worker/alarm.mjs";
import { at, CHAT, CONTROL_REPO, isList, openScene } from "./worker/scene.mjs";
import { ONE, openSeveral, TWO } from "./worker/several.mjs";

describe("several Apps", { concurrency: 2 }, () => {
  test("each is swept by its own object, and the same guid of two Apps is two events", async (t) => {
    const several = await openSeveral(t);
    await several.tickAt("08:00");
    const guid = several.fails(ONE, "08:05", { guid: "11111111-82e7-11f1-959e-7ce606dfe5da" });
    several.apps[TWO].deliver({ event: "issue_comment", code: 200, at: at("08:05"), guid });
    const other = several.fails(TWO, "08:06");
    const tick = await several.tickAt("08:15");
    assert.equal(tick.outcome, "ok", tick.lines.join("\n"));
    // That it passed at the one is no pass of the other.
    assert.deepEqual(tick.asked, { [ONE]: [guid], [TWO]: [other] });
    assert.deepEqual([tick.sweeps[ONE].events.redelivered, tick.sweeps[TWO].events.redelivered], [1, 1]);
    const guids = async (app) => (await several.state(app)).ledger.events.map(({ g }) => g);
    assert.deepEqual([await guids(ONE), await guids(TWO)], [[guid], [other]]);
  });

  test("an array of ids, as TOML has it, is taken", async (t) => {
    const several = await openSeveral(t, { settings: { APPS: [Number(ONE), Number(TWO)] } });
    const tick = await several.tickAt("08:00");
    assert.deepEqual([tick.outcome, Object.keys(tick.sweeps).sort()], ["ok", [ONE, TWO]]);
  });

  test("an App of another server hears nothing of our writes: each server numbers its repositories for itself", async (t) => {
    const several = await openSeveral(t);
    // By another name it is another server.
    await several.set({ [`GITHUB_API_URL_${TWO}`]: several.apps[TWO].url.replace("127.0.0.1", "localhost") });
    await several.tickAt("08:00");
    several.breaks(ONE, "08:05");
    await several.tickAt("08:15");
    assert.deepEqual([several.issues().length, await several.worker.state("others", TWO)], [1, undefined]);
  });

  test("each has a budget of its own", async (t) => {
    const several = await openSeveral(t);
    for (const github of Object.values(several.apps)) {
      github.pageLimit = 5;
      for (let i = 0; i < 120; i += 1) github.deliver({ event: "push", code: 200, at: at("07:00") + i * 1000 });
      for (let i = 0; i < 12; i += 1) github.deliver({ event: "push", code: 500, at: at("07:10") + i * 1000 });
    }
    const tick = await several.tickAt("08:00");
    const calls = [tick.sweeps[ONE].calls, tick.sweeps[TWO].calls];
    assert.ok(calls.every((count) => count > 25 && count <= 50) && calls[0] + calls[1] > 50, `${calls} calls`);
    assert.deepEqual([tick.asked[ONE].length, tick.asked[TWO].length], [10, 10]);
  });

  describe("one that fails leaves the other as it is, and the run fails after both", { concurrency: 2 }, () => {
    const cases = [
      [
        "a key of another App",
        "auth",
        (several) => several.set({ [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: otherKeys().pkcs1 }),
      ],
      ["no key", "config", (several) => several.set({ [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: undefined })],
      ["a wrong setting of its own", "config", (several) => several.set({ [`MAX_ATTEMPTS_${TWO}`]: "many" })],
      ["GitHub answers 503", "server_error", (several) => several.apps[TWO].fault(isList, { status: 503 }, 99)],
      ["GitHub asks it to wait", "rate_limited", (several) => several.apps[TWO].fault(isList, { status: 429 }, 99)],
      ["a page that is none", "decode", (several) => several.apps[TWO].fault(isList, { rawBody: "<html>" }, 99)],
      ["a state of a newer version", "state", (several) => several.worker.writeState("state", '{"version":99}', TWO)],
      ["an object that throws", undefined, (several) => several.worker.breakStorage(TWO)],
    ];
    for (const [name, failure, fail] of cases) {
      test(name, async (t) => {
        const several = await openSeveral(t);
        await several.tickAt("08:00");
        await fail(several);
        const broken = several.breaks(ONE, "08:05");
        const failed = several.fails(ONE, "08:06");
        const first = await several.tickAt("08:15");
        assert.equal(first.outcome, "exception", first.lines.join("\n"));
        assert.deepEqual([first.sweeps[ONE].failure, first.sweeps[TWO]?.failure], [null, failure]);
        assert.deepEqual(first.asked, { [ONE]: [failed], [TWO]: [] });
        assert.equal(several.messages().length, 1);
        assert.ok(several.messages()[0].includes(broken) && several.messages()[0].startsWith("🔴 example-app: "));
        const second = await several.tickAt("08:30");
        assert.deepEqual([second.outcome, second.sweeps[ONE].failure], ["exception", null]);
      });
    }
  });

  test("a sweep that was killed is its own App's: the other reads all of its pages", async (t) => {
    const several = await openSeveral(t);
    await several.tickAt("08:00");
    const lease = { taken_at: at("08:15"), until: at("08:29"), killed_in_a_row: 0 };
    await several.worker.writeState("lease", JSON.stringify(lease), TWO);
    const tick = await several.tickAt("08:30");
    assert.deepEqual([tick.outcome, tick.sweeps[ONE].killed_in_a_row, tick.sweeps[TWO].killed_in_a_row], ["ok", 0, 1]);
  });
});

describe("one chat and one control repository for two Apps", { concurrency: 2 }, () => {
  test("each has its own message and its own issue, and writes no other", async (t) => {
    const several = await openSeveral(t);
    await several.tickAt("08:00");
    const one = several.breaks(ONE, "08:05");
    const two = several.breaks(TWO, "08:05");
    await several.tickAt("08:15");
    const texts = several.messages();
    assert.equal(texts.length, 2);
    const [ofOne, ofTwo] = ["example-app", "other-app"].map((name) =>
      texts.find((text) => text.startsWith(`🔴 ${name}: `)),
    );
    assert.ok(ofOne.includes(one) && !ofOne.includes(two) && ofTwo.includes(two) && !ofTwo.includes(one));
    const both = [
      ["example-app[bot]", "open", "example-app: 1 webhook event not delivered"],
      ["other-app[bot]", "open", "other-app: 1 webhook event not delivered"],
    ];
    assert.deepEqual(several.issues().sort(), both);
    // What happens at the one changes nothing of the other.
    several.apps[TWO].now = at("08:20");
    several.apps[TWO].click(two, 200);
    await several.tickAt("08:30");
    assert.equal(several.messages().length, 2);
    assert.ok(several.messages().includes(ofOne));
    assert.ok(
      several
        .messages()
        .includes("🟢 other-app: Recovered after 15 minutes: the event was delivered. Nothing is open any more."),
    );
    assert.deepEqual(several.issues().sort(), [
      both[0],
      ["other-app[bot]", "closed", "Webhook deliveries: nothing is open any more"],
    ]);
    const quiet = await several.tickAt("08:45");
    assert.deepEqual([quiet.sweeps[ONE].calls, quiet.sweeps[TWO].calls], [2, 2]);
  });

  test("an App whose state is lost finds its own issue again, and not the other's", async (t) => {
    const several = await openSeveral(t, { settings: { TELEGRAM_BOT_TOKEN: undefined, TELEGRAM_CHAT_ID: undefined } });
    await several.tickAt("08:00");
    several.breaks(ONE, "08:05");
    await several.tickAt("08:15");
    const broken = several.breaks(TWO, "08:20");
    await several.tickAt("08:30");
    const [ofOne, ofTwo] = several.apps[ONE].issues(CONTROL_REPO);
    const before = ofOne.body;
    await several.worker.writeState("state", undefined, TWO);
    await several.tickAt("08:45");
    assert.deepEqual(
      several.issues().map(([login, state]) => `${login} ${state}`),
      ["example-app[bot] open", "other-app[bot] open"],
    );
    assert.ok(ofOne.body === before && ofTwo.body.includes(broken));
  });

  test("a message is the App's own even where GitHub does not say its name", async (t) => {
    const several = await openSeveral(t, { settings: { CONTROL_REPO: undefined } });
    several.apps[TWO].fault(() => true, { status: 401, body: { message: "Bad credentials" } }, 99);
    for (const clock of ["08:00", "08:15"]) await several.tickAt(clock);
    const [text, ...more] = several.messages();
    assert.deepEqual(more, []);
    assert.ok(text.startsWith(`🔴 App ${TWO}: the recovery itself fails`), text);
    assert.match(text, new RegExp(`GITHUB_APP_PRIVATE_KEY_${TWO}`));
  });

  test("what one writes there feeds neither alarm", async (t) => {
    const github = { subscribesToIssues: true, issueEventDelayMs: 100_000 };
    const several = await openSeveral(t, { github });
    for (const fake of Object.values(several.apps)) fake.endpoint = () => 500;
    await several.tickAt("08:00");
    const broken = several.breaks(ONE, "08:05");
    const ticks = [await several.tickAt("08:15")];
    for (const clock of ["08:30", "08:45", "09:00", "09:15", "09:30"]) ticks.push(await several.tickAt(clock));
    assert.deepEqual(several.issues(), [["example-app[bot]", "open", "example-app: 1 webhook event not delivered"]]);
    for (const { asked, sweeps } of ticks) {
      assert.deepEqual(asked, { [ONE]: [], [TWO]: [] });
      assert.deepEqual([sweeps[ONE].alarm_entries, sweeps[TWO].alarm_entries], [1, 0]);
    }
    // Both heard of it by one guid, and it failed at both.
    const heard = Object.values(several.apps).map((fake) =>
      fake.deliveries.timeline.filter(({ event }) => event === "issues"),
    );
    assert.deepEqual(
      heard.map((events) => events.map(({ guid, action, code }) => [guid === heard[0][0].guid, action, code].join())),
      [["true,opened,500"], ["true,opened,500"]],
    );
    assert.equal(ticks[1].sweeps[TWO].events.own, 1);
    // The end is an edit and a closing: two events, and a person's event of the same repository is anybody's.
    several.now = at("09:31");
    several.apps[ONE].click(broken, 200);
    await several.tickAt("09:45");
    const person = several.fails(TWO, "09:50", {
      event: "issues",
      action: "labeled",
      repositoryId: several.apps[ONE].repository(CONTROL_REPO).id,
    });
    const after = [await several.tickAt("10:00"), await several.tickAt("10:15")];
    assert.deepEqual(
      after.map(({ asked }) => [...asked[ONE], ...asked[TWO]]),
      [[person], []],
    );
  });

  test("each may have its own chat and repository, or none", async (t) => {
    const several = await openSeveral(t, {
      settings: { [`CONTROL_REPO_${TWO}`]: "none", [`TELEGRAM_CHAT_ID_${TWO}`]: "-1009" },
    });
    several.telegram.addChat({ id: -1009 });
    await several.tickAt("08:00");
    const guids = [several.breaks(ONE, "08:05"), several.breaks(TWO, "08:05")];
    await several.tickAt("08:15");
    const shown = [several.messages(CHAT), several.messages(-1009)];
    assert.deepEqual(
      shown.map((texts, place) => [texts.length, texts[0].includes(guids[place])]),
      [
        [1, true],
        [1, true],
      ],
    );
    assert.deepEqual(
      several.issues().map(([login]) => login),
      ["example-app[bot]"],
    );
  });
});

describe("settings of several Apps", { concurrency: 2 }, () => {
  test("APPS beside the App of before keeps that App's state, its message and its issue", async (t) => {
    const scene = await openScene(t, { settings: { MAX_ATTEMPTS: "2", GITHUB_APP_ID: ONE } });
    await scene.tickAt("08:00");
    const guid = scene.fails("08:05");
    scene.github.deliveries.redeliver(guid, at("08:06"), 500);
    await scene.tickAt("08:15");
    scene.shows(guid);
    const before = await scene.state();
    const key = otherKeys().pkcs1;
    for (const changed of [
      // As it is, with another App beside it: that one cannot sign in, and this one goes on.
      {
        APPS: `${ONE} ${TWO}`,
        [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: key,
        [`TELEGRAM_CHAT_ID_${TWO}`]: "none",
        [`CONTROL_REPO_${TWO}`]: "none",
      },
      // And with all settings in the new form.
      {
        GITHUB_APP_ID: undefined,
        GITHUB_APP_PRIVATE_KEY: undefined,
        [`GITHUB_APP_PRIVATE_KEY_${ONE}`]: scene.bindings.GITHUB_APP_PRIVATE_KEY,
      },
    ]) {
      await settings(scene, changed);
      const time = at("08:30") + (changed.APPS ? 0 : 15 * 60_000);
      scene.now = time;
      const run = await scene.worker.tick(time);
      const line = run.logs.find(({ message, app }) => message === "sweep" && app === ONE);
      assert.deepEqual([line.failure, line.calls, line.alarm_entries], [null, 2, 1], run.lines.join("\n"));
      const after = JSON.parse(await scene.worker.state("state", ONE));
      assert.deepEqual(
        [after.alarm, after.ledger.ground.watched_since],
        [before.alarm, before.ledger.ground.watched_since],
      );
      scene.shows(guid);
    }
  });

  const wrong = [
    ["an id twice", { APPS: `${ONE},${ONE},${TWO}` }, `APPS names ${ONE} twice`],
    [
      "an id that is no number",
      { APPS: `${ONE},Iv23canary,${TWO}` },
      "APPS is no list of App ids such as 1234567,7654321: number 2 of it",
    ],
    ["another App than those", { GITHUB_APP_ID: "99" }, "GITHUB_APP_ID is not in APPS"],
    [
      "a setting for an App that is not in APPS",
      { CONTROL_REPO_99: "octo/x" },
      "CONTROL_REPO_99 is for an App that is not in APPS",
    ],
    ["a setting that all have alike", { [`SUBREQUEST_LIMIT_${TWO}`]: "99" }, `SUBREQUEST_LIMIT_${TWO} is not taken`],
  ];
  for (const [name, settings, said] of wrong) {
    test(`${name} is named for each App, and no call is made`, async (t) => {
      const several = await openSeveral(t, { settings });
      const tick = await several.tickAt("08:00");
      assert.deepEqual([tick.outcome, tick.requests.length], ["exception", 0]);
      const failures = tick.logs.filter(({ message }) => message === "failure");
      assert.deepEqual(failures.map(({ app }) => app).sort(), [ONE, TWO]);
      for (const { error } of failures) assert.ok(error.startsWith(`the settings cannot be used: ${said}`), error);
      assert.doesNotMatch(tick.lines.join("\n"), /canary/);
    });
  }

  test("a list without any App is told, and the Apps go on when it is mended", async (t) => {
    const several = await openSeveral(t, { settings: { APPS: "none yet" } });
    for (const clock of ["08:00", "08:15"]) assert.equal((await several.tickAt(clock)).outcome, "exception");
    assert.equal(several.messages().length, 1);
    assert.match(several.messages()[0], /APPS is no list of App ids such as 1234567,7654321/);
    await several.set({ APPS: `${ONE},${TWO}` });
    const failed = [several.fails(ONE, "08:20"), several.fails(TWO, "08:21")];
    // The message of the object without an App is brought to its end.
    const tick = await several.tickAt("08:30", { besides: 1 });
    assert.deepEqual([tick.outcome, tick.asked], ["ok", { [ONE]: [failed[0]], [TWO]: [failed[1]] }]);
    assert.deepEqual(several.messages(), ["🟢 Nothing is open any more."]);
  });

  test("a secret that no App has is told, and stops nobody: it is there before the list that names its App", async (t) => {
    const key = otherKeys().pkcs1;
    const scene = await openScene(t, { settings: { [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: key } });
    const failed = scene.fails("07:50");
    const tick = await scene.tickAt("08:00");
    assert.deepEqual([tick.outcome, tick.asked], ["ok", [failed]]);
    assert.deepEqual(tick.sweep.warnings, [
      `GITHUB_APP_PRIVATE_KEY_${TWO} is a setting of one of several Apps, and APPS is not set; give APPS the ids of all`,
    ]);
    const several = await openSeveral(t, {
      settings: { TELEGRAM_BOT_TOKEN_99: "1:canary", HEARTBEAT_URL: "https://canary.example" },
    });
    const { outcome, sweeps, lines } = await several.tickAt("08:00");
    assert.deepEqual(
      [outcome, sweeps[ONE].warnings.length, sweeps[TWO].warnings.length],
      ["ok", 2, 2],
      lines.join("\n"),
    );
    assert.match(sweeps[ONE].warnings[0], /^HEARTBEAT_URL belongs to one App/);
    assert.match(sweeps[ONE].warnings[1], /^TELEGRAM_BOT_TOKEN_99 is for an App that is not in APPS/);
    assert.doesNotMatch(lines.join("\n"), /canary/);
  });

  test("an App may be looked at first, with DRY_RUN for it alone", async (t) => {
    const several = await openSeveral(t, { settings: { [`DRY_RUN_${TWO}`]: true } });
    const failed = several.fails(ONE, "07:50");
    several.fails(TWO, "07:50");
    const tick = await several.tickAt("08:00");
    assert.deepEqual(
      [tick.asked, tick.sweeps[ONE].ending, tick.sweeps[TWO].ending],
      [{ [ONE]: [failed], [TWO]: [] }, "done", "dry_run"],
    );
  });
});

test("the faults of one App's fake are not the other's", async (t) => {
  const several = await openSeveral(t);
  several.apps[TWO].fault(() => true, "reset", 99);
  const tick = await several.tickAt("08:00");
  assert.deepEqual([tick.sweeps[ONE].failure, tick.sweeps[TWO].failure], [null, "transport"]);
});
