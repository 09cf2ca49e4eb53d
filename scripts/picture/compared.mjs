// The result of `npm run compare` as one HTML page that loads nothing: docs/compare.json, a table with bars for each App.

import { escaped } from "./html.mjs";

/** The element to be drawn. */
export const COMPARED = "#compared";

/** How wide the page is drawn. */
export const COMPARED_WIDTH = 1240;

const sum = (of) => (weeks) => weeks.reduce((all, week) => all + of(week), 0);
const DAYS_PLAYED = 8;
const COLOURS = { ours: "#0a66c2", variant: "#8bb8e8", none: "#9aa5b1", other: "#9aa5b1" };

const median = (of) => (weeks) => weeks.map(of).toSorted((a, b) => a - b)[Math.floor(weeks.length / 2)];
const plain = (count) => count.toLocaleString("en-US");
const span = (minutes) => (minutes < 100 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`);

// What a customer asks first. Where there is a second number it should be 0.
const columns = [
  {
    title: "Lost / in silence",
    about: "could be recovered / those, and poison, that nobody was told of",
    value: sum((week) => week.lost),
    beside: sum((week) => week.silent),
  },
  {
    title: "Asks for nothing",
    about: "passed, overtaken, refused or poison",
    value: sum((week) => week.asked_for_nothing),
    log: true,
  },
  { title: "Done twice", about: "by the endpoint", value: sum((week) => week.handled_again), log: true },
  {
    title: "Calls a day",
    about: "mean of the weeks",
    value: (weeks) => Math.ceil(sum((week) => week.calls)(weeks) / weeks.length / DAYS_PLAYED),
    log: true,
  },
  {
    title: "Failure to pass",
    about: "median",
    value: median((week) => week.median_minutes),
    shown: span,
  },
  {
    title: "Pages / false",
    about: "messages with a sound",
    value: sum((week) => week.pages),
    beside: sum((week) => week.false_pages),
    onlyWithFirst: true,
  },
];

const css = `
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1c2329; font: 15px/1.35 Inter, sans-serif; }
${COMPARED} { width: ${COMPARED_WIDTH}px; padding: 26px 30px 24px; background: #fff; }
h1 { margin: 0; font-size: 25px; font-weight: 650; letter-spacing: -0.02em; }
h1 + p { margin: 4px 0 0; color: #5b6670; }
h2 { margin: 24px 0 6px; font-size: 18px; font-weight: 600; }
h2 span { color: #5b6670; font-size: 14px; font-weight: 400; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; }
th { padding: 0 10px 6px 0; color: #1c2329; font-size: 14px; font-weight: 600; text-align: left; vertical-align: bottom; }
th span { display: block; color: #5b6670; font-size: 12.5px; font-weight: 400; }
th:first-child, td:first-child { width: 172px; }
td { height: 27px; padding: 0 10px 0 0; border-top: 1px solid #eceff2; font-variant-numeric: tabular-nums; }
td:first-child { padding-left: 8px; }
.ours td { background: #eef6ff; font-weight: 600; }
.variant td:first-child { padding-left: 24px; color: #5b6670; font-size: 13.5px; }
.none td:first-child { color: #5b6670; }
svg { display: inline-block; width: 58px; height: 11px; margin-right: 8px; vertical-align: -1px; }
.beside { color: #5b6670; font-size: 13.5px; font-weight: 400; }
.bad { color: #b3261e; font-weight: 600; }
.good { color: #1a7f37; font-weight: 600; }
.foot { margin: 16px 0 0; color: #5b6670; font-size: 13px; }
`;

/** `results` as docs/compare.json has them. */
export function comparedHtml({ seeds, apps }) {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Side by side</title>
<style>${css}</style>
<main id="${COMPARED.slice(1)}">
<h1>The same weeks, side by side</h1>
<p>Sums over ${seeds.length} seeded weeks: 40 minutes of 500s, a night without an answer, an hour of GitHub's API down, poison, late answers, deploys.</p>
${apps.map(appHtml).join("\n")}
<p class="foot">Bars of asks, work done twice and calls are logarithmic. Indented: this Worker with other settings. Definitions and sources: docs/compare.md.</p>
</main>
</html>
`;
}

function appHtml({ title, systems }) {
  const recoverable = sum((week) => week.recoverable)(systems[0].weeks);
  const longest = columns.map(({ value }) => Math.max(...systems.map(({ weeks }) => value(weeks)), 1));
  const heads = columns.map((column) => `<th>${column.title}<span>${column.about}</span></th>`);
  const rows = systems.map((system, place) => rowHtml(system, place, longest));
  return `<h2>${escaped(title)} <span>${recoverable.toLocaleString("en-US")} events failed that could be recovered</span></h2>
<table><tr><th></th>${heads.join("")}</tr>
${rows.join("\n")}
</table>`;
}

function rowHtml({ name, weeks }, place, longest) {
  const kind = name.startsWith(" ") ? "variant" : name === "this Worker" ? "ours" : place === 0 ? "none" : "other";
  const cells = columns.map((column, at) => cellHtml(column, weeks, longest[at], kind));
  return `<tr class="${kind}"><td>${escaped(name.trim())}</td>${cells.join("")}</tr>`;
}

function cellHtml({ value, shown = plain, beside, onlyWithFirst, log }, weeks, longest, kind) {
  const count = value(weeks);
  const share = log ? Math.log10(count + 1) / Math.log10(longest + 1) : count / longest;
  const bar = `<svg viewBox="0 0 58 11"><rect width="${(58 * share).toFixed(1)}" height="11" rx="2" fill="${COLOURS[kind]}"/></svg>`;
  const second = beside && (count > 0 || !onlyWithFirst) ? besideHtml(beside(weeks)) : "";
  return `<td>${bar}${shown(count)}${second}</td>`;
}

function besideHtml(count) {
  return ` <span class="beside">/ <span class="${count > 0 ? "bad" : "good"}">${plain(count)}</span></span>`;
}
