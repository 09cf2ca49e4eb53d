// A bare client of the fakes for their own tests: it does nothing by itself, so that each rule can be broken alone.

import { signedJwt } from "../../scripts/operator/jwt.mjs";
import { testKeys } from "./keys.mjs";

/**
 * A JWT of the test App, right unless told otherwise.
 * @param {{iss?: any, iat?: any, exp?: any, alg?: string, key?: string}} [change]  `iat` and `exp` are relative to now
 */
export function jwt({ iss = "1234567", iat = -60, exp = 420, alg = "RS256", key = testKeys().pkcs1 } = {}) {
  const now = Math.floor(Date.now() / 1000);
  const relative = (value) => (typeof value === "number" ? now + value : value);
  return signedJwt({ alg, typ: "JWT" }, { iss, iat: relative(iat), exp: relative(exp) }, key);
}

/**
 * One call. `auth` is a token (`null`: none), `json` a body; any header can be replaced, or left out with `null`.
 * @param {string} url
 * @param {{method?: string, auth?: string | null, json?: any, headers?: Record<string, string | null>, signal?: AbortSignal}} [how]
 */
export async function call(url, { method = "GET", auth = jwt(), json, headers = {}, signal } = {}) {
  const all = {
    "user-agent": "fakes-test",
    ...(auth && { authorization: `Bearer ${auth}` }),
    ...(json !== undefined && { "content-type": "application/json" }),
    ...headers,
  };
  const kept = /** @type {Record<string, string>} */ (
    Object.fromEntries(Object.entries(all).filter(([, value]) => value !== null))
  );
  const body = json === undefined ? undefined : typeof json === "string" ? json : JSON.stringify(json);
  const response = await fetch(url, { method, headers: kept, body, redirect: "manual", signal });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The ids of a listing to the last digit, from its raw text. @param {string} text */
export const rawIds = (text) => [...text.matchAll(/"id":(\d+)/g)].map(([, id]) => id);

/** The address of a relation of a `Link` header. @param {Headers} headers @param {string} rel */
export function link(headers, rel) {
  const found = (headers.get("link") ?? "").split(", ").find((part) => part.endsWith(`rel="${rel}"`));
  return found?.slice(1, found.indexOf(">"));
}
