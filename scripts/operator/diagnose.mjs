// Every check in a row, for `npm run doctor`. It changes nothing, and nobody's phone rings.

import { readApps, suffixed } from "./apps.mjs";
import { checkApp } from "./checks/app.mjs";
import { checkSignIn, judgedSecrets, strayedSecrets } from "./checks/cloudflare.mjs";
import { checkControlRepo } from "./checks/control-repo.mjs";
import { ok, problem, skipped, warning } from "./checks/finding.mjs";
import { checkLimits } from "./checks/limits.mjs";
import { checkStatusUrl } from "./checks/status-url.mjs";
import { checkBot, checkChat } from "./checks/telegram.mjs";
import { checkWebhook } from "./checks/webhook.mjs";
import { checkWorker } from "./checks/worker.mjs";
import { connectGitHub, connectTelegram, wrongSetting } from "./connect.mjs";
import { SECRETS } from "./settings.mjs";

/** @typedef {import('./checks/finding.mjs').Finding} Finding @typedef {import('./settings.mjs').Settings} Settings */

const SET_UP = "Run: npm run setup";

/**
 * @param {import('./connect.mjs').Ports} ports
 * @param {Settings} settings
 * @param {{wrangler: import('./wrangler.mjs').Wrangler, env: Record<string, string | undefined>}} cloud
 * @returns {Promise<Finding[]>}
 */
export async function diagnose(ports, settings, { wrangler, env }) {
  const { signedIn, finding: cloudflare } = await checkSignIn(wrangler, env);
  const deployed = signedIn ? await wrangler.secretNames() : undefined;
  const apps = readApps(settings);
  const each = apps.ids.map((id) => settings.of(apps, id));
  // Without any, what is missing is said as of the one that there should be.
  const looked = each.length > 0 || apps.listed ? each : [settings];
  const found = [...apps.findings];
  for (const own of looked) {
    const group = looked.length > 1 ? `App ${own.get("GITHUB_APP_ID")}` : undefined;
    found.push(...(await ofApp(ports, own, deployed)).map((finding) => ({ ...finding, group })));
  }
  return [
    ...found,
    ...cloud({ signedIn, cloudflare, deployed, looked, apps }),
    ...(await checkStatusUrl(ports, settings, deployed)),
    ...(await worker(ports, env)),
  ];
}

/** All that is of one App. */
async function ofApp(ports, settings, deployed) {
  return [
    ...(await github(ports, settings, deployed)),
    ...(await telegram(ports, settings, deployed)),
    ...alarm(settings),
    ...checkLimits(settings),
  ];
}

async function github(ports, settings, deployed) {
  const repo = settings.get("CONTROL_REPO");
  const below = ["webhook", repo && "control repository"].filter(Boolean);
  const without = (checks, why) => checks.map((check) => skipped(check, `Not looked at, ${why}.`));
  if (!settings.has("GITHUB_APP_ID")) {
    return [missing("App", "GITHUB_APP_ID"), ...without(["private key", ...below], "without the App id")];
  }
  if (!settings.has("GITHUB_APP_PRIVATE_KEY")) {
    const name = settings.called("GITHUB_APP_PRIVATE_KEY");
    const how = name === "GITHUB_APP_PRIVATE_KEY" ? "--key-file FILE" : `${name} in the environment`;
    const key = notHere("private key", name, deployed, how);
    return [key, ...without(["App", ...below], "without the key")];
  }
  const connected = connectGitHub(ports, settings);
  if (!connected.github) return [connected.finding, ...without(below, "without the App")];
  const { app, findings } = await checkApp(connected.github);
  const key = ok("private key", `It can be read, from ${settings.from("GITHUB_APP_PRIVATE_KEY")}.`);
  if (!app) return [key, ...findings, ...without(below, "without the App")];
  const wrong = wrongSetting(settings, ["CONTROL_REPO"]);
  return [
    key,
    ...findings,
    ...(await checkWebhook(connected.github, app)),
    ...(wrong ? [wrong] : repo ? [await checkControlRepo(connected.github, app, repo)] : []),
  ];
}

async function telegram(ports, settings, deployed) {
  const [token, chat] = [settings.has("TELEGRAM_BOT_TOKEN"), settings.has("TELEGRAM_CHAT_ID")];
  if (!token && !chat) return [];
  const noChat = skipped("Telegram chat", "Not looked at, without the bot.");
  if (!token) {
    const name = settings.called("TELEGRAM_BOT_TOKEN");
    return [notHere("Telegram bot", name, deployed, `${name} in the environment`), noChat];
  }
  const connected = connectTelegram(ports, settings);
  if (!connected.telegram) return [connected.finding, noChat];
  const { bot, finding } = await checkBot(connected.telegram);
  if (!bot) return [finding, noChat];
  if (!chat) return [finding, missing("Telegram chat", "TELEGRAM_CHAT_ID")];
  const wrong = wrongSetting(settings, ["TELEGRAM_CHAT_ID", "TELEGRAM_THREAD_ID"]);
  if (wrong) return [finding, wrong];
  const [chatId, threadId] = [settings.get("TELEGRAM_CHAT_ID"), settings.get("TELEGRAM_THREAD_ID")];
  return [finding, (await checkChat(connected.telegram, { chatId, threadId, bot })).finding];
}

function alarm(settings) {
  if (settings.has("TELEGRAM_CHAT_ID") || settings.has("TELEGRAM_BOT_TOKEN") || settings.has("CONTROL_REPO")) return [];
  return [warning("alarm", "Neither a chat nor a control repository is set, so nobody will be told.", SET_UP)];
}

function cloud({ signedIn, cloudflare, deployed, looked, apps }) {
  // Whoever only tries it out needs no account.
  if (!signedIn) return [skipped("Cloudflare", cloudflare.text, cloudflare.todo)];
  const needed = looked.flatMap((settings) => {
    const names = SECRETS.filter((name) => name === "GITHUB_APP_PRIVATE_KEY" || settings.has("TELEGRAM_CHAT_ID"));
    return names.map(settings.called);
  });
  return [cloudflare, judgedSecrets(deployed, [...new Set(needed)]), ...strayedSecrets(deployed, apps)];
}

async function worker(ports, env) {
  const [url, token] = [env.WORKER_URL, env.ADMIN_TOKEN];
  if (!url && !token) return [];
  if (!url || !token)
    return [problem("Worker's word", "WORKER_URL and ADMIN_TOKEN belong together.", "Set both, or none.")];
  if (!URL.canParse(url))
    return [problem("Worker's word", "WORKER_URL is no address.", "Give https://NAME.workers.dev")];
  return [await checkWorker(ports, { url, token })];
}

const missing = (check, name) =>
  problem(check, `${name} is not set.`, suffixed(name) ? `Run: npx wrangler secret put ${name}` : SET_UP);

/** A secret that the Worker has is not here, and that is well; but then nothing can be checked with it. */
function notHere(check, name, deployed, how) {
  if (!deployed?.includes(name)) return missing(check, name);
  return skipped(check, "The Worker has it, and nobody can read it back.", `To have it checked, give ${how}.`);
}
