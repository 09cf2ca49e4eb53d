// An RS256 JSON Web Token. Needs only Node's own modules.

import { sign } from "node:crypto";

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** @param {{alg: string, typ: string}} header @param {object} claims @param {import('node:crypto').KeyLike} key */
export function signedJwt(header, claims, key) {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), key).toString("base64url")}`;
}

/**
 * What the App shows GitHub. A minute in the past, as GitHub advises; nine minutes of life, of ten allowed.
 * @param {{appId: string, key: import('node:crypto').KeyObject, now: number}} of  `now` in ms
 */
export function appJwt({ appId, key, now }) {
  const secs = Math.floor(now / 1000);
  return signedJwt({ alg: "RS256", typ: "JWT" }, { iss: appId, iat: secs - 60, exp: secs + 540 }, key);
}
