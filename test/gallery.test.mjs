// The gallery of the alarm, without Chromium: the page is what the code makes of the fixture, and what it shows stays text.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { caseId, galleryHtml } from "../scripts/picture/gallery-page.mjs";
import { escaped } from "../scripts/picture/html.mjs";
import { parseHtml } from "./fakes/telegram/html.mjs";

// Far from UTC, and a day ahead of it at night: the page must not know where it is made.
process.env.TZ = "Pacific/Kiritimati";

const read = (path) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
const fixture = () => JSON.parse(read("test/fixtures/gallery.json"));
const sections = fixture();
const html = galleryHtml(sections);
const HOSTILE = `<script>alert(1)</script><img src=x onerror="alert(2)">&amp;'"`;

/** Text, and its entities if it has any. */
const parsed = ({ is_html, text }) => (is_html ? parseHtml(text) : { text, entities: [] });

describe("the gallery", () => {
  test("docs/gallery.html is what the code makes of the fixture", () => {
    assert.ok(read("docs/gallery.html") === html, "docs/gallery.html is stale: run `npm run gallery`");
  });

  test("has each kind of entry raised, changed and cleared", () => {
    const kinds = sections.filter(({ is_kind }) => is_kind);
    assert.equal(kinds.length, 10);
    for (const { id, cases } of kinds) {
      assert.deepEqual(
        cases.map(({ title }) => title),
        ["Raised", "Changed", "Cleared"],
        id,
      );
    }
  });

  test("has each case, under an anchor of its own, with the words of both channels", () => {
    const anchors = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
    assert.equal(new Set(anchors).size, anchors.length);
    for (const [, target] of html.matchAll(/href="#([^"]+)"/g)) assert.ok(anchors.includes(target), target);
    for (const section of sections) {
      for (const shown of section.cases) {
        const words = part(`id="${caseId(section, shown)}"`, "</article>").replace(/<[^>]*>/g, "");
        for (const text of [shown.title, shown.about]) assert.ok(words.includes(escaped(text)), text);
        for (const message of shown.telegram.wrote) {
          assert.ok(words.includes(escaped(parsed(message).text)), message.text);
          for (const button of message.buttons) assert.ok(words.includes(escaped(button.text)), button.text);
        }
        for (const { title, number } of shown.control_repo.wrote) {
          assert.ok(words.includes(`${escaped(title)} #${number}`), title);
        }
      }
    }
  });

  test("says of a channel that wrote nothing why", () => {
    const [raised, , cleared] = sections.find(({ id }) => id === "telegram").cases;
    assert.equal(raised.telegram.can_be_reached, false);
    assert.ok(part('id="telegram-raised"', "</article>").includes("Telegram cannot be reached</p>"));
    assert.equal(cleared.telegram.can_be_reached, true);
    assert.ok(part('id="telegram-cleared"', "</article>").includes("Telegram: nothing is written</p>"));
  });

  test("runs nothing, loads nothing, and leads nowhere", () => assertHarmless(html));

  test("allows its own style and nothing else", () => {
    const style = /<style>([\s\S]*)<\/style>/.exec(html)[1];
    const hash = createHash("sha256").update(style).digest("base64");
    assert.ok(
      html.includes(`content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`),
    );
    assert.doesNotMatch(style, /url\(|@import|@font-face/);
  });

  test("keeps hostile values text, wherever they stand", () => {
    const change = {
      "a section's title": (section) => (section.title = HOSTILE),
      "a case's title": ({ cases }) => (cases[0].title = HOSTILE),
      "what had happened": ({ cases }) => (cases[0].about = HOSTILE),
      "a message": ({ cases }) => Object.assign(cases[0].telegram.wrote[0], { is_html: false, text: HOSTILE }),
      "a button": ({ cases }) => (cases[0].telegram.wrote[0].buttons[0].text = HOSTILE),
      "an issue's title": ({ cases }) => (cases[0].control_repo.wrote[0].title = HOSTILE),
      "an issue's text": ({ cases }) => (cases[0].control_repo.wrote[0].body = `\`${HOSTILE}\``),
    };
    for (const [place, make] of Object.entries(change)) {
      const all = fixture();
      make(all[0]);
      const changed = galleryHtml(all);
      assertHarmless(changed);
      assert.ok(changed.includes(escaped(HOSTILE)), place);
    }
    const all = fixture();
    all[0].cases[0].control_repo.wrote[0].body = `${HOSTILE}\n\n![x](//x/y.png) [a](javascript:alert(1)) <https://x.example>`;
    assertHarmless(galleryHtml(all));
  });

  test("shows the hostile values of the alarm's own case as they are", () => {
    const shown = part('id="outside-raised"', "</article>");
    for (const value of ["<img src=x onerror=alert(1)>", "<script>alert(2)</script>", "<!-- c -->", "**d** @mona"]) {
      assert.equal(shown.split(escaped(value)).length - 1, 2, value);
    }
  });

  test("a message that Telegram would refuse is no picture", () => {
    const all = fixture();
    all[0].cases[0].telegram.wrote[0].text = "<b>unclosed";
    assert.throws(() => galleryHtml(all), /Telegram would refuse/);
  });
});

describe("docs/alarm.md", () => {
  test("quotes the alarm word for word", () => {
    const cases = sections.flatMap(({ cases }) => cases);
    const lines = new Set([
      ...cases.flatMap(({ telegram }) => telegram.wrote.flatMap((message) => parsed(message).text.split("\n"))),
      ...cases.flatMap(({ control_repo }) => control_repo.wrote.map(({ title }) => title)),
    ]);
    const quotes = [...read("docs/alarm.md").matchAll(/^> (.+)$/gm)].map(([, quote]) => quote);
    assert.ok(quotes.length >= 12);
    for (const quote of quotes) assert.ok(lines.has(quote), quote);
  });
});

/** The page from the first `start` to the next `end`. */
function part(start, end) {
  const from = html.indexOf(start);
  assert.ok(from >= 0, start);
  return html.slice(from, html.indexOf(end, from));
}

/** Only elements that the page itself makes: none runs or loads anything, and links stay on the page. */
function assertHarmless(page) {
  const own =
    /^(html|head|meta|title|style|body|header|main|nav|section|article|div|span|i|b|svg|path|circle|h[1-3]|p|time|a|code|table|thead|tbody|tr|th|td|ul|li|strong|br)$/;
  const withoutStyle = page.replace(/<style>[\s\S]*?<\/style>/, "");
  for (const [, tag, attributes] of withoutStyle.matchAll(/<([a-z]\w*)([^>]*)>/gi)) {
    assert.match(tag, own);
    assert.doesNotMatch(attributes, /\b(on\w+|src|srcset|style|action|data|poster|ping)\s*=/i);
    assert.ok(!/\bhref=/.test(attributes) || /^ href="#[\w-]*"$/.test(attributes), attributes);
  }
}
