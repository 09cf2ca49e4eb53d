// The doctor's table: a mark, what was looked at, the result, and below it what to do.

import { paint, width, wrap } from "../demo/terminal.mjs";

const MARKS = { ok: ["✔", "green"], warning: ["!", "yellow"], problem: ["✘", "red"], skipped: ["-", "dim"] };
const NAME_COLUMNS = 20;

/** @param {import('./checks/finding.mjs').Finding[]} findings @param {number} columns @returns {string[]} */
export function table(findings, columns) {
  const room = columns - NAME_COLUMNS - 4;
  return findings.flatMap(({ check, state, text, todo, group }, place) => {
    const before = findings[place - 1]?.group;
    const heading = group === before ? [] : ["", ...(group ? [` ${paint("bold", group)}`] : [])];
    const [mark, style] = MARKS[state];
    const name = paint("bold", check) + " ".repeat(Math.max(1, NAME_COLUMNS - width(check)));
    const [first, ...rest] = wrap([{ text, style: state === "skipped" ? "dim" : undefined }], room);
    const below = todo && state !== "ok" ? wrap([{ text: todo, style: "cyan" }], room - 2) : [];
    const indent = " ".repeat(NAME_COLUMNS + 4);
    return [
      ...heading,
      `${paint(style, ` ${mark} `)} ${name}${first}`,
      ...rest.map((line) => indent + line),
      ...below.map((line, index) => `${indent}${index === 0 ? "→ " : "  "}${line}`),
    ];
  });
}

/** The table in a sentence. @param {import('./checks/finding.mjs').Finding[]} findings */
export function summary(findings) {
  const count = (state) => findings.filter((finding) => finding.state === state).length;
  const [problems, warnings, notMade] = [count("problem"), count("warning"), count("skipped")];
  const parts = [
    problems > 0 && paint("red", plural(problems, "problem")),
    warnings > 0 && paint("yellow", plural(warnings, "warning")),
    notMade > 0 && `${notMade} not checked`,
    `${count("ok")} in order`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}

const plural = (number, word) => `${number} ${word}${number === 1 ? "" : "s"}`;
