// One outgoing call, and one call of an object, whole. Here rather than in Rust because each step of it would cross the border between
// wasm and JavaScript: some thirty times a call, where this crosses it six times. src/http.rs says what the numbers mean.

// The headers of the last call, as they came over the border and taken apart: the next call's are the same nearly always.
let known = { lines: "", headers: {} };

/** `lines` are a name and a value in turn, one a line. */
function takenApart(lines) {
  if (known.lines !== lines) {
    const headers = {};
    const parts = lines.split("\n");
    for (let at = 0; at + 1 < parts.length; at += 2) headers[parts[at]] = parts[at + 1];
    known = { lines, headers };
  }
  return known.headers;
}

// The headers to give back, in turn: of an answer below 300, and of any other.
const OF_SUCCESS = ["date", "link"];
const OF_REFUSAL = ["date", "retry-after", "x-ratelimit-remaining", "x-ratelimit-reset"];

// A page of 100 deliveries has 30 kB: it comes with one read.
const FIRST_BYTES = 64 * 1024;

// Memory of that size that no call uses now: for as many as were ever under way at once.
const spare = [];

/**
 * The body, or nothing as soon as there is more of it than `most` bytes. No length is believed: a short body may unpack to a long
 * one, and one without an end fills the memory long before the time is over.
 */
async function bodyOf({ body }, most) {
  if (!body) return new Uint8Array();
  const reader = body.getReader({ mode: "byob" });
  let bytes = spare.pop() ?? new Uint8Array(FIRST_BYTES);
  let length = 0;
  for (;;) {
    // The reader takes the memory over, and gives it back with what it read: less than asked for only at the end.
    const { value } = await reader.readAtLeast(bytes.length - length, bytes.subarray(length));
    bytes = new Uint8Array(value.buffer);
    length += value.length;
    if (length < bytes.length) return bytes.subarray(0, length);
    if (length > most) break;
    const larger = new Uint8Array(Math.min(2 * length, most + 1));
    larger.set(bytes);
    bytes = larger;
  }
  // Nobody waits for it: what matters is that no more is read.
  reader.cancel().catch(() => {});
}

/**
 * Calls, follows no redirect, gives up after `millis`, and takes at most `mostBytes`. Never throws: in place of the status it
 * gives 1 for a time-out, 2 for any other failure, 3 for a body that is too large. Headers come back one a line: an empty line for one
 * that is missing.
 */
export async function call(method, url, lines, body, millis, mostBytes) {
  try {
    const headers = takenApart(lines);
    const signal = AbortSignal.timeout(millis);
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
    const answered = (response.status < 300 ? OF_SUCCESS : OF_REFUSAL).map((name) => response.headers.get(name) ?? "");
    const bytes = await bodyOf(response, mostBytes);
    if (!bytes) return { status: 3 };
    return { status: response.status, headers: answered.join("\n"), body: bytes, length: bytes.length };
  } catch (error) {
    // Nothing else of the error: its text may hold the URL.
    return { status: ["TimeoutError", "AbortError"].includes(error?.name) ? 1 : 2 };
  }
}

/** Copies the body of an answer to its `place` in wasm, once: its own memory is the next call's. */
export function copyBody({ body }, place) {
  place.set(body);
  if (body.buffer.byteLength === FIRST_BYTES) spare.push(new Uint8Array(body.buffer));
}

/** Calls the object of that name. What it answers is the caller's, a redirect after a form included: the browser follows that. */
export function callObject(namespace, name, method, url, lines) {
  const object = namespace.get(namespace.idFromName(name));
  return object.fetch(url, { method, headers: takenApart(lines), redirect: "manual" });
}
