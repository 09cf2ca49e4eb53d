// `npm run setup` without a terminal, as a script calls it, and what no output and no file may hold.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { writeVarsFile } from "../scripts/operator/vars-file.mjs";
import { readVars, writeVars } from "../scripts/operator/wrangler-toml.mjs";
import { CHAT, openDesk } from "./operator/scene.mjs";
import { assertNoSecret } from "./worker/secrets.mjs";

test("it names all at once that is missing", async (t) => {
  const desk = await openDesk(t);
  assert.equal(await desk.setup({}), 1);
  assert.match(desk.printed, /Missing: --deploy or --dev-vars; --app-id \(or GITHUB_APP_ID\); --key-file \(or/);
  assert.equal(await desk.setup({ TELEGRAM_BOT_TOKEN: "1:a" }, ["--dev-vars"]), 1);
  assert.match(desk.printed, /--chat-id \(or TELEGRAM_CHAT_ID\)/);
  assert.equal(await desk.setup({ TELEGRAM_CHAT_ID: "1" }, ["--deploy"]), 1);
  assert.match(desk.printed, /TELEGRAM_BOT_TOKEN in the environment/);
  assert.ok(!desk.has(".dev.vars"));
});

test("flags, a file and the environment are enough to deploy", async (t) => {
  const desk = await openDesk(t);
  const args = [
    "--deploy",
    "--app-id",
    "1234567",
    "--key-file",
    "app.private-key.pem",
    "--control-repo",
    "octo/control",
  ];
  const { TELEGRAM_BOT_TOKEN } = desk.settings;
  assert.equal(await desk.setup({ TELEGRAM_BOT_TOKEN }, [...args, "--chat-id", String(CHAT)]), 0, desk.printed);
  assert.deepEqual(
    desk.wranglerCalls.map(({ args }) => args.join(" ")),
    ["whoami --json", "secret list --format json", "secret bulk", "deploy"],
  );
  assert.equal(readVars(desk.folder).CONTROL_REPO, "octo/control");
  assert.equal(desk.telegram.messages(CHAT).length, 1);
});

test("the address that a deployment prints becomes STATUS_URL where there is a page, and once", async (t) => {
  const deploys = (desk) => desk.wranglerCalls.filter(({ args }) => args[0] === "deploy").length;
  const address = "https://github-app-redeliver.ada.workers.dev";
  const desk = await openDesk(t);
  Object.assign(desk.cloud, { address, secrets: ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"] });
  assert.equal(await desk.setup(desk.settings, ["--deploy"]), 0, desk.printed);
  assert.deepEqual([readVars(desk.folder).STATUS_URL, deploys(desk)], [undefined, 1], "without ADMIN_TOKEN");
  desk.cloud.secrets.push("ADMIN_TOKEN");
  assert.equal(await desk.setup(desk.settings, ["--deploy"]), 0, desk.printed);
  assert.deepEqual([readVars(desk.folder).STATUS_URL, deploys(desk)], [address, 3], "and it is deployed");
  assert.match(desk.printed, /STATUS_URL, so that the alarm has a button/);
  writeVars(desk.folder, { STATUS_URL: "https://redeliver.example" });
  assert.equal(await desk.setup(desk.settings, ["--deploy"]), 0, desk.printed);
  assert.deepEqual([readVars(desk.folder).STATUS_URL, deploys(desk)], ["https://redeliver.example", 4]);
  desk.cloud.address = undefined;
  writeVars(desk.folder, { STATUS_URL: "" });
  assert.equal(await desk.setup(desk.settings, ["--deploy"]), 0, desk.printed);
  assert.deepEqual([readVars(desk.folder).STATUS_URL, deploys(desk)], ["", 5], "workers_dev = false");
});

test("a deployment goes by wrangler.toml, this machine by .dev.vars", async (t) => {
  const desk = await openDesk(t);
  const { CONTROL_REPO, ...rest } = desk.settings;
  writeVars(desk.folder, { CONTROL_REPO });
  writeVarsFile(desk.folder, { CONTROL_REPO: "octo/nowhere" });
  assert.equal(await desk.setup(rest, ["--deploy"]), 0, desk.printed);
  assert.doesNotMatch(desk.printed, /dry run/i, "that of .dev.vars is not deployed");
  assert.equal(await desk.setup(rest, ["--dev-vars"]), 1);
  assert.match(desk.printed, /Dry run: DRY_RUN is true in \.dev\.vars/);
});

test("what the deployed Worker has is not missing", async (t) => {
  const desk = await openDesk(t);
  desk.cloud.secrets = ["GITHUB_APP_PRIVATE_KEY"];
  assert.equal(await desk.setup({ GITHUB_APP_ID: "1234567" }, ["--deploy"]), 0, desk.printed);
  assert.match(desk.printed, /not checked: App/);
});

test("a problem stops it before anything is written", async (t) => {
  const desk = await openDesk(t);
  desk.github.repository("octo/control").archived = true;
  assert.equal(await desk.setup(undefined, ["--deploy"]), 1);
  assert.match(desk.printed, /PROBLEM: Control repository: octo\/control is archived.*\n→ Unarchive it/);
  assert.deepEqual(
    desk.wranglerCalls.map(({ args }) => args[0]),
    ["whoami", "secret"],
  );
  assert.equal(readVars(desk.folder).GITHUB_APP_ID, "");
});

test("a setting that the Worker would refuse stops it first", async (t) => {
  const desk = await openDesk(t);
  writeVars(desk.folder, { MAX_ATTEMPTS: "1" });
  assert.equal(await desk.setup(undefined, ["--dev-vars"]), 1);
  assert.match(desk.printed, /PROBLEM: Settings: MAX_ATTEMPTS from wrangler\.toml cannot be used\./);
  assert.deepEqual([desk.github.requests.length, desk.has(".dev.vars")], [0, false]);
});

test("a wrangler that fails is quoted without the secrets that it repeats", async (t) => {
  for (const fails of ["secret bulk", "deploy"]) {
    const desk = await openDesk(t);
    desk.cloud.fails = fails;
    assert.equal(await desk.setup(undefined, ["--deploy"]), 1);
    assert.match(desk.printed, /PROBLEM: Wrangler: The (secrets|Worker) could not be .*exit code 1/);
    assert.match(desk.printed, /\[ERROR\] it went wrong/);
    assertNoSecret([desk.printed], desk.settings);
    assert.equal(readVars(desk.folder).GITHUB_APP_ID, "1234567", "what was right is kept for the next run");
  }
});

test("no secret is in any output, and in no file but .dev.vars", async (t) => {
  const desk = await openDesk(t);
  const broken = [
    () => desk.github.fault({ path: "/app" }, "reset"),
    () => desk.github.fault({ path: "/app/hook/config" }, { status: 500, body: "oops" }),
    () => desk.telegram.fault({ method: "getMe" }, "reset"),
    () => desk.telegram.fault({ method: "sendMessage" }, { status: 500, body: "oops" }),
    () => {},
  ];
  for (const break_ of broken) {
    break_();
    await desk.doctor();
    break_();
    for (const target of ["--deploy", "--dev-vars"]) await desk.setup(undefined, [target]);
  }
  assert.ok(desk.has(".dev.vars"), "the last run was a right one");
  assert.match(desk.read(".dev.vars"), /BEGIN RSA PRIVATE KEY/);
  // The stub's notes hold what came through stdin; its arguments are what other users of the machine can see.
  const notes = ["calls.jsonl", "cloud.json", "wrangler", "app.private-key.pem", ".dev.vars"];
  const files = readdirSync(desk.folder).filter((name) => !notes.includes(name));
  assert.ok(files.includes("wrangler.toml"));
  const texts = files.map((name) => readFileSync(desk.path(name), "utf8"));
  const onCommandLines = desk.wranglerCalls.map(({ args }) => args.join(" "));
  assertNoSecret([desk.printed, ...texts, ...onCommandLines], desk.settings);
  assert.ok(
    desk.wranglerCalls.every(({ secrets }) => secrets.length === 0),
    "a build that wrangler starts gets no secret",
  );
});
