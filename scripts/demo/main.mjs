// The demo: `npm start` plays a day, `npm start -- --input FILE` judges a real listing. Run by scripts/start.mjs once
// everything is built.

import { parseArguments, usage } from "./arguments.mjs";
import { InputError } from "./listing.mjs";
import { print } from "./terminal.mjs";

// A reader that has seen enough, such as `head`, is no fault.
process.stdout.on("error", (error) => {
  if (error.code === "EPIPE") process.exit();
  throw error;
});

try {
  process.exitCode = await run(parseArguments(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  print();
  print(error.message);
  process.exitCode = 2;
}

async function run(options) {
  if (options.help) {
    print(usage);
    return 0;
  }
  if (options.input === undefined) return (await import("./day.mjs")).playDay();
  return (await import("./judge.mjs")).judgeListing(options);
}
