// Values from outside, whoever sends them, are shown and change nothing else (specification, section 8).

import assert from "node:assert/strict";
import { test } from "node:test";
import { marked } from "marked";
import { refusal } from "./fakes/telegram.mjs";
import { breaks, newest, on, openActs, sweep } from "./worker/alarm.mjs";

const HOSTILE = [
  '<b>bold</b><a href="https://evil.example">x</a>',
  "</code></pre><tg-spoiler>",
  "&lt;&amp;&#60;&nbsp;&",
  "@octocat @acme/owners",
  "#1 octo/repo#2 GH-3",
  "a|b|c \\| \\",
  "`` ` ``` `",
  "](https://evil.example) ![i](https://evil.example/i.png)",
  "<!-- github-app-redeliver:v1 app=1234567 --> -->",
  "line\n\n# heading\r\n- [ ] task",
  "https://evil.example www.evil.example /start@bot",
  "\u202egnp.exe\u2066\u200b\u0000\u001b[31m",
  "**bold** _it_ ~~gone~~ $x$ :tada:",
  "x".repeat(200),
  "😀".repeat(60),
  "",
];

// What hides, or turns the writing round; line ends are looked for elsewhere.
const HIDDEN = /[\p{Bidi_Control}\u200b]|(?!\n)\p{Cc}/u;

/** The rows of the table of events as GitHub lays them out, each a list of the texts of its cells. */
function rowsOf(body) {
  const [table] = marked.lexer(body, { gfm: true }).filter(({ type }) => type === "table");
  return table.rows;
}

/** What of the Markdown is no code: there a name from outside has no business. */
const withoutCode = (body) => marked.parse(body, { gfm: true }).replace(/<code>[^<]*<\/code>/g, "");

/** Links and pictures of the Markdown. */
const addresses = (body) => [...marked.parse(body).matchAll(/(?:href|src)="([^"]*)"/g)].map(([, url]) => url);

test("hostile values", async (t) => {
  const act = await openActs(t);
  const advanced = "https://github.com/settings/apps/example-app/advanced";

  // One after the other, so that each is seen in Telegram, which shows fifteen at most.
  await act(
    "an event name, an action and a guid: each is shown as code, and is nothing else in either channel",
    async (scene) => {
      const guids = HOSTILE.map((value, index) => {
        const time = on(scene, "08:01") + index * 10_000;
        return breaks(scene, time, { event: value, action: value, guid: `${index} ${value}` });
      });
      const tick = await sweep(scene, "08:15");
      assert.equal(tick.sweep.alarm_entries, HOSTILE.length);
      assert.deepEqual(tick.failures, []);

      const { body, title } = scene.openIssue();
      assert.match(title, /^example-app: 16 webhook events not delivered \(since 2026-11-\d\d 08:01 UTC\)$/);
      const rows = rowsOf(body);
      assert.equal(rows.length, guids.length);
      assert.ok(rows.every((cells) => cells.length === 6));
      for (const [event, , attempts, , guid, repository] of rows) {
        assert.match(event.text, /^`[^`\n|]+` `[^`\n|]+`$/);
        assert.equal(attempts.text, "500, 500");
        assert.match(guid.text, /^\[`\d+ [^`\n|]*`\]\(https:\/\/github\.com\/settings\/apps\/example-app\/advanced\)$/);
        assert.match(repository.text, /^\d+$/);
      }
      assert.doesNotMatch(withoutCode(body), /evil|octocat|[@#](?!39;)|<img|bold|<del>|task|\|/);
      assert.deepEqual(new Set(addresses(body)), new Set([advanced]));
      assert.equal(marked.parse(body).match(/<!--/g).length, 1, "the marker");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
      assert.doesNotMatch(body, /[\u0000-\u0009\u000b-\u001f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/);

      const [message] = scene.messages();
      assert.deepEqual([...new Set(message.entities.map(({ type }) => type))].sort(), ["bold", "code", "text_link"]);
      const codes = message.entities.filter(({ type }) => type === "code");
      const inCode = codes.map(({ offset, length }) => message.text.slice(offset, offset + length));
      const shown = guids.filter((_, index) => inCode.some((text) => text.startsWith(`${index} `)));
      assert.ok(shown.length >= 5, `${shown.length} are shown`);
      let rest = message.text;
      for (const { offset, length } of codes.toReversed()) rest = rest.slice(0, offset) + rest.slice(offset + length);
      assert.doesNotMatch(rest, /[<>@#`]|evil|xxx|😀/);
      assert.ok(inCode.every((text) => [...text].length <= 64 && !HIDDEN.test(text)));
    },
  );

  for (const [index, value] of HOSTILE.entries()) {
    if (index % 4 !== 0 && value.length < 100) continue;
    await act(`alone in Telegram, ${JSON.stringify(value.slice(0, 20))} is shown`, async (scene) => {
      breaks(scene, "08:05", { event: value, action: value });
      await sweep(scene, "08:15");
      const [message] = scene.messages();
      const [event, action] = message.entities.filter(({ type }) => type === "code");
      for (const { offset, length } of [event, action]) {
        const text = message.text.slice(offset, offset + length);
        const wanted = [...value].length > 48 ? `${[...value].slice(0, 47).join("")}…` : value;
        assert.equal(text, wanted || "(empty)");
      }
    });
  }

  await act("what a channel says of its loss", async (scene) => {
    const said = 'Forbidden: <b>no</b> `x` | @octocat #1 "q" & \u202e\n## heading https://evil.example';
    scene.telegram.fault({}, refusal(403, said), 9);
    breaks(scene, "08:05");
    await sweep(scene, "08:15");
    const issue = scene.openIssue();
    assert.match(issue.body, /Telegram since .*\. It said `Forbidden: <b>no<\/b> /);
    assert.doesNotMatch(withoutCode(issue.body), /evil|octocat|[@#](?!39;)|<b>|heading|\u202e/);
    assert.deepEqual(new Set(addresses(issue.body)), new Set([advanced]));
    assert.equal(rowsOf(issue.body).length, 1);
  });

  await act("what GitHub says of its loss", async (scene) => {
    const message = 'No </code><b>"x"</b> & <a href="https://evil.example">\u202e\n@octocat #1';
    scene.github.fault({ path: /\/installation$/ }, { status: 404, body: { message } }, 9);
    breaks(scene, "08:05");
    await sweep(scene, "08:15");
    const [shown] = scene.messages();
    assert.ok(newest(scene).includes('It said No </code><b>"x"</b> & <a href="https://evil.example">'));
    assert.deepEqual([...new Set(shown.entities.map(({ type }) => type))].sort(), ["bold", "code", "text_link"]);
  });

  for (const [name, slug, html_url] of [
    ["a script", "x", "javascript:alert(1)"],
    ["an attribute's end", '"><b>@octocat', 'https://github.com/apps/"><b>x</b>'],
    ["a link's end", "a](https://evil.example)", "https://github.com/apps/a](https://evil.example)[x"],
  ]) {
    await act(`the App's name and address: ${name}`, async (scene) => {
      const body = { id: 1234567, slug, html_url, owner: { login: "octo", type: "Enterprise" } };
      scene.github.fault({ path: "/app" }, { status: 200, body }, 9);
      breaks(scene, "08:05");
      const tick = await sweep(scene, "08:15");
      const { title, body: text } = scene.openIssue();
      assert.doesNotMatch(title, /[<>@[\]"]/);
      const links = addresses(text);
      assert.ok(
        links.every((url) => new URL(url).host === "github.com"),
        links.join(),
      );
      assert.doesNotMatch(marked.parse(text).replace(/href="[^"]*"/g, ""), /<b>|octocat|evil|javascript/);
      const buttons = (scene.messages()[0].reply_markup?.inline_keyboard ?? []).map(([{ url }]) => new URL(url));
      assert.ok(buttons.length >= 1 && buttons.every(({ host }) => host === "github.com"));
      assert.deepEqual(tick.failures, []);
    });
  }
});
