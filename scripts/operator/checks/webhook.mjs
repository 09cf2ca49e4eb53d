// The App's webhook: whether it is there, sends something, and its record of deliveries can be read.

import { settingsPage } from "../github.mjs";
import { ok, problem, reached, unexpected, warning } from "./finding.mjs";

/**
 * @param {import('../github.mjs').GitHub} github
 * @param {any} app  as `GET /app` shows it
 * @returns {Promise<import('./finding.mjs').Finding[]>}
 */
export function checkWebhook(github, app) {
  const page = settingsPage(app);
  const work = async () => {
    const hook = await github.asApp("/app/hook/config");
    const findings = judgedHook(hook, page);
    findings.push(judgedEvents(app, page));
    if (findings[0].state !== "problem") {
      findings.push(judgedRecord(await github.asApp("/app/hook/deliveries?per_page=1"), page));
    }
    return findings;
  };
  return reached("webhook", work, (finding) => [finding]);
}

function judgedHook(answer, page) {
  const { status, json } = answer;
  if (status === 404 || (status === 200 && json && !json.url)) {
    return [
      problem(
        "webhook",
        "The App has no active webhook, so there is nothing to bring back.",
        `On ${page} tick Webhook: Active, and give the URL of your endpoint.`,
      ),
    ];
  }
  if (status !== 200 || !json) return [unexpected("webhook", "GitHub", answer)];
  return [ok("webhook", `It goes to ${hostOf(json.url)}.`), judgedSecret(json, page), ...transport(json, page)];
}

/** The path of an endpoint can be as good as a password (smee.io, say). */
const hostOf = (url) => (URL.canParse(url) ? new URL(url).host : "an address that is none");

function judgedSecret({ secret }, page) {
  if (secret) return ok("webhook secret", "It is set.");
  return warning(
    "webhook secret",
    "There is none, so your endpoint cannot tell GitHub's deliveries from anybody's.",
    `On ${page} set a webhook secret, and let your endpoint check it.`,
  );
}

function transport({ url, insecure_ssl: insecure }, page) {
  if (!url.startsWith("https:")) {
    return [warning("webhook TLS", "Deliveries go over http, in the clear.", `On ${page} give an https URL.`)];
  }
  if (String(insecure) !== "1") return [];
  const text = "GitHub does not check the certificate of your endpoint.";
  return [warning("webhook TLS", text, `On ${page} enable SSL verification.`)];
}

function judgedEvents({ events = [] }, page) {
  if (events.length > 0) {
    const named = events.slice(0, 3).join(", ") + (events.length > 3 ? ` and ${events.length - 3} more` : "");
    return ok("events", `The App is subscribed to ${named}.`);
  }
  return warning(
    "events",
    "The App is subscribed to no events, so it hears of its installations only.",
    `On ${page}/permissions choose what it is to hear of, under "Subscribe to events".`,
  );
}

function judgedRecord(answer, page) {
  const { status, json } = answer;
  if (status !== 200 || !Array.isArray(json)) return unexpected("deliveries", "GitHub", answer);
  if (json.length > 0) {
    const [{ delivered_at: at, status_code: code }] = json;
    const time = String(at).slice(0, 16).replace("T", " ");
    return ok("deliveries", `The newest is of ${time} UTC, with code ${code}.`);
  }
  return warning(
    "deliveries",
    "GitHub's record of deliveries is empty.",
    `That is right for a new or quiet App. ${page}/advanced shows the same record.`,
  );
}
