// One thing wrong at a time with the App, and what the doctor has to say about it.

import { otherKeys, testKeys } from "../fakes/github.mjs";

/**
 * `row`: what was looked at. `says` and `todo`: what the table has there. `state`: "problem" unless given.
 * `with`: changes of the settings. `github`: options of that fake. `world`: changes of the services before.
 * @typedef {{row: string, says: RegExp, todo?: RegExp, state?: string, with?: any, github?: any, world?: (desk: any) => void}} Case
 */

const MINUTE = 60_000;
const stranger = otherKeys().publicKey;
const page = "https://github.com/settings/apps/example-app";
const failing = (cause) => () => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause }));

/** @type {[string, Case][]} */
export const appCases = [
  [
    "what cannot be looked at",
    { row: "webhook", state: "skipped", says: /Not looked at, without the App id/, with: { GITHUB_APP_ID: "" } },
  ],
  [
    "what cannot be looked at when GitHub does not take the App",
    { row: "control repository", state: "skipped", says: /without the App/, with: { GITHUB_APP_ID: "999" } },
  ],
  [
    "nothing is set",
    { row: "App", says: /GITHUB_APP_ID is not set/, todo: /npm run setup/, with: { GITHUB_APP_ID: "" } },
  ],
  [
    "the key is missing",
    { row: "private key", says: /is not set/, todo: /npm run setup/, with: { GITHUB_APP_PRIVATE_KEY: "" } },
  ],
  [
    "the key is another App's",
    {
      row: "App",
      says: /The key is not one of the App 1234567: it is another App's, or was deleted/,
      todo: /Generate a private key/,
      world: (desk) => Object.assign(desk.github.app, { publicKey: stranger }),
    },
  ],
  [
    "the App id is another number",
    {
      row: "App",
      says: /^127\.0\.0\.1:\d+ knows no App with the id 999\./,
      todo: /"App ID"/,
      with: { GITHUB_APP_ID: "999" },
    },
  ],
  [
    "the App id is the App's name",
    {
      row: "App",
      says: /GITHUB_APP_ID from the environment cannot be used/,
      todo: /a number, or the client id/,
      with: { GITHUB_APP_ID: "example-app" },
    },
  ],
  [
    "the App id is a client secret",
    {
      row: "App",
      says: /cannot be used/,
      todo: /client secret/,
      with: { GITHUB_APP_ID: "0123456789abcdef0123456789abcdef01234567" },
    },
  ],
  [
    "the client id is right",
    { row: "App", state: "ok", says: /Example App \(id 1234567\)/, with: { GITHUB_APP_ID: "Iv23liExampleClient1" } },
  ],
  [
    "an Enterprise Server that takes no client id",
    {
      row: "App",
      says: /does not take the client id/,
      todo: /the number that the settings page calls "App ID"/,
      with: { GITHUB_APP_ID: "Iv23liExampleClient1" },
      world: (desk) => Object.assign(desk.github.app, { publicKey: stranger }),
    },
  ],
  [
    "the clock is ten minutes ahead",
    {
      row: "clock",
      says: /10 minutes ahead of GitHub's/,
      todo: /set-ntp/,
      world: (desk) => Object.assign(desk.change, { now: () => desk.github.now + 10 * MINUTE }),
    },
  ],
  [
    "the clock is an hour behind",
    {
      row: "clock",
      says: /60 minutes behind GitHub's/,
      world: (desk) => Object.assign(desk.change, { now: () => desk.github.now - 60 * MINUTE }),
    },
  ],
  [
    "the clock is a little off, which GitHub bears",
    {
      row: "clock",
      state: "warning",
      says: /45 seconds ahead/,
      world: (desk) => Object.assign(desk.change, { now: () => desk.github.now + 45_000 }),
    },
  ],
  [
    "with a wrong clock the other checks go on",
    {
      row: "webhook",
      state: "ok",
      says: /example\.com/,
      world: (desk) => Object.assign(desk.change, { now: () => desk.github.now + 10 * MINUTE }),
    },
  ],
  [
    "no webhook",
    {
      row: "webhook",
      says: /no active webhook/,
      todo: new RegExp(`On ${page} tick`),
      world: ({ github }) => Object.assign(github, { webhook: null }),
    },
  ],
  [
    "a webhook without an address",
    { row: "webhook", says: /no active webhook/, world: ({ github }) => Object.assign(github.webhook, { url: "" }) },
  ],
  [
    "a webhook without a secret",
    {
      row: "webhook secret",
      state: "warning",
      says: /There is none/,
      todo: /set a webhook secret/,
      world: ({ github }) => Object.assign(github.webhook, { secret: false }),
    },
  ],
  [
    "a webhook without TLS checks",
    {
      row: "webhook TLS",
      state: "warning",
      says: /does not check/,
      world: ({ github }) => Object.assign(github.webhook, { insecureSsl: true }),
    },
  ],
  [
    "a webhook over http",
    {
      row: "webhook TLS",
      state: "warning",
      says: /in the clear/,
      world: ({ github }) => Object.assign(github.webhook, { url: "http://example.com/" }),
    },
  ],
  [
    "no events",
    {
      row: "events",
      state: "warning",
      says: /subscribed to no events/,
      todo: new RegExp(`${page}/permissions`),
      world: ({ github }) => Object.assign(github.app, { events: [] }),
    },
  ],
  [
    "no deliveries yet",
    {
      row: "deliveries",
      state: "warning",
      says: /is empty/,
      world: ({ github }) => github.fault({ path: "/app/hook/deliveries" }, { status: 200, body: [] }),
    },
  ],
  [
    "GitHub is down",
    {
      row: "App",
      says: /GitHub is busy or has trouble \(503/,
      todo: /Try again/,
      world: ({ github }) => github.fault({ path: "/app" }, { status: 503, body: { message: "down" } }),
    },
  ],
  [
    "the address is of the web pages",
    {
      row: "App",
      says: /answers a web page, not GitHub's API/,
      todo: /https?:\/\/127\.0\.0\.1:\d+\/api\/v3/,
      github: { basePath: "/api/v3" },
      violation: /no API here/,
      world: (desk) => Object.assign(desk.services, { GITHUB_API_URL: desk.github.url.replace("/api/v3", "") }),
    },
  ],
  [
    "the address is that of github.com's pages",
    {
      row: "App",
      says: /https:\/\/github\.com answers a web page/,
      todo: /Leave GITHUB_API_URL empty/,
      with: { GITHUB_API_URL: "https://github.com" },
      world: (desk) => {
        const page = () => new Response("<!DOCTYPE html>", { status: 404 });
        desk.change.fetch = (url, how) => (url.startsWith("https://github.com/") ? page() : fetch(url, how));
      },
    },
  ],
  [
    "the address redirects to a sign-in",
    {
      row: "App",
      says: /answers a web page, not GitHub's API/,
      todo: /api\/v3/,
      world: ({ github }) => github.fault({ path: "/app" }, { status: 302, headers: { location: "/login" } }),
    },
  ],
  [
    "the address is plain http",
    {
      row: "App",
      says: /GITHUB_API_URL from the environment cannot be used/,
      todo: /https/,
      with: { GITHUB_API_URL: "http://ghe.example.com/api/v3" },
    },
  ],
  [
    "no network",
    {
      row: "App",
      says: /cannot be found from this machine \(ENOTFOUND\)/,
      todo: /HTTPS_PROXY/,
      world: (desk) => Object.assign(desk.change, { fetch: failing({ code: "ENOTFOUND" }) }),
    },
  ],
  [
    "a certificate of the company",
    {
      row: "App",
      says: /is not trusted/,
      todo: /NODE_EXTRA_CA_CERTS/,
      world: (desk) => Object.assign(desk.change, { fetch: failing({ code: "SELF_SIGNED_CERT_IN_CHAIN" }) }),
    },
  ],
  [
    "a proxy that wants a password",
    {
      row: "App",
      says: /proxy wants a user/,
      todo: /USER:PASSWORD/,
      world: (desk) =>
        Object.assign(desk.change, {
          fetch: failing({
            code: 0,
            cause: { code: "UND_ERR_ABORTED", message: "Proxy response (407) !== 200 when HTTP Tunneling" },
          }),
        }),
    },
  ],
  [
    "a proxy that allows nothing",
    {
      row: "App",
      says: /proxy lets nothing through .*\(403\)/,
      world: (desk) =>
        Object.assign(desk.change, {
          fetch: failing({
            code: 0,
            cause: { code: "UND_ERR_ABORTED", message: "Proxy response (403) !== 200 when HTTP Tunneling" },
          }),
        }),
    },
  ],
  [
    "no connection",
    { row: "App", says: /takes no connection/, world: ({ github }) => github.fault({ path: "/app" }, "reset") },
  ],
  [
    "a key that is a public one",
    {
      row: "private key",
      says: /public key/,
      todo: /Generate a private key/,
      with: { GITHUB_APP_PRIVATE_KEY: testKeys().publicKey },
    },
  ],
];
