// What a long run meets, all of it from one seed: traffic, an endpoint with bad hours and bad days, and calls that go wrong.

import { randomNumbers } from "../../scripts/demo/story.mjs";
import { FAULTS } from "./faults.mjs";
import { isList } from "./scene.mjs";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** Kinds that a newer event overtakes, and kinds that always come again. */
const KINDS = ["workflow_run", "issues", "pull_request", "release", "issue_comment", "push"];
/** What GitHub lists of an endpoint that gives no answer. */
const DOWN = [0, 502, 504, 521, 530];
/** Deliveries between two ticks, at most. */
const BUSIEST = 24;

/** Choices by chance, the same for the same seed. */
function choices(seed) {
  const next = randomNumbers(seed);
  return {
    /** From `least` up to `most`, both whole. */
    whole: (least, most) => least + Math.floor(next() * (most - least + 1)),
    chance: (share) => next() < share,
    of: (list) => list[Math.floor(next() * list.length)],
  };
}

/**
 * The weather over a scene: sets the fake GitHub's endpoint and what becomes of asks.
 *
 * - `blow(from, to)`: what is delivered in that time, and what goes wrong with the calls of the tick at its end. Returns the guids.
 * - `calm()`: from now on nothing goes wrong.
 * - `pause()`: how long the next tick stays away, beyond its quarter of an hour.
 */
export function weather(scene, seed) {
  const random = choices(seed);
  const { github } = scene;
  const bad = { until: 0, next: github.now + random.whole(6, 30) * HOUR, code: () => 200 };
  const armed = [];
  let isCalm = false;

  /** Every day or two the endpoint is down, or refuses, for a while. */
  function outlook(at) {
    if (at >= bad.next) {
      bad.until = at + random.whole(20, 8 * 60) * MINUTE;
      bad.next = bad.until + random.whole(12, 48) * HOUR;
      const refuses = random.chance(0.2);
      bad.code = () => (refuses ? 401 : random.of(DOWN));
    }
    return at < bad.until ? bad.code() : undefined;
  }

  github.endpoint = ({ at, attemptNumber, guid }) => {
    if (isCalm) return 200;
    const broken = Number.parseInt(guid.slice(0, 8), 16) % 997 < 4;
    if (broken) return 500;
    const code = outlook(at);
    if (code !== undefined) return code;
    if (random.chance(attemptNumber === 1 ? 0.04 : 0.2)) return random.of([500, 500, 503, 502, 0]);
    return random.chance(0.01) ? 422 : 200;
  };
  github.onAsk = () => {
    if (isCalm || random.chance(0.9)) return undefined;
    return random.of([
      { lose: true },
      { delayMs: 7 * MINUTE },
      { status: 404 },
      { status: 422 },
      { delayMs: 20 * MINUTE },
    ]);
  };

  function goWrong() {
    for (const fault of armed.splice(0)) fault.stop();
    // A list of several pages, now and then.
    github.pageLimit = random.chance(0.2) ? random.whole(5, 40) : undefined;
    if (!random.chance(0.12)) return;
    const fake = random.chance(0.7) ? github : scene.telegram;
    const { fault } = random.of(FAULTS);
    let passes = random.whole(0, 4);
    const match = random.chance(0.5) ? () => passes-- <= 0 : (request) => !isList(request) && passes-- <= 0;
    armed.push(fake.fault(match, fault, random.whole(1, 3)));
  }

  return {
    blow(from, to) {
      goWrong();
      return Array.from({ length: random.whole(0, BUSIEST) }, () => {
        const [at, repositoryId] = [
          from + random.whole(1, to - from - 1),
          random.chance(0.03) ? null : random.whole(1, 9),
        ];
        return scene.delivers(at, { code: undefined, event: random.of(KINDS), action: "created", repositoryId });
      });
    },
    calm() {
      isCalm = true;
      github.pageLimit = undefined;
      for (const fault of armed.splice(0)) fault.stop();
    },
    pause: () => (random.chance(0.1 / (DAY / (15 * MINUTE))) ? random.whole(1, 6) * HOUR : 0),
  };
}
