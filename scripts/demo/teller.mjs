// How a sweep of the day is told: a paragraph for one that did something, one line for a row of quiet ones.

import { passed } from "./failures.mjs";
import { columns, cut, pad, paint, print, wrap } from "./terminal.mjs";

const indent = 7;
// More of the same say nothing new.
const mostLines = 4;

const clock = (ms) => new Date(ms).toISOString().slice(11, 16);
const count = (number, noun, plural = `${noun}s`) =>
  `${number.toLocaleString("en-US")} ${number === 1 ? noun : plural}`;

export function tellChapter({ title, text }) {
  print();
  print(paint("bold", `── ${title} ${"─".repeat(Math.max(0, columns - title.length - 4))}`));
  print(wrap([{ text, style: "dim" }], columns));
}

/** Whether nothing about a sweep is worth a paragraph. */
export function isQuiet({ told, changes, sweep }) {
  const { fresh: _, ...rest } = told;
  const nothing = Object.values(rest).every((value) => (Array.isArray(value) ? value.length === 0 : value === 0));
  return nothing && changes.length === 0 && sweep.gaps === 0 && sweep.gap_pages === 0 && sweep.failure === null;
}

/** A row of quiet sweeps. */
export function tellQuiet(row) {
  if (row.length === 0) return;
  const [first, last] = [row[0], row.at(-1)];
  const calls = row.map(({ sweep }) => sweep.calls);
  const [least, most] = [Math.min(...calls), Math.max(...calls)];
  const each = `${least === most ? most : `${least} to ${most}`} calls${row.length > 1 ? " each" : ""}`;
  const events = row.reduce((sum, { told }) => sum + told.fresh, 0);
  const alarm = last.sweep.alarm_entries > 0 ? " · alarm open" : "";
  const when =
    row.length > 1
      ? `${clock(first.now)} to ${clock(last.now)} · ${row.length} quiet sweeps`
      : `${clock(first.now)}  a quiet sweep`;
  print();
  print(wrap([{ text: `${when}, ${each} · ${count(events, "event")} passed${alarm}` }], columns));
}

/** One sweep that did something. */
export function tellSweep({ now, told, sweep, isFirst }) {
  const failed = told.failed > 0 ? `${told.failed} failed` : told.fresh === 1 ? "passed" : "all passed";
  const since = isFirst ? ` since ${clock(Date.parse(sweep.watched_since))}` : "";
  const fresh = told.fresh > 0 ? `${count(told.fresh, "new event")}${since}, ${failed}` : "nothing new";
  print();
  print(`${paint("bold", clock(now))}  ${fresh} ${paint("dim", `· ${reading(sweep)}`)}`);
  tellGap(sweep);
  for (const [list, sign, style, sentence] of verdicts(told)) tellList(told[list], sign, style, sentence);
}

function reading({ failures_list, deliveries_list, gap_pages, calls }) {
  const pages = failures_list.pages + deliveries_list.pages + gap_pages;
  return `${count(pages, "page")} read, ${count(calls, "call")}`;
}

function tellGap(sweep) {
  if (sweep.gaps > 0 && sweep.gap_pages === 0) {
    say(
      "!",
      "yellow",
      `Its ${sweep.deliveries_list.pages} pages of the list reach back to ${sweep.newest_gap.slice(11, 16)} only. What lies before is a gap, to be read by later sweeps:`,
    );
  } else if (sweep.gaps > 0) {
    say(
      "!",
      "yellow",
      `${count(sweep.gap_pages, "page")} of the gap read, with the calls that were left; what lies before ${sweep.newest_gap.slice(11, 16)} is still unread.`,
    );
  } else if (sweep.gap_pages > 0) {
    say("✓", "green", `The gap is read to its end (${count(sweep.gap_pages, "more page")}).`);
  }
}

/** What became of events: the list, a sign, its colour, and a sentence. In the order in which a person asks. */
function verdicts({ asked, forTurn, superseded, recovered }) {
  const events = (list) => count(list.length, "event");
  return [
    [
      "recovered",
      "✓",
      "green",
      `Delivered: ${events(recovered)} that ${recovered.length === 1 ? "was" : "were"} asked for`,
    ],
    ["cleared", "✓", "green", "Delivered by the click, so it leaves the alarm"],
    ["gaveUp", "✗", "red", "Gave up: the third attempt failed, so it is not asked for again. A person is told"],
    ["asked", "↻", "cyan", `GitHub is asked to redeliver ${events(asked)}`],
    [
      "forTurn",
      "…",
      "yellow",
      `${events(forTurn)} ${forTurn.length === 1 ? "waits" : "wait"}: ten are asked for in a sweep, the fewest attempts first`,
    ],
    ["forGap", "…", "yellow", "Not asked for yet: something newer of its kind may stand in the gap"],
    [
      "superseded",
      "⇢",
      "yellow",
      `Not asked for: ${superseded.length === 1 ? "a newer event" : "newer events"} of its kind passed`,
    ],
    ["unseen", "?", "dim", "Not seen yet: it timed out, and lies in the gap"],
  ];
}

function tellList(list, sign, style, sentence) {
  if (list.length === 0) return;
  say(sign, style, `${sentence}:`);
  const shown = list.length > mostLines + 1 ? list.slice(0, mostLines) : list;
  for (const event of shown) print(line(event), indent + 4);
  if (list.length > shown.length) print(paint("dim", `and ${list.length - shown.length} more`), indent + 4);
}

function line({ event, repository, codes, newer }) {
  const attempts = codes.map((code) => paint(passed(code) ? "green" : "red", String(code))).join(" → ");
  const by = newer ? paint("dim", `  (newer: ${clock(newer.at)})`) : "";
  return `${pad(cut(event, 31), 32)}${pad(repository, 9)}${attempts}${by}`;
}

function say(sign, style, sentence) {
  const [first, ...rest] = wrap(sentence, columns - indent - 2);
  print([`${paint(style, sign)} ${first}`, ...rest.map((part) => `  ${part}`)], indent);
}

export { clock, count };
