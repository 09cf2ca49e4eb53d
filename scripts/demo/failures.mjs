// What became of each event that failed, told from what the fake GitHub and the Worker's log show. It is a second
// opinion: where the Worker counts otherwise, `problems` says so, and the demo fails.

import { repositoryNames } from "./story.mjs";

// The default of SUPERSEDED_EVENTS.
const overtakable = new Set([
  "workflow_run",
  "check_suite",
  "check_run",
  "code_scanning_alert",
  "issues",
  "pull_request",
  "discussion",
  "release",
]);

export const passed = (code) => code >= 200 && code <= 299;
// What GitHub's filter status=failure shows.
const isShownAsFailure = (code) => code >= 400 && code <= 599;

export class Failures {
  /** Every event whose first delivery failed, by guid: `{ first, fate, asks }`, and `newer` or `wasInAlarm`. */
  all = new Map();
  problems = [];
  #github;
  #next = 0;

  constructor(github) {
    this.#github = github;
  }

  /**
   * Takes in one sweep. Returns what a person wants to know of it: events by what became of them, each
   * `{ first, attempts }`, and how many deliveries are new.
   */
  take(tick, now) {
    const fresh = this.#fresh(now);
    const asked = new Set(tick.redeliveries.map(({ guid }) => guid));
    const gaveUp = new Set(tick.gaveUp.map(({ guid }) => guid));
    const told = { fresh: fresh.length, failed: fresh.filter(({ code }) => !passed(code)).length };
    const lists = {
      recovered: [],
      cleared: [],
      superseded: [],
      gaveUp: [],
      asked: [],
      unseen: [],
      forGap: [],
      forTurn: [],
    };
    for (const [guid, failure] of this.all) {
      const list = this.#fate(guid, failure, { asked, gaveUp, sweep: tick.sweep });
      if (list) lists[list].push(this.#shown(failure));
    }
    this.#compare(tick, lists);
    return { ...told, ...lists };
  }

  /** What is still open at the end: neither delivered, nor overtaken, nor in the alarm. */
  get open() {
    return [...this.all.values()].filter(({ fate }) => fate === "open");
  }

  /** Attempts up to now, redeliveries included. */
  get deliveries() {
    return this.#next;
  }

  with(fate) {
    return [...this.all.values()].filter((failure) => failure.fate === fate);
  }

  /** First deliveries since the last sweep. */
  #fresh(now) {
    const { timeline } = this.#github.deliveries;
    const fresh = [];
    for (; this.#next < timeline.length && timeline[this.#next].at <= now; this.#next += 1) {
      const attempt = timeline[this.#next];
      if (attempt.redelivery) continue;
      fresh.push(attempt);
      if (!passed(attempt.code)) this.all.set(attempt.guid, { first: attempt, fate: "open", asks: 0 });
    }
    return fresh;
  }

  #fate(guid, failure, { asked, gaveUp, sweep }) {
    const { first } = failure;
    const unreadUpTo = sweep.gaps > 0 ? Date.parse(sweep.newest_gap) : 0;
    if (failure.fate === "recovered" || failure.fate === "superseded") return undefined;
    if (asked.has(guid)) {
      failure.asks += 1;
      if (failure.fate !== "open") this.problems.push(`${first.event} ${guid} was asked for after it had been settled`);
      if (this.#overtaking(first, unreadUpTo))
        this.problems.push(`${first.event} ${guid} was asked for although it was overtaken`);
      return "asked";
    }
    if (this.#github.attempts(guid).some(({ code }) => passed(code))) {
      failure.wasInAlarm = failure.fate === "gaveUp";
      failure.fate = "recovered";
      return failure.wasInAlarm ? "cleared" : "recovered";
    }
    if (failure.fate === "gaveUp") return undefined;
    if (gaveUp.has(guid)) {
      failure.fate = "gaveUp";
      return "gaveUp";
    }
    if (first.at < unreadUpTo && !isShownAsFailure(first.code)) return "unseen";
    failure.newer = this.#overtaking(first, unreadUpTo);
    if (failure.newer) {
      failure.fate = "superseded";
      return "superseded";
    }
    return first.at < unreadUpTo && overtakable.has(first.event) ? "forGap" : "forTurn";
  }

  /** A newer event of the same kind that passed, and that was read. */
  #overtaking(first, unreadUpTo) {
    if (!overtakable.has(first.event)) return undefined;
    return this.#github.deliveries.timeline.findLast(
      (other) =>
        !other.redelivery &&
        passed(other.code) &&
        other.event === first.event &&
        other.repositoryId === first.repositoryId &&
        other.at > first.at &&
        other.at >= unreadUpTo,
    );
  }

  #shown({ first, newer }) {
    const { guid, event, action, repositoryId } = first;
    const codes = this.#github.attempts(guid).map(({ code }) => code);
    return {
      event: [event, action].filter(Boolean).join(" "),
      repository: repositoryNames.get(repositoryId),
      codes,
      newer,
    };
  }

  #compare({ sweep, scheduled }, lists) {
    const expected = {
      redelivered: lists.asked.length,
      waiting: lists.forGap.length + lists.forTurn.length,
      recovered: lists.recovered.length + lists.cleared.length,
      superseded: lists.superseded.length,
      gave_up: lists.gaveUp.length,
      not_redeliverable: 0,
      refused: 0,
      uncountable: 0,
      left_behind: 0,
    };
    for (const [name, count] of Object.entries(expected)) {
      if (sweep.events[name] !== count) {
        this.problems.push(
          `${scheduled}: the Worker counts ${sweep.events[name]} events as ${name}, the demo ${count}`,
        );
      }
    }
  }
}
