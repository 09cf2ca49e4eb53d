// Running programs: one line per step with its time, output only when it fails. Knows nothing of this project, needs
// only Node's own modules, and parses on Node 20, since the set-up uses it before anything is installed.

import { spawn } from "node:child_process";

/** A program that failed, with what it printed. */
export class CommandError extends Error {
  constructor(command, reason, output) {
    super(`${command}: ${reason}`);
    this.output = output;
  }
}

/**
 * Runs a program without stdin and returns what it wrote to stdout. `show` passes its stdout through as it comes;
 * stderr is kept for the error.
 */
export function run(program, args = [], { cwd, env, show = false } = {}) {
  const command = [program, ...args].join(" ");
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ["ignore", show ? "inherit" : "pipe", "pipe"],
    });
    const stdout = [];
    const all = [];
    child.stdout?.on("data", (chunk) => {
      stdout.push(chunk);
      all.push(chunk);
    });
    child.stderr.on("data", (chunk) => all.push(chunk));
    const text = (chunks) => Buffer.concat(chunks).toString();
    child.on("error", (error) => reject(new CommandError(command, error.message, "")));
    child.on("close", (code, signal) => {
      if (code === 0) resolve(text(stdout));
      else reject(new CommandError(command, signal ? `ended by ${signal}` : `exit code ${code}`, text(all)));
    });
  });
}

/** Does `work` under one line of progress. `hint` says how long a long one may take. */
export async function step(name, work, hint) {
  const started = performance.now();
  // A long step is announced on a line of its own: a line that is completed later is no progress in CI's log.
  if (hint) console.log(`…  ${name} (${hint})`);
  try {
    const result = await work();
    console.log(`ok ${name}  ${seconds(started)}`);
    return result;
  } catch (error) {
    console.log(`FAILED ${name}  ${seconds(started)}`);
    throw error;
  }
}

/** Does every step, `[name, work, hint]`, even if an earlier one failed. Returns the names of those that failed. */
export async function everyStep(steps) {
  const failed = [];
  for (const [name, work, hint] of steps) {
    await step(name, work, hint).catch((error) => {
      report(error);
      failed.push(name);
    });
  }
  return failed;
}

/** Prints an error of a step for a person: the program's own output first, then what it was. */
export function report(error) {
  if (error.output) console.log(error.output.trimEnd());
  const known = error instanceof CommandError || error.name === "SetupError";
  console.log(known ? error.message : error.stack);
}

/** Runs the body of a script; its failure is printed and becomes the exit code. */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    report(error);
    process.exitCode = 1;
  }
}

function seconds(started) {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
