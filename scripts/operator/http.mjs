// One call to a service, and in one sentence why there was no answer. No text of it holds more of the address than the
// host: Telegram's token is part of the path.

const TIMEOUT_MS = 10_000;

/** There was no answer. The message is one sentence for a person, `todo` what to do. */
export class Unreachable extends Error {
  name = "Unreachable";

  /** @param {string} message @param {string} todo */
  constructor(message, todo) {
    super(message);
    this.todo = todo;
  }
}

/**
 * @typedef {object} Answer
 * @property {number} status
 * @property {Headers} headers
 * @property {any} json  undefined if the body is no JSON
 * @property {string} text  the body as it came: never shown, as it may repeat the request
 * @property {number | undefined} aheadMs  how far this machine's clock is ahead of the server's, by its `Date`
 */

/**
 * @param {{fetch: typeof fetch, now: () => number, env?: Record<string, string | undefined>}} ports
 * @returns {(url: string, how?: {method?: string, headers?: Record<string, string>, json?: any}) => Promise<Answer>}
 */
export function httpClient({ fetch, now, env = {} }) {
  return async function call(url, { method = "GET", headers = {}, json } = {}) {
    const { host } = new URL(url);
    try {
      const response = await fetch(url, {
        method,
        headers: {
          "user-agent": "github-app-redeliver",
          ...headers,
          ...(json && { "content-type": "application/json" }),
        },
        body: json && JSON.stringify(json),
        // A redirect could carry a credential to somebody else.
        redirect: "manual",
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const at = now();
      const text = await response.text();
      if (response.status === 407) throw new Unreachable(...noAnswer(host, "PROXY_407", env));
      const { status, headers: answered } = response;
      return { status, headers: answered, json: parsed(text), text, aheadMs: ahead(response, at) };
    } catch (error) {
      if (error instanceof Unreachable) throw error;
      throw new Unreachable(...noAnswer(host, codeOf(error), env));
    }
  };
}

/** `Date` has whole seconds, so half a second is the best guess at what it left out. */
function ahead(response, at) {
  const date = Date.parse(response.headers.get("date") ?? "");
  return Number.isNaN(date) ? undefined : at - (date + 500);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The code at the bottom of an error of `fetch`. Its message is not used: it may hold the address. */
function codeOf(error) {
  if (error?.name === "TimeoutError") return "TIMEOUT";
  let bottom = error;
  while (bottom?.cause ?? bottom?.errors?.[0]) bottom = bottom.cause ?? bottom.errors[0];
  const [, proxyStatus] = /^Proxy response \((\d{3})\)/.exec(bottom?.message ?? "") ?? [];
  return proxyStatus ? `PROXY_${proxyStatus}` : String(bottom?.code ?? "UNKNOWN");
}

/** The proxy that the environment names, if any. @param {Record<string, string | undefined>} env */
export const proxyOf = (env) => env.HTTPS_PROXY || env.https_proxy || env.HTTP_PROXY || env.http_proxy;

/** @returns {[string, string]} what happened, and what to do */
function noAnswer(host, code, env) {
  const proxy = proxyOf(env);
  if (code === "PROXY_407") {
    return ["The proxy wants a user and a password.", "Put them into HTTPS_PROXY (http://USER:PASSWORD@HOST:PORT)."];
  }
  if (code.startsWith("PROXY_")) {
    return [`The proxy lets nothing through to ${host} (${code.slice(6)}).`, "Ask whoever runs the proxy to allow it."];
  }
  if (["ENOTFOUND", "EAI_AGAIN", "ENETUNREACH", "EHOSTUNREACH"].includes(code)) {
    const todo = proxy
      ? "Look at your network, and whether the host in HTTPS_PROXY is right."
      : "Look at your network. Behind a proxy, set HTTPS_PROXY and try again.";
    return [`${host} cannot be found from this machine (${code}).`, todo];
  }
  if (/CERT|SELF_SIGNED|UNABLE_TO_VERIFY|ERR_TLS/.test(code)) {
    return [
      `The certificate of ${host} is not trusted (${code}).`,
      "If your company signs its own, put its certificate into a file and name that in NODE_EXTRA_CA_CERTS.",
    ];
  }
  if (/TIMEOUT|TIMEDOUT/.test(code)) {
    return [`${host} did not answer within ten seconds.`, "Try again. If it stays so, look at firewall and proxy."];
  }
  const where = proxy ? "the proxy in HTTPS_PROXY" : "the address and the firewall";
  return [`${host} takes no connection or broke it off (${code}).`, `Look at ${where}, and try again.`];
}
