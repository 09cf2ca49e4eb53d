// The settings with a range, which nobody is asked for: whether the Worker will take them. Its rules are those of
// src/config/reader.rs, and a test compares the ranges.

import { problem, warning } from "./finding.mjs";

/** Least and most of each number. @type {Record<string, [number, number]>} */
export const RANGES = {
  RETENTION_HOURS: [24, 168],
  WINDOW_HOURS: [1, 168],
  MAX_ATTEMPTS: [2, 10],
  MAX_REDELIVERIES: [1, 1_000],
  SUBREQUEST_LIMIT: [1, 10_000_000],
  FAILURE_PAGES: [1, 1_000],
  DELIVERY_PAGES: [1, 1_000],
};

/** What is read for these checks, and never written by the set-up. */
export const LIMIT_NAMES = [...Object.keys(RANGES), "DRY_RUN", "HEARTBEAT_URL", "DAILY_SUMMARY"];

/** @param {import('../settings.mjs').Settings} settings @returns {import('./finding.mjs').Finding[]} */
export function checkLimits(settings) {
  const found = Object.keys(RANGES).flatMap((name) => wrongNumber(name, settings));
  if (found.length === 0) found.push(...tooFewCalls(settings));
  return [...found, ...dryRun(settings), ...summary(settings)];
}

/** The window is no longer than GitHub keeps a delivery: an Enterprise Server for seven days, github.com for three. */
function longestWindow(settings) {
  const kept = Number(settings.get("RETENTION_HOURS"));
  return kept || (settings.get("GITHUB_API_URL").replace(/\/+$/, "").endsWith("/api/v3") ? 168 : 72);
}

function wrongNumber(name, settings) {
  if (!settings.has(name)) return [];
  const [least, widest] = RANGES[name];
  const most = name === "WINDOW_HOURS" ? Math.min(widest, longestWindow(settings)) : widest;
  const text = settings.get(name);
  if (/^\d+$/.test(text) && Number(text) >= least && Number(text) <= most) return [];
  const todo = `Give a whole number from ${least} to ${most}, or leave it out.`;
  return [problem("settings", `${settings.called(name)} from ${settings.from(name)} cannot be used.`, todo)];
}

/** Without so many calls a sweep could not do its work, and the Worker refuses to try. */
function tooFewCalls(settings) {
  const number = (name, usual) => (settings.has(name) ? Number(settings.get(name)) : usual);
  const pages = number("FAILURE_PAGES", 3) + 1;
  const needed = pages + number("MAX_REDELIVERIES", 10) + 12 + (settings.has("HEARTBEAT_URL") ? 1 : 0);
  const limit = number("SUBREQUEST_LIMIT", 50);
  if (limit >= needed) return [];
  const text = `SUBREQUEST_LIMIT is ${limit}, and a sweep with these settings needs ${needed} calls.`;
  return [problem("settings", text, "Lower MAX_REDELIVERIES, or set it to 10000 on the paid plan.")];
}

/** What is set for all is not meant for an App that is to be without Telegram. */
function summary(settings) {
  const name = settings.called("DAILY_SUMMARY");
  if (!settings.has("DAILY_SUMMARY") || (settings.isNone("TELEGRAM_CHAT_ID") && name === "DAILY_SUMMARY")) return [];
  if (!/^([01]\d|2[0-3]):[0-5]\d$/.test(settings.get("DAILY_SUMMARY"))) {
    const text = `${name} from ${settings.from("DAILY_SUMMARY")} cannot be used.`;
    return [problem("settings", text, "Give a time of day in UTC such as 07:00, or leave it out.")];
  }
  if (settings.has("TELEGRAM_CHAT_ID") || settings.has("TELEGRAM_BOT_TOKEN")) return [];
  const todo = "Run npm run setup for a chat, or take it out.";
  return [problem("settings", `${name} is set, and there is no chat of Telegram that it could go to.`, todo)];
}

function dryRun(settings) {
  if (!settings.has("DRY_RUN")) return [];
  const text = settings.get("DRY_RUN").toLowerCase();
  if (text === "false") return [];
  const from = settings.from("DRY_RUN");
  if (text === "true") {
    const todo = `Take it out of ${from} when you have seen enough.`;
    return [
      warning(
        "dry run",
        `${settings.called("DRY_RUN")} is true in ${from}: a sweep asks for nothing and tells nobody.`,
        todo,
      ),
    ];
  }
  return [
    problem(
      "settings",
      `${settings.called("DRY_RUN")} from ${from} cannot be used.`,
      "Give true or false, or leave it out.",
    ),
  ];
}
