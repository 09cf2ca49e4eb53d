// Where the App's key is, once a sweep has used it (specification, section 12): in the runtime, which gives it to nobody, and no longer in
// the memory of the module, where a mistake could show it.

import assert from "node:assert/strict";
import { createPrivateKey } from "node:crypto";
import { describe, test } from "node:test";
import { testKeys } from "./fakes/github.mjs";
import { builtWith } from "./worker/built.mjs";
import { openScene } from "./worker/scene.mjs";

/** A copy of the Worker that says after each sweep how often each of these texts or bytes, in hex, stands in the module's memory. */
const lookingFor = (t, wanted) =>
  builtWith(
    t,
    `
    const instances = [];
    const { Instance } = WebAssembly;
    WebAssembly.Instance = class extends Instance {
      constructor(...given) {
        super(...given);
        instances.push(this);
      }
    };
    const wanted = Object.entries(${JSON.stringify(wanted)}).map(([name, hex]) => [name, hex.match(/../g).map((byte) => parseInt(byte, 16))]);
    const isAt = (memory, at, bytes) => bytes.every((byte, index) => memory[at + index] === byte);
    function count(memory, bytes) {
      let found = 0;
      for (let at = memory.indexOf(bytes[0]); at >= 0; at = memory.indexOf(bytes[0], at + 1)) if (isAt(memory, at, bytes)) found += 1;
      return found;
    }
    for (const level of ["log", "error"]) {
      const print = console[level].bind(console);
      console[level] = (text) => {
        print(text);
        if (!String(text).includes('"message":"sweep"')) return;
        const memories = instances.map(({ exports }) => new Uint8Array(exports.memory.buffer));
        const found = wanted.map(([name, bytes]) => [name, memories.reduce((sum, memory) => sum + count(memory, bytes), 0)]);
        print(JSON.stringify({ message: "memory", found: Object.fromEntries(found) }));
      };
    }
    `,
  );

const hex = (bytes) => Buffer.from(bytes).toString("hex");

/** Thirty-two bytes out of the middle of each secret number, and a few lines of the file that holds them. */
function partsOf(pem) {
  const numbers = createPrivateKey(pem).export({ format: "jwk" });
  const middle = (name) => Buffer.from(numbers[name], "base64url").subarray(40, 72);
  const lines = pem.trim().split("\n");
  return {
    ...Object.fromEntries(["d", "p", "q", "dp", "dq", "qi"].map((name) => [name, hex(middle(name))])),
    ...Object.fromEntries([5, 12, 20].map((index) => [`line ${index}`, hex(lines[index].slice(8, 48))])),
  };
}

describe("the key in every form", () => {
  const { pkcs1, pkcs8 } = testKeys();
  for (const [name, setting, file] of [
    ["as GitHub hands it out", pkcs1, pkcs1],
    ["in the other form", pkcs8, pkcs8],
    ["with its line ends as two letters", pkcs1.replaceAll("\n", "\\n"), pkcs1],
    ["packed as base64", Buffer.from(pkcs1).toString("base64"), pkcs1],
  ]) {
    test(`is not in the module's memory after a sweep that signed by it: ${name}`, async (t) => {
      const settings = { GITHUB_APP_PRIVATE_KEY: setting, CONTROL_REPO: "octo-maintainer/of-this-scene" };
      const known = hex(settings.CONTROL_REPO);
      const packed = hex(setting.trim().slice(200, 240));
      const buildDir = lookingFor(t, { ...partsOf(file), packed, known });
      const scene = await openScene(t, { settings, buildDir });
      for (const clock of ["08:00", "08:15"]) {
        const { outcome, logs } = await scene.tickAt(clock);
        const { found } = logs.find(({ message }) => message === "memory");
        const { known: others, ...ofTheKey } = found;
        assert.equal(outcome, "ok");
        assert.ok(others > 0, "what is in its memory is found");
        assert.deepEqual(ofTheKey, Object.fromEntries(Object.keys(ofTheKey).map((part) => [part, 0])));
      }
    });
  }
});
