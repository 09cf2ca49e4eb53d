// The App: its id and key, its webhook.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkApp } from "../checks/app.mjs";
import { skipped } from "../checks/finding.mjs";
import { wrongAppId, wrongServiceUrl } from "../checks/forms.mjs";
import { readKey } from "../checks/key.mjs";
import { checkWebhook } from "../checks/webhook.mjs";
import { connectGitHub } from "../connect.mjs";
import { readNamedFile } from "../settings.mjs";
import { untilRight } from "./repair.mjs";

/**
 * @param {import('./repair.mjs').Run} run
 * @returns {Promise<{github?: import('../github.mjs').GitHub, app?: any}>}  nothing if the Worker's key is kept unchecked
 */
export async function theApp(run) {
  const { settings, ask, world } = run;
  await askAppId(run);
  if (await keepsKey(run)) {
    ask.show(skipped("App", "Not checked: that needs the private key, which the Worker keeps to itself."));
    return {};
  }
  const found = await untilRight(run, async () => {
    await askAppId(run);
    await askKey(run);
    await askApiUrl(run);
    const { github, finding } = connectGitHub(world.ports, settings);
    if (!github) return { findings: [finding] };
    return { github, ...(await checkApp(github)) };
  });
  await untilRight(run, async () => ({ findings: await checkWebhook(found.github, found.app) }), {
    without: "putting that right now",
  });
  return found;
}

async function askAppId({ settings, ask }) {
  if (settings.has("GITHUB_APP_ID")) return;
  const message = 'App id, as "App ID" at the top of the App\'s settings page';
  settings.set(
    "GITHUB_APP_ID",
    await ask.text(message, { placeholder: "1234567", validate: wrongAppId }),
    "your answer",
  );
}

/** Only after an address that turned out to be wrong. */
async function askApiUrl({ settings, ask, apiUrl }) {
  if (!apiUrl || settings.has("GITHUB_API_URL")) return;
  const answer = await ask.text("Address of GitHub's API", { initial: apiUrl, validate: wrongServiceUrl });
  settings.set("GITHUB_API_URL", answer, "your answer");
}

async function keepsKey({ settings, ask, deployed }) {
  if (settings.has("GITHUB_APP_PRIVATE_KEY") || !deployed.includes("GITHUB_APP_PRIVATE_KEY")) return false;
  if (!ask.interactive) return true;
  const choice = await ask.select("The Worker has a private key. It cannot be read back.", [
    { value: "keep", label: "Keep it", hint: "the App is not checked" },
    { value: "give", label: "Give the key file", hint: "checks the App, and puts the key in again" },
  ]);
  return choice === "keep";
}

async function askKey({ settings, ask, world }) {
  if (settings.has("GITHUB_APP_PRIVATE_KEY")) return;
  const message = "Private key: the .pem file (on the App's settings page: Private keys)";
  const path = await ask.text(message, {
    initial: likelyKeyFile(world),
    validate: (text) => {
      if (!text) return "Give the path of the .pem file.";
      const read = keyFile(text, world);
      return "wrong" in read ? `${read.wrong} ${read.todo}` : undefined;
    },
  });
  const read = keyFile(path, world);
  if ("pem" in read) settings.set("GITHUB_APP_PRIVATE_KEY", read.pem, "your file");
}

function keyFile(path, world) {
  const file = readNamedFile(path, world);
  return "wrong" in file ? file : readKey(file.text);
}

/** The newest file that is named as GitHub names keys, here or among the downloads. */
function likelyKeyFile({ cwd, root, home }) {
  const folders = [...new Set([cwd, root, join(home, "Downloads")])];
  const files = folders.flatMap((folder) => keysIn(folder));
  return files.sort((a, b) => b.at - a.at)[0]?.path;
}

function keysIn(folder) {
  try {
    const names = readdirSync(folder).filter((name) => name.endsWith(".private-key.pem"));
    return names.map((name) => ({ path: join(folder, name), at: statSync(join(folder, name)).mtimeMs }));
  } catch {
    return []; // There is no such folder, or it may not be read: then there is no suggestion.
  }
}
