// How large the Worker is, how long V8 takes to compile and instantiate it, and which crate has how many bytes of its code.

import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { namedWasm } from "../build.mjs";
import { root } from "../setup.mjs";
import { spread, table } from "./tables.mjs";
import { codeByCrate, sections } from "./wasm.mjs";

const kB = (bytes) => `${(bytes / 1000).toFixed(0)} kB`;

/** Bytes of a file, and of what gzip makes of it as Cloudflare counts an upload. */
export function fileSize(path) {
  const bytes = readFileSync(path);
  return { raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length };
}

export function report({ runs, build = join(root, "build") }) {
  const path = join(build, "index_bg.wasm");
  const [wasm, js] = [fileSize(path), fileSize(join(build, "index.js"))];
  table("Size", [
    ["", "raw", "gzip"],
    ["wasm", kB(wasm.raw), kB(wasm.gzip)],
    ["JavaScript around it", kB(js.raw), kB(js.gzip)],
    ["upload", kB(wasm.raw + js.raw), kB(wasm.gzip + js.gzip)],
  ]);
  const times = Array.from({ length: runs }, () => compileOnce(path));
  table(`Compile and instantiate in ms, Node's V8, ${runs} processes: median and middle half`, [
    ["compile", "instantiate"],
    [spread(times.map(({ compile }) => compile)), spread(times.map(({ instantiate }) => instantiate))],
  ]);
  printCrates(readFileSync(existsSync(namedWasm) ? namedWasm : path));
}

// In a process of its own, since V8 keeps what it compiled. The imports are never called.
const once = `
  const bytes = require("node:fs").readFileSync(process.argv[1]);
  const before = performance.now();
  const module = new WebAssembly.Module(bytes);
  const compiled = performance.now();
  const imports = {};
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module))
    (imports[from] ??= {})[name] = kind === "tag" ? new WebAssembly.Tag({ parameters: ["externref"] }) : () => {};
  const ready = performance.now();
  new WebAssembly.Instance(module, imports);
  console.log(JSON.stringify({ compile: compiled - before, instantiate: performance.now() - ready }));
`;

function compileOnce(path) {
  return JSON.parse(execFileSync(process.execPath, ["-e", once, path], { encoding: "utf8" }));
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
