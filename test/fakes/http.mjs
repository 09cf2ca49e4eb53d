// The HTTP server under both fakes: one log of requests, one way to inject faults, one way to write JSON.
//
// It knows nothing of GitHub or Telegram. A fake gives it `describe` (what goes into the log) and `handle`
// (the effect and the answer). `handle` is synchronous, so two requests never see half a change.

import http from "node:http";

/**
 * One line of a fake's log of requests. Each fake adds fields of its own.
 * @typedef {object} Logged
 * @property {string} method  HTTP verb (GitHub) or Bot API method (Telegram)
 * @property {string} path
 * @property {number} at      virtual time of arrival, ms
 * @property {number|null} status  what was answered; null while (or because) nothing was
 * @property {boolean} fault  whether a fault was injected
 * @property {any} body       the parsed body of the request
 * @property {number} bytes   length of the body of the answer
 * @property {import('node:http').IncomingHttpHeaders} [headers]  of the request
 */

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Record<string, string>} [headers]
 * @property {any} [body]  written as JSON; a string or Buffer is written as it is
 */

/**
 * What can go wrong with one request:
 * - `'hang'` nothing happens and no answer comes · `'hang-after'` the effect happens, no answer comes
 * - `'reset'` nothing happens, the socket is reset · `'lost-answer'` the effect happens, the socket is reset
 * - `'slow-drip'` the effect happens, the answer comes byte by byte and never ends
 * - `'endless'` the effect happens, the answer goes on for as long as it is taken, up to `FLOOD_BYTES`
 * - `'refused'` nothing happens, nobody listens; for a client on our clock (below) only
 * - `{status, headers?, body?}` this answer instead, without the effect; a `body` that is a function is given the request
 * - `{rawBody}` the effect happens, the answer has this body · `{truncate: n}` it breaks off after n bytes
 * - `{delayMs}` the answer comes late (real time) · a function: any change of the answer after the effect, at once or by
 *   a promise of it, which holds the answer back
 * @typedef {string | {status: number, headers?: Record<string, string>, body?: any} | {rawBody: string | Buffer}
 *   | {truncate: number} | {delayMs: number} | ((answer: Answer, request: Logged) => Answer | Promise<Answer>)} Fault
 *
 * A client on our clock sends `x-fake-clock` (test/worker/clocked.mjs): it is told by `x-fault` that its time is up, or that
 * nobody listens, so that no test waits for either.
 */

/** @typedef {((request: Logged) => boolean) | {method?: string, path?: RegExp | string}} Match */

const NAMED_FAULTS = ["hang", "hang-after", "reset", "lost-answer", "slow-drip", "endless", "refused"];
/** Those that have no end of their own. */
const ENDLESS = ["hang", "hang-after", "slow-drip", "refused"];

/** An answer without an end is held back here, so that a client without a limit does not take the whole memory. */
export const FLOOD_BYTES = 64 * 1024 * 1024;

/** JSON with every BigInt as an integer of all its digits, as GitHub writes its 19-digit ids. */
export function json(/** @type {any} */ value) {
  return JSON.stringify(value, (_key, part) => (typeof part === "bigint" ? JSON.rawJSON(String(part)) : part));
}

/**
 * Serves on a free port of 127.0.0.1.
 * @param {object} fake
 * @param {(request: http.IncomingMessage, text: string) => Logged} fake.describe
 * @param {(logged: Logged, request: http.IncomingMessage, text: string) => Answer} fake.handle
 * @param {() => number} fake.now  the virtual clock, for the `Date` header
 */
export async function serve({ describe, handle, now }) {
  /** @type {Logged[]} */
  const requests = [];
  /** @type {{match: Match, fault: Fault, left: number}[]} */
  const faults = [];

  const server = http.createServer(async (request, response) => {
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // The client went away in the middle of its own request: there is nobody to answer.
    }
    const text = Buffer.concat(chunks).toString("utf8");
    const logged = describe(request, text);
    logged.headers = request.headers;
    requests.push(logged);
    const armed = faults.find(({ match, left }) => left > 0 && matches(match, logged));
    if (armed) armed.left -= 1;
    logged.fault = armed !== undefined;
    respond(request, response, logged, text, armed?.fault);
  });

  async function respond(request, response, logged, text, fault) {
    const headers = request.headers["x-fake-clock"] && ENDLESS.includes(fault) ? { "x-fault": fault } : undefined;
    if (fault === "hang" || fault === "refused") return headers && begin(response, headers);
    if (fault === "reset") return request.socket.resetAndDestroy();
    let answer = replaces(fault) ? instead(fault, request, text) : handle(logged, request, text);
    if (fault === "hang-after") return headers && begin(response, headers);
    if (headers) answer = { ...answer, headers: { ...answer.headers, ...headers } };
    if (fault === "lost-answer") return request.socket.resetAndDestroy();
    if (typeof fault === "function") answer = (await fault(answer, logged)) ?? answer;
    if (fault?.rawBody !== undefined) answer = { ...answer, body: fault.rawBody };
    logged.status = answer.status;
    if (fault?.delayMs) return void setTimeout(() => write(response, logged, answer, fault), fault.delayMs).unref();
    write(response, logged, answer, fault);
  }

  function write(response, logged, answer, fault) {
    const raw = typeof answer.body === "string" || Buffer.isBuffer(answer.body);
    const body = answer.body === undefined ? Buffer.alloc(0) : Buffer.from(raw ? answer.body : json(answer.body));
    logged.bytes = body.length;
    // Node would write the real time; everything a client can read as a time comes from the virtual clock.
    response.sendDate = false;
    const headers = { date: new Date(now()).toUTCString(), "content-length": String(body.length) };
    if (!raw && body.length) headers["content-type"] = "application/json; charset=utf-8";
    for (const [name, value] of Object.entries(answer.headers ?? {})) headers[name.toLowerCase()] = value;
    if (fault === "endless") delete headers["content-length"];
    response.writeHead(answer.status, headers);
    if (fault === "endless") return flood(response, logged);
    if (fault === "slow-drip") return drip(response, body);
    if (fault?.truncate === undefined) return response.end(body);
    response.write(body.subarray(0, fault.truncate), () => response.destroy());
  }

  await new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => resolve(undefined));
  });
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());

  return {
    origin: `http://127.0.0.1:${port}`,
    requests,
    /**
     * Arms a fault for the next `times` requests that match; `stop()` takes it back. The oldest one goes first.
     * @param {Match} match @param {Fault} fault @param {number} [times]
     */
    fault(match, fault, times = 1) {
      if (typeof fault === "string" && !NAMED_FAULTS.includes(fault)) throw new Error(`no such fault: ${fault}`);
      const armed = { match, fault, left: times };
      faults.splice(0, faults.length, ...faults.filter(({ left }) => left > 0), armed);
      return {
        get left() {
          return armed.left;
        },
        stop() {
          armed.left = 0;
        },
      };
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

/** The head of an answer that does not go on. */
function begin(response, headers) {
  response.writeHead(200, headers);
  response.flushHeaders();
}

function instead({ body, ...fault }, { method, url, headers }, text) {
  return { ...fault, body: typeof body === "function" ? body({ method, url, headers, text }) : body };
}

function replaces(fault) {
  return typeof fault === "object" && fault.status !== undefined;
}

/** Whether a request is one that a fault is armed for. @param {Match} match @param {any} logged */
export function matches(match, logged) {
  if (typeof match === "function") return match(logged);
  if (match.method && match.method.toLowerCase() !== logged.method.toLowerCase()) return false;
  if (match.path instanceof RegExp) return match.path.test(logged.path);
  return match.path === undefined || match.path === logged.path;
}

/** As fast as it is taken: only a limit on the size ends this before the time is over. */
function flood(response, logged) {
  const chunk = Buffer.alloc(64 * 1024, " ");
  const pour = () => {
    while (logged.bytes < FLOOD_BYTES && !response.destroyed) {
      logged.bytes += chunk.length;
      if (!response.write(chunk)) return void response.once("drain", pour);
    }
  };
  logged.bytes = 0;
  pour();
}

/** One byte at a time and never the last one: only a limit on the whole call ends this. */
function drip(response, body) {
  response.flushHeaders();
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < body.length - 1) response.write(body.subarray(sent, ++sent));
  }, 100).unref();
  response.on("close", () => clearInterval(timer));
}
