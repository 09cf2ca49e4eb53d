// `.dev.vars`, where `wrangler dev` looks for settings: NAME="value" lines, as the npm package dotenv reads them.

import {
  chmodSync,
  existsSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

/** Whole assignments, values over several lines included, so that nothing inside of a value is taken for one. */
const ASSIGNMENT =
  /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*('(?:\\'|[^'])*'|"(?:\\"|[^"])*"|`(?:\\`|[^`])*`|[^#\r\n]*)[^\r\n]*$/gm;

const varsFile = (root) => join(root, ".dev.vars");

/** @param {string} root @returns {Record<string, string | undefined>} nothing if there is no file */
export function readVarsFile(root) {
  const path = varsFile(root);
  return existsSync(path) ? parseEnv(readFileSync(path, "utf8")) : {};
}

/** Whether others on this machine may read the file. @param {string} root */
export function readableByOthers(root) {
  const path = varsFile(root);
  return existsSync(path) && process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0;
}

/**
 * Puts values into the file and keeps whatever else is there; a new one begins as `.dev.vars.example`. The file is
 * replaced in one go and is never half written, and nobody but its owner may read it.
 * @param {string} root @param {Record<string, string>} values
 */
export function writeVarsFile(root, values) {
  const link = varsFile(root);
  const path = existsSync(link) ? realpathSync(link) : link;
  const start = [path, join(root, ".dev.vars.example")].find(existsSync);
  const text = withValues(start ? readFileSync(start, "utf8") : "", values);
  const whole = `${path}.${process.pid}.new`;
  try {
    writeFileSync(whole, text, { mode: 0o600, flag: "wx" });
    chmodSync(whole, 0o600);
    renameSync(whole, path);
  } finally {
    rmSync(whole, { force: true });
  }
}

/** @param {string} text @param {Record<string, string>} values */
export function withValues(text, values) {
  const left = new Map(Object.entries(values));
  const replaced = text.replace(ASSIGNMENT, (whole, name) => {
    if (!Object.hasOwn(values, name)) return whole;
    left.delete(name);
    return assignment(name, values[name]);
  });
  const added = [...left].map(([name, value]) => `${assignment(name, value)}\n`).join("");
  const gap = added && replaced && !replaced.endsWith("\n") ? "\n" : "";
  return replaced + gap + added;
}

/** A key goes on one line, with \n for its breaks, which the Worker reads. */
function assignment(name, value) {
  const line = value.trimEnd().replaceAll("\r", "").replaceAll("\n", "\\n");
  if (/["\\$`]/.test(line.replaceAll("\\n", ""))) throw new Error(`${name} has a sign that .dev.vars cannot hold`);
  return `${name}="${line}"`;
}
