// What stands behind `npm start --`.

import { parseArgs } from "node:util";
import { InputError } from "./listing.mjs";

export const usage = `npm start                         plays a day of a GitHub App
npm start -- --input FILE         shows what a sweep would decide about a listing of your own

  --input FILE         the JSON of GET /app/hook/deliveries, as \`gh api\` prints it
  --now TIME           when the sweep is, such as 2026-11-02T09:15:00Z
                       (otherwise the quarter of an hour after the newest delivery)
  --window-hours N     how far back an event may lie to be asked for again, 1 to 72 (3)`;

const options = {
  input: { type: "string" },
  now: { type: "string" },
  "window-hours": { type: "string" },
  help: { type: "boolean", short: "h" },
};

/** `{ input, now, windowHours, help }`: a path, milliseconds or nothing, a number. */
export function parseArguments(args) {
  let values;
  let positionals;
  try {
    ({ values, positionals } = parseArgs({ args, options, allowPositionals: true }));
  } catch (error) {
    throw new InputError(`${error.message.split(". ")[0]}.\n\n${usage}`);
  }
  if (values.help) return { help: true };
  if (positionals.length > 0) {
    // Without the two hyphens npm takes the option for itself and passes on the file alone.
    const file = positionals.join(" ");
    throw new InputError(
      `A file comes after --input, and npm needs two hyphens before that:\n  npm start -- --input ${file}\n\n${usage}`,
    );
  }
  if (values.input === undefined && (values.now !== undefined || values["window-hours"] !== undefined)) {
    throw new InputError(`--now and --window-hours belong to --input FILE.\n\n${usage}`);
  }
  if (values.input === "") throw new InputError(`--input needs a file.\n\n${usage}`);
  return { input: values.input, now: time(values.now), windowHours: hours(values["window-hours"] ?? "3") };
}

function time(text) {
  if (text === undefined) return undefined;
  const ms = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?Z$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new InputError(`--now ${text} is no time. Write it in UTC, such as --now 2026-11-02T09:15:00Z`);
  return ms;
}

function hours(text) {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1 || number > 72) {
    throw new InputError(
      `--window-hours ${text} is not a whole number from 1 to 72: GitHub keeps a delivery for 72 hours.`,
    );
  }
  return number;
}
