// `npm run setup` with a person at the keyboard: what is asked, what is checked, what is written, and when nothing is.

import assert from "node:assert/strict";
import { rmSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { readVarsFile } from "../scripts/operator/vars-file.mjs";
import { readVars } from "../scripts/operator/wrangler-toml.mjs";
import { otherKeys, testKeys } from "./fakes/github.mjs";
import { choose, KEY, person, type } from "./operator/person.mjs";
import { CHAT, openDesk, REPO } from "./operator/scene.mjs";
import { assertNoSecret } from "./worker/secrets.mjs";

const NEWCOMER = {
  target: [/What shall be set up/, choose(1)],
  appId: [/App id, as/, type("1234567")],
  key: [/Private key: the/, KEY.enter],
  where: [/Where shall the alarm go/, choose(0)],
  token: (desk) => [/Bot token, from/, type(desk.telegram.token)],
  chat: [/Which chat shall the alarm go to/, choose(0)],
  repo: [/Control repository, for/, type(REPO)],
};

/** Every answer of somebody for whom all is right. @returns {any[]} */
const newcomer = (desk, change = {}) =>
  Object.values({ ...NEWCOMER, ...change }).flatMap((given) => {
    const answer = typeof given === "function" ? given(desk) : given;
    return Array.isArray(answer[0]) ? answer : [answer];
  });

/** Runs the set-up with these answers; all of them must have been asked for, and no secret be on the screen. */
async function sit(desk, answers, { env = {}, args = [] } = {}) {
  const someone = person(answers);
  const code = await desk.setup(env, args, someone.streams);
  assert.deepEqual(someone.unasked, [], someone.screen);
  assertNoSecret([someone.screen], desk.settings);
  return { code, screen: someone.screen.replace(/\s*\n[│\s]*/g, " ") };
}

test("a newcomer is asked for all, and has a .dev.vars that the doctor finds right", async (t) => {
  const desk = await openDesk(t);
  // Somebody writes to the bot while the set-up waits.
  desk.change.pause = async () => desk.telegram.personWrites(CHAT);
  const { code, screen } = await sit(desk, newcomer(desk));
  assert.equal(code, 0, screen);
  assert.match(screen, /Private key: the.*app\.private-key\.pem/, "the file in the folder is suggested");
  assert.match(screen, /open https:\/\/t\.me\/redelivery_bot, press Start/);
  assert.match(screen, /Alarms \(supergroup\)/);
  const [message] = desk.telegram.messages(CHAT);
  assert.match(message.text, /^Test of github-app-redeliver/);
  assert.equal(statSync(desk.path(".dev.vars")).mode & 0o777, 0o600);
  const { DRY_RUN, ...vars } = readVarsFile(desk.folder);
  assert.equal(DRY_RUN, "true", "what the example says stays");
  assert.deepEqual(
    { ...vars, GITHUB_APP_PRIVATE_KEY: `${vars.GITHUB_APP_PRIVATE_KEY}\n` },
    { ...desk.settings, ...desk.services },
  );
  desk.services = {};
  assert.equal(await desk.doctor({}), 0, desk.printed);
});

test("a second run asks for nothing, sends no message and changes nothing", async (t) => {
  const desk = await openDesk(t);
  desk.telegram.personWrites(CHAT);
  await sit(desk, newcomer(desk));
  const before = desk.read(".dev.vars");
  const { code, screen } = await sit(desk, [NEWCOMER.target]);
  assert.equal(code, 0);
  assert.match(screen, /App: Example App.*Telegram chat: The bot may write to Alarms.*may write issues/);
  assert.equal(desk.read(".dev.vars"), before);
  assert.equal(desk.telegram.messages(CHAT).length, 1);
});

test("secrets go into the Worker through stdin, the rest into wrangler.toml", async (t) => {
  const desk = await openDesk(t);
  desk.telegram.personWrites(CHAT);
  const { code, screen } = await sit(
    desk,
    newcomer(desk, { target: [/What shall be set up/, choose(0)], last: [/Deploy now/, choose(0)] }),
  );
  assert.equal(code, 0, screen);
  const calls = desk.wranglerCalls.map(({ args }) => args.join(" "));
  assert.deepEqual(calls, ["whoami --json", "secret list --format json", "secret bulk", "deploy"]);
  assert.deepEqual(JSON.parse(desk.wranglerCalls[2].input), {
    GITHUB_APP_PRIVATE_KEY: testKeys().pkcs1,
    TELEGRAM_BOT_TOKEN: desk.telegram.token,
  });
  const { GITHUB_APP_ID, TELEGRAM_CHAT_ID, CONTROL_REPO } = readVars(desk.folder);
  assert.deepEqual([GITHUB_APP_ID, TELEGRAM_CHAT_ID, CONTROL_REPO], ["1234567", String(CHAT), REPO]);
  assert.ok(!desk.has(".dev.vars"));
  assertNoSecret([desk.read("wrangler.toml"), ...calls], desk.settings);
});

test("the secrets of the deployed Worker can stay, and then are not checked", async (t) => {
  const desk = await openDesk(t);
  desk.cloud.secrets = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"];
  const { GITHUB_APP_ID, TELEGRAM_CHAT_ID, CONTROL_REPO } = desk.settings;
  const answers = [
    [/What shall be set up/, choose(0)],
    [/has a private key/, choose(0)],
    [/has a bot token/, choose(0)],
    [/Deploy now/, choose(0)],
  ];
  const { code, screen } = await sit(desk, answers, { env: { GITHUB_APP_ID, TELEGRAM_CHAT_ID, CONTROL_REPO } });
  assert.equal(code, 0, screen);
  assert.match(screen, /App: Not checked/);
  assert.deepEqual(
    desk.wranglerCalls.map(({ args }) => args[0]),
    ["whoami", "secret", "deploy"],
  );
});

test("a bot that is given up leaves the deployed Worker too, or it would have half a setting", async (t) => {
  const desk = await openDesk(t);
  desk.cloud.secrets = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"];
  const { GITHUB_APP_ID, GITHUB_APP_PRIVATE_KEY, CONTROL_REPO } = desk.settings;
  const answers = [
    [/What shall be set up/, choose(0)],
    [/Bot token, from/, type("7000000001:AAwrong")],
    [/How to go on/, choose(2)],
    [/Deploy now/, choose(0)],
  ];
  const { code } = await sit(desk, answers, { env: { GITHUB_APP_ID, GITHUB_APP_PRIVATE_KEY, CONTROL_REPO } });
  assert.equal(code, 0);
  const put = desk.wranglerCalls.find(({ args }) => args.includes("bulk"));
  assert.deepEqual(JSON.parse(put.input), { GITHUB_APP_PRIVATE_KEY, TELEGRAM_BOT_TOKEN: null });
});

test("whoever is not signed in is told the command, and can go on once that is done", async (t) => {
  const desk = await openDesk(t);
  desk.cloud.signedIn = false;
  const signIn = () => {
    desk.cloud.signedIn = true;
    desk.environment();
    return choose(0);
  };
  const answers = [
    [/What shall be set up/, choose(0)],
    [/How to go on/, signIn],
    [/App id, as/, KEY.cancel],
  ];
  const { code, screen } = await sit(desk, answers);
  assert.equal(code, 1);
  assert.match(screen, /not signed in to Cloudflare\. → Run: npx wrangler login/);
  assert.match(screen, /You are signed in to Ada's account.*Cancelled\. Nothing was written/);
});

test("a mistyped answer is told at once, a wrong one after the check, and another can be given", async (t) => {
  const desk = await openDesk(t);
  desk.telegram.personWrites(CHAT);
  writeFileSync(desk.path("other.pem"), otherKeys().pkcs1);
  const answers = newcomer(desk, {
    appId: [
      [/App id, as/, type("example app")],
      [/Give the App id, a number/, type("999")],
    ],
    key: [
      [/Private key: the/, type("nowhere.pem")],
      [/There is no file/, type("other.pem")],
      [/knows no App with the id 999.*How to go on/, choose(0)],
      [/App id, as/, type("1234567")],
      [/The key is not one of the App.*How to go on/, choose(0)],
      [/Private key: the/, KEY.enter],
    ],
    token: () => [
      [/Bot token, from/, type("redelivery_bot")],
      [/That is the bot's name/, type("7000000001:AAwrong")],
      [/knows no bot with this token.*How to go on/, choose(0)],
      [/Bot token, from/, type(desk.telegram.token)],
    ],
    repo: [
      [/Control repository, for/, type("octo/nowhere")],
      [/but not in octo\/nowhere.*How to go on/, choose(0)],
      [/Control repository, for/, type(REPO)],
    ],
  });
  const { code, screen } = await sit(desk, answers);
  assert.equal(code, 0, screen);
});

test("what is put right meanwhile is checked again, and what is not needed can be left out", async (t) => {
  const desk = await openDesk(t);
  desk.telegram.personWrites(CHAT);
  desk.telegram.chat(CHAT).state = "kicked";
  const hook = desk.github.webhook;
  desk.github.webhook = null;
  const repair = () => {
    desk.github.webhook = hook;
    return choose(0);
  };
  const answers = newcomer(desk, {
    key: [
      [/Private key: the/, KEY.enter],
      [/no active webhook.*How to go on/, repair],
    ],
    chat: [
      [/Which chat shall the alarm go to/, choose(0)],
      [/bot is not in the chat any more.*How to go on/, choose(2)],
    ],
  });
  const { code, screen } = await sit(desk, answers);
  assert.equal(code, 0, screen);
  assert.match(screen, /Webhook: It goes to example\.com/);
  const { TELEGRAM_BOT_TOKEN, TELEGRAM_CHAT_ID, CONTROL_REPO } = readVarsFile(desk.folder);
  assert.deepEqual([TELEGRAM_BOT_TOKEN, TELEGRAM_CHAT_ID, CONTROL_REPO], ["", "", REPO], "no half of Telegram");
});

test("a group that became a supergroup is followed", async (t) => {
  const desk = await openDesk(t);
  desk.telegram.migrate(CHAT, -1009);
  const { code } = await sit(desk, [NEWCOMER.target], { env: desk.settings });
  assert.equal(code, 0);
  assert.equal(readVarsFile(desk.folder).TELEGRAM_CHAT_ID, "-1009");
  assert.equal(desk.telegram.messages(-1009).length, 1);
});

test("the chats that wrote are offered, the newest first, with their topics and without what a terminal obeys", async (t) => {
  const desk = await openDesk(t, {
    telegram: {
      chats: [
        { id: CHAT, threads: [17] },
        { id: 42, title: "Ada\x1b[2J\u202E" },
      ],
    },
  });
  desk.telegram.personWrites(42);
  desk.telegram.personWrites(CHAT);
  desk.telegram.personWrites(CHAT, { thread: 17 });
  const { code, screen } = await sit(desk, newcomer(desk));
  assert.equal(code, 0, screen);
  assert.match(screen, /Alarms \(supergroup, topic 17\).*Alarms \(supergroup\).*Ada.*\(private\)/);
  assert.ok(!screen.includes("\u202E"));
  assert.equal(readVarsFile(desk.folder).TELEGRAM_THREAD_ID, "17");
  assert.equal(desk.telegram.messages(CHAT)[0].thread, 17);
  const reads = desk.telegram.requests.filter(({ method }) => method === "getUpdates").map(({ body }) => body);
  assert.deepEqual(reads, [{ limit: 100, timeout: 0 }], "whoever else reads the updates still gets them");
});

test("a bot whose updates go elsewhere, or that nobody writes to, takes a chat by hand", async (t) => {
  for (const webhook of ["https://example.com/bot", undefined]) {
    const desk = await openDesk(t);
    desk.telegram.webhook = webhook;
    let pauses = 0;
    desk.change.pause = async () => {
      pauses += 1;
    };
    const chat = [
      [/Which chat shall the alarm go to/, choose(1)],
      [/Number of the chat/, type("nonsense")],
      [/Give the chat's number/, type(String(CHAT))],
    ];
    const { code, screen } = await sit(desk, newcomer(desk, { chat }));
    assert.equal(code, 0, screen);
    assert.equal(/The bot has a webhook/.test(screen), webhook !== undefined);
    assert.equal(pauses, webhook ? 0 : 80);
  }
});

test("Ctrl-C at any question writes nothing", async (t) => {
  const desk = await openDesk(t);
  desk.telegram.personWrites(CHAT);
  const all = newcomer(desk);
  for (let index = 0; index < all.length; index += 1) {
    const answers = [...all.slice(0, index), [all[index][0], KEY.cancel]];
    const { code, screen } = await sit(desk, answers);
    assert.equal(code, 1);
    assert.match(screen, /Cancelled\. Nothing was written\./);
    assert.ok(!desk.has(".dev.vars"), `after question ${index}`);
  }
  assert.deepEqual(desk.wranglerCalls, []);
});

test("before it deploys it asks, and .dev.vars is another way", async (t) => {
  const desk = await openDesk(t);
  const target = [/What shall be set up/, choose(0)];
  const stopped = await sit(desk, [target, [/Deploy now/, choose(2)]], { env: desk.settings });
  assert.equal(stopped.code, 1);
  assert.ok(!desk.has(".dev.vars"));
  const { code } = await sit(desk, [target, [/Deploy now/, choose(1)]], { env: desk.settings });
  assert.equal(code, 0);
  assert.equal(readVarsFile(desk.folder).GITHUB_APP_ID, "1234567");
  assert.ok(!desk.wranglerCalls.some(({ args }) => args.includes("bulk") || args.includes("deploy")));
  assert.equal(readVars(desk.folder).GITHUB_APP_ID, "");
});

test("what comes from .dev.vars is named before it is deployed", async (t) => {
  const desk = await openDesk(t);
  await sit(desk, [NEWCOMER.target], { env: desk.settings });
  const answers = [
    [/What shall be set up/, choose(0)],
    [/Taken from \.dev\.vars: GITHUB_APP_ID,.*GITHUB_APP_PRIVATE_KEY, TELEGRAM_BOT_TOKEN\..*Deploy now/, choose(2)],
  ];
  assert.equal((await sit(desk, answers)).code, 1);
});

test("a file that cannot be read is named", async (t) => {
  const desk = await openDesk(t);
  rmSync(desk.path("wrangler.toml"));
  const { code, screen } = await sit(desk, [NEWCOMER.target], { env: desk.settings });
  assert.equal(code, 1);
  assert.match(screen, /wrangler\.toml cannot be written or read \(ENOENT\)/);
});

test("Stop writes nothing either", async (t) => {
  const desk = await openDesk(t);
  const answers = [NEWCOMER.target, [/How to go on/, choose(2)]];
  const { code } = await sit(desk, answers, { env: { ...desk.settings, GITHUB_APP_ID: "999" } });
  assert.equal(code, 1);
  assert.ok(!desk.has(".dev.vars"));
});
