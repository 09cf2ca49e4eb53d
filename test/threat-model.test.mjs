// docs/threat-model.md names a test for whatever it says is stopped: each is there, and none is skipped.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../scripts/setup.mjs";
import { read } from "./operator/pages.mjs";

const page = read("docs/threat-model.md");
const named = [...page.matchAll(/`([^`\s]+) › ([^`]+)`/g)].map(([, file, name]) => ({ file, name }));

/** Who is spoken of at least, each in a part of the page of their own. */
const ATTACKERS = [
  "Who controls the content of an event",
  "Who names a repository, an App or an organization",
  "Who controls the endpoint",
  "Who is between the Worker and GitHub or Telegram, or controls such a server",
  "Who has triage rights in the control repository",
  "Who is in the chat",
];

/** Whether the file has a test of that name: one that runs. */
const has = (file, name) => existsSync(join(root, file)) && hasTest(file, name, read(file));

function hasTest(file, name, text) {
  const exactly = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const form = file.endsWith(".rs")
    ? `(?<!#\\[ignore[^\\n]*\\s+)#\\[test\\]\\s+fn ${exactly}\\(`
    : `\\b(?:test|act|describe)\\(\\s*(["'\`])${exactly}\\1,(?!\\s*\\{[^}]*\\b(?:skip|todo)\\b)`;
  return new RegExp(form).test(text);
}

test("every test that the threat model names is there", () => {
  assert.ok(named.length > 30, `${named.length} names were found`);
  const missing = named.filter(({ file, name }) => !has(file, name));
  assert.deepEqual(missing, []);
});

test("a test that is gone, misnamed, skipped or commented out of its attribute is missed", () => {
  const [{ file, name }] = named;
  assert.ok(has(file, name));
  assert.ok(!has(file, `${name}.`) && !has(file, name.slice(1)) && !has("test/none.test.mjs", name));
  assert.ok(!has("src/policy/tests/mod.rs", "render"), "a function that is no test");
  for (const options of ["{ skip: true }", "{\n  todo: 'later' }"]) {
    assert.ok(!hasTest("a.test.mjs", "it holds", `test("it holds", ${options}, () => {})`), options);
  }
  assert.ok(!hasTest("a.rs", "it_holds", "#[ignore]\n    #[test]\n    fn it_holds() {"));
  assert.ok(!hasTest("a.test.mjs", "it holds", 'test.skip("it holds", () => {})'));
});

test("each attacker has something that stops it or says that nothing does, and the page hides neither", () => {
  const parts = page.split(/^## /m).slice(1);
  const attackers = parts.map((part) => part.split("\n")[0]);
  assert.deepEqual(
    ATTACKERS.filter((attacker) => !attackers.includes(attacker)),
    [],
  );
  for (const part of parts) assert.match(part, /› |\*\*Not stopped\*\*/, part.split("\n")[0]);
  // A bullet that claims something without a test is one of the few that are about no code.
  const bullets = page.split(/\n- /).slice(1);
  const bare = bullets.filter((bullet) => !/›|\*\*Not stopped\*\*|\(`test\/|wrangler\.toml/.test(bullet));
  assert.deepEqual(bare, []);
});
