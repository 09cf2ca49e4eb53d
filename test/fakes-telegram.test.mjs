// The fake Telegram refuses what Telegram refuses, in its words.

import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { call } from "./fakes/client.mjs";
import { parseHtml } from "./fakes/telegram/html.mjs";
import { startTelegram } from "./fakes/telegram.mjs";

const CHAT = -1001234567890;

/** @type {any} */
let telegram;
beforeEach(async () => {
  telegram = await startTelegram({
    chats: [{ id: CHAT, username: "alarms", threads: [17] }, { id: 42 }, { id: -55, type: "group" }],
  });
});
afterEach(() => telegram.close());

const bot = (method, json, token = telegram.token) =>
  call(`${telegram.url}/bot${token}/${method}`, { method: "POST", json, auth: null });
const send = (fields) => bot("sendMessage", { chat_id: CHAT, text: "hello", parse_mode: "HTML", ...fields });
const edit = (fields) =>
  bot("editMessageText", { chat_id: CHAT, message_id: 2, text: "hello", parse_mode: "HTML", ...fields });
const refused = async (answer, code, description) => {
  const { status, json } = await answer;
  assert.deepEqual([status, json.ok, json.error_code], [code, false, code]);
  assert.match(json.description, description);
  return json;
};
const button = (url) => ({ inline_keyboard: [[{ text: "Open", url }]] });

test("a message is sent, edited and deleted", async () => {
  const sent = (await send({ text: "<b>Two</b> &lt;events&gt;", reply_markup: button("https://github.com/x") })).json;
  assert.deepEqual([sent.ok, sent.result.message_id, sent.result.text], [true, 2, "Two <events>"]);
  assert.deepEqual(sent.result.entities, [{ type: "bold", offset: 0, length: 3 }]);
  assert.equal((await edit({ text: "One" })).json.result.text, "One");
  const [message] = telegram.messages(CHAT);
  assert.deepEqual([message.text, message.html, message.edits, message.reply_markup], ["One", "One", 1, undefined]);
  assert.equal((await bot("deleteMessage", { chat_id: CHAT, message_id: 2 })).json.result, true);
  assert.deepEqual(telegram.messages(CHAT), []);
});

test("a message sounds unless it is silent, and an edit never does", async () => {
  await send({});
  await send({ disable_notification: true });
  await edit({ text: "changed" });
  assert.equal(telegram.sounds(CHAT), 1);
  assert.deepEqual(
    telegram.messages(CHAT).map(({ sentSilently }) => sentSilently),
    [false, true],
  );
});

test("a chat is named by number, text or username, a method in any case", async () => {
  for (const chat_id of [CHAT, String(CHAT), "@alarms"]) assert.equal((await send({ chat_id })).status, 200);
  assert.equal((await bot("SENDMESSAGE", { chat_id: 42, text: "x" })).status, 200);
  assert.equal((await bot("getChat", { chat_id: 42 })).json.result.type, "private");
  assert.equal((await bot("getMe", {})).json.result.is_bot, true);
  assert.deepEqual((await bot("getUpdates", {})).json.result, []);
});

test("wrong tokens, methods, fields and media types", async () => {
  await refused(bot("getMe", {}, "7000000001:wrong"), 401, /^Unauthorized$/);
  await refused(bot("getMe", {}, "nonsense"), 404, /^Not Found$/);
  await refused(bot("sendNothing", {}), 404, /^Not Found$/);
  await refused(send({ disable_notificaton: true }), 400, /no field "disable_notificaton"/);
  const url = `${telegram.url}/bot${telegram.token}/getMe`;
  await refused(call(url, { auth: null }), 400, /POST only/);
  await refused(
    call(url, { auth: null, method: "POST", json: "{}", headers: { "content-type": null } }),
    400,
    /application\/json only/,
  );
  await refused(bot("getMe", "{"), 400, /can't parse JSON object/);
});

test("unknown chats and messages", async () => {
  await refused(send({ chat_id: 1 }), 400, /^Bad Request: chat not found$/);
  await refused(send({ chat_id: "" }), 400, /^Bad Request: chat_id is empty$/);
  await refused(edit({ message_id: 99 }), 400, /^Bad Request: message to edit not found$/);
  await refused(bot("deleteMessage", { chat_id: CHAT, message_id: 99 }), 400, /message to delete not found/);
  await send({});
  telegram.personDeletes(CHAT, 2);
  await refused(edit({}), 400, /message to edit not found/);
});

test("an edit that changes nothing is refused, a changed button is a change", async () => {
  await send({ reply_markup: button("https://a.example/1") });
  await refused(
    edit({ reply_markup: button("https://a.example/1") }),
    400,
    /^Bad Request: message is not modified: specified new/,
  );
  assert.equal((await edit({ reply_markup: button("https://a.example/2") })).status, 200);
});

/** @type {[string, RegExp][]} */
const badHtml = [
  ["<b>open", /Can't find end tag corresponding to start tag "b"/],
  ["<b><i>crossed</b></i>", /Unmatched end tag at byte offset 13, expected "<\/i>", found "<\/b>"/],
  ["end</b>", /Unexpected end tag at byte offset 3/],
  ["<p>no such tag</p>", /Unsupported start tag "p" at byte offset 0/],
  ["a<br>b", /Unsupported start tag "br"/],
  ["a < b", /Unclosed start tag at byte offset 2/],
  ["a > b", /Unexpected ">" at byte offset 2/],
  ["a & b", /Unescaped "&"/],
  ["R&D;", /unknown entity/],
  ["&nbsp;", /unknown entity/],
  ["&#0;", /unknown entity/],
  ["<span>x</span>", /must have class "tg-spoiler"/],
  ["<a>x</a>", /must have attribute "href"/],
  ['<a href="https://a.example?a=1&b=2">x</a>', /Unescaped "&" in attribute "href"/],
  ['<b class="x">y</b>', /Unsupported attribute "class"/],
];
for (const [text, description] of badHtml) {
  test(`bad HTML is refused: ${text}`, async () => {
    const { description: told } = await refused(send({ text }), 400, /^Bad Request: can't parse entities: /);
    assert.match(told, description);
    assert.equal(telegram.messages(CHAT).length, 0);
  });
}

test("every tag and entity that Telegram allows is read", () => {
  const html =
    "<b>b</b><strong>s</strong><i>i</i><em>e</em><u>u</u><ins>n</ins><s>s</s><strike>k</strike><del>d</del>" +
    '<code class="language-rust">c</code><pre>p</pre><a href="https://a.example/?x=1&amp;y=2">a</a>' +
    '<tg-spoiler>t</tg-spoiler><span class="tg-spoiler">n</span><blockquote expandable>q</blockquote>' +
    '<tg-emoji emoji-id="1">e</tg-emoji>&lt;&gt;&amp;&quot;&#39;&#x1F514;';
  const read = /** @type {any} */ (parseHtml(html));
  assert.equal(read.text, "bsieunskdcpatnqe<>&\"'🔔");
  assert.equal(read.entities.length, 16);
  assert.equal(read.entities.find(({ type }) => type === "text_link").url, "https://a.example/?x=1&y=2");
});

test("text without parse_mode is text", async () => {
  await bot("sendMessage", { chat_id: CHAT, text: "a < b & <c>" });
  assert.equal(telegram.messages(CHAT)[0].text, "a < b & <c>");
  await refused(send({ parse_mode: "Markdown" }), 400, /Unsupported parse_mode/);
});

test("the length counts UTF-16 units after parsing", async () => {
  assert.equal((await send({ text: `<b>${"&amp;".repeat(4096)}</b>` })).status, 200);
  assert.equal((await send({ text: "🔔".repeat(2048) })).status, 200);
  await refused(send({ text: "x".repeat(4097) }), 400, /^Bad Request: message is too long$/);
  await refused(send({ text: "🔔".repeat(2049) }), 400, /message is too long/);
  for (const text of ["", " \n", "<b></b>"]) await refused(send({ text }), 400, /^Bad Request: message text is empty$/);
});

test("a button leads to a real address", async () => {
  for (const url of ["https://github.com/settings/apps/x/advanced", "http://a.example", "tg://user?id=1"]) {
    assert.equal((await send({ reply_markup: button(url) })).status, 200, url);
  }
  for (const url of [undefined, "", "javascript:alert(1)", "/settings", "https://", "ftp://a.example"]) {
    await refused(send({ reply_markup: button(url) }), 400, /^Bad Request: BUTTON_URL_INVALID$/);
  }
});

test("a topic must be there", async () => {
  assert.equal((await send({ message_thread_id: 17 })).json.result.message_thread_id, 17);
  await refused(send({ message_thread_id: 18 }), 400, /^Bad Request: message thread not found$/);
  await refused(send({ message_thread_id: 1 }), 400, /message thread not found/);
  await refused(send({ chat_id: 42, message_thread_id: 17 }), 400, /message thread not found/);
});

/** @type {[number, string, RegExp][]} */
const forbidden = [
  [42, "blocked", /^Forbidden: bot was blocked by the user$/],
  [42, "deactivated", /^Forbidden: user is deactivated$/],
  [-55, "kicked", /^Forbidden: bot was kicked from the group chat$/],
  [CHAT, "kicked", /^Forbidden: bot was kicked from the supergroup chat$/],
  [CHAT, "left", /^Forbidden: bot is not a member of the supergroup chat$/],
  [-55, "deleted", /^Forbidden: the group chat was deleted$/],
];
for (const [chat_id, state, description] of forbidden) {
  test(`a chat that the bot cannot write to: ${state} ${chat_id}`, async () => {
    telegram.chat(chat_id).state = state;
    await refused(send({ chat_id }), 403, description);
  });
}

test("a group that became a supergroup names its new id, where old messages are unknown", async () => {
  await send({ chat_id: -55 });
  telegram.migrate(-55, -1009);
  const { parameters } = await refused(
    edit({ chat_id: -55, text: "x" }),
    400,
    /group chat was upgraded to a supergroup chat/,
  );
  assert.deepEqual(parameters, { migrate_to_chat_id: -1009 });
  await refused(edit({ chat_id: -1009, text: "x" }), 400, /message to edit not found/);
  assert.equal((await send({ chat_id: -1009 })).status, 200);
});

test("what people do waits for getUpdates until it is confirmed, a day at most", async () => {
  telegram.personWrites(CHAT, { text: "hi", thread: 17 });
  telegram.personAddsBot(-55);
  telegram.personWrites(42);
  const all = (await bot("getUpdates", {})).json.result;
  assert.deepEqual(
    all.map(({ message, my_chat_member }) => [
      (message ?? my_chat_member).chat.id,
      message?.message_thread_id ?? my_chat_member?.new_chat_member.status,
    ]),
    [
      [CHAT, 17],
      [-55, "member"],
      [42, undefined],
    ],
  );
  assert.equal((await bot("getUpdates", { limit: 1 })).json.result.length, 1);
  assert.deepEqual((await bot("getUpdates", { offset: all[2].update_id })).json.result, [all[2]]);
  telegram.now += 24 * 3_600_000;
  assert.deepEqual((await bot("getUpdates", {})).json.result, []);
});

test("a channel's posts are no messages, and a group that grew says its new number", async () => {
  telegram.addChat({ id: -1008, type: "channel", title: "News" });
  telegram.personWrites(-1008);
  telegram.migrate(-55, -1009);
  const [post, grown] = (await bot("getUpdates", {})).json.result;
  assert.equal(post.channel_post.chat.title, "News");
  assert.deepEqual([grown.message.chat.id, grown.message.migrate_to_chat_id], [-55, -1009]);
});

test("a bot with a webhook gives no updates", async () => {
  telegram.webhook = "https://example.com/bot";
  await refused(bot("getUpdates", {}), 409, /^Conflict: can't use getUpdates method while webhook is active/);
});

test("too many requests name the wait in the body and the header", async () => {
  telegram.flood(3);
  const answer = await send({});
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [429, "3"]);
  assert.deepEqual(answer.json, {
    ok: false,
    error_code: 429,
    description: "Too Many Requests: retry after 3",
    parameters: { retry_after: 3 },
  });
  assert.equal((await send({})).status, 200);
});

test("a message of the bot can be edited for ever but deleted for two days only", async () => {
  await send({});
  telegram.now += 49 * 3_600_000;
  assert.equal((await edit({ text: "old" })).status, 200);
  await refused(bot("deleteMessage", { chat_id: CHAT, message_id: 2 }), 400, /message can't be deleted/);
});

test("the log of requests holds no token", async () => {
  await send({});
  assert.ok(!JSON.stringify(telegram.requests).includes(telegram.token));
  assert.deepEqual([telegram.requests[0].method, telegram.requests[0].body.text], ["sendMessage", "hello"]);
});
