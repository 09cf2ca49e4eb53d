// Text on a terminal: how wide it is, its colours, how it wraps, and boxes around it. Knows nothing of deliveries.
//
// Styled text is a list of spans, `{ text, style }`, so that it can be wrapped by what a person sees of it.

import { stripVTControlCharacters } from "node:util";

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  underline: [4, 24],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
};

// Colour only for a person who looks at it and did not decline (https://no-color.org).
const coloured = Boolean(process.stdout.isTTY) && !process.env.NO_COLOR && process.env.TERM !== "dumb";

/** Whether a person looks at the output as it comes. */
export const watched = Boolean(process.stdout.isTTY);

/** Columns to write in: those of the terminal, 80 if it is none. Long lines are hard to read, so not more than 110. */
export const columns = Math.min(Math.max(process.stdout.columns || Number(process.env.COLUMNS) || 80, 60), 110);

/** Text in a style such as `bold` or `red`; plain where colour is not wanted. */
export function paint(style, text) {
  if (!coloured || !codes[style] || text === "") return text;
  const [on, off] = codes[style];
  return `\x1b[${on}m${text}\x1b[${off}m`;
}

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });
const wide =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\u2E80-\uA4CF\uAC00-\uD7A3\uF900-\uFAFF\uFE30-\uFE6F\uFF00-\uFF60]/u;

const split = (text) => Array.from(graphemes.segment(text), ({ segment }) => segment);
const widthOf = (grapheme) => (wide.test(grapheme) ? 2 : 1);

/** Columns that a text takes; styles take none. */
export function width(text) {
  return split(stripVTControlCharacters(text)).reduce((sum, grapheme) => sum + widthOf(grapheme), 0);
}

/** The text with spaces up to a width. */
export const pad = (text, columns) => text + " ".repeat(Math.max(0, columns - width(text)));

/** The text cut to a width, with an ellipsis if something is missing. */
export function cut(text, columns) {
  if (width(text) <= columns) return text;
  let kept = "";
  for (const grapheme of split(text)) {
    if (width(kept) + widthOf(grapheme) > columns - 1) break;
    kept += grapheme;
  }
  return `${kept}…`;
}

/** Lines of at most `columns`, from a text or spans. Line breaks in it are kept; a word that is too long is cut. */
export function wrap(content, columns) {
  const spans = typeof content === "string" ? [{ text: content }] : content;
  const letters = spans.flatMap(({ text, style }) => split(visible(text)).map((letter) => ({ letter, style })));
  const lines = [];
  let line = [];
  let used = 0;
  const end = () => {
    lines.push(painted(line));
    [line, used] = [[], 0];
  };
  for (const word of words(letters)) {
    if (word[0].letter === "\n") {
      end();
      continue;
    }
    const size = word.reduce((sum, { letter }) => sum + widthOf(letter), 0);
    if (used + size > columns && used > 0) {
      end();
      if (word[0].letter === " ") continue;
    }
    for (const one of word) {
      if (used + widthOf(one.letter) > columns) end();
      line.push(one);
      used += widthOf(one.letter);
    }
  }
  end();
  return lines;
}

/** A text from outside without what a terminal would obey. */
export const visible = (text) =>
  stripVTControlCharacters(text).replace(/(?!\n)\p{Cc}|[\u202A-\u202E\u2066-\u2069]/gu, "�");

/** Runs of letters, single spaces and single line breaks. */
function* words(letters) {
  let word = [];
  for (const one of letters) {
    const breaks = one.letter === " " || one.letter === "\n";
    if (breaks && word.length > 0) {
      yield word;
      word = [];
    }
    if (breaks) yield [one];
    else word.push(one);
  }
  if (word.length > 0) yield word;
}

function painted(line) {
  const last = line.findLastIndex(({ letter }) => letter !== " ");
  const runs = [];
  for (const { letter, style } of line.slice(0, last + 1)) {
    const run = runs.at(-1);
    if (run && run.style === style) run.text += letter;
    else runs.push({ text: letter, style });
  }
  return runs.map(({ text, style }) => paint(style, text)).join("");
}

/** Prints lines, each behind `indent` spaces. */
export function print(lines = "", indent = 0) {
  for (const line of [lines].flat()) console.log(line === "" ? "" : " ".repeat(indent) + line);
}

/** Lines in a box. `head` and `state` stand in its upper edge, `foot` below a line of its own. */
export function box(lines, { head, state, foot, columns: outer }) {
  const inner = outer - 4;
  const left = `┌─ ${paint("bold", head)} `;
  const right = ` ${state} ─┐`;
  const edge = (start, end) => start + "─".repeat(outer - 2) + end;
  const row = (line) => `│ ${pad(line, inner)} │`;
  return [
    left + "─".repeat(Math.max(1, outer - width(left) - width(right))) + right,
    ...lines.map(row),
    ...(foot ? [edge("├", "┤"), ...foot.map(row)] : []),
    edge("└", "┘"),
  ];
}

/** Waits so that a person can follow; nobody else is made to wait. */
export const pause = (ms) => (watched ? new Promise((resolve) => setTimeout(resolve, ms)) : undefined);
