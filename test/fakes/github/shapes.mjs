// The JSON of people, Apps, installations, repositories and issues, with every field GitHub's description requires.

const EPOCH = "2020-01-01T00:00:00Z";

/** GitHub writes these times without milliseconds. */
export const seconds = (/** @type {number} */ ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");

/** Stable small ids for accounts, from their names alone. */
function idFor(name) {
  let id = 1000;
  for (const letter of name) id = (id * 31 + letter.charCodeAt(0)) % 90_000_000;
  return id;
}

/** @param {{login: string, type: string}} account @param {{url: string, html: string}} base */
export function user({ login, type }, { url, html }) {
  const api = `${url}/users/${encodeURIComponent(login)}`;
  const page = type === "Bot" ? `${html}/apps/${login.replace("[bot]", "")}` : `${html}/${login}`;
  return {
    login,
    id: idFor(login),
    node_id: `U_${idFor(login)}`,
    avatar_url: `${html}/${encodeURIComponent(login)}.png`,
    gravatar_id: "",
    url: api,
    html_url: page,
    followers_url: `${api}/followers`,
    following_url: `${api}/following{/other_user}`,
    gists_url: `${api}/gists{/gist_id}`,
    starred_url: `${api}/starred{/owner}{/repo}`,
    subscriptions_url: `${api}/subscriptions`,
    organizations_url: `${api}/orgs`,
    repos_url: `${api}/repos`,
    events_url: `${api}/events{/privacy}`,
    received_events_url: `${api}/received_events`,
    type,
    site_admin: false,
  };
}

function enterprise({ slug }, { html }) {
  return {
    id: idFor(slug),
    node_id: `E_${idFor(slug)}`,
    name: slug,
    slug,
    html_url: `${html}/enterprises/${slug}`,
    created_at: EPOCH,
    updated_at: EPOCH,
    avatar_url: `${html}/${slug}.png`,
  };
}

const owner = (account, base) => (account.type === "Enterprise" ? enterprise(account, base) : user(account, base));

/** `GET /app`, and the App that wrote an issue. @param {any} app @param {{url: string, html: string}} base */
export function integration(app, base) {
  return {
    id: app.id,
    slug: app.slug,
    node_id: `A_${app.id}`,
    client_id: app.clientId,
    owner: owner(app.owner, base),
    name: app.name,
    description: null,
    external_url: "https://example.com",
    html_url: `${base.html}/apps/${app.slug}`,
    created_at: EPOCH,
    updated_at: EPOCH,
    permissions: app.permissions,
    events: app.events,
  };
}

/** @param {any} held @param {any} app @param {{url: string, html: string}} base */
export function installation(held, app, base) {
  const account = user(held.account, base);
  return {
    id: held.id,
    account,
    repository_selection: "selected",
    access_tokens_url: `${base.url}/app/installations/${held.id}/access_tokens`,
    repositories_url: `${base.url}/installation/repositories`,
    html_url: `${base.html}/settings/installations/${held.id}`,
    app_id: app.id,
    app_slug: app.slug,
    client_id: app.clientId,
    target_id: account.id,
    target_type: account.type,
    permissions: { ...held.permissions },
    events: app.events,
    created_at: EPOCH,
    updated_at: EPOCH,
    single_file_name: null,
    suspended_by: held.suspendedAt ? account : null,
    suspended_at: held.suspendedAt ? seconds(held.suspendedAt) : null,
  };
}

const REPOSITORY_TEMPLATES = {
  archive_url: "/{archive_format}{/ref}",
  assignees_url: "/assignees{/user}",
  blobs_url: "/git/blobs{/sha}",
  branches_url: "/branches{/branch}",
  collaborators_url: "/collaborators{/collaborator}",
  comments_url: "/comments{/number}",
  commits_url: "/commits{/sha}",
  compare_url: "/compare/{base}...{head}",
  contents_url: "/contents/{+path}",
  contributors_url: "/contributors",
  deployments_url: "/deployments",
  downloads_url: "/downloads",
  events_url: "/events",
  forks_url: "/forks",
  git_commits_url: "/git/commits{/sha}",
  git_refs_url: "/git/refs{/sha}",
  git_tags_url: "/git/tags{/sha}",
  hooks_url: "/hooks",
  issue_comment_url: "/issues/comments{/number}",
  issue_events_url: "/issues/events{/number}",
  issues_url: "/issues{/number}",
  keys_url: "/keys{/key_id}",
  labels_url: "/labels{/name}",
  languages_url: "/languages",
  merges_url: "/merges",
  milestones_url: "/milestones{/number}",
  notifications_url: "/notifications{?since,all,participating}",
  pulls_url: "/pulls{/number}",
  releases_url: "/releases{/id}",
  stargazers_url: "/stargazers",
  statuses_url: "/statuses/{sha}",
  subscribers_url: "/subscribers",
  subscription_url: "/subscription",
  tags_url: "/tags",
  teams_url: "/teams",
  trees_url: "/git/trees{/sha}",
};

/** @param {any} held @param {{url: string, html: string}} base */
export function repository(held, base) {
  const api = `${base.url}/repos/${held.fullName}`;
  const page = `${base.html}/${held.fullName}`;
  const templates = Object.entries(REPOSITORY_TEMPLATES).map(([name, path]) => [name, api + path]);
  return {
    id: held.id,
    node_id: `R_${held.id}`,
    name: held.name,
    full_name: held.fullName,
    private: held.private,
    owner: user(held.account, base),
    html_url: page,
    description: null,
    fork: false,
    url: api,
    ...Object.fromEntries(templates),
    git_url: `git:${page.slice(6)}.git`,
    ssh_url: `git@github.com:${held.fullName}.git`,
    clone_url: `${page}.git`,
    svn_url: page,
    mirror_url: null,
    homepage: null,
    language: null,
    forks_count: 0,
    stargazers_count: 0,
    watchers_count: 0,
    size: 0,
    default_branch: "main",
    open_issues_count: 0,
    is_template: false,
    topics: [],
    has_issues: held.issuesEnabled,
    has_projects: true,
    has_wiki: true,
    has_pages: false,
    has_downloads: true,
    archived: held.archived,
    disabled: false,
    visibility: held.private ? "private" : "public",
    pushed_at: EPOCH,
    created_at: EPOCH,
    updated_at: EPOCH,
    license: null,
    forks: 0,
    open_issues: 0,
    watchers: 0,
  };
}

/** @param {any} held  an issue of the fake @param {{url: string, html: string}} base */
export function issue(held, base) {
  const api = `${base.url}/repos/${held.repository.fullName}`;
  const page = `${base.html}/${held.repository.fullName}/${held.pullRequest ? "pull" : "issues"}/${held.number}`;
  const url = `${api}/issues/${held.number}`;
  const label = (name, index) => ({
    id: held.id * 100 + index,
    node_id: `LA_${name}`,
    url: `${api}/labels/${encodeURIComponent(name)}`,
    name,
    color: "ededed",
    default: false,
    description: null,
  });
  return {
    url,
    repository_url: api,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: page,
    id: held.id,
    node_id: `I_${held.id}`,
    number: held.number,
    title: held.title,
    user: user(held.author, base),
    labels: held.labels.map(label),
    state: held.state,
    locked: false,
    assignee: null,
    assignees: [],
    milestone: null,
    comments: held.comments.length,
    created_at: seconds(held.createdAt),
    updated_at: seconds(held.updatedAt),
    closed_at: held.closedAt === null ? null : seconds(held.closedAt),
    author_association: "NONE",
    active_lock_reason: null,
    body: held.body,
    closed_by: null,
    timeline_url: `${url}/timeline`,
    performed_via_github_app: held.viaApp ? integration(held.viaApp, base) : null,
    state_reason: held.stateReason,
    ...(held.pullRequest && { draft: false, pull_request: { url, html_url: page, diff_url: null, patch_url: null } }),
  };
}

/** @param {any} held  a comment of the fake @param {any} onIssue @param {{url: string, html: string}} base */
export function comment(held, onIssue, base) {
  const { url, html_url } = issue(onIssue, base);
  return {
    id: held.id,
    node_id: `IC_${held.id}`,
    url: `${url.replace(/\d+$/, "")}comments/${held.id}`,
    html_url: `${html_url}#issuecomment-${held.id}`,
    body: held.body,
    user: user(held.author, base),
    issue_url: url,
    created_at: seconds(held.createdAt),
    updated_at: seconds(held.createdAt),
    author_association: "NONE",
    performed_via_github_app: held.viaApp ? integration(held.viaApp, base) : null,
  };
}
