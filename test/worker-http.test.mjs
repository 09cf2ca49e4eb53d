// The HTTP side is closed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openScene } from "./worker/scene.mjs";

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
