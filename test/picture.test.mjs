// The page of the README's picture: without Chromium, which only draws it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { pictureHtml } from "../scripts/picture/page.mjs";

// Far from UTC, and a day ahead of it at night: the picture must not know where it is made.
process.env.TZ = "Pacific/Kiritimati";

const HOSTILE = `<script>alert(1)</script><img src=x onerror="alert(2)">&amp;'"`;
const ESCAPED =
  "&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;alert(2)&quot;&gt;&amp;amp;&#39;&quot;";
const TIME = Date.parse("2026-11-03T02:45:00Z");

/** What history.mjs would give, with some of it replaced. */
function history({ message = {}, bot = {}, issue = {} } = {}) {
  return {
    message: { text: "in the chat", entities: [], date: TIME, edits: 0, reply_markup: undefined, ...message },
    bot: { first_name: "Redelivery", ...bot },
    issue: {
      title: "the title",
      body: "in the issue",
      number: 1,
      repository: { owner: "octo-org", name: "alarms" },
      author: { login: "deploy-bot[bot]", type: "Bot" },
      createdAt: TIME,
      updatedAt: TIME,
      ...issue,
    },
  };
}

const button = (text) => ({ inline_keyboard: [[{ text, url: "javascript:alert(3)" }]] });
const count = (html, part) => html.split(part).length - 1;

describe("the page of the picture", () => {
  test("holds both texts, the button, and the times in UTC", () => {
    const html = pictureHtml(history({ message: { reply_markup: button("Open") } }));
    for (const part of ["in the chat", "the title", "in the issue", "alarms</b>", "<b>deploy-bot</b>", "Open<svg"]) {
      assert.ok(html.includes(part), part);
    }
    assert.ok(html.includes("02:45") && html.includes("November 3") && html.includes("opened on Nov 3, 2026"));
  });

  test("says of an edited message and an edited issue that they are", () => {
    assert.ok(!pictureHtml(history()).includes("edited"));
    const html = pictureHtml(history({ message: { edits: 1 }, issue: { updatedAt: TIME + 1000 } }));
    assert.equal(count(html, "edited"), 2);
  });

  test("shows what Telegram's entities mark, also one inside of another and one beside an emoji", () => {
    const entities = [
      { type: "bold", offset: 3, length: 8 },
      { type: "code", offset: 5, length: 3 },
      { type: "text_link", offset: 12, length: 4, url: "https://example.com" },
      { type: "spoiler", offset: 12, length: 2 },
    ];
    const html = pictureHtml(history({ message: { text: "🔴 a <b> c d link.", entities } }));
    assert.ok(html.includes('🔴 <b>a <code>&lt;b&gt;</code> c </b>d<span class="link"> lin</span>k.'), html);
  });

  test("shows GitHub's Markdown with its table, without its hidden comment", () => {
    const body = "**bold**\n\n| a | b |\n| --- | --- |\n| `x` | [`y`](https://example.com) |\n\n<!-- a mark -->\n";
    const html = pictureHtml(history({ issue: { body } }));
    assert.ok(html.includes("<strong>bold</strong>"));
    assert.ok(html.includes("<td><code>x</code></td>"));
    assert.ok(html.includes('<span class="link"><code>y</code></span>'));
    assert.ok(!html.includes("a mark"));
  });

  const places = {
    "the message": { message: { text: HOSTILE, entities: [{ type: "code", offset: 0, length: HOSTILE.length }] } },
    "the button": { message: { reply_markup: button(HOSTILE) } },
    "the bot's name": { bot: { first_name: HOSTILE } },
    "the title": { issue: { title: HOSTILE } },
    "the repository": { issue: { repository: { owner: HOSTILE, name: HOSTILE } } },
    "the author": { issue: { author: { login: HOSTILE, type: "User" } } },
    "code in the issue": { issue: { body: `\`${HOSTILE}\`` } },
  };
  for (const [place, change] of Object.entries(places)) {
    test(`escapes hostile values in ${place}`, () => assertHarmless(pictureHtml(history(change)), true));
  }

  test("keeps HTML, images and addresses in the issue from meaning anything", () => {
    const bodies = [HOSTILE, `<!-- --><script>alert(1)</script>`, `<div onclick="alert(1)">\n\n<iframe src="//x">`];
    for (const body of [...bodies, `![<img>](//x/y.png)`, `[a](javascript:alert(1)) <https://x.example>`]) {
      assertHarmless(pictureHtml(history({ issue: { body } })));
    }
  });
});

/** Only elements that the page itself makes, none of which loads, runs or leads anywhere. */
function assertHarmless(html, escaped = false) {
  const body = html.slice(html.indexOf("<main"));
  const own =
    /^(main|section|header|div|span|i|b|svg|path|circle|h1|p|code|table|thead|tbody|tr|th|td|ul|li|strong|br)$/;
  for (const [, tag, attributes] of body.matchAll(/<([a-z]\w*)([^>]*)>/gi)) {
    assert.match(tag, own);
    assert.doesNotMatch(attributes, /\b(on\w+|src|href|style)\s*=/i);
  }
  if (escaped) assert.ok(body.includes(ESCAPED), body);
}
