// The Rust side of the set-up: checks the toolchain, and puts the programs that turn a crate into a Worker, and those that look at its
// dependencies, below target/tools, keyed by version.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { root, SetupError } from "./setup.mjs";
import { run, step } from "./step.mjs";

// What the crate `worker` asks for.
const oldestRust = [1, 91];
const wasm = "wasm32-unknown-unknown";

/** Checks that cargo and rustc are there and new enough, and adds the wasm target if it is missing. */
export async function checkRust() {
  const help = "Install Rust with rustup (https://rustup.rs), then run this again";
  for (const program of ["rustc", "cargo"]) {
    const version = await run(program, ["--version"], { cwd: root }).catch((error) => {
      throw new SetupError(`${program} does not run. ${help}.\n${error.output || error.message}`);
    });
    const [major, minor] = version
      .match(/(\d+)\.(\d+)/)
      ?.slice(1)
      .map(Number) ?? [0, 0];
    if (major < oldestRust[0] || (major === oldestRust[0] && minor < oldestRust[1])) {
      throw new SetupError(
        `${version.trim()} is too old, ${oldestRust.join(".")} is needed. With rustup: rustup update stable`,
      );
    }
  }
  const libraries = (await run("rustc", ["--print", "target-libdir", "--target", wasm], { cwd: root })).trim();
  if (existsSync(libraries)) return;
  await step(`Rust target ${wasm}`, async () => {
    await run("rustup", ["target", "add", wasm], { cwd: root }).catch((error) => {
      throw new SetupError(
        `Rust has no standard library for ${wasm}, and rustup could not add it. ${help}; ` +
          `a Rust without rustup needs that library in ${libraries}.\n${error.output || error.message}`,
      );
    });
  });
}

/** Installs what is missing, and returns the paths of the programs. */
export async function buildTools() {
  // The two do not share a build directory, so on two cores they go side by side.
  const [workerBuild, wasmBindgen] = await Promise.all([
    // Released together with the crate `worker`, under the same number.
    installed("worker-build", locked("worker"), "two minutes"),
    // Refuses a module that was made by any other version of the library.
    installed("wasm-bindgen-cli", locked("wasm-bindgen"), "two minutes", "wasm-bindgen"),
  ]);
  return { workerBuild, wasmBindgen };
}

/** Installs the check for dependencies that nothing uses, if it is missing, and returns its path. */
export function cargoMachete() {
  return installed("cargo-machete", "0.9.2", "half a minute");
}

/** The same for the check of licences, sources, versions and advisories. */
export function cargoDeny() {
  return installed("cargo-deny", "0.20.2", "a minute");
}

/** The same for the program that writes a bill of materials. */
export function cargoCyclonedx() {
  return installed("cargo-cyclonedx", "0.5.9", "a minute");
}

async function installed(crate, version, hint, program = crate) {
  const home = join(root, "target", "tools", `${crate}-${version}`);
  const path = join(home, "bin", program);
  if (existsSync(path)) return path;
  const scratch = join(home, "build");
  await step(
    `${crate} ${version}`,
    () =>
      run("cargo", ["install", "--locked", "--debug", "--root", home, `${crate}@${version}`], {
        cwd: root,
        // Unoptimized and without debug information it builds in a quarter of the time and is fast enough.
        env: { CARGO_PROFILE_DEV_DEBUG: "0", CARGO_TARGET_DIR: scratch },
      }),
    hint,
  );
  rmSync(scratch, { recursive: true, force: true });
  return path;
}

/** The version of a crate in Cargo.lock. */
function locked(crate) {
  const lock = readFileSync(join(root, "Cargo.lock"), "utf8");
  const version = lock.match(new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`))?.[1];
  if (!version) throw new SetupError(`Cargo.lock has no ${crate}`);
  return version;
}
