#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them so")]

mod hostile;

use std::collections::BTreeMap;

use expect_test::{Expect, expect};

use super::*;
use crate::alarm::Alarm;
use crate::alarm::fakes::html::parse;
use crate::alarm::sample::{ADVANCED, alarm, attempt, gave_up, loss, time, undelivered};
use crate::policy::event::Attempt;

/// Both channels.
fn check(alarm: &Alarm, in_telegram: &Expect, as_issue: &Expect) {
    let message = telegram::message(alarm);
    parse(&message.html).expect("Telegram takes it");
    in_telegram.assert_eq(&message.html);
    let issue = issue::issue(alarm);
    as_issue.assert_eq(&format!("{}\n---\n{}", issue.title, issue.body));
}

fn entry(kind: EntryKind) -> Entry {
    Entry { key: "some".to_owned(), kind }
}

#[test]
fn an_event_that_gave_up() {
    check(
        &alarm(vec![gave_up("38ee792a-82e7-11f1-959e-7ce606dfe5da", 0)]),
        &expect![[r#"
            🔴 <b>1 webhook event not delivered (since 2026-11-30 14:05 UTC)</b>

            <code>workflow_run</code> · <code>completed</code> — gave up after 3 attempts
            First delivery: 2026-11-30 14:05 UTC
            Attempts: 500, 503, 504 (no answer)
            guid <code>38ee792a-82e7-11f1-959e-7ce606dfe5da</code>

            <b>What to do</b>
            <b>Gave up</b>: every attempt failed, so the event is not asked for again. Find out why the endpoint fails on it; once that is mended, redeliver the guid on the Advanced page. The entry leaves when an attempt passes.
            GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            1 webhook event not delivered (since 2026-11-30 14:05 UTC)
            ---
            **1 webhook event not delivered (since 2026-11-30 14:05 UTC)**

            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Gave up**: every attempt failed, so the event is not asked for again. Find out why the endpoint fails on it; once that is mended, redeliver the guid on the Advanced page. The entry leaves when an attempt passes.
            - GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.

            ### Events

            | event | first delivery | attempts | why it is not asked for again | guid | repository id |
            | --- | --- | --- | --- | --- | --- |
            | `workflow_run` `completed` | 2026-11-30 14:05 UTC | 500, 503, 504 (no answer) | gave up after 3 attempts | [`38ee792a-82e7-11f1-959e-7ce606dfe5da`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |

            This issue is written by the App itself: it is edited when an entry comes, changes or leaves, and closed when nothing is open any more.
        "#]],
    );
}

#[test]
fn events_that_github_will_not_redeliver() {
    let event = undelivered("38ee792a-82e7-11f1-959e-7ce606dfe5da", 0);
    let lost = Undelivered { action: None, repository_id: None, lost_asks: 3, attempts: vec![event.attempts[0]], ..event.clone() };
    let entries = vec![
        entry(EntryKind::NotRedeliverable { event, answer: Some(404) }),
        entry(EntryKind::NotRedeliverable { event: lost, answer: None }),
    ];
    check(
        &alarm(entries),
        &expect![[r#"
            🔴 <b>2 webhook events not delivered (since 2026-11-30 14:05 UTC)</b>

            <code>workflow_run</code> · <code>completed</code> — GitHub will not redeliver it: it answered 404
            First delivery: 2026-11-30 14:05 UTC
            Attempts: 500, 503, 504 (no answer)
            guid <code>38ee792a-82e7-11f1-959e-7ce606dfe5da</code>

            <code>workflow_run</code> — GitHub will not redeliver it: the last requests were followed by no attempt
            First delivery: 2026-11-30 14:05 UTC
            Attempts: 500; 3 more that GitHub accepted and never made
            guid <code>38ee792a-82e7-11f1-959e-7ce606dfe5da</code>

            <b>What to do</b>
            <b>Not redeliverable</b>: GitHub does not deliver the event again. Try it once on the Advanced page; if that fails too, do by hand what the event would have done.
            GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            2 webhook events not delivered (since 2026-11-30 14:05 UTC)
            ---
            **2 webhook events not delivered (since 2026-11-30 14:05 UTC)**

            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Not redeliverable**: GitHub does not deliver the event again. Try it once on the Advanced page; if that fails too, do by hand what the event would have done.
            - GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.

            ### Events

            | event | first delivery | attempts | why it is not asked for again | guid | repository id |
            | --- | --- | --- | --- | --- | --- |
            | `workflow_run` `completed` | 2026-11-30 14:05 UTC | 500, 503, 504 (no answer) | GitHub will not redeliver it: it answered 404 | [`38ee792a-82e7-11f1-959e-7ce606dfe5da`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |
            | `workflow_run` | 2026-11-30 14:05 UTC | 500; 3 more that GitHub accepted and never made | GitHub will not redeliver it: the last requests were followed by no attempt | [`38ee792a-82e7-11f1-959e-7ce606dfe5da`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) |  |

            This issue is written by the App itself: it is edited when an entry comes, changes or leaves, and closed when nothing is open any more.
        "#]],
    );
}

#[test]
fn events_left_behind() {
    let names = ["check_run", "check_suite", "issues", "push", "release", "star", "watch"];
    let kinds: BTreeMap<_, _> = names.iter().zip(1..).map(|(name, count)| ((*name).into(), count)).collect();
    let loss = Loss { count: kinds.values().sum(), kinds, ..loss(15) };
    check(
        &alarm(vec![entry(EntryKind::LeftBehind(loss))]),
        &expect![[r#"
            🔴 <b>28 webhook events left behind (since 2026-11-30 14:05 UTC)</b>

            <b>Left behind</b>: 28 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.
            7 × <code>watch</code>, 6 × <code>star</code>, 5 × <code>release</code>, 4 × <code>push</code>, 3 × <code>issues</code>, 3 of other kinds

            <b>What to do</b>
            <b>Left behind</b>: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            28 webhook events left behind (since 2026-11-30 14:05 UTC)
            ---
            **28 webhook events left behind (since 2026-11-30 14:05 UTC)**

            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Left behind**: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            - GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.

            ### Lost

            - **Left behind**: 28 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC. 7 × `watch`, 6 × `star`, 5 × `release`, 4 × `push`, 3 × `issues`, 3 of other kinds.

            This issue is written by the App itself: it is edited when an entry comes, changes or leaves, and closed when nothing is open any more.
        "#]],
    );
}

#[test]
fn a_stretch_that_was_never_read_and_no_link() {
    let alarm = Alarm { advanced_url: None, ..alarm(vec![entry(EntryKind::GapLost(loss(15)))]) };
    check(
        &alarm,
        &expect![[r#"
            🔴 <b>Part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)</b>

            <b>Not read</b>: GitHub's list of deliveries from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.

            <b>What to do</b>
            <b>Not read</b>: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            GitHub keeps a delivery for 72 hours; after that an entry leaves by itself."#]],
        &expect![[r#"
            Part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)
            ---
            **Part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)**

            ### What to do

            - **Not read**: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            - GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.

            ### Lost

            - **Not read**: GitHub's list of deliveries from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.

            This issue is written by the App itself: it is edited when an entry comes, changes or leaves, and closed when nothing is open any more.
        "#]],
    );
}

#[test]
fn everything_at_once() {
    let names = BTreeMap::from([("push".into(), 2)]);
    let entries = vec![
        entry(EntryKind::LeftBehind(Loss { count: 2, kinds: names, ..loss(15) })),
        entry(EntryKind::GapLost(loss(30))),
        entry(EntryKind::NotRedeliverable { event: undelivered("b", 60), answer: Some(410) }),
        gave_up("a", 45),
    ];
    check(
        &alarm(entries),
        &expect![[r#"
            🔴 <b>2 webhook events not delivered, 2 left behind, part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)</b>

            <b>Left behind</b>: 2 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.
            2 × <code>push</code>

            <b>Not read</b>: GitHub's list of deliveries from 2026-11-30 14:20 UTC to 2026-11-30 14:35 UTC.

            <code>workflow_run</code> · <code>completed</code> — GitHub will not redeliver it: it answered 410
            First delivery: 2026-11-30 15:05 UTC
            Attempts: 500, 503, 504 (no answer)
            guid <code>b</code>

            <code>workflow_run</code> · <code>completed</code> — gave up after 3 attempts
            First delivery: 2026-11-30 14:50 UTC
            Attempts: 500, 503, 504 (no answer)
            guid <code>a</code>

            <b>What to do</b>
            <b>Left behind</b>: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            <b>Not read</b>: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            <b>Gave up</b>: every attempt failed, so the event is not asked for again. Find out why the endpoint fails on it; once that is mended, redeliver the guid on the Advanced page. The entry leaves when an attempt passes.
            <b>Not redeliverable</b>: GitHub does not deliver the event again. Try it once on the Advanced page; if that fails too, do by hand what the event would have done.
            GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            2 webhook events not delivered, 2 left behind, part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)
            ---
            **2 webhook events not delivered, 2 left behind, part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)**

            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Left behind**: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            - **Not read**: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            - **Gave up**: every attempt failed, so the event is not asked for again. Find out why the endpoint fails on it; once that is mended, redeliver the guid on the Advanced page. The entry leaves when an attempt passes.
            - **Not redeliverable**: GitHub does not deliver the event again. Try it once on the Advanced page; if that fails too, do by hand what the event would have done.
            - GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.

            ### Lost

            - **Left behind**: 2 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC. 2 × `push`.
            - **Not read**: GitHub's list of deliveries from 2026-11-30 14:20 UTC to 2026-11-30 14:35 UTC.

            ### Events

            | event | first delivery | attempts | why it is not asked for again | guid | repository id |
            | --- | --- | --- | --- | --- | --- |
            | `workflow_run` `completed` | 2026-11-30 15:05 UTC | 500, 503, 504 (no answer) | GitHub will not redeliver it: it answered 410 | [`b`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |
            | `workflow_run` `completed` | 2026-11-30 14:50 UTC | 500, 503, 504 (no answer) | gave up after 3 attempts | [`a`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |

            This issue is written by the App itself: it is edited when an entry comes, changes or leaves, and closed when nothing is open any more.
        "#]],
    );
}

#[test]
fn what_is_left_of_a_message_and_of_an_issue() {
    let recovered = Recovered { passed: 1, all: 1 };
    let texts = [
        telegram::closed(recovered).html,
        telegram::closed(Recovered { passed: 0, all: 1 }).html,
        telegram::pointer(Some("https://t.me/c/1234567890/2")).html,
        telegram::pointer(None).html,
        telegram::moved().html,
    ];
    expect![[r#"
        🟢 Recovered: the event was delivered. Nothing is open any more.
        🟢 Nothing is open any more.
        ⬇️ This alarm goes on in a <a href="https://t.me/c/1234567890/2">newer message</a>.
        ⬇️ This alarm goes on in a newer message below.
        ➡️ This alarm goes on in another chat."#]]
    .assert_eq(&texts.join("\n"));
    let issues = [issue::closed(recovered), issue::closed(Recovered { passed: 1, all: 2 }), issue::moved()];
    let texts: Vec<String> = issues.iter().map(|issue| format!("{}\n---\n{}", issue.title, issue.body)).collect();
    expect![[r#"
        Webhook deliveries: nothing is open any more
        ---
        Recovered: the event was delivered. Nothing is open any more.

        What stood here is in the history of this text ("edited", above).
        ===
        Webhook deliveries: nothing is open any more
        ---
        Nothing is open any more. Recovered: 1 of the last 2 entries; their events were delivered.

        What stood here is in the history of this text ("edited", above).
        ===
        Webhook deliveries: this alarm goes on in another repository
        ---
        The settings name another control repository: this alarm goes on there.
    "#]]
    .assert_eq(&texts.join("===\n"));
    expect!["<!-- github-app-redeliver:v1 app=123456 -->"].assert_eq(&issue::marker(123_456));
}

#[test]
fn many_attempts_are_cut_in_the_middle() {
    let mut event = undelivered("a", 0);
    event.attempts = (0..32).map(|minute| attempt(minute, 500 + i32::try_from(minute).expect("small"), Outcome::Failed)).collect();
    let last = event.attempts.len() - 1;
    event.attempts[last] = Attempt { outcome: Outcome::Refused, status_code: 404, ..event.attempts[last] };
    assert_eq!(attempts(&event), "500, 22 more, 523, 524, 525, 526, 527, 528, 529, 530, 404 (refused)");
}

#[test]
fn a_link_leads_to_the_web_and_nowhere_else() {
    let link = |url: &str| link(Some(url)).map(String::from);
    assert_eq!(link(ADVANCED).as_deref(), Some(ADVANCED));
    for url in
        ["javascript:alert(1)", "tg://resolve?domain=x", "data:,x", "/settings", "", &format!("https://a.example/{}", "x".repeat(500))]
    {
        assert_eq!(link(url), None, "{url}");
    }
    assert_eq!(
        link("https://a.example/x\"><b>(y)[z]|`\\*?q=\"'<>|`#\"`|)").as_deref(),
        Some("https://a.example/x%22%3E%3Cb%3E%28y%29%5Bz%5D%7C%60/%2A?q=%22%27%3C%3E%7C%60#%22%60%7C%29")
    );
}

#[test]
fn a_button_needs_a_host_with_a_dot() {
    let button = |url: &str| telegram::message(&Alarm { advanced_url: Some(url.to_owned()), ..alarm(vec![gave_up("a", 0)]) }).button;
    assert_eq!(button("http://localhost:3000/settings"), None);
    assert_eq!(button("http://[::1]/settings"), None);
    assert!(button("http://127.0.0.1:3000/settings").is_some());
    assert!(button(ADVANCED).is_some());
}

#[test]
fn what_does_not_fit_is_counted() {
    let many: Vec<Entry> = (0..1000).map(|number| gave_up(&format!("38ee792a-82e7-11f1-959e-7ce606df{number:04}"), 0)).collect();
    let alarm = alarm(many);
    let message = telegram::message(&alarm);
    let text = parse(&message.html).expect("Telegram takes it").text;
    let shown = text.matches("guid 38ee792a").count();
    assert!(shown >= 10, "{shown}");
    assert!(text.contains(&format!("… and {} more that do not fit here.", 1000 - shown)), "{text}");
    let body = issue::issue(&alarm).body;
    let shown = body.matches("`38ee792a").count();
    assert!(shown >= 200, "{shown}");
    assert!(body.contains(&format!("… and {} more that do not fit here.", 1000 - shown)));
}

#[test]
fn telegram_keeps_all_markup_of_the_shortest_entries() {
    let kinds: BTreeMap<_, _> = ["a", "b", "c", "d", "e"].map(|name| (name.into(), 1)).into();
    let entries = (0..100).map(|minute| entry(EntryKind::LeftBehind(Loss { count: 5, kinds: kinds.clone(), ..loss(minute) })));
    parse(&telegram::message(&alarm(entries.collect())).html).expect("no more than a hundred marks");
}

#[test]
fn what_hides_is_shown() {
    assert_eq!(outside::visible("a\nb\tc\u{0}d\u{202e}e\u{200b}f\u{feff}g\u{e0041}h i", 60), "a�b�c�d�e�f�g�h i");
    assert_eq!(outside::visible("", 60), "(empty)");
    assert_eq!(outside::visible("abcdef", 6), "abcdef");
    assert_eq!(outside::visible("abcdefg", 6), "abcde…");
}

#[test]
fn the_same_facts_give_the_same_text() {
    let alarm = alarm(vec![gave_up("a", 0), entry(EntryKind::GapLost(loss(time(0).since(time(0)).as_secs())))]);
    assert_eq!(telegram::message(&alarm).digest(), telegram::message(&alarm.clone()).digest());
    assert_eq!(issue::issue(&alarm).digest(), issue::issue(&alarm.clone()).digest());
}
