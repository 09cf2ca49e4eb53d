// What happens to an App in the quarter of an hour before a sweep: nothing, a usual one, and the busiest.

const MINUTE = 60_000;
const repository = (index) => 479_544_328 + (index % 10);
const EVENTS = ["workflow_run", "check_run", "check_suite", "push"];

/** Deliveries evenly over the 14 minutes before the sweep; of those that `fails(i)` names a code the endpoint took none. */
function traffic(github, count, fails) {
  const from = github.now - 14 * MINUTE;
  for (let i = 0; i < count; i += 1) {
    const at = from + Math.floor((i * 13 * MINUTE) / count);
    const code = fails(i) ?? 200;
    const event = code >= 500 ? "issue_comment" : EVENTS[i % 4];
    github.deliver({ event, action: "completed", repositoryId: repository(i), at, code });
  }
}

/** By name: `what` is it, and what it does to the fake GitHub before sweep n. */
export const scenes = {
  quiet: {
    what: "one page of either list, nothing to do",
    play(github, n) {
      github.deliver({ event: "push", at: github.now - n });
    },
  },
  usual: {
    what: "400 deliveries, one ask",
    play(github) {
      traffic(github, 360, (i) => (i === 180 ? 500 : undefined));
    },
  },
  busiest: {
    what: "1,960 deliveries, a tenth of them refused, ten asks, and one event that gave up, so that the alarm changes",
    play(github) {
      // With what came of the asks before and the event that gave up, as much as 20 pages hold.
      // A tenth is refused, which fills the failures list, and ten need to come again.
      traffic(github, 1_960, (i) => (i % 10 === 3 ? 404 : i % 200 === 7 ? 500 : undefined));
      const poison = github.deliver({ event: "push", at: github.now - 14 * MINUTE, code: 500 });
      github.click(poison.guid, 500);
      github.click(poison.guid, 500);
    },
  },
};
