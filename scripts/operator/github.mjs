// GitHub as the App sees it: calls with its JWT, or with a token of one of its installations.

import { appJwt } from "./jwt.mjs";

export const GITHUB_API = "https://api.github.com";

/** The headers of the Worker (src/github/api.rs), so that what works here works there. */
const HEADERS = { accept: "application/vnd.github+json", "x-github-api-version": "2022-11-28" };

/**
 * @param {{call: ReturnType<typeof import('./http.mjs').httpClient>, now: () => number, apiUrl: string, appId: string,
 *   key: import('node:crypto').KeyObject}} of
 */
export function githubClient({ call, now, apiUrl, appId, key }) {
  // Whatever this machine's clock says, the other checks can go on with GitHub's.
  let aheadMs = 0;
  const base = apiUrl.replace(/\/+$/, "");
  const send = (token, path, how) =>
    call(base + path, { ...how, headers: { ...HEADERS, authorization: `Bearer ${token}` } });
  return {
    apiUrl: base,
    appId,
    isCloud: base === GITHUB_API,
    /** @param {string} path @param {{method?: string, json?: any}} [how] */
    asApp: (path, how) => send(appJwt({ appId, key, now: now() - aheadMs }), path, how),
    /** @param {number} ms */
    correctClock: (ms) => {
      aheadMs = ms;
    },
  };
}

/** @typedef {ReturnType<typeof githubClient>} GitHub */

/** The page of the App's settings, for its owner. @param {any} app  as `GET /app` shows it */
export function settingsPage(app) {
  const host = URL.canParse(app.html_url) ? new URL(app.html_url).origin : "https://github.com";
  if (app.owner?.type === "User") return `${host}/settings/apps/${app.slug}`;
  if (app.owner?.type === "Organization") return `${host}/organizations/${app.owner.login}/settings/apps/${app.slug}`;
  return app.html_url;
}
