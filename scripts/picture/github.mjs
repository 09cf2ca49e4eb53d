// The GitHub side of the picture: an issue as its page shows it, in light mode.

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
  const { repository, number, title, author } = issue;
  const login = author.login.replace(/\[bot\]$/, "");
  const opened = shownTime(issue.createdAt, { month: "short", day: "numeric", year: "numeric" });
  const edited = issue.updatedAt > issue.createdAt ? " · edited" : "";
  return `<section class="issue">
  <header>${escaped(repository.owner)} <span>/</span> <b>${escaped(repository.name)}</b></header>
  <div class="page">
    <h1>${escaped(title)} <span>#${escaped(number)}</span></h1>
    <div class="state"><svg viewBox="0 0 16 16"><circle cx="8" cy="8" r="6.75"/><circle class="dot" cx="8" cy="8" r="1.6"/></svg>Open</div>
    <div class="comment">
      <div class="by">
        <div class="face">${escaped([...login][0]?.toUpperCase() ?? "")}</div>
        <b>${escaped(login)}</b>${author.type === "Bot" ? '<span class="tag">bot</span>' : ""}
        <span>opened on ${opened}${edited}</span>
      </div>
      <div class="markdown">${markdown.parse(issue.body ?? "")}</div>
    </div>
  </div>
</section>`;
}

export const issueCss = `
.issue { display: flex; flex-direction: column; overflow: hidden; border: 1px solid #d1d9e0; border-radius: 14px;
  background: #fff; color: #1f2328; font-size: 15.8px; line-height: 1.5; }
.issue > header { padding: 13px 20px; border-bottom: 1px solid #d1d9e0; background: #f6f8fa; font-size: 16px; }
.issue > header span { margin: 0 3px; color: #59636e; }
.page { display: flex; flex: 1; flex-direction: column; align-items: flex-start; padding: 20px 20px 20px; }
.issue h1 { margin: 0 0 12px; font-size: 26px; font-weight: 500; line-height: 1.25; letter-spacing: -0.01em; }
.issue h1 span { color: #59636e; font-weight: 400; }
.state { display: inline-flex; align-items: center; gap: 7px; margin-bottom: 18px; padding: 5px 13px 5px 11px;
  border-radius: 20px; background: #1f883d; color: #fff; font-weight: 500; line-height: 1.4; }
.state svg { width: 17px; fill: none; stroke: #fff; stroke-width: 1.6; }
.state .dot { fill: #fff; stroke: none; }
.comment { flex: 1; overflow: hidden; border: 1px solid #d1d9e0; border-radius: 8px; }
.by { display: flex; align-items: center; gap: 8px; padding: 9px 16px; border-bottom: 1px solid #d1d9e0;
  background: #f6f8fa; color: #59636e; }
.by b { color: #1f2328; font-weight: 600; }
.by .face { width: 26px; height: 26px; border-radius: 6px; background: #57606a; color: #fff; font-size: 14px; }
.tag { padding: 0 7px; border: 1px solid #d1d9e0; border-radius: 12px; font-size: 13px; }
.markdown { padding: 16px; }
.markdown > * { margin: 0 0 16px; }
.markdown > :last-child { margin-bottom: 0; }
.markdown h3 { margin: 24px 0 14px; font-size: 19px; font-weight: 600; line-height: 1.25; }
.markdown ul { padding-left: 26px; text-wrap: pretty; }
.markdown li + li { margin-top: 6px; }
.markdown .link { color: #0969da; text-decoration: underline; text-underline-offset: 2px; }
.markdown code { padding: 2px 5px; border-radius: 6px; background: #818b981f; font: 85%/1.5 var(--mono);
  white-space: break-spaces; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
.markdown table { width: 100%; border-collapse: collapse; font-size: 14.5px; }
.markdown th, .markdown td { padding: 9px; border: 1px solid #d1d9e0; }
.markdown th { font-weight: 600; }
.markdown tr:nth-child(2n) td { background: #f6f8fa; }
`;
