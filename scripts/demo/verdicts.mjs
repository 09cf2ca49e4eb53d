// What a sweep would decide about a listing: a table of the events that did not pass at once, and the rest in short.

import { passed } from "./failures.mjs";
import { count } from "./teller.mjs";
import { columns, pad, paint, print, wrap } from "./terminal.mjs";

const HOUR = 60 * 60_000;
const QUARTER = 15 * 60_000;
// As wide as a guid.
const eventColumns = 36;
const tooOld = "left alone: from before the window";

/** When the first sweep after a time is. */
export const quarterAfter = (ms) => (Math.floor(ms / QUARTER) + 1) * QUARTER;

const time = (ms) => new Date(ms).toISOString().slice(0, 19).replace("T", " ");

/** Prints it; the number of the exit code. */
export function tellVerdicts({ input, items, later, now, windowHours, pages, sweep, plan }) {
  const windowStart = now - windowHours * HOUR;
  const events = judge(group(items), { plan, windowStart, leftBehind: sweep.events.left_behind });
  const atOnce = events.filter(({ verdict }) => verdict === undefined);
  const judged = events.filter(({ verdict }) => verdict !== undefined);

  print();
  print(wrap([{ text: `What a sweep at ${time(now)} UTC would decide about ${input}`, style: "bold" }], columns));
  print();
  const what =
    "This is the first sweep of the real Worker over that listing, in DRY_RUN: nothing is asked for and nobody is told. " +
    `It judges events whose first delivery lies in its window, the ${count(windowHours, "hour")} since ${time(windowStart)}.`;
  print(wrap(what, columns));
  notes({ items, later, pages });

  if (judged.length > 0) tellTable(judged);
  if (atOnce.length > 0) tellAtOnce(atOnce);
  return tellSummary({ events, judged, atOnce, items, sweep, windowHours });
}

/** Events by their newest attempt, the newest first, each with its attempts from the first on. */
function group(items) {
  const byGuid = Map.groupBy(items, ({ guid }) => guid);
  const events = [...byGuid.values()].map((attempts) => {
    attempts.sort(byPosition);
    return { attempts, first: attempts[0], newest: attempts.at(-1) };
  });
  return events.sort((a, b) => byPosition(b.newest, a.newest));
}

const at = (item) => Date.parse(item.delivered_at);
const byPosition = (a, b) => at(a) - at(b) || (a.id < b.id ? -1 : Number(a.id > b.id));

/** Gives each event its verdict: the Worker's, or why it has none. Those that passed at once have and need none. */
function judge(events, { plan, windowStart, leftBehind }) {
  const verdicts = new Map(plan.map(({ guid, verdict }) => [guid, verdict]));
  return events.map((event) => {
    const { guid, status_code: code, redelivery } = event.first;
    const verdict = verdicts.get(guid);
    if (verdict !== undefined) return { ...event, verdict };
    if (passed(code) && !redelivery) return event;
    if (event.attempts.some(({ status_code: code }) => passed(code))) return { ...event, verdict: "delivered" };
    if (at(event.first) < windowStart) return { ...event, verdict: tooOld };
    return { ...event, verdict: leftBehind > 0 ? "left behind: more events wait than are kept" : "no verdict" };
  });
}

function notes({ items, later, pages }) {
  const notes = [];
  if (later > 0)
    notes.push(
      `${count(later, "delivery", "deliveries")} of the file came after that time and ${later === 1 ? "is" : "are"} left out.`,
    );
  if (items.every(({ status_code: code }) => code >= 400 && code <= 599)) {
    notes.push(
      "The file holds failures only. If it was fetched with status=failure, passes are missing that may have settled them: fetch it without.",
    );
  }
  if (pages.moreThanUsual) {
    notes.push(
      "A sweep with the default settings reads 20 pages of 100 deliveries, and later sweeps the rest; this one was allowed to read all of the window at once.",
    );
  }
  for (const note of notes) print(["", ...wrap(`Note: ${note}`, columns)]);
}

function tellTable(events) {
  const manyDays = (event) => event.attempts.some((attempt) => day(attempt) !== day(event.newest));
  const attemptColumns = events.some(manyDays) ? 18 : 12;
  const verdictColumns = columns - attemptColumns - eventColumns - 4;
  const row = (cells) =>
    print(
      cells
        .map((cell, index) => pad(cell, [attemptColumns, eventColumns, 0][index]))
        .join("  ")
        .trimEnd(),
    );

  print();
  row(["attempts", "event (repository id), guid", "verdict"].map((name) => paint("dim", name)));
  let shownDay;
  for (const event of events) {
    print(day(event.newest) === shownDay ? "" : ["", paint("bold", day(event.newest))]);
    shownDay = day(event.newest);
    const { event: name, action, repository_id: repository, guid } = event.first;
    const title = [[name, action].filter(Boolean).join(" "), repository ? `(${repository})` : ""]
      .filter(Boolean)
      .join(" ");
    const cells = [
      event.attempts.map((attempt) => attemptCell(attempt, event)),
      [...wrap(title, eventColumns), ...wrap([{ text: guid, style: "dim" }], eventColumns)],
      wrap([{ text: event.verdict, style: verdictStyle(event.verdict) }], verdictColumns),
    ];
    for (let index = 0; index < Math.max(...cells.map(({ length }) => length)); index += 1)
      row(cells.map((cell) => cell[index] ?? ""));
  }
}

const day = (item) => time(at(item)).slice(0, 10);

function attemptCell(attempt, event) {
  const date = day(attempt) === day(event.newest) ? "" : `${day(attempt).slice(5)} `;
  const code = attempt.status_code;
  return `${date}${time(at(attempt)).slice(11)} ${paint(passed(code) ? "green" : "red", String(code))}`;
}

function verdictStyle(verdict) {
  if (verdict.startsWith("asked")) return "cyan";
  if (verdict.startsWith("delivered")) return "green";
  if (verdict.startsWith("gave up")) return "red";
  return "yellow";
}

function tellAtOnce(events) {
  const kinds = Map.groupBy(events, ({ first: { event, action } }) => [event, action].filter(Boolean).join(" "));
  const parts = [...kinds]
    .sort((a, b) => b[1].length - a[1].length)
    .map(([kind, { length }]) => (length > 1 ? `${length.toLocaleString("en-US")} × ${kind}` : kind));
  print();
  print(
    wrap(
      [
        { text: `Delivered at once (${events.length.toLocaleString("en-US")}): `, style: "green" },
        { text: `${parts.join(", ")}.` },
      ],
      columns,
    ),
  );
}

function tellSummary({ events, judged, atOnce, items, sweep, windowHours }) {
  const totals = Map.groupBy(judged, ({ verdict }) => verdict.replace(/ \(.*\)$/, ""));
  const rows = [["delivered at once", atOnce.length], ...[...totals].map(([verdict, { length }]) => [verdict, length])];
  const size = Math.max(...rows.map(([, number]) => number.toLocaleString("en-US").length));
  print();
  print(paint("bold", `${count(events.length, "event")} in ${count(items.length, "delivery", "deliveries")}`));
  for (const [name, number] of rows) {
    const [first, ...rest] = wrap(name, columns - size - 4);
    print(
      [
        `${number.toLocaleString("en-US").padStart(size)}  ${first}`,
        ...rest.map((part) => " ".repeat(size + 2) + part),
      ],
      2,
    );
  }
  print(paint("dim", `The sweep made ${count(sweep.calls, "call")}.`));

  const old = judged.filter(
    ({ verdict, newest: { status_code: code } }) => verdict === tooOld && !(code >= 300 && code <= 499),
  );
  if (old.length > 0) tellOld(old[0], windowHours);
  const missing = judged.filter(({ verdict }) => verdict === "no verdict");
  if (missing.length === 0) return 0;
  print([
    "",
    ...wrap(
      `The Worker has said nothing about ${count(missing.length, "event")} of its window. That is a fault of this program: please report it.`,
      columns,
    ),
  ]);
  return 1;
}

/** How to see what a sweep decides about an event that is too old for this one. */
function tellOld({ first }, windowHours) {
  const then = new Date(quarterAfter(at(first))).toISOString().replace(".000Z", "Z");
  print();
  print(
    wrap(
      "An event from before the window is not asked for again. To see what was decided when the newest of them was new, add",
      columns,
    ),
  );
  print(`--now ${then}`, 2);
  if (windowHours < 72) print(wrap("To see what a wider window would do, add --window-hours N (72 at most).", columns));
}
