// Published clients against the fakes: whoever wrote them knew the real servers and not these.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Api, GrammyError } from "grammy";
import { App, Octokit } from "octokit";
import { rawIds } from "./fakes/client.mjs";
import { startGitHub, testKeys } from "./fakes/github.mjs";
import { startTelegram } from "./fakes/telegram.mjs";
import { ASK, at, openScene } from "./worker/scene.mjs";

const REPO = { owner: "octo", repo: "control" };

/** Octokit as the App, with its own JWT; `bodies` gets the raw text of each answer, whatever it makes of the ids. */
function octokitOf(github, bodies = []) {
  const recorded = async (url, options) => {
    const response = await fetch(url, options);
    bodies.push(await response.clone().text());
    return response;
  };
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  return new App({
    appId: github.app.id,
    privateKey: testKeys().pkcs1,
    log: silent,
    Octokit: Octokit.defaults({
      baseUrl: github.url,
      request: { fetch: recorded },
      log: silent,
      retry: { enabled: false },
      throttle: { enabled: false },
    }),
  });
}

test("Octokit lists every delivery over pages and sees the ids to the last digit", async (t) => {
  const github = await startGitHub();
  t.after(github.close);
  const made = [];
  for (let n = 0; n < 230; n += 1)
    made.push(github.deliver({ event: "push", code: 503, at: github.now - n * 60_000 }).id);
  const bodies = [];
  const { octokit } = octokitOf(github, bodies);
  const listed = await octokit.paginate("GET /app/hook/deliveries", { per_page: 100, status: "failure" });
  assert.deepEqual(bodies.flatMap(rawIds), made);
  // Octokit 5 reads an integer beyond 2^53 as a BigInt.
  assert.deepEqual(
    listed.map(({ id }) => String(id)),
    made,
  );
});

test("Octokit redelivers with its own authentication", async (t) => {
  const github = await startGitHub();
  t.after(github.close);
  const { guid, id } = github.deliver({ event: "push", code: 503 });
  const bodies = [];
  const { octokit } = octokitOf(github, bodies);
  // As text: its types say number, which would be another id.
  const asked = await octokit.rest.apps.redeliverWebhookDelivery({ delivery_id: /** @type {any} */ (id) });
  assert.equal(asked.status, 202);
  github.now += 5_000;
  assert.deepEqual(
    github.attempts(guid).map(({ code }) => code),
    [503, 200],
  );
  bodies.length = 0;
  const listed = await octokit.paginate("GET /app/hook/deliveries", { per_page: 100 });
  const ids = github.attempts(guid).map((attempt) => attempt.id);
  assert.deepEqual(bodies.flatMap(rawIds), ids.toReversed());
  assert.deepEqual(
    listed.map((one) => [String(one.id), one.guid, one.redelivery, one.status_code]),
    [
      [ids[1], guid, true, 200],
      [id, guid, false, 503],
    ],
  );
  assert.equal((await octokit.rest.apps.getAuthenticated()).data?.slug, "example-app");
  assert.equal((await octokit.rest.apps.getWebhookConfigForApp()).data.content_type, "json");
});

test("Octokit lists the failures by the very ids that the Worker asks with, and then the attempts that came of it", async (t) => {
  const scene = await openScene(t);
  const { github } = scene;
  const failed = ["07:40", "07:45", "07:50"].map((clock) => scene.fails(clock));
  scene.delivers("07:55");
  const bodies = [];
  const { octokit } = octokitOf(github, bodies);
  const ids = async (status) => {
    bodies.length = 0;
    await octokit.paginate("GET /app/hook/deliveries", { per_page: 100, status });
    return bodies.flatMap(rawIds);
  };
  const [failures, before] = [await ids("failure"), await ids()];
  const { requests, asked } = await scene.tickAt("08:00");
  assert.deepEqual(new Set(asked), new Set(failed));
  const askedFor = requests.map(({ path }) => ASK.exec(path)?.[1]).filter(Boolean);
  assert.deepEqual(askedFor.toSorted(), failures.toSorted());
  scene.now = at("08:05");
  const after = await ids();
  const redelivered = failed.map((guid) => github.attempts(guid)[1].id);
  assert.deepEqual(after.filter((id) => !before.includes(id)).toSorted(), redelivered.toSorted());
});

test("Octokit finds the installation, gets a token and keeps an issue", async (t) => {
  const github = await startGitHub({ repositories: [{ fullName: "octo/control" }] });
  t.after(github.close);
  const app = octokitOf(github);
  const { data: installation } = await app.octokit.rest.apps.getRepoInstallation(REPO);
  const octokit = await app.getInstallationOctokit(installation.id);
  const { data: made } = await octokit.rest.issues.create({ ...REPO, title: "Alarm", body: "text", labels: ["alarm"] });
  const { data: open } = await octokit.rest.issues.listForRepo({ ...REPO, state: "open", creator: "example-app[bot]" });
  assert.deepEqual(
    open.map(({ number }) => number),
    [made.number],
  );
  await octokit.rest.issues.createComment({ ...REPO, issue_number: made.number, body: "over" });
  const closed = await octokit.rest.issues.update({
    ...REPO,
    issue_number: made.number,
    state: "closed",
    state_reason: "completed",
  });
  assert.equal(closed.data.state, "closed");
  assert.equal((await octokit.rest.issues.get({ ...REPO, issue_number: made.number })).data.comments, 1);
  github.repository("octo/control").issuesEnabled = false;
  await assert.rejects(octokit.rest.issues.create({ ...REPO, title: "again" }), { status: 410 });
});

test("Octokit is told that a delivery is unknown, and that its key is wrong", async (t) => {
  const github = await startGitHub();
  t.after(github.close);
  const { octokit } = octokitOf(github);
  await assert.rejects(octokit.rest.apps.redeliverWebhookDelivery({ delivery_id: 1 }), { status: 404 });
  await assert.rejects(octokitOf({ ...github, app: { id: 7 } }).octokit.rest.apps.getAuthenticated(), { status: 404 });
});

test("grammY sends, edits and deletes, and reads the same errors", async (t) => {
  const telegram = await startTelegram();
  t.after(telegram.close);
  const api = new Api(telegram.token, { apiRoot: telegram.url });
  const chat = -1001234567890;
  const reply_markup = { inline_keyboard: [[{ text: "Open", url: "https://github.com/settings/apps/x/advanced" }]] };
  const sent = await api.sendMessage(chat, "<b>Alarm</b> &amp; more", { parse_mode: "HTML", reply_markup });
  assert.deepEqual([sent.text, sent.entities], ["Alarm & more", [{ type: "bold", offset: 0, length: 5 }]]);
  await api.editMessageText(chat, sent.message_id, "over", { parse_mode: "HTML" });
  assert.equal(telegram.messages(chat)[0].text, "over");
  assert.equal((await api.getMe()).is_bot, true);
  assert.equal((await api.getChat(chat)).id, chat);
  telegram.personWrites(chat, { text: "hello" });
  const [update] = await api.getUpdates();
  assert.deepEqual([update.message?.chat.id, update.message?.text], [chat, "hello"]);

  const failing = async (/** @type {Promise<any>} */ call) => {
    const error = await call.then(
      () => undefined,
      (reason) => reason,
    );
    assert.ok(error instanceof GrammyError, String(error));
    return error;
  };
  assert.match(
    (await failing(api.editMessageText(chat, sent.message_id, "over"))).description,
    /message is not modified/,
  );
  assert.match(
    (await failing(api.sendMessage(chat, "<b>x", { parse_mode: "HTML" }))).description,
    /can't parse entities/,
  );
  assert.equal((await failing(api.sendMessage(1, "x"))).description, "Bad Request: chat not found");
  telegram.flood(7);
  const flooded = await failing(api.sendMessage(chat, "x"));
  assert.deepEqual([flooded.error_code, flooded.parameters.retry_after], [429, 7]);
  await api.deleteMessage(chat, sent.message_id);
  assert.deepEqual(telegram.messages(chat), []);
  assert.equal((await failing(new Api("1:wrong", { apiRoot: telegram.url }).getMe())).error_code, 401);
});
