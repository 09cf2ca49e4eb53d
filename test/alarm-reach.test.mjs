// The control repository out of reach, both channels lost, and a sweep in which everything goes wrong (specification,
// section 8).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { refusal } from "./fakes/telegram.mjs";
import {
  appOpens,
  breaks,
  clicks,
  ENTER,
  newest,
  on,
  openActs,
  openAlarm,
  quiet,
  readable,
  settings,
  sweep,
} from "./worker/alarm.mjs";
import { CHAT, CONTROL_REPO } from "./worker/scene.mjs";

const OWNER = "octo-maintainer";
const RENAMED = `${OWNER}/alerts`;

describe("the control repository is out of reach", { concurrency: 2 }, () => {
  test("at one word of GitHub, which stands in Telegram until it can be reached again", async (t) => {
    const act = await openActs(t);
    const repository = (scene) => scene.github.repository(CONTROL_REPO) ?? scene.github.repository(RENAMED);
    const set = (which, property, value, before) => [
      (scene) => Object.assign(which(scene), { [property]: value }),
      (scene) => Object.assign(which(scene), { [property]: before }),
    ];
    const installation = (scene) => scene.github.installation(OWNER);
    const permissions = (scene) => installation(scene).permissions;

    // What GitHub says, and how many calls it takes until it says so.
    const breakdowns = [
      ["the App is not installed there", "Not Found (status 404)", 1, ...set(installation, "installed", false, true)],
      [
        "the App's installation leaves it out",
        "Not Found (status 404)",
        1,
        ...set(repository, "installed", false, true),
      ],
      [
        "the installation has no permission to write issues",
        "The permissions requested are not granted to this installation. (status 422)",
        2,
        ...set(permissions, "issues", "read", "write"),
      ],
      [
        "the installation is suspended",
        "This installation has been suspended (status 403)",
        2,
        ...set(installation, "suspendedAt", 1, null),
      ],
      [
        "issues are switched off",
        "Issues has been disabled in this repository. (status 410)",
        3,
        ...set(repository, "issuesEnabled", false, true),
      ],
      ["it was deleted", "Not Found (status 404)", 1, ...set(repository, "deleted", true, false)],
      [
        "it was renamed",
        "Moved Permanently (status 301)",
        1,
        ({ github }) => github.transferRepository(CONTROL_REPO, RENAMED),
        ({ github }) => github.transferRepository(RENAMED, CONTROL_REPO),
      ],
    ];

    for (const [name, said, calls, breakDown, repair] of breakdowns) {
      await act(name, async (scene) => {
        breakDown(scene);
        const guid = breaks(scene, "08:05");
        const waits = scene.fails(on(scene, "08:06"));
        const lost = await sweep(scene, "08:15");
        assert.deepEqual(lost.asked, [waits]);
        const toRepository = lost.told.filter((call) => call.includes(" ") && call !== "GET app");
        assert.deepEqual(toRepository, [...ENTER, "GET issues"].slice(0, calls), "not tried again");
        assert.match(lost.failures.join("\n"), /control repository/);
        assert.ok(lost.failures.join("\n").includes(said.replace(/ \(.*/, "")));
        assert.match(lost.sweep.warnings.join(), /the control repository cannot be reached: /);
        for (const text of [guid, `the control repository since ${readable(scene, "08:15")}`, said]) {
          assert.ok(newest(scene).includes(text), text);
        }
        assert.match(newest(scene), /^🔴 example-app: .*, the control repository cannot be reached/);
        // As long as it lasts it is tried once a sweep, and the message stays as it is.
        assert.deepEqual((await sweep(scene, "08:30")).told, toRepository);
        repair(scene);
        const back = await sweep(scene, "08:45");
        assert.deepEqual(back.told, [...ENTER, "GET issues", "POST issues", "editMessageText"]);
        scene.shows(guid);
        assert.doesNotMatch(newest(scene), /cannot be reached/i);
        assert.doesNotMatch(scene.openIssue().body, /cannot be reached/i);
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
        await quiet(scene, "09:00");
      });
    }

    await act("issues are switched off while one is open, and on again after the last event passed", async (scene) => {
      const guid = breaks(scene, "08:05");
      await sweep(scene, "08:15");
      repository(scene).issuesEnabled = false;
      await quiet(scene, "08:30");
      clicks(scene, guid, "08:35");
      const lost = await sweep(scene, "08:45");
      assert.deepEqual(lost.told.slice(0, 3), [...ENTER, "PATCH 1"]);
      assert.match(lost.failures.join(), /Issues has been disabled/);
      assert.match(newest(scene), /^🔴 example-app: the control repository cannot be reached/);
      repository(scene).issuesEnabled = true;
      await sweep(scene, "09:00");
      assert.equal(scene.openIssue(), undefined);
      assert.match(newest(scene), /^🟢/);
      await quiet(scene, "09:15");
    });

    await act(
      "neither channel starves the other: both show the change in the sweep that makes it, or the next",
      async (scene) => {
        const guids = [breaks(scene, "08:05")];
        await sweep(scene, "08:15");
        const { title, body } = scene.openIssue();
        scene.github.person.delete(CONTROL_REPO, 1);
        for (let copies = 0; copies < 15; copies += 1) await appOpens(scene, { title, body });
        guids.push(breaks(scene, "09:20"));
        const tick = await sweep(scene, "09:30");
        assert.ok(tick.told.length >= 10);
        assert.ok(
          guids.every(
            (guid) => newest(scene).includes(guid) && scene.github.issue(CONTROL_REPO, 2).body.includes(guid),
          ),
        );
        await sweep(scene, "09:45");
        await sweep(scene, "10:00");
        scene.shows(...guids);
        assert.equal(scene.openIssue().number, 2);
        await quiet(scene, "10:15");
      },
    );

    await act("a limit of the rate is no loss: it waits for the next sweep, and so does an edit", async (scene) => {
      const limit = {
        status: 403,
        headers: { "retry-after": "60" },
        body: { message: "You have exceeded a secondary rate limit." },
      };
      const guids = [breaks(scene, "08:05")];
      scene.github.fault({ method: "POST", path: `/repos/${CONTROL_REPO}/issues` }, limit);
      assert.match((await sweep(scene, "08:15")).failures.join(), /403.*secondary rate limit/);
      assert.doesNotMatch(newest(scene), /cannot be reached/i);
      await sweep(scene, "08:30");
      scene.shows(...guids);
      guids.push(breaks(scene, "08:35"));
      scene.github.fault({ method: "PATCH" }, limit);
      await sweep(scene, "08:45");
      assert.doesNotMatch(newest(scene), /cannot be reached/i);
      await sweep(scene, "09:00");
      scene.shows(...guids);
      await quiet(scene, "09:15");
    });

    for (const [name, fault] of [
      ["reset", "reset"],
      ["500", { status: 500 }],
    ]) {
      await act(`the third ${name} in a row is an entry in Telegram, and no earlier one`, async (scene) => {
        const armed = scene.github.fault({ path: /\/installation$/ }, fault, 99);
        const guid = breaks(scene, "08:05");
        for (const clock of ["08:15", "08:30"]) {
          assert.equal((await sweep(scene, clock)).failures.length, 1);
          assert.doesNotMatch(newest(scene), /cannot be reached/i);
        }
        await sweep(scene, "08:45");
        assert.ok(newest(scene).includes(`the control repository since ${readable(scene, "08:45")}`));
        armed.stop();
        await sweep(scene, "09:00");
        scene.shows(guid);
        assert.doesNotMatch(newest(scene), /cannot be reached/i);
        await quiet(scene, "09:15");
      });
    }
  });
});

describe("no channel is left", { concurrency: 2 }, () => {
  /** Whether the dead man's switch was held. */
  const heartbeats = ({ requests }) => requests.filter(({ path }) => path === "/heartbeat").length;

  test("both lost, or the only one: the run of the schedule fails and no heartbeat is sent, until one is back", async (t) => {
    const scene = await openAlarm(t);
    await settings(scene, { HEARTBEAT_URL: `${scene.github.url}/heartbeat` });
    const both = async (clock, outcome, held) => {
      const tick = await sweep(scene, clock, outcome);
      assert.deepEqual([heartbeats(tick), tick.sweep.channels_lost], [held, outcome !== "ok"], clock);
      return tick;
    };
    const chat = scene.telegram.chat(CHAT);
    const installation = scene.github.installation(OWNER);
    chat.state = "kicked";
    const guid = breaks(scene, "08:05");
    await both("08:15", "ok", 1);
    installation.installed = false;
    // Nobody calls the issue while nothing changes.
    await both("08:30", "ok", 1);
    const second = breaks(scene, "08:35");
    const waits = scene.fails(on(scene, "08:36"));
    const lost = await both("08:45", "exception", 0);
    assert.deepEqual([lost.asked, lost.sweep.ending, lost.sweep.failure], [[waits], "done", null]);
    assert.match(lost.sweep.warnings.join(), /Telegram cannot be reached.*the control repository cannot be reached/);
    await both("09:00", "exception", 0);
    chat.state = "member";
    const back = await both("09:15", "ok", 1);
    assert.deepEqual(back.toTelegram, ["sendMessage"]);
    for (const text of [guid, second, "the control repository since"]) assert.ok(newest(scene).includes(text), text);
    installation.installed = true;
    await both("09:30", "ok", 1);
    scene.shows(guid, second);
    await quiet(scene, "09:45");
    // The only one that is set, lost.
    await settings(scene, { CONTROL_REPO: undefined });
    await both("10:00", "ok", 1);
    chat.state = "left";
    const third = breaks(scene, "10:05");
    assert.deepEqual((await both("10:15", "exception", 0)).toTelegram, ["editMessageText"]);
    chat.state = "member";
    assert.deepEqual((await both("10:30", "ok", 1)).toTelegram, ["sendMessage", "editMessageText"]);
    assert.ok([guid, second, third].every((one) => newest(scene).includes(one)));
    assert.doesNotMatch(newest(scene), /cannot be reached/i);
  });
});

describe("twelve calls", { concurrency: 2 }, () => {
  test("everything goes wrong at once: no more than twelve, and the next sweeps show it all", async (t) => {
    const [GROUP, NEW] = [-4001, -1004001];
    const scene = await openAlarm(t, {
      chat: { id: GROUP, type: "group", threads: [77] },
      settings: { TELEGRAM_THREAD_ID: "77" },
    });
    const guids = [breaks(scene, "08:05")];
    await sweep(scene, "08:15");
    const { title, body } = scene.openIssue();
    // The group moves and loses its topic, Telegram wants no markup, no buttons and no haste; the issue is deleted, and
    // there are five others of ours.
    scene.telegram.migrate(GROUP, NEW);
    const inNew = (field) => (request) => request.body.chat_id === NEW && request.body[field] !== undefined;
    scene.telegram.fault(inNew("parse_mode"), refusal(400, "Bad Request: can't parse entities: none"), 9);
    scene.telegram.fault(inNew("reply_markup"), refusal(400, "Bad Request: BUTTON_URL_INVALID"), 9);
    scene.github.person.delete(CONTROL_REPO, 1);
    for (let copies = 0; copies < 5; copies += 1) await appOpens(scene, { title, body });
    guids.push(breaks(scene, "09:20"));
    let calls = 0;
    for (const clock of ["09:30", "09:45", "10:00"]) calls += (await sweep(scene, clock)).told.length;
    assert.ok(calls > 12, `it takes ${calls}`);
    assert.ok(guids.every((guid) => newest(scene, NEW).includes(guid) && scene.openIssue().body.includes(guid)));
    assert.equal(scene.openIssue().number, 2);
    await quiet(scene, "10:15");
  });
});
