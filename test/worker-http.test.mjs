// The HTTP side is closed, and what is written holds no secret.

import assert from "node:assert/strict";
import { test } from "node:test";
import { CHAT, CONTROL_REPO, openScene } from "./worker/scene.mjs";
import { assertNoSecret } from "./worker/secrets.mjs";

const PATHS = [
  "/",
  "/sweep",
  "/sweep?at=1793606400000",
  "/status",
  "/healthz",
  "/cdn-cgi/handler/scheduled",
  "/.env",
  "//x",
  "/%00",
  "/a/../b",
];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

test("every path answers 404 to every method, calls nobody and says nothing of what it is", async (t) => {
  const scene = await openScene(t);
  const bodies = new Set();
  for (const path of PATHS) {
    for (const method of METHODS) {
      const body = ["POST", "PUT", "PATCH"].includes(method) ? "x" : undefined;
      const answer = await scene.worker.fetch(path, { method, body, headers: { authorization: "Bearer guess" } });
      assert.equal(answer.status, 404, `${method} ${path}`);
      if (method !== "HEAD") bodies.add(await answer.text());
    }
  }
  assert.equal(bodies.size, 1);
  await scene.worker.flush();
  assert.deepEqual([scene.arrived(), scene.worker.lines], [[], []]);
  assert.deepEqual(await scene.worker.state(), {});
});

test("neither a line nor the state nor the alarm holds a secret, whatever the other sides answer with", async (t) => {
  const scene = await openScene(t, { settings: { MAX_ATTEMPTS: "2" } });
  const { github, telegram, bindings } = scene;
  const secrets = [telegram.token, bindings.GITHUB_APP_PRIVATE_KEY, `Bearer eyJhbGciOiJSUzI1NiJ9.${"x".repeat(40)}`];
  github.endpoint = () => 500;
  await scene.tickAt("08:00");
  scene.fails("08:05");
  // Whoever answers repeats what it was told.
  const message = secrets.join(" ");
  const echo = (status) => ({
    status,
    body: { message, ok: false, error_code: status, description: `Bad Request: ${telegram.token}` },
  });
  const steps = [
    [github, ({ method, path }) => method === "GET" && path === "/app/hook/deliveries", 500],
    [github, { method: "POST", path: /attempts$/ }, 500],
    [github, { path: "/app" }, 500],
    [telegram, {}, 400],
  ];
  let hour = 8;
  for (const [fake, match, status] of steps) {
    fake.fault(match, echo(status), 2);
    scene.fails(`${hour}:20`);
    await scene.ticks(`${hour}:30`, `${hour + 1}:15`);
    hour += 1;
  }
  assert.ok(scene.worker.lines.length > 20);
  assert.ok(scene.messages().length > 0 && github.issues(CONTROL_REPO).length > 0);
  // The check itself is made when the scene closes; here is shown that it finds what it looks for.
  const line = bindings.GITHUB_APP_PRIVATE_KEY.split("\n")[3];
  for (const secret of [telegram.token, line, "eyJhbGciOiJSUzI1NiJ9.e30.x", "ghs_1234567_abc", "Bearer x"]) {
    assert.throws(() => assertNoSecret([`{"error":"${secret}"}`], bindings), secret);
  }
  assertNoSecret([...scene.worker.lines, JSON.stringify(telegram.messages(CHAT))], bindings);
});
