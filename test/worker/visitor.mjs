// Somebody who has the token, at a Worker whose sweeps are of the present: the HTTP side knows no other time.

import assert from "node:assert/strict";
import { openScene } from "./scene.mjs";

export const TOKEN = "a-token-of-a-maintainer-0123456789";
export const BEARER = { authorization: `Bearer ${TOKEN}` };
export const BASIC = basic(`admin:${TOKEN}`);

const MINUTE = 60_000;

/** The header that a browser sends of what a person typed. @param {string} pair  user:password */
export function basic(pair) {
  return { authorization: `Basic ${Buffer.from(pair).toString("base64")}` };
}

/** A scene with the HTTP side open, and the fakes' clocks at the present. */
export async function openDoor(t, { settings = {}, ...more } = {}) {
  const scene = await openScene(t, { settings: { ADMIN_TOKEN: TOKEN, ...settings }, ...more });
  scene.now = Date.now();
  return Object.assign(scene, {
    get: (path, headers = BEARER) => scene.worker.fetch(path, { headers }),
    post: (path, headers = BEARER) => scene.worker.fetch(path, { method: "POST", headers }),
  });
}

/** So many minutes before the present. */
export const ago = (minutes) => Date.now() - minutes * MINUTE;

/** The status as JSON. */
export async function statusOf(scene) {
  const answer = await scene.get("/status.json");
  assert.equal(answer.status, 200);
  return answer.json();
}

/** An event that failed at each of its attempts, and gave up at the last of the ticks. Returns its guid. */
export async function givesUp(scene, more = {}) {
  scene.github.endpoint = () => 500;
  const guid = scene.fails(ago(70), 500, more);
  for (const minutes of [60, 45, 30, 15]) await scene.tickAt(ago(minutes));
  scene.now = Date.now();
  return guid;
}
