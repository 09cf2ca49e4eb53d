// The GitHub side of the pictures: an issue as its page shows it, in light mode or in dark mode.

import { Marked } from "marked";
import { escaped, shownTime } from "./html.mjs";

// GitHub takes a line break in an issue for one, and hides comments. It also lets some HTML pass; the alarm has none,
// so here any is shown as text, and a link leads nowhere: it is only looked at.
const markdown = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    html: ({ text }) => escaped(text.replace(/<!--.*?-->/gs, "")),
    link({ tokens }) {
      return `<span class="link">${this.parser.parseInline(tokens)}</span>`;
    },
    image: ({ text }) => escaped(text),
  },
});

/** The page of an `issue` of the fake GitHub. */
export function issueHtml(issue) {
  const { owner, name } = issue.repository;
  return `<section class="issue">
  <header>${escaped(owner)} <span>/</span> <b>${escaped(name)}</b></header>
  ${issuePartHtml(issue)}
</section>`;
}

/** The `issue` alone, without the page's header. */
export function issuePartHtml(issue) {
  const { number, title, author } = issue;
  const login = author.login.replace(/\[bot\]$/, "");
  const opened = shownTime(issue.createdAt, { month: "short", day: "numeric", year: "numeric" });
  const edited = issue.updatedAt > issue.createdAt ? " · edited" : "";
  return `<div class="page">
    <div class="title">${escaped(title)} <span>#${escaped(number)}</span></div>
    ${issue.state === "closed" ? CLOSED : OPEN}
    <div class="comment">
      <div class="by">
        <div class="face">${escaped([...login][0]?.toUpperCase() ?? "")}</div>
        <b>${escaped(login)}</b>${author.type === "Bot" ? '<span class="tag">bot</span>' : ""}
        <span>opened on ${opened}${edited}</span>
      </div>
      <div class="markdown">${markdown.parse(issue.body ?? "")}</div>
    </div>
  </div>`;
}

const OPEN =
  '<div class="state"><svg viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.75"/><circle class="dot" cx="8" cy="8" r="1.6"/></svg>Open</div>';
const CLOSED =
  '<div class="state closed"><svg viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.75"/><path d="M5 8.2l2.1 2.1L11 6.2"/></svg>Closed</div>';

/** GitHub's colours in dark mode, for a rule of `.issue`. */
export const ISSUE_DARK = `--back: #0d1117; --soft: #151b23; --line: #3d444d; --ink: #f0f6fc; --pale: #9198a1; --blue: #4493f8;
  --code: #656c7633; --green: #238636; --purple: #8957e5;`;

export const issueCss = `
.issue { --back: #fff; --soft: #f6f8fa; --line: #d1d9e0; --ink: #1f2328; --pale: #59636e; --blue: #0969da;
  --code: #818b981f; --green: #1f883d; --purple: #8250df; }
.issue { display: flex; flex-direction: column; overflow: hidden; border: 1px solid var(--line); border-radius: 14px;
  background: var(--back); color: var(--ink); font-size: 15.8px; line-height: 1.5; }
.issue > header { padding: 13px 20px; border-bottom: 1px solid var(--line); background: var(--soft); font-size: 16px; }
.issue > header span { margin: 0 3px; color: var(--pale); }
.page { display: flex; flex: 1; flex-direction: column; align-items: flex-start; padding: 20px 20px 20px; }
.issue .title { margin: 0 0 12px; font-size: 26px; font-weight: 500; line-height: 1.25; letter-spacing: -0.01em; }
.issue .title span { color: var(--pale); font-weight: 400; }
.state { display: inline-flex; align-items: center; gap: 7px; margin-bottom: 18px; padding: 5px 13px 5px 11px;
  border-radius: 20px; background: var(--green); color: #fff; font-weight: 500; line-height: 1.4; }
.state svg { width: 17px; fill: none; stroke: #fff; stroke-width: 1.6; }
.state.closed { background: var(--purple); }
.state svg path { stroke-linecap: round; stroke-linejoin: round; }
.state .dot { fill: #fff; stroke: none; }
.comment { flex: 1; overflow: hidden; border: 1px solid var(--line); border-radius: 8px; }
.by { display: flex; align-items: center; gap: 8px; padding: 9px 16px; border-bottom: 1px solid var(--line);
  background: var(--soft); color: var(--pale); }
.by b { color: var(--ink); font-weight: 600; }
.by .face { width: 26px; height: 26px; border-radius: 6px; background: #57606a; color: #fff; font-size: 14px; }
.tag { padding: 0 7px; border: 1px solid var(--line); border-radius: 12px; font-size: 13px; }
.markdown { padding: 16px; }
.markdown > * { margin: 0 0 16px; }
.markdown > :first-child { margin-top: 0; }
.markdown > :last-child { margin-bottom: 0; }
.markdown h3 { margin: 24px 0 14px; font-size: 19px; font-weight: 600; line-height: 1.25; }
.markdown ul { padding-left: 26px; text-wrap: pretty; }
.markdown li + li { margin-top: 6px; }
.markdown .link { color: var(--blue); text-decoration: underline; text-underline-offset: 2px; }
.markdown code { padding: 2px 5px; border-radius: 6px; background: var(--code); font: 85%/1.5 var(--mono);
  white-space: break-spaces; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
.markdown table { width: 100%; border-collapse: collapse; font-size: 14.5px; }
.markdown th, .markdown td { padding: 9px; border: 1px solid var(--line); }
.markdown th { font-weight: 600; }
.markdown tr:nth-child(2n) td { background: var(--soft); }
`;
