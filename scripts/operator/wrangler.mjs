// wrangler as a program: who is signed in, which secrets the Worker has, setting them, deploying. A secret goes
// through stdin, never on a command line, where every user of the machine could read it.

import { spawn } from "node:child_process";
import { stripVTControlCharacters } from "node:util";
import { isSecret } from "./apps.mjs";

/**
 * @param {{root: string, env: Record<string, string | undefined>, program?: string}} where
 */
export function wranglerCli({ root, env, program = "wrangler" }) {
  /** @param {string[]} args @param {{input?: string}} [how] @returns {Promise<{code: number, stdout: string, output: string}>} */
  function run(args, { input } = {}) {
    return new Promise((resolve) => {
      const child = spawn(program, args, {
        cwd: root,
        // wrangler asks no question, and no secret of the set-up reaches the programs that a build starts.
        env: { ...Object.fromEntries(Object.entries(env).filter(([name]) => !isSecret(name))), NO_COLOR: "1" },
        stdio: ["pipe", "pipe", "pipe"],
      });
      let stdout = "";
      let output = "";
      child.stdout.on("data", (chunk) => {
        stdout += chunk;
        output += chunk;
      });
      child.stderr.on("data", (chunk) => {
        output += chunk;
      });
      child.on("error", (error) => resolve({ code: 127, stdout, output: `wrangler cannot be run: ${error.message}` }));
      // It paints its errors even where nobody wants colour.
      child.on("close", (code) => resolve({ code: code ?? 1, stdout, output: stripVTControlCharacters(output) }));
      // A program that ended without reading is told by its exit code.
      child.stdin.on("error", () => {});
      child.stdin.end(input ?? "");
    });
  }

  return {
    /** @returns {Promise<{signedIn: boolean, accounts: {id: string, name: string}[], why: string}>} */
    async whoami() {
      const { code, stdout, output } = await run(["whoami", "--json"]);
      const told = parsed(stdout);
      const accounts = Array.isArray(told?.accounts) ? told.accounts : [];
      return { signedIn: code === 0 && told?.loggedIn !== false, accounts, why: firstError(output) };
    },
    /** Names of the deployed Worker's secrets, undefined if there is no such Worker (or nobody is signed in). */
    async secretNames() {
      const { code, stdout } = await run(["secret", "list", "--format", "json"]);
      const told = parsed(stdout);
      return code === 0 && Array.isArray(told) ? told.map(({ name }) => String(name)) : undefined;
    },
    /** Sets secrets, and creates the Worker if there is none yet. @param {Record<string, string>} secrets */
    putSecrets: (secrets) => run(["secret", "bulk"], { input: JSON.stringify(secrets) }),
    deploy: () => run(["deploy"]),
  };
}

/** The address at workers.dev that a deployment prints, if it has one. @param {string} output */
export const deployedAddress = (output) => /^\s*(https:\/\/[a-z0-9.-]+\.workers\.dev)\s*$/m.exec(output)?.[1];

/** @typedef {ReturnType<typeof wranglerCli>} Wrangler */

/** wrangler prints a banner or a notice before its JSON at times. */
function parsed(stdout) {
  const start = stdout.search(/[[{]/);
  try {
    return start < 0 ? undefined : JSON.parse(stdout.slice(start));
  } catch {
    return undefined;
  }
}

/** The sentence of an error, out of wrangler's frame. */
function firstError(output) {
  const [, said] = /\[ERROR\]\s*(.+)/.exec(output) ?? [];
  return (said ?? "").slice(0, 200);
}
