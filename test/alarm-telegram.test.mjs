// The life of the message: what wakes a person and what does not (specification, section 8).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { breaks, clicks, ENTER, newest, on, openActs, openAlarm, quiet, settings, sweep } from "./worker/alarm.mjs";
import { CHAT, CONTROL_REPO } from "./worker/scene.mjs";

const NOTHING_OPEN = /^🟢 Nothing is open any more\.$/;

describe("the message", { concurrency: 2 }, () => {
  test("in one chat", async (t) => {
    const act = await openActs(t);
    await act(
      "only the new alarm makes a sound: what changes, comes within the hour or leaves is a silent edit",
      async (scene) => {
        const first = breaks(scene, "08:05");
        assert.deepEqual((await sweep(scene, "08:15")).toTelegram, ["sendMessage"]);
        const [message] = scene.messages();
        assert.equal(message.sentSilently, false);
        clicks(scene, first, "08:20", 502);
        assert.deepEqual((await sweep(scene, "08:30")).toTelegram, ["editMessageText"]);
        assert.match(message.text, /Attempts: 500, 500, no answer \(502\)/);
        const second = breaks(scene, "08:35");
        assert.deepEqual((await sweep(scene, "08:45")).toTelegram, ["editMessageText"]);
        scene.shows(first, second);
        // Hours later too, as long as no entry is added.
        clicks(scene, first, "11:05", 503);
        assert.deepEqual((await sweep(scene, "11:15")).toTelegram, ["editMessageText"]);
        clicks(scene, second, "11:20");
        assert.deepEqual((await sweep(scene, "11:30")).toTelegram, ["editMessageText"]);
        scene.shows(first);
        await quiet(scene, "11:45");
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT), message.edits], [1, 1, 4]);
      },
    );

    await act(
      "a pointer that did not get through is made by the next sweep, without a second message",
      async (scene) => {
        const guids = [breaks(scene, "08:05")];
        await sweep(scene, "08:15");
        guids.push(breaks(scene, "09:20"));
        scene.telegram.fault({ method: "editMessageText" }, { status: 500 });
        assert.deepEqual((await sweep(scene, "09:30")).toTelegram, ["sendMessage", "editMessageText"]);
        scene.shows(...guids);
        assert.ok(scene.messages()[0].text.includes(guids[0]));
        assert.deepEqual((await sweep(scene, "09:45")).told, ["editMessageText"]);
        assert.match(scene.messages()[0].text, /^⬇️ This alarm goes on in a newer message\.$/);
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [2, 2]);
        await quiet(scene, "10:00");
      },
    );

    await act(
      "an entry that comes back within the hour does so by a silent edit, and opens its issue again",
      async (scene) => {
        // For a while the only `issues` event near our own write is taken for its own; then the own one is listed.
        const kind = { event: "issues", action: "edited", repositoryId: scene.github.repository(CONTROL_REPO).id };
        const guid = breaks(scene, "08:14", kind);
        await sweep(scene, "08:15");
        scene.shows(guid);
        const listedAfterMs = on(scene, "08:35") - on(scene, "08:15:01");
        scene.delivers(on(scene, "08:15:01"), { ...kind, action: "opened", listedAfterMs });
        await sweep(scene, "08:30");
        scene.shows();
        assert.match(newest(scene), NOTHING_OPEN);
        assert.deepEqual((await sweep(scene, "08:45")).toTelegram, ["editMessageText"]);
        scene.shows(guid);
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 1]);
        assert.deepEqual(
          scene.github.issues(CONTROL_REPO).map(({ state, stateReason }) => [state, stateReason]),
          [["open", "reopened"]],
        );
        await quiet(scene, "09:00");
      },
    );

    await act(
      "entries that came and went while Telegram was down are not sent, those that stayed are",
      async (scene) => {
        const stands = breaks(scene, "08:05");
        await sweep(scene, "08:15");
        const armed = scene.telegram.fault({}, "reset", 99);
        const goes = breaks(scene, "08:20");
        await sweep(scene, "08:30");
        clicks(scene, goes, "08:35");
        await sweep(scene, "08:45");
        const comes = breaks(scene, "08:50");
        await sweep(scene, "09:00");
        armed.stop();
        await sweep(scene, "09:15");
        scene.shows(stands, comes);
        await quiet(scene, "09:30");
        const taken = scene.telegram.requests.filter(({ status }) => status === 200);
        assert.ok(taken.length > 0 && taken.every(({ body }) => !body.text.includes(goes)));
      },
    );

    await act(
      "a message that a person deleted is sent anew when an entry comes, and not for the sake of saying that nothing is open",
      async (scene) => {
        const guids = [breaks(scene, "08:05")];
        await sweep(scene, "08:15");
        scene.telegram.personDeletes(CHAT, scene.messages()[0].message_id);
        await quiet(scene, "08:30");
        guids.push(breaks(scene, "08:35"));
        assert.deepEqual((await sweep(scene, "08:45")).toTelegram, ["editMessageText", "sendMessage"]);
        scene.shows(...guids);
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [1, 2]);
        scene.telegram.personDeletes(CHAT, scene.messages()[0].message_id);
        for (const guid of guids) clicks(scene, guid, "08:50");
        assert.deepEqual((await sweep(scene, "09:00")).toTelegram, ["editMessageText"]);
        assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [0, 2]);
        await quiet(scene, "09:15");
      },
    );

    await act(
      "more entries than fit: what is no event comes first, then the newest events, and the rest is counted",
      async (scene) => {
        scene.github.installation("octo-maintainer").installed = false;
        const count = 40;
        const guids = [];
        for (let index = 0; index < count; index += 1) guids.push(breaks(scene, on(scene, "08:01") + index * 10_000));
        await sweep(scene, "08:15");
        const { text } = scene.messages()[0];
        assert.ok(text.length <= 4_096);
        assert.match(
          text,
          /^🔴 example-app: 40 webhook events not delivered, the control repository cannot be reached/,
        );
        const shown = guids.filter((guid) => text.includes(guid));
        assert.ok(shown.length >= 8, `${shown.length} are shown`);
        assert.deepEqual(shown, guids.slice(-shown.length));
        assert.ok(text.includes(`… and ${count - shown.length} more that do not fit here.`));
        const places = [text.indexOf("Cannot be reached"), ...shown.reverse().map((guid) => text.indexOf(guid))];
        assert.deepEqual(
          places,
          places.toSorted((a, b) => a - b),
        );
        // The issue has room for all of them, and one that is not shown in the message changes the count alone.
        scene.github.installation("octo-maintainer").installed = true;
        clicks(scene, guids[0], "08:20");
        await sweep(scene, "08:30");
        assert.ok(guids.slice(1).every((guid) => scene.openIssue().body.includes(guid)));
        assert.match(newest(scene), /^🔴 example-app: 39 webhook events not delivered \(since/);
      },
    );

    await act("a button leads to the Advanced page and one to the issue, as long as that is open", async (scene) => {
      const buttons = () =>
        scene.messages()[0].reply_markup.inline_keyboard.map(([{ text, url }, ...none]) => [text, url, ...none]);
      const guids = [breaks(scene, "08:05")];
      const advanced = ["Open the App's Advanced page", "https://github.com/settings/apps/example-app/advanced"];
      await sweep(scene, "08:15");
      const issue = (number) => ["Open the issue", `https://github.com/${CONTROL_REPO}/issues/${number}`];
      assert.deepEqual(buttons(), [advanced, issue(1)]);
      // The next change finds the issue deleted, and leads to the new one.
      scene.github.person.delete(CONTROL_REPO, 1);
      guids.push(breaks(scene, "08:20"));
      await sweep(scene, "08:30");
      assert.deepEqual(buttons(), [advanced, issue(2)]);
      // This one finds it closed by a person, who has seen what is in it.
      scene.github.person.close(CONTROL_REPO, 2);
      clicks(scene, guids.pop(), "08:35");
      await sweep(scene, "08:45");
      assert.deepEqual(buttons(), [advanced]);
      await quiet(scene, "09:00");
    });
  });

  test("in a private chat", async (t) => {
    const act = await openActs(t, { chat: { id: 4242 } });

    await act(
      "an entry added to a message of an hour is an edit, to an older one a new message that the old one points to",
      async (scene) => {
        const { chat } = scene;
        const guids = [breaks(scene, "08:05")];
        await sweep(scene, "08:15");
        guids.push(breaks(scene, "09:05"));
        assert.deepEqual((await sweep(scene, "09:15")).toTelegram, ["editMessageText"]);
        assert.deepEqual([chat.messages.length, chat.sounds], [1, 1]);
        guids.push(breaks(scene, "09:20"));
        assert.deepEqual((await sweep(scene, "09:30")).toTelegram, ["sendMessage", "editMessageText"]);
        assert.deepEqual([chat.messages.length, chat.sounds], [2, 2]);
        const [old, current] = chat.messages;
        assert.ok(guids.every((guid) => current.text.includes(guid)));
        // No message of such a chat has an address.
        assert.equal(old.text, "⬇️ This alarm goes on in a newer message below.");
        assert.deepEqual([old.entities, old.reply_markup], [[], undefined]);
        await quiet(scene, "09:45");
      },
    );

    for (const [state, said] of [
      ["blocked", "bot was blocked by the user"],
      ["deactivated", "user is deactivated"],
    ]) {
      await act(`${said}: an entry in the issue until the person can be written to again`, async (scene) => {
        const { chat } = scene;
        chat.state = state;
        const guid = breaks(scene, "08:05");
        assert.deepEqual((await sweep(scene, "08:15")).toTelegram, ["sendMessage"]);
        assert.ok(scene.openIssue().body.includes(`It said \`Forbidden: ${said} (status 403)\`.`));
        chat.state = "member";
        await sweep(scene, "08:30");
        assert.ok(newest(scene).includes(guid));
        assert.doesNotMatch(scene.openIssue().body, /cannot be reached/i);
        await quiet(scene, "08:45");
      });
    }
  });

  test("when the last entry leaves, only what passed has recovered, and the next entry is a new alarm", async (t) => {
    const scene = await openAlarm(t);
    const passes = breaks(scene, "08:05");
    breaks(scene, "08:06", { event: "push" });
    await sweep(scene, "08:15");
    clicks(scene, passes, "08:20");
    await sweep(scene, "08:30");
    await settings(scene, { IGNORED_EVENTS: "push" });
    assert.deepEqual((await sweep(scene, "08:45")).told, [...ENTER, "PATCH 1", "editMessageText"]);
    const told = "Nothing is open any more, after 30 minutes. Recovered: 1 of 2 entries; its event was delivered.";
    assert.equal(newest(scene), `🟢 ${told}`);
    assert.equal(scene.messages()[0].reply_markup, undefined);
    assert.ok(scene.github.issue(CONTROL_REPO, 1).body.startsWith(told));
    await quiet(scene, "09:00");
    const next = breaks(scene, "09:05");
    assert.deepEqual((await sweep(scene, "09:15")).toTelegram, ["sendMessage"]);
    scene.shows(next);
    assert.equal(scene.messages()[0].text, `🟢 ${told}`);
    assert.deepEqual([scene.messages().length, scene.telegram.sounds(CHAT)], [2, 2]);
  });

  test("another chat in the settings: the alarm goes on there, and the old message says so once, if that works", async (t) => {
    const scene = await openAlarm(t);
    const other = scene.telegram.addChat({ id: 4242 });
    const guid = breaks(scene, "08:05");
    await sweep(scene, "08:15");
    await settings(scene, { TELEGRAM_CHAT_ID: "4242" });
    assert.deepEqual((await sweep(scene, "08:30")).told, ["sendMessage", "editMessageText"]);
    assert.ok(other.messages[0].text.includes(guid));
    assert.equal(newest(scene), "➡️ This alarm goes on in another chat.");
    await quiet(scene, "08:45");
    // Back, while the one that is left is out of reach: that is tried once, and no channel counts as lost by it.
    other.state = "blocked";
    await settings(scene, { TELEGRAM_CHAT_ID: String(CHAT) });
    assert.deepEqual((await sweep(scene, "09:00")).told, ["sendMessage", "editMessageText"]);
    scene.shows(guid);
    assert.doesNotMatch(scene.openIssue().body, /cannot be reached/i);
    await quiet(scene, "09:15");
    clicks(scene, guid, "09:20");
    assert.deepEqual((await sweep(scene, "09:30")).toTelegram, ["editMessageText"]);
    assert.match(newest(scene), /^🟢 Recovered/);
    assert.deepEqual([scene.telegram.sounds(CHAT), other.sounds, other.messages.length], [2, 1, 1]);
  });
});
