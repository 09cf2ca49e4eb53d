// `npm test`: everything that is checked, in one command, from a fresh clone. Every step runs even if an earlier one
// failed. `npm test -- --only NAME` runs one step.

import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { everyStep, main, run } from "./step.mjs";

// Longer than any file of tests takes on a slow machine: one that waits for what never comes fails, and does not hold up the rest.
const HUNG_MS = 900_000;

const clippy = ["clippy", "--locked", "--quiet"];
const deny = ["--", "-D", "warnings"];
const cargo = (...args) => run("cargo", args, { cwd: root });

// In the order of how soon they fail. What needs a compiler shares what cargo built for the step before.
const steps = {
  rustfmt: () => cargo("fmt", "--check"),
  biome: () => run("biome", ["check", "--error-on-warnings", "--no-errors-on-unmatched"], { cwd: root }),
  clippy: () => cargo(...clippy, "--all-targets", ...deny),
  "clippy-wasm": () => cargo(...clippy, "--target", "wasm32-unknown-unknown", "--lib", ...deny),
  docs: () =>
    run("cargo", ["doc", "--locked", "--quiet", "--no-deps", "--document-private-items"], {
      cwd: root,
      env: { RUSTDOCFLAGS: "-D warnings" },
    }),
  dependencies: async () => {
    const { cargoDeny, cargoMachete } = await import("./rust.mjs");
    const [machete, deny] = await Promise.all([cargoMachete(), cargoDeny()]);
    await run(machete, ["--skip-target-dir"], { cwd: root });
    const rules = ["--config", "scripts/deny.toml", "check", "licenses", "bans", "sources"];
    for (const manifest of ["Cargo.toml", "test/fuzz/Cargo.toml"]) {
      // It looks at the crates of every platform, and what was compiled so far has brought those of this one.
      await cargo("fetch", "--locked", "--manifest-path", manifest);
      await run(deny, ["--locked", "--offline", "--manifest-path", manifest, ...rules], { cwd: root });
    }
  },
  "cargo-test": () => run("cargo", ["test", "--locked"], { cwd: root, show: true }),
  build: async () => {
    const { buildWorker } = await import("./build.mjs");
    await buildWorker();
  },
  costs: async () => {
    const { checkCosts } = await import("./bench/check.mjs");
    await checkCosts();
  },
  "node-test": () =>
    run(process.execPath, ["--test", "--test-concurrency=2", `--test-timeout=${HUNG_MS}`, "test/**/*.test.mjs"], {
      cwd: root,
      show: true,
    }),
};

// Those that can take a while when everything has to be compiled, announced before they start.
const hints = {
  clippy: "half a minute the first time",
  "clippy-wasm": "half a minute the first time",
  dependencies: "a minute or two the first time",
  "cargo-test": "a minute the first time",
  costs: "half a minute the first time",
  "node-test": "the Worker in workerd",
};

await main(async () => {
  const started = performance.now();
  const chosen = choose(process.argv.slice(2));
  await onPinnedNode();
  const { checkRust } = await import("./rust.mjs");
  await checkRust();
  const failed = await everyStep(chosen.map((name) => [name, steps[name], hints[name]]));
  const seconds = ((performance.now() - started) / 1000).toFixed(0);
  if (failed.length > 0) {
    console.log(`\nfailed: ${failed.join(", ")} (${chosen.length} steps in ${seconds} s)`);
    process.exitCode = 1;
  } else {
    console.log(`\nall ${chosen.length} steps passed in ${seconds} s`);
  }
});

function choose(args) {
  if (args.length === 0) return Object.keys(steps);
  const [option, name] = args;
  if (option === "--only" && args.length === 2 && Object.hasOwn(steps, name)) return [name];
  throw new SetupError(`npm test takes nothing, or -- --only with one of: ${Object.keys(steps).join(", ")}`);
}
