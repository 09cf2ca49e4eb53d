// How an App can stand, as it is stored: what the status page is looked at in.

import { CHAT } from "./scene.mjs";
import { readState } from "./stored.mjs";
import { ago, openDoor } from "./visitor.mjs";

const MINUTE = 60_000;
const VERDICTS = 11;

/** An event name that would be HTML if anybody let it. */
export const HOSTILE = `<img src=x onerror="document.title='hacked'">`;

/**
 * Two days of sweeps: a busy afternoon, and an outage of two hours in the second night. Of each sweep `[deliveries, failed,
 * redelivered, recovered]`.
 */
function sweeps(now = Date.now()) {
  const rows = [];
  for (let back = 190; back >= 0; back -= 1) {
    const at = now - back * 15 * MINUTE - MINUTE;
    const outage = back >= 30 && back < 38;
    const busy = Math.round(60 + 50 * Math.sin(back / 15));
    const failed = outage ? busy : back % 7 === 0 ? 3 : 0;
    const asked = outage ? 1 : back >= 26 && back < 30 ? 10 : back % 7 === 6 ? 3 : 0;
    rows.push({
      at,
      outage,
      measures: [busy, failed, asked, outage ? 0 : asked],
      failure: back === 100 ? "server_error" : null,
    });
  }
  return rows;
}

function history(rows) {
  const stored = rows.map(({ at, outage, failure, measures: [deliveries, failed, asked, recovered] }) => {
    const events = Array(VERDICTS).fill(0);
    [events[0], events[2]] = [asked, recovered];
    return [at, failure, Number(outage), deliveries, failed, 5, events];
  });
  const zero = { sweeps: 0, failed_sweeps: 0, deliveries: 0, failed: 0, calls: 0, events: Array(VERDICTS).fill(0) };
  return JSON.stringify({ rows: stored, totals: zero });
}

function gaveUp(index, event = "workflow_run") {
  const at = ago(60 + index);
  const attempt = (later, code) => [
    at + later * MINUTE,
    String(3846290009938198000n + BigInt(index * 10 + later)),
    code,
    "f",
    Number(later > 0),
  ];
  const guid = `0a1b2c3d-0000-4000-8000-${String(index).padStart(12, "0")}`;
  return {
    g: guid,
    e: event,
    a: "completed",
    r: 479544328,
    t: [attempt(0, 500), attempt(5, 503), attempt(9, 500)],
    f: "gave_up",
  };
}

/** What each state adds to that of an App at which all is well, and the heading that the page has then. */
export const STANDINGS = {
  "all well": ["All is well", () => {}],
  outage: [
    "The endpoint is down",
    (state) => {
      state.ledger.outage = { since: ago(95), waiting: 48, counted_at: ago(5) };
    },
  ],
  entries: [
    "Needs attention",
    (state) => {
      state.ledger.events.push(gaveUp(1), gaveUp(2, HOSTILE), gaveUp(3, "pull_request"));
      const from = ago(240);
      state.ledger.left_behind.push({
        made_at: ago(40),
        last_at: ago(40),
        from,
        to: ago(230),
        count: 12,
        kinds: { push: 12 },
      });
    },
  ],
  "sweep failing": [
    "The recovery fails",
    (state) => {
      state.failures = { last: { at: ago(5), class: "auth" }, in_a_row: 3 };
    },
  ],
  "100 entries": [
    "Needs attention",
    (state) => {
      for (let index = 0; index < 100; index += 1) state.ledger.events.push(gaveUp(index));
    },
  ],
};

/** An App at which all is well, and what it has stored. */
export async function standing(t) {
  const scene = await openDoor(t, { settings: { CONTROL_REPO: undefined, TELEGRAM_CHAT_ID: String(CHAT) } });
  scene.delivers(ago(10));
  await scene.tickAt(ago(1));
  const text = (await scene.worker.state("state")).toString();
  const rows = sweeps();
  /** Plants a state, and returns where it can be looked at. */
  const stand = async (change) => {
    const state = readState(text);
    state.ledger.ground.watched_since = ago(3000);
    state.alarm.app = {
      slug: "deploy-bot",
      advanced_url: "https://github.com/settings/apps/deploy-bot/advanced",
      read_at: ago(5),
    };
    change(state);
    await scene.worker.writeState("history", history(rows));
    await scene.worker.writeState("state", JSON.stringify(state));
    return scene.worker.url();
  };
  return { scene, rows, stand };
}
