// The Markdown of an issue as lines of a terminal: headings, lists, tables, bold, code and links, and no more than that.

import { wrap } from "./terminal.mjs";

const inlines = /\*\*(?<bold>.+?)\*\*|(?<ticks>`+) ?(?<code>.+?) ?\k<ticks>(?!`)|\[(?<link>.+?)\]\((?<url>[^)]*)\)/g;

/** Lines of at most `columns`. */
export function markdown(source, columns) {
  const lines = source
    .replace(/<!--.*?-->/gs, "")
    .trim()
    .split("\n");
  const out = [];
  while (lines.length > 0) {
    const line = lines.shift();
    if (line.startsWith("|")) {
      const rows = [line];
      while (lines[0]?.startsWith("|")) rows.push(lines.shift());
      out.push(...table(rows, columns));
    } else if (line.startsWith("#")) {
      out.push(...wrap([{ text: line.replace(/^#+ /, ""), style: "bold" }], columns));
    } else if (line.startsWith("- ")) {
      out.push(...wrap(spans(line.slice(2)), columns - 2).map((part, index) => (index === 0 ? "• " : "  ") + part));
    } else {
      out.push(...wrap(spans(line), columns));
    }
  }
  return out;
}

/** A table that is wider than a terminal: each row becomes a short list of its cells. */
function table(rows, columns) {
  const cells = (row) =>
    row
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim());
  const [names, , ...records] = rows.map(cells);
  // A guid has 36 characters.
  const indent = Math.min(Math.max(...names.map((name) => name.length)), Math.max(columns - 38, 14));
  return records.flatMap((record, number) => [
    ...(number > 0 ? [""] : []),
    ...record.flatMap((cell, index) => {
      const lines = wrap(spans(cell), columns - indent - 2);
      const labels = wrap(names[index], indent);
      const height = Math.max(lines.length, labels.length);
      return Array.from({ length: height }, (_, at) =>
        `${(labels[at] ?? "").padEnd(indent)}  ${lines[at] ?? ""}`.trimEnd(),
      );
    }),
  ]);
}

function spans(text) {
  const out = [];
  let end = 0;
  for (const match of text.matchAll(inlines)) {
    const { bold, code, link } = match.groups;
    out.push({ text: text.slice(end, match.index) });
    if (bold !== undefined) out.push({ text: bold, style: "bold" });
    if (code !== undefined) out.push({ text: code, style: "cyan" });
    if (link !== undefined)
      out.push({
        text: spans(link)
          .map((span) => span.text)
          .join(""),
        style: "underline",
      });
    end = match.index + match[0].length;
  }
  return [...out, { text: text.slice(end) }];
}
