// What it costs to read the pages of a list and to decide, built for this machine, in numbers that do not vary: instructions as
// callgrind counts them, allocations, and the most bytes at a time. benches/costs.rs is what runs.

import { rmSync } from "node:fs";
import { join } from "node:path";
import { root, SetupError } from "../setup.mjs";
import { run } from "../step.mjs";

/** Builds the program and returns its path. */
export async function buildCosts() {
  const args = ["bench", "--locked", "--quiet", "--no-run", "--bench", "costs", "--message-format", "json"];
  const output = await run("cargo", args, { cwd: root });
  const artifacts = output.split("\n").filter((line) => line.startsWith("{"));
  const built = artifacts
    .map((line) => JSON.parse(line))
    .find(({ target, executable }) => target?.name === "costs" && executable);
  if (!built) throw new SetupError("cargo built no bench `costs`");
  return built.executable;
}

/** `asks`, `allocations` and `peak_bytes` of so many deliveries. */
export async function costsOf(program, deliveries) {
  return JSON.parse(await run(program, [String(deliveries)], { cwd: root }));
}

/** Instructions of so many deliveries. */
export async function instructionsOf(program, deliveries) {
  const out = join(root, "target", "callgrind.out");
  const options = [
    "--tool=callgrind",
    "--toggle-collect=*sweep_over*",
    `--callgrind-out-file=${out}`,
    "--quiet",
    "--verbose",
  ];
  const command = ["-c", 'exec valgrind "$@" 2>&1', "valgrind", ...options, program, String(deliveries)];
  await run("valgrind", ["--version"]).catch((error) => {
    throw new SetupError(
      `valgrind does not run, and counts the instructions: install the package valgrind.\n${error.message}`,
    );
  });
  const output = await run("sh", command, { cwd: root });
  rmSync(out, { force: true });
  const collected = output.match(/Collected : (\d+)/)?.[1];
  if (!collected || collected === "0") throw new SetupError(`callgrind counted nothing:\n${output}`);
  return Number(collected);
}
