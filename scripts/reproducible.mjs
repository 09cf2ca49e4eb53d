// `npm run reproducible`: builds the Worker twice from nothing, in two places that have nothing in common that a build could notice, and
// fails if a byte differs. Prints the digests, to compare with those of another machine.

import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { buildTools, checkRust } from "./rust.mjs";
import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { main, run, step } from "./step.mjs";

/** What of a build is uploaded. */
const uploaded = ["index.js", "index_bg.wasm"];

await main(async () => {
  await onPinnedNode();
  await checkRust();
  await buildTools();
  await run("cargo", ["fetch", "--locked"], { cwd: root });
  const scratch = mkdtempSync(join(tmpdir(), "reproducible-"));
  try {
    const first = await built(join(scratch, "a"), { TZ: "UTC" });
    // Another folder, home of cargo, time zone, and number of jobs; and flags that whoever builds has set for all their projects.
    const second = await built(join(scratch, "another folder", "with a longer name"), {
      TZ: "Pacific/Auckland",
      CARGO_HOME: otherCargoHome(scratch),
      CARGO_BUILD_JOBS: "1",
      RUSTFLAGS: "-Cdebuginfo=2",
    });
    for (const [file, digest] of Object.entries(first)) console.log(`${digest}  build/${file}`);
    const differing = uploaded.filter((file) => first[file] !== second[file]);
    if (differing.length > 0) {
      const others = differing.map((file) => `${second[file]}  build/${file}`);
      throw new SetupError(`the second build gave something else:\n${others.join("\n")}`);
    }
    console.log("the same both times");
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
});

/** Builds what git knows or would add, with the tools and packages of this folder, and returns the digests. */
async function built(folder, env) {
  const list = await run("git", ["ls-files", "-z", "--cached", "--others", "--exclude-standard"], { cwd: root });
  for (const file of list.split("\0").filter((name) => name && existsSync(join(root, name))))
    cpSync(join(root, file), join(folder, file));
  mkdirSync(join(folder, "target"));
  for (const shared of ["node_modules", join("target", "tools")]) symlinkSync(join(root, shared), join(folder, shared));
  const program = [join(folder, "scripts", "build.mjs")];
  await step(folder, () => run(process.execPath, program, { cwd: folder, env }), "a minute or two");
  const files = readdirSync(join(folder, "build"));
  const digests = uploaded.map((file) => {
    if (!files.includes(file)) throw new SetupError(`no ${file} in ${files.join(", ")}`);
    const content = readFileSync(join(folder, "build", file));
    return [file, createHash("sha256").update(content).digest("hex")];
  });
  return Object.fromEntries(digests);
}

/** A home of cargo elsewhere, with the crates of the real one, so that nothing is fetched again. */
function otherCargoHome(scratch) {
  const real = process.env.CARGO_HOME ?? join(homedir(), ".cargo");
  const other = join(scratch, "cargo");
  mkdirSync(other);
  for (const name of readdirSync(real)) symlinkSync(join(real, name), join(other, name));
  return other;
}
