// What an operator is told to do can be done: every command, setting and message of the pages is there, and the figures are those that
// were measured. test/operate.test.mjs plays the pages of docs/operate.

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { root } from "../scripts/setup.mjs";
import {
  codeOf,
  commandsOf,
  OPERATORS,
  PLAYED,
  quotesOf,
  read,
  saidInTables,
  settingsOf,
  unsaid,
} from "./operator/pages.mjs";

/** Names that are written like a setting and are none: wrangler's, Node's, and those that a page has for a program of ours. */
const OTHERS = ["CLOUDFLARE_API_TOKEN", "CLOUDFLARE_ACCOUNT_ID", "NODE_EXTRA_CA_CERTS", "HTTPS_PROXY", "WORKER_URL"];

const of = (what) => OPERATORS.flatMap((file) => what(read(file)).map((name) => [file, name]));

/** The files below a folder that end so. */
const below = (folder, end) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(end) && !/(^|\/)tests?(\/|\.)/.test(name))
    .map((name) => join(folder, name));

/** All that the Worker and both commands can say, with Rust's and JavaScript's ways to break a text undone. */
const source = [...below("src", ".rs"), ...below("scripts/operator", ".mjs")]
  .map((file) =>
    read(file)
      .replace(/\\\n\s*/g, "")
      .replace(/" \+\n\s*"/g, ""),
  )
  .join("\n");

test("every command of the pages is one of package.json or of wrangler", () => {
  const { scripts } = JSON.parse(read("package.json"));
  const wrangler = read("node_modules/wrangler/wrangler-dist/cli.js");
  const ofNpm = ["ci", "test", "start"];
  const isThere = (command) => {
    const [program, ...rest] = command.split(" ");
    if (program === "npx") return wrangler.includes(`command: "${rest.join(" ")}"`);
    return rest[0] === "run" ? Object.hasOwn(scripts, rest[1]) : ofNpm.includes(rest[0]);
  };
  const named = of(commandsOf);
  assert.ok(named.length > 30, `${named.length} were found`);
  assert.deepEqual(
    named.filter(([, command]) => !isThere(command)),
    [],
  );
  assert.ok(!isThere("npm run rotate") && !isThere("npx wrangler secret rotate"));
});

test("every setting of the pages is in the README's table", () => {
  const table = Array.from(read("README.md").matchAll(/^\| `([A-Z_]+)` \| (?:var|secret) \|/gm), ([, name]) => name);
  assert.ok(table.length > 20);
  const named = of(settingsOf);
  assert.ok(named.length > 60, `${named.length} were found`);
  const unknown = named.filter(([, name]) => ![...table, ...OTHERS].includes(name));
  assert.deepEqual(unknown, []);
  assert.ok(settingsOf("`MAX_RETRIES`").includes("MAX_RETRIES") && !table.includes("MAX_RETRIES"));
});

test("every flag of both commands that the pages give is one that they take", () => {
  const options = read("scripts/operator/options.mjs");
  const calls = OPERATORS.flatMap((file) => codeOf(read(file)))
    .flatMap((code) => code.replaceAll("\\\n", " ").split("\n"))
    .flatMap((line) => [...line.matchAll(/npm run (?:setup|doctor) --(?= )(.*)/g)])
    .flatMap(([, args]) => [...args.matchAll(/ --([a-z-]+)/g)]);
  assert.ok(calls.length > 8);
  for (const [, flag] of calls) assert.match(options, new RegExp(`--${flag}(?![\\w-])`));
});

test("what the pages quote in their tables of failures is what the code says", () => {
  // Those of docs/operate are what was said in its play.
  const said = OPERATORS.filter((file) => !PLAYED.includes(file)).flatMap((file) =>
    saidInTables(read(file)).map((quote) => [file, quote]),
  );
  assert.ok(said.length > 40, `${said.length} were found`);
  // The code has a place where the name of a setting stands; and one row may have two messages.
  const pieces = (quote) => quote.replaceAll("`", "").split(/\b[A-Z]{2,}(?:_[A-Z]+)*\b(?!')|, or |\s…/);
  const missing = (quote) =>
    unsaid(
      pieces(quote)
        .map((piece) => piece.trim())
        .filter(Boolean),
      [source],
    ).length > 0;
  assert.deepEqual(
    said.filter(([, quote]) => missing(quote)),
    [],
  );
  assert.ok(missing("the endpoint is asleep"));
});

test("each page of docs/operate says what you want, what to do, how to see it and what can go wrong", () => {
  const readme = read("README.md");
  for (const file of PLAYED) {
    const text = read(file);
    assert.match(text, /^# .+\n\nYou (want|have) /, file);
    assert.match(text, /^1\. /m, file);
    assert.match(text, /^## How to see that it worked\n[\s\S]+^## What can go wrong\n\n\| it says \| do \|$/m, file);
    assert.ok(quotesOf(text).length > 1, file);
    assert.ok(readme.includes(`(${file})`), `the README leads to ${file}`);
  }
});

test("every link from one page to another leads somewhere", () => {
  const links = OPERATORS.flatMap((file) =>
    Array.from(read(file).matchAll(/\]\((?!https?:)([^)#]+)/g), ([, link]) => [file, link]),
  );
  assert.ok(links.length > 30);
  const dead = links.filter(([file, link]) => !existsSync(join(root, dirname(file), link)));
  assert.deepEqual(dead, []);
});

test("the figures of the paid plan are those of the comparison", () => {
  const [, fleet] = read("docs/compare.md").split("The busy fleet: ");
  const row = (name) => {
    const line = fleet.split("\n").find((text) => text.startsWith(name));
    const [, , , calls, time] = line.split("│");
    const [aDay, mostOfOne] = calls.trim().split(/ +/);
    const [median, longest] = time.match(/[\d.]+ (?:min|h)/g);
    return [median, longest, aDay, mostOfOne];
  };
  const text = read("docs/operate/paid-plan.md");
  const [, body] = /\| --- \| --- \| --- \|\n((?:\|.*\n)+)/.exec(text);
  const cells = body
    .trim()
    .split("\n")
    .map((line) => line.split("|").map((cell) => cell.trim()));
  assert.deepEqual(
    cells.map(([, , free]) => free),
    row("this Worker"),
  );
  assert.deepEqual(
    cells.map(([, , , paid]) => paid),
    row(" both, paid plan"),
  );
  assert.ok(text.includes(Number(/^\d+/.exec(fleet)[0]).toLocaleString("en-US")));
  const [, played] = /name: " both, paid plan",[\s\S]*?&\[\n([\s\S]*?)\n\s*\]\)/.exec(
    read("test/compare/policies/mod.rs"),
  );
  const set = Object.fromEntries(
    Array.from(played.matchAll(/\("(\w+)", "(\w+)"\)/g), ([, name, value]) => [name, value]),
  );
  for (const [name, value] of Object.entries(set)) {
    assert.ok(text.includes(`${name} = "${value}"`) || text.includes(`${name}=${value}`), name);
  }
});
