// A copy of the built Worker that asks before and after each step, which is whatever a tick awaits: a call of an object, and of its
// sweep an outgoing call, a read or a write of the storage, a use of the App's key, a sleep. Who is asked lets it go on, or holds it
// there for the process to be killed.

import { createServer } from "node:http";
import { json } from "node:stream/consumers";
import { builtBehind } from "./built.mjs";

/** `before` it took effect, or `after`, when only the Worker does not know. */
export const SIDES = ["before", "after"];

const steps = (url) => `
import { env } from "cloudflare:workers";
import { Recovery as Built } from "./built.mjs";
export { default } from "./built.mjs";

const { fetch } = globalThis;
let begun = 0;
let isolate;

const ask = async (step) => (await fetch("${url}", { method: "POST", body: JSON.stringify(step) })).arrayBuffer();

async function step(what, act) {
  isolate ??= crypto.randomUUID();
  const number = begun++;
  await ask({ isolate, number, side: "before", ...what });
  const result = await act();
  await ask({ isolate, number, side: "after", ...what });
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

// Writes that an object starts together are one to the runtime, so they are one step here and stay together.
const together = new Map();

/** Each object's name, by its storage. */
const names = new WeakMap();

function stored(storage, act, { gets = [], puts = {}, deletes = [] }) {
  if (!together.has(storage)) {
    const all = { acts: [], gets: [], puts: {}, deletes: [] };
    together.set(storage, all);
    all.results = Promise.resolve().then(() => {
      together.delete(storage);
      const { acts, results, ...what } = all;
      const kind = what.gets.length > 0 ? "read" : "write";
      return step({ kind, of: names.get(storage), ...what }, () => Promise.all(acts.map((act) => act())));
    });
  }
  const all = together.get(storage);
  all.gets.push(...gets);
  all.deletes.push(...deletes);
  Object.assign(all.puts, puts);
  const index = all.acts.push(act) - 1;
  return all.results.then((results) => results[index]);
}

const STORAGE = { get: (key) => ({ gets: [key] }), put: (puts) => ({ puts }), delete: (deletes) => ({ deletes }) };

const wrapped = new Set();

/** Those of a prototype: whatever is of its kind shares them. */
function wrapOnce(methods, wrap) {
  if (wrapped.has(methods)) return;
  wrapped.add(methods);
  wrap(methods);
}

function wrapStorage(methods) {
  for (const name of Object.getOwnPropertyNames(methods).filter((name) => name !== "constructor")) {
    const own = methods[name];
    methods[name] = function (...given) {
      if (!STORAGE[name] || given.length > 1) throw new Error("test/worker/steps.mjs does not know this use of " + name);
      return stored(this, () => own.apply(this, given), STORAGE[name](...given));
    };
  }
}

/** By a stub an object is called, from the schedule, from outside or by another object. */
function wrapStub(methods) {
  const { fetch } = methods;
  methods.fetch = function (url, ...more) {
    const name = new URL(url).pathname.slice(1);
    return step({ kind: "object", of: this.name, name }, () => fetch.call(this, url, ...more));
  };
}

const { getPrototypeOf } = Object;

// No stub is given out before there is a request.
wrapOnce(getPrototypeOf(env.RECOVERY), (methods) => {
  const { get } = methods;
  methods.get = function (...given) {
    const stub = get.apply(this, given);
    wrapOnce(getPrototypeOf(getPrototypeOf(stub)), wrapStub);
    return stub;
  };
});

export const Recovery = new Proxy(Built, {
  construct(built, [state, env]) {
    names.set(state.storage, state.id.name);
    wrapOnce(getPrototypeOf(state.storage), wrapStorage);
    return new built(state, env);
  },
});
`;

/** Makes that copy, and who is asked. Both go after the test. */
export async function steppedBuild(t) {
  const asked = new Asked();
  const server = createServer(async (request, response) => {
    // Of a process that was killed nothing more comes.
    const step = await json(request).catch(() => undefined);
    if (step && (await asked.goesOn(step))) response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => server.close().closeAllConnections());
  return { buildDir: builtBehind(t, steps(`http://127.0.0.1:${server.address().port}/`)), asked };
}

/** What a step does, in short. */
export const nameOf = ({ kind, name, gets = [], puts = {}, deletes = [] }) =>
  [kind, name, ...gets, ...Object.keys(puts), ...deletes.map((key) => `-${key}`)].filter(Boolean).join(" ");

/** The same with its side, and the object that does it or is called. */
export const named = (step) => `${step.side} ${step.of}: ${nameOf(step)}`;

class Asked {
  #passed = [];
  #place = {};
  #isolate;
  #first = 0;
  #next = 0;
  #isHeld = false;
  #met = Promise.withResolvers();
  #turns = [];

  /**
   * Counts anew, from zero on with the next step. Returns a promise of the one at `place`, a number and a side of it: it is held
   * there, and so is whatever comes after it. `turns` makes the order of two objects one and the same each time: of each pair of
   * names, as `named` has them, the first waits for the second.
   */
  follow(place = {}, turns = []) {
    this.#passed = [];
    this.#place = place;
    this.#first = this.#next;
    this.#isHeld = false;
    this.#met = Promise.withResolvers();
    this.#turns = turns.map(([waits, comes]) => ({ waits, comes, ...Promise.withResolvers() }));
    return this.#met.promise;
  }

  /** Each side of each step since then, in the order of what happened, up to the one that is held. From now on all goes on. */
  end() {
    const passed = this.#passed;
    this.follow();
    return passed;
  }

  /** Whether a step may go on, once it is its turn. */
  async goesOn({ isolate, number, ...more }) {
    // The Worker numbers its steps as they begin, since of two at once either may ask first; and anew when it starts again.
    if (isolate !== this.#isolate) this.#first = this.#next = 0;
    this.#isolate = isolate;
    this.#next = Math.max(this.#next, number + 1);
    const step = { number: number - this.#first, ...more };
    const name = named(step);
    for (const { comes, resolve } of this.#turns) if (comes === name) resolve();
    await Promise.all(this.#turns.filter(({ waits }) => waits === name).map(({ promise }) => promise));
    if (this.#isHeld) return false;
    this.#passed.push(step);
    this.#isHeld = step.number === this.#place.number && step.side === this.#place.side;
    if (this.#isHeld) this.#met.resolve(step);
    return !this.#isHeld;
  }
}
