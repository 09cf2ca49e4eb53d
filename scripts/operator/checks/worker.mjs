// The deployed Worker's own word: `GET /healthz` and `GET /status.json` with ADMIN_TOKEN.

import { ok, problem, quoted, reached, unexpected } from "./finding.mjs";

const CHECK = "Worker's word";

/**
 * @param {import('../connect.mjs').Ports} ports
 * @param {{url: string, token: string}} worker
 * @returns {Promise<import('./finding.mjs').Finding>}
 */
export function checkWorker({ call }, { url, token }) {
  const base = url.replace(/\/+$/, "");
  const ask = (path) => call(base + path, { headers: { authorization: `Bearer ${token}` } });
  const work = async () => {
    const health = await ask("/healthz");
    if (health.status === 404 || health.status === 401) {
      const text = "It does not take this ADMIN_TOKEN, or there is no Worker at WORKER_URL.";
      return problem(CHECK, text, "Compare both with what you deployed; without ADMIN_TOKEN it answers 404 to all.");
    }
    const status = await ask("/status.json");
    if (status.status !== 200 || !status.json) return unexpected(CHECK, "The Worker", status);
    return judged(health.status, status.json);
  };
  return reached(CHECK, work, (finding) => finding);
}

function judged(health, { ok: well, last_sweep: last, failures_in_a_row: failures, last_failure: failure }) {
  const swept = last ? `last good sweep ${shown(last)}` : "no good sweep yet";
  if (health === 200 && well) return ok(CHECK, `All is well, ${swept}.`);
  const why = failure ? ` The last failure: ${shown(failure)}.` : "";
  const row = failures > 0 ? `, ${failures} failed in a row` : "";
  return problem(CHECK, `It says that not all is well: ${swept}${row}.${why}`, "Look at: npx wrangler tail");
}

/** A time in any form, or an object such as `{class, at}`. */
function shown(value) {
  if (typeof value === "number") return new Date(value).toISOString();
  const text = typeof value === "string" ? value : Object.values(value).join(", ");
  return quoted(text);
}
