// `npm start`: a day of a GitHub App. Plays the story against the Worker and tells each sweep; then checks that what it
// said is true.

import { showChange, Watcher } from "./alarm.mjs";
import { check } from "./check.mjs";
import { Failures } from "./failures.mjs";
import { app, at, chapters, chat, controlRepository, stage } from "./story.mjs";
import { isQuiet, tellChapter, tellQuiet, tellSweep } from "./teller.mjs";
import { columns, paint, pause, print, wrap } from "./terminal.mjs";
import { tellNext, tellTotals } from "./totals.mjs";

const QUARTER = 15 * 60_000;
const sweepsADay = 96;
// What makes about twenty seconds of a day that takes five.
const pauses = { chapter: 700, sweep: 380, alarm: 1100 };

/** Plays the day; the number of the exit code. */
export async function playDay() {
  introduce();
  // Loaded after the first words, since it takes a second.
  const { inWorld } = await import("./world.mjs");
  const now = at("-4:00");
  const parts = {
    github: { now, app, repositories: [{ fullName: controlRepository }] },
    telegram: { now, chats: [chat] },
    settings: ({ telegram }) => ({
      TELEGRAM_BOT_TOKEN: telegram.token,
      TELEGRAM_CHAT_ID: String(chat.id),
      CONTROL_REPO: controlRepository,
    }),
  };
  return inWorld(parts, async (world) => {
    const { poison } = stage(world.github);
    const failures = new Failures(world.github);
    const ticks = await play(world, failures);
    const problems = check({ ticks, failures, world, poison });
    tellTotals({ ticks, failures, problems, deliveries: failures.deliveries });
    if (problems.length === 0) tellNext();
    return problems.length === 0 ? 0 : 1;
  });
}

function introduce() {
  print();
  print(paint("bold", `A day of the GitHub App ${app.name}: Monday, 2 November 2026 (times in UTC)`));
  print();
  print(
    wrap(
      "You see the real Worker, as it was just built, sweep every 15 minutes over an embedded GitHub and Telegram: what each sweep " +
        "read, what it asked GitHub to redeliver, why not the rest, and the alarm as a person gets it.",
      columns,
    ),
  );
}

async function play(world, failures) {
  const watcher = new Watcher({ ...world, chat: chat.id, repository: controlRepository });
  const upcoming = [...chapters];
  const ticks = [];
  let quiet = [];
  const flush = () => {
    tellQuiet(quiet);
    quiet = [];
  };
  for (let number = 0; number < sweepsADay; number += 1) {
    const now = at("00:00") + number * QUARTER;
    const tick = await world.sweep(now);
    if (!tick.sweep) throw new Error(`the sweep of ${new Date(now).toISOString()} said nothing (${tick.outcome})`);
    const told = { ...tick, now, isFirst: number === 0, told: failures.take(tick, now), changes: watcher.changes() };
    ticks.push(told);
    if (upcoming.length > 0 && now >= at(upcoming[0].from)) {
      flush();
      tellChapter(upcoming.shift());
      await pause(pauses.chapter);
    }
    if (number > 0 && isQuiet(told)) {
      quiet.push(told);
      continue;
    }
    flush();
    tellSweep(told);
    await pause(pauses.sweep);
    for (const change of told.changes) {
      showChange(change, { chatTitle: chat.title, repository: controlRepository });
      await pause(pauses.alarm);
    }
  }
  flush();
  return ticks;
}
