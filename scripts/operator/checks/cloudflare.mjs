// Cloudflare by wrangler's word: who is signed in, and which secrets the deployed Worker has. Values cannot be read back.

import { isSecret, suffixed } from "../apps.mjs";
import { ok, problem, skipped, warning } from "./finding.mjs";

/** What to do when nobody is signed in. */
const SIGN_IN = "Run: npx wrangler login (without a browser here, set CLOUDFLARE_API_TOKEN)";

/**
 * @param {import('../wrangler.mjs').Wrangler} wrangler
 * @param {Record<string, string | undefined>} env
 * @returns {Promise<{signedIn: boolean, finding: import('./finding.mjs').Finding}>}
 */
export async function checkSignIn(wrangler, env) {
  const { signedIn, accounts, why } = await wrangler.whoami();
  if (!signedIn) {
    const text = why ? `wrangler cannot be used: ${why}` : "You are not signed in to Cloudflare.";
    return { signedIn, finding: problem("Cloudflare", text, SIGN_IN) };
  }
  if (accounts.length > 1 && !env.CLOUDFLARE_ACCOUNT_ID) {
    const named = accounts.map(({ id, name }) => `${id} (${name})`).join(", ");
    const text =
      "You have more than one account there. wrangler takes account_id of wrangler.toml, or the one it used last.";
    return {
      signedIn,
      finding: warning("Cloudflare", text, `To choose, set CLOUDFLARE_ACCOUNT_ID to one of: ${named}`),
    };
  }
  const account = accounts.length === 1 ? ` to ${accounts[0].name}` : "";
  return { signedIn, finding: ok("Cloudflare", `You are signed in${account}.`) };
}

/**
 * @param {string[] | undefined} deployed  names of the Worker's secrets
 * @param {string[]} needed
 * @returns {import('./finding.mjs').Finding}
 */
export function judgedSecrets(deployed, needed) {
  if (!deployed) return skipped("deployed Worker", "wrangler finds none.", "npm run setup deploys it.");
  const missing = needed.filter((name) => !deployed.includes(name));
  if (missing.length === 0) return ok("deployed Worker", "It has the secrets that it needs.");
  // The set-up knows the settings of one App.
  const ofOther = missing.find(suffixed);
  const todo = ofOther ? `Run: npx wrangler secret put ${ofOther}` : "npm run setup puts it in.";
  return problem("deployed Worker", `It has no secret ${missing.join(" and ")}.`, todo);
}

/**
 * Secrets of Apps that are not there any more: no deployment takes one out.
 * @param {string[] | undefined} deployed @param {import('../apps.mjs').Apps} apps
 * @returns {import('./finding.mjs').Finding[]}
 */
export function strayedSecrets(deployed, apps) {
  const isStray = (name) =>
    isSecret(name) && suffixed(name) && !(apps.listed && apps.ids.includes(suffixed(name)?.[1] ?? ""));
  return (deployed ?? [])
    .filter(isStray)
    .map((name) =>
      warning(
        "deployed Worker",
        `It has ${name}, for an App that is not in APPS.`,
        `npx wrangler secret delete ${name}`,
      ),
    );
}
