// Where settings come from: a flag, the environment, .dev.vars, and the [vars] of wrangler.toml; and which are those of one of several Apps.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { isNone, nameOf, SCOPES, suffixed } from "./apps.mjs";
import { LIMIT_NAMES } from "./checks/limits.mjs";
import { GITHUB_API } from "./github.mjs";
import { TELEGRAM_API } from "./telegram.mjs";
import { readVarsFile } from "./vars-file.mjs";
import { readVars } from "./wrangler-toml.mjs";

export const SECRETS = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"];
export const VARS = [
  "GITHUB_APP_ID",
  "GITHUB_API_URL",
  "TELEGRAM_CHAT_ID",
  "TELEGRAM_THREAD_ID",
  "TELEGRAM_API_URL",
  "CONTROL_REPO",
  "STATUS_URL",
];
const NAMES = ["APPS", ...VARS, ...SECRETS, ...LIMIT_NAMES];

/** Whether a file or the environment sets it for this Worker: the environment has all sorts of names. */
const isOurs = (name, from) => NAMES.includes(name) || isOfOneApp(name, from);

function isOfOneApp(name, from) {
  const [setting] = suffixed(name) ?? [];
  return setting !== undefined && (Object.hasOwn(SCOPES, setting) || from !== "the environment");
}

const DEFAULTS = { GITHUB_API_URL: GITHUB_API, TELEGRAM_API_URL: TELEGRAM_API };

/** The settings of one run, each with the place that it was read from. */
export class Settings {
  /** @type {Map<string, {value: string, from: string}>} */
  #held = new Map();
  /** Settings that this App is to be without. @type {Set<string>} */
  #none = new Set();
  /** What a setting is called, where it has another name than its own. @type {Map<string, string>} */
  #called = new Map();

  /** @param {string} name @returns {string} its value or default; empty if it is not set */
  get(name) {
    return this.#held.get(name)?.value ?? DEFAULTS[name] ?? "";
  }

  /** @param {string} name */
  has = (name) => this.#held.has(name);

  /** @param {string} name @returns {string} such as ".dev.vars" */
  from = (name) => this.#held.get(name)?.from ?? "";

  /** An empty value counts as not set. @param {string} name @param {string | undefined} value @param {string} from */
  set(name, value, from) {
    // Some machines set GITHUB_API_URL to the default by themselves: nothing that would have to be written down.
    const idle = !this.#held.has(name) && value?.trim() === DEFAULTS[name];
    if (value?.trim() && !idle) this.#held.set(name, { value: value.trim(), from });
  }

  /** The names of all that are set. */
  names = () => [...this.#held.keys()];

  /** What it is called where it stands, such as CONTROL_REPO_1234567. @param {string} name */
  called = (name) => this.#called.get(name) ?? name;

  /** Whether this App is to be without it although the others have it. @param {string} name */
  isNone = (name) => this.#none.has(name);

  /** As one of the Apps has them. @param {import('./apps.mjs').Apps} apps @param {string} id */
  of(apps, id) {
    const own = new Settings();
    for (const setting of NAMES) {
      const name = nameOf(this, apps, id, setting);
      own.#called.set(setting, name);
      const held = this.#held.get(name);
      if (held && isNone(name, setting, held.value)) own.#none.add(setting);
      else if (held) own.#held.set(setting, held);
    }
    own.#held.set("GITHUB_APP_ID", { value: id, from: apps.listed ? "APPS" : this.from("GITHUB_APP_ID") });
    // Without a chat the bot that the others have is none of its.
    if (own.isNone("TELEGRAM_CHAT_ID")) own.forget("TELEGRAM_BOT_TOKEN");
    return own;
  }

  /** @param {string} name */
  forget = (name) => void this.#held.delete(name);

  /** Those of `names` that are set. @param {string[]} names @returns {Record<string, string>} */
  pick = (names) => Object.fromEntries(names.filter(this.has).map((name) => [name, this.get(name)]));
}

/**
 * What is deployed goes by wrangler.toml, `wrangler dev` by .dev.vars; a flag or the environment goes before both.
 * @param {{root: string, env: Record<string, string | undefined>, flags?: Record<string, string>, deployed?: boolean}} from
 */
export function readSettings({ root, env, flags = {}, deployed = false }) {
  const files = [
    { from: "wrangler.toml", values: readVars(root) },
    { from: ".dev.vars", values: readVarsFile(root) },
  ];
  if (deployed) files.reverse();
  const settings = new Settings();
  for (const { from, values } of [
    ...files,
    { from: "the environment", values: env },
    { from: "a flag", values: flags },
  ]) {
    // Nobody is asked for these and the set-up writes none, so only what wrangler.toml says of them is deployed.
    const isIdle = (name) => deployed && from !== "wrangler.toml" && LIMIT_NAMES.includes(suffixed(name)?.[0] ?? name);
    for (const [name, value] of Object.entries(values)) {
      if (isOurs(name, from) && !isIdle(name)) settings.set(name, value, from);
    }
  }
  return settings;
}

/** Names that .dev.vars sets otherwise than wrangler.toml does. @param {string} root */
export function differences(root) {
  const toml = readVars(root);
  const dev = readVarsFile(root);
  const names = Object.keys(toml).filter((name) => name === "APPS" || VARS.includes(suffixed(name)?.[0] ?? name));
  return names.filter((name) => toml[name]?.trim() && dev[name]?.trim() && toml[name].trim() !== dev[name].trim());
}

/** The longest file that is looked into: a key has 2 or 3 kB. */
const MOST_BYTES = 65_536;

/**
 * The text of a file that a person named, as a shell or a window manager writes it: with ~, quotes or escaped spaces.
 * @param {string} named @param {{cwd: string, home: string}} where
 * @returns {{text: string} | {wrong: string, todo: string}}
 */
export function readNamedFile(named, { cwd, home }) {
  const path = resolve(cwd, unquoted(named.trim()).replace(/^~(?=\/|$)/, home));
  const todo = "Give the path of the .pem file that GitHub let you download.";
  try {
    const bytes = readFileSync(path);
    if (bytes.length > MOST_BYTES) return { wrong: "That file is too long for a key.", todo };
    return { text: bytes.toString("utf8") };
  } catch (error) {
    if (error.code === "ENOENT") return { wrong: `There is no file ${path}.`, todo };
    if (error.code === "EISDIR") return { wrong: `${path} is a folder.`, todo };
    if (error.code === "EACCES") return { wrong: `You may not read ${path}.`, todo: `Allow it: chmod u+r "${path}"` };
    return { wrong: `${path} cannot be read (${error.code}).`, todo };
  }
}

function unquoted(text) {
  return /^'.*'$|^".*"$/.test(text) ? text.slice(1, -1) : text.replaceAll("\\ ", " ");
}
