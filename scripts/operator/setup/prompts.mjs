// Asking a person, and telling. One of two: with a terminal by @clack/prompts, without one by lines and no questions.

import * as clack from "@clack/prompts";
import { visible, wrap } from "../../demo/terminal.mjs";

/** The person pressed Ctrl-C. */
export class Cancelled extends Error {
  name = "Cancelled";
}

/** It ends here, and what was shown says why. */
export class Stopped extends Error {
  name = "Stopped";
}

/**
 * @typedef {object} Prompts
 * @property {boolean} interactive
 * @property {(title: string) => void} intro
 * @property {(text: string) => void} tell
 * @property {(text: string, title: string) => void} note
 * @property {(finding: import('../checks/finding.mjs').Finding, more?: boolean) => void} show  `more`: of the same check
 * @property {(text: string) => void} outro
 * @property {(message: string, options: {value: string, label: string, hint?: string}[]) => Promise<string>} select
 * @property {(message: string, how: TextOptions) => Promise<string>} text
 * @property {(message: string, how: TextOptions) => Promise<string>} secret  what is typed is not shown
 *
 * @typedef {{validate: (text: string) => string | undefined, placeholder?: string, initial?: string}} TextOptions
 */

const LOG = { ok: "success", warning: "warn", problem: "error", skipped: "info" };

/** @param {{input: any, output: any}} streams @returns {Prompts} */
export function clackPrompts({ input, output }) {
  const streams = { input, output };
  // What clack puts before each line is three columns wide.
  const room = Math.min(output.columns ?? 80, 100) - 4;
  const lines = (text) => wrap(text, room).join("\n");
  const answered = async (answer) => {
    const value = await answer;
    if (clack.isCancel(value)) throw new Cancelled();
    return value;
  };
  const typed = ({ validate }) => ({
    validate: (value = "") => {
      const wrong = validate(value.trim());
      return wrong && lines(wrong);
    },
  });
  return {
    interactive: true,
    intro: (title) => clack.intro(title, streams),
    tell: (text) => clack.log.step(lines(text), streams),
    note: (text, title) => clack.note(lines(text), title, streams),
    // Findings of one check stand close together.
    show: (finding, more) => clack.log[LOG[finding.state]](said(finding, room), { ...streams, spacing: more ? 0 : 1 }),
    outro: (text) => clack.outro(lines(text), streams),
    select: (message, options) =>
      answered(
        clack.select({
          message: lines(message),
          options: options.map((option) => ({ ...option, label: visible(option.label) })),
          ...streams,
        }),
      ),
    text: async (message, how) => {
      const { placeholder, initial: initialValue } = how;
      const answer = clack.text({ message: lines(message), placeholder, initialValue, ...typed(how), ...streams });
      return (await answered(answer)).trim();
    },
    secret: async (message, how) =>
      (await answered(clack.password({ message: lines(message), ...typed(how), ...streams }))).trim(),
  };
}

/** @param {{print: (line: string) => void}} to @returns {Prompts} */
export function linePrompts({ print }) {
  const never = async (message) => {
    throw new Stopped(`This cannot be asked without a terminal: ${message}`);
  };
  const marks = { ok: "ok", warning: "warning", problem: "PROBLEM", skipped: "not checked" };
  return {
    interactive: false,
    intro: print,
    tell: print,
    note: (text, title) => print(`${title}: ${text}`),
    show: (finding) => print(`${marks[finding.state]}: ${said(finding, Number.POSITIVE_INFINITY)}`),
    outro: print,
    select: never,
    text: never,
    secret: never,
  };
}

/** What was looked at, what was found, and below it what to do, in lines of so many columns. */
function said({ check, state, text, todo }, columns) {
  const name = check.charAt(0).toUpperCase() + check.slice(1);
  const below = todo && state !== "ok" ? wrap(todo, columns - 2) : [];
  return [...wrap(`${name}: ${text}`, columns), ...below.map((line, index) => `${index ? "  " : "→ "}${line}`)].join(
    "\n",
  );
}
