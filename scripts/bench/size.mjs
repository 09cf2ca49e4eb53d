// How large the Worker is, how long V8 takes to compile and start it, and which crate has how many bytes of its code.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { namedWasm } from "../build.mjs";
import { root } from "../setup.mjs";
import { spread, table } from "./tables.mjs";
import { codeByCrate, sections } from "./wasm.mjs";

const wasmName = "index_bg.wasm";

const kB = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;

/** Bytes of a file, and of what gzip makes of it as Cloudflare counts an upload. */
export function fileSize(path) {
  const bytes = readFileSync(path);
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
}

export function report({ runs, build = join(root, "build") }) {
  const path = join(build, wasmName);
  const [wasm, js] = [fileSize(path), fileSize(join(build, "index.js"))];
  table("Size", [
    ["", "raw", "gzip"],
    ["wasm", kB(wasm.raw), kB(wasm.gzip)],
    ["JavaScript around it", kB(js.raw), kB(js.gzip)],
    ["upload", kB(wasm.raw + js.raw), kB(wasm.gzip + js.gzip)],
  ]);
  const times = Array.from({ length: runs }, () => startOnce(build));
  table(`Start of the isolate in ms by the clock, Node's V8, ${runs} processes: median and middle half`, [
    ["compile", "start, with the rehearsal"],
    [spread(times.map(({ compile }) => compile)), spread(times.map(({ start }) => start))],
  ]);
  printCrates(readFileSync(existsSync(namedWasm) ? namedWasm : path));
}

// In a process of its own, since V8 keeps what it compiled. The start is what the runtime does with the script before the first call: it
// makes the instance, which rehearses a sweep (src/recovery/rehearsal.rs).
const once = `
  import { readFileSync } from "node:fs";
  import { registerHooks } from "node:module";
  const [script, wasm] = process.argv.slice(1);
  const bytes = readFileSync(wasm);
  const before = performance.now();
  globalThis.compiledWasm = new WebAssembly.Module(bytes);
  const compiled = performance.now();
  const inPlaceOf = (specifier) => {
    if (specifier === "cloudflare:workers") return "data:text/javascript,export class WorkerEntrypoint {}";
    return specifier.endsWith(".wasm") ? "data:text/javascript,export default globalThis.compiledWasm" : undefined;
  };
  registerHooks({ resolve(specifier, context, next) {
    const url = inPlaceOf(specifier);
    return url ? { url, shortCircuit: true } : next(specifier, context);
  } });
  globalThis.addEventListener = () => {};
  const ready = performance.now();
  await import(script);
  console.log(JSON.stringify({ compile: compiled - before, start: performance.now() - ready }));
`;

function startOnce(build) {
  const args = ["--input-type=module", "-e", once, pathToFileURL(join(build, "index.js")).href, join(build, wasmName)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

function printCrates(module) {
  const { count, crates } = codeByCrate(module);
  const code = crates.reduce((sum, [, bytes]) => sum + bytes, 0);
  const parts = Object.fromEntries(sections(module).map(({ name, bytes }) => [name, bytes]));
  const rows = crates
    .slice(0, 15)
    .map(([crate, bytes]) => [crate, kB(bytes), `${((100 * bytes) / code).toFixed(0)} %`]);
  const rest = crates.slice(15).reduce((sum, [, bytes]) => sum + bytes, 0);
  table(`Code by crate, ${count} functions; constants have ${kB(parts.data)} more`, [
    ["crate", "code", "share"],
    ...rows,
    ["others", kB(rest), `${((100 * rest) / code).toFixed(0)} %`],
  ]);
}
