// What Telegram refuses, and what is done about it at once, in the next sweep, or by a person (specification, section 8).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { refusal } from "./fakes/telegram.mjs";
import { breaks, clicks, ENTER, newest, on, openActs, openAlarm, quiet, readable, sweep } from "./worker/alarm.mjs";
import { CHAT } from "./worker/scene.mjs";

describe("Telegram refuses", { concurrency: 2 }, () => {
  const people = [
    ["the bot was kicked from the supergroup", "kicked", "bot was kicked from the supergroup chat (status 403)"],
    ["the bot left the supergroup", "left", "bot is not a member of the supergroup chat (status 403)"],
    ["the group was deleted", "deleted", "the group chat was deleted (status 403)"],
  ];

  test("what can be done is done at once or by the next sweep, and what a person must do is an entry in the issue", async (t) => {
    const act = await openActs(t);

    await act("too many requests, for a second: it is waited for, and tried once more", async (scene) => {
      const guid = breaks(scene, "08:05");
      scene.telegram.flood(1);
      const started = Date.now();
      assert.deepEqual((await sweep(scene, "08:15")).toTelegram, ["sendMessage", "sendMessage"]);
      assert.ok(Date.now() - started >= 1_000);
      scene.shows(guid);
      assert.equal(scene.messages().length, 1);
      await quiet(scene, "08:30");
    });

    await act("too many requests twice in a row: the rest is left to the next sweep", async (scene) => {
      const guid = breaks(scene, "08:05");
      scene.telegram.flood(0, 2);
      assert.deepEqual((await sweep(scene, "08:15")).toTelegram, ["sendMessage", "sendMessage"]);
      assert.equal(scene.messages().length, 0);
      await sweep(scene, "08:30");
      scene.shows(guid);
      await quiet(scene, "08:45");
    });

    await act(
      "too many requests, for four seconds: one call, and the asks and the issue go out all the same",
      async (scene) => {
        const guids = [breaks(scene, "08:05")];
        const waits = scene.fails(on(scene, "08:06"));
        scene.telegram.flood(4);
        const tick = await sweep(scene, "08:15");
        assert.deepEqual([tick.asked, tick.toTelegram], [[waits], ["sendMessage"]]);
        assert.match(tick.failures.join(), /Telegram.*429.*Too Many Requests/);
        assert.ok(scene.openIssue().body.includes(guids[0]));
        assert.equal(scene.messages().length, 0);
        assert.deepEqual((await sweep(scene, "08:30")).told, ["sendMessage"]);
        // An edit waits like a message.
        guids.push(breaks(scene, "08:35"));
        scene.telegram.flood(3600);
        assert.deepEqual((await sweep(scene, "08:45")).toTelegram, ["editMessageText"]);
        assert.doesNotMatch(scene.openIssue().body, /cannot be reached/i);
        await sweep(scene, "09:00");
        scene.shows(...guids);
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
      },
    );

    await act("an edit whose answer was lost is not modified the next time, which is success", async (scene) => {
      const guids = [breaks(scene, "08:05")];
      await sweep(scene, "08:15");
      guids.push(breaks(scene, "08:20"));
      scene.telegram.fault({ method: "editMessageText" }, "lost-answer");
      await sweep(scene, "08:30");
      const tick = await sweep(scene, "08:45");
      assert.deepEqual([tick.told, tick.failures], [["editMessageText"], []]);
      assert.equal(tick.requests.at(-1).status, 400);
      scene.shows(...guids);
      assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
      await quiet(scene, "09:00");
    });

    await act("an edit whose answer was lost and whose entry left again is undone", async (scene) => {
      const stays = breaks(scene, "08:05");
      await sweep(scene, "08:15");
      const goes = breaks(scene, "08:20");
      scene.telegram.fault({ method: "editMessageText" }, "lost-answer");
      await sweep(scene, "08:30");
      clicks(scene, goes, "08:35");
      await sweep(scene, "08:45");
      scene.shows(stays);
      await quiet(scene, "09:00");
    });

    await act(
      "its own reading of the HTML: the message goes out as plain text, with all that it says",
      async (scene) => {
        const action = "<b>&amp;</b>";
        const guids = [breaks(scene, "08:05", { action })];
        const cannotParse = refusal(400, "Bad Request: can't parse entities: Unsupported start tag at byte offset 1");
        const armed = scene.telegram.fault(({ body }) => body.parse_mode !== undefined, cannotParse, 9);
        const tick = await sweep(scene, "08:15");
        assert.deepEqual([tick.toTelegram, tick.failures], [["sendMessage", "sendMessage"], []]);
        scene.shows(...guids);
        const [message] = scene.messages();
        assert.deepEqual([message.entities, message.reply_markup.inline_keyboard.length], [[], 2]);
        for (const text of [action, "What to do", "GitHub forgets it"]) {
          assert.ok(message.text.includes(text), text);
        }
        assert.doesNotMatch(message.text, /<code>|&#|&quot;/);
        // An edit as well.
        guids.push(breaks(scene, "08:20"));
        assert.deepEqual((await sweep(scene, "08:30")).toTelegram, ["editMessageText", "editMessageText"]);
        scene.shows(...guids);
        armed.stop();
        await quiet(scene, "08:45");
      },
    );

    await act("the buttons: the message goes out without them", async (scene) => {
      const guid = breaks(scene, "08:05");
      const refused = refusal(400, "Bad Request: inline keyboard button URL 'x' is invalid: Wrong HTTP URL");
      scene.telegram.fault(({ body }) => body.reply_markup !== undefined, refused);
      assert.deepEqual((await sweep(scene, "08:15")).toTelegram, ["sendMessage", "sendMessage"]);
      scene.shows(guid);
      assert.equal(scene.messages()[0].reply_markup, undefined);
      await quiet(scene, "08:30");
    });

    const breakdowns = [
      ...people.map(([name, state, said]) => [
        name,
        said,
        (scene) => Object.assign(scene.telegram.chat(CHAT), { state }),
        (scene) => Object.assign(scene.telegram.chat(CHAT), { state: "member" }),
      ]),
      [
        "the token is wrong",
        "Unauthorized (status 401)",
        ({ telegram }) => Object.assign(telegram, { right: telegram.token, token: "1:AA" }),
        ({ telegram }) => Object.assign(telegram, { token: telegram.right }),
      ],
      [
        "the bot may not write",
        "not enough rights to send text messages to the chat (status 400)",
        (scene) => {
          const refused = refusal(400, "Bad Request: not enough rights to send text messages to the chat");
          scene.armed = scene.telegram.fault({}, refused, 99);
        },
        (scene) => scene.armed.stop(),
      ],
    ];

    for (const [name, said, breakDown, repair] of breakdowns) {
      await act(`${name}, before anything was sent`, async (scene) => {
        breakDown(scene);
        const guid = breaks(scene, "08:05");
        const waits = scene.fails(on(scene, "08:06"));
        const lost = await sweep(scene, "08:15");
        assert.deepEqual([lost.asked, lost.toTelegram], [[waits], ["sendMessage"]], "not tried again");
        const entry = `Telegram since ${readable(scene, "08:15")}`;
        for (const text of [guid, entry, said]) assert.ok(scene.openIssue().body.includes(text), text);
        assert.match(scene.openIssue().title, /Telegram cannot be reached/);
        assert.match(lost.sweep.warnings.join(), /Telegram cannot be reached/);
        // As long as it lasts, one call a sweep, and none to the issue.
        assert.deepEqual((await sweep(scene, "08:30")).told, ["sendMessage"]);
        repair(scene);
        const back = await sweep(scene, "08:45");
        assert.deepEqual([back.told, back.failures], [[...ENTER, "PATCH 1", "sendMessage"], []]);
        scene.shows(guid);
        assert.doesNotMatch(scene.openIssue().body, /cannot be reached/i);
        assert.doesNotMatch(newest(scene), /cannot be reached/i);
        await quiet(scene, "09:00");
      });
    }

    await act("the bot was kicked, and until it is back the last event passed", async (scene) => {
      const guid = breaks(scene, "08:05");
      await sweep(scene, "08:15");
      scene.telegram.chat(CHAT).state = "kicked";
      await quiet(scene, "08:30");
      scene.github.click(guid, 200);
      await sweep(scene, "08:45");
      // The loss is all that is open now, so the issue stays.
      assert.ok(!scene.openIssue().body.includes(guid));
      assert.match(scene.openIssue().title, /^example-app: Telegram cannot be reached/);
      assert.deepEqual((await sweep(scene, "09:00")).toTelegram, ["editMessageText"]);
      scene.telegram.chat(CHAT).state = "member";
      await sweep(scene, "09:15");
      assert.match(newest(scene), /^🟢 .*Nothing is open any more\.$/);
      assert.equal(scene.openIssue(), undefined);
      assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
      await quiet(scene, "09:30");
    });

    await act(
      "the bot was kicked with nothing left to say: it is asked whether it may write again, without a sound",
      async (scene) => {
        scene.telegram.chat(CHAT).state = "kicked";
        const guid = breaks(scene, "08:05");
        await sweep(scene, "08:15");
        clicks(scene, guid, "08:20");
        assert.deepEqual((await sweep(scene, "08:30")).toTelegram, ["sendChatAction"]);
        assert.match(scene.openIssue().title, /^example-app: Telegram cannot be reached/);
        assert.deepEqual((await sweep(scene, "08:45")).told, ["sendChatAction"]);
        scene.telegram.chat(CHAT).state = "member";
        const back = await sweep(scene, "09:00");
        assert.deepEqual(back.told, [...ENTER, "PATCH 1", "sendChatAction"]);
        assert.equal(scene.openIssue(), undefined);
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [0, 0]);
        await quiet(scene, "09:15");
      },
    );

    for (const [name, fault] of [
      ["reset", "reset"],
      ["500", { status: 500 }],
      ["answer in HTML", { status: 502, body: "<html>Bad Gateway</html>" }],
    ]) {
      await act(`the third ${name} in a row is an entry, no earlier one, and not after a success`, async (scene) => {
        const down = () => scene.telegram.fault({}, fault, 99);
        const isTold = () => /Telegram cannot be reached/.test(scene.openIssue().title);
        let armed = down();
        const guids = [breaks(scene, "08:05")];
        const first = [await sweep(scene, "08:15"), await sweep(scene, "08:30")];
        assert.ok(first.every(({ toTelegram }) => toTelegram.length === 1) && !isTold());
        armed.stop();
        await sweep(scene, "08:45");
        scene.shows(...guids);
        armed = down();
        guids.push(breaks(scene, "08:50"));
        await sweep(scene, "09:00");
        await sweep(scene, "09:15");
        assert.ok(!isTold());
        assert.equal((await sweep(scene, "09:30")).toTelegram.length, 1);
        assert.ok(isTold() && scene.openIssue().body.includes(`Telegram since ${readable(scene, "09:30")}`));
        assert.deepEqual((await sweep(scene, "09:45")).told, ["editMessageText"]);
        armed.stop();
        await sweep(scene, "10:00");
        assert.ok(!isTold());
        scene.shows(...guids);
        await quiet(scene, "10:15");
      });
    }
  });

  test("an old group's number: the group is followed, and its new number is remembered over the next alarms", async (t) => {
    const [GROUP, NEW] = [-4001, -1004001];
    const scene = await openAlarm(t, { chat: { id: GROUP, type: "group" } });
    const guids = [breaks(scene, "08:05")];
    await sweep(scene, "08:15");
    assert.ok(newest(scene, GROUP).includes(guids[0]));
    scene.telegram.migrate(GROUP, NEW);
    await quiet(scene, "08:30");
    guids.push(breaks(scene, "08:35"));
    assert.deepEqual((await sweep(scene, "08:45")).toTelegram, ["editMessageText", "sendMessage"]);
    const { messages } = scene.telegram.chat(NEW);
    assert.ok(guids.every((guid) => messages[0].text.includes(guid)));
    await quiet(scene, "09:00");
    // From now on nobody asks at the old number: an edit, a new message with its pointer, the end, the next alarm.
    const later = [];
    guids.push(breaks(scene, "09:05"));
    later.push(await sweep(scene, "09:15"));
    guids.push(breaks(scene, "10:05"));
    later.push(await sweep(scene, "10:15"));
    for (const guid of guids) clicks(scene, guid, "10:20");
    later.push(await sweep(scene, "10:30"));
    assert.match(newest(scene, NEW), /^🟢 Recovered after .*: all 4/);
    const next = breaks(scene, "12:05");
    later.push(await sweep(scene, "12:15"));
    assert.ok(newest(scene, NEW).includes(next));
    assert.deepEqual(
      later.map(({ toTelegram }) => toTelegram),
      [["editMessageText"], ["sendMessage", "editMessageText"], ["editMessageText"], ["sendMessage"]],
    );
    const bodies = later.flatMap(({ requests }) => requests.filter(({ verb }) => verb).map(({ body }) => body));
    assert.ok(bodies.every(({ chat_id }) => chat_id === NEW));
    assert.equal(messages.length, 3);
    assert.equal(messages[0].entities[0].url, `https://t.me/c/4001/${messages[1].message_id}`);
    await quiet(scene, "12:30");
  });

  test("a group that moved before anything was sent is followed by the first message", async (t) => {
    const [GROUP, NEW] = [-4001, -1004001];
    const scene = await openAlarm(t, { chat: { id: GROUP, type: "group" } });
    scene.telegram.migrate(GROUP, NEW);
    const guid = breaks(scene, "08:05");
    assert.deepEqual((await sweep(scene, "08:15")).toTelegram, ["sendMessage", "sendMessage"]);
    assert.ok(newest(scene, NEW).includes(guid));
    clicks(scene, guid, "08:20");
    assert.deepEqual((await sweep(scene, "08:30")).toTelegram, ["editMessageText"]);
    assert.equal(scene.telegram.sounds(NEW), 1);
  });

  test("a topic that is gone or closed: the alarm stands in the forum itself", async (t) => {
    const FORUM = -1005550000;
    const scene = await openAlarm(t, { chat: { id: FORUM, threads: [77] }, settings: { TELEGRAM_THREAD_ID: "77" } });
    const { chat: forum } = scene;
    const guids = [breaks(scene, "08:05")];
    await sweep(scene, "08:15");
    assert.equal(forum.messages[0].thread, 77);
    // With the topic go its messages.
    Object.assign(forum, { threads: [], messages: [] });
    guids.push(breaks(scene, "08:20"));
    const tick = await sweep(scene, "08:30");
    assert.deepEqual(tick.toTelegram, ["editMessageText", "sendMessage", "sendMessage"]);
    assert.deepEqual([forum.messages.length, forum.messages[0].thread], [1, null]);
    assert.ok(guids.every((guid) => forum.messages[0].text.includes(guid)));
    await quiet(scene, "08:45");
    forum.threads = [77];
    const closed = refusal(400, "Bad Request: TOPIC_CLOSED");
    scene.telegram.fault(({ body }) => body.message_thread_id !== undefined, closed);
    guids.push(breaks(scene, "09:35"));
    const later = await sweep(scene, "09:45");
    assert.deepEqual(later.toTelegram, ["sendMessage", "sendMessage", "editMessageText"]);
    assert.deepEqual([forum.messages.length, forum.messages[1].thread], [2, null]);
    await quiet(scene, "10:00");
  });
});
