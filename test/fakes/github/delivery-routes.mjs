// The endpoints of the App's webhook: list, one delivery, ask for a redelivery, the webhook's configuration.

import { ApiError, invalid, notFound } from "./errors.mjs";

/** @typedef {import('./deliveries.mjs').Attempt} Attempt */

const MAX_PER_PAGE = 100;

/** @param {any} github  the fake: `deliveries`, `asks`, `url`, `pageLimit`, `onAsk`, `redeliveryDelayMs`, `statusFilter` */
export function deliveryRoutes(github) {
  const { deliveries } = github;

  function list({ query }) {
    const limit = perPage(query);
    const from = query.cursor === undefined ? undefined : cursorTarget(query.cursor);
    if (query.status && github.statusFilter === "refused") {
      throw invalid("status", "custom", "status is not a permitted key.", "HookDelivery");
    }
    const status = github.statusFilter === "ignored" ? undefined : query.status;
    const { page, next, prev } = deliveries.list({ status, from, limit: Math.min(limit, github.pageLimit ?? limit) });
    const link = (attempt, rel) => {
      const parameters = new URLSearchParams({ per_page: String(limit) });
      if (attempt) parameters.set("cursor", cursorOf(attempt));
      if (status) parameters.set("status", status);
      return `<${github.url}/app/hook/deliveries?${parameters}>; rel="${rel}"`;
    };
    // `next` is neither the only nor the first link, so that nobody takes the first one.
    const links = [from && link(undefined, "first"), prev && link(prev, "prev"), next && link(next, "next")];
    const header = links.filter(Boolean).join(", ");
    return { status: 200, headers: header ? { link: header } : {}, body: page.map(item) };
  }

  // A starting delivery that is no longer kept cannot be found either: cursors expire.
  function cursorTarget(cursor) {
    const attempt = deliveries.byId.get(idOf(cursor) ?? -1n);
    if (!attempt || !deliveries.kept(attempt)) throw invalid("cursor", "invalid", "cursor is invalid", "HookDelivery");
    return attempt;
  }

  function find(id) {
    const attempt = deliveries.byId.get(BigInt(id));
    if (!attempt || !deliveries.kept(attempt)) throw notFound();
    return attempt;
  }

  function ask({ params }) {
    const attempt = find(params.delivery_id);
    const { guid, event, action, repositoryId } = attempt;
    const made = { id: String(attempt.id), guid, event, action, repositoryId, at: github.now, status: 202 };
    const askNumber = github.asks.filter((earlier) => earlier.guid === guid).length + 1;
    github.asks.push(made);
    const fate = github.onAsk?.({ ...made, askNumber }) ?? {};
    if (fate.status && fate.status !== 202) {
      made.status = fate.status;
      throw new ApiError(fate.status, fate.message ?? `refused with ${fate.status}`, {
        told: true,
        headers: fate.headers,
        ...(fate.status === 422 && { errors: [] }),
      });
    }
    if (!fate.lose) deliveries.redeliver(guid, github.now + (fate.delayMs ?? github.redeliveryDelayMs), fate.code);
    return { status: 202, body: {} };
  }

  // GitHub shows that there is a secret, never the secret.
  function config() {
    if (!github.webhook) throw notFound();
    const { url, contentType, insecureSsl, secret } = github.webhook;
    const body = { ...(url && { url }), content_type: contentType, insecure_ssl: insecureSsl ? "1" : "0" };
    return { status: 200, body: secret ? { ...body, secret: "********" } : body };
  }

  return [
    { method: "GET", pattern: "/app/hook/deliveries", auth: "jwt", run: list },
    {
      method: "GET",
      pattern: "/app/hook/deliveries/{delivery_id}",
      auth: "jwt",
      run: ({ params }) => ({ status: 200, body: full(find(params.delivery_id)) }),
    },
    { method: "POST", pattern: "/app/hook/deliveries/{delivery_id}/attempts", auth: "jwt", run: ask },
    {
      method: "GET",
      pattern: "/app/hook/config",
      auth: "jwt",
      run: config,
    },
  ];
}

/** `per_page` of a list; the real server cuts it silently, but nobody asks for 0 or 500 on purpose. */
export function perPage(query) {
  const limit = query.per_page ?? 30;
  if (limit < 1 || limit > MAX_PER_PAGE) throw invalid("per_page", "invalid", `per_page is 1 to ${MAX_PER_PAGE}`);
  return limit;
}

/** @param {Attempt} attempt */
function item(attempt) {
  const iso = (ms) => new Date(ms).toISOString();
  return {
    id: attempt.id,
    guid: attempt.guid,
    delivered_at: attempt.wholeSeconds ? iso(attempt.at).replace(/\.\d+Z$/, "Z") : iso(attempt.at),
    redelivery: attempt.redelivery,
    duration: attempt.duration,
    status: attempt.status,
    status_code: attempt.code,
    event: attempt.event,
    action: attempt.action,
    installation_id: attempt.installationId,
    repository_id: attempt.repositoryId,
    // Real lists carry an empty `url` that the description does not know.
    url: "",
    throttled_at: attempt.throttledAt === null ? null : iso(attempt.throttledAt),
  };
}

/** @param {Attempt} attempt */
function full(attempt) {
  const response = { headers: {}, payload: "" };
  return { ...item(attempt), request: { headers: { "X-GitHub-Delivery": attempt.guid }, payload: {} }, response };
}

// Base64 of the id's bytes, least first: it may hold `+`, `/` and `=`, so it survives only a client that takes
// the link as it is, or encodes properly, and it cannot be built from an id by analogy.
function cursorOf(attempt) {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(attempt.id);
  return `v1_${bytes.toString("base64")}`;
}

function idOf(cursor) {
  const [, encoded] = /^v1_([A-Za-z0-9+/]{11}=)$/.exec(cursor) ?? [];
  return encoded && Buffer.from(encoded, "base64").readBigUInt64LE();
}
