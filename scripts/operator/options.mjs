// What stands behind `npm run setup --` and `npm run doctor --`. A secret is never a flag: every user of the machine
// could read it, and the shell would keep it.

import { parseArgs } from "node:util";
import { SetupError } from "../setup.mjs";
import { readNamedFile } from "./settings.mjs";

const SETTINGS = {
  "app-id": "GITHUB_APP_ID",
  "chat-id": "TELEGRAM_CHAT_ID",
  "thread-id": "TELEGRAM_THREAD_ID",
  "control-repo": "CONTROL_REPO",
  "github-api-url": "GITHUB_API_URL",
};

const SHARED = `  --app-id ID            the App id or client id
  --key-file FILE        the .pem file that GitHub let you download
  --chat-id ID           the Telegram chat: a number, or @name of a channel
  --thread-id ID         the topic in that chat
  --control-repo O/N     the repository where the alarm stands as an issue
  --github-api-url URL   for GitHub Enterprise Server: https://HOST/api/v3

Settings are also read from the environment by their names (TELEGRAM_BOT_TOKEN,
GITHUB_APP_PRIVATE_KEY, ...), from .dev.vars, and from [vars] of wrangler.toml.
Secrets are never flags.`;

export const SETUP_USAGE = `npm run setup                     asks for what is missing and checks it
npm run setup -- --deploy ...     ... without a question where all is given

  --deploy               secrets into the Worker, the rest into wrangler.toml
  --dev-vars             all of it into .dev.vars, for npm run dev
  --telegram             asks for bot and chat anew
${SHARED}`;

export const DOCTOR_USAGE = `npm run doctor                    checks the settings against the real services

${SHARED}
WORKER_URL and ADMIN_TOKEN in the environment: asks the deployed Worker too.`;

const text = { type: /** @type {const} */ ("string") };
const flag = { type: /** @type {const} */ ("boolean") };
const flags = (names) => Object.fromEntries(names.map((name) => [name, flag]));
const shared = {
  ...Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, text])),
  "key-file": text,
  help: { ...flag, short: "h" },
};

/**
 * @param {string[]} args
 * @param {{usage: string, more?: string[], cwd: string, home: string}} how  `more`: flags without a value
 * @returns {{help: boolean, chosen: Record<string, any>, flags: Record<string, string>}}
 */
export function readOptions(args, { usage, more = [], cwd, home }) {
  const values = parsed(args, { ...shared, ...flags(more) }, usage);
  const given = {};
  for (const [option, name] of Object.entries(SETTINGS)) if (values[option]) given[name] = values[option];
  if (values["key-file"]) {
    const read = readNamedFile(values["key-file"], { cwd, home });
    if ("wrong" in read) throw new SetupError(`--key-file: ${read.wrong}`);
    given.GITHUB_APP_PRIVATE_KEY = read.text;
  }
  return { help: values.help === true, chosen: values, flags: given };
}

/** The number of a group is negative, and would be taken for a flag. */
function joined(args) {
  const at = args.findIndex((arg, index) => arg === "--chat-id" && /^-\d+$/.test(args[index + 1] ?? ""));
  return at < 0 ? args : [...args.slice(0, at), `--chat-id=${args[at + 1]}`, ...args.slice(at + 2)];
}

function parsed(args, options, usage) {
  try {
    return parseArgs({ args: joined(args), options, allowPositionals: false }).values;
  } catch (error) {
    // The message of an unknown option would repeat its value, and that may be a secret.
    const [, option] = /^(?:Unknown option|Option) '(-[\w-]*)/.exec(error.message) ?? [];
    const what = option
      ? `${option} is not taken, or not so.`
      : "Only options are taken, with two hyphens before them.";
    throw new SetupError(`${what}\n\n${usage}`);
  }
}
