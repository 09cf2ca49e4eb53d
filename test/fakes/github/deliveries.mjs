// The deliveries of the App: every attempt, when it is listed, and the redeliveries that are still to come.
//
// It must not know HTTP. Time is a value that the owner sets; what falls due until then happens in its order.

/**
 * @typedef {object} Attempt
 * @property {bigint} id
 * @property {string} guid
 * @property {number} at         `delivered_at`, ms
 * @property {number} listedAt   from when on the list shows it
 * @property {boolean} redelivery
 * @property {number} code
 * @property {string} status
 * @property {number} duration
 * @property {string} event
 * @property {string | null} action
 * @property {number | null} installationId
 * @property {number | null} repositoryId
 * @property {boolean} wholeSeconds
 * @property {number | null} throttledAt
 */

/** @typedef {{code: number, status?: string, duration?: number}} Outcome */

// Real ids look like a count of milliseconds shifted by 22 bits (facts-github.md A3), with this one for zero.
const ID_EPOCH_MS = Date.parse("2026-07-18T20:28:24.082Z") - Number(3831983788892626944n >> 22n);
const ID_SEQUENCE_BITS = 22n;

const REPOSITORY_ID = 479544328;
const INSTALLATION_ID = 28593384;

export class Deliveries {
  /** Ascending by (at, id). @type {Attempt[]} */
  timeline = [];
  /** @type {Map<string, Attempt[]>} */
  byGuid = new Map();
  /** @type {Map<bigint, Attempt>} */
  byId = new Map();
  /** What is still to happen, ascending by time. @type {{at: number, run: () => void}[]} */
  #agenda = [];
  #sequence = 0;
  #now;

  /** @param {{now: number, retentionMs: number, outcome: (context: object) => number | Outcome}} options */
  constructor({ now, retentionMs, outcome }) {
    this.#now = now;
    this.retentionMs = retentionMs;
    this.outcome = outcome;
  }

  get now() {
    return this.#now;
  }

  /** Moves the clock; what is due by then happens first, each at its own time. Setting it back undoes nothing. */
  set now(ms) {
    while (this.#agenda.length && this.#agenda[0].at <= ms) {
      const { at, run } = /** @type {{at: number, run: () => void}} */ (this.#agenda.shift());
      this.#now = Math.max(at, this.#now);
      run();
    }
    this.#now = ms;
  }

  /** Runs at a virtual time; at once if that is not ahead. */
  schedule(at, run) {
    if (at <= this.#now) return run();
    let index = this.#agenda.length;
    while (index > 0 && this.#agenda[index - 1].at > at) index -= 1;
    this.#agenda.splice(index, 0, { at, run });
  }

  /**
   * A first delivery (or a further attempt of a known guid).
   * @param {object} given
   * @param {string} given.event
   * @param {string | null} [given.action]
   * @param {number | null} [given.repositoryId]
   * @param {number | null} [given.installationId]
   * @param {number} [given.at]             when it was delivered, ms; ahead of now: it happens then
   * @param {number | Outcome} [given.code] otherwise the endpoint decides
   * @param {string} [given.guid]
   * @param {bigint} [given.id]
   * @param {boolean} [given.redelivery]
   * @param {number} [given.listedAfterMs]  how much later than delivered the list shows it
   * @param {boolean} [given.wholeSeconds]  `delivered_at` without milliseconds, as in lists of 2022
   * @param {number | null} [given.throttledAt]
   * @returns {{guid: string, id: string}}
   */
  deliver(given) {
    const at = given.at ?? this.#now;
    const guid = given.guid ?? this.#newGuid();
    const id = given.id ?? this.#newId(at);
    if (this.byId.has(id)) throw new Error(`delivery ${id} exists already`);
    const redelivery = given.redelivery ?? this.byGuid.has(guid);
    const base = { repositoryId: REPOSITORY_ID, installationId: INSTALLATION_ID, action: null, throttledAt: null };
    this.schedule(at, () => this.#attempt({ ...base, ...defined(given), id, guid, at, redelivery }));
    return { guid, id: String(id) };
  }

  /** One more attempt of an event at a virtual time; the endpoint decides then. */
  redeliver(guid, at, code) {
    this.schedule(at, () => {
      const [first] = this.byGuid.get(guid) ?? [];
      if (!first) throw new Error(`no event ${guid}`);
      const { event, action, repositoryId, installationId, wholeSeconds } = first;
      const same = { event, action, repositoryId, installationId, wholeSeconds, throttledAt: null };
      this.#attempt({ ...same, guid, at, code, id: this.#newId(at), redelivery: true });
    });
  }

  /** @param {any} given */
  #attempt({ code, listedAfterMs = 0, ...known }) {
    const { guid, event, action, repositoryId, at, redelivery } = known;
    const earlier = this.byGuid.get(guid) ?? [];
    const context = { guid, event, action, repositoryId, attemptNumber: earlier.length + 1, at, redelivery };
    const decided = code ?? this.outcome(context) ?? 200;
    const outcome = typeof decided === "number" ? { code: decided } : decided;
    const attempt = {
      wholeSeconds: false,
      ...known,
      code: outcome.code,
      listedAt: at + listedAfterMs,
      status: outcome.status ?? statusText(outcome.code),
      duration: outcome.duration ?? (outcome.code === 0 ? 10 : 0.03),
    };
    insert(this.timeline, attempt);
    this.byId.set(attempt.id, attempt);
    if (!earlier.length) this.byGuid.set(guid, earlier);
    insert(earlier, attempt);
  }

  /** Whether GitHub still keeps the attempt. */
  kept(attempt) {
    return attempt.at > this.#now - this.retentionMs && attempt.at <= this.#now;
  }

  /**
   * Lets go of what GitHub keeps no longer, an event with the last of its attempts: no list shows it as it is, and a fake that runs
   * for weeks would grow. Returns the events that went, each with all the attempts that it had.
   * @returns {{guid: string, attempts: Attempt[]}[]}
   */
  forget() {
    const first = this.timeline.findIndex(({ at }) => at > this.#now - this.retentionMs);
    for (const { id } of this.timeline.splice(0, first < 0 ? this.timeline.length : first)) this.byId.delete(id);
    const gone = [];
    for (const [guid, attempts] of this.byGuid) {
      const { at } = /** @type {Attempt} */ (attempts.at(-1));
      if (at > this.#now - this.retentionMs) continue;
      gone.push({ guid, attempts });
      this.byGuid.delete(guid);
    }
    return gone;
  }

  /**
   * What the list shows now, newest first.
   * @param {{status?: 'success' | 'failure', from?: Attempt, limit: number}} query  `from` is the first of the page
   * @returns {{page: Attempt[], next?: Attempt, prev?: Attempt}}
   */
  list({ status, from, limit }) {
    const shown = (attempt) => this.kept(attempt) && attempt.listedAt <= this.#now && passes(status, attempt.code);
    const start = from ? position(this.timeline, from) : this.timeline.length - 1;
    const page = [];
    let next;
    for (let index = start; index >= 0 && !next; index -= 1) {
      const attempt = this.timeline[index];
      if (attempt.at <= this.#now - this.retentionMs) break;
      if (!shown(attempt)) continue;
      if (page.length === limit) next = attempt;
      else page.push(attempt);
    }
    let prev;
    for (let index = start + 1, seen = 0; index < this.timeline.length && seen < limit; index += 1) {
      if (shown(this.timeline[index])) [prev, seen] = [this.timeline[index], seen + 1];
    }
    return { page, next, prev };
  }

  #newId(at) {
    // Steps of three: ids of the same millisecond are one and the same number once a client rounds them to a double.
    this.#sequence += 3;
    return (BigInt(Math.trunc(at) - ID_EPOCH_MS) << ID_SEQUENCE_BITS) + BigInt(this.#sequence % 2 ** 22);
  }

  #newGuid() {
    this.#sequence += 3;
    return `${this.#sequence.toString(16).padStart(8, "0")}-82e7-11f1-959e-7ce606dfe5da`;
  }
}

/** The filter of GitHub's description: 0 is in neither, and a redirect is a success. */
function passes(status, code) {
  if (status === "success") return code >= 200 && code <= 399;
  if (status === "failure") return code >= 400 && code <= 599;
  return true;
}

/** The text that goes with a code (facts-github.md A4); it is for people, so no client may read it. */
function statusText(code) {
  if (code >= 200 && code <= 299) return "OK";
  if (code === 302) return "Found";
  return code === 0 ? "timed out" : `Invalid HTTP Response: ${code}`;
}

const defined = (given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));

const before = (a, b) => a.at - b.at || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** Keeps the order; nearly everything belongs at the end. */
function insert(sorted, attempt) {
  sorted.splice(position(sorted, attempt), 0, attempt);
}

/** Index of the attempt, or where it belongs. */
function position(sorted, attempt) {
  let [low, high] = [0, sorted.length];
  if (high && before(sorted[high - 1], attempt) < 0) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(sorted[middle], attempt) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
