// The issue of the control repository: how it lives, and what people do to it (specification, section 8).

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  appOpens,
  breaks,
  clicks,
  ENTER,
  issuesOf,
  newest,
  on,
  openActs,
  openAlarm,
  quiet,
  settings,
  sweep,
} from "./worker/alarm.mjs";
import { CHAT, CONTROL_REPO } from "./worker/scene.mjs";

const OTHER_REPO = "octo-maintainer/elsewhere";
const BOT = { login: "example-app[bot]", type: "Bot" };

/** Calls to write into the repository, with what was written. */
const writes = ({ requests }) => requests.filter(({ method, path }) => method !== "GET" && /\/issues/.test(path));

/** What the title and the text of an issue say. */
const says = (scene, number, repo = CONTROL_REPO) => {
  const { title, body } = scene.github.issue(repo, number);
  return `${title}\n${body}`;
};

describe("the issue", { concurrency: 2 }, () => {
  test("lives as its entries do", async (t) => {
    const act = await openActs(t);

    await act(
      "is created with the first entry, edited when entries change, and closed when the last one leaves",
      async (scene) => {
        scene.github.addRepository({ fullName: "octo-maintainer/secret", ownerType: "User" });
        const first = breaks(scene, "08:05");
        const created = await sweep(scene, "08:15");
        assert.deepEqual(created.told, ["GET app", ...ENTER, "GET issues", "POST issues", "sendMessage"]);
        const access = created.requests.find(({ path }) => path.endsWith("/access_tokens"));
        assert.deepEqual(access.body, { repositories: ["alarms"], permissions: { issues: "write" } });
        assert.deepEqual(Object.keys(writes(created)[0].body).sort(), ["body", "title"]);
        const issue = scene.openIssue();
        assert.deepEqual([issue.number, issue.author, issue.viaApp.id, issue.labels], [1, BOT, 1234567, []]);
        assert.match(issue.title, /^example-app: 1 webhook event not delivered \(since 2026-11-\d\d 08:05 UTC\)$/);
        assert.match(
          issue.body,
          /\| `issue_comment` `created` \| 2026-11-\d\d 08:05 UTC \| 500, 500 \| gave up after 2/,
        );
        const second = breaks(scene, "08:20");
        const edited = await sweep(scene, "08:30");
        assert.deepEqual(edited.told, [...ENTER, "PATCH 1", "editMessageText"]);
        // An edit leaves the state to people.
        assert.deepEqual(Object.keys(writes(edited)[0].body).sort(), ["body", "title"]);
        assert.deepEqual(issuesOf(scene, [first, second]), ["1 open 01"]);
        clicks(scene, first, "08:35");
        await sweep(scene, "08:45");
        assert.deepEqual(issuesOf(scene, [first, second]), ["1 open 1"]);
        clicks(scene, second, "08:50");
        const closed = await sweep(scene, "09:00");
        assert.deepEqual(closed.told, [...ENTER, "PATCH 1", "editMessageText"]);
        assert.deepEqual([issue.state, issue.stateReason, issue.comments], ["closed", "completed", []]);
        assert.match(says(scene, 1), /nothing is open any more\nRecovered after .*: all 2 events were delivered/);
        await quiet(scene, "09:15");
        // The next alarm is a new issue, and the old one stays as it is.
        const third = breaks(scene, "09:20");
        await sweep(scene, "09:30");
        assert.deepEqual(issuesOf(scene, [first, second, third]), ["1 closed ", "2 open 2"]);
      },
    );

    await act("holds hundreds of entries within GitHub's limit, and counts what does not fit", async (scene) => {
      const count = 450;
      const guids = [];
      for (let index = 0; index < count; index += 1) {
        const event = "pull_request_review_comment";
        guids.push(breaks(scene, on(scene, "08:01") + index * 1_000, { event, action: "x".repeat(48) }));
      }
      await sweep(scene, "08:15");
      const { body } = scene.openIssue();
      assert.ok(Buffer.byteLength(body) < 65_536);
      const shown = guids.filter((guid) => body.includes(guid));
      assert.ok(shown.length > 200 && shown.length < count, `${shown.length} are shown`);
      assert.deepEqual(shown, guids.slice(-shown.length), "the newest");
      assert.ok(body.includes(`… and ${count - shown.length} more that do not fit here.`));
    });

    await act(
      "closed by a maintainer: its entries do not open it again, a new entry opens a new one with what is new",
      async (scene) => {
        const guids = [breaks(scene, "08:05"), breaks(scene, "08:06")];
        await sweep(scene, "08:15");
        scene.github.person.close(CONTROL_REPO, 1, "not_planned");
        await quiet(scene, "08:30");
        // An entry that changes: it is noticed now, and nothing else follows.
        clicks(scene, guids[0], "08:35", 502);
        const noticed = await sweep(scene, "08:45");
        assert.deepEqual(noticed.told, [...ENTER, "PATCH 1", "editMessageText"]);
        assert.deepEqual(issuesOf(scene, []), ["1 closed "]);
        assert.equal(scene.github.issue(CONTROL_REPO, 1).stateReason, "not_planned");
        // Another change of what was seen costs no call to GitHub any more.
        clicks(scene, guids[0], "08:50", 503);
        assert.deepEqual((await sweep(scene, "09:00")).told, ["editMessageText"]);
        guids.push(breaks(scene, "09:05"));
        const opened = await sweep(scene, "09:15");
        assert.deepEqual(opened.told, [...ENTER, "GET issues", "POST issues", "editMessageText"]);
        assert.match(says(scene, 2), /1 webhook event not delivered/);
        assert.ok(guids.every((guid) => newest(scene).includes(guid)));
        guids.push(breaks(scene, "09:20"));
        await sweep(scene, "09:30");
        assert.deepEqual(issuesOf(scene, guids.slice(2)), ["1 closed ", "2 open 01"]);
        assert.ok(guids.slice(0, 2).every((guid) => !says(scene, 2).includes(guid)));
        // It closes with the new ones, whatever becomes of those that were seen.
        clicks(scene, guids[2], "09:35");
        clicks(scene, guids[3], "09:36");
        await sweep(scene, "09:45");
        assert.deepEqual(issuesOf(scene, []), ["1 closed ", "2 closed "]);
        assert.match(says(scene, 2), /Open still: 2 entries of an issue that a person closed\./);
        clicks(scene, guids[0], "09:50");
        clicks(scene, guids[1], "09:51");
        assert.deepEqual((await sweep(scene, "10:00")).told, ["editMessageText"]);
        assert.match(newest(scene), /^🟢 Recovered after .*: all 4/);
        await quiet(scene, "10:15");
      },
    );

    await act("closed by a maintainer, and noticed by a new entry: that alone stands in a new issue", async (scene) => {
      const guids = [breaks(scene, "08:05")];
      await sweep(scene, "08:15");
      scene.github.person.close(CONTROL_REPO, 1);
      guids.push(breaks(scene, "08:20"));
      const tick = await sweep(scene, "08:30");
      assert.deepEqual(tick.told, [...ENTER, "PATCH 1", "PATCH 1", "GET issues", "POST issues", "editMessageText"]);
      assert.equal(issuesOf(scene, guids)[1], "2 open 1");
      assert.equal(scene.github.issue(CONTROL_REPO, 1).state, "closed");
      assert.ok(
        !scene.github.issue(CONTROL_REPO, 1).body.includes(guids[1]),
        "what was closed says what the person saw",
      );
      await quiet(scene, "08:45");
    });

    await act(
      "closed by a maintainer, noticed, and opened again by somebody: it goes on, with all its entries",
      async (scene) => {
        const guids = [breaks(scene, "08:05")];
        await sweep(scene, "08:15");
        scene.github.person.close(CONTROL_REPO, 1);
        clicks(scene, guids[0], "08:20", 502);
        await sweep(scene, "08:30");
        scene.github.person.reopen(CONTROL_REPO, 1);
        await quiet(scene, "08:45");
        guids.push(breaks(scene, "08:50"));
        await sweep(scene, "09:00");
        assert.deepEqual(issuesOf(scene, guids), ["1 open 01"]);
        await quiet(scene, "09:15");
      },
    );

    await act("closed and opened again between two changes: nobody notices", async (scene) => {
      const guids = [breaks(scene, "08:05")];
      await sweep(scene, "08:15");
      scene.github.person.close(CONTROL_REPO, 1);
      scene.github.person.reopen(CONTROL_REPO, 1);
      guids.push(breaks(scene, "08:20"));
      await sweep(scene, "08:30");
      assert.deepEqual(issuesOf(scene, guids), ["1 open 01"]);
    });

    await act("opened again by somebody after its end: the next alarm goes on in it", async (scene) => {
      const guids = [breaks(scene, "08:05")];
      await sweep(scene, "08:15");
      clicks(scene, guids[0], "08:20");
      await sweep(scene, "08:30");
      scene.github.person.reopen(CONTROL_REPO, 1);
      await quiet(scene, "08:45");
      guids.push(breaks(scene, "08:50"));
      await sweep(scene, "09:00");
      assert.deepEqual(issuesOf(scene, guids), ["1 open 1"]);
      scene.shows(guids[1]);
      clicks(scene, guids[1], "09:05");
      await sweep(scene, "09:15");
      assert.deepEqual(issuesOf(scene, []), ["1 closed "]);
    });

    const losses = [
      ["deleted", (scene) => scene.github.person.delete(CONTROL_REPO, 1), /the issue was deleted/],
      [
        "transferred",
        (scene) => scene.github.person.transfer(CONTROL_REPO, 1, OTHER_REPO),
        /moved to another repository/,
      ],
    ];
    for (const [name, lose, said] of losses) {
      await act(
        `${name}: the log says so, the next change creates another, and Telegram works all the same`,
        async (scene) => {
          if (!scene.github.repository(OTHER_REPO))
            scene.github.addRepository({ fullName: OTHER_REPO, ownerType: "User" });
          const guids = [breaks(scene, "08:05")];
          await sweep(scene, "08:15");
          lose(scene);
          await quiet(scene, "08:30");
          guids.push(breaks(scene, "08:35"));
          const tick = await sweep(scene, "08:45");
          assert.deepEqual(tick.told, [...ENTER, "PATCH 1", "GET issues", "POST issues", "editMessageText"]);
          assert.match(tick.failures.join(), said);
          scene.shows(...guids);
          assert.deepEqual([scene.openIssue().number, scene.telegram.sounds(CHAT)], [2, 1]);
          await quiet(scene, "09:00");
          // With nothing left to say, none is created.
          scene.github.person.delete(CONTROL_REPO, 2);
          for (const guid of guids) clicks(scene, guid, "09:05");
          assert.match((await sweep(scene, "09:15")).failures.join(), /the issue was deleted/);
          assert.match(newest(scene), /^🟢 Recovered after .*: all 2/);
          assert.equal(scene.openIssue(), undefined);
          // It is looked for once: what says that it is gone may be wrong.
          assert.deepEqual((await sweep(scene, "09:30")).told, [...ENTER, "GET issues"]);
          await quiet(scene, "09:45");
        },
      );
    }
  });
});

describe("never two open issues of ours", { concurrency: 2 }, () => {
  test("whatever is lost or copied", async (t) => {
    const act = await openActs(t);

    await act("a lost answer to the creation: the next sweep goes on in what it finds", async (scene) => {
      const guids = [breaks(scene, "08:05")];
      scene.github.fault({ method: "POST", path: `/repos/${CONTROL_REPO}/issues` }, "lost-answer");
      await sweep(scene, "08:15");
      assert.deepEqual(issuesOf(scene, guids), ["1 open 0"]);
      guids.push(breaks(scene, "08:20"));
      assert.deepEqual((await sweep(scene, "08:30")).told.slice(0, 4), [...ENTER, "GET issues", "PATCH 1"]);
      assert.deepEqual(issuesOf(scene, guids), ["1 open 01"]);
      await quiet(scene, "08:45");
    });

    await act(
      "a lost answer to the creation, and the entry leaves before the next sweep: the issue is closed",
      async (scene) => {
        const guid = breaks(scene, "08:05");
        scene.github.fault({ method: "POST", path: `/repos/${CONTROL_REPO}/issues` }, "lost-answer");
        await sweep(scene, "08:15");
        clicks(scene, guid, "08:20");
        await sweep(scene, "08:30");
        assert.deepEqual(issuesOf(scene, []), ["1 closed "]);
        await quiet(scene, "08:45");
      },
    );

    await act(
      "a lost answer to an edit or to the end: the next sweep leaves the issue as it should be",
      async (scene) => {
        const guids = [breaks(scene, "08:05")];
        await sweep(scene, "08:15");
        const edit = { method: "PATCH", path: `/repos/${CONTROL_REPO}/issues/1` };
        guids.push(breaks(scene, "08:20"));
        scene.github.fault(edit, "lost-answer");
        await sweep(scene, "08:30");
        clicks(scene, guids[1], "08:35");
        await sweep(scene, "08:45");
        assert.deepEqual(issuesOf(scene, guids), ["1 open 0"]);
        clicks(scene, guids[0], "08:50");
        scene.github.fault(edit, "lost-answer");
        await sweep(scene, "09:00");
        guids.push(breaks(scene, "09:05"));
        await sweep(scene, "09:15");
        scene.shows(guids[2]);
        await quiet(scene, "09:30");
      },
    );

    await act("somebody else's issue with a copy of ours is left alone", async (scene) => {
      const guids = [breaks(scene, "08:05")];
      await sweep(scene, "08:15");
      const { title, body } = scene.openIssue();
      scene.github.person.delete(CONTROL_REPO, 1);
      for (const login of ["mallory", "example-app", "another"]) {
        scene.github.person.open(CONTROL_REPO, { title, body, login });
      }
      scene.github.issue(CONTROL_REPO, 4).author = { login: "another-app[bot]", type: "Bot" };
      const copies = issuesOf(scene, guids).slice(1);
      guids.push(breaks(scene, "08:20"));
      await sweep(scene, "08:30");
      assert.deepEqual(issuesOf(scene, guids).slice(1), [...copies, "5 open 01"]);
      for (const guid of guids) clicks(scene, guid, "08:35");
      await sweep(scene, "08:45");
      assert.deepEqual(issuesOf(scene, guids).slice(1), [...copies, "5 closed "]);
    });

    await act("another issue that the App wrote is left alone too", async (scene) => {
      const other = await appOpens(scene, { title: "Release notes", body: "What is new" });
      const guid = breaks(scene, "08:05");
      await sweep(scene, "08:15");
      assert.deepEqual(issuesOf(scene, [guid]), [`${other} open `, "2 open 0"]);
      assert.equal(says(scene, other), "Release notes\nWhat is new");
    });

    await act(
      "a first sweep, which may be one after a lost state, looks for an issue once, and writes nothing",
      async (scene) => {
        assert.deepEqual(scene.first.told, [...ENTER, "GET issues"]);
        await quiet(scene, "08:15");
        assert.deepEqual([issuesOf(scene, []), scene.messages()], [[], []]);
      },
    );

    await act(
      "several open ones of ours when the state is lost: the oldest goes on, the others are closed with a pointer",
      async (scene) => {
        const guids = [breaks(scene, "08:05")];
        await sweep(scene, "08:15");
        const { title, body } = scene.openIssue();
        await appOpens(scene, { title, body });
        await appOpens(scene, { title: "Not ours, as far as the alarm is concerned", body: "…" });
        await appOpens(scene, { title, body });
        await scene.worker.writeState("state", undefined);
        guids.push(breaks(scene, "08:20"));
        const found = await sweep(scene, "08:30");
        const told = ["GET app", ...ENTER, "GET issues", "PATCH 1", "PATCH 2", "PATCH 4", "sendMessage"];
        assert.deepEqual(found.told, told);
        assert.deepEqual(issuesOf(scene, guids), ["1 open 01", "2 closed ", "3 open ", "4 closed "]);
        for (const number of [2, 4]) assert.match(says(scene, number), /goes on in another issue\n.* #1\.$/m);
        await quiet(scene, "08:45");
        // Once more, when the events lie before the window of a first sweep.
        await appOpens(scene, { title, body });
        await scene.worker.writeState("state", undefined);
        assert.deepEqual((await sweep(scene, "12:00")).told, [...ENTER, "GET issues", "PATCH 1", "PATCH 5"]);
        assert.deepEqual(issuesOf(scene, guids), ["1 closed ", "2 closed ", "3 open ", "4 closed ", "5 closed "]);
        for (const number of [1, 5]) assert.match(says(scene, number), /The record of this issue was lost/);
        await quiet(scene, "12:15");
      },
    );

    await act("a crash while the issue is created, and one while it is edited", async (scene) => {
      const guids = [breaks(scene, "08:05")];
      const crash = async (clock, method) => {
        const call = (request) => request.method === method && /\/issues(\/\d+)?$/.test(request.path);
        assert.equal((await scene.killedAt(on(scene, clock), { call, step: "hang-after" })).outcome, "killed");
      };
      await crash("08:15", "POST");
      assert.deepEqual(issuesOf(scene, guids), ["1 open 0"]);
      await sweep(scene, "08:30");
      scene.shows(...guids);
      guids.push(breaks(scene, "08:35"));
      await crash("08:45", "PATCH");
      // The entry that was written and not remembered leaves before the next sweep.
      clicks(scene, guids[1], "08:50");
      await sweep(scene, "09:00");
      scene.shows(guids[0]);
      assert.deepEqual(issuesOf(scene, guids), ["1 open 0"]);
      await quiet(scene, "09:15");
    });
  });
});

test("another control repository in the settings: the alarm goes on there, and the old issue says so once", async (t) => {
  const scene = await openAlarm(t);
  scene.github.addRepository({ fullName: OTHER_REPO, ownerType: "User" });
  // With nothing open, it is no matter until the next entry.
  await settings(scene, { CONTROL_REPO: OTHER_REPO });
  await quiet(scene, "08:15");
  const guids = [breaks(scene, "08:20")];
  await sweep(scene, "08:30");
  assert.deepEqual([issuesOf(scene, []), issuesOf(scene, guids, OTHER_REPO)], [[], ["1 open 0"]]);
  await settings(scene, { CONTROL_REPO });
  const moved = await sweep(scene, "08:45");
  assert.deepEqual(moved.told, [...ENTER, "GET issues", "POST issues", ...ENTER, "PATCH 1", "editMessageText"]);
  assert.deepEqual([issuesOf(scene, guids), issuesOf(scene, guids, OTHER_REPO)], [["1 open 0"], ["1 closed "]]);
  assert.match(says(scene, 1, OTHER_REPO), /goes on in another repository/);
  assert.ok(!says(scene, 1, OTHER_REPO).includes(CONTROL_REPO));
  const [, [{ url }]] = scene.messages()[0].reply_markup.inline_keyboard;
  assert.equal(url, `https://github.com/${CONTROL_REPO}/issues/1`);
  await quiet(scene, "09:00");
  guids.push(breaks(scene, "09:05"));
  assert.deepEqual((await sweep(scene, "09:15")).told, [...ENTER, "PATCH 1", "editMessageText"]);
  assert.deepEqual(issuesOf(scene, guids), ["1 open 01"]);
  // And back, while the one that is left is out of reach: it is tried once, and that is no loss of a channel.
  scene.github.repository(CONTROL_REPO).deleted = true;
  await settings(scene, { CONTROL_REPO: OTHER_REPO });
  const back = await sweep(scene, "09:30");
  assert.deepEqual(back.told.slice(0, 5), [...ENTER, "GET issues", "POST issues", "GET installation"]);
  assert.deepEqual(issuesOf(scene, guids, OTHER_REPO), ["1 closed ", "2 open 01"]);
  assert.doesNotMatch(newest(scene), /cannot be reached/i);
  await quiet(scene, "09:45");
});
