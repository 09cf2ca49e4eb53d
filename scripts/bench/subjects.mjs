// What is measured: the Worker, and three others that are bundled here. Each is a directory with an index.js that exports the
// handlers and a class `Recovery`, as the harness of the tests starts it.

import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { namedWasm } from "../build.mjs";
import { root, SetupError } from "../setup.mjs";

const scratch = join(root, "target", "bench");

/** Directories by name. `built` is the Worker's; with its function names, if the build kept them. */
export async function subjects(built) {
  const ours = built ?? join(root, "build");
  if (!existsSync(join(ours, "index_bg.wasm"))) throw new SetupError(`no Worker in ${ours}: npm run build`);
  return {
    worker: withNames(ours),
    plain: await bundled("plain"),
    octokit: await bundled("octokit"),
    floor: await bundled("floor"),
  };
}

/** The same code, with the names by which a profile is split. */
function withNames(built) {
  if (built !== join(root, "build") || !existsSync(namedWasm)) return built;
  const directory = join(scratch, "worker");
  rmSync(directory, { recursive: true, force: true });
  cpSync(built, directory, { recursive: true });
  cpSync(namedWasm, join(directory, "index_bg.wasm"));
  return directory;
}

async function bundled(name) {
  const directory = join(scratch, name);
  mkdirSync(directory, { recursive: true });
  await build({
    entryPoints: [join(root, "scripts", "bench", "workers", `${name}.js`)],
    outfile: join(directory, "index.js"),
    bundle: true,
    // Names stay, since the profile is split by them.
    minifySyntax: true,
    minifyWhitespace: true,
    format: "esm",
    platform: "browser",
    conditions: ["workerd", "worker", "browser"],
    target: "es2022",
    logLevel: "error",
  });
  return directory;
}
