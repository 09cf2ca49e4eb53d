// The pages of an operator, as a test reads them: the commands they give, the settings they name, the words they quote.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../../scripts/setup.mjs";

/** A file of the repository. @param {string} file */
export const read = (file) => readFileSync(join(root, file), "utf8");

/** The pages of docs/operate, each played by test/operate.test.mjs. */
export const PLAYED = readdirSync(join(root, "docs", "operate"))
  .filter((name) => name.endsWith(".md"))
  .sort()
  .map((name) => `docs/operate/${name}`);

/** All that an operator is sent to. */
export const OPERATORS = [
  ...PLAYED,
  "README.md",
  "docs/alarm.md",
  "docs/enterprise-server.md",
  "docs/first-day.md",
  "docs/setup.md",
  "docs/several-apps.md",
  "docs/status.md",
];

const FENCE = /^ *```[\s\S]*?^ *```$/gm;

/** What stands as code: whole blocks, and the pieces within a line. @param {string} text */
export function codeOf(text) {
  const pieces = text.replace(FENCE, "").matchAll(/`([^`]+)`/g);
  return [...(text.match(FENCE) ?? []), ...Array.from(pieces, ([, code]) => code)];
}

/** `npm run setup`, `npx wrangler secret put` and the like, without what follows. @param {string} text */
export function commandsOf(text) {
  const found = codeOf(text).flatMap((code) => [
    ...code.matchAll(/\bnpm (?:run |)[a-z][a-z:-]*|\bnpx wrangler(?: secret)? [a-z]+/g),
  ]);
  return [...new Set(found.map(([command]) => command))];
}

/** The names of settings, without the id of one of several Apps. @param {string} text */
export function settingsOf(text) {
  const found = codeOf(text).flatMap((code) => [...code.matchAll(/\b[A-Z]{2,}(?:_[A-Z]+)+(?=\b|_\d)/g)]);
  return [...new Set(found.map(([name]) => name))];
}

/**
 * What a page of docs/operate quotes word for word: what is in italics, and pieces of a line of the log, which begin with a quotation
 * mark. @param {string} text
 */
export function quotesOf(text) {
  const prose = text.replace(FENCE, "");
  const italics = prose.replace(/`[^`]*`/g, "").matchAll(/(?<![*\w])\*([^*\s][^*]*)\*(?!\*)/g);
  const pieces = prose.matchAll(/`("[^`]+)`/g);
  return [...italics, ...pieces].map(([, quote]) => quote);
}

const plain = (text) => text.replace(/\s+/g, " ").toLowerCase();

/** The quotes that stand in none of the texts. @param {string[]} quotes @param {string[]} texts */
export function unsaid(quotes, texts) {
  const all = texts.map(plain).join("\n");
  return quotes.filter((quote) => !all.includes(plain(quote)));
}

/** The first column of each table that is headed "it says": of each row the pieces that are fixed. @param {string} text */
export function saidInTables(text) {
  const tables = text.matchAll(/^\| it says \|.*\n\|.*\n((?:\|.*\n?)+)/gm);
  const rows = Array.from(tables, ([, body]) => body.trim().split("\n")).flat();
  return rows.flatMap((row) => {
    const cell = row.split("|")[1].trim();
    const italics = Array.from(cell.matchAll(/\*([^*]+)\*/g), ([, quote]) => quote);
    return (italics.length > 0 ? italics : [cell]).flatMap((quote) => quote.split("…").map((piece) => piece.trim()));
  });
}
