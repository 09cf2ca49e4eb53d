// `npm run fuzz -- TARGET SECONDS`: libFuzzer over one target of test/fuzz, or over all of them one after the other, each for so long or
// for ten million runs, whichever is first. It goes on from the corpus in test/fuzz/corpus and from what earlier runs found
// (target/fuzz), and stops at the first input that breaks a property.

import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { checkRust } from "./rust.mjs";
import { onPinnedNode, root, SetupError } from "./setup.mjs";
import { main, run, step } from "./step.mjs";

const fuzz = join(root, "test/fuzz");
const found = join(root, "target/fuzz");
const targets = readdirSync(join(fuzz, "corpus")).sort();

/** Long enough for the stored state of a busy day. */
const LONGEST = 16_384;

/** Lines of a failure: what broke, where, and the file with the input. */
const SHOWN = 60;

/** After so many a target has had its share, however much time is left. */
const RUNS = 10_000_000;

// What `cargo fuzz` gives the compiler, but for the sanitizer of addresses, which only a nightly compiler has: there is no `unsafe` to look at.
const flags = [
  "--cfg=fuzzing",
  "-Cpasses=sancov-module",
  "-Cllvm-args=-sanitizer-coverage-level=4",
  "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
  "-Cllvm-args=-sanitizer-coverage-pc-table",
  "-Cllvm-args=-sanitizer-coverage-trace-compares",
];

await main(async () => {
  const [chosen, seconds, seed] = choose(process.argv.slice(2));
  await onPinnedNode();
  await checkRust();
  const host = execFileSync("rustc", ["-vV"], { encoding: "utf8" }).match(/^host: (.+)$/m)[1];
  // With a target named, the flags are for what runs there and not for build scripts.
  const build = ["build", "--release", "--locked", "--target", host, "--target-dir", found];
  const env = { RUSTFLAGS: flags.join(" ") };
  await step("compiled", () => run("cargo", build, { cwd: fuzz, env }), "a minute or two the first time");
  const program = join(found, host, "release/fuzz");
  for (const target of chosen) {
    await step(target, () => search(program, target, seconds, seed), `${seconds} s, seed ${seed}`);
  }
});

/** One target. What libFuzzer prints is kept: of a run that found nothing, its last lines are the figures. */
async function search(program, target, seconds, seed) {
  const [corpus, crashes] = [join(found, "corpus", target), join(found, `crash-${target}-`)];
  mkdirSync(corpus, { recursive: true });
  const args = [
    `-max_total_time=${seconds}`,
    `-runs=${RUNS}`,
    `-seed=${seed}`,
    `-max_len=${LONGEST}`,
    `-artifact_prefix=${crashes}`,
    "-print_final_stats=1",
    "-timeout=10",
    corpus,
    join(fuzz, "corpus", target),
  ];
  const shell = `exec "$0" "$@" 2>&1`;
  const text = await run("sh", ["-c", shell, program, ...args], { cwd: found, env: { FUZZ_TARGET: target } }).catch(
    (error) => {
      // Before what it found stand as many lines as it found new inputs.
      const lines = error.output.trimEnd().split("\n");
      throw new SetupError(`${target} broke a property:\n${lines.slice(-SHOWN).join("\n")}`);
    },
  );
  const [, runs] = text.match(/number_of_executed_units: (\d+)/);
  const [, speed] = text.match(/average_exec_per_sec: +(\d+)/);
  const [, cover] = text.match(/cov: (\d+) [^\n]*$/m) ?? [undefined, "?"];
  console.log(`   ${runs} runs, ${speed} a second, at ${cover} places of the code; nothing found`);
}

function choose(args) {
  const [target, seconds = "60", seed = "1"] = args;
  const isNumber = [seconds, seed].every((text) => /^[1-9]\d{0,8}$/.test(text));
  if (args.length > 0 && args.length <= 3 && isNumber && (target === "all" || targets.includes(target))) {
    return [target === "all" ? targets : [target], Number(seconds), Number(seed)];
  }
  throw new SetupError(`npm run fuzz takes -- TARGET SECONDS SEED, the target one of: all, ${targets.join(", ")}`);
}
