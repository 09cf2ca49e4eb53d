// The gallery as one HTML page that loads nothing and runs nothing: what both channels show, case by case, as
// src/alarm/text/tests/gallery.rs got it from the alarm itself.

import { createHash } from "node:crypto";
import { parseHtml } from "../../test/fakes/telegram/html.mjs";
import { ISSUE_DARK, issueCss, issuePartHtml } from "./github.mjs";
import { escaped, shownTime } from "./html.mjs";
import { chatCss, messageHtml } from "./telegram.mjs";

/** The element to be drawn. */
export const GALLERY = "body";

/** How wide the page is drawn. */
export const GALLERY_WIDTH = 1352;

const css = `
:root { color-scheme: light dark; --back: #fff; --ink: #1c2329; --pale: #5b6670; --line: #dfe4e8; --blue: #0a66c2;
  --text: -apple-system, BlinkMacSystemFont, "Segoe UI", Inter, Roboto, "Helvetica Neue", Arial, sans-serif,
    "Apple Color Emoji", "Segoe UI Emoji", "Noto Color Emoji";
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; }
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; background: var(--back); color: var(--ink); font: 16px/1.5 var(--text); }
main, .top { max-width: 1352px; margin: 0 auto; padding: 0 16px; }
.top { padding-top: 36px; }
.top h1 { margin: 0 0 8px; font-size: 34px; font-weight: 650; line-height: 1.2; letter-spacing: -0.02em; }
.top p { max-width: 46em; margin: 0 0 12px; color: var(--pale); text-wrap: pretty; }
nav { display: grid; grid-template-columns: 1fr 1fr; gap: 0 40px; max-width: 820px; margin: 24px 0 0; }
nav b { display: block; margin-bottom: 4px; font-weight: 600; }
nav ul { margin: 0 0 8px; padding: 0; list-style: none; }
nav a { display: block; padding: 3px 0; }
a { color: var(--blue); text-decoration: none; }
a:hover { text-decoration: underline; }
main > section { margin-top: 44px; padding-top: 30px; border-top: 1px solid var(--line); }
main h2 { margin: 0; font-size: 26px; font-weight: 650; line-height: 1.25; letter-spacing: -0.015em; }
.case { margin-top: 24px; }
.case h3 { margin: 0; font-size: 18px; font-weight: 600; line-height: 1.3; }
.case h3 a, h2 a { color: inherit; }
.about { margin: 2px 0 12px; color: var(--pale); }
.about time { font-variant-numeric: tabular-nums; }
.both { display: grid; grid-template-columns: 408px minmax(0, 1fr); gap: 18px 22px; align-items: start; }
.place { display: flex; flex-direction: column; gap: 8px; min-width: 0; }
.what { display: flex; align-items: baseline; gap: 8px; margin: 0; color: var(--pale); font-size: 14px; }
.what b { color: var(--ink); font-weight: 600; }
* + .what { margin-top: 8px; }
.none { margin: 0; padding: 22px 18px; border: 1.5px dashed var(--line); border-radius: 14px; color: var(--pale);
  text-align: center; }
.place .chat { flex: none; padding: 14px 10px; border-radius: 16px; background: #0e1621; color: #f4f6f8; font-size: 15.6px;
  line-height: 1.36; }
.place .page { padding: 16px 18px 18px; }
.place .issue { font-size: 15px; border-radius: 12px; }
.place .issue .title { font-size: 22px; overflow-wrap: anywhere; }
.place .state { margin-bottom: 14px; font-size: 14px; }
.place .comment { width: 100%; }
.place .markdown { overflow-x: auto; overflow-wrap: break-word; }
.place .markdown table { font-size: 13.5px; }
.place .markdown th, .place .markdown td { padding: 7px 8px; overflow-wrap: normal; }
.place .by { flex-wrap: wrap; gap: 4px 8px; }
.place .by b { white-space: nowrap; }
.by .face { display: grid; flex: none; place-items: center; font-weight: 600; }
.foot { margin: 48px 0 40px; color: var(--pale); font-size: 14px; }
@media (max-width: 860px) {
  .top { padding-top: 24px; }
  .top h1 { font-size: 28px; }
  nav, .both { grid-template-columns: minmax(0, 1fr); }
  nav a { padding: 6px 0; }
  .place .chat { max-width: 408px; width: 100%; }
  .place .page { padding: 14px 12px; }
  .place .markdown { padding: 12px; }
  .place .markdown table { min-width: 620px; }
}
`;

// The chat is in dark mode anyway: it is night.
const darkCss = `
@media (prefers-color-scheme: dark) {
  :root { --back: #0d1117; --ink: #e9eef3; --pale: #98a4af; --line: #2c343c; --blue: #58a6ff; }
  .issue { ${ISSUE_DARK} }
  .place .chat { border: 1px solid #22303d; }
}
`;

/** `sections` as test/fixtures/gallery.json has them. */
export function galleryHtml(sections) {
  const style = css + chatCss + issueCss + darkCss;
  const hash = createHash("sha256").update(style).digest("base64");
  const kinds = sections.filter((section) => section.is_kind);
  const others = sections.filter((section) => !section.is_kind);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'">
<title>The alarm, case by case</title>
<style>${style}</style>
</head>
<body>
<header class="top">
  <h1>The alarm, case by case</h1>
  <p>What github-app-redeliver writes into a Telegram chat and into the control repository: each kind of entry when it is
    raised, when it changes and when it leaves, and what else people may come to see. Every text on this page was written by
    the alarm itself, in a test; the App, its events and the chats are made up.</p>
  <nav>
    <div><b>Each kind of entry</b>${links(kinds)}</div>
    <div><b>What else there is</b>${links(others)}</div>
  </nav>
</header>
<main>
${sections.map(sectionHtml).join("\n")}
<p class="foot">Made by <code>npm run gallery</code> from test/fixtures/gallery.json.</p>
</main>
</body>
</html>
`;
}

/** The anchor of a case. */
export const caseId = (section, { title }) => `${section.id}-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;

function links(sections) {
  const items = sections.map(({ id, title }) => `<li><a href="#${escaped(id)}">${escaped(title)}</a></li>`);
  return `<ul>${items.join("")}</ul>`;
}

function sectionHtml(section) {
  const id = escaped(section.id);
  return `<section id="${id}">
<h2><a href="#${id}">${escaped(section.title)}</a></h2>
${section.cases.map((shown) => caseHtml(section, shown)).join("\n")}
</section>`;
}

function caseHtml(section, shown) {
  const id = escaped(caseId(section, shown));
  const time = shownTime(Date.parse(shown.at), { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" });
  return `<article class="case" id="${id}">
<h3><a href="#${id}">${escaped(shown.title)}</a></h3>
<p class="about"><time datetime="${escaped(shown.at)}">${escaped(time)} UTC</time> · ${escaped(shown.about)}</p>
<div class="both">
${placeHtml("Telegram", shown.telegram, messagePart, shown)}
${placeHtml("GitHub", shown.control_repo, issuePart, shown)}
</div>
</article>`;
}

function placeHtml(name, { can_be_reached, wrote }, part, shown) {
  const none = can_be_reached ? `${name}: nothing is written` : `${name} cannot be reached`;
  const parts = wrote.map((one) => part(one, wrote, shown));
  return `<div class="place">${parts.join("\n") || `<p class="none">${none}</p>`}</div>`;
}

const what = (text, more) => `<p class="what"><b>${escaped(text)}</b> ${escaped(more)}</p>`;

function messagePart(message, all, { at }) {
  const chats = new Set(all.map(({ chat }) => chat));
  const where = chats.size > 1 ? `, chat ${message.chat}` : "";
  const { text, entities, error } = message.is_html ? parseHtml(message.text) : { text: message.text, entities: [] };
  if (error) throw new Error(`Telegram would refuse the message of ${at}: ${error}`);
  const buttons = message.buttons.map((button) => [button]);
  const shown = {
    text,
    entities,
    date: Date.parse(message.sent_at),
    edits: message.what === "edited" ? 1 : 0,
    reply_markup: { inline_keyboard: buttons },
  };
  const said = message.what === "sent" ? "New message" : "Message edited";
  return `${what(said, `${message.sound ? "with a sound" : "without a sound"}${where}`)}
<div class="chat">${messageHtml(shown)}</div>`;
}

const ISSUE = {
  created: "Issue created",
  edited: "Issue edited",
  closed: "Issue edited and closed",
  reopened: "Issue reopened",
};

function issuePart(issue, all, { at }) {
  const repos = new Set(all.map(({ repo }) => repo));
  const shown = {
    title: issue.title,
    body: issue.body,
    number: issue.number,
    state: issue.is_open ? "open" : "closed",
    author: { login: "deploy-bot[bot]", type: "Bot" },
    createdAt: Date.parse(issue.opened_at),
    updatedAt: Date.parse(issue.what === "created" ? issue.opened_at : at),
  };
  return `${what(ISSUE[issue.what], repos.size > 1 ? `in ${issue.repo}` : "")}
<div class="issue">${issuePartHtml(shown)}</div>`;
}
