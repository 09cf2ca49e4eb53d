// Which crates are part of the Worker: compiled into its wasm. Neither what runs while compiling (derive macros, build scripts) nor what
// only the tests use.

import { root } from "./setup.mjs";
import { run } from "./step.mjs";

/** `name@version` of each, the Worker's own crate left out. */
export async function shippedCrates() {
  const only = ["--edges", "normal,no-proc-macro", "--target", "wasm32-unknown-unknown"];
  const args = ["tree", "--locked", ...only, "--prefix", "none", "--format", "{p}", "--no-dedupe"];
  const lines = (await run("cargo", args, { cwd: root })).trim().split("\n").slice(1);
  const names = lines.map((line) =>
    line
      .match(/^(\S+) v(\S+)/)
      ?.slice(1)
      .join("@"),
  );
  return [...new Set(names)].sort();
}
