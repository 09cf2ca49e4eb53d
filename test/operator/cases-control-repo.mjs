// One thing wrong at a time with the control repository or Cloudflare, and what the doctor has to say about it.

import { REPO } from "./scene.mjs";

const page = "https://github.com/settings/apps/example-app";

/** @type {[string, import('./cases-app.mjs').Case][]} */
export const controlRepoCases = [
  [
    "no such repository",
    {
      row: "control repository",
      says: /installed at octo, but not in octo\/nowhere/,
      todo: /github\.com\/settings\/installations\/51000000/,
      with: { CONTROL_REPO: "octo/nowhere" },
    },
  ],
  [
    "an account without the App",
    {
      row: "control repository",
      says: /not installed at someone/,
      todo: new RegExp(`${page}/installations`),
      with: { CONTROL_REPO: "someone/nowhere" },
    },
  ],
  [
    "a repository that the installation leaves out",
    {
      row: "control repository",
      says: /but not in octo\/control/,
      world: ({ github }) => Object.assign(github.repository(REPO), { installed: false }),
    },
  ],
  [
    "issues are only read",
    {
      row: "control repository",
      says: /may only read issues/,
      todo: /Issues: Read and write/,
      world: ({ github }) => {
        github.app.permissions = { issues: "read", metadata: "read" };
        github.installation("octo").permissions.issues = "read";
      },
    },
  ],
  [
    "no permission for issues",
    {
      row: "control repository",
      says: /may not see issues/,
      world: ({ github }) => {
        github.app.permissions = { metadata: "read" };
        github.installation("octo").permissions = { metadata: "read" };
      },
    },
  ],
  [
    "a permission that was not accepted",
    {
      row: "control repository",
      says: /has not accepted that yet/,
      todo: /Accept the new permission/,
      world: ({ github }) => Object.assign(github.installation("octo").permissions, { issues: "read" }),
    },
  ],
  [
    "issues are switched off",
    {
      row: "control repository",
      says: /Issues are switched off/,
      world: ({ github }) => Object.assign(github.repository(REPO), { issuesEnabled: false }),
    },
  ],
  [
    "an archived repository",
    {
      row: "control repository",
      says: /is archived/,
      world: ({ github }) => Object.assign(github.repository(REPO), { archived: true }),
    },
  ],
  [
    "a suspended installation",
    {
      row: "control repository",
      says: /is suspended/,
      world: ({ github }) => Object.assign(github.installation("octo"), { suspendedAt: github.now }),
    },
  ],
  [
    "a repository that was renamed",
    {
      row: "control repository",
      says: /was renamed or has moved/,
      world: ({ github }) => github.transferRepository(REPO, "octo/other"),
    },
  ],
  [
    "a repository given as a link",
    {
      row: "control repository",
      says: /cannot be used/,
      todo: /Write it as octo\/control/,
      with: { CONTROL_REPO: "https://github.com/octo/control.git" },
    },
  ],

  [
    "no alarm at all",
    {
      row: "alarm",
      state: "warning",
      says: /nobody will be told/,
      with: { CONTROL_REPO: "", TELEGRAM_CHAT_ID: "", TELEGRAM_BOT_TOKEN: "" },
    },
  ],
];

/** @type {[string, import('./cases-app.mjs').Case][]} */
export const cloudCases = [
  ["a dry run", { row: "dry run", state: "warning", says: /asks for nothing/, with: { DRY_RUN: "TRUE" } }],
  ["no such flag", { row: "settings", says: /DRY_RUN from the environment/, with: { DRY_RUN: "yes" } }],
  [
    "a number out of its range",
    { row: "settings", says: /WINDOW_HOURS/, todo: /1 to 72/, with: { WINDOW_HOURS: "73" } },
  ],
  [
    "fewer calls than a sweep needs",
    { row: "settings", says: /50, and .* needs 66 calls/, todo: /paid plan/, with: { MAX_REDELIVERIES: "50" } },
  ],
  [
    "wrangler cannot reach Cloudflare",
    {
      row: "Cloudflare",
      state: "skipped",
      says: /^wrangler cannot be used: it went wrong/,
      world: ({ cloud }) => Object.assign(cloud, { fails: "whoami" }),
    },
  ],
  [
    "nobody is signed in to Cloudflare",
    {
      row: "Cloudflare",
      state: "skipped",
      says: /not signed in/,
      todo: /npx wrangler login/,
      world: ({ cloud }) => Object.assign(cloud, { signedIn: false }),
    },
  ],
  [
    "more than one account",
    {
      row: "Cloudflare",
      state: "warning",
      says: /more than one account/,
      todo: /CLOUDFLARE_ACCOUNT_ID to one of: a1 \(Ada's account\), b2/,
      world: ({ cloud }) => cloud.accounts.push({ id: "b2", name: "Work" }),
    },
  ],
  [
    "the Worker has no secret",
    {
      row: "deployed Worker",
      says: /has no secret TELEGRAM_BOT_TOKEN/,
      world: ({ cloud }) => Object.assign(cloud, { secrets: ["GITHUB_APP_PRIVATE_KEY"] }),
    },
  ],
  [
    "the Worker has its secrets",
    {
      row: "deployed Worker",
      state: "ok",
      says: /has the secrets/,
      world: ({ cloud }) => Object.assign(cloud, { secrets: ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"] }),
    },
  ],
  [
    "the key is in the Worker only",
    {
      row: "private key",
      state: "skipped",
      says: /The Worker has it/,
      todo: /--key-file FILE/,
      with: { GITHUB_APP_PRIVATE_KEY: "" },
      world: ({ cloud }) => Object.assign(cloud, { secrets: ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"] }),
    },
  ],
  [
    "a summary at no time of day",
    { row: "settings", says: /DAILY_SUMMARY from/, todo: /such as 07:00/, with: { DAILY_SUMMARY: "7 am" } },
  ],
  [
    "a summary without a chat",
    {
      row: "settings",
      says: /DAILY_SUMMARY is set, and there is no chat/,
      with: { DAILY_SUMMARY: "07:00", TELEGRAM_CHAT_ID: "", TELEGRAM_BOT_TOKEN: "" },
    },
  ],
  [
    "a status page with a path",
    { row: "status page", says: /without a path/, with: { STATUS_URL: "https://worker.example/status.json" } },
  ],
  [
    "a status page with a token in it",
    { row: "status page", says: /without a path or a query/, with: { STATUS_URL: "https://worker.example/?token=x" } },
  ],
  [
    "a status page that the Worker shows nobody",
    {
      row: "status page",
      state: "warning",
      says: /no ADMIN_TOKEN/,
      todo: /secret put ADMIN_TOKEN/,
      with: { STATUS_URL: "https://worker.example" },
      world: ({ cloud }) => Object.assign(cloud, { secrets: ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"] }),
    },
  ],
  [
    "an address of a Worker without a token",
    { row: "Worker's word", says: /belong together/, with: { WORKER_URL: "https://worker.example" } },
  ],
];
