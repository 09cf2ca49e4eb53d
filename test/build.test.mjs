// What is uploaded says nothing of the machine that built it. That two machines build the same is `npm run reproducible`.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { root } from "../scripts/setup.mjs";

// So the standard library names its files and those of its crates, wherever it was built.
const ofTheCompiler = /^\/rust(?:c|\/deps)\//;

/** Folders of this machine, and paths of sources that start at the top of any. */
function pathsIn(text) {
  const own = [join(root, "src"), join(homedir(), ".cargo"), join(homedir(), ".rustup"), process.env.CARGO_HOME].filter(
    Boolean,
  );
  const source = text.match(/(?:[A-Z]:|(?<![\w.-]))[\\/][\w.@-]+(?:[\\/][\w.@+-]+)+\.rs\b/g) ?? [];
  return [...own.filter((path) => text.includes(path)), ...source.filter((path) => !ofTheCompiler.test(path))];
}

for (const file of ["index.js", "index_bg.wasm"]) {
  test(`build/${file} holds no path of this machine`, () => {
    const text = readFileSync(join(root, "build", file), "latin1");
    assert.deepEqual(pathsIn(text), []);
  });
}

test("the module names the files of crates without the folder they were in, so that a panic can still be read", () => {
  const text = readFileSync(join(root, "build", "index_bg.wasm"), "latin1");
  assert.match(text, /crates\/serde_json-[\d.]+\/src\/\w+\.rs/);
});

test("a path is found wherever it stands", () => {
  const paths = [
    "/home/me/.cargo/registry/src/x/y-1.0.0/src/lib.rs",
    "C:\\Users\\me\\src\\lib.rs",
    "/build/src/main.rs",
  ];
  for (const path of paths) assert.deepEqual(pathsIn(`\0${path}:\0`), [path]);
  assert.deepEqual(pathsIn("src/policy/plan.rs crates/url-2.5.8/src/lib.rs /rustc/abc/library/core/src/str.rs"), []);
});
