// A channel of the alarm that fails stops neither the asks nor the other channel (specification, section 8).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { at, CHAT, CONTROL_REPO, openScene } from "./worker/scene.mjs";

const QUARTER = 15 * 60_000;
const REPO_CALLS = /^\/(repos|app\/installations)\//;

/** Up to the sweep before the one in which the first of these gives up, and one more is to be asked for. */
async function stage(t, settings = {}) {
  const scene = await openScene(t, { settings: { MAX_ATTEMPTS: "2", ...settings } });
  scene.github.endpoint = ({ event }) => (event === "push" ? 500 : 200);
  await scene.tickAt("08:00");
  const poison = scene.fails("08:05", 500, { event: "push" });
  assert.deepEqual((await scene.tickAt("08:15")).asked, [poison]);
  const other = scene.fails("08:20");
  return { scene, poison, other };
}

/**
 * Three quarters of an hour for each fault, from 08:30 on: the newest of `open` gives up while it lasts and another event is
 * to be asked for; the sweep after it shows all, and one more gets its first ask.
 */
async function eachFault(scene, open, other, faults, meet) {
  let time = at("08:30");
  let waiting = other;
  for (const [name, fault] of faults) {
    await meet(
      name,
      fault,
      async () => {
        const tick = await scene.tickAt(time);
        assert.deepEqual([tick.outcome, tick.asked], ["ok", [waiting]], name);
        return tick;
      },
      open,
    );
    await scene.tickAt(time + QUARTER);
    scene.shows(...open);
    assert.equal((await scene.tickAt(time + QUARTER + 1000)).calls, 2, `after ${name}`);
    open.push(scene.fails(time + 20 * 60_000, 500, { event: "push" }));
    assert.deepEqual((await scene.tickAt(time + 2 * QUARTER)).asked, [open.at(-1)]);
    waiting = scene.fails(time + 2 * QUARTER + 60_000);
    time += 3 * QUARTER;
  }
}

const telegramFaults = [
  ["answers 500", { status: 500, body: { ok: false, error_code: 500, description: "Internal Server Error" } }],
  ["answers in HTML", { status: 502, body: "<html>" }],
  ["resets", "reset"],
  ["does not know the token", { status: 401, body: { ok: false, error_code: 401, description: "Unauthorized" } }],
  [
    "asks to wait for an hour",
    {
      status: 429,
      body: {
        ok: false,
        error_code: 429,
        description: "Too Many Requests: retry after 3600",
        parameters: { retry_after: 3600 },
      },
    },
  ],
];

const repositoryFaults = [
  ["answers 500", { status: 500 }],
  ["answers 403", { status: 403, body: { message: "Resource not accessible by integration" } }],
  ["answers 404", { status: 404, body: { message: "Not Found" } }],
  ["resets", "reset"],
  ["answers in HTML", { status: 200, body: "<html>" }],
];

describe("a channel that fails", { concurrency: 2 }, () => {
  test("Telegram down: asks and the issue go out all the same, and the next sweep shows what is open", async (t) => {
    const { scene, poison, other } = await stage(t);
    await eachFault(scene, [poison], other, telegramFaults, async (name, fault, tickAt, open) => {
      const before = JSON.stringify(scene.messages());
      const armed = scene.telegram.fault({}, fault, 9);
      const tick = await tickAt();
      armed.stop();
      assert.ok(scene.openIssue().body.includes(open.at(-1)), name);
      assert.equal(JSON.stringify(scene.messages()), before, name);
      assert.ok(
        tick.logs.some(({ message, error }) => message === "failure" && /Telegram/.test(error)),
        name,
      );
    });
  });

  test("the control repository down: asks and Telegram go out all the same, and the next sweep shows what is open", async (t) => {
    const { scene, poison, other } = await stage(t);
    await eachFault(scene, [poison], other, repositoryFaults, async (name, fault, tickAt, open) => {
      const before = JSON.stringify(scene.openIssue()?.body);
      const armed = scene.github.fault(({ path }) => REPO_CALLS.test(path), fault, 9);
      const tick = await tickAt();
      armed.stop();
      assert.ok(scene.messages().at(-1).text.includes(open.at(-1)), name);
      assert.equal(JSON.stringify(scene.openIssue()?.body), before, name);
      assert.ok(
        tick.logs.some(({ message, error }) => message === "failure" && /control repository/.test(error)),
        name,
      );
    });
  });

  test("what came and went while Telegram was down is not sent", async (t) => {
    const { scene, poison } = await stage(t);
    const armed = scene.telegram.fault({}, { status: 500 }, 99);
    await scene.ticks("08:30", "08:45");
    scene.github.click(poison, 200);
    await scene.tickAt("09:00");
    armed.stop();
    const after = await scene.ticks("09:15", "09:30");
    assert.deepEqual(scene.messages(), []);
    assert.equal(scene.openIssue(), undefined);
    assert.ok(after.every(({ calls }) => calls === 2));
  });

  test("each step of writing the issue can fail, and no second issue is opened by that", async (t) => {
    const { scene, poison } = await stage(t);
    // One step further with each sweep: finding the installation, a token, the list, the lost answer of the creation.
    const issues = `/repos/${CONTROL_REPO}/issues`;
    scene.github.fault({ method: "GET", path: /installation$/ }, { status: 500 });
    scene.github.fault({ method: "POST", path: /access_tokens$/ }, { status: 500 });
    scene.github.fault({ method: "GET", path: issues }, { status: 500 });
    scene.github.fault({ method: "POST", path: issues }, "lost-answer");
    await scene.ticks("08:30", "09:30");
    scene.shows(poison);
    assert.equal(scene.github.issues(CONTROL_REPO).length, 1);
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
  });

  test("a message that a person deleted is sent anew when there is something to say", async (t) => {
    const { scene, poison } = await stage(t);
    await scene.tickAt("08:30");
    scene.telegram.personDeletes(CHAT, scene.messages()[0].message_id);
    const second = scene.fails("08:35", 500, { event: "push" });
    await scene.ticks("08:45", "09:00");
    scene.shows(poison, second);
    assert.equal(scene.messages().length, 1);
  });

  test("hostile names are shown as they are, and break neither channel", async (t) => {
    const { scene } = await stage(t);
    const event = '<b>&"x</b>`|@octocat #1';
    const action = "![](http://127.0.0.1/x)</code><a href='http://x'>";
    const guid = scene.fails("08:25", 500, { event, action });
    scene.github.endpoint = () => 500;
    await scene.ticks("08:30", "08:45");
    const text = scene.messages().at(-1).text;
    assert.ok(text.includes(event) && text.includes(guid));
    assert.ok(scene.openIssue().body.includes(guid));
  });

  test("either channel alone does, and the other is not called", async (t) => {
    const telegram = await stage(t, { CONTROL_REPO: undefined });
    const repository = await stage(t, { TELEGRAM_BOT_TOKEN: undefined, TELEGRAM_CHAT_ID: undefined });
    await telegram.scene.tickAt("08:30");
    assert.ok(telegram.scene.messages()[0].text.includes(telegram.poison));
    assert.deepEqual(
      telegram.scene.github.requests.filter(({ path }) => REPO_CALLS.test(path)),
      [],
    );
    await repository.scene.tickAt("08:30");
    assert.ok(repository.scene.openIssue().body.includes(repository.poison));
    assert.deepEqual(repository.scene.telegram.requests, []);
  });

  test("the token of the control repository is narrowed to it and to issues", async (t) => {
    const { scene } = await stage(t);
    scene.github.addRepository({ fullName: "octo-maintainer/secret", ownerType: "User" });
    const { requests } = await scene.tickAt("08:30");
    const { body } = requests.find(({ path }) => path.endsWith("/access_tokens"));
    assert.deepEqual(body, { repositories: ["alarms"], permissions: { issues: "write" } });
  });
});
