// The Apps of APPS, and the settings of each. The rules are those of src/config/apps.rs, and a test compares the table.

import { ok, problem, warning } from "./checks/finding.mjs";

/**
 * Whose a setting is where there are several Apps. "each": an App has the one with its id behind it, or else that of all. "one": without
 * an id it is that of one App only. "shared": all have the same.
 * @type {Record<string, 'each' | 'one' | 'shared'>}
 */
export const SCOPES = {
  APPS: "shared",
  GITHUB_APP_ID: "shared",
  GITHUB_APP_PRIVATE_KEY: "one",
  GITHUB_API_URL: "each",
  TELEGRAM_BOT_TOKEN: "each",
  TELEGRAM_CHAT_ID: "each",
  TELEGRAM_THREAD_ID: "each",
  TELEGRAM_API_URL: "shared",
  CONTROL_REPO: "each",
  WINDOW_HOURS: "each",
  RETENTION_HOURS: "each",
  MAX_ATTEMPTS: "each",
  MAX_REDELIVERIES: "each",
  SUBREQUEST_LIMIT: "shared",
  FAILURE_PAGES: "each",
  DELIVERY_PAGES: "each",
  SUPERSEDED_EVENTS: "each",
  IGNORED_EVENTS: "each",
  RETRY_STATUS: "each",
  DRY_RUN: "each",
  ADMIN_TOKEN: "shared",
  STATUS_URL: "shared",
  DAILY_SUMMARY: "each",
  HEARTBEAT_URL: "one",
};

/** One App may be without these although the others have them. */
const MAY_BE_NONE = ["TELEGRAM_CHAT_ID", "TELEGRAM_THREAD_ID", "CONTROL_REPO", "HEARTBEAT_URL", "DAILY_SUMMARY"];

const SUFFIXED = /^(.+)_(\d+)$/;

/** A setting and the App it is for, such as `["CONTROL_REPO", "1234567"]`; nothing if no App is named. @param {string} name */
export function suffixed(name) {
  const [, setting, id] = SUFFIXED.exec(name) ?? [];
  return setting ? [setting, id] : undefined;
}

/** Whether a name is a secret of an App, with or without its id. @param {string} name */
export const isSecret = (name) => /^(GITHUB_APP_PRIVATE_KEY|TELEGRAM_BOT_TOKEN|HEARTBEAT_URL)(_\d+)?$/.test(name);

/**
 * @typedef {object} Apps
 * @property {boolean} listed  whether APPS is set
 * @property {string[]} ids    in the order of APPS
 * @property {string} owner    whose a setting of one App is if it has no id; empty: nobody's
 * @property {import('./checks/finding.mjs').Finding[]} findings  of the list itself
 */

/** @param {import('./settings.mjs').Settings} settings @returns {Apps} */
export function readApps(settings) {
  const alone = settings.get("GITHUB_APP_ID");
  if (!settings.has("APPS"))
    return { listed: false, ids: alone ? [alone] : [], owner: alone, findings: strays(settings, []) };
  const findings = [];
  const ids = [];
  for (const word of settings
    .get("APPS")
    .replace(/^\[(.*)\]$/s, "$1")
    .split(/[\s,]+/)) {
    const id = word.replace(/^["']|["']$/g, "");
    if (id === "") continue;
    if (!/^[1-9]\d{0,18}$/.test(id))
      findings.push(
        wrongList("has something that is no App id.", "Give the numbers, as App ids stand on the settings pages."),
      );
    else if (ids.includes(id)) findings.push(wrongList(`names ${id} twice.`, "Take one of them out."));
    else ids.push(id);
  }
  if (ids.length === 0 && findings.length === 0)
    findings.push(wrongList("names no App.", "Give the ids, such as 1234567,7654321."));
  if (alone && !ids.includes(alone)) {
    findings.push(
      problem(
        "Apps",
        `GITHUB_APP_ID from ${settings.from("GITHUB_APP_ID")} is not in APPS.`,
        "Add it there, or take it out.",
      ),
    );
  }
  const owner = alone || (ids.length === 1 ? ids[0] : "");
  findings.push(...strays(settings, ids), ...nobodys(settings, owner));
  if (findings.length === 0) findings.push(ok("Apps", `APPS has ${ids.length}: ${ids.join(", ")}.`));
  return { listed: true, ids, owner, findings };
}

const wrongList = (text, todo) => problem("Apps", `APPS ${text}`, todo);

/**
 * A secret without an App stops nobody, as it is deployed before the list that names its App. Anything else stops all.
 * @param {string} name @param {string} text @param {string} todo
 */
const stray = (name, text, todo) => (isSecret(name) ? warning : problem)("Apps", text, todo);

/** Settings for an App that is not there. @param {import('./settings.mjs').Settings} settings @param {string[]} ids */
function strays(settings, ids) {
  return settings.names().flatMap((name) => {
    const [setting, id] = suffixed(name) ?? [];
    if (!setting) return [];
    const from = settings.from(name);
    if (!settings.has("APPS")) {
      return [
        stray(
          name,
          `${name} from ${from} is for one of several Apps, and APPS is not set.`,
          "Give APPS the ids of all.",
        ),
      ];
    }
    if (SCOPES[setting] === "shared") {
      return [problem("Apps", `${name} from ${from} is not taken.`, `Set ${setting}, which is the same for all Apps.`)];
    }
    if (SCOPES[setting] && !ids.includes(id)) {
      return [
        stray(
          name,
          `${name} from ${from} is for an App that is not in APPS.`,
          "Add it there, correct the name, or take it out.",
        ),
      ];
    }
    if (!SCOPES[setting] && ids.includes(id)) {
      return [problem("Apps", `${name} from ${from} is no setting.`, "Look whether its name is right.")];
    }
    return [];
  });
}

/** Settings of one App that no App has. */
function nobodys(settings, owner) {
  if (owner) return [];
  const names = Object.keys(SCOPES).filter((name) => SCOPES[name] === "one" && settings.has(name));
  return names.map((name) => {
    const text = `${name} from ${settings.from(name)} belongs to one App, and there are several.`;
    return stray(name, text, `Name it ${name}_ID, or set GITHUB_APP_ID to its App.`);
  });
}

/**
 * What a setting of an App is called.
 * @param {import('./settings.mjs').Settings} settings @param {Apps} apps @param {string} id @param {string} setting
 */
export function nameOf(settings, { listed, owner }, id, setting) {
  const own = `${setting}_${id}`;
  const has = settings.has(own);
  // A topic is one of its chat.
  const ofOwnChat = setting === "TELEGRAM_THREAD_ID" && settings.has(`TELEGRAM_CHAT_ID_${id}`);
  const isOwn = { each: has || ofOwnChat, one: has || owner !== id, shared: false }[SCOPES[setting]];
  return listed && isOwn ? own : setting;
}

/** Whether the App is to be without what the others have. @param {string} name @param {string} setting @param {string} value */
export const isNone = (name, setting, value) =>
  name !== setting && MAY_BE_NONE.includes(setting) && value.toLowerCase() === "none";
