// `npm start -- --input FILE`: what a sweep would decide about a real listing. The real Worker reads it from the fake
// GitHub in DRY_RUN, as its first sweep, and logs its verdict on each event.

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { howToGet, InputError, readListing } from "./listing.mjs";
import { quarterAfter, tellVerdicts } from "./verdicts.mjs";

const HOUR = 60 * 60_000;
const perPage = 100;
// The defaults, and the most that the settings take.
const deliveryPages = { default: 20, most: 1_000 };
const failurePages = { default: 3, most: 1_000 };

/** Judges a listing; the number of the exit code. */
export async function judgeListing({ input, now: givenNow, windowHours }) {
  const items = readListing(read(input), input);
  const newest = Math.max(...items.map((item) => Date.parse(item.delivered_at)));
  const now = givenNow ?? quarterAfter(newest);
  const listed = items.filter((item) => Date.parse(item.delivered_at) <= now);
  if (listed.length === 0) {
    throw new InputError(
      `${input} holds nothing from before ${new Date(now).toISOString()}: the newest delivery is of ${new Date(newest).toISOString()}. Give a later --now, or none.`,
    );
  }
  const pages = neededPages(listed, now - windowHours * HOUR);
  const { sweep, plan, failures } = await dryRun({ items: listed, now, windowHours, pages });
  if (!sweep || sweep.failure !== null) {
    const why = failures.map(({ error }) => error).join("; ") || "it said nothing";
    throw new InputError(`The Worker could not read ${input}: ${why}.`);
  }
  return tellVerdicts({
    input,
    items: listed,
    later: items.length - listed.length,
    now,
    windowHours,
    pages,
    sweep,
    plan,
  });
}

function read(input) {
  // npm and the launcher change the directory; where the person stood is in the environment.
  const path = resolve(process.env.INIT_CWD ?? process.env.PWD ?? process.cwd(), input);
  try {
    return readFileSync(path);
  } catch (error) {
    if (error.code === "ENOENT") throw new InputError(`There is no file ${path}.\n${howToGet}`);
    if (error.code === "EISDIR")
      throw new InputError(`${path} is a directory. Name the file in it that holds the listing.`);
    throw new InputError(`${path} cannot be read: ${error.message}.`);
  }
}

/** How many pages of each list the window takes; one more where the first sweep looks for an answer before it. */
function neededPages(items, windowStart) {
  const inWindow = items.filter((item) => Date.parse(item.delivered_at) >= windowStart);
  const failed = inWindow.filter(({ status_code: code }) => code >= 400 && code <= 599);
  const needed = (count, { default: usual, most }) => Math.min(Math.max(Math.ceil(count / perPage) + 1, usual), most);
  const pages = { deliveries: needed(inWindow.length, deliveryPages), failures: needed(failed.length, failurePages) };
  return { ...pages, moreThanUsual: pages.deliveries > deliveryPages.default || pages.failures > failurePages.default };
}

async function dryRun({ items, now, windowHours, pages }) {
  // Loaded only for a listing that can be read, since it takes a second.
  const { inWorld } = await import("./world.mjs");
  const settings = () => ({
    DRY_RUN: "true",
    WINDOW_HOURS: String(windowHours),
    ...(pages.moreThanUsual && {
      DELIVERY_PAGES: String(pages.deliveries),
      FAILURE_PAGES: String(pages.failures),
      SUBREQUEST_LIMIT: "10000",
    }),
  });
  // What the file holds is what GitHub listed, however long ago that was.
  return inWorld(
    { github: { now, retentionMs: Number.POSITIVE_INFINITY }, telegram: { now }, settings },
    async (world) => {
      const originals = new Map(items.map((item) => [item.id, item]));
      for (const item of items) world.github.deliver(loaded(item));
      // GitHub's list is served with the items as they came, whatever they lack.
      const asTheyCame = (answer) => ({
        ...answer,
        body: answer.body.map?.(({ id }) => originals.get(id)) ?? answer.body,
      });
      world.github.fault({ path: "/app/hook/deliveries" }, asTheyCame, Number.POSITIVE_INFINITY);
      return world.sweep(now);
    },
  );
}

function loaded({ id, guid, delivered_at: deliveredAt, status_code: code, redelivery, event, action }) {
  return {
    id,
    guid,
    at: Date.parse(deliveredAt),
    code,
    redelivery,
    event,
    action: action ?? null,
    repositoryId: null,
    installationId: null,
  };
}
