// A short night of one App, played to the built Worker in virtual time: what it then wrote into the chat and into the
// control repository. The texts are the Worker's own; only the events are made up here.

import { startGitHub, testKeys } from "../../test/fakes/github.mjs";
import { startTelegram } from "../../test/fakes/telegram.mjs";
import { startWorker } from "../../test/harness.mjs";

// All of it is fixed, guids too: the same Worker gives the same picture.
const chat = { id: 4_102_233, type: "private", title: "Mona" };
const controlRepo = "octo-org/alarms";
const app = { slug: "deploy-bot", name: "Deploy Bot", owner: { login: "octo-org", type: "Organization" } };
const night = (clock) => Date.parse(`2026-11-03T${clock}:00Z`);

// `codes` are the endpoint's answers, one for each attempt. GitHub refuses to redeliver where `refusal` is set. All fall
// due in the same sweep, so that the alarm comes as one message.
const events = [
  {
    at: night("02:07"),
    guid: "5d0c7a3e-b85f-11f1-9c41-6ad1f0e2b793",
    event: "workflow_run",
    action: "completed",
    repositoryId: 479_544_328,
    codes: [500, 503, 504],
  },
  {
    at: night("02:11"),
    guid: "ec1b94d0-b85f-11f1-8e27-3f60c9a5d418",
    event: "issue_comment",
    action: "created",
    repositoryId: 479_544_328,
    codes: [500, 502, 500],
  },
  {
    at: night("02:38"),
    guid: "b2f86e15-b863-11f1-a0d9-c47b25e83f06",
    event: "pull_request",
    action: "opened",
    repositoryId: 512_870_946,
    codes: [500],
    refusal: 404,
  },
];
const sweeps = ["02:00", "02:15", "02:30", "02:45"].map(night);

/** Plays it. Returns the `message` of the chat with its `bot`, and the `issue`, both with the fake's own fields. */
export async function playHistory() {
  const now = sweeps[0] - 60_000;
  const [github, telegram] = await Promise.all([
    startGitHub({ now, app, repositories: [{ fullName: controlRepo }] }),
    startTelegram({ now, chats: [chat] }),
  ]);
  let worker;
  try {
    const known = (guid) => events.find((event) => event.guid === guid);
    github.endpoint = ({ guid, attemptNumber }) => known(guid).codes[attemptNumber - 1];
    github.onAsk = ({ guid }) => known(guid).refusal && { status: known(guid).refusal };
    for (const { codes, refusal, ...delivery } of events) github.deliver(delivery);
    worker = await startWorker({
      bindings: {
        GITHUB_APP_ID: String(github.app.id),
        GITHUB_APP_PRIVATE_KEY: testKeys().pkcs1,
        GITHUB_API_URL: github.url,
        TELEGRAM_API_URL: telegram.url,
        TELEGRAM_BOT_TOKEN: telegram.token,
        TELEGRAM_CHAT_ID: String(chat.id),
        CONTROL_REPO: controlRepo,
      },
    });
    for (const time of sweeps) {
      github.now = time;
      telegram.now = time;
      const { outcome, lines } = await worker.tick(time);
      if (outcome !== "ok") throw new Error(`the sweep ended with ${outcome}:\n${lines.join("\n")}`);
    }
    return {
      message: only(telegram.messages(chat.id), "message"),
      bot: await me(telegram),
      issue: only(github.openIssues(controlRepo), "open issue"),
    };
  } finally {
    await worker?.stop();
    await telegram.close();
    await github.close();
  }
}

function only(all, what) {
  if (all.length !== 1) throw new Error(`expected one ${what}, found ${all.length}`);
  return all[0];
}

/** The bot as Telegram knows it: a chat shows its name, not the App's. */
async function me({ url, token }) {
  const response = await fetch(`${url}/bot${token}/getMe`, { method: "POST" });
  const { result } = await response.json();
  return result;
}
