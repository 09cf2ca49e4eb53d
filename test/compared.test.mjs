// The picture of docs/compare.md, without Chromium: it shows what docs/compare.json says, and hostile values stay text.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { comparedHtml } from "../scripts/picture/compared.mjs";
import { escaped } from "../scripts/picture/html.mjs";

const results = () => JSON.parse(readFileSync(new URL("../docs/compare.json", import.meta.url), "utf8"));

describe("the picture of the comparison", () => {
  test("has a row for each system, with its own sums", () => {
    const html = comparedHtml(results());
    for (const { systems } of results().apps) {
      for (const { name, weeks } of systems) {
        const rows = html.split("<tr").filter((row) => row.includes(`<td>${escaped(name.trim())}</td>`));
        const lost = weeks.reduce((all, week) => all + week.lost, 0).toLocaleString("en-US");
        assert.ok(
          rows.some((row) => row.includes(`</svg>${lost} <span`)),
          `${name}: ${lost}`,
        );
      }
    }
  });

  test("keeps hostile values text", () => {
    const hostile = `<script>alert(1)</script>`;
    const all = results();
    all.apps[0].title = hostile;
    all.apps[0].systems[1].name = hostile;
    const html = comparedHtml(all);
    assert.ok(!html.includes(hostile));
    assert.equal(html.split("&lt;script&gt;").length - 1, 2);
  });
});
