// Copies of the built Worker with some lines of JavaScript before it.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const built = fileURLToPath(new URL("../../build", import.meta.url));

/** Makes a copy that starts with `script`, and goes after the test. Returns its directory. */
export function builtWith(t, script) {
  const directory = mkdtempSync(join(tmpdir(), "redeliver-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  cpSync(built, directory, { recursive: true });
  const entry = join(directory, "index.js");
  // Imports come first, wherever they are written.
  writeFileSync(entry, script + readFileSync(entry, "utf8"));
  return directory;
}
