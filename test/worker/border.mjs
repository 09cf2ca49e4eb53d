// A copy of the built Worker that counts the calls between wasm and JavaScript: each import and each export that is called.
// After every line of a sweep it prints how many there were since the one before.

import { builtWith } from "./built.mjs";

const counter = `
const border = { calls: 0 };
const counted = (functions) => Object.fromEntries(Object.entries(functions).map(([name, value]) => [name,
  typeof value === "function" ? function (...args) { border.calls += 1; return value.apply(this, args); } : value]));
const WebAssembly = { ...globalThis.WebAssembly, RuntimeError: globalThis.WebAssembly.RuntimeError,
  Memory: globalThis.WebAssembly.Memory, Table: globalThis.WebAssembly.Table, Tag: globalThis.WebAssembly.Tag,
  JSTag: globalThis.WebAssembly.JSTag,
  Instance: class { constructor(module, imports) {
    const wrapped = Object.fromEntries(Object.entries(imports).map(([name, functions]) => [name, counted(functions)]));
    this.exports = counted(new globalThis.WebAssembly.Instance(module, wrapped).exports);
  } } };
for (const name of ["log", "error"]) {
  const print = console[name].bind(console);
  console[name] = (text) => {
    print(text);
    if (!String(text).includes('"message":"sweep"')) return;
    print(JSON.stringify({ message: "border", calls: border.calls }));
    border.calls = 0;
  };
}
`;

/** Makes the copy, which goes after the test, and returns its directory. */
export const countingBuild = (t) => builtWith(t, counter);
