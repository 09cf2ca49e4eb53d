// The fake GitHub: its state, its gates (User-Agent, version, media type, credentials) and its routes over HTTP.

import { matches, serve } from "../http.mjs";
import { testKeys } from "../keys.mjs";
import { jwtClaims, signedBy, Tokens } from "./auth.mjs";
import { Deliveries } from "./deliveries.mjs";
import { deliveryRoutes } from "./delivery-routes.mjs";
import { ApiError, invalid, notFound } from "./errors.mjs";
import { issueModel, issueStore } from "./issues.mjs";
import { describedOperation } from "./openapi.mjs";
import { installationRoutes, Repositories } from "./repositories.mjs";

/** What github.com does without being told. */
const DEFAULTS = {
  now: Date.parse("2026-11-02T08:00:00Z"),
  retentionMs: 72 * 3_600_000,
  redeliveryDelayMs: 5_000,
  basePath: "",
  /**
   * Whether the list of deliveries knows `status`. An Enterprise Server of before it takes no notice and lists every outcome
   * ("ignored"), or refuses the request ("refused").
   * @type {'known' | 'ignored' | 'refused'}
   */
  statusFilter: "known",
  htmlUrl: "https://github.com",
  repositories: /** @type {any[]} */ ([]),
  subscribesToIssues: false,
  issueEventDelayMs: 0,
  validate: true,
};

const API_VERSIONS = ["2022-11-28", "2026-03-10"];

// GitHub's words; the answer is no JSON.
const NO_USER_AGENT = `\nRequest forbidden by administrative rules. Please make sure your request has a User-Agent header.\n`;

/**
 * `beside`: another App of the same GitHub, which is a fake that runs already. Both have one address, one set of repositories and
 * one of issues; each has its own webhook, installations and tokens, and its own share of the requests.
 * @param {Partial<typeof DEFAULTS> & {app?: Partial<ReturnType<typeof defaultApp>>, beside?: any}} [options]
 */
export async function startGitHub(options = {}) {
  const { beside } = options;
  const settings = { ...DEFAULTS, ...(beside && { htmlUrl: beside.base.html }), ...options };
  const app = { ...defaultApp(), ...options.app };

  const github = {
    url: "",
    app,
    base: { url: "", html: settings.htmlUrl },
    /** How far the clock by which a JWT is checked is ahead of the real one. */
    jwtClockAheadMs: 0,

    /** Decides the outcome of every attempt. @type {(context: any) => number | import('./deliveries.mjs').Outcome} */
    endpoint: () => 200,
    redeliveryDelayMs: settings.redeliveryDelayMs,
    /**
     * Decides what becomes of an ask: nothing returned, it appears after `redeliveryDelayMs`; `{lose: true}` never;
     * `{delayMs}` then; `{code}` with this outcome; `{status, message?, headers?}` it is refused.
     * @type {((ask: any) => any) | undefined}
     */
    onAsk: undefined,
    /** Every ask that reached the list of deliveries, refused or not. @type {any[]} */
    asks: [],
    /** At most so many items on a page, whatever `per_page` says. @type {number | undefined} */
    pageLimit: undefined,
    /** The App's webhook as its settings page has it; null: none is active. @type {any} */
    webhook: { url: "https://example.com/webhook", contentType: "json", insecureSsl: false, secret: true },
    statusFilter: settings.statusFilter,
    subscribesToIssues: settings.subscribesToIssues,
    /** How long after a change of an issue its event is delivered. */
    issueEventDelayMs: settings.issueEventDelayMs,

    /** What was answered or asked against GitHub's own description. @type {string[]} */
    violations: [],
    /** Takes the violations that a test expected, so that `close` does not reject. */
    takeViolations: () => github.violations.splice(0),

    deliveries: new Deliveries({
      now: settings.now,
      retentionMs: settings.retentionMs,
      outcome: (context) => github.endpoint(context),
    }),
    get now() {
      return github.deliveries.now;
    },
    set now(ms) {
      github.deliveries.now = ms;
    },

    deliver: (given) => github.deliveries.deliver(given),
    /** A maintainer's click on the Advanced page: a redelivery at once. */
    click: (guid, code) => github.deliveries.redeliver(guid, github.now, code),
    attempts: (guid) =>
      (github.deliveries.byGuid.get(guid) ?? []).map(({ id, at, code, status, redelivery }) => ({
        id: String(id),
        at,
        code,
        status,
        redelivery,
      })),

    repositories: new Repositories(beside?.repositories),
    repository: (fullName) => github.repositories.named(fullName),
    installation: (login) => github.repositories.installation(login),
    addRepository: (given) => github.repositories.add(given),
    transferRepository: (from, to) => github.repositories.transfer(from, to),
    tokens: new Tokens(app, () => github.deliveries.now),
  };
  for (const given of settings.repositories) github.addRepository(given);

  const store = beside?.store ?? issueStore();
  const issues = issueModel(github, store);
  const people = {
    person: issues.person,
    /** @param {string} fullName @param {number} number */
    issue: (fullName, number) => issues.find(fullName, number),
    issues: (fullName) => issues.of(github.repository(fullName)),
    openIssues: (fullName) =>
      issues
        .of(github.repository(fullName))
        .filter(({ state, deleted, movedTo }) => state === "open" && !deleted && !movedTo),
  };

  /** @type {any[]} */
  let routes = [];
  let rateRemaining = 5_000;

  function describe(request, text) {
    const { pathname, searchParams } = new URL(request.url, "http://fake");
    const body = text === "" ? undefined : parsed(text);
    return {
      method: request.method,
      app: app.id,
      path: pathname,
      query: Object.fromEntries(searchParams),
      at: github.now,
      status: null,
      fault: false,
      auth: null,
      claims: null,
      body,
      bytes: 0,
    };
  }

  function handle(entry, request, text) {
    if (isHeartbeat(entry)) return { status: 200, headers: { "content-type": "text/plain" }, body: "OK" };
    try {
      const { route, params } = admitted(entry, request.headers, text);
      const answer = run(route, params, entry, request.headers);
      if (entry.auth === "installation") answer.headers = { ...rateLimit(), ...answer.headers };
      return answer;
    } catch (error) {
      if (error instanceof ApiError) return error.answer();
      return broken(`the fake itself failed: ${error.stack}`);
    }
  }

  /** The route. A request that a gate refuses, or that leads nowhere, is a mistake of the client. */
  function admitted({ method, path }, headers, text) {
    try {
      gates(headers, text);
      return find(method, path);
    } catch (error) {
      github.violations.push(`request ${method} ${path}: ${error.message}`);
      throw error;
    }
  }

  function gates(headers, text) {
    if (!headers["user-agent"]) throw new NoUserAgent();
    const version = headers["x-github-api-version"];
    if (version !== undefined && !API_VERSIONS.includes(version)) {
      throw new ApiError(410, `API version ${version} is not supported`);
    }
    if (text === "") return;
    if (!/^application\/json\b/i.test(headers["content-type"] ?? "")) throw new ApiError(415, "Unsupported Media Type");
    const body = parsed(text);
    if (body === undefined) throw new ApiError(400, "Problems parsing JSON");
    if (typeof body !== "object" || body === null || Array.isArray(body)) {
      throw new ApiError(400, "Body should be a JSON object");
    }
  }

  /** The route of a path, with what fills its `{…}`; a repository can be named by its number too. */
  function find(method, path) {
    if (!path.startsWith(settings.basePath)) throw new WebPage();
    let rest = path.slice(settings.basePath.length);
    const [, number, below] = /^\/repositories\/(\d+)(\/.*)?$/.exec(rest) ?? [];
    const numbered = number && github.repositories.all.find(({ id }) => id === Number(number));
    if (numbered) rest = `/repos/${numbered.fullName}${below ?? ""}`;
    for (const route of routes) {
      const match = route.method === method && route.regex.exec(rest);
      if (match) return { route, params: Object.fromEntries(Object.entries(match.groups ?? {}).map(decode)) };
    }
    throw notFound();
  }

  function run(route, params, entry, headers) {
    const described = settings.validate ? describedOperation(route.method, route.pattern) : undefined;
    let answer;
    try {
      answer = served(route, described, params, entry, headers);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      answer = error.answer();
      // What a test told the fake to answer is no more of GitHub's than a fault.
      if (error.more.told) return answer;
    }
    const wrong = described?.wrongAnswer(answer.status, answer.body);
    return wrong ? broken(`answer ${answer.status} of ${route.method} ${route.pattern}: ${wrong}`) : answer;
  }

  function served(route, described, params, entry, headers) {
    if (route.auth === "jwt") entry.claims = jwtClaims(headers.authorization, app, github.jwtClockAheadMs);
    const token = route.auth === "installation" ? github.tokens.authenticate(headers.authorization) : undefined;
    entry.auth = route.auth;
    return route.run({ ...asked(described, route, params, entry), token, rest: belowRepository(entry) });
  }

  /** Parameters and body with the types of the description, or 422 for a request that it does not allow. */
  function asked(described, route, params, entry) {
    if (!described) return { params: numbers(params), query: numbers(entry.query), body: entry.body };
    const { wrong, ...typed } = described.request({ params, query: entry.query, body: entry.body });
    if (!wrong) return typed;
    github.violations.push(`request ${route.method} ${route.pattern}: ${wrong}`);
    throw invalid("request", "custom", wrong);
  }

  function broken(text) {
    github.violations.push(text);
    return { status: 500, body: { message: `fake GitHub: ${text}` } };
  }

  function rateLimit() {
    rateRemaining = Math.max(0, rateRemaining - 1);
    return {
      "x-ratelimit-limit": "5000",
      "x-ratelimit-remaining": String(rateRemaining),
      "x-ratelimit-reset": String(Math.floor(github.now / 1000) + 3600),
      "x-ratelimit-resource": "core",
    };
  }

  /** Whether a request shows a JWT or a token of this App. */
  const isOurs = ({ headers }) => signedBy(headers.authorization, app);
  const part = { isOurs, describe, handle };
  const server = beside?.server ?? (await serveAll([part]));
  if (beside) server.parts.push(part);
  github.url = github.base.url = server.origin + settings.basePath;
  routes = [...deliveryRoutes(github), ...installationRoutes(github), ...issues.routes()].map((route) => ({
    ...route,
    regex: regexOf(route.pattern),
  }));

  return Object.defineProperties(Object.assign(github, people), {
    server: { value: server },
    store: { value: store },
    /** The requests of this App, and of nobody where it is the first one. */
    requests: { get: () => server.requests.filter((request) => request.app === app.id) },
    fault: {
      value: (match, fault, times) =>
        server.fault((request) => request.app === app.id && matches(match, request), fault, times),
      writable: true,
    },
    close: {
      value: async () => {
        if (!beside) await server.close();
        if (github.violations.length) throw new Error(`fake GitHub: ${github.violations.join("\n")}`);
      },
    },
  });

  /** One server for several Apps; whoever shows no credential of any speaks to the first. */
  async function serveAll(parts) {
    const partOf = (request) => parts.find(({ isOurs }) => isOurs(request)) ?? parts[0];
    const served = await serve({
      describe: (request, text) => partOf(request).describe(request, text),
      handle: (entry, request, text) => partOf(request).handle(entry, request, text),
      now: () => github.now,
    });
    return Object.assign(served, { parts });
  }
}

function defaultApp() {
  return {
    id: 1234567,
    clientId: "Iv23liExampleClient1",
    slug: "example-app",
    name: "Example App",
    owner: /** @type {{login?: string, slug?: string, type: 'User' | 'Organization' | 'Enterprise'}} */ ({
      login: "octo-maintainer",
      type: "User",
    }),
    permissions: { issues: "write", metadata: "read" },
    events: ["issues", "workflow_run"],
    publicKey: testKeys().publicKey,
  };
}

/** What GitHub Enterprise Server answers outside of its API: a page for a browser. */
class WebPage extends ApiError {
  constructor() {
    super(404, "no API here");
  }

  answer() {
    const headers = { "content-type": "text/html; charset=utf-8" };
    return { status: 404, headers, body: "<!DOCTYPE html><title>Page not found</title>" };
  }
}

class NoUserAgent extends ApiError {
  constructor() {
    super(403, "no User-Agent");
  }

  answer() {
    return { status: 403, headers: { "content-type": "text/html" }, body: NO_USER_AGENT };
  }
}

/** A dead man's switch at the address of GitHub, so that a scene sees its calls beside all others. It is no part of the API. */
const isHeartbeat = ({ method, path }) => method === "GET" && /^\/heartbeat(\/|$)/.test(path);

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const decode = ([name, value]) => [name, decodeURIComponent(value)];

/** Without the description, only what is written as a number becomes one, and only where it stays exact. */
const numbers = (values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, /^\d{1,15}$/.test(value) ? Number(value) : value]),
  );

/** What a redirect keeps of a path: all that follows the name of the repository. */
function belowRepository({ path, query }) {
  const text = String(new URLSearchParams(query));
  return path.replace(/^.*?\/repos\/[^/]+\/[^/]+/, "") + (text && `?${text}`);
}

function regexOf(pattern) {
  return new RegExp(`^${pattern.replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")}$`);
}
