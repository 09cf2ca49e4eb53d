// A copy of the built Worker that asks before and after each step, which is whatever a sweep awaits: a call, a read or a write of the
// storage, a use of the App's key, a sleep. Who is asked lets it go on, or holds it there for the process to be killed.

import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { builtBehind } from "./built.mjs";

/** `before` it took effect, or `after`, when only the Worker does not know. */
export const SIDES = ["before", "after"];

const steps = (url) => `
import { Recovery as Built } from "./built.mjs";
export { default } from "./built.mjs";

const { fetch } = globalThis;
let begun = 0;

const ask = async (step) => (await fetch("${url}", { method: "POST", body: JSON.stringify(step) })).arrayBuffer();

async function step(what, act) {
  const number = begun++;
  await ask({ number, side: "before", ...what });
  const result = await act();
  await ask({ number, side: "after", ...what });
  return result;
}

globalThis.fetch = (url, init) => step({ kind: "call", name: url.split("?")[0].split("/").at(-1) }, () => fetch(url, init));

// The wait itself is left out: no test sleeps.
globalThis.setTimeout = (act) => void step({ kind: "sleep" }, () => {}).then(act);

for (const kind of ["importKey", "sign"]) {
  const own = SubtleCrypto.prototype[kind];
  SubtleCrypto.prototype[kind] = function (...given) {
    return step({ kind }, () => own.apply(this, given));
  };
}

// Writes that are started together are one to the runtime, so they are one step here and stay together.
let together;

function stored(act, { gets = [], puts = {}, deletes = [] }) {
  if (!together) {
    const all = { acts: [], gets: [], puts: {}, deletes: [] };
    together = all;
    all.results = Promise.resolve().then(() => {
      together = undefined;
      const { acts, results, ...what } = all;
      const kind = what.gets.length > 0 ? "read" : "write";
      return step({ kind, ...what }, () => Promise.all(acts.map((act) => act())));
    });
  }
  const { acts, results } = together;
  together.gets.push(...gets);
  together.deletes.push(...deletes);
  Object.assign(together.puts, puts);
  const index = acts.push(act) - 1;
  return results.then((all) => all[index]);
}

const STORAGE = { get: (key) => ({ gets: [key] }), put: (puts) => ({ puts }), delete: (deletes) => ({ deletes }) };

let isWrapped = false;

/** Every object's, as they share their methods. */
function wrap(storage) {
  if (isWrapped) return;
  isWrapped = true;
  const methods = Object.getPrototypeOf(storage);
  for (const name of Object.getOwnPropertyNames(methods).filter((name) => name !== "constructor")) {
    const own = methods[name];
    methods[name] = function (...given) {
      if (!STORAGE[name] || given.length > 1) throw new Error("test/worker/steps.mjs does not know this use of " + name);
      return stored(() => own.apply(this, given), STORAGE[name](...given));
    };
  }
}

export const Recovery = new Proxy(Built, {
  construct(built, [state, env]) {
    wrap(state.storage);
    return new built(state, env);
  },
});
`;

/** Makes that copy, and who is asked. Both go after the test. */
export async function steppedBuild(t) {
  const asked = new Asked();
  const server = createServer(async (request, response) => {
    if (asked.goesOn(await json(request))) response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  return { buildDir: builtBehind(t, steps(`http://127.0.0.1:${server.address().port}/`)), asked };
}

class Asked {
  #passed = [];
  #place = {};
  #first;
  #isHeld = false;
  #met = Promise.withResolvers();

  /**
   * Counts anew, from zero on with the next step. Returns a promise of the one at `place`, a number and a side of it: it is held
   * there, and so is whatever comes after it.
   */
  follow(place = {}) {
    this.#passed = [];
    this.#place = place;
    this.#first = undefined;
    this.#isHeld = false;
    this.#met = Promise.withResolvers();
    return this.#met.promise;
  }

  /** Each side of each step since then, in the order of what happened, up to the one that is held. From now on all goes on. */
  end() {
    const passed = this.#passed;
    this.follow();
    return passed;
  }

  /** Whether a step may go on. */
  goesOn({ number, ...more }) {
    if (this.#isHeld) return false;
    this.#first ??= number;
    const step = { number: number - this.#first, ...more };
    this.#passed.push(step);
    this.#isHeld = step.number === this.#place.number && step.side === this.#place.side;
    if (this.#isHeld) this.#met.resolve(step);
    return !this.#isHeld;
  }
}
