// What programs read is what is documented, both ways: /status.json, /plan.json, and the lines of the log.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { wranglerTail } from "./operator/cloud.mjs";
import { quotesOf, read, unsaid } from "./operator/pages.mjs";
import { openDesk } from "./operator/scene.mjs";
import { settings } from "./worker/alarm.mjs";
import { gate } from "./worker/gate.mjs";
import { at, opened } from "./worker/scene.mjs";
import { STANDINGS, standing } from "./worker/standing.mjs";
import { ago, givesUp, openDoor, statusOf } from "./worker/visitor.mjs";

const LOGS = read("docs/operate/logs.md");
const STATUS = read("docs/status.md");

/** The rows of the first table after a text, each as its cells. */
function rowsAfter(page, text) {
  const start = page.indexOf(text);
  assert.ok(start >= 0, text);
  const [, body] = /\n\|(?: ?-+ ?\|)+\n((?:\|.*\n)+)/.exec(page.slice(start)) ?? [];
  return body
    .trim()
    .split("\n")
    .map((row) => row.split("|").slice(1, -1));
}

const names = (cell) => Array.from(cell.matchAll(/`(\w+)`/g), ([, name]) => name);

/** The fields in the first column of a table. */
const fieldsAfter = (page, text) => rowsAfter(page, text).flatMap(([first]) => names(first));

/** The page has each of these fields, and no other. */
function same(documented, served, what) {
  assert.deepEqual(documented.toSorted(), Object.keys(served).toSorted(), what);
}

describe("what is documented", { concurrency: 2 }, () => {
  test("/status.json and /plan.json have the fields of docs/status.md, and no other", async (t) => {
    const scene = await openDoor(t);
    await givesUp(scene);
    scene.fails(ago(3));
    scene.now = Date.now();
    same(fieldsAfter(STATUS, "## `/status.json`"), await statusOf(scene), "/status.json");
    const plan = await (await scene.get("/plan.json")).json();
    same(fieldsAfter(STATUS, "## `/plan.json`"), plan, "/plan.json");
    assert.equal(plan.events.length, 1);
    same(fieldsAfter(STATUS, "| field of an event |"), plan.events[0], "an event of the plan");
    assert.ok(STATUS.includes(`\`${plan.events[0].verdict}\``), "the verdict that is given as an example");
  });

  test("what belongs to a field of /status.json is named beside it", async (t) => {
    const { scene, stand } = await standing(t);
    await stand(busy);
    // A recovery by hand takes these out: it reads their ground anew.
    const { gaps } = await statusOf(scene);
    assert.equal((await scene.post(`/recover?since=${new Date(ago(600)).toISOString()}`)).status, 200);
    const status = { ...(await statusOf(scene)), gaps };
    const rows = rowsAfter(STATUS, "## `/status.json`");
    for (const field of [
      "entries",
      "outage",
      "events",
      "window",
      "gaps",
      "recovering",
      "calls",
      "history",
      "last_failure",
    ]) {
      const [, text] = rows.find(([first]) => names(first).includes(field));
      const said = Array.from(text.matchAll(/`([^`]+)`/g), ([, code]) => code.match(/\w+/g)).flat();
      const values = [status[field]].flat();
      assert.ok(values.length > 0 && values.every(Boolean), field);
      const kinds = field === "entries" ? values.map(({ kind }) => kind) : [];
      for (const name of [...values.flatMap(Object.keys), ...kinds])
        assert.ok(said.includes(name), `${field}: ${name}`);
    }
  });

  test("/metrics has the metrics of docs/status.md, with these types and labels, and no other", async (t) => {
    const { scene, stand } = await standing(t);
    await stand(busy);
    const text = await (await scene.get("/metrics")).text();
    const served = Array.from(text.matchAll(/^# TYPE redeliver_(\w+) (\w+)$/gm), ([, name, type]) => {
      const [, label] = new RegExp(`^redeliver_${name}(?:\\{(\\w+)=[^}]*\\})? \\d+$`, "m").exec(text);
      return `${type} ${name}${label ? `{${label}}` : ""}`;
    });
    const [, listed] = STATUS.split("## `/metrics`");
    const [, gauges, counters] = /Gauges: ([^.]*)\. Counters: ([^.]*)\./.exec(listed);
    const of = (type, list) => Array.from(list.matchAll(/`([\w{}]+)`/g), ([, name]) => `${type} ${name}`);
    assert.deepEqual([...of("gauge", gauges), ...of("counter", counters)].toSorted(), served.toSorted());
  });

  test("the log has the kinds of lines of docs/operate/logs.md, with these fields, and no other", async (t) => {
    const { scene, lines } = await everyKind(t);
    const documented = Object.fromEntries(
      rowsAfter(LOGS, "## The kinds of lines").map(([kind, , fields]) => [names(kind)[0], names(fields)]),
    );
    documented.sweep = fieldsAfter(LOGS, "**The line of a sweep**");
    same(Object.keys(documented), Object.fromEntries(lines.map(({ message }) => [message, true])), "the kinds");
    for (const { message, ...fields } of lines) same(documented[message], fields, message);
    const sweep = lines.find(({ message }) => message === "sweep");
    const rows = rowsAfter(LOGS, "**The line of a sweep**");
    const insideOf = (field) => names(rows.find(([first]) => first.includes(`\`${field}\``))[1]);
    same(insideOf("events"), sweep.events, "events");
    same(insideOf("failures_list"), sweep.failures_list, "a list");
    // The words of a failed cron run are not printed: Cloudflare shows them.
    assert.deepEqual(unsaid(quotesOf(LOGS), [...scene.worker.lines, read("src/lib.rs")]), []);
  });

  test("the words that a line may have are those of the code, each of them", () => {
    const [, endings] = rowsAfter(LOGS, "**The line of a sweep**").find(([first]) => first.includes("`ending`"));
    assert.deepEqual(names(endings), variants("src/sweep/report.rs", "Ending"));
    const classes = LOGS.split("\n- `class`")[1].split("\n\n")[0].split(" or ")[1];
    assert.deepEqual(names(classes), variants("src/failure.rs", "FailureClass"));
    const [, answers] = /- `answer`([\s\S]*?)\n {2}`status`/.exec(LOGS);
    const inCode = read("src/sweep/report.rs").match(/\/\/\/ `taken`,.*/)[0];
    const quoted = (text) => Array.from(text.matchAll(/`([a-z ]+)`/g), ([, word]) => word);
    assert.deepEqual(quoted(answers), quoted(inCode));
    const said = read("src/sweep/asking.rs");
    for (const word of quoted(answers)) assert.ok(said.includes(`"${word}"`), word);
  });

  test("wrangler tail shows each line as it is, as text for a person and where the recipes look for it", async (t) => {
    const { scene, lines } = await everyKind(t);
    const desk = await openDesk(t);
    const printed = scene.worker.lines.filter((line) => line.startsWith("{"));
    const pretty = await wranglerTail(t, desk, { lines: printed, at: at("10:00"), format: "pretty" });
    const shown = pretty.split("\n").filter((line) => line.startsWith("  (log) "));
    assert.deepEqual(
      shown.map((line) => line.slice("  (log) ".length)),
      printed,
      "one line each, and nothing cut off",
    );
    const json = JSON.parse(await wranglerTail(t, desk, { lines: printed, at: at("10:00"), format: "json" }));
    assert.deepEqual(
      json.logs.flatMap(({ message }) => message.map((text) => JSON.parse(text))),
      lines,
    );
    assert.match(LOGS, /jq -r '\.logs\[\]\.message\[\] \| fromjson\?/);
    const recipes = [...LOGS.matchAll(/select\(\.message == "(\w+)"\)\s*\|\s*"([^`]+?)"/g)];
    assert.equal(recipes.length, 2);
    for (const [, kind, text] of recipes) {
      const line = lines.find(({ message }) => message === kind);
      const paths = Array.from(text.matchAll(/\\\(\.([\w.]+)\)/g), ([, path]) => path.split("."));
      assert.ok(paths.length > 1);
      for (const path of paths) {
        const value = path.reduce((inner, name) => inner?.[name], line);
        assert.ok(value !== undefined && (value === null || typeof value !== "object"), `${kind}: ${path.join(".")}`);
      }
    }
  });
});

/** A scene in which a line of each kind was printed, and all lines. */
async function everyKind(t) {
  const scene = await opened(t, { settings: { MAX_ATTEMPTS: "2" } });
  const poison = scene.fails("08:05");
  scene.github.deliveries.redeliver(poison, at("08:06"), 500);
  scene.fails("08:07");
  await scene.tickAt("08:15");
  // One that finds another one under way, which waits for the answer to its heartbeat.
  const { url, arrived } = await gate(t);
  await settings(scene, { HEARTBEAT_URL: url });
  scene.now = at("08:30");
  const first = scene.worker.tick(at("08:30"));
  const goOn = await arrived;
  await scene.worker.tick(at("08:30"));
  goOn();
  await first;
  scene.fails("08:35");
  await settings(scene, { DRY_RUN: "true", HEARTBEAT_URL: undefined });
  await scene.tickAt("08:45");
  scene.github.fault(() => true, { status: 500 }, 9);
  await scene.tickAt("09:00");
  return { scene, lines: scene.worker.logs };
}

/** A state in which whatever there can be is there. */
function busy(state) {
  for (const name of ["outage", "entries"]) STANDINGS[name][1](state);
  const end = (minutes) => [ago(minutes), String(minutes)];
  const next = "/app/hook/deliveries?per_page=100&cursor=v1_x";
  state.ledger.ground.gaps = [{ newer_end: end(100), older_end: end(120), next, first_sweep: false }];
  state.failures = { last: { at: ago(90), class: "auth" }, in_a_row: 0 };
}

/** The variants of a Rust enum as serde writes them. */
function variants(file, name) {
  const [, body] = new RegExp(`pub enum ${name} \\{([\\s\\S]*?)\\n\\}`).exec(read(file)) ?? [];
  const found = Array.from(body.matchAll(/^ {4}(\w+),$/gm), ([, variant]) => variant);
  return found.map((variant) => variant.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase());
}
