// What the Worker stores, as the tests look at it. docs/state.md describes the form.

/** The version of the state that this Worker writes. */
export const VERSION = 2;

/** The value under `state`, with all of its events as objects. */
export function readState(text) {
  const state = JSON.parse(text);
  state.ledger.events = state.ledger.events.map((event) => (typeof event === "string" ? fromWords(event) : event));
  return state;
}

/** An event that is stored as words, in the form that has everything: `g`, `e`, `a`, `r`, `t` and `f`. */
function fromWords(line) {
  const [g, e, action, repository, time, id, code, judged, f] = line.split(" ");
  const attempt = [Number(time), id, Number(code), judged[0], Number(judged.slice(1))];
  return {
    ...{ g, e, t: [attempt] },
    ...(action !== "-" && { a: action }),
    ...(repository !== "-" && { r: Number(repository) }),
    ...(f !== undefined && { f }),
  };
}
