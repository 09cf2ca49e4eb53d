// STATUS_URL, where the alarm has a button to: whether it is the Worker that answers there. Nobody's token is needed for that, and none
// is sent.

import { ok, problem, reached, warning } from "./finding.mjs";

const CHECK = "status page";

/** What the Worker says to everybody without the token, at each path. */
const CLOSED = "Not Found";

const EXAMPLE = "Give the address that wrangler deploy prints, such as https://github-app-redeliver.me.workers.dev";

/**
 * @param {import('../connect.mjs').Ports} ports
 * @param {import('../settings.mjs').Settings} settings
 * @param {string[] | undefined} deployed  names of the Worker's secrets, if they are known
 * @returns {Promise<import('./finding.mjs').Finding[]>}
 */
export async function checkStatusUrl({ call }, settings, deployed) {
  if (!settings.has("STATUS_URL")) return [];
  const from = settings.from("STATUS_URL");
  const address = plainAddress(settings.get("STATUS_URL"));
  if (!address) {
    const text = `STATUS_URL from ${from} is no https address without a path or a query.`;
    return [problem(CHECK, text, EXAMPLE)];
  }
  if (deployed && !deployed.includes("ADMIN_TOKEN")) {
    const text =
      "STATUS_URL is set, and the Worker has no ADMIN_TOKEN: there is no page, so the alarm has no button to it.";
    return [warning(CHECK, text, "Run: npx wrangler secret put ADMIN_TOKEN")];
  }
  const judge = ({ status, text }) => {
    if (status === 404 && text.trim() === CLOSED) return ok(CHECK, "The Worker answers at STATUS_URL.");
    const said = `It is not the Worker that answers at STATUS_URL (status ${status}).`;
    return problem(CHECK, said, `Set workers_dev = true or a route in wrangler.toml, and deploy. ${EXAMPLE}`);
  };
  return [
    await reached(
      CHECK,
      async () => judge(await call(address)),
      (finding) => finding,
    ),
  ];
}

/** As the Worker takes it (src/config/reader.rs). */
function plainAddress(text) {
  if (!URL.canParse(text)) return undefined;
  const { href, protocol, hostname, username, password, pathname, search, hash } = new URL(text);
  const local = /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  const bare = pathname === "/" && !(username || password || search || hash);
  return bare && (protocol === "https:" || (protocol === "http:" && local)) ? href : undefined;
}
