// Settings as people write them, another server's paths, and a tick that comes too late.

import assert from "node:assert/strict";
import { test } from "node:test";
import { gate } from "./worker/gate.mjs";
import { at, openScene } from "./worker/scene.mjs";

test("pages of Enterprise Server, whose API has a path of its own, are followed", async (t) => {
  const scene = await openScene(t, { github: { basePath: "/api/v3" } });
  const failed = scene.fails("07:49");
  for (let i = 0; i < 150; i += 1) scene.delivers(at("07:50") + i * 1000);
  const tick = await scene.tickAt("08:15");
  assert.equal(tick.outcome, "ok");
  assert.equal(tick.sweep.deliveries_list.pages, 2);
  assert.deepEqual(
    scene.github.asks.map(({ guid }) => guid),
    [failed],
  );
});

test("a setting without quotes, a number or a truth value in TOML, is read as it is meant", async (t) => {
  const settings = { DRY_RUN: true, MAX_ATTEMPTS: 3, WINDOW_HOURS: 6, SUBREQUEST_LIMIT: 50 };
  const scene = await openScene(t, { settings });
  scene.fails("07:50");
  const tick = await scene.tickAt("08:15");
  assert.equal(tick.sweep.ending, "dry_run");
  assert.deepEqual(tick.asked, []);
  assert.equal(tick.sweep.watched_since, "2026-11-02T02:15:00.000Z");
});

test("a setting without quotes that is out of range, or is no single value, is named", async (t) => {
  const settings = { WINDOW_HOURS: 99, MAX_ATTEMPTS: 2.5, DRY_RUN: ["true"], IGNORED_EVENTS: { star: true } };
  const scene = await openScene(t, { settings });
  const tick = await scene.tickAt("08:15");
  assert.equal(tick.outcome, "exception");
  assert.equal(tick.calls, 0);
  const [{ error }] = tick.logs.filter(({ message }) => message === "failure");
  for (const name of Object.keys(settings)) assert.match(error, new RegExp(name));
});

test("a tick that comes so late that the next one meets it asks for nothing twice", async (t) => {
  const { url, arrived } = await gate(t);
  const scene = await openScene(t, { settings: { HEARTBEAT_URL: url } });
  const failed = scene.fails("08:05");
  scene.now = at("08:30");
  const late = scene.worker.tick(at("08:15"));
  // It has asked, and goes on only when the next one is over.
  const letOn = await arrived;
  const next = await scene.worker.tick(at("08:30"));
  letOn();
  assert.deepEqual([next.outcome, (await late).outcome], ["ok", "ok"]);
  await scene.worker.flush();
  assert.deepEqual(scene.asksIn(scene.arrived()), [failed]);
  const endings = scene.worker.logs.filter(({ message }) => message === "sweep").map(({ ending }) => ending);
  assert.deepEqual(endings, ["held", "done"]);
  const { HEARTBEAT_URL: _, ...bindings } = scene.bindings;
  await scene.worker.restart({ bindings });
  assert.equal((await scene.tickAt("08:45")).sweep.killed_in_a_row, 0);
});
