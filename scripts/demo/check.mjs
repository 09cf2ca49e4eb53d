// Whether what the day told is true, by what the fakes hold in the end. Returns what is not, in sentences.

import { passed } from "./failures.mjs";
import { chat, controlRepository } from "./story.mjs";

const maxAttempts = 3;

export function check({ ticks, failures, world, poison }) {
  const { github, telegram } = world;
  const problems = [...failures.problems];
  const expect = (holds, sentence) => {
    if (!holds) problems.push(sentence);
  };

  for (const { scheduled, outcome, sweep, requests } of ticks) {
    expect(outcome === "ok" && sweep.failure === null, `${scheduled}: the sweep failed (${sweep.failure ?? outcome})`);
    expect(sweep.calls === requests, `${scheduled}: the Worker counts ${sweep.calls} calls, ${requests} arrived`);
    expect(requests <= sweep.call_limit, `${scheduled}: ${requests} calls of ${sweep.call_limit}`);
  }

  for (const { first } of failures.open) problems.push(`${first.event} ${first.guid} was neither delivered nor told`);
  for (const [guid, { first, fate, asks }] of failures.all) {
    const attempts = github.attempts(guid);
    const delivered = attempts.some(({ code }) => passed(code));
    expect(
      delivered === (fate === "recovered"),
      `${first.event} ${guid} is said to be ${fate}, and delivered is ${delivered}`,
    );
    expect(1 + asks <= maxAttempts, `${first.event} ${guid} was asked for ${asks} times`);
  }
  for (const { guid } of github.asks)
    expect(failures.all.has(guid), `${guid} was asked for although it had not failed`);

  // The story itself: a demo that shows nothing of it must not pass.
  const event = failures.all.get(poison);
  expect(
    event?.wasInAlarm && event.fate === "recovered",
    "the event that breaks the handler was to give up, then be delivered by a click",
  );
  expect(failures.with("superseded").length >= 2, "two events were to be overtaken");
  expect(
    ticks.some(({ sweep }) => sweep.gaps > 0) && ticks.at(-1).sweep.gaps === 0,
    "a gap was to be left, and read to its end",
  );
  expect(ticks.at(-1).sweep.alarm_entries === 0, "the alarm was to end");

  const { messages, sounds } = telegram.chat(chat.id);
  expect(
    messages.length === 1 && sounds === 1,
    `one message with one sound was to be sent, not ${messages.length} with ${sounds}`,
  );
  const states = github.issues(controlRepository).map(({ state }) => state);
  expect(states.join() === "closed", `one issue was to be opened and closed, not: ${states.join() || "none"}`);
  problems.push(...github.takeViolations().map((violation) => `against GitHub's description: ${violation}`));
  return problems;
}
