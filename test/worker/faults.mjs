// Everything that can go wrong with one call, the same for GitHub, Telegram and whoever takes the heartbeat. A refusal repeats
// what it was told: the credential, the address and the body. Hangs and refused connections want the build of clocked.mjs.

import { CANARY } from "./secrets.mjs";

/** The wait that some of them name: past the next tick, and not the one after it. */
const WAIT_SECS = 1200;

const FAILED = /the connection failed/;
const TIMED_OUT = /no answer within ten seconds/;
const UNREADABLE = /cannot be read/;

const HTML = `<!DOCTYPE html><title>Unicorn!</title><!-- ${CANARY} -->`;

/** As GitHub and Telegram refuse a call, each of which takes its own part of it. */
function refusal(status, { headers = {}, message = "" } = {}) {
  const wait = headers["retry-after"] && { retry_after: Number(headers["retry-after"]) };
  const body = ({ headers: sent, url, text }) => {
    const words = `${message} ${sent.authorization ?? ""} http://${sent.host}${url} ${encodeURIComponent(url)} ${text}`;
    const parameters = wait && { parameters: wait };
    return { ok: false, error_code: status, description: words, message: words, ...parameters, payload: CANARY };
  };
  return { status, headers, body };
}

/** Every number a text and every text a number, a list without items no list. */
function wrongTypes(value) {
  if (Array.isArray(value)) return value.length ? value.map(wrongTypes) : {};
  if (value && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, wrongTypes(part)]));
  }
  return typeof value === "string" ? 7 : String(value);
}

const retryAfter = { "retry-after": String(WAIT_SECS) };
const nothingLeft = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": "1" };
const refused = (status, of, more) => [`${status}`, of, refusal(status, more), new RegExp(`\\b${status}\\b`)];
const named = (name, [, ...rest]) => [name, ...rest];

/** What was asked for is not done: a name, the class of failure of a list, the fault as the fakes take it, and what a log says. */
const NOT_DONE = [
  ["a refused connection", "transport", "refused", FAILED],
  ["a reset", "transport", "reset", FAILED],
  ["no answer", "transport", "hang", TIMED_OUT],
  named("301 to elsewhere", refused(301, "config", { headers: { location: "http://127.0.0.1:9/elsewhere" } })),
  refused(400, "config"),
  refused(401, "auth"),
  refused(403, "auth"),
  named("403 with Retry-After", refused(403, "rate_limited", { headers: retryAfter })),
  named("403 with nothing remaining", refused(403, "rate_limited", { headers: nothingLeft })),
  named("403 that says so", refused(403, "rate_limited", { message: "You have exceeded a secondary rate limit." })),
  refused(404, "config"),
  refused(410, "config"),
  refused(422, "config"),
  refused(429, "rate_limited"),
  named("429 with Retry-After", refused(429, "rate_limited", { headers: retryAfter })),
  refused(500, "server_error"),
  ["502 in HTML", "server_error", { status: 502, headers: { "content-type": "text/html" }, body: HTML }, /\b502\b/],
];

/** What was asked for is done, and the answer does not say so. */
const DONE = [
  ["a lost answer", "transport", "lost-answer", FAILED],
  ["an answer that never comes", "transport", "hang-after", TIMED_OUT],
  ["an answer byte by byte", "transport", "slow-drip", TIMED_OUT],
  ["a body that breaks off", "transport", { truncate: 1 }, FAILED],
  ["HTML", "decode", { rawBody: HTML }, UNREADABLE],
  ["five megabytes", "decode", { rawBody: `[${" ".repeat(5 * 1024 * 1024)}]` }, /larger than 4 MiB/],
  ["wrong types", "decode", (answer) => ({ ...answer, body: wrongTypes(answer.body) }), UNREADABLE],
  ["an empty body", "decode", { rawBody: "" }, UNREADABLE],
];

const all = (faults, done) =>
  faults.map(([name, failure, fault, log]) => ({ name, failure, fault, log, done, status: fault.status }));

export const FAULTS = [...all(NOT_DONE, false), ...all(DONE, true)];
