// What the set-up writes, read back by wrangler itself.

import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test } from "node:test";
import { unstable_getVarsForDev, unstable_readConfig } from "wrangler";
import { readKey } from "../scripts/operator/checks/key.mjs";
import { readNamedFile } from "../scripts/operator/settings.mjs";
import { readVarsFile, withValues, writeVarsFile } from "../scripts/operator/vars-file.mjs";
import { readVars, withVars, writeVars } from "../scripts/operator/wrangler-toml.mjs";
import { testKeys } from "./fakes/github.mjs";

/** @type {string} */
let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "operator-files-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const path = (name) => join(folder, name);
const devVars = () => readFileSync(path(".dev.vars"), "utf8");

/** What `wrangler dev` gives the Worker of the file. */
const byWrangler = () => {
  const vars = unstable_getVarsForDev(path("wrangler.toml"), undefined, {}, undefined, true);
  return Object.fromEntries(Object.entries(vars).map(([name, { value }]) => [name, value]));
};

test("a key and a token in .dev.vars come out of wrangler as they went in", () => {
  const { pkcs1 } = testKeys();
  const values = { GITHUB_APP_PRIVATE_KEY: pkcs1, TELEGRAM_BOT_TOKEN: "7000000001:AA-_x", TELEGRAM_CHAT_ID: "-100" };
  writeVarsFile(folder, values);
  assert.equal(statSync(path(".dev.vars")).mode & 0o777, 0o600);
  const read = byWrangler();
  assert.deepEqual({ ...read, GITHUB_APP_PRIVATE_KEY: `${read.GITHUB_APP_PRIVATE_KEY}\n` }, values);
  assert.deepEqual(readVarsFile(folder), read, "and are read here as wrangler reads them");
  assert.ok("key" in readKey(read.GITHUB_APP_PRIVATE_KEY));
});

test("what else is in .dev.vars stays, a value over several lines is replaced as a whole", () => {
  const before = `# mine
export OTHER='a "quoted" # value' # why
GITHUB_APP_PRIVATE_KEY="-----BEGIN
TELEGRAM_CHAT_ID=not this one
-----END"
  TELEGRAM_CHAT_ID = 1 # the old one
# TELEGRAM_CHAT_ID=2
EMPTY=
LAST=x`;
  writeFileSync(path(".dev.vars"), before, { mode: 0o644 });
  writeVarsFile(folder, { TELEGRAM_CHAT_ID: "-5", GITHUB_APP_PRIVATE_KEY: "a\nb\n", CONTROL_REPO: "o/n" });
  assert.equal(
    devVars(),
    `# mine
export OTHER='a "quoted" # value' # why
GITHUB_APP_PRIVATE_KEY="a\\nb"
TELEGRAM_CHAT_ID="-5"
# TELEGRAM_CHAT_ID=2
EMPTY=
LAST=x
CONTROL_REPO="o/n"
`,
  );
  assert.equal(statSync(path(".dev.vars")).mode & 0o777, 0o600, "whatever it was before");
  assert.equal(byWrangler().OTHER, 'a "quoted" # value');
  assert.equal(withValues(devVars(), { TELEGRAM_CHAT_ID: "-5" }), devVars(), "again changes nothing");
});

test("a value that the file could not hold is refused before anything is written", () => {
  writeFileSync(path(".dev.vars"), "A=1\n");
  for (const bad of ['a"b', "a$b", "a`b", "a\\b"]) {
    assert.throws(() => writeVarsFile(folder, { CONTROL_REPO: bad }), { message: /cannot hold/ });
  }
  assert.equal(devVars(), "A=1\n");
  assert.deepEqual(readdirSync(folder), [".dev.vars"], "no second file is left");
});

test("a link to a file elsewhere stays a link", () => {
  writeFileSync(path("elsewhere"), "A=1\n");
  symlinkSync(path("elsewhere"), path(".dev.vars"));
  writeVarsFile(folder, { B: "2" });
  assert.equal(readFileSync(path("elsewhere"), "utf8"), 'A=1\nB="2"\n');
});

const TOML = `name = "x"
[vars]
# Required.
GITHUB_APP_ID = "" # from the settings page
DRY_RUN = true
OTHER = 'single'

# The next one.
[observability]
enabled = true
`;

test("the vars of wrangler.toml are changed in place, and wrangler reads them", () => {
  writeFileSync(path("wrangler.toml"), TOML);
  writeVars(folder, { GITHUB_APP_ID: "1234567", CONTROL_REPO: "octo/control" });
  assert.equal(
    readFileSync(path("wrangler.toml"), "utf8"),
    TOML.replace('GITHUB_APP_ID = ""', 'GITHUB_APP_ID = "1234567"').replace(
      "'single'\n",
      "'single'\nCONTROL_REPO = \"octo/control\"\n",
    ),
  );
  const { vars } = unstable_readConfig({ config: path("wrangler.toml") }, { hideWarnings: true });
  assert.deepEqual(vars, { GITHUB_APP_ID: "1234567", DRY_RUN: true, OTHER: "single", CONTROL_REPO: "octo/control" });
  assert.deepEqual(readVars(folder), { ...vars, DRY_RUN: "true" });
});

test("wrangler.toml without vars gets them", () => {
  assert.equal(withVars('name = "x"\n', { A: "1" }), 'name = "x"\n\n[vars]\nA = "1"\n');
});

test("a path is read as people write it", () => {
  writeFileSync(path("my key.pem"), "text");
  const where = { cwd: folder, home: folder };
  for (const named of [
    "my key.pem",
    "'my key.pem'",
    '"my key.pem"',
    "my\\ key.pem",
    "~/my key.pem",
    path("my key.pem"),
  ]) {
    assert.deepEqual(readNamedFile(named, where), { text: "text" }, named);
  }
  assert.match(readNamedFile("nowhere", where).wrong, /There is no file/);
  assert.match(readNamedFile(".", where).wrong, /is a folder/);
  writeFileSync(path("long"), "x".repeat(70_000));
  assert.match(readNamedFile("long", where).wrong, /too long/);
});
