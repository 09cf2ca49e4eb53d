// `npm run doctor` against the fakes: each thing that can be wrong is named, with what to do, and no secret.

import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { diagnose } from "../scripts/operator/diagnose.mjs";
import { table } from "../scripts/operator/report.mjs";
import { readSettings } from "../scripts/operator/settings.mjs";
import { appCases } from "./operator/cases-app.mjs";
import { cloudCases, controlRepoCases } from "./operator/cases-control-repo.mjs";
import { telegramCases } from "./operator/cases-telegram.mjs";
import { CHAT, openDesk } from "./operator/scene.mjs";
import { assertNoSecret } from "./worker/secrets.mjs";

test("a right set-up has nothing but good news, and ends with 0", async (t) => {
  const desk = await openDesk(t);
  desk.cloud.secrets = ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN"];
  assert.equal(await desk.doctor(), 0);
  assert.match(desk.printed, /\n 11 in order\.\n$/);
  assert.equal(desk.telegram.messages(CHAT).length, 0, "nobody's phone rang");
  assertNoSecret([desk.printed], desk.settings);
});

for (const [name, { row, says, todo, state = "problem", with: change = {}, github, violation, world: before }] of [
  ...appCases,
  ...telegramCases,
  ...controlRepoCases,
  ...cloudCases,
]) {
  test(`the doctor tells: ${name}`, async (t) => {
    const desk = await openDesk(t, { github });
    before?.(desk);
    const settings = { ...desk.settings, ...change };
    const { root, env, ports, wrangler } = desk.world(settings);
    const findings = await diagnose(ports, readSettings({ root, env }), { wrangler, env });
    const found = findings.find(({ check }) => check === row);
    assert.ok(found, `a row "${row}"`);
    assert.equal(found.state, state, found.text);
    assert.match(found.text, says);
    if (todo) assert.match(found.todo, todo);
    if (violation) assert.match(desk.github.takeViolations().join("\n"), violation);
    for (const one of findings) assert.ok(one.todo || !["problem", "warning"].includes(one.state), "what to do");
    const printed = table(findings, 80);
    assert.deepEqual(
      printed.filter((line) => line.length > 80),
      [],
    );
    assertNoSecret([printed.join("\n")], desk.settings);
  });
}

test("settings come from wrangler.toml, go before it in .dev.vars, and a difference is told", async (t) => {
  const desk = await openDesk(t);
  const { GITHUB_APP_PRIVATE_KEY: key, ...vars } = desk.settings;
  const lines = Object.entries({ ...vars, CONTROL_REPO: "octo/nowhere" }).map(
    ([name, value]) => `${name} = "${value}"`,
  );
  writeFileSync(desk.path("wrangler.toml"), `name = "x"\n\n[vars]\n${lines.join("\n")}\n`);
  writeFileSync(desk.path(".dev.vars"), `CONTROL_REPO=octo/control # ours\nGITHUB_APP_PRIVATE_KEY="${key}"\n`);
  chmodSync(desk.path(".dev.vars"), 0o644);
  assert.equal(await desk.doctor({}), 0, desk.printed);
  assert.match(desk.printed, /✔ {2}control repository/);
  assert.match(desk.printed, /! {2}\.dev\.vars +Others on this machine can read it\.\n +→ chmod 600/);
  assert.match(desk.printed, /differ in CONTROL_REPO/);
});

test("a problem ends it with 1, a warning with 0", async (t) => {
  const desk = await openDesk(t);
  desk.github.webhook.secret = false;
  assert.equal(await desk.doctor(), 0);
  assert.match(desk.printed, /1 warning, 1 not checked, 9 in order\./);
  desk.github.webhook = null;
  assert.equal(await desk.doctor(), 1);
});

test("flags go before the environment, and a secret is no flag", async (t) => {
  const desk = await openDesk(t);
  const settings = { ...desk.settings, GITHUB_APP_ID: "999", GITHUB_APP_PRIVATE_KEY: "" };
  assert.equal(await desk.doctor(settings, ["--app-id", "1234567", "--key-file", "app.private-key.pem"]), 0);
  const refused = desk.doctor(desk.settings, ["--bot-token", desk.telegram.token]);
  await assert.rejects(refused, (error) => {
    assertNoSecret([error.message], desk.settings);
    return /^--bot-token is not taken/.test(error.message);
  });
  await assert.rejects(desk.doctor({}, ["--key-file", "nowhere.pem"]), /--key-file: There is no file .*nowhere\.pem/);
});

test("a redirect is not followed, or it would get the credentials", async (t) => {
  const desk = await openDesk(t);
  desk.github.fault({ path: "/app" }, { status: 302, headers: { location: `${desk.github.url}/login` } });
  assert.equal(await desk.doctor(), 1);
  assert.deepEqual(
    desk.github.requests.map(({ path }) => path),
    ["/app"],
  );
});

test("a service that repeats the request gets no secret onto the screen", async (t) => {
  const desk = await openDesk(t);
  const echo = (request) => ({ status: 418, body: { message: request, description: request, ok: false } });
  const jwt = "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTY3In0.c2lnbmF0dXJl";
  desk.github.fault({ path: "/app/hook/config" }, echo(`authorization: bearer ${jwt}`));
  desk.telegram.fault({ method: "getMe" }, echo(`https://api.telegram.org/bot${desk.telegram.token}/getMe`));
  assert.equal(await desk.doctor(), 1);
  assert.match(desk.printed, /418/);
  assert.ok(!desk.printed.includes(jwt.slice(0, 20)), desk.printed);
  assert.ok(!desk.printed.includes(desk.telegram.token.slice(-20)), desk.printed);
});

test("whether it is the Worker that answers at STATUS_URL is looked at without its token", async (t) => {
  const desk = await openDesk(t);
  const asked = [];
  let answer;
  desk.change.fetch = (url, how) => {
    if (!url.startsWith("https://worker.example/")) return fetch(url, how);
    asked.push([url, how.headers.authorization]);
    return Promise.resolve(answer());
  };
  const settings = { ...desk.settings, STATUS_URL: "https://worker.example" };
  answer = () => new Response("Not Found", { status: 404 });
  assert.equal(await desk.doctor(settings), 0, desk.printed);
  assert.match(desk.printed, /✔ {2}status page +The Worker answers at STATUS_URL\./);
  assert.deepEqual(asked, [["https://worker.example/", undefined]]);
  for (const another of [
    () => new Response("<h1>There is nothing here yet</h1>", { status: 404 }),
    () => new Response("Not Found", { status: 200 }),
    () => new Response("", { status: 302, headers: { location: "https://elsewhere.example/" } }),
  ]) {
    answer = another;
    assert.equal(await desk.doctor(settings), 1);
  }
  assert.match(desk.printed.replace(/\s+/g, " "), /It is not the Worker that answers at STATUS_URL \(status 302\)/);
  answer = () => Promise.reject(Object.assign(new TypeError("fetch failed"), { cause: { code: "ENOTFOUND" } }));
  assert.equal(await desk.doctor(settings), 1);
  assert.match(desk.printed.replace(/\s+/g, " "), /worker\.example cannot be found/);
});

test("the deployed Worker is asked with its token", async (t) => {
  const desk = await openDesk(t);
  const worker = { WORKER_URL: "https://worker.example/", ADMIN_TOKEN: "canary-admin-token" };
  const answers = {
    healthz: 200,
    status: { ok: true, last_sweep: "2026-11-02T08:00:00Z", failures_in_a_row: 0, last_failure: null },
  };
  const asked = [];
  desk.change.fetch = (url, how) => {
    if (!url.startsWith("https://worker.example/")) return fetch(url, how);
    asked.push([url, how.headers.authorization]);
    return Promise.resolve(Response.json(answers.status, { status: url.endsWith("/healthz") ? answers.healthz : 200 }));
  };
  assert.equal(await desk.doctor({ ...desk.settings, ...worker }), 0, desk.printed);
  assert.deepEqual(asked[1], ["https://worker.example/status.json", "Bearer canary-admin-token"]);
  assert.match(desk.printed, /All is well, last good sweep 2026-11-02T08:00:00Z/);
  answers.healthz = 503;
  const reasons = ["3 sweeps in a row failed, the last one with auth.", "1 entry of the alarm is open."];
  answers.status = {
    ...{ ok: false, reasons, last_sweep: null },
    ...{ failures_in_a_row: 3, last_failure: { class: "auth", at: "08:15" } },
  };
  assert.equal(await desk.doctor({ ...desk.settings, ...worker }), 1);
  assert.match(
    desk.printed.replace(/\s+/g, " "),
    /no good sweep yet, 3 failed in a row\. The last failure: auth, 08:15\. 3 sweeps in a row failed, the last one with auth\. 1 entry of the alarm is open\. → Look at its status page \(docs\/status\.md\)/,
  );
  answers.healthz = 404;
  assert.equal(await desk.doctor({ ...desk.settings, ...worker }), 1);
  assert.match(desk.printed, /does not take this ADMIN_TOKEN/);
  assert.ok(!desk.printed.includes("canary-admin-token"));
});
