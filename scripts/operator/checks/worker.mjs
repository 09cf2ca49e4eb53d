// The deployed Worker's own word: `GET /healthz` and `GET /status.json` with ADMIN_TOKEN, or `GET /apps.json` of several Apps.

import { ok, problem, quoted, reached, unexpected } from "./finding.mjs";

const CHECK = "Worker's word";
const LOOK = "Look at its status page (docs/status.md), or at: npx wrangler tail";

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
    // A Worker with several Apps has one such document for each.
    if (status.status === 400) return ofSeveral(await ask("/apps.json"));
    if (status.status !== 200 || !status.json) return unexpected(CHECK, "The Worker", status);
    return judged(health.status, status.json);
  };
  return reached(CHECK, work, (finding) => finding);
}

function judged(
  health,
  { ok: well, reasons = [], last_sweep: last, failures_in_a_row: failures, last_failure: failure },
) {
  if (health === 200 && well) return ok(CHECK, `All is well, ${swept(last)}.`);
  const why = failure ? ` The last failure: ${shown(failure)}.` : "";
  const row = failures > 0 ? `, ${failures} failed in a row` : "";
  const text = [`It says that not all is well: ${swept(last)}${row}.${why}`, ...reasons.map(shown)].join(" ");
  return problem(CHECK, text, LOOK);
}

function ofSeveral(answer) {
  const apps = answer.json?.apps;
  if (answer.status !== 200 || !Array.isArray(apps)) return unexpected(CHECK, "The Worker", answer);
  const ill = apps.filter((app) => !app.ok);
  if (ill.length === 0) return ok(CHECK, `All is well with ${apps.length} Apps.`);
  const said = ill.map(({ app, word, last_sweep: last }) => `App ${shown(String(app))} ${shown(word)}, ${swept(last)}`);
  return problem(CHECK, `It says that not all is well: ${said.join("; ")}.`, LOOK);
}

const swept = (last) => (last ? `last good sweep ${shown(last)}` : "no good sweep yet");

/** A time in any form, or an object such as `{class, at}`. */
function shown(value) {
  if (typeof value === "number") return new Date(value).toISOString();
  const text = typeof value === "string" ? value : Object.values(value).join(", ");
  return quoted(text);
}
