// docs/first-day.md is what a newcomer sees today, and does nothing that the README does not name.

import assert from "node:assert/strict";
import { test } from "node:test";
import { firstDay, RENEW } from "./operator/first-day.mjs";
import { read } from "./operator/pages.mjs";

const page = read("docs/first-day.md");

test("docs/first-day.md is what its play makes", async (t) => {
  assert.ok((await firstDay(t)) === page, `docs/first-day.md is stale: run \`${RENEW}\``);
});

test("each of its commands is one that the README gives for the set-up", () => {
  const [, setUp] = read("README.md").split("## Set it up\n");
  const commands = Array.from(page.matchAll(/```sh\n([\s\S]*?)```/g), ([, text]) => text.trim().split("\n")).flat();
  assert.equal(commands.length, 4);
  for (const command of commands) assert.ok(setUp.split("\n## ")[0].includes(`\n${command} `), command);
});

test("it names no place of the machine that made it, and no address of a test", () => {
  const paths = Array.from(page.matchAll(/(?<![\w.)])\/[a-z]+\/[\w./-]+/g), ([path]) => path);
  assert.ok(paths.length > 0);
  assert.deepEqual(
    paths.filter((path) => !path.startsWith("/home/ada/")),
    [],
  );
  assert.doesNotMatch(page, /127\.0\.0\.1|localhost/);
});
