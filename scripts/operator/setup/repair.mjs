// One step of the set-up: check, show, and while something is wrong let the person choose how to go on.

import { Stopped } from "./prompts.mjs";

/**
 * @typedef {object} Run  one run of `npm run setup`
 * @property {import('../world.mjs').World} world
 * @property {import('../settings.mjs').Settings} settings
 * @property {import('./prompts.mjs').Prompts} ask
 * @property {'deploy' | 'dev-vars'} target
 * @property {string[]} deployed  names of the secrets that the deployed Worker has
 * @property {string} apiUrl  the address of GitHub's API that was given, if any
 */

/** What a person calls a setting. */
const NAMES = {
  GITHUB_APP_ID: "another App id",
  GITHUB_APP_PRIVATE_KEY: "another key file",
  GITHUB_API_URL: "another address of the API",
  TELEGRAM_BOT_TOKEN: "another bot token",
  TELEGRAM_CHAT_ID: "another chat",
  TELEGRAM_THREAD_ID: "no topic",
  TELEGRAM_API_URL: "the usual address of Telegram",
  CONTROL_REPO: "another repository",
};

/**
 * Calls `check` until it finds no problem; it asks for whatever setting is missing. Returns what it returned, or
 * undefined if the person went on without.
 * @template {{findings: import('../checks/finding.mjs').Finding[]}} Result
 * @param {Run} run
 * @param {() => Promise<Result>} check
 * @param {{without?: string}} [how]  what a person may go on without
 * @returns {Promise<Result | undefined>}
 */
export async function untilRight({ ask, settings }, check, { without } = {}) {
  for (;;) {
    const result = await check();
    for (const [index, finding] of result.findings.entries()) ask.show(finding, index > 0);
    const bad = result.findings.find(({ state }) => state === "problem");
    if (!bad) return result;
    if (!ask.interactive) throw new Stopped("Nothing was written. Put right what is named above, and run it again.");
    const another = bad.setting && { value: "another", label: `Give ${NAMES[bad.setting]}` };
    const options = [
      another,
      { value: "again", label: "Check again", hint: "I have put it right" },
      without && { value: "without", label: `Go on without ${without}` },
      { value: "stop", label: "Stop", hint: "nothing is written" },
    ];
    const choice = await ask.select("How to go on?", options.filter(Boolean));
    if (choice === "stop") throw new Stopped("Nothing was written.");
    if (choice === "without") return undefined;
    if (choice === "another") settings.forget(bad.setting);
  }
}
