// `npm start`: the day plays to its end and tells the truth, and a listing is judged whatever form it comes in. Both run
// as a person starts them, but for the set-up.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Failures } from "../scripts/demo/failures.mjs";
import { readListing } from "../scripts/demo/listing.mjs";
import { startGitHub } from "./fakes/github.mjs";

const main = fileURLToPath(new URL("../scripts/demo/main.mjs", import.meta.url));
const realItems = fileURLToPath(new URL("fixtures/listing-real-items.json", import.meta.url));

let directory;
before(() => {
  directory = mkdtempSync(join(tmpdir(), "redeliver-demo-"));
});
after(() => rmSync(directory, { recursive: true }));

async function demo(args = [], env = {}, standsIn = directory) {
  const child = spawn(process.execPath, [main, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, INIT_CWD: standsIn, ...env },
  });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (text) => (output[name] += text));
  const [code] = await once(child, "close");
  assert.equal(output.stderr, "");
  assert.ok(!output.stdout.includes("\x1b"), "no colours where nobody looks");
  return { code, text: output.stdout, words: output.stdout.replace(/\s+/g, " ") };
}

/** Writes a listing, and has it judged from where it lies. */
function judge(listing, { args = [], env } = {}) {
  const folder = mkdtempSync(join(directory, "listing-"));
  writeFileSync(join(folder, "deliveries.json"), listing);
  return demo(["--input", "deliveries.json", ...args], env, folder);
}

describe("the day", { concurrency: 2 }, () => {
  test("plays to its end in less than a minute, and shows what the Worker does", async () => {
    const started = performance.now();
    const { code, text, words } = await demo();
    assert.equal(code, 0, text);
    assert.ok(performance.now() - started < 60_000);
    const sentences = [
      "You see the real Worker",
      "00:15 to 07:30 · 30 quiet sweeps, 2 calls each",
      "GitHub is asked to redeliver 10 events",
      "4 events wait: ten are asked for in a sweep",
      "issue_comment created web 500 → 500 → 200",
      "pull_request_review submitted mobile 0 → 200",
      "Gave up: the third attempt failed",
      "new message, with a sound",
      "🔴 ci-pager: 1 webhook event not delivered (since 2026-11-02 12:51",
      "[ Open the App's Advanced page ↗ ]",
      "https://github.com/organizations/harbor/settings/apps/ci-pager/advanced",
      "ci-pager: 1 webhook event not delivered (since 2026-11-02 12:51 UTC)",
      "workflow_run completed web 503 (newer: 14:26)",
      "What lies before is a gap",
      "Not asked for yet: something newer of its kind may stand in the gap",
      "Not seen yet: it timed out, and lies in the gap",
      "The gap is read to its end",
      "push billing 0 → 200",
      "Delivered by the click, so it leaves the alarm",
      "edited, without a sound",
      "🟢 Recovered after 4 h 30 min: the event was delivered.",
      "sweeps 96",
      "gave up 1",
      "✓ Checked: each of the 21 events that failed was delivered, overtaken or told.",
      "npx wrangler login",
      "npm run setup",
    ];
    for (const sentence of sentences) assert.ok(words.includes(sentence), `${sentence}\n\n${text}`);
    assert.deepEqual(tooLong(text, 80), []);
  });

  test("uses a wider terminal, up to where lines are hard to read", async () => {
    const { code, text } = await judge(readFileSync(realItems), { env: { COLUMNS: "200" } });
    assert.equal(code, 0);
    assert.deepEqual(tooLong(text, 110), []);
    assert.ok(tooLong(text, 80).length > 0);
  });

  test("notices a sweep that says something else than what happened", async (t) => {
    const github = await startGitHub();
    t.after(() => github.close());
    github.deliver({ event: "push", code: 500, guid: "a" });
    const failures = new Failures(github);
    const events = {
      waiting: 0,
      recovered: 0,
      superseded: 0,
      gave_up: 0,
      not_redeliverable: 0,
      refused: 0,
      uncountable: 0,
    };
    const sweep = { events: { ...events, redelivered: 0, left_behind: 0 }, gaps: 0, newest_gap: null };
    failures.take({ sweep, scheduled: "08:00", redeliveries: [], gaveUp: [] }, github.now);
    assert.deepEqual(failures.problems, ["08:00: the Worker counts 0 events as waiting, the demo 1"]);
    failures.take({ sweep, scheduled: "08:15", redeliveries: [{ guid: "a" }], gaveUp: [] }, github.now);
    assert.equal(failures.problems.at(-1), "08:15: the Worker counts 0 events as redelivered, the demo 1");
    assert.equal(failures.open.length, 1);
  });
});

describe("a listing", { concurrency: 2 }, () => {
  test("the real items are judged, whichever form gh printed them in", async () => {
    const array = readFileSync(realItems, "utf8");
    const items = array.split("\n").flatMap((line) => (line.startsWith("{") ? [line.replace(/,$/, "")] : []));
    assert.equal(items.length, 12);
    const pages = [items.slice(0, 5), items.slice(5, 10), items.slice(10)].map((page) => `[${page.join(",")}]`);
    const forms = {
      "one array": array,
      "an array a page, as --paginate once printed": pages.join(""),
      "an array a page, each on a line": pages.join("\n"),
      "--slurp": `[${pages.join(",")}]`,
      "--jq '.[]'": items.join("\n"),
      "--jq '.[]', pretty": items.map((one) => one.replaceAll(",", ",\n  ")).join("\n"),
      "overlapping pages": `${pages[0]}[${items.slice(3).join(",")}]`,
      "UTF-16 of PowerShell": Buffer.from(`\uFEFF${array}`, "utf16le"),
      "UTF-8 with a mark": `\uFEFF${array}`,
    };
    const read = (listing) => readListing(Buffer.from(listing), "deliveries.json");
    for (const [form, listing] of Object.entries(forms)) assert.deepEqual(read(listing), read(array), form);

    const args = ["--now", "2024-07-25T12:00:00Z"];
    const { code, text, words } = await judge(forms["one array"], { args });
    assert.equal(code, 0, text);
    assert.match(
      words,
      /11:50:32 503 workflow_job completed \(1\) asked for again 180a8f00-4a7c-11ef-8350-d1961bccd09f/,
    );
    assert.match(words, /11 events in 11 deliveries 7 delivered at once 1 asked for again 3 left alone/);
    for (const form of ["an array a page, as --paginate once printed", "--slurp", "--jq '.[]'"]) {
      assert.equal((await judge(forms[form], { args })).text, text, form);
    }
  });

  test("by default the sweep is the one after the newest delivery, and what is older than its window is said to be", async () => {
    const { code, words } = await judge(readFileSync(realItems));
    assert.equal(code, 0);
    assert.match(words, /What a sweep at 2026-07-18 20:30:00 UTC would decide/);
    assert.match(words, /the 3 hours since 2026-07-18 17:30:00/);
    assert.match(words, /8 delivered at once 4 left alone: from before the window/);
    assert.match(words, /add --now 2024-07-25T12:00:00Z/);
  });

  test("every event has the verdict of the Worker, the newest first", async () => {
    const { code, text, words } = await judge(everyVerdict());
    assert.equal(code, 0, text);
    const expected = [
      "2026-11-02 09:10:00 503 push (479544328) asked for again",
      "09:09:00 500 pull_request opened (479544328) asked for again",
      "08:00:00 500 issue_comment created (479544328) gave up: its last attempt 08:30:00 500 00000003-82e7-11f1-959e-7ce606dfe5da failed 08:45:00 500",
      "08:20:00 500 deployment left alone: its first",
      "08:10:00 401 installation created refused: the endpoint would",
      "07:03:20 502 release published (479544328) delivered 07:20:00 200",
      "06:30:00 0 workflow_run completed (479544328) superseded: a newer event of",
      "Delivered at once (2): workflow_run completed, push.",
      "9 events in 12 deliveries",
    ];
    let from = 0;
    for (const part of expected) {
      const found = words.indexOf(part, from);
      assert.ok(found >= from, `${part}\n\n${text}`);
      from = found;
    }
  });

  test("a wider window takes in more", async () => {
    const listing = [item(1, "2026-11-02T01:00:00Z", 500), item(2, "2026-11-02T09:00:00Z", 200)];
    const narrow = await judge(array(listing));
    assert.match(narrow.words, /1 left alone: from before the window/);
    const wide = await judge(array(listing), { args: ["--window-hours", "12"] });
    assert.match(wide.words, /1 asked for again/);
  });

  test("more than a sweep reads is judged all the same, and said", async () => {
    const start = Date.parse("2026-11-02T08:00:00Z");
    const many = Array.from({ length: 2_500 }, (_, index) =>
      item(index, new Date(start + index * 1000).toISOString(), 200),
    );
    const { words } = await judge(array([...many, item(9_000, "2026-11-02T07:59:00Z", 0)]));
    assert.match(words, /reads 20 pages of 100 deliveries, and later sweeps the rest/);
    assert.match(words, /2,500 delivered at once 1 asked for again/);
  });

  test("ids of 19 digits keep the last one", () => {
    const digits = ["9007199254740993", "3831983788892626943", "3831983788892626944", "18446744073709551615"];
    const texts = digits.map((id, index) => item(index, "2026-11-02T09:00:00Z", 200).replace(/"id":\d+/, `"id":${id}`));
    assert.deepEqual(
      readListing(Buffer.from(array(texts)), "f").map(({ id }) => String(id)),
      digits,
    );
    const [text] = readListing(Buffer.from(texts[1].replace(/"id":(\d+)/, '"id":"$1"')), "f");
    assert.equal(text.id, 3831983788892626943n);
  });

  test("what a terminal would obey is not passed on", async () => {
    const { code, text } = await judge(
      array([item(1, "2026-11-02T09:00:00Z", 500, { event: "push\\u001b[2J\\u0007", action: "\\u202edone" })]),
    );
    assert.equal(code, 0);
    assert.match(text, /push� �done/);
  });
});

describe("input that cannot be judged ends with code 2 and says what to do", { concurrency: 2 }, () => {
  const good = item(1, "2026-11-02T09:00:00Z", 200);
  const without = (field) => `[${good.replace(new RegExp(`"${field}":("[^"]*"|[^,}]*),`), "")}]`;
  const cases = [
    ["nothing in it", "", /is empty.*gh api --paginate/s],
    ["no JSON", "hello", /is not JSON: line 1 has "hello".*gh api/s],
    ["the head of the answer", "HTTP/2.0 200 OK\n\n[]", /leave out -i/],
    ["broken JSON", '[{"id":1,}]', /is not JSON: in what begins on line 1/],
    ["cut off", `[${good},\n{"id":2,"gu`, /ends in the middle of its JSON/],
    ["an empty list", "[]", /holds no deliveries/],
    [
      "an error of GitHub",
      '{"message":"Bad credentials","status":"401"}',
      /an error of GitHub, not a listing: "Bad credentials"/,
    ],
    ["something else", "[1]", /the only item is 1, not a delivery/],
    ["no id", without("id"), /has no "id"/],
    ["no guid", `[${good},${without("guid").slice(1)}`, /item 2 of 2 has no "guid".*A sweep judges by id, guid/s],
    ["no event", without("event"), /has no "event"/],
    ["no status_code", without("status_code"), /has no "status_code"/],
    ["no date", `[${good.replace(/"2026[^"]*"/, '"yesterday"')}]`, /has "yesterday" as "delivered_at", not a time/],
    ["a rounded id", `[${good.replace(/"id":\d+/, '"id":3.84e18')}]`, /as "id", not a whole number/],
    [
      "two events with one id",
      `[${good},${good.replace(/"guid":"[^"]*"/, '"guid":"x"')}]`,
      /something has rounded the ids/,
    ],
    [
      "a name too long for the Worker",
      `[${good.replace(/"event":"[^"]*"/, `"event":"${"x".repeat(300)}"`)}]`,
      /The Worker could not read/,
    ],
  ];
  for (const [what, listing, sentence] of cases) {
    test(what, async () => {
      const { code, text } = await judge(listing);
      assert.equal(code, 2, text);
      assert.match(text, sentence);
      assert.ok(!text.includes("    at "), "no stack");
    });
  }

  const commands = [
    ["no such file", ["--input", "missing.json"], /There is no file .*missing\.json.*gh api/s],
    ["a directory", ["--input", "."], /is a directory/],
    ["no file", ["--input"], /argument missing.*npm start -- --input FILE/s],
    ["a file without the option, as npm passes it on", ["deliveries.json"], /npm start -- --input deliveries\.json/],
    ["an unknown option", ["--file", "x"], /Unknown option '--file'\.\n/],
    ["no time", ["--input", realItems, "--now", "noon"], /--now noon is no time/],
    ["before everything", ["--input", realItems, "--now", "2020-01-01T00:00:00Z"], /holds nothing from before 2020/],
    ["no window", ["--input", realItems, "--window-hours", "73"], /from 1 to 72/],
    ["a time without a listing", ["--now", "2026-11-02T09:00:00Z"], /belong to --input/],
  ];
  for (const [what, args, sentence] of commands) {
    test(what, async () => {
      const { code, text } = await demo(args);
      assert.equal(code, 2, text);
      assert.match(text, sentence);
    });
  }

  test("help is no failure", async () => {
    const { code, text } = await demo(["--help"]);
    assert.equal(code, 0);
    assert.match(text, /npm start -- --input FILE/);
  });
});

function tooLong(text, columns) {
  return text.split("\n").filter((line) => [...line].length > columns);
}

const array = (items) => `[${items.join(",")}]`;

/** One item as GitHub writes it. `number` makes its id, and its guid unless one is given. */
function item(
  number,
  deliveredAt,
  code,
  { event = "push", action, repository = 479544328, guid, redelivery = false } = {},
) {
  const id = 3870000000000000000n + BigInt(number);
  const uuid = `${String(guid ?? number).padStart(8, "0")}-82e7-11f1-959e-7ce606dfe5da`;
  const text = (value) => (value === undefined ? "null" : `"${value}"`);
  return (
    `{"id":${id},"guid":"${uuid}","delivered_at":"${deliveredAt}","redelivery":${redelivery},"duration":0.1,"status":"",` +
    `"status_code":${code},"event":"${event}","action":${text(action)},"installation_id":1,"repository_id":${repository},"url":""}`
  );
}

function everyVerdict() {
  const on = (number, clock, code, more) => item(number, `2026-11-02T${clock}.000Z`, code, more);
  const comment = { event: "issue_comment", action: "created", guid: 3 };
  const release = { event: "release", action: "published", guid: 7 };
  return array([
    on(30, "09:10:00", 503),
    on(20, "09:09:00", 500, { event: "pull_request", action: "opened" }),
    on(13, "08:45:00", 500, { ...comment, redelivery: true }),
    on(12, "08:30:00", 500, { ...comment, redelivery: true }),
    on(11, "08:00:00", 500, comment),
    on(10, "08:20:00", 500, { event: "deployment", repository: null, redelivery: true }),
    on(9, "08:10:00", 401, { event: "installation", action: "created", repository: null }),
    on(8, "07:20:00", 200, { ...release, redelivery: true }),
    on(7, "07:03:20", 502, release),
    on(6, "06:46:40", 200, { event: "workflow_run", action: "completed" }),
    on(5, "06:30:00", 0, { event: "workflow_run", action: "completed" }),
    on(4, "06:29:00", 200),
  ]);
}
