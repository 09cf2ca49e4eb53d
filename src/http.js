// One outgoing call, whole. Here rather than in Rust because each step of it would cross the border between wasm and
// JavaScript: some thirty times a call, where this crosses it six times. src/http.rs says what the numbers mean.

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

/**
 * Calls, follows no redirect, gives up after `millis`, and takes at most `mostBytes`. Never throws: in place of the status it
 * gives 1 for a time-out, 2 for any other failure, 3 for a body that is too large. `names` are the headers to give back,
 * one a line, as are their values: an empty line for one that is missing.
 */
export async function call(method, url, lines, body, names, millis, mostBytes) {
  try {
    const headers = takenApart(lines);
    const signal = AbortSignal.timeout(millis);
    const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
    const answered = names.split("\n").map((name) => response.headers.get(name) ?? "");
    if (Number(response.headers.get("content-length")) > mostBytes) {
      // Nobody waits for it: what matters is that it is not read.
      response.body?.cancel().catch(() => {});
      return { status: 3 };
    }
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (bytes.length > mostBytes) return { status: 3 };
    return { status: response.status, headers: answered.join("\n"), body: bytes };
  } catch (error) {
    // Nothing else of the error: its text may hold the URL.
    return { status: ["TimeoutError", "AbortError"].includes(error?.name) ? 1 : 2 };
  }
}
