// Whether GitHub takes App id and key together: `GET /app` with a JWT made of both.

import { ok, problem, reached, unexpected, warning } from "./finding.mjs";

/** A clock that is off by less troubles nobody: the JWT begins a minute in the past and ends before its ten minutes. */
const CLOCK_LEEWAY_MS = 30_000;

/**
 * @param {import('../github.mjs').GitHub} github
 * @returns {Promise<{app?: any, findings: import('./finding.mjs').Finding[]}>}
 */
export function checkApp(github) {
  const work = async () => {
    let answer = await github.asApp("/app");
    const findings = [];
    const clock = checkClock(answer);
    if (clock) {
      findings.push(clock);
      github.correctClock(answer.aheadMs ?? 0);
      if (answer.status === 401) answer = await github.asApp("/app");
    }
    const { app, finding } = judged(answer, github);
    return { app, findings: [finding, ...findings] };
  };
  return reached("App", work, (finding) => ({ findings: [finding] }));
}

function checkClock({ status, aheadMs = 0 }) {
  if (Math.abs(aheadMs) <= CLOCK_LEEWAY_MS) return undefined;
  const secs = Math.round(Math.abs(aheadMs) / 1000);
  const size = secs < 120 ? `${secs} seconds` : `${Math.round(secs / 60)} minutes`;
  const text = `This machine's clock is ${size} ${aheadMs > 0 ? "ahead of" : "behind"} GitHub's.`;
  const todo = "Let it set its clock by the network, such as with: timedatectl set-ntp true";
  return status === 401 ? problem("clock", text, todo) : warning("clock", text, todo);
}

function judged(answer, github) {
  const { status, json } = answer;
  if (json === undefined || (status >= 300 && status < 400)) return { finding: noApi(answer, github) };
  if (status === 200 && json.slug && json.owner) {
    const owner = json.owner.login ?? json.owner.slug;
    return { app: json, finding: ok("App", `${json.name} (id ${json.id}), owned by ${owner}.`) };
  }
  if (status === 404 && /integration/i.test(json.message ?? "")) return { finding: noSuchApp(github) };
  if (status === 404 || status === 200) return { finding: noApi(answer, github) };
  if (status === 401) return { finding: refused(answer, github) };
  return { finding: unexpected("App", "GitHub", answer) };
}

function noSuchApp({ appId, isCloud, apiUrl }) {
  const place = isCloud ? "github.com" : new URL(apiUrl).host;
  const other = isCloud ? " For GitHub Enterprise Server, set GITHUB_API_URL too." : "";
  return problem(
    "App",
    `${place} knows no App with the id ${appId}.`,
    `Copy "App ID" from the top of the App's settings page; it is no installation id and no OAuth App's.${other}`,
    "GITHUB_APP_ID",
  );
}

/** GitHub says no more than that the JWT cannot be decoded when its signature is another key's. */
function refused({ json }, { appId, isCloud }) {
  if (!isCloud && appId.startsWith("Iv")) {
    return problem(
      "App",
      "This server does not take the client id together with the key.",
      'Give the number that the settings page calls "App ID". If that fails too, the key is another App\'s.',
      "GITHUB_APP_ID",
    );
  }
  if (/decode/i.test(json.message ?? "")) {
    return problem(
      "App",
      `The key is not one of the App ${appId}: it is another App's, or was deleted.`,
      "Generate a private key on this App's settings page and give the file that you then download.",
      "GITHUB_APP_PRIVATE_KEY",
    );
  }
  return unexpected("App", "GitHub", { status: 401, json, headers: new Headers(), aheadMs: undefined });
}

/** A web page, or an API of something else. */
function noApi({ status, json }, { apiUrl, isCloud }) {
  const { host, origin } = new URL(apiUrl);
  const what = json === undefined ? "a web page, not GitHub's API" : `${status}, which is not GitHub's API`;
  if (isCloud) {
    return problem("App", `${host} answers ${what}.`, "Something is in between: look at proxy and firewall.");
  }
  const todo = /^(www\.)?github\.com$|^api\.github\.com$/.test(host)
    ? "Leave GITHUB_API_URL empty: that is github.com."
    : `Set GITHUB_API_URL to ${origin}/api/v3 (Enterprise Server), or to https://api.SUBDOMAIN.ghe.com.`;
  return problem("App", `${apiUrl} answers ${what}.`, todo, "GITHUB_API_URL");
}
