// Issues of the repositories: what the App writes through the API, and what people do to them.

import { perPage } from "./delivery-routes.mjs";
import { ApiError, invalid, notFound } from "./errors.mjs";
import * as shapes from "./shapes.mjs";

const MAX_TITLE = 256;
const MAX_BODY = 65_536;
const FIRST_ID = 3_400_000_000;

/** The issues of all repositories, and the Apps that are told of them. */
export const issueStore = () => ({
  byRepository: /** @type {Map<any, any[]>} */ (new Map()),
  lastId: FIRST_ID,
  apps: /** @type {any[]} */ ([]),
});

/**
 * @param {any} github  the fake: `repositories`, `tokens`, `deliveries`, `app`, `base`, `url`, `subscribesToIssues`,
 *   `issueEventDelayMs`
 * @param {ReturnType<typeof issueStore>} store
 */
export function issueModel(github, store) {
  const { repositories, app } = github;
  const { byRepository } = store;
  store.apps.push(github);

  const newId = () => {
    store.lastId += 1;
    return store.lastId;
  };
  const bot = { login: `${app.slug}[bot]`, type: "Bot" };
  const of = (repository) => byRepository.get(repository) ?? byRepository.set(repository, []).get(repository);

  /**
   * Every App of the repository hears of a change by its own webhook, and all of them by one guid. One event for each kind of
   * change, as the real server sends.
   */
  function announce({ repository }, action) {
    let guid;
    for (const told of store.apps) {
      const held = told.repositories.installation(repository.owner);
      if (!told.subscribesToIssues || !held?.installed || !repository.installed) continue;
      const at = told.now + told.issueEventDelayMs;
      const event = { event: "issues", action, repositoryId: repository.id, installationId: held.id, at, guid };
      guid = told.deliveries.deliver(event).guid;
    }
  }

  function open(repository, { title, body = null, labels = [], author, viaApp = null, pullRequest = false }) {
    const list = of(repository);
    const at = github.now;
    const issue = {
      id: newId(),
      number: list.length + 1,
      repository,
      title,
      body,
      labels,
      author,
      viaApp,
      pullRequest,
      state: "open",
      stateReason: null,
      comments: [],
      createdAt: at,
      updatedAt: at,
      closedAt: null,
      deleted: false,
      movedTo: null,
    };
    list.push(issue);
    announce(issue, "opened");
    return issue;
  }

  /** @param {any} issue @param {any} change */
  function edit(issue, { title, body, labels, state, state_reason }) {
    const actions = [];
    if ((title !== undefined && title !== issue.title) || (body !== undefined && body !== issue.body)) {
      Object.assign(issue, { title: title ?? issue.title, body: body === undefined ? issue.body : body });
      actions.push("edited");
    }
    if (labels !== undefined && labels.join() !== issue.labels.join()) {
      issue.labels = labels;
      actions.push("labeled");
    }
    if (state !== undefined && state !== issue.state) {
      const closes = state === "closed";
      issue.state = state;
      issue.stateReason = closes ? (state_reason ?? "completed") : "reopened";
      issue.closedAt = closes ? github.now : null;
      actions.push(closes ? "closed" : "reopened");
    }
    if (actions.length) issue.updatedAt = github.now;
    for (const action of actions) announce(issue, action);
  }

  function addComment(issue, { body, author, viaApp = null }) {
    const added = { id: newId(), body, author, viaApp, createdAt: github.now };
    issue.comments.push(added);
    issue.updatedAt = github.now;
    return added;
  }

  /** @param {string} fullName @param {number} number */
  function find(fullName, number) {
    const issue = of(repositories.named(fullName)).find((one) => one.number === number);
    if (!issue) throw new Error(`no issue ${fullName}#${number}`);
    return issue;
  }

  /** What people do in the browser. `login` is who does it. */
  const person = {
    open: (fullName, { title = "Help", body = null, labels = [], login = "mallory", pullRequest = false } = {}) =>
      open(repositories.named(fullName), { title, body, labels, author: { login, type: "User" }, pullRequest }).number,
    edit: (fullName, number, change) => edit(find(fullName, number), change),
    close: (fullName, number, reason = "completed") =>
      edit(find(fullName, number), { state: "closed", state_reason: reason }),
    reopen: (fullName, number) => edit(find(fullName, number), { state: "open" }),
    comment: (fullName, number, body, login = "mallory") =>
      void addComment(find(fullName, number), { body, author: { login, type: "User" } }),
    delete: (fullName, number) => {
      const issue = find(fullName, number);
      issue.deleted = true;
      announce(issue, "deleted");
    },
    /** Into another repository, where it gets a new number. */
    transfer: (fullName, number, toFullName) => {
      const issue = find(fullName, number);
      issue.movedTo = open(repositories.named(toFullName), issue);
      announce(issue, "transferred");
    },
  };

  return {
    of,
    find,
    open,
    edit,
    addComment,
    person,
    bot,
    routes: () => routes(github, { of, open, edit, addComment, bot }),
  };
}

function routes(github, { of, open, edit, addComment, bot }) {
  const { repositories, tokens, app, base } = github;
  const shape = (issue) => shapes.issue(issue, base);

  /** The repository, if the token reaches into it. */
  function enter({ params, rest, token }, level) {
    const repository = repositories.reached(params.owner, params.repo, github.url, rest);
    tokens.authorize(token, repository, level);
    if (repository.archived && level === "write") throw new ApiError(403, "Repository was archived so is read-only.");
    if (!repository.issuesEnabled) throw new ApiError(410, "Issues has been disabled in this repository.");
    return repository;
  }

  function reached(call, level) {
    const issue = of(enter(call, level)).find(({ number }) => number === call.params.issue_number);
    if (!issue) throw notFound();
    if (issue.deleted) throw new ApiError(410, "This issue was deleted");
    if (issue.movedTo) {
      const location = `${github.url}/repositories/${issue.movedTo.repository.id}/issues/${issue.movedTo.number}`;
      throw new ApiError(301, "Moved Permanently", { headers: { location }, url: location });
    }
    return issue;
  }

  function list(call) {
    const repository = enter(call, "read");
    const { state = "open", labels, creator, sort = "created", direction = "desc", page = 1 } = call.query;
    const limit = perPage(call.query);
    const wanted = labels ? labels.split(",") : [];
    const time = { created: "createdAt", updated: "updatedAt" }[sort];
    const order = (issue) => (sort === "comments" ? issue.comments.length : issue[time]);
    const sign = direction === "asc" ? 1 : -1;
    const shown = of(repository)
      .filter((issue) => !issue.deleted && !issue.movedTo && (state === "all" || issue.state === state))
      .filter((issue) => wanted.every((label) => issue.labels.includes(label)))
      .filter((issue) => creator === undefined || issue.author.login === creator)
      .filter((issue) => call.query.since === undefined || issue.updatedAt >= Date.parse(call.query.since))
      .sort((a, b) => sign * (order(a) - order(b) || a.number - b.number));
    const start = (page - 1) * limit;
    const more = start + limit < shown.length;
    const query = new URLSearchParams({ ...call.query, page: String(page + 1) });
    const next = `<${github.url}/repositories/${repository.id}/issues?${query}>; rel="next"`;
    return { status: 200, headers: more ? { link: next } : {}, body: shown.slice(start, start + limit).map(shape) };
  }

  function create(call) {
    const repository = enter(call, "write");
    const { title, body = null, labels = [] } = checked(call.body, true);
    const issue = open(repository, { title, body, labels, author: bot, viaApp: app });
    const made = shape(issue);
    return { status: 201, headers: { location: made.url }, body: made };
  }

  function change(call) {
    const issue = reached(call, "write");
    edit(issue, checked(call.body ?? {}, false));
    return { status: 200, body: shape(issue) };
  }

  function comment(call) {
    const issue = reached(call, "write");
    const { body } = call.body;
    if (!body.trim()) throw invalid("body", "missing_field", undefined, "IssueComment");
    tooLong("body", body, MAX_BODY);
    const made = shapes.comment(addComment(issue, { body, author: bot, viaApp: app }), issue, base);
    return { status: 201, headers: { location: made.url }, body: made };
  }

  const one = "/repos/{owner}/{repo}/issues/{issue_number}";
  const all = "/repos/{owner}/{repo}/issues";
  return [
    { method: "GET", pattern: all, auth: "installation", run: list },
    { method: "POST", pattern: all, auth: "installation", run: create },
    {
      method: "GET",
      pattern: one,
      auth: "installation",
      run: (call) => ({ status: 200, body: shape(reached(call, "read")) }),
    },
    { method: "PATCH", pattern: one, auth: "installation", run: change },
    { method: "POST", pattern: `${one}/comments`, auth: "installation", run: comment },
  ];
}

/** The fields of an issue that a request sets, or GitHub's refusal. */
function checked(given, creates) {
  const title = given.title === undefined ? undefined : String(given.title);
  if (creates ? !title?.trim() : title !== undefined && !title.trim()) {
    throw invalid("title", "missing_field", undefined, "Issue");
  }
  tooLong("title", title, MAX_TITLE);
  tooLong("body", given.body, MAX_BODY);
  const labels = given.labels?.map((label) => (typeof label === "string" ? label : label.name));
  return { ...given, title, ...(labels && { labels }) };
}

function tooLong(field, text, limit) {
  if (typeof text !== "string" || text.length <= limit) return;
  throw invalid(field, "custom", `${field} is too long (maximum is ${limit} characters)`, "Issue");
}
