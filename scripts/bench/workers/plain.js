// The same work as the Worker's, in plain JavaScript, to measure the Worker against: what somebody would write who wants
// it small and fast. It reads both lists back to where the last sweep stopped, counts attempts by guid, lets a pass settle
// an event and a newer event overtake one of its kind, saves, asks, tells both channels, and saves again.
//
// It is no second Worker: no gaps, no outages, no lost asks, no answers of GitHub other than the usual ones.

import { importKey, logSweep, Sweeper, say } from "./shared.js";

export { default } from "./shared.js";

const MINUTE = 60_000;
const WINDOW = 180 * MINUTE;
const MAX_ATTEMPTS = 3;
const MAX_REDELIVERIES = 10;
const FAILURE_PAGES = 3;
const DELIVERY_PAGES = 20;
const OVERTAKABLE = new Set([
  ...["workflow_run", "check_suite", "check_run", "code_scanning_alert"],
  ...["issues", "pull_request", "discussion", "release"],
]);
const LIST = "/app/hook/deliveries";

export class Recovery extends Sweeper {
  sweep(now) {
    return new Sweep(this, now).run();
  }
}

class Sweep {
  constructor(object, now) {
    this.object = object;
    this.storage = object.storage;
    this.env = object.env;
    this.now = now;
    this.calls = 0;
  }

  async run() {
    await this.takeLease();
    await this.load();
    const { items, pages } = await this.read();
    const asks = this.decide(items);
    const text = this.text();
    const changed = asks.length > 0 || text !== this.state.shown;
    if (changed) await this.save(false);
    for (const ask of asks) await this.ask(ask);
    if (text !== this.state.shown) await this.tell(text);
    await this.save(true);
    logSweep({
      failurePages: pages.failures,
      deliveryPages: pages.deliveries,
      asks: asks.length,
      calls: this.calls,
    });
  }

  async takeLease() {
    const found = await this.storage.get("lease");
    if (found && JSON.parse(found).until > this.now) throw new Error("held");
    await this.storage.put("lease", JSON.stringify({ until: this.now + 10 * MINUTE }));
  }

  async load() {
    const text = await this.storage.get("state");
    const first = { cursor: "", from: this.now - WINDOW, events: {}, newest: {}, shown: "" };
    this.state = text ? JSON.parse(text) : first;
  }

  async save(last) {
    await this.storage.put("state", JSON.stringify(this.state));
    if (last) await this.storage.delete("lease");
  }

  async read() {
    const failures = await this.pages(`${LIST}?per_page=100&status=failure`, FAILURE_PAGES, this.now - WINDOW);
    const from = (this.state.cursor ? Date.parse(this.state.cursor) : this.state.from) - 5 * MINUTE;
    const deliveries = await this.pages(`${LIST}?per_page=100`, DELIVERY_PAGES, from);
    const pages = { failures: failures.pages, deliveries: deliveries.pages };
    return { items: failures.items.concat(deliveries.items), pages };
  }

  async pages(path, most, from) {
    const items = [];
    let pages = 0;
    for (let next = this.env.GITHUB_API_URL + path; next && pages < most; ) {
      const response = await this.github(next);
      const page = parsePage(await response.text());
      items.push(...page);
      pages += 1;
      const oldest = page.at(-1);
      if (!oldest || Date.parse(oldest.delivered_at) < from) break;
      next = response.headers.get("link")?.match(/<([^>]+)>; rel="next"/)?.[1];
    }
    return { items, pages };
  }

  decide(items) {
    const { events, newest } = this.state;
    const start = this.now - WINDOW;
    for (const item of items) {
      const at = Date.parse(item.delivered_at);
      if (item.delivered_at > this.state.cursor) this.state.cursor = item.delivered_at;
      const passed = item.status_code >= 200 && item.status_code < 300;
      if (passed && !item.redelivery && OVERTAKABLE.has(item.event) && item.repository_id) {
        const kind = `${item.event} ${item.repository_id}`;
        newest[kind] = Math.max(newest[kind] ?? 0, at);
      }
      let event = events[item.guid];
      if (passed && !item.redelivery && !event) continue;
      if (!event && at < start) continue;
      event ??= events[item.guid] = {
        event: item.event,
        action: item.action,
        repository: item.repository_id,
        attempts: [],
        asked: 0,
        fate: "",
      };
      if (event.attempts.some(({ id }) => id === item.id)) continue;
      event.attempts.push({ id: item.id, at, code: item.status_code, redelivery: item.redelivery });
      if (passed) event.fate = "passed";
    }
    const candidates = [];
    for (const [guid, event] of Object.entries(events)) {
      event.attempts.sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
      const first = event.attempts.find(({ redelivery }) => !redelivery);
      if ((first ?? event.attempts[0]).at < (event.fate === "gave up" ? this.now - 72 * 60 * MINUTE : start)) {
        delete events[guid];
        continue;
      }
      const last = event.attempts.at(-1);
      if (!first || event.fate || (last.code >= 300 && last.code < 500)) continue;
      if (event.attempts.length >= MAX_ATTEMPTS) event.fate = "gave up";
      else if (newest[`${event.event} ${event.repository}`] > first.at) event.fate = "superseded";
      else if (this.now - event.asked >= 30 * MINUTE) candidates.push({ guid, event, first, last });
    }
    candidates.sort(
      (one, other) => one.event.attempts.length - other.event.attempts.length || one.first.at - other.first.at,
    );
    const asks = candidates.slice(0, MAX_REDELIVERIES);
    for (const { event } of asks) event.asked = this.now;
    return asks;
  }

  async ask({ guid, event, last }) {
    const response = await this.github(`${this.env.GITHUB_API_URL}${LIST}/${last.id}/attempts`, { method: "POST" });
    const line = { message: "redelivery", guid, event: event.event, delivery: last.id, status: response.status };
    say(line);
  }

  text() {
    const open = Object.entries(this.state.events).filter(([, { fate }]) => fate === "gave up");
    return open.map(([guid, event]) => describe(guid, event)).join("\n");
  }

  async tell(text) {
    const { state, env } = this;
    await this.github(`${env.GITHUB_API_URL}/app`);
    const repo = `${env.GITHUB_API_URL}/repos/${env.CONTROL_REPO}`;
    const { id } = await (await this.github(`${repo}/installation`)).json();
    const permissions = { repositories: [env.CONTROL_REPO.split("/")[1]], permissions: { issues: "write" } };
    const path = `${env.GITHUB_API_URL}/app/installations/${id}/access_tokens`;
    const { token } = await (await this.github(path, { method: "POST", body: JSON.stringify(permissions) })).json();
    const issue = JSON.stringify({ title: "Webhook events not delivered", body: text });
    const number = state.issue ?? "";
    const how = { method: number ? "PATCH" : "POST", body: issue };
    const written = await this.github(`${repo}/issues${number && `/${number}`}`, how, token);
    state.issue = (await written.json()).number;
    const html = text.length > 3_900 ? `${text.slice(0, text.lastIndexOf("\n", 3_900))}\nand more` : text;
    const message = { chat_id: env.TELEGRAM_CHAT_ID, text: html, parse_mode: "HTML" };
    if (state.message) message.message_id = state.message;
    const method = state.message ? "editMessageText" : "sendMessage";
    this.calls += 1;
    const sent = await fetch(`${env.TELEGRAM_API_URL}/bot${env.TELEGRAM_BOT_TOKEN}/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(message),
      signal: AbortSignal.timeout(10_000),
    });
    state.message = (await sent.json()).result.message_id;
    state.shown = text;
  }

  async github(url, init = {}, token) {
    this.calls += 1;
    const response = await fetch(url, {
      ...init,
      headers: {
        accept: "application/vnd.github+json",
        authorization: `Bearer ${token ?? (await this.jwt())}`,
        "user-agent": "bench",
        "x-github-api-version": "2022-11-28",
        "content-type": "application/json",
      },
      redirect: "manual",
      signal: AbortSignal.timeout(10_000),
    });
    if (response.status >= 300) throw new Error(`GitHub answered ${response.status}`);
    return response;
  }

  async jwt() {
    if (!this.token) this.token = await sign(this.object, this.env);
    return this.token;
  }
}

// JSON.parse alone would round ids of 19 digits.
function parsePage(text) {
  return JSON.parse(text.replaceAll(/"id":(\d+)/g, '"id":"$1"'));
}

function describe(guid, { event, action, attempts }) {
  const codes = attempts.map(({ code }) => code).join(", ");
  return `<b>${event}</b> ${action ?? ""} <code>${guid}</code>: ${new Date(attempts[0].at).toISOString()} ${codes}`;
}

async function sign(object, env) {
  object.key ??= await importKey(env.GITHUB_APP_PRIVATE_KEY_PKCS8);
  const now = Math.floor(Date.now() / 1000);
  const part = (value) => btoa(JSON.stringify(value)).replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_");
  const message = `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss: env.GITHUB_APP_ID, iat: now - 60, exp: now + 420 })}`;
  const signature = await crypto.subtle.sign("RSASSA-PKCS1-v1_5", object.key, new TextEncoder().encode(message));
  const text = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return `${message}.${text.replace(/=+$/, "").replaceAll("+", "-").replaceAll("/", "_")}`;
}
