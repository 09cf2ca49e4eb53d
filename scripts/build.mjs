// Builds the Worker into build/, unless nothing changed since it was built. `npm run build`, and the [build] of
// wrangler.toml: what a clean clone needs is installed first.

import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildTools, checkRust } from "./rust.mjs";
import { onPinnedNode, root } from "./setup.mjs";
import { main, run, step } from "./step.mjs";

// Everything the result depends on. package-lock.json stands for wasm-opt and esbuild.
const inputs = ["src", ".cargo", "build.rs", "Cargo.toml", "Cargo.lock", "scripts/build.mjs", "package-lock.json"];
const stamp = join(root, "build", ".stamp");
/** The module with the names of its functions, of the last build. */
export const namedWasm = join(root, "target", "named", "index_bg.wasm");

// Those that worker-build names too. With all of them wasm-opt writes what workerd does not read yet.
const wasmFeatures = [
  ...["mutable-globals", "sign-ext", "nontrapping-float-to-int", "bulk-memory"],
  ...["multivalue", "reference-types", "exception-handling"],
];

/** Builds the Worker; expects the pinned Node. */
export async function buildWorker() {
  const wanted = await fingerprint();
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === wanted) {
    console.log("ok Worker: build/ is up to date");
    return;
  }
  rmSync(stamp, { force: true });
  const { workerBuild, wasmBindgen } = await buildTools();
  const wasmOpt = join(root, "node_modules", ".bin", "wasm-opt");
  // worker-build asks cargo for the crate's metadata without --locked, which would bring Cargo.lock up to date silently.
  await step("crates", () => run("cargo", ["fetch", "--locked"], { cwd: root }));
  const flags = await withoutPaths();
  await step(
    "Worker",
    () =>
      run(workerBuild, ["--release", "--", "--locked"], {
        cwd: root,
        // Without these it would download its own, from where not every machine may.
        env: {
          WASM_BINDGEN_BIN: wasmBindgen,
          WASM_OPT_BIN: wasmOpt,
          ESBUILD_BIN: join(root, "node_modules", ".bin", "esbuild"),
          // In place of whatever flags this machine has set: the same source gives the same Worker anywhere.
          CARGO_ENCODED_RUSTFLAGS: flags.join("\x1f"),
        },
      }),
    "a minute or two the first time",
  );
  await leaveNamesOut(wasmOpt);
  writeFileSync(stamp, wanted);
}

/**
 * The flags that keep the folders of this machine out of the module. A panic says in which file it was, and a crate's file is below
 * cargo's home; that of the standard library too, if its source is installed.
 */
async function withoutPaths() {
  const args = ["metadata", "--locked", "--format-version", "1", "--filter-platform", "wasm32-unknown-unknown"];
  const { packages } = JSON.parse(await run("cargo", args, { cwd: root }));
  const crates = packages.filter(({ source }) => source).map((crate) => dirname(dirname(crate.manifest_path)));
  const sysroot = (await run("rustc", ["--print", "sysroot"], { cwd: root })).trim();
  const [, commit] = (await run("rustc", ["-vV"], { cwd: root })).match(/^commit-hash: (.+)$/m);
  const places = [[join(sysroot, "lib", "rustlib", "src", "rust"), `/rustc/${commit}`]];
  for (const folder of new Set(crates)) places.push([folder, "crates"]);
  return places.map(([folder, name]) => `--remap-path-prefix=${folder}=${name}`);
}

/**
 * The names of the functions are an eighth of the module, and nobody who runs it needs them. worker-build keeps them always, so they
 * are taken out here; the module with them stays below target/, for profiles and to read the trace of a crash.
 */
async function leaveNamesOut(wasmOpt) {
  const module = join(root, "build", "index_bg.wasm");
  mkdirSync(dirname(namedWasm), { recursive: true });
  copyFileSync(module, namedWasm);
  const features = wasmFeatures.map((feature) => `--enable-${feature}`);
  await run(wasmOpt, [namedWasm, "-o", module, ...features, "--strip-debug", "--strip-producers"], { cwd: root });
}

async function fingerprint() {
  const hash = createHash("sha256").update(await run("rustc", ["--version"], { cwd: root }));
  for (const path of inputs.flatMap(files)) {
    hash.update(`\0${path}\0`).update(readFileSync(join(root, path)));
  }
  return hash.digest("hex");
}

/** The files at or below a path, in a fixed order; none if there is no such path. */
function files(path) {
  const stat = statSync(join(root, path), { throwIfNoEntry: false });
  if (!stat?.isDirectory()) return stat ? [path] : [];
  return readdirSync(join(root, path))
    .sort()
    .flatMap((name) => files(join(path, name)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await onPinnedNode();
    await checkRust();
    await buildWorker();
  });
}
