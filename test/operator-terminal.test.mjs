// Both commands as programs: in a real terminal (Python's pty), through a proxy, and as npm calls them.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import http from "node:http";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { readVarsFile } from "../scripts/operator/vars-file.mjs";
import { root as repository } from "../scripts/setup.mjs";
import { choose, KEY } from "./operator/person.mjs";
import { CHAT, openDesk, REPO } from "./operator/scene.mjs";
import { assertNoSecret } from "./worker/secrets.mjs";

const beside = (name) => join(dirname(fileURLToPath(import.meta.url)), "operator", name);

/** Runs a program; the fakes answer it meanwhile. */
function run(program, args, env) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd: repository, env, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
    child.on("close", (code) => resolve({ code, output: stripVTControlCharacters(output), raw: output }));
  });
}

const inTerminal = (desk, answers, args, env = {}) => {
  const program = [process.execPath, beside("launch.mjs"), desk.folder, ...args];
  return run("python3", [beside("terminal.py"), JSON.stringify(answers), ...program], desk.environment(env));
};

test("a newcomer in a real terminal of 80 columns", async (t) => {
  const desk = await openDesk(t);
  desk.telegram.personWrites(CHAT);
  const answers = [
    ["What shall be set up?", choose(1)],
    ["App id, as", `1234567${KEY.enter}`],
    ["Private key: the", KEY.enter],
    ["Where shall the alarm go?", choose(0)],
    ["Bot token, from", desk.telegram.token + KEY.enter],
    ["Which chat shall the alarm go to?", choose(0)],
    ["Control repository, for", REPO + KEY.enter],
  ];
  const { code, output, raw } = await inTerminal(desk, answers, ["setup"]);
  assert.equal(code, 0, output);
  assert.equal(readVarsFile(desk.folder).CONTROL_REPO, REPO);
  assertNoSecret([output], desk.settings);
  // A prompt that is drawn anew begins by moving the cursor.
  const drawn = new RegExp(`\\r?\\n|${String.fromCharCode(27)}\\[\\d*[A-HJK]`);
  const lines = raw.split(drawn).map(stripVTControlCharacters);
  const long = lines.filter((line) => line.length > 80);
  assert.deepEqual(long, []);
});

test("Ctrl-C in a real terminal writes nothing, at a question or while it waits", async (t) => {
  const desk = await openDesk(t);
  const atQuestion = [
    ["What shall be set up?", choose(1)],
    ["App id, as", KEY.cancel],
  ];
  const { code, output } = await inTerminal(desk, atQuestion, ["setup"]);
  assert.equal(code, 1, output);
  const waiting = [["Waiting for a message to the bot", KEY.cancel]];
  const settings = { ...desk.settings, TELEGRAM_CHAT_ID: "" };
  const { code: signalled } = await inTerminal(desk, waiting, ["setup", "--dev-vars"], settings);
  assert.equal(signalled, 130);
  assert.ok(!desk.has(".dev.vars"));
});

test("a proxy that wants a password is named, not what it was asked for", async (t) => {
  const desk = await openDesk(t);
  const proxy = http.createServer().on("connect", (_request, socket) => {
    socket.end("HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n");
  });
  await new Promise((resolve) => proxy.listen(0, "127.0.0.1", () => resolve(undefined)));
  t.after(() => proxy.close());
  const { port } = /** @type {import('node:net').AddressInfo} */ (proxy.address());
  Object.assign(desk.services, {
    GITHUB_API_URL: "https://ghe.example/api/v3",
    TELEGRAM_API_URL: "https://tg.example",
  });
  const env = desk.environment({ ...desk.settings, HTTPS_PROXY: `http://127.0.0.1:${port}` });
  const { code, output } = await run(process.execPath, [beside("launch.mjs"), desk.folder, "doctor"], env);
  assert.equal(code, 1);
  assert.equal(output.match(/The proxy wants a user and a password/g)?.length, 2, output);
  assertNoSecret([output], desk.settings);
});

test("npm's own scripts start both commands", async () => {
  // Without a target the set-up ends before it reads anybody's settings or calls anybody.
  const npm = (...args) => run("npm", ["run", "--silent", ...args], process.env);
  const setup = await npm("setup");
  assert.equal(setup.code, 1);
  assert.match(setup.output, /Without a terminal nothing can be asked\. Missing: --deploy or --dev-vars/);
  for (const command of ["setup", "doctor"]) {
    const { code, output } = await npm(command, "--", "--help");
    assert.equal(code, 0);
    assert.match(output, /Secrets are never flags/);
    assert.deepEqual(
      output.split("\n").filter((line) => line.length > 80),
      [],
    );
  }
});
