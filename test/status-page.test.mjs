// The status page in a real Chromium: in each state, on a phone and on a desk, by day and by night.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { ensureBrowser, openBrowser } from "../scripts/picture/browser.mjs";
import { HOSTILE, STANDINGS, standing } from "./worker/standing.mjs";
import { ago, openDoor, statusOf, TOKEN } from "./worker/visitor.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const credentials = { username: "admin", password: TOKEN };

let browser;
before(async () => {
  await ensureBrowser();
  browser = await openBrowser();
});
after(() => browser?.close());

/** A page that a person opens by the login path, and what it did meanwhile. */
async function open(t, scene, options = {}) {
  const context = await browser.newContext({
    httpCredentials: credentials,
    timezoneId: "Asia/Tokyo",
    locale: "en-GB",
    ...options,
  });
  t.after(() => context.close());
  const page = await context.newPage();
  const seen = { page, errors: [], requests: [] };
  page.on("console", (message) => message.type() === "error" && seen.errors.push(message.text()));
  page.on("pageerror", (error) => seen.errors.push(String(error)));
  page.on("request", (request) => seen.requests.push(request.url()));
  const { login_path: login } = await statusOf(scene);
  seen.home = await scene.worker.url();
  await page.goto(new URL(login, seen.home).href);
  assert.equal(page.url(), seen.home);
  // The challenge itself, which is what signing in looks like from inside.
  seen.errors = seen.errors.filter((text) => !/status of 401/.test(text));
  return seen;
}

/** Nothing that a screen reader, a keyboard or weak eyes would stumble over, and nothing that went wrong. */
async function assertSound({ page, errors, requests, home }) {
  assert.deepEqual(errors, []);
  assert.deepEqual(
    requests.filter((url) => !url.startsWith(home) && !url.startsWith("data:")),
    [],
  );
  const { width, inner } = await page.evaluate(() => ({
    width: document.documentElement.scrollWidth,
    inner: innerWidth,
  }));
  assert.ok(width <= inner, `${width} pixels wide at ${inner}`);
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run());
  assert.deepEqual(
    violations.map(({ id, nodes }) => [id, nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`)]),
    [],
  );
}

describe("the status page", () => {
  test("shows each state, at 360 and 1280 pixels, by day and by night, and nothing is wrong with it", async (t) => {
    const { scene, stand } = await standing(t);
    for (const [name, [heading, change]] of Object.entries(STANDINGS)) {
      await stand(change);
      for (const [width, colorScheme] of [
        [360, "dark"],
        [1280, "light"],
        [360, "light"],
        [1280, "dark"],
      ]) {
        const seen = await open(t, scene, { viewport: { width, height: 800 }, colorScheme });
        assert.equal(await seen.page.locator("h1").textContent(), heading, name);
        await seen.page.locator("details").evaluateAll((all) => {
          for (const details of all) details.open = true;
        });
        await assertSound(seen);
        const hours = await seen.page
          .locator("tbody th time")
          .evaluateAll((times) => times.map((time) => time.getClientRects().length));
        assert.ok(hours.length > 40 && hours.every((lines) => lines === 1), "an hour is one line of the table");
      }
    }
  });

  test("the bars are those of the hours, and an outage is shaded", async (t) => {
    const { scene, rows, stand } = await standing(t);
    await stand(() => {});
    const { page } = await open(t, scene);
    const hour = (at) => Math.floor(at / 3_600_000);
    for (const place of [0, 1, 2, 3]) {
      const sums = new Map();
      for (const { at, measures } of rows) sums.set(hour(at), (sums.get(hour(at)) ?? 0) + measures[place]);
      const first = hour(Date.now()) - 47;
      const most = Math.max(...[...sums].filter(([at]) => at >= first).map(([, sum]) => sum));
      const wanted = [...sums].filter(([at, sum]) => at >= first && sum > 0);
      const shown = await page
        .locator(`rect.bar.m${place}`)
        .evaluateAll((bars) =>
          bars.map((bar) => ["x", "height", "data-value"].map((name) => Number(bar.getAttribute(name)))),
        );
      assert.deepEqual(
        shown,
        wanted.map(([at, sum]) => [at - first + 0.1, Math.max(3, Math.floor((sum * 100) / most)), sum]),
      );
      const down = new Set(rows.filter(({ outage }) => outage).map(({ at }) => hour(at)));
      assert.equal(await page.locator(`svg >> nth=${place}`).locator("rect.down").count(), down.size);
    }
  });

  test("hostile names are text, and times stand in the reader's zone", async (t) => {
    const { scene, stand } = await standing(t);
    await stand(STANDINGS.entries[1]);
    const { page } = await open(t, scene);
    assert.equal(await page.locator("script").count(), 1);
    assert.equal(await page.locator("main img").count(), 0);
    assert.match(await page.title(), /^Needs attention: deploy-bot$/);
    assert.ok((await page.locator("ul.entries").textContent()).includes(HOSTILE.slice(0, 40)));
    const bar = await page.locator("rect.bar title").first().textContent();
    assert.match(bar, /^\d+ \w+, \d\d:00: [\d,]+$/);
    assert.doesNotMatch(await page.locator("main").textContent(), / UTC/, "each time is the reader's");
    const linked = await page.locator("ul.entries a").evaluateAll((links) => links.map((link) => link.href));
    assert.deepEqual(linked, Array(3).fill("https://github.com/settings/apps/deploy-bot/advanced"));
    const time = page.locator("footer time");
    const at = new Date(await time.getAttribute("datetime"));
    const options = { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", timeZone: "Asia/Tokyo" };
    assert.equal(await time.textContent(), at.toLocaleString("en-GB", options));
    assert.match(await time.getAttribute("title"), / UTC$/);
  });

  test("a first start, a sweep by its button, the plan, and an entry taken out by its button", async (t) => {
    const scene = await openDoor(t, { settings: { MAX_ATTEMPTS: "2" } });
    scene.github.endpoint = () => 500;
    const guid = scene.fails(ago(5));
    scene.now = Date.now();
    const seen = await open(t, scene);
    const { page } = seen;
    const heading = () => page.locator("h1").textContent();
    assert.equal(await heading(), "Starting");
    await assertSound(seen);
    await page.getByRole("link", { name: "What comes next" }).click();
    assert.ok((await page.locator("table").textContent()).includes(guid));
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await assertSound(seen);
      const { scrolls, heights } = await page.evaluate(() => ({
        scrolls: [...document.querySelectorAll(".scroll")].map((part) => part.scrollWidth > part.clientWidth),
        heights: [...document.querySelectorAll("tbody th, tbody td")].map((cell) => cell.offsetHeight),
      }));
      assert.deepEqual(scrolls, [false], `all of the plan is seen at ${width}`);
      assert.ok(heights.length > 0 && Math.max(...heights) < 70, `no cell is squeezed: ${heights} at ${width}`);
    }
    await page.getByRole("link", { name: "Status", exact: true }).click();
    await page.getByRole("button", { name: "Sweep now" }).click();
    assert.deepEqual([page.url(), await heading()], [seen.home, "All is well"]);
    assert.deepEqual(scene.asksIn(scene.arrived()), [guid]);
    await scene.tickAt(Date.now() + 2 * 60_000);
    await page.goto(seen.home);
    assert.equal(await heading(), "Needs attention");
    await page.getByRole("button", { name: `Take out ${guid}` }).click();
    assert.deepEqual([page.url(), await heading()], [seen.home, "All is well"]);
    await assertSound(seen);
  });
});
