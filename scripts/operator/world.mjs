// What both commands need of the world, in one value, so that a test can give them another.

import http from "node:http";
import { homedir } from "node:os";
import { columns } from "../demo/terminal.mjs";
import { root } from "../setup.mjs";
import { httpClient, proxyOf } from "./http.mjs";
import { wranglerCli } from "./wrangler.mjs";

/**
 * @typedef {object} World
 * @property {string} root  where wrangler.toml and .dev.vars are
 * @property {string} cwd   what a path on the command line starts from
 * @property {string} home
 * @property {Record<string, string | undefined>} env
 * @property {import('./connect.mjs').Ports} ports
 * @property {import('./wrangler.mjs').Wrangler} wrangler
 * @property {(line: string) => void} print
 * @property {number} columns  how wide a table may be
 * @property {any} input   a terminal or a pipe
 * @property {any} output
 * @property {(ms: number) => Promise<void>} pause
 */

/** @param {Partial<World> & {fetch?: typeof fetch, now?: () => number}} [change] @returns {World} */
export function world(change = {}) {
  const { env = process.env, now = Date.now, fetch: given = fetch, output = process.stdout } = change;
  const top = change.root ?? root;
  return {
    root: top,
    // npm runs a script at the top of the repository, and says where it was called.
    cwd: env.INIT_CWD ?? process.cwd(),
    home: homedir(),
    env,
    ports: { call: httpClient({ fetch: given, now, env }), now },
    wrangler: wranglerCli({ root: top, env }),
    print: (line) => void output.write(`${line}\n`),
    columns,
    input: process.stdin,
    output,
    pause: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
    ...change,
  };
}

/** Node's own fetch goes through no proxy unless it is told to. */
export function throughTheProxy() {
  if (proxyOf(process.env)) http.setGlobalProxyFromEnv();
}
