// What a check found: one row of the doctor's table, one line of the set-up.

import { Unreachable } from "../http.mjs";

/**
 * @typedef {object} Finding
 * @property {string} check  what was looked at, a word or two
 * @property {'ok' | 'warning' | 'problem' | 'skipped'} state
 * @property {string} text   the result in one sentence, without a secret
 * @property {string} [todo] what a person has to do
 * @property {string} [group]  the App it is of, where there are several
 * @property {string} [setting] the setting that has to be given anew for it to be repaired here
 */

/** @param {string} check @param {string} text @returns {Finding} */
export const ok = (check, text) => ({ check, state: "ok", text });

/** @param {string} check @param {string} text @param {string} todo @returns {Finding} */
export const warning = (check, text, todo) => ({ check, state: "warning", text, todo });

/** @param {string} check @param {string} text @param {string} todo @param {string} [setting] @returns {Finding} */
export const problem = (check, text, todo, setting) => ({ check, state: "problem", text, todo, setting });

/** Not looked at, and why. @param {string} check @param {string} text @param {string} [todo] @returns {Finding} */
export const skipped = (check, text, todo) => ({ check, state: "skipped", text, todo });

const SECRETS = /eyJ[\w-]+(\.[\w-]+)*|gh[a-z]_[\w.-]+|\d{5,}:[\w-]{20,}|https?:\/\/\S+/g;

/** What a service said, short, and without what could be a secret: some servers repeat the request. @param {string} text */
export const quoted = (text) => text.replace(SECRETS, "[...]").slice(0, 200);

/**
 * What `work` returns; if a service gave no answer, what `shaped` makes of that finding.
 * @template Result
 * @param {string} check @param {() => Promise<Result>} work @param {(finding: Finding) => Result} shaped
 * @returns {Promise<Result>}
 */
export async function reached(check, work, shaped) {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unreachable)) throw error;
    return shaped(problem(check, error.message, error.todo));
  }
}

/** An answer that no check knows. @param {string} check @param {string} who @param {import('../http.mjs').Answer} answer */
export function unexpected(check, who, { status, json }) {
  const said = json?.message ?? json?.description;
  const words = typeof said === "string" ? `: ${quoted(said)}` : "";
  if (status === 429 || status >= 500) {
    return problem(check, `${who} is busy or has trouble (${status}${words}).`, "Try again in some minutes.");
  }
  return problem(
    check,
    `${who} answers ${status}${words}.`,
    "This is not expected. Try again; if it stays so, report it.",
  );
}

/** @param {Finding[]} findings */
export const failed = (findings) => findings.some(({ state }) => state === "problem");
