// What was found right is written: into .dev.vars, or into wrangler.toml and the Worker. Until here nothing is.

import { problem } from "../checks/finding.mjs";
import { readKey } from "../checks/key.mjs";
import { SECRETS, VARS } from "../settings.mjs";
import { readVarsFile, writeVarsFile } from "../vars-file.mjs";
import { deployedAddress } from "../wrangler.mjs";
import { readVars, writeVars } from "../wrangler-toml.mjs";
import { Stopped } from "./prompts.mjs";

/** @param {import('./repair.mjs').Run} run */
export async function finish(run) {
  if (run.target === "dev-vars" || !(await deploysNow(run))) intoDevVars(run);
  else await intoWorker(run);
}

async function deploysNow({ ask, settings }) {
  if (!ask.interactive) return true;
  const tried = [...VARS, ...SECRETS].filter((name) => settings.from(name) === ".dev.vars");
  if (tried.length > 0) ask.tell(`Taken from .dev.vars: ${tried.join(", ")}.`);
  const choice = await ask.select("Nothing is written yet. Deploy now?", [
    { value: "deploy", label: "Deploy", hint: "secrets into the Worker, the rest into wrangler.toml" },
    { value: "dev-vars", label: "Write .dev.vars instead", hint: "for npm run dev" },
    { value: "stop", label: "Stop", hint: "nothing is written" },
  ]);
  if (choice === "stop") throw new Stopped("Nothing was written.");
  return choice === "deploy";
}

function intoDevVars({ settings, world, ask }) {
  const values = { ...changed([...VARS, ...SECRETS], settings, readVarsFile(world.root)), ...secretsOf(settings) };
  writeVarsFile(world.root, values);
  ask.tell("Written to .dev.vars, which only you can read and git ignores.");
  ask.outro("Next: npm run dev. Whenever you are in doubt: npm run doctor.");
}

async function intoWorker({ settings, world, ask, deployed }) {
  const { wrangler, root } = world;
  const vars = changed(VARS, settings, readVars(root));
  writeVars(root, vars);
  const names = Object.keys(vars);
  ask.tell(names.length > 0 ? `Written to wrangler.toml: ${names.join(", ")}.` : "wrangler.toml is right as it is.");
  const secrets = secretsOf(settings);
  // A bot without a chat would be half a setting, which the Worker refuses.
  if (!settings.has("TELEGRAM_CHAT_ID") && deployed.includes("TELEGRAM_BOT_TOKEN")) secrets.TELEGRAM_BOT_TOKEN = null;
  if (Object.keys(secrets).length > 0) {
    ask.tell(`Putting secrets into the Worker: ${Object.keys(secrets).join(", ")}.`);
    succeeded(await wrangler.putSecrets(secrets), "The secrets could not be put in", settings, ask);
  }
  ask.tell("Building and deploying (some minutes the first time).");
  const address = deployedAddress(await deploy(wrangler, settings, ask));
  if (address && !settings.has("STATUS_URL") && deployed.includes("ADMIN_TOKEN")) {
    writeVars(root, { STATUS_URL: address });
    ask.tell(`Written to wrangler.toml: STATUS_URL, so that the alarm has a button to the status page. Deploying it.`);
    await deploy(wrangler, settings, ask);
  }
  ask.tell("Deployed. The first sweep is at the next quarter of an hour.");
  ask.outro("Next: npx wrangler tail shows the sweeps, npm run doctor checks again.");
}

/** @returns {Promise<string>} what wrangler said */
async function deploy(wrangler, settings, ask) {
  const result = await wrangler.deploy();
  succeeded(result, "The Worker could not be deployed", settings, ask);
  return result.output;
}

/** What the file does not have as it shall be; what was given up becomes empty. */
function changed(names, settings, file) {
  const wanted = (name) => (settings.has(name) ? settings.get(name) : "");
  const differ = names.filter((name) => wanted(name) !== (file[name]?.trim() ?? ""));
  return Object.fromEntries(differ.map((name) => [name, wanted(name)]));
}

/** @returns {Record<string, string | null>} */
function secretsOf(settings) {
  const secrets = settings.pick(SECRETS);
  const read = readKey(secrets.GITHUB_APP_PRIVATE_KEY ?? "");
  return "pem" in read ? { ...secrets, GITHUB_APP_PRIVATE_KEY: read.pem } : secrets;
}

function succeeded({ code, output }, what, settings, ask) {
  if (code === 0) return;
  const said = lastLines(without(output, Object.values(settings.pick(SECRETS))));
  ask.show(
    problem(
      "wrangler",
      `${what} (exit code ${code}). It said:\n${said}`,
      "Put that right, and run npm run setup again.",
    ),
  );
  throw new Stopped("What was done so far stays. Nothing that is right will be asked again.");
}

const lastLines = (text) => text.trim().split("\n").slice(-15).join("\n");

/** Whatever a program prints, no secret and no line of a key. */
function without(text, secrets) {
  const parts = secrets.flatMap((secret) => [secret, ...secret.split(/\s+|\\n/)]).filter((part) => part.length > 8);
  return parts.reduce((clean, part) => clean.replaceAll(part, "[secret]"), text);
}
