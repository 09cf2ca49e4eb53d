// Who may call what: the App's JWT, and the tokens of its installations.
//
// The only place of the fakes that reads the real clock: a client signs its JWT with the real time, whatever
// time the test plays. Tokens expire on the virtual clock. Error texts: facts-github.md A6.

import { createPublicKey, verify } from "node:crypto";
import { ApiError, notFound } from "./errors.mjs";

const MAX_AHEAD_SECS = 600;
// GitHub does not say how far `iat` may lie ahead. A client that follows its advice sets it a minute back.
const LEEWAY_SECS = 60;

const UNREADABLE = "A JSON web token could not be decoded";
const BAD_EXP =
  "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
const FAR_EXP = "'Expiration time' claim ('exp') is too far in the future";
const BAD_IAT = "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";

const unauthorized = (message, headers) => new ApiError(401, message, { headers });

/** The credential of a request, or undefined. GitHub takes a JWT as `Bearer` only, a token as `token` too. */
function credential(header) {
  const [, scheme, value] = /^(bearer|token) +(\S+)$/i.exec(header ?? "") ?? [];
  return value && { scheme: scheme.toLowerCase(), value };
}

/**
 * The claims of a valid JWT of the App; throws GitHub's answer otherwise.
 * @param {string | undefined} header  `Authorization`
 * @param {{id: number, clientId: string, publicKey: string, otherPublicKeys?: string[]}} app  any of its keys will do
 * @param {number} [aheadMs]  how far the clock by which it is checked is ahead of the real one
 */
export function jwtClaims(header, app, aheadMs = 0) {
  const sent = credential(header);
  if (sent?.scheme !== "bearer") throw unauthorized(UNREADABLE);
  const parts = sent.value.split(".");
  if (parts.length !== 3) throw unauthorized(UNREADABLE);
  const [head, claims] = parts.slice(0, 2).map(decoded);
  if (!head || !claims || head.alg !== "RS256") throw unauthorized(UNREADABLE);
  if (![String(app.id), app.clientId].includes(String(claims.iss))) throw new ApiError(404, "Integration not found");
  const signature = Buffer.from(parts[2], "base64url");
  const signed = Buffer.from(`${parts[0]}.${parts[1]}`);
  const keys = [app.publicKey, ...(app.otherPublicKeys ?? [])];
  if (!keys.some((key) => verify("sha256", signed, createPublicKey(key), signature))) throw unauthorized(UNREADABLE);
  const nowSecs = (Date.now() + aheadMs) / 1000;
  // The clock that it was checked by, in place of the virtual one.
  const headers = { date: new Date(nowSecs * 1000).toUTCString() };
  if (!Number.isInteger(claims.exp) || claims.exp <= nowSecs) throw unauthorized(BAD_EXP, headers);
  if (claims.exp > nowSecs + MAX_AHEAD_SECS) throw unauthorized(FAR_EXP, headers);
  if (!Number.isInteger(claims.iat) || claims.iat > nowSecs + LEEWAY_SECS) throw unauthorized(BAD_IAT, headers);
  return claims;
}

/**
 * Whether a credential says that it is this App's, be it right or not.
 * @param {string | undefined} header  `Authorization`
 * @param {{id: number, clientId: string}} app
 */
export function signedBy(header, app) {
  const { value = "" } = credential(header) ?? {};
  if (value.startsWith("ghs_")) return value.startsWith(`ghs_${app.id}_`);
  return [String(app.id), app.clientId].includes(String(decoded(value.split(".")[1] ?? "")?.iss));
}

function decoded(part) {
  // Buffer forgives padding and the other alphabet; a JWT has neither.
  if (!/^[A-Za-z0-9_-]+$/.test(part)) return undefined;
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8"));
  } catch {
    return undefined;
  }
}

const LEVELS = ["read", "write", "admin"];

/** Whether `granted` covers `asked`, for one permission. */
const covers = (granted, asked) => LEVELS.indexOf(granted) >= LEVELS.indexOf(asked);

/** Tokens of installations, each narrowed to repositories and permissions. */
export class Tokens {
  /** @type {Map<string, {installation: any, repositories: any[], permissions: Record<string, string>, expiresAt: number}>} */
  #issued = new Map();

  /** @param {{id: number}} app @param {() => number} now */
  constructor(app, now) {
    this.app = app;
    this.now = now;
  }

  /**
   * @param {any} installation
   * @param {any[]} reachable  repositories the installation can see
   * @param {{repositories?: string[], repository_ids?: number[], permissions?: Record<string, string>}} asked
   */
  issue(installation, reachable, asked) {
    if (!installation) throw notFound();
    if (installation.suspendedAt) throw new ApiError(403, "This installation has been suspended");
    const named = asked.repositories?.map((name) => reachable.find((repo) => repo.name === name));
    const numbered = asked.repository_ids?.map((id) => reachable.find((repo) => repo.id === id));
    const narrowed = named || numbered ? [...(named ?? []), ...(numbered ?? [])] : undefined;
    if (narrowed?.includes(undefined)) {
      throw new ApiError(
        422,
        "There is at least one repository that does not exist or is not accessible to the parent installation.",
        { errors: [] },
      );
    }
    for (const [name, level] of Object.entries(asked.permissions ?? {})) {
      if (covers(installation.permissions[name], level)) continue;
      throw new ApiError(422, "The permissions requested are not granted to this installation.", { errors: [] });
    }
    const permissions = { ...(asked.permissions ?? installation.permissions), metadata: "read" };
    const expiresAt = this.now() + 3_600_000;
    const token = this.#text(installation);
    this.#issued.set(token, { installation, repositories: narrowed ?? reachable, permissions, expiresAt });
    return { token, expiresAt, permissions, repositories: narrowed };
  }

  // The long form that GitHub rolls out since April 2026 (facts-github.md B): a client must not count on 40 characters.
  #text(installation) {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const claims = { installation: installation.id, number: this.#issued.size + 1, at: this.now() };
    return `ghs_${this.app.id}_${part({ alg: "ES256", typ: "JWT" })}.${part(claims)}.${"A".repeat(86)}`;
  }

  /** The living token of a request; a JWT is none. @param {string | undefined} header */
  authenticate(header) {
    const sent = credential(header);
    if (!sent) throw unauthorized("Requires authentication");
    const token = this.#issued.get(sent.value);
    if (!token || token.expiresAt <= this.now() || !token.installation.installed) throw unauthorized("Bad credentials");
    if (token.installation.suspendedAt) throw new ApiError(403, "This installation has been suspended");
    return token;
  }

  /** Whether a token reaches into a repository. @param {any} token @param {any} repository @param {'read' | 'write'} level */
  authorize(token, repository, level) {
    const covered = token.repositories.includes(repository) && token.installation.owner === repository.owner;
    // A private repository that the token does not cover does not exist for its bearer.
    if (!covered && repository.private) throw notFound();
    const granted = covers(token.installation.permissions.issues, level) && covers(token.permissions.issues, level);
    if (!covered || !granted) throw new ApiError(403, "Resource not accessible by integration");
  }

  /** Makes every token issued so far worthless, as a reinstallation does. */
  revokeAll() {
    this.#issued.clear();
  }
}
