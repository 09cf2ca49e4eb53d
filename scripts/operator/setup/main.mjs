// `npm run setup`: asks for what is missing, checks it against the real services, and only then writes.

import { readApps } from "../apps.mjs";
import { checkSignIn } from "../checks/cloudflare.mjs";
import { failed } from "../checks/finding.mjs";
import { checkLimits } from "../checks/limits.mjs";
import { readOptions, SETUP_USAGE } from "../options.mjs";
import { readSettings } from "../settings.mjs";
import { readVars } from "../wrangler-toml.mjs";
import { theAlarm } from "./alarm.mjs";
import { theApp } from "./app.mjs";
import { finish } from "./finish.mjs";
import { Cancelled, clackPrompts, linePrompts, Stopped } from "./prompts.mjs";
import { untilRight } from "./repair.mjs";
import { TELEGRAM_NAMES } from "./telegram.mjs";

const AT_HAND =
  "Have at hand: the App's settings page (GitHub, Settings, Developer settings, GitHub Apps), and for an alarm in " +
  "Telegram a bot (@BotFather makes one). All is checked as you go. Nothing is written before the end.";

/**
 * @param {string[]} args
 * @param {import('../world.mjs').World} world
 * @returns {Promise<number>} the exit code
 */
export async function setup(args, world) {
  const more = ["deploy", "dev-vars", "telegram"];
  const options = readOptions(args, { usage: SETUP_USAGE, more, cwd: world.cwd, home: world.home });
  if (options.help) {
    world.print(SETUP_USAGE);
    return 0;
  }
  const ask = world.input.isTTY && world.output.isTTY ? clackPrompts(world) : linePrompts(world);
  try {
    ask.intro("Set up github-app-redeliver");
    if (ask.interactive) ask.tell(AT_HAND);
    await steps(world, ask, options);
    return 0;
  } catch (error) {
    if (error instanceof Cancelled) ask.outro("Cancelled. Nothing was written.");
    else if (error instanceof Stopped) ask.outro(error.message);
    else if (error.path) ask.outro(`${error.path} cannot be written or read (${error.code}).`);
    else throw error;
    return 1;
  }
}

async function steps(world, ask, { chosen, flags }) {
  const { root, env, wrangler } = world;
  const given = (deployed) => readSettings({ root, env, flags, deployed });
  if (!ask.interactive && !chosen.deploy && !chosen["dev-vars"]) needs(given(false), [], "--deploy or --dev-vars");
  const target = await chooseTarget(world, ask, chosen);
  const settings = given(target === "deploy");
  oneOfSeveral(settings, ask, readVars(root).GITHUB_APP_ID ?? "");
  showLimits(settings, ask);
  const deployed = target === "deploy" ? ((await wrangler.secretNames()) ?? []) : [];
  if (!ask.interactive) needs(settings, deployed, chosen.telegram && "a terminal, for --telegram");
  if (chosen.telegram) for (const name of TELEGRAM_NAMES) settings.forget(name);
  const apiUrl = settings.has("GITHUB_API_URL") ? settings.get("GITHUB_API_URL") : "";
  const run = { world, settings, ask, target, deployed, apiUrl };
  const found = await theApp(run);
  await theAlarm(run, found, chosen);
  await finish(run);
}

/** @returns {Promise<'deploy' | 'dev-vars'>} */
async function chooseTarget(world, ask, chosen) {
  let target = chosen.deploy ? "deploy" : chosen["dev-vars"] ? "dev-vars" : undefined;
  target ??= await ask.select("What shall be set up?", [
    { value: "deploy", label: "The Worker on Cloudflare", hint: "puts in the secrets and deploys" },
    { value: "dev-vars", label: "This machine only", hint: "writes .dev.vars, for npm run dev" },
  ]);
  if (target === "dev-vars") return target;
  const signIn = async () => ({ findings: [(await checkSignIn(world.wrangler, world.env)).finding] });
  // Looked at first, so that nobody answers everything and then cannot deploy.
  const signedIn = await untilRight({ ask }, signIn, { without: "deploying: write .dev.vars" });
  return signedIn ? "deploy" : "dev-vars";
}

/**
 * Of several Apps the set-up does the one that is in wrangler.toml as GITHUB_APP_ID: it writes settings without an id, and those are
 * this App's or those of all. Another App's key in their place would lock out the first.
 */
function oneOfSeveral(settings, ask, inToml) {
  const apps = readApps(settings);
  const wrong = apps.findings.filter(({ state }) => state === "problem");
  for (const [index, finding] of wrong.entries()) ask.show(finding, index > 0);
  if (wrong.length > 0) throw new Stopped("Nothing was written. Put that right, and run it again.");
  if (!apps.listed) return;
  if (apps.ids.length === 1) return settings.set("GITHUB_APP_ID", apps.ids[0], "APPS");
  const id = settings.get("GITHUB_APP_ID");
  const others = apps.ids.filter((other) => other !== inToml);
  if (id && id === inToml.trim()) {
    ask.tell(
      `APPS has ${apps.ids.length} Apps. This sets up ${id} alone; for ${others.join(", ")}: docs/several-apps.md.`,
    );
    return undefined;
  }
  const which = id || others[0];
  throw new Stopped(
    `Nothing was written. Of several Apps the set-up does the one that wrangler.toml has as GITHUB_APP_ID. For App ${which} run: ` +
      `npx wrangler secret put GITHUB_APP_PRIVATE_KEY_${which} < its.private-key.pem; put what is its own into [vars], such as ` +
      `CONTROL_REPO_${which} = "owner/name"; then npm run deploy, and npm run doctor. docs/several-apps.md has it all.`,
  );
}

/** Settings that nobody is asked for, and that would make every sweep fail. */
function showLimits(settings, ask) {
  const findings = checkLimits(settings);
  for (const [index, finding] of findings.entries()) ask.show(finding, index > 0);
  if (failed(findings)) throw new Stopped("Nothing was written. Put that right, and run it again.");
}

/** Without a terminal, all at once that would have to be asked. What the deployed Worker has is not missing. */
function needs(settings, deployed, more) {
  const set = (name) => settings.has(name) || deployed.includes(name);
  const [token, chat] = [set("TELEGRAM_BOT_TOKEN"), set("TELEGRAM_CHAT_ID")];
  const missing = [
    more,
    !set("GITHUB_APP_ID") && "--app-id (or GITHUB_APP_ID)",
    !set("GITHUB_APP_PRIVATE_KEY") && "--key-file (or GITHUB_APP_PRIVATE_KEY in the environment)",
    token && !chat && "--chat-id (or TELEGRAM_CHAT_ID)",
    chat && !token && "TELEGRAM_BOT_TOKEN in the environment",
  ].filter(Boolean);
  if (missing.length > 0) throw new Stopped(`Without a terminal nothing can be asked. Missing: ${missing.join("; ")}.`);
}
