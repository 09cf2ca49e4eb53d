// What holds after every sweep, whatever went wrong (specification, section 13), as far as the record of the fake GitHub shows it:
// a scene in which an attempt is hidden from the Worker, by a gap say, may show more than the Worker could know.

import assert from "node:assert/strict";
import { CONTROL_REPO } from "./scene.mjs";

/** Kinds that the scenes use and a newer event overtakes. */
const OVERTAKEN = ["workflow_run", "issues", "pull_request", "release"];

const isPass = ({ code }) => code >= 200 && code < 300;

/**
 * Checks the asks of this sweep and what stands after it. `counts` tells which attempts count: all of them, unless the scene has an
 * outage, which spends none.
 */
export function assertInvariants(scene, { sweep, asked, requests }, counts = () => true) {
  const { github, bindings } = scene;
  const most = Number(bindings.MAX_REDELIVERIES ?? 10);
  assert.ok(asked.length <= most, `${asked.length} asks`);
  assert.equal(new Set(asked).size, asked.length, "an event is asked for once in a sweep");
  assert.ok(requests.length <= sweep.call_limit, `${requests.length} calls`);
  for (const { guid, at } of scene.asks) {
    assert.ok(!passedBy(scene, guid, at), `${guid} was asked for after it had passed`);
    assert.ok(!overtakenBy(scene, guid, at), `${guid} was asked for although a newer one had passed`);
  }
  for (const guid of new Set(scene.asks.map((ask) => ask.guid))) {
    const times = scene.asks.filter((ask) => ask.guid === guid).map(({ at }) => at);
    assert.ok(
      times.every((at, index) => index === 0 || at - times[index - 1] >= 10 * 60_000),
      `${guid} was asked for twice within ten minutes`,
    );
    const counted = github.attempts(guid).filter(counts);
    assert.ok(counted.length <= Number(bindings.MAX_ATTEMPTS ?? 3), `${guid} has too many attempts`);
  }
  const open = github.openIssues(CONTROL_REPO);
  assert.ok(open.length <= 1, `${open.length} issues are open`);
}

/** Whether an attempt of the event had passed by then. */
export function passedBy({ github }, guid, time) {
  return github.attempts(guid).some((attempt) => isPass(attempt) && attempt.at < time);
}

/** Whether a newer event of its kind had passed by then. */
export function overtakenBy(scene, guid, time) {
  const { byGuid } = scene.github.deliveries;
  const [first] = byGuid.get(guid) ?? [];
  if (!first || !OVERTAKEN.includes(first.event) || first.repositoryId === null) return false;
  return [...byGuid].some(([other, [{ event, repositoryId, at }]]) => {
    const isNewer = event === first.event && repositoryId === first.repositoryId && at > first.at;
    return isNewer && passedBy(scene, other, time);
  });
}
