// The script of the day: the App, its traffic, and what goes wrong. Everything is put on the fake GitHub beforehand, at
// its time of the day; nothing here knows the Worker. Made by a fixed seed, so every day is the same.

const MONDAY = Date.parse("2026-11-02T00:00:00Z");
const MINUTE = 60_000;

/** `10:15` or `10:15:30` of the day. */
export function at(clock) {
  const [hours, minutes, seconds = 0] = clock.split(":").map(Number);
  return MONDAY + ((hours * 60 + minutes) * 60 + seconds) * 1000;
}

const owner = "harbor";
export const chat = { id: -1001234567890, title: "On call" };
export const controlRepository = `${owner}/pager-alarms`;
export const app = { name: "CI Pager", slug: "ci-pager", owner: { login: owner, type: "Organization" } };

const names = ["web", "api", "mobile", "docs", "infra", "billing", "search", "auth", "design", "data"];
const ids = new Map(names.map((name, index) => [name, 479544328 + index * 1_009]));
/** The name of a repository by its id. */
export const repositoryNames = new Map(names.map((name) => [ids.get(name), name]));

/** What happens, told before the first sweep that can see it. */
export const chapters = [
  {
    from: "00:00",
    title: "A quiet night",
    text: "The first sweep looks back three hours. From then on each one reads what is new.",
  },
  { from: "07:45", title: "The morning", text: "People come to work, and everything is delivered." },
  { from: "09:15", title: "A bad deploy", text: "From 09:02 to 09:22 the endpoint answers everything with 500." },
  {
    from: "11:15",
    title: "A time-out",
    text: "At 11:07 the endpoint took longer than ten seconds. GitHub lists that with code 0, and its filter status=failure leaves it out.",
  },
  {
    from: "13:00",
    title: "An event that breaks the handler",
    text: "At 12:51 a comment arrived on which the endpoint fails each time.",
  },
  {
    from: "14:30",
    title: "An old state must not come back",
    text: "At 14:24 a workflow_run failed to arrive. At 14:26 a rerun passed: the old one, delivered now, would turn it red again.",
  },
  {
    from: "16:15",
    title: "The busiest quarter of an hour",
    text: "431 workflow runs with three deliveries each, and their checks: 3,000 deliveries, where a sweep reads 20 pages of 100.",
  },
  {
    from: "18:00",
    title: "A maintainer's click",
    text: "At 17:40 the handler is mended. At 17:52 a maintainer opens the Advanced page by the button and clicks Redeliver.",
  },
  { from: "19:00", title: "The evening", text: "Nothing is open, and a sweep costs two calls again." },
];

/** Deliveries in a quarter of an hour, by the hour. */
const rates = [2, 1, 6, 1, 1, 2, 3, 9, 26, 34, 38, 36, 24, 30, 37, 36, 40, 31, 18, 10, 7, 5, 4, 3];

const kinds = [
  ["push", null],
  ["pull_request", "synchronize"],
  ["pull_request", "opened"],
  ["workflow_run", "requested"],
  ["workflow_run", "in_progress"],
  ["workflow_run", "completed"],
  ["check_suite", "completed"],
  ["check_run", "completed"],
  ["issue_comment", "created"],
  ["issues", "labeled"],
  ["pull_request_review", "submitted"],
  ["release", "published"],
];

// What arrives during the deploy. Nothing overtakes an event of these kinds, so each of them has to come again.
const duringTheDeploy = [
  ["09:02:41", "push", null, "api"],
  ["09:03:17", "issue_comment", "created", "web"],
  ["09:04:52", "push", null, "web"],
  ["09:06:08", "pull_request_review", "submitted", "api"],
  ["09:08:33", "deployment_status", "created", "infra"],
  ["09:10:20", "push", null, "mobile"],
  ["09:11:46", "issue_comment", "edited", "docs"],
  ["09:13:29", "issue_comment", "created", "billing"],
  ["09:16:05", "push", null, "search"],
  ["09:17:38", "pull_request_review", "submitted", "web"],
  ["09:18:57", "repository_dispatch", "nightly-build", "data"],
  ["09:20:11", "issue_comment", "created", "auth"],
  ["09:21:02", "push", null, "design"],
  ["09:21:44", "deployment_status", "created", "infra"],
];

// 431 runs with three deliveries each, and 1,707 of their checks: 3,000. Others of their checks end later.
const busy = { from: at("16:00:10"), to: at("16:14:50"), runs: 431, suitesRequested: 414 };
const aftermath = { from: at("16:15:10"), to: at("16:29:50"), checks: 640 };

/** Puts the day on a fake GitHub. Returns what the teller must know: the guid of the event that breaks the handler. */
export function stage(github) {
  const delivers = (clock, event, action, repository, more) =>
    github.deliver({ event, action, repositoryId: ids.get(repository), at: at(clock), code: 200, ...more }).guid;

  traffic(github);
  for (const [clock, event, action, repository] of duringTheDeploy) {
    delivers(clock, event, action, repository, { code: undefined });
  }
  delivers("11:07:12", "pull_request_review", "submitted", "mobile", { code: 0 });
  const poison = delivers("12:51:26", "issue_comment", "created", "web", { code: undefined });
  delivers("14:24:10", "workflow_run", "completed", "web", { code: 503 });
  delivers("14:26:40", "workflow_run", "completed", "web");
  delivers("16:01:30", "push", null, "web", { code: 503 });
  delivers("16:02:11", "pull_request", "synchronize", "docs", { code: 502 });
  delivers("16:02:48", "release", "published", "mobile", { code: 500 });
  delivers("16:03:05", "push", null, "billing", { code: 0 });
  delivers("16:03:40", "pull_request", "synchronize", "docs");
  github.deliveries.redeliver(poison, at("17:52:09"));

  github.endpoint = ({ guid, at: time }) => {
    const deploys = time >= at("09:02") && time < at("09:22");
    const breaks = guid === poison && time < at("17:40");
    return deploys || breaks ? 500 : 200;
  };
  return { poison };
}

function traffic(github) {
  const random = randomNumbers(20261102);
  const any = (list) => list[Math.floor(random() * list.length)];
  const all = [];
  for (let quarter = at("-3:00"); quarter < at("23:45"); quarter += 15 * MINUTE) {
    const rate = rates[new Date(quarter).getUTCHours()];
    for (let left = Math.round(rate * (0.7 + 0.6 * random())); left > 0; left -= 1) {
      const [event, action] = any(kinds);
      all.push({ at: quarter + Math.floor(random() * 15 * MINUTE), event, action, repositoryId: ids.get(any(names)) });
    }
  }
  const some = ({ from, to }) => from + Math.floor(random() * (to - from));
  const checks = [
    ["check_suite", "completed"],
    ["check_run", "created"],
    ["check_run", "completed"],
  ];
  const steps = ["requested", "in_progress", "completed"].map((action) => ["workflow_run", action]);
  for (let run = 0; run < busy.runs; run += 1) {
    const repositoryId = ids.get(names[run % names.length]);
    const suite = run < busy.suitesRequested ? [["check_suite", "requested"]] : [];
    for (const [event, action] of [...steps, ...checks, ...suite])
      all.push({ at: some(busy), event, action, repositoryId });
  }
  for (let check = 0; check < aftermath.checks; check += 1) {
    all.push({ at: some(aftermath), event: "check_run", action: "completed", repositoryId: ids.get(any(names)) });
  }
  all.sort((a, b) => a.at - b.at);
  for (const one of all) {
    if (!isSetAside(one)) github.deliver({ ...one, code: 200 });
  }
}

/** Traffic that would make the story another one: in the deploy, and what would overtake an event that is to come back. */
function isSetAside({ at: time, event, repositoryId }) {
  const within = (from, to) => time >= at(from) && time < at(to);
  if (within("09:01", "09:23")) return true;
  if (within("14:15", "14:30")) return event === "workflow_run" && repositoryId === ids.get("web");
  if (!within("15:59", "16:46")) return false;
  return event === "release" || (event === "pull_request" && repositoryId === ids.get("docs"));
}

/** mulberry32: good enough for a day at the office. */
export function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
