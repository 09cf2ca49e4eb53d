// From settings to a client of GitHub or Telegram, or the finding that says why there can be none.

import { problem } from "./checks/finding.mjs";
import { wrongForm } from "./checks/forms.mjs";
import { readKey } from "./checks/key.mjs";
import { githubClient } from "./github.mjs";
import { telegramClient } from "./telegram.mjs";

/**
 * What the checks need of the world.
 * @typedef {object} Ports
 * @property {ReturnType<typeof import('./http.mjs').httpClient>} call
 * @property {() => number} now  ms
 */

/** What a setting is called in the table. */
const CALLED = {
  GITHUB_APP_ID: "App",
  GITHUB_APP_PRIVATE_KEY: "private key",
  GITHUB_API_URL: "App",
  TELEGRAM_BOT_TOKEN: "Telegram bot",
  TELEGRAM_CHAT_ID: "Telegram chat",
  TELEGRAM_THREAD_ID: "Telegram chat",
  TELEGRAM_API_URL: "Telegram bot",
  CONTROL_REPO: "control repository",
};

/** The first of `names` whose form is wrong. @param {import('./settings.mjs').Settings} settings @param {string[]} names */
export function wrongSetting(settings, names) {
  for (const name of names) {
    const todo = settings.has(name) ? wrongForm[name]?.(settings.get(name)) : undefined;
    // The value is not shown: it may be a secret that came into the wrong place.
    if (todo)
      return problem(CALLED[name], `${settings.called(name)} from ${settings.from(name)} cannot be used.`, todo, name);
  }
  return undefined;
}

/**
 * @param {Ports} ports @param {import('./settings.mjs').Settings} settings  with App id and key
 * @returns {{github: import('./github.mjs').GitHub, finding?: undefined} | {github?: undefined, finding: any}}
 */
export function connectGitHub(ports, settings) {
  const wrong = wrongSetting(settings, ["GITHUB_APP_ID", "GITHUB_API_URL"]);
  if (wrong) return { finding: wrong };
  const read = readKey(settings.get("GITHUB_APP_PRIVATE_KEY"));
  if ("wrong" in read) return { finding: problem("private key", read.wrong, read.todo, "GITHUB_APP_PRIVATE_KEY") };
  const [appId, apiUrl] = [settings.get("GITHUB_APP_ID"), settings.get("GITHUB_API_URL")];
  return { github: githubClient({ ...ports, appId, apiUrl, key: read.key }) };
}

/**
 * @param {Ports} ports @param {import('./settings.mjs').Settings} settings  with a bot token
 * @returns {{telegram: import('./telegram.mjs').Telegram, finding?: undefined} | {telegram?: undefined, finding: any}}
 */
export function connectTelegram(ports, settings) {
  const wrong = wrongSetting(settings, ["TELEGRAM_BOT_TOKEN", "TELEGRAM_API_URL"]);
  if (wrong) return { finding: wrong };
  const [token, apiUrl] = [settings.get("TELEGRAM_BOT_TOKEN"), settings.get("TELEGRAM_API_URL")];
  return { telegram: telegramClient({ ...ports, token, apiUrl }) };
}
