// Copies of the built Worker with some JavaScript of a test's before it.

import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const built = fileURLToPath(new URL("../../build", import.meta.url));

/** Makes a copy that starts with `script`, and goes after the test. Returns its directory. */
export function builtWith(t, script) {
  const directory = copied(t);
  const entry = join(directory, "index.js");
  // Imports come first, wherever they are written.
  writeFileSync(entry, script + readFileSync(entry, "utf8"));
  return directory;
}

/** The same behind a module of the test's, which imports what was built from `./built.mjs`. */
export function builtBehind(t, module) {
  const directory = copied(t);
  const entry = join(directory, "index.js");
  renameSync(entry, join(directory, "built.mjs"));
  writeFileSync(entry, module);
  return directory;
}

function copied(t) {
  const directory = mkdtempSync(join(tmpdir(), "redeliver-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(built, directory, { recursive: true });
  return directory;
}
