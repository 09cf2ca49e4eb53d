// `npm run doctor` and `npm run setup` where there are several Apps.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { readApps, SCOPES } from "../scripts/operator/apps.mjs";
import { diagnose } from "../scripts/operator/diagnose.mjs";
import { readSettings, Settings } from "../scripts/operator/settings.mjs";
import { readVars } from "../scripts/operator/wrangler-toml.mjs";
import { root } from "../scripts/setup.mjs";
import { otherKeys, startGitHub } from "./fakes/github.mjs";
import { openDesk } from "./operator/scene.mjs";
import { assertNoSecret } from "./worker/secrets.mjs";
import { ONE, SECOND, TWO } from "./worker/several.mjs";

const keys = otherKeys();

/** A desk whose GitHub knows a second App, and right settings for both. */
async function openBoth(t) {
  const desk = await openDesk(t);
  const two = await startGitHub({
    now: desk.github.now,
    beside: desk.github,
    app: { ...SECOND, publicKey: keys.publicKey },
  });
  t.after(() => two.close());
  two.deliver({ event: "push", code: 200 });
  desk.cloud.secrets = ["GITHUB_APP_PRIVATE_KEY", `GITHUB_APP_PRIVATE_KEY_${TWO}`, "TELEGRAM_BOT_TOKEN"];
  const both = { ...desk.settings, APPS: `${ONE}, ${TWO}`, [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: keys.pkcs1 };
  return Object.assign(desk, { two, both });
}

/** What the doctor finds that is not in order, as `App: check, text`. */
async function findings(desk, settings) {
  const { root: folder, env, ports, wrangler } = desk.world(settings);
  const found = await diagnose(ports, readSettings({ root: folder, env }), { wrangler, env });
  const ill = found.filter(({ state }) => state === "problem" || state === "skipped");
  return ill.map(({ group, check, text }) => `${group ?? "all"}: ${check}, ${text}`);
}

function vars(desk, lines) {
  writeFileSync(
    desk.path("wrangler.toml"),
    `name = "x"\n\n[vars]\n${lines.join("\n")}\n\n[observability]\nenabled = true\n`,
  );
}

describe("the doctor", { concurrency: 2 }, () => {
  test("looks at each App, below its number, and at what they have in common once", async (t) => {
    const desk = await openBoth(t);
    assert.equal(await desk.doctor(desk.both), 0, desk.printed);
    const lines = desk.printed.split("\n").map((line) => line.trim());
    assert.deepEqual(
      lines.filter((line) => /^App \d/.test(line)),
      [`App ${ONE}`, `App ${TWO}`],
    );
    assert.match(desk.printed, /✔ {2}Apps +APPS has 2: 1234567, 7654321\./);
    assert.match(desk.printed, /✔ {2}App +Example App \(id 1234567\)[\s\S]*✔ {2}App +Other App \(id 7654321\)/);
    assert.equal(desk.printed.match(/deployed Worker/g).length, 1);
    assert.match(desk.printed, /\n 21 in order\.\n$/);
    assertNoSecret([desk.printed], desk.both);
  });

  test("says of one what is wrong with it, and the other stays in order", async (t) => {
    const desk = await openBoth(t);
    assert.deepEqual(await findings(desk, desk.both), []);
    const wrongKey = { ...desk.both, [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: otherKeys().pkcs1 };
    const [first, ...others] = await findings(desk, wrongKey);
    assert.match(first, /^App 7654321: App, The key is not one of the App 7654321/);
    assert.ok(
      others.every((text) => /^App 7654321: .*without the App/.test(text)),
      others.join("\n"),
    );
    assert.equal(await desk.doctor(wrongKey), 1);
    desk.cloud.secrets = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"];
    const missing = { ...desk.both, [`GITHUB_APP_PRIVATE_KEY_${TWO}`]: "" };
    const [noKey, ...more] = await findings(desk, missing);
    assert.match(noKey, /^App 7654321: private key, GITHUB_APP_PRIVATE_KEY_7654321 is not set\./);
    assert.match(more.at(-1), /^all: deployed Worker, It has no secret GITHUB_APP_PRIVATE_KEY_7654321\./);
  });

  test("takes each App's own settings before those of all", async (t) => {
    const desk = await openBoth(t);
    const own = {
      ...desk.both,
      [`CONTROL_REPO_${TWO}`]: "octo/nowhere",
      [`MAX_ATTEMPTS_${ONE}`]: "99",
      [`TELEGRAM_CHAT_ID_${TWO}`]: "none",
    };
    const found = await findings(desk, own);
    assert.match(found[0], /^App 1234567: settings, MAX_ATTEMPTS_1234567 from the environment cannot be used\./);
    assert.match(found[1], /^App 7654321: control repository, .*octo\/nowhere/);
    assert.equal(found.length, 2);
    const { root: folder, env } = desk.world({ ...own, [`TELEGRAM_CHAT_ID_${ONE}`]: "42", TELEGRAM_THREAD_ID: "7" });
    const settings = readSettings({ root: folder, env });
    const apps = readApps(settings);
    const [one, two] = apps.ids.map((id) => settings.of(apps, id));
    // A topic is one of its chat, and an App without a chat has no bot either.
    assert.deepEqual([one.get("TELEGRAM_CHAT_ID"), one.get("TELEGRAM_THREAD_ID")], ["42", ""]);
    assert.deepEqual(
      [two.has("TELEGRAM_CHAT_ID"), two.has("TELEGRAM_BOT_TOKEN"), one.has("TELEGRAM_BOT_TOKEN")],
      [false, false, true],
    );
  });

  const wrong = [
    ["an id twice", { APPS: `${ONE} ${ONE}` }, /APPS names 1234567 twice/],
    ["an id that is no number", { APPS: `${ONE},${TWO},example-app` }, /APPS has something that is no App id/],
    ["a list without an id", { APPS: "," }, /APPS names no App/],
    ["another App", { GITHUB_APP_ID: "99" }, /GITHUB_APP_ID from the environment is not in APPS/],
    [
      "a setting for another App",
      { CONTROL_REPO_99: "octo/x" },
      /CONTROL_REPO_99 from the environment is for an App that is not in APPS/,
    ],
    [
      "a setting that all have",
      { [`SUBREQUEST_LIMIT_${TWO}`]: "99" },
      /SUBREQUEST_LIMIT_7654321 from the environment is not taken/,
    ],
    [
      "a setting without a list",
      { APPS: "", [`DRY_RUN_${TWO}`]: "true" },
      /DRY_RUN_7654321 from the environment is for one of several Apps, and APPS is not set/,
    ],
  ];
  for (const [name, change, says] of wrong) {
    test(`tells: ${name}`, async (t) => {
      const desk = await openBoth(t);
      const found = await findings(desk, { ...desk.both, ...change });
      assert.ok(
        found.some((text) => text.startsWith("all: Apps, ") && says.test(text)),
        found.join("\n"),
      );
      assert.equal(await desk.doctor({ ...desk.both, ...change }), 1);
    });
  }

  test("warns of secrets that no App has, and of those that the deployed Worker has", async (t) => {
    const desk = await openBoth(t);
    desk.cloud.secrets.push("GITHUB_APP_PRIVATE_KEY_99", `GITHUB_APP_PRIVATE_KEY_${ONE}`);
    const stray = {
      ...desk.both,
      HEARTBEAT_URL_98: "https://x.example",
      [`GITHUB_APP_PRIVATE_KEY_${ONE}`]: desk.settings.GITHUB_APP_PRIVATE_KEY,
    };
    assert.equal(await desk.doctor({ ...stray, GITHUB_APP_ID: "" }), 0, desk.printed);
    const said = desk.printed.replace(/\s+/g, " ");
    assert.match(said, /! Apps HEARTBEAT_URL_98 from the environment is for an App that is not in APPS\./);
    assert.match(
      said,
      /! Apps GITHUB_APP_PRIVATE_KEY from the environment belongs to one App, and there are several\./,
    );
    assert.match(
      said,
      /! deployed Worker It has GITHUB_APP_PRIVATE_KEY_99, for an App that is not in APPS\. → npx wrangler secret delete GITHUB_APP_PRIVATE_KEY_99/,
    );
  });

  test("asks the deployed Worker for all of its Apps", async (t) => {
    const desk = await openBoth(t);
    const apps = [
      { app: ONE, ok: true, word: "all_well", last_sweep: "2026-11-02T08:00:00Z" },
      { app: TWO, ok: true, word: "all_well", last_sweep: "2026-11-02T08:00:00Z" },
    ];
    desk.change.fetch = (url, how) => {
      if (!url.startsWith("https://worker.example/")) return fetch(url, how);
      if (url.endsWith("/status.json")) return Promise.resolve(Response.json({ error: "choose one" }, { status: 400 }));
      return Promise.resolve(Response.json({ version: 1, ok: apps.every((app) => app.ok), apps }));
    };
    const worker = { WORKER_URL: "https://worker.example/", ADMIN_TOKEN: "canary-admin-token" };
    assert.equal(await desk.doctor({ ...desk.both, ...worker }), 0, desk.printed);
    assert.match(desk.printed, /All is well with 2 Apps\./);
    Object.assign(apps[1], { ok: false, word: "failing", last_sweep: null });
    assert.equal(await desk.doctor({ ...desk.both, ...worker }), 1);
    assert.match(desk.printed.replace(/\s+/g, " "), /not all is well: App 7654321 failing, no good sweep yet\./);
  });
});

test("an array of wrangler.toml is read, on one line or on several", async (t) => {
  const desk = await openBoth(t);
  for (const list of [
    "[1234567, 7654321]",
    '[\n  "1234567",\n  "7654321",\n]',
    '"1234567, 7654321"',
    "'1234567 7654321'",
  ]) {
    vars(desk, [`APPS = ${list} # two`, 'CONTROL_REPO = "octo/control"', `CONTROL_REPO_${TWO} = "octo/two"`]);
    const settings = readSettings({ root: desk.folder, env: {} });
    assert.deepEqual(readApps(settings).ids, [ONE, TWO], list);
    assert.deepEqual([settings.get("CONTROL_REPO"), settings.get(`CONTROL_REPO_${TWO}`)], ["octo/control", "octo/two"]);
    assert.deepEqual(Object.keys(readVars(desk.folder)), ["APPS", "CONTROL_REPO", `CONTROL_REPO_${TWO}`]);
  }
});

test("names of the environment that are no setting are nobody's", () => {
  const settings = readSettings({ root, env: { APPS: ONE, LS_COLORS_1: "x", [`EDITOR_${ONE}`]: "vi" } });
  assert.deepEqual(
    settings.names().filter((name) => name !== "APPS" && settings.from(name) === "the environment"),
    [],
  );
});

describe("the set-up", { concurrency: 2 }, () => {
  const args = ["--deploy", "--key-file", "app.private-key.pem"];
  const withoutKeys = ({ both }) => ({ ...both, GITHUB_APP_PRIVATE_KEY: undefined });

  test("sets up the App of GITHUB_APP_ID, and leaves the settings of the others as they are", async (t) => {
    const desk = await openBoth(t);
    vars(desk, [`APPS = [${ONE}, ${TWO}]`, `GITHUB_APP_ID = "${ONE}"`, `CONTROL_REPO_${TWO} = "octo/two"`]);
    const { APPS: _, ...env } = withoutKeys(desk);
    assert.equal(await desk.setup(env, args), 0, desk.printed);
    assert.match(
      desk.printed.replace(/\s+/g, " "),
      /APPS has 2 Apps\. This sets up 1234567 alone; for 7654321: docs\/several-apps\.md\./,
    );
    const secrets = desk.wranglerCalls.filter(({ args: [command] }) => command === "secret").map(({ input }) => input);
    assert.deepEqual(Object.keys(JSON.parse(secrets.find((input) => input !== ""))), [
      "GITHUB_APP_PRIVATE_KEY",
      "TELEGRAM_BOT_TOKEN",
    ]);
    assert.ok(
      desk
        .read("wrangler.toml")
        .includes(`APPS = [${ONE}, ${TWO}]\nGITHUB_APP_ID = "${ONE}"\nCONTROL_REPO_${TWO} = "octo/two"\n`),
    );
    assert.ok(
      desk.wranglerCalls.every(({ secrets: seen }) => seen.length === 0),
      "no secret is in a program's environment",
    );
  });

  for (const [name, given] of [
    ["another of them", ["--app-id", TWO]],
    ["none of them", []],
  ]) {
    test(`does not do ${name}: it says how, and writes nothing`, async (t) => {
      const desk = await openBoth(t);
      vars(desk, [`APPS = "${ONE},${TWO}"`, ...(given.length > 0 ? [`GITHUB_APP_ID = "${ONE}"`] : [])]);
      const before = desk.read("wrangler.toml");
      const env = { ...desk.settings, GITHUB_APP_ID: undefined, GITHUB_APP_PRIVATE_KEY: undefined };
      assert.equal(await desk.setup(env, given.length > 0 ? [...args, ...given] : ["--deploy"]), 1);
      const said = desk.printed.replace(/\s+/g, " ");
      const which = given.length > 0 ? TWO : ONE;
      assert.ok(said.includes(`npx wrangler secret put GITHUB_APP_PRIVATE_KEY_${which}`), said);
      assert.ok(said.includes(`CONTROL_REPO_${which} = "owner/name"`) && said.includes("Nothing was written."), said);
      assert.equal(desk.read("wrangler.toml"), before);
      assert.ok(
        desk.wranglerCalls.every(({ args: called }) => !["bulk", "deploy"].some((word) => called.includes(word))),
      );
    });
  }

  test("takes the only App of a list", async (t) => {
    const desk = await openBoth(t);
    vars(desk, [`APPS = [${ONE}]`]);
    const env = { ...desk.settings, GITHUB_APP_ID: undefined, GITHUB_APP_PRIVATE_KEY: undefined };
    assert.equal(await desk.setup(env, args), 0, desk.printed);
    assert.match(desk.read("wrangler.toml"), /GITHUB_APP_ID = "1234567"/);
  });

  test("stops at a list that is wrong", async (t) => {
    const desk = await openBoth(t);
    vars(desk, [`APPS = "${ONE},${ONE}"`, `GITHUB_APP_ID = "${ONE}"`]);
    const { APPS: _, ...env } = withoutKeys(desk);
    assert.equal(await desk.setup(env, args), 1);
    assert.match(desk.printed, /APPS names 1234567 twice/);
  });
});

test("whose a setting may be is as the Worker has it", () => {
  const source = readFileSync(join(root, "src", "config", "apps.rs"), "utf8");
  const [, table] = /const SETTINGS: [^=]+= \[\n([\s\S]*?)\n\];/.exec(source);
  const names = { APPS: "APPS", APP_ID: "GITHUB_APP_ID", KEY: "GITHUB_APP_PRIVATE_KEY" };
  const rows = Array.from(table.matchAll(/\((?:"(\w+)"|(\w+)), Scope::(\w+)\)/g));
  const found = rows.map(([, name, constant, scope]) => [name ?? names[constant], scope.toLowerCase()]);
  assert.deepEqual(Object.fromEntries(found), SCOPES);
  assert.equal(found.length, Object.keys(SCOPES).length);
});

test("a summary for all is not meant for the App that is to be without Telegram", async (t) => {
  const desk = await openBoth(t);
  const both = { ...desk.both, DAILY_SUMMARY: "07:00", [`TELEGRAM_CHAT_ID_${TWO}`]: "none" };
  // Only what wrangler.toml says of it is deployed, and the doctor reads all.
  assert.deepEqual(await findings(desk, both), []);
  assert.deepEqual(await findings(desk, { ...both, [`DAILY_SUMMARY_${TWO}`]: "08:00" }), [
    `App ${TWO}: settings, DAILY_SUMMARY_${TWO} is set, and there is no chat of Telegram that it could go to.`,
  ]);
  assert.deepEqual(await findings(desk, { ...both, [`DAILY_SUMMARY_${TWO}`]: "none" }), []);
});

test("settings that nothing was said of are as they were with one App", () => {
  const settings = new Settings();
  settings.set("GITHUB_APP_ID", "Iv23abc", "a flag");
  settings.set("CONTROL_REPO", "octo/control", "a flag");
  const apps = readApps(settings);
  assert.deepEqual([apps.ids, apps.findings], [["Iv23abc"], []]);
  const own = settings.of(apps, "Iv23abc");
  assert.deepEqual(
    [own.get("GITHUB_APP_ID"), own.from("GITHUB_APP_ID"), own.get("CONTROL_REPO")],
    ["Iv23abc", "a flag", "octo/control"],
  );
  assert.equal(own.called("CONTROL_REPO"), "CONTROL_REPO");
});
