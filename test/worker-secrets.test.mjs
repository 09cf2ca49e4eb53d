// No secret in anything that anybody can read, whatever GitHub and Telegram answer (specification, section 12). Every scene looks for
// them at its end (test/worker/secrets.mjs), and refusals that repeat what they were told are in test/worker-faults.test.mjs.
// Here is what the others do not have: answers full of what is no business of the Worker, every page, and proof that it is seen.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { builtWith } from "./worker/built.mjs";
import { CHAT, openScene } from "./worker/scene.mjs";
import { assertNoSecret, CANARY, everythingWritten, secretsIn } from "./worker/secrets.mjs";
import { ago, BASIC, BEARER, givesUp, openDoor, statusOf } from "./worker/visitor.mjs";

const READ = ["/", "/status.json", "/metrics", "/healthz", "/plan", "/plan.json", "/nothing"];

/** As payloads, secrets of a webhook and texts for people are, in the answers of both. */
const PRIVATE = {
  payload: { token: CANARY },
  request: { headers: { authorization: CANARY, "X-Hub-Signature-256": CANARY }, payload: { secret: CANARY } },
  response: { headers: { "set-cookie": CANARY }, payload: CANARY },
  config: { secret: CANARY, url: `https://${CANARY}.example/webhook` },
  pem: CANARY,
  client_secret: CANARY,
  webhook_secret: CANARY,
  description: CANARY,
  external_url: `https://${CANARY}.example/`,
};

/** The same answer with all of that in each of its objects, and in its headers. */
function full({ headers, body, ...answer }) {
  const filled = (value) => {
    if (Array.isArray(value)) return value.map(filled);
    if (value === null || typeof value !== "object") return value;
    const parts = Object.entries(value).map(([name, part]) => [name, filled(part)]);
    const known = Object.fromEntries(parts);
    // What stands beside a code is for people.
    const text = "status_code" in known ? { status: `Invalid HTTP Response: ${CANARY}` } : {};
    const chat = "chat" in known ? { chat: { ...known.chat, title: CANARY } } : {};
    return { ...PRIVATE, ...known, ...text, ...chat };
  };
  return {
    ...answer,
    headers: { ...headers, "set-cookie": `session=${CANARY}`, "x-debug": CANARY },
    body: filled(body),
  };
}

/** Everything that either of them answers from now on. */
const bothFakes = ({ github, telegram }, fault) =>
  [github, telegram].map((fake) => fake.fault(() => true, fault, Number.MAX_SAFE_INTEGER));

/** A scene with every secret that there is, in which all answers are full of what nobody may repeat. */
async function stage(t) {
  const scene = await openDoor(t, { settings: { MAX_ATTEMPTS: "2" } });
  scene.bindings.HEARTBEAT_URL = `${scene.github.url}/heartbeat/of-a-dead-mans-switch`;
  await scene.worker.restart({ bindings: scene.bindings });
  const armed = bothFakes(scene, full);
  return { scene, armed };
}

/** Looks at all that there is to see, as whoever has the token, as a stranger, and as somebody who guesses. */
async function looksAround(scene) {
  const { login_path: login } = await statusOf(scene);
  for (const headers of [BEARER, BASIC, {}, { authorization: "Bearer a-guess-of-a-stranger" }]) {
    for (const path of [...READ, login]) {
      for (const method of ["GET", "HEAD"]) await scene.worker.fetch(path, { method, headers });
      await scene.worker.fetch(path, { headers: { ...headers, accept: "text/html" } });
    }
    for (const path of [
      "/sweep",
      "/forget?guid=x",
      `/recover?since=${new Date(ago(30)).toISOString()}`,
      "/recover?since=x",
    ]) {
      await scene.post(path, headers);
    }
  }
}

describe("secrets", { concurrency: 2 }, () => {
  test("payloads, headers and texts for people go nowhere: not into a line, the state, the alarm or a page", async (t) => {
    const { scene, armed } = await stage(t);
    const guid = await givesUp(scene);
    scene.fails(ago(5));
    await looksAround(scene);
    assert.ok(scene.messages()[0].text.includes(guid) && scene.openIssue().body.includes(guid));
    assert.ok(scene.answers.length > 60);
    for (const fault of armed) fault.stop();
    // And whatever it sent comes back in the words of a refusal.
    bothFakes(scene, {
      status: 403,
      body: ({ headers, url, text }) => ({
        ok: false,
        description: `${headers.authorization} ${url} ${text}`,
        message: url,
      }),
    });
    const tick = await scene.tickAt(Date.now() + 60_000);
    assert.equal(tick.sweep.failure, "auth");
    await looksAround(scene);
    assertNoSecret(await everythingWritten(scene), scene.bindings);
  });

  test("a secret is seen wherever it stands, in whatever form", async (t) => {
    const { scene } = await stage(t);
    await givesUp(scene);
    await looksAround(scene);
    const { worker, bindings } = scene;
    const [message] = scene.messages();
    const issue = scene.openIssue();
    const state = await worker.state();
    const places = {
      "a line": (text) => worker.lines.push(`{"error":"${text}"}`),
      "the stored state": (text) => {
        worker.state = async () => ({ ...state, state: state.state + text });
      },
      "a message": (text) => Object.assign(message, { text }),
      "an issue": (text) => issue.comments.push({ body: text }),
      "a request": (text) =>
        scene.github.server.requests.push({
          ...scene.github.requests[0],
          path: `/app/${text}`,
          query: {},
          isPlanted: true,
        }),
      "the answer": (text) => scene.answers.push([`the answer of /`, text]),
    };
    const secrets = [
      ...secretsIn(bindings),
      "eyJhbGciOiJSUzI1NiJ9.e30.x",
      "ghs_1234567_abc",
      "Bearer abcdefgh",
      CANARY,
    ];
    for (const name of ["TELEGRAM_BOT_TOKEN", "ADMIN_TOKEN", "HEARTBEAT_URL"])
      assert.ok(secrets.includes(bindings[name]), name);
    const keyLine = bindings.GITHUB_APP_PRIVATE_KEY.split("\n")[3];
    assert.ok(secrets.includes(keyLine));
    // And that of one of several Apps.
    const ofEach = Object.fromEntries(Object.entries(bindings).map(([name, value]) => [`${name}_7654321`, value]));
    assert.ok([bindings.TELEGRAM_BOT_TOKEN, keyLine].every((secret) => secretsIn(ofEach).includes(secret)));
    const clean = await everythingWritten(scene);
    assertNoSecret(clean, bindings);
    for (const secret of secrets)
      assert.throws(() => assertNoSecret([...clean, ["a line", `x${secret}y`]], bindings), secret);
    for (const [place, plant] of Object.entries(places)) {
      const kept = [worker.lines.length, { ...message }, issue.comments.length, scene.answers.length];
      plant(bindings.TELEGRAM_BOT_TOKEN);
      const written = await everythingWritten(scene);
      assert.throws(() => assertNoSecret(written, bindings), new RegExp(`a secret in ${place}`));
      worker.lines.length = kept[0];
      Object.assign(message, kept[1]);
      issue.comments.length = kept[2];
      scene.answers.length = kept[3];
      const { requests } = scene.github.server;
      if (requests.at(-1).isPlanted) requests.pop();
      delete worker.state;
    }
    assertNoSecret(await everythingWritten(scene), bindings);
  });

  test("a Worker that says where a call failed does not get past the end of its scene", async () => {
    const ended = [];
    const test = { after: (end) => ended.unshift(end) };
    const buildDir = builtWith(
      test,
      `const fetched = globalThis.fetch;
       globalThis.fetch = (url, init) => fetched(url, init).catch((error) => { console.error(error + " " + url); throw error; });`,
    );
    const scene = await openScene(test, { settings: { MAX_ATTEMPTS: "2", TELEGRAM_CHAT_ID: String(CHAT) }, buildDir });
    scene.github.endpoint = () => 500;
    scene.telegram.fault(() => true, "reset", 9);
    await scene.tickAt("08:00");
    scene.fails("08:05");
    await scene.ticks("08:15", "08:30");
    const [close, ...others] = ended;
    await assert.rejects(close, /a secret in a line: .*\/bot7000000001:/s);
    for (const end of others) end();
  });
});
