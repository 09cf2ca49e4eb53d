// Ticks of which the process is killed at one of the steps of test/worker/steps.mjs, and which of these are worth it.

import assert from "node:assert/strict";
import { randomNumbers } from "../../scripts/demo/story.mjs";
import { killedOnce } from "./scene.mjs";
import { SIDES } from "./steps.mjs";

/** One of each step, in their order. */
export const stepsOf = (passed) => passed.filter(({ side }) => side === "before");

/** Both sides of these steps, but of two places with nothing in between only the first. */
export function placesIn(passed, isWanted) {
  let underWay = 0;
  return passed.filter((step, index) => {
    const last = passed[index - 1];
    const isSame = step.side === "before" && last?.side === "after" && underWay === 0 && isWanted(last);
    // A call of an object only waits meanwhile.
    if (step.kind !== "object") underWay += step.side === "before" ? 1 : -1;
    return isWanted(step) && !isSame;
  });
}

/**
 * Kills a tick at that place, unless it has fewer steps: then nothing is returned. Else the steps that it came to, after it was
 * checked that these `objects` have stored what they had written by then, and nothing else. `turns` are those of `follow`.
 */
export async function killsTick(scene, time, { place, objects, turns }) {
  const { asked, worker } = scene;
  const stored = async () =>
    Object.fromEntries(await Promise.all(objects.map(async (of) => [of, await worker.state(undefined, of)])));
  const before = await stored();
  const tick = await killedOnce(scene, time, asked.follow(place, turns));
  const passed = asked.end();
  if (tick.outcome !== "killed") return undefined;
  const after = await stored();
  for (const write of passed.filter(({ kind, side }) => kind === "write" && side === "before")) {
    const { of, number, puts, deletes } = write;
    const isDone = passed.some((step) => step.number === number && step.side === "after");
    // Another object's may have been under way when this one was held: it was done, or not.
    const isSeen = write !== passed.at(-1) && Object.entries(puts).every(([key, value]) => after[of][key] === value);
    const values = Object.entries({ ...before[of], ...puts }).filter(([key]) => !deletes.includes(key));
    if (isDone || isSeen) before[of] = Object.fromEntries(values);
  }
  assert.deepEqual(after, before, "what is stored");
  return passed;
}

/**
 * Plays so many pairs of kills. `play` has the pair's number, `place`, which makes a place below a number of steps, and `random`, which
 * makes a number; both are the same each time, unless `SEED` names others.
 */
export async function playsPairs(t, count, play) {
  const seed = Number(process.env.SEED ?? 7);
  const numbers = randomNumbers(seed);
  const random = (below) => Math.floor(numbers() * below);
  for (let pair = 0; pair < count; pair += 1) {
    const places = [];
    const place = (below) => {
      places.push({ number: random(below), side: SIDES[random(2)] });
      return places.at(-1);
    };
    await play({ pair, place, random }).catch((error) => {
      throw new Error(`SEED=${seed}, pair ${pair}, ${JSON.stringify(places)}: ${error.message}`, { cause: error });
    });
  }
  t.diagnostic(`${count} pairs, SEED=${seed}`);
}
