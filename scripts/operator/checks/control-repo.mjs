// Whether the App can keep its issue in the control repository: installed there, `issues: write`, and issues possible.

import { settingsPage } from "../github.mjs";
import { ok, problem, reached, unexpected } from "./finding.mjs";

const CHECK = "control repository";

/**
 * @param {import('../github.mjs').GitHub} github
 * @param {any} app  as `GET /app` shows it
 * @param {string} repo  owner/name
 * @returns {Promise<import('./finding.mjs').Finding>}
 */
export function checkControlRepo(github, app, repo) {
  return reached(
    CHECK,
    () => judged(github, app, repo),
    (finding) => finding,
  );
}

const wrong = (text, todo) => problem(CHECK, text, todo, "CONTROL_REPO");

async function judged(github, app, repo) {
  const [owner, name] = repo.split("/");
  const answer = await github.asApp(`/repos/${repo}/installation`);
  if (answer.status === 301) {
    return wrong(`${repo} was renamed or has moved.`, "Give its new name, as its page on GitHub shows it.");
  }
  if (answer.status === 404) return notThere(await github.asApp(`/users/${owner}/installation`), app, repo);
  const installation = answer.json;
  if (answer.status !== 200 || !installation) return unexpected(CHECK, "GitHub", answer);
  if (installation.suspended_at) {
    return wrong(`The App's installation at ${owner} is suspended.`, `Unsuspend it on ${installation.html_url}`);
  }
  if (installation.permissions?.issues !== "write") return mayNotWrite(app, installation, repo);
  return withToken(await token(github, installation, name), repo);
}

/** Narrowed as the Worker's own, so that it is refused for the same reasons. */
const token = (github, { id }, name) =>
  github.asApp(`/app/installations/${id}/access_tokens`, {
    method: "POST",
    json: { repositories: [name], permissions: { issues: "write" } },
  });

function notThere({ status, json }, app, repo) {
  const [owner] = repo.split("/");
  if (status === 200 && json?.html_url) {
    return wrong(
      `The App is installed at ${owner}, but not in ${repo}, or there is no such repository.`,
      `Add the repository on ${json.html_url}`,
    );
  }
  return wrong(
    `The App is not installed at ${owner}, or there is no such account.`,
    `Install it there: ${settingsPage(app)}/installations`,
  );
}

function mayNotWrite(app, { html_url: page, permissions }, repo) {
  if (app.permissions?.issues === "write") {
    return wrong(
      `The App asks for Issues: write, but its installation for ${repo} has not accepted that yet.`,
      `Accept the new permission on ${page}`,
    );
  }
  const has = permissions?.issues === "read" ? "only read issues" : "not see issues";
  return wrong(
    `The App may ${has} in ${repo}.`,
    `On ${settingsPage(app)}/permissions set Issues: Read and write, then accept that on ${page}`,
  );
}

function withToken(answer, repo) {
  const held = answer.json?.repositories?.[0];
  if (answer.status !== 201 || !held) return unexpected(CHECK, "GitHub", answer);
  if (held.archived)
    return wrong(`${repo} is archived, so no issue can be opened.`, "Unarchive it, or give another one.");
  if (held.disabled) return wrong(`${repo} is disabled by GitHub.`, "Give another one.");
  if (held.has_issues === false) {
    return wrong(
      `Issues are switched off in ${repo}.`,
      "Switch them on under Settings, Features, or give another one.",
    );
  }
  return ok(CHECK, `The App may write issues in ${held.full_name}.`);
}
