// What nobody may read, and everything that anybody can: the one place that looks for secrets, which every scene runs at its end.

import assert from "node:assert/strict";

/** Credentials that the Worker makes or is given while it runs: a JWT, and a token of an installation. */
const MADE = [/eyJ[\w-]{8,}/, /gh[a-z]_[\w.-]+/, /bearer [\w.-]{8,}/i];

/** In whatever GitHub and Telegram send that is of no use to the Worker: payloads, and the like of them. */
export const CANARY = "canary-1f0e5d";

/** Shorter ones than this are found in any text. */
const LEAST = 12;

const SECRETS = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN", "HEARTBEAT_URL", "ADMIN_TOKEN"];

/** A setting, and that of each of several Apps. */
function valuesOf(settings, name) {
  const own = Object.entries(settings).filter(([key]) => key === name || key.startsWith(`${name}_`));
  return own.map(([, value]) => String(value ?? ""));
}

/** The secrets of the settings as they are, in their parts, and as a URL, JSON or a header would have them. */
export function secretsIn(settings) {
  const [keys, bots, heartbeats, tokens] = SECRETS.map((name) => valuesOf(settings, name));
  const whole = [...bots, ...heartbeats, ...tokens.flatMap((token) => [token, `admin:${token}`])].filter(
    (text) => text.length >= LEAST,
  );
  const parts = [
    ...keys.flatMap((key) => key.split(/\s+|\\n/).filter((line) => line.length > 20)),
    ...bots.flatMap((bot) => bot.split(":").slice(1)),
    ...heartbeats.map(pathOf),
  ];
  const encodings = whole.flatMap((text) => [
    encodeURIComponent(text),
    Buffer.from(text).toString("base64").replace(/=+$/, ""),
    Buffer.from(text).toString("base64url"),
    Buffer.from(text).toString("hex"),
    JSON.stringify(text).slice(1, -1),
  ]);
  const all = [...whole, ...parts, ...encodings, CANARY].filter((text) => text.length >= LEAST);
  return [...new Set(all)];
}

/** Throws if any of `texts`, or pairs of a place and a text, holds a secret of the settings or a credential. */
export function assertNoSecret(texts, settings) {
  const given = secretsIn(settings);
  for (const one of texts) {
    const [place, text] = Array.isArray(one) ? one : ["what was written", one];
    const found = given.find((secret) => text.includes(secret)) ?? MADE.find((form) => form.test(text));
    assert.equal(found, undefined, `a secret in ${place}: ${text.slice(0, 600)}`);
  }
}

/**
 * Everything that a scene's Worker wrote or said, as pairs of a place and a text: its lines, what it stores, what stands in any
 * chat and any repository, what it sent there whether or not it was taken, and each answer of its HTTP side. To GitHub alone
 * it has to show who it is. `apps`: the fakes of several Apps by their ids, in place of one `github`.
 */
export async function everythingWritten({ worker, telegram, github, apps, answers }) {
  const fakes = apps ? Object.values(apps) : [github];
  const objects = [undefined, "no App", ...Object.keys(apps ?? {})];
  const stored = objects.map((object) => worker.state(undefined, object).catch(() => ({})));
  const values = (await Promise.all(stored)).flatMap((values) => Object.entries(values));
  const messages = telegram.chats().flatMap(({ messages }) => messages);
  const issues = fakes[0].repositories.all.flatMap(({ fullName }) => fakes[0].issues(fullName));
  const heartbeats = worker.settings.flatMap((settings) => valuesOf(settings, "HEARTBEAT_URL").map(pathOf));
  const said = ({ path, query, body, headers }, signsIn) => {
    const isHeartbeat = heartbeats.includes(path);
    return JSON.stringify([isHeartbeat ? "" : path, query, body, signsIn && !isHeartbeat ? "" : headers]);
  };
  const sent = [
    ...fakes.flatMap(({ requests }) => requests).map((request) => said(request, true)),
    ...telegram.requests.map((request) => said(request, false)),
  ].map((text) => ["a request", text]);
  return [
    ...worker.lines.map((line) => ["a line", line]),
    ...values.map(([key, value]) => [`the stored ${key}`, String(value)]),
    ...messages.map(({ text, html, reply_markup }) => ["a message", JSON.stringify([text, html, reply_markup])]),
    ...issues.map(({ title, body, comments }) => ["an issue", JSON.stringify([title, body, comments])]),
    ...sent,
    ...answers,
  ];
}

/** The path of an address, which may be what makes it a secret. */
const pathOf = (url) => (URL.canParse(url) ? new URL(url).pathname : "");

/** Has each answer of the HTTP side kept, headers and body, for `everythingWritten`. */
export function keepAnswers(worker) {
  const answers = [];
  const { fetch } = worker;
  worker.fetch = async (path, init) => {
    const answer = await fetch.call(worker, path, init);
    // To its end, before a test may end the Worker.
    const text = await answer.clone().text();
    answers.push([`the answer of ${path}`, `${answer.status} ${JSON.stringify([...answer.headers])} ${text}`]);
    return answer;
  };
  return answers;
}
