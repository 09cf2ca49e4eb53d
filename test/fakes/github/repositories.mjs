// Repositories, and where the App is installed. What a person does to them is a plain change of these objects:
// `repository.deleted = true`, `repository.issuesEnabled = false`, `repository.archived = true`,
// `installation.installed = false`,
// `installation.suspendedAt = ms`, `installation.permissions.issues = 'read'`.

import { ApiError, invalid, notFound } from "./errors.mjs";
import * as shapes from "./shapes.mjs";

/**
 * @typedef {object} Repository
 * @property {number} id @property {string} fullName @property {string} name @property {string} owner
 * @property {{login: string, type: string}} account
 * @property {boolean} private @property {boolean} issuesEnabled @property {boolean} archived @property {boolean} deleted
 * @property {boolean} installed  whether the owner's installation includes it
 */

/**
 * @typedef {object} Installation
 * @property {number} id @property {string} owner @property {{login: string, type: string}} account
 * @property {boolean} installed @property {number | null} suspendedAt @property {Record<string, string>} permissions
 */

const lower = (/** @type {string} */ text) => text.toLowerCase();

export class Repositories {
  /** @type {Repository[]} */
  all = [];
  /** @type {Installation[]} */
  installations = [];
  /** Names of the past. @type {Map<string, Repository>} */
  #moved = new Map();

  /** Those of another App are this one's too, each App with installations of its own. @param {Repositories} [others] */
  constructor(others) {
    if (!others) return;
    this.all = others.all;
    this.#moved = others.#moved;
    for (const { owner, account, installed } of this.all) if (installed) this.#install(owner, account);
  }

  /**
   * A repository, and an installation of its owner's account if there is none yet.
   * @param {{fullName: string, id?: number, ownerType?: string, private?: boolean, installed?: boolean}} given
   */
  add({ fullName, id, ownerType = "Organization", private: hidden = true, installed = true }) {
    const [login, name] = fullName.split("/");
    const account = { login, type: ownerType };
    const repository = {
      id: id ?? 820_000_000 + this.all.length,
      fullName,
      name,
      owner: login,
      account,
      private: hidden,
      issuesEnabled: true,
      archived: false,
      deleted: false,
      installed,
    };
    this.all.push(repository);
    if (installed) this.#install(login, account);
    return repository;
  }

  #install(login, account) {
    if (this.installation(login)) return;
    const permissions = { issues: "write", metadata: "read" };
    const number = 51_000_000 + this.installations.length;
    this.installations.push({ id: number, owner: login, account, installed: true, suspendedAt: null, permissions });
  }

  /** @param {string} fullName @returns {Repository | undefined} */
  named(fullName) {
    return this.all.find((repository) => lower(repository.fullName) === lower(fullName));
  }

  /** @param {string} login @returns {Installation | undefined} */
  installation(login) {
    return this.installations.find(({ owner }) => lower(owner) === lower(login));
  }

  /** Moves a repository to another owner or name; the old name redirects from now on. */
  transfer(fullName, toFullName) {
    const repository = /** @type {Repository} */ (this.named(fullName));
    this.#moved.set(lower(fullName), repository);
    const [owner, name] = toFullName.split("/");
    Object.assign(repository, { fullName: toFullName, owner, name, account: { ...repository.account, login: owner } });
  }

  /** The repository of a request, or GitHub's answer: 301 with the place by number, or 404. */
  reached(owner, name, url, rest) {
    const repository = this.named(`${owner}/${name}`) ?? this.#moved.get(lower(`${owner}/${name}`));
    if (!repository || repository.deleted) throw notFound();
    if (lower(repository.fullName) !== lower(`${owner}/${name}`)) {
      const location = `${url}/repositories/${repository.id}${rest}`;
      throw new ApiError(301, "Moved Permanently", { headers: { location }, url: location });
    }
    return repository;
  }

  /** What an installation can see. */
  reachable(installation) {
    return this.all.filter(({ owner, installed, deleted }) => installed && !deleted && owner === installation.owner);
  }
}

/** @param {any} github  the fake: `repositories`, `tokens`, `app`, `base`, `url` */
export function installationRoutes(github) {
  const { repositories, tokens, app, base } = github;
  const living = (id) => repositories.installations.find((one) => one.id === id && one.installed);

  function ofRepository({ params, rest }) {
    const repository = repositories.reached(params.owner, params.repo, github.url, rest);
    const held = repositories.installation(repository.owner);
    if (!held?.installed || !repository.installed) throw notFound();
    return { status: 200, body: shapes.installation(held, app, base) };
  }

  function ofUser({ params }) {
    const held = repositories.installation(params.username);
    if (!held?.installed) throw notFound();
    return { status: 200, body: shapes.installation(held, app, base) };
  }

  function one({ params }) {
    const held = living(params.installation_id);
    if (!held) throw notFound();
    return { status: 200, body: shapes.installation(held, app, base) };
  }

  function issueToken({ params, body }) {
    if (body?.repositories && body.repository_ids) throw invalid("repositories", "invalid");
    const held = living(params.installation_id);
    const issued = tokens.issue(held, held ? repositories.reachable(held) : [], body ?? {});
    return {
      status: 201,
      body: {
        token: issued.token,
        expires_at: shapes.seconds(issued.expiresAt),
        permissions: issued.permissions,
        repository_selection: "selected",
        ...(issued.repositories && { repositories: issued.repositories.map((held) => shapes.repository(held, base)) }),
      },
    };
  }

  return [
    { method: "GET", pattern: "/app", auth: "jwt", run: () => ({ status: 200, body: shapes.integration(app, base) }) },
    { method: "GET", pattern: "/repos/{owner}/{repo}/installation", auth: "jwt", run: ofRepository },
    { method: "GET", pattern: "/users/{username}/installation", auth: "jwt", run: ofUser },
    { method: "GET", pattern: "/app/installations/{installation_id}", auth: "jwt", run: one },
    { method: "POST", pattern: "/app/installations/{installation_id}/access_tokens", auth: "jwt", run: issueToken },
  ];
}
