// Every call that the Worker makes, and what leads up to the sweep that makes it.

import assert from "node:assert/strict";
import { breaks, clicks, on } from "./alarm.mjs";
import { ASK, CONTROL_REPO, isList } from "./scene.mjs";

const ISSUES = `/repos/${CONTROL_REPO}/issues`;

/** Answers that mean that GitHub will not redeliver this event. */
const FOR_GOOD = [400, 404, 410, 422];

/** The second ask that meets any other 403 ends the asking; the third, which was under way beside it, says nothing of its event. */
const FORBIDDEN = 2;

/** Events that fail five minutes before a time, and a run that a newer one overtakes. Returns the guids of those that are to come back. */
export function incident(scene, clock, count = 1) {
  const time = on(scene, clock) - 5 * 60_000;
  const run = { event: "workflow_run", action: "completed", repositoryId: 7 };
  scene.fails(time - 2_000, 500, run);
  scene.delivers(time - 1_000, run);
  return Array.from({ length: count }, (_, index) => scene.fails(time + index * 1_000));
}

/**
 * What comes before a sweep. Of what they return, `at` is its time, `waits` are the events that are to come back, `open` those that
 * both channels are to show in the end, `messages` how many then stand in the chat, and `pageLimit` the items on a page of that sweep.
 */
export const STAGES = {
  /** Both lists have a second page, and an entry stands. */
  async reading(scene) {
    const open = [breaks(scene, "08:05")];
    await scene.tickAt(on(scene, "08:15"));
    return { at: "08:30", waits: incident(scene, "08:30", 7), open, messages: 1, pageLimit: 5 };
  },

  /** The sweep before left a gap, in which an event hides that no failures list shows. */
  async gap(scene) {
    scene.github.pageLimit = 2;
    const hidden = scene.fails(on(scene, "08:15:10"), 0, { event: "push" });
    for (let second = 0; second < 12; second += 1) {
      scene.delivers(on(scene, "08:16") + second * 1_000, { event: "push" });
    }
    await scene.tickAt(on(scene, "08:30"));
    const [{ next }] = (await scene.state()).ledger.ground.gaps;
    const cursor = new URLSearchParams(next.slice(next.indexOf("?"))).get("cursor");
    assert.ok(cursor, "the gap has a page cursor");
    return { at: "08:45", waits: [hidden, ...incident(scene, "08:45")], open: [], messages: 0, hidden, cursor };
  },

  async asking(scene) {
    return { at: "08:15", waits: incident(scene, "08:15", 5), open: [], messages: 0 };
  },

  /** The first entry. */
  async telling(scene) {
    const open = [breaks(scene, "08:05")];
    return { at: "08:15", waits: incident(scene, "08:15"), open, messages: 1 };
  },

  /** A second one within the hour. */
  async editing(scene) {
    const open = [breaks(scene, "08:05")];
    await scene.tickAt(on(scene, "08:15"));
    open.push(breaks(scene, "08:20"));
    return { at: "08:30", waits: incident(scene, "08:30"), open, messages: 1 };
  },

  /** A second one after the hour: a new message, and the old one is cut down. */
  async pointing(scene) {
    const open = [breaks(scene, "08:05")];
    await scene.tickAt(on(scene, "08:15"));
    open.push(breaks(scene, "09:20"));
    return { at: "09:30", waits: incident(scene, "09:30"), open, messages: 2 };
  },

  /** The last one leaves. */
  async closing(scene) {
    const guid = breaks(scene, "08:05");
    await scene.tickAt(on(scene, "08:15"));
    clicks(scene, guid, "08:20");
    return { at: "08:30", waits: incident(scene, "08:30"), open: [], messages: 1 };
  },

  /** The chat could not be reached when there was something to say, and there is nothing to say any more. */
  async telegramLost(scene) {
    const guid = breaks(scene, "08:05");
    const body = { ok: false, error_code: 403, description: "Forbidden" };
    const kicked = scene.telegram.fault({}, { status: 403, body }, 9);
    await scene.tickAt(on(scene, "08:15"));
    kicked.stop();
    clicks(scene, guid, "08:20");
    return { at: "08:30", waits: incident(scene, "08:30"), open: [], messages: 0 };
  },
};

const is = (method, path) => (request) =>
  request.method === method && (path === undefined || path === request.path || (path.test?.(request.path) ?? false));

const isPage = (list, later) => (request) => {
  const { status, cursor } = request.query ?? {};
  return isList(request) && (status === "failure") === (list === "failures") && (cursor !== undefined) === later;
};

// What a fault does to the sweep beyond the call: `failure` is the class that it fails with, `refused` are those of the events that
// GitHub will not redeliver. A call of the alarm, and the heartbeat, do neither.
const ofAList = { isList: true, failure: (fault) => fault.failure };

const ofAGap = {
  /** A gap whose page cannot be read now stays, and one that GitHub no longer takes is lost: neither fails the sweep. */
  failure: ({ failure, status }) =>
    ["server_error", "transport", "decode"].includes(failure) || [400, 404, 422].includes(status) ? null : failure,
  refused: ({ status }, { hidden }) => ([400, 404, 422].includes(status) ? [hidden] : []),
  isLost: true,
  calm: 5,
};

const ofAnAsk = {
  failure: ({ status, failure }) => (failure === "rate_limited" || status === 401 ? failure : null),
  refused: ({ status, failure }, { waits }) => {
    if (FOR_GOOD.includes(status)) return waits;
    return status === 403 && failure === "auth" ? waits.slice(0, FORBIDDEN) : [];
  },
  unread: ["HTML", "wrong types", "an empty body"],
  // An ask that is not shown is lost after half an hour, and made again.
  calm: 5,
};

const ofTheHeartbeat = { needs: ["HEARTBEAT_URL"], unread: ofAnAsk.unread };

const call = (name, stage, match, step, more = {}) => {
  const fake = /Telegram/.test(step.source) ? "telegram" : "github";
  const effect = {
    failure: () => null,
    refused: () => [],
    needs: [],
    unread: [],
    settings: {},
    calm: 3,
    ...more,
  };
  return { name, stage: STAGES[stage], fake, match: () => match, step, ...effect };
};

const FAILURES = /reading the failures list|page of Failures/;
const DELIVERIES = /reading the deliveries list|page of Deliveries/;
const GAP = /reading a gap of the deliveries list|page of Gap/;

/**
 * `match` tells the call from others, `step` is how a log names it; `unread` are faults of a body that nobody reads, and after
 * `calm` quarters of an hour all is well, waits that GitHub names included.
 */
export const CALLS = [
  call("the failures list", "reading", isPage("failures", false), FAILURES, ofAList),
  call("a later page of the failures list", "reading", isPage("failures", true), FAILURES, ofAList),
  call("the deliveries list", "reading", isPage("deliveries", false), DELIVERIES, ofAList),
  call("a later page of the deliveries list", "reading", isPage("deliveries", true), DELIVERIES, ofAList),
  {
    ...call("a page of a gap", "gap", isList, GAP, { ...ofAGap, settings: { DELIVERY_PAGES: "3" } }),
    match:
      ({ cursor }) =>
      (request) =>
        isList(request) && request.query.cursor === cursor,
  },
  call("an ask", "asking", is("POST", ASK), /asking for a redelivery/, ofAnAsk),
  call("the App", "telling", is("GET", "/app"), /reading the App/),
  call("the installation", "telling", is("GET", /\/installation$/), /find the App's installation/),
  call("the token", "telling", is("POST", /access_tokens$/), /get a token/),
  call("looking for the issue", "telling", is("GET", ISSUES), /look for the issue/),
  call("creating the issue", "telling", is("POST", ISSUES), /create the issue/),
  call("editing the issue", "editing", is("PATCH"), /edit the issue/),
  call("closing the issue", "closing", is("PATCH"), /edit the issue/),
  call("a message", "telling", is("sendMessage"), /send the Telegram message/),
  call("an edit of the message", "editing", is("editMessageText"), /edit the Telegram message/),
  call("its last edit", "closing", is("editMessageText"), /edit the Telegram message/),
  call("cutting an old message down", "pointing", is("editMessageText"), /edit the Telegram message/),
  call("whether the chat is back", "telegramLost", is("sendChatAction"), /reach the Telegram chat/),
  call("the heartbeat", "asking", is("GET", /^\/heartbeat/), /the heartbeat/, ofTheHeartbeat),
];
