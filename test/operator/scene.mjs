// A desk for `npm run setup` and `npm run doctor`: both fakes, a folder of its own, and a wrangler that only takes notes.

import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { doctor } from "../../scripts/operator/doctor.mjs";
import { setup } from "../../scripts/operator/setup/main.mjs";
import { world } from "../../scripts/operator/world.mjs";
import { root as repository } from "../../scripts/setup.mjs";
import { startGitHub, testKeys } from "../fakes/github.mjs";
import { startTelegram } from "../fakes/telegram.mjs";

export const CHAT = -1001234567890;
export const REPO = "octo/control";

/**
 * A right set-up unless changed. Everything is cleared up when the test `t` ends.
 * @param {any} t
 * @param {{github?: any, telegram?: any}} [options]
 */
export async function openDesk(t, options = {}) {
  const now = Date.now();
  const github = await startGitHub({ now, repositories: [{ fullName: REPO }], ...options.github });
  const telegram = await startTelegram({ now, chats: [{ id: CHAT }, { id: 42, title: "Ada" }], ...options.telegram });
  github.deliver({ event: "push", code: 200 });
  const folder = mkdtempSync(join(tmpdir(), "operator-"));
  t.after(async () => {
    rmSync(folder, { recursive: true });
    await telegram.close();
    await github.close();
  });
  for (const name of ["wrangler.toml", ".dev.vars.example"]) copyFileSync(join(repository, name), join(folder, name));
  writeFileSync(join(folder, "app.private-key.pem"), testKeys().pkcs1);
  return new Desk({ github, telegram, folder });
}

class Desk {
  /**
   * What wrangler answers: whether somebody is signed in, the deployed Worker's secrets (null: no Worker), and the `address` that a
   * deployment prints, if there is one.
   */
  cloud = { signedIn: true, accounts: [{ id: "a1", name: "Ada's account" }], secrets: null, fails: "" };
  /** Changes of the world: `now`, `fetch`, `pause`. @type {any} */
  change = {};
  /** Everything that was printed. */
  printed = "";

  constructor({ github, telegram, folder }) {
    Object.assign(this, { github, telegram, folder });
    this.services = { GITHUB_API_URL: github.url, TELEGRAM_API_URL: telegram.url };
    writeFileSync(join(folder, "wrangler"), stub(folder));
    chmodSync(join(folder, "wrangler"), 0o755);
  }

  /** A complete set-up, by the environment. */
  get settings() {
    return {
      GITHUB_APP_ID: "1234567",
      GITHUB_APP_PRIVATE_KEY: testKeys().pkcs1,
      TELEGRAM_BOT_TOKEN: this.telegram.token,
      TELEGRAM_CHAT_ID: String(CHAT),
      CONTROL_REPO: REPO,
    };
  }

  path = (name) => join(this.folder, name);
  read = (name) => readFileSync(this.path(name), "utf8");
  has = (name) => existsSync(this.path(name));

  /** What a command gets of the world; the environment holds nothing of this machine but PATH. */
  environment(env = {}) {
    writeFileSync(this.path("cloud.json"), JSON.stringify(this.cloud));
    const PATH = [this.folder, process.env.PATH].join(delimiter);
    return { PATH, HOME: this.folder, INIT_CWD: this.folder, ...this.services, ...env };
  }

  world(env, streams = {}) {
    const output = {
      isTTY: false,
      write: (text) => {
        this.printed += text;
      },
    };
    const wide = {
      root: this.folder,
      home: this.folder,
      env: this.environment(env),
      input: { isTTY: false },
      output,
      columns: 80,
    };
    // GitHub's clock stands still, and so does this one.
    const now = () => this.github.now;
    return world({ now, ...wide, ...streams, ...this.change });
  }

  /** Each returns the exit code. @param {Record<string, any>} [env] @param {string[]} [args] */
  doctor = (env = this.settings, args = []) => doctor(args, this.world(env));
  setup = (env = this.settings, args = [], streams = {}) => setup(args, this.world(env, streams));

  /** Every call of wrangler: `{args, input, secrets}`, the last being names of its environment. */
  get wranglerCalls() {
    if (!this.has("calls.jsonl")) return [];
    return this.read("calls.jsonl")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
  }
}

/** In the place of wrangler: notes its arguments and stdin, and answers as wrangler 4 does. */
function stub(folder) {
  return `#!${process.execPath}
// Whether or not a package.json beside it says that it is a module.
const fs = process.getBuiltinModule("node:fs");
const cloud = JSON.parse(fs.readFileSync(${JSON.stringify(join(folder, "cloud.json"))}, "utf8"));
const args = process.argv.slice(2);
const input = fs.readFileSync(0, "utf8");
const secrets = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"].filter((name) => name in process.env);
fs.appendFileSync(${JSON.stringify(join(folder, "calls.jsonl"))}, JSON.stringify({ args, input, secrets }) + "\\n");
const command = args.slice(0, args[0] === "secret" ? 2 : 1).join(" ");
const end = (text, code) => { console.log(text); process.exit(code); };
if (cloud.fails === command) {
  end("\\x1b[31m\\u2718 \\x1b[41;31m[\\x1b[41;97mERROR\\x1b[41;31m]\\x1b[0m \\x1b[1mit went wrong: " + input + "\\x1b[0m", 1);
}
if (command === "whoami") {
  const { signedIn: loggedIn, accounts } = cloud;
  end(JSON.stringify(loggedIn ? { loggedIn, accounts } : { loggedIn }), loggedIn ? 0 : 1);
}
if (command === "secret list") {
  end(cloud.secrets ? JSON.stringify(cloud.secrets.map((name) => ({ name, type: "secret_text" }))) : "[ERROR] no Worker", cloud.secrets ? 0 : 1);
}
if (command === "deploy" && cloud.address) {
  end("Uploaded github-app-redeliver (2.34 sec)\\nDeployed github-app-redeliver triggers (0.51 sec)\\n  " + cloud.address + "\\n  schedule: */15 * * * *", 0);
}
end("done", 0);
`;
}
