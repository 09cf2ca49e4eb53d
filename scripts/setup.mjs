// Brings a fresh clone to where a script can run: the npm packages of the lock, then the Node that is one of them.
// Needs only Node's own modules and parses on Node 20, since this is what the system's Node runs first. Run by
// itself it does the npm packages only, for the scripts of package.json that then call one of their programs.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { main, run, step } from "./step.mjs";

/** The top of the repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Something a person has to put right; the message says how. */
export class SetupError extends Error {
  name = "SetupError";
}

const bin = join(root, "node_modules", ".bin");
const node = join(bin, "node");
const stamp = join(root, "node_modules", ".stamp");

/**
 * The first line of every script: returns once the packages are there and this process is the pinned Node.
 * Otherwise it starts the same script on that Node, and ends with its exit code. `stdin` is for a script that asks.
 * @param {{stdin?: 'ignore' | 'inherit'}} [how]
 */
export async function onPinnedNode({ stdin = "ignore" } = {}) {
  process.chdir(root);
  await installPackages();
  process.env.PATH = [bin, ...withoutPackages()].join(delimiter);
  if (realpathSync(process.execPath) === realpathSync(node)) return;
  const child = spawn(node, process.argv.slice(1), { stdio: [stdin, "inherit", "inherit"] });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  process.exit(
    await new Promise((resolve) => {
      child.on("error", (error) => {
        console.log(`cannot run the Node of the npm package "node": ${error.message}`);
        resolve(1);
      });
      child.on("close", (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
    }),
  );
}

async function installPackages() {
  const wanted = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .update(`${process.platform} ${process.arch}`)
    .digest("hex");
  if (existsSync(node) && existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) return;
  // npm replaces node_modules, so npm itself must not run on the Node in there.
  const env = { PATH: withoutPackages().join(delimiter) };
  await step("npm packages", () => run("npm", ["ci", "--no-audit", "--no-fund"], { cwd: root, env }), "half a minute");
  if (!existsSync(node)) throw new SetupError('the npm package "node" brought no program: are install scripts off?');
  writeFileSync(stamp, wanted);
}

function withoutPackages() {
  return (process.env.PATH ?? "").split(delimiter).filter((entry) => !entry.endsWith(join("node_modules", ".bin")));
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main(installPackages);
