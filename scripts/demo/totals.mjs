// The end of the day: the numbers, whether they hold, and what to do next.

import { clock, count } from "./teller.mjs";
import { columns, paint, print, wrap } from "./terminal.mjs";

export function tellTotals({ ticks, failures, problems, deliveries }) {
  const recovered = failures.with("recovered");
  const byClick = recovered.filter(({ wasInAlarm }) => wasInAlarm).length;
  const superseded = failures.with("superseded").length;
  const events = ticks.reduce((sum, { told }) => sum + told.fresh, 0);
  const asks = ticks.reduce((sum, { redeliveries }) => sum + redeliveries.length, 0);
  const busiest = ticks.reduce((most, tick) => (tick.requests > most.requests ? tick : most));
  const rows = [
    ["sweeps", ticks.length, ""],
    ["deliveries", deliveries, `of ${count(events, "event")}`],
    ["failed", failures.all.size, "events, at their first delivery"],
    ["recovered", recovered.length - byClick, `by ${count(asks, "redelivery", "redeliveries")}`],
    ["superseded", superseded, "a newer one of their kind passed, so they were left alone"],
    ["gave up", byClick + failures.with("gaveUp").length, "told in Telegram and on GitHub, delivered by a click since"],
    ["busiest sweep", busiest.requests, `of ${busiest.sweep.call_limit} calls, at ${clock(busiest.now)}`],
  ];
  print();
  print(paint("bold", `── The day in numbers ${"─".repeat(columns - 22)}`));
  for (const [name, number, what] of rows) {
    print(`${name.padEnd(14)}${number.toLocaleString("en-US").padStart(6)}  ${paint("dim", what)}`.trimEnd());
  }
  print();
  if (problems.length === 0) {
    const sentence = `Checked: each of the ${failures.all.size} events that failed was delivered, overtaken or told. None was forgotten.`;
    return print(wrap([{ text: `✓ ${sentence}`, style: "green" }], columns));
  }
  print(paint("red", `✗ This day was not as it was told (${count(problems.length, "problem")}):`));
  for (const problem of problems) print(wrap(`- ${problem}`, columns));
}

export function tellNext() {
  const steps = [
    [
      "npm start -- --input deliveries.json",
      "what a sweep would decide about your own App (README.md says how to get the file)",
    ],
    ["npx wrangler login", "your Cloudflare account; the Free plan will do"],
    [
      "npm run setup",
      "asks for the App's id and key, a Telegram bot and a repository, checks each answer, and deploys: from then on it sweeps every 15 minutes",
    ],
    ["npm run doctor", "the same checks as a table, at any time"],
  ];
  print();
  print(paint("bold", `── Next: run it for real ${"─".repeat(columns - 25)}`));
  for (const [command, why] of steps) {
    print(paint("cyan", command), 2);
    print(wrap([{ text: why, style: "dim" }], columns - 6), 6);
  }
  print();
  print("README.md has every step and setting.");
}
