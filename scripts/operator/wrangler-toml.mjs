// The [vars] of wrangler.toml, which the deployed Worker gets: read, and changed in place so that comments stay.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ENTRY = /^\s*([A-Za-z0-9_-]+)\s*=\s*("(?:\\.|[^"\\])*"|'[^']*'|[^#\s]+)/;

/** The same, wherever it stands; an array may go over several lines. */
const ENTRIES = new RegExp(ENTRY.source.replace("|[^#", "|\\[[^\\]]*\\]|[^#"), "gm");

const wranglerToml = (root) => join(root, "wrangler.toml");

/** @param {string} root @returns {Record<string, string>} */
export function readVars(root) {
  const lines = readFileSync(wranglerToml(root), "utf8").split("\n");
  const { start, end } = section(lines);
  const entries = lines.slice(start, end).join("\n").matchAll(ENTRIES);
  return Object.fromEntries(Array.from(entries, ([, name, value]) => [name, plain(value)]));
}

/** @param {string} root @param {Record<string, string>} values */
export function writeVars(root, values) {
  const path = wranglerToml(root);
  const text = readFileSync(path, "utf8");
  const changed = withVars(text, values);
  if (changed === text) return;
  writeFileSync(`${path}.new`, changed);
  renameSync(`${path}.new`, path);
}

/** @param {string} text @param {Record<string, string>} values */
export function withVars(text, values) {
  const lines = text.replace(/\n$/, "").split("\n");
  if (!lines.some(isVars)) lines.push("", "[vars]");
  for (const [name, value] of Object.entries(values)) {
    const { start, end } = section(lines);
    // A string of JSON is one of TOML.
    const line = `${name} = ${JSON.stringify(value)}`;
    const at = lines.findIndex((one, index) => index >= start && index < end && ENTRY.exec(one)?.[1] === name);
    if (at >= 0) lines[at] = line + (/\s+#[^"']*$/.exec(lines[at])?.[0] ?? "");
    else lines.splice(end, 0, line);
  }
  return `${lines.join("\n")}\n`;
}

const isVars = (line) => /^\s*\[\s*vars\s*\]/.test(line);

/** The lines of the section, without the blank ones at its end. */
function section(lines) {
  const head = lines.findIndex(isVars);
  if (head < 0) return { start: 0, end: 0 };
  const next = lines.findIndex((line, index) => index > head && /^\s*\[/.test(line));
  let end = next < 0 ? lines.length : next;
  while (end > head + 1 && /^\s*(#.*)?$/.test(lines[end - 1]) && next >= 0) end -= 1;
  while (end > head + 1 && lines[end - 1].trim() === "") end -= 1;
  return { start: head + 1, end };
}

function plain(value) {
  if (value.startsWith('"')) return JSON.parse(value);
  return value.startsWith("'") ? value.slice(1, -1) : value;
}
