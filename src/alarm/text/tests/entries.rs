//! Each kind of entry, as both channels say it.

use expect_test::{Expect, expect};

use super::*;
use crate::alarm::entry::with_lost_channel;

/// Both channels.
pub(super) fn check(alarm: &Alarm, in_telegram: &Expect, as_issue: &Expect) {
    let message = telegram::message(alarm);
    parse(&message.html).expect("Telegram takes it");
    in_telegram.assert_eq(&message.html);
    let issue = issue::issue(alarm);
    as_issue.assert_eq(&format!("{}\n---\n{}", issue.title, issue.body));
}

#[test]
fn an_event_that_gave_up() {
    check(
        &alarm(vec![gave_up("38ee792a-82e7-11f1-959e-7ce606dfe5da", 0)]),
        &expect![[r#"
            🔴 <b>deploy-bot: 1 webhook event not delivered (since 2026-11-30 14:05 UTC)</b>

            <code>workflow_run</code> · <code>completed</code> — gave up after 3 attempts
            First delivery: 2026-11-30 14:05 UTC
            Attempts: 500, 503, no answer (504)
            guid <code>38ee792a-82e7-11f1-959e-7ce606dfe5da</code>

            <b>What to do</b>
            <b>Gave up</b>: every attempt failed, so it is not asked for again. Repair the endpoint, then look for the guid on the Advanced page and press Redeliver. The entry leaves when an attempt passes.
            Can be redelivered until 2026-12-03 14:05 UTC; then GitHub forgets it, and the entry leaves.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            deploy-bot: 1 webhook event not delivered (since 2026-11-30 14:05 UTC)
            ---
            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Gave up**: every attempt failed, so it is not asked for again. Repair the endpoint, then look for the guid on the Advanced page and press Redeliver. The entry leaves when an attempt passes.
            - Can be redelivered until 2026-12-03 14:05 UTC; then GitHub forgets it, and the entry leaves.

            ### Events

            | event | first delivery | attempts | why it is not asked for again | guid | repository id |
            | --- | --- | --- | --- | --- | --- |
            | `workflow_run` `completed` | 2026-11-30 14:05 UTC | 500, 503, no answer (504) | gave up after 3 attempts | [`38ee792a-82e7-11f1-959e-7ce606dfe5da`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |

            github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
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
            🔴 <b>deploy-bot: 2 webhook events not delivered (since 2026-11-30 14:05 UTC)</b>
            Newest first.

            <code>workflow_run</code> · <code>completed</code> — GitHub refused to redeliver it (404)
            First delivery: 2026-11-30 14:05 UTC
            Attempts: 500, 503, no answer (504)
            guid <code>38ee792a-82e7-11f1-959e-7ce606dfe5da</code>

            <code>workflow_run</code> — GitHub took the last requests to redeliver it and made no attempt
            First delivery: 2026-11-30 14:05 UTC
            Attempts: 500; 3 more that GitHub accepted and never made
            guid <code>38ee792a-82e7-11f1-959e-7ce606dfe5da</code>

            <b>What to do</b>
            <b>No attempt</b>: GitHub took the requests to redeliver and made no attempt. Press Redeliver once on the Advanced page; if none comes of that either, do by hand what the event would have done. The entry leaves when an attempt passes.
            <b>GitHub refused</b>: GitHub did not take the request to redeliver. Press Redeliver once on the Advanced page; if that fails too, do by hand what the event would have done. The entry leaves when an attempt passes.
            Can be redelivered until 2026-12-03 14:05 UTC; then GitHub forgets the oldest, and its entry leaves.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            deploy-bot: 2 webhook events not delivered (since 2026-11-30 14:05 UTC)
            ---
            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **No attempt**: GitHub took the requests to redeliver and made no attempt. Press Redeliver once on the Advanced page; if none comes of that either, do by hand what the event would have done. The entry leaves when an attempt passes.
            - **GitHub refused**: GitHub did not take the request to redeliver. Press Redeliver once on the Advanced page; if that fails too, do by hand what the event would have done. The entry leaves when an attempt passes.
            - Can be redelivered until 2026-12-03 14:05 UTC; then GitHub forgets the oldest, and its entry leaves.

            ### Events, newest first

            | event | first delivery | attempts | why it is not asked for again | guid | repository id |
            | --- | --- | --- | --- | --- | --- |
            | `workflow_run` `completed` | 2026-11-30 14:05 UTC | 500, 503, no answer (504) | GitHub refused to redeliver it (404) | [`38ee792a-82e7-11f1-959e-7ce606dfe5da`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |
            | `workflow_run` | 2026-11-30 14:05 UTC | 500; 3 more that GitHub accepted and never made | GitHub took the last requests to redeliver it and made no attempt | [`38ee792a-82e7-11f1-959e-7ce606dfe5da`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) |  |

            github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
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
            🔴 <b>deploy-bot: 28 webhook events left behind (since 2026-11-30 14:05 UTC)</b>

            <b>Left behind</b>: 28 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.
            7 × <code>watch</code>, 6 × <code>star</code>, 5 × <code>release</code>, 4 × <code>push</code>, 3 × <code>issues</code>, 3 of other kinds

            <b>What to do</b>
            <b>Left behind</b>: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            GitHub keeps a delivery for 72 hours; after that the entry leaves.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            deploy-bot: 28 webhook events left behind (since 2026-11-30 14:05 UTC)
            ---
            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Left behind**: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            - GitHub keeps a delivery for 72 hours; after that the entry leaves.

            ### Lost

            - **Left behind**: 28 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC. 7 × `watch`, 6 × `star`, 5 × `release`, 4 × `push`, 3 × `issues`, 3 of other kinds.

            github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
        "#]],
    );
}

#[test]
fn a_stretch_that_was_never_read_and_no_link() {
    let alarm = Alarm { advanced_url: None, ..alarm(vec![entry(EntryKind::GapLost(loss(15)))]) };
    check(
        &alarm,
        &expect![[r#"
            🔴 <b>deploy-bot: part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)</b>

            <b>Not read</b>: GitHub's list of deliveries from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.

            <b>What to do</b>
            <b>Not read</b>: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            GitHub keeps a delivery for 72 hours; after that the entry leaves."#]],
        &expect![[r#"
            deploy-bot: part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)
            ---
            ### What to do

            - **Not read**: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            - GitHub keeps a delivery for 72 hours; after that the entry leaves.

            ### Lost

            - **Not read**: GitHub's list of deliveries from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.

            github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
        "#]],
    );
}

#[test]
fn an_endpoint_that_refuses_everything_and_no_name_of_the_app() {
    let refusing = Refusing { since: time(0), codes: vec![401, 403, 404, 410, 421, 422] };
    let mut alarm = alarm(vec![entry(EntryKind::Refusing(refusing))]);
    alarm.slug = None;
    check(
        &alarm,
        &expect![[r#"
            🔴 <b>The endpoint refuses everything (since 2026-11-30 14:05 UTC)</b>

            <b>Refuses everything</b>: the endpoint answers with 401, 403, 404, 410, 421 and others since 2026-11-30 14:05 UTC.

            <b>What to do</b>
            <b>Refuses everything</b>: the endpoint answers, but takes nothing, and what it refused is not asked for again. A rotated secret looks like this: compare the App's webhook secret and URL with what the endpoint expects. Once that is repaired, redeliver what matters on the Advanced page. The entry leaves when an attempt passes.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            The endpoint refuses everything (since 2026-11-30 14:05 UTC)
            ---
            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Refuses everything**: the endpoint answers, but takes nothing, and what it refused is not asked for again. A rotated secret looks like this: compare the App's webhook secret and URL with what the endpoint expects. Once that is repaired, redeliver what matters on the Advanced page. The entry leaves when an attempt passes.

            ### Not working

            - **Refuses everything**: the endpoint answers with 401, 403, 404, 410, 421 and others since 2026-11-30 14:05 UTC.

            github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
        "#]],
    );
}

#[test]
fn a_channel_that_cannot_be_reached() {
    let lost = |channel, said: &str| with_lost_channel(Vec::new(), channel, time(0), said);
    check(
        &alarm(lost(Channel::Telegram, "status 403: Forbidden: bot was kicked")),
        &expect![[r#"
            🔴 <b>deploy-bot: Telegram cannot be reached (since 2026-11-30 14:05 UTC)</b>

            <b>Cannot be reached</b>: Telegram since 2026-11-30 14:05 UTC. It said <code>status 403: Forbidden: bot was kicked</code>.

            <b>What to do</b>
            <b>Telegram</b>: nobody is told there. Look whether the bot is still in the chat and may write to it, and whether TELEGRAM_BOT_TOKEN, TELEGRAM_CHAT_ID and TELEGRAM_THREAD_ID are right. The entry leaves when the chat can be reached again.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
        deploy-bot: Telegram cannot be reached (since 2026-11-30 14:05 UTC)
        ---
        [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

        ### What to do

        - **Telegram**: nobody is told there. Look whether the bot is still in the chat and may write to it, and whether TELEGRAM_BOT_TOKEN, TELEGRAM_CHAT_ID and TELEGRAM_THREAD_ID are right. The entry leaves when the chat can be reached again.

        ### Not working

        - **Cannot be reached**: Telegram since 2026-11-30 14:05 UTC. It said `status 403: Forbidden: bot was kicked`.

        github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
    "#]],
    );
    check(
        &alarm(lost(Channel::ControlRepo, "status 404: Not Found")),
        &expect![[r#"
            🔴 <b>deploy-bot: the control repository cannot be reached (since 2026-11-30 14:05 UTC)</b>

            <b>Cannot be reached</b>: the control repository since 2026-11-30 14:05 UTC. It said <code>status 404: Not Found</code>.

            <b>What to do</b>
            <b>Control repository</b>: no issue is kept there. Look whether CONTROL_REPO is right, whether the App is installed there with the permission Issues: read and write, and whether the repository has issues. The entry leaves when it can be reached again.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
        deploy-bot: the control repository cannot be reached (since 2026-11-30 14:05 UTC)
        ---
        [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

        ### What to do

        - **Control repository**: no issue is kept there. Look whether CONTROL_REPO is right, whether the App is installed there with the permission Issues: read and write, and whether the repository has issues. The entry leaves when it can be reached again.

        ### Not working

        - **Cannot be reached**: the control repository since 2026-11-30 14:05 UTC. It said `status 404: Not Found`.

        github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
    "#]],
    );
}

#[test]
fn everything_at_once() {
    let names = BTreeMap::from([("push".into(), 2)]);
    let entries = vec![
        entry(EntryKind::Refusing(Refusing { since: time(0), codes: vec![401] })),
        entry(EntryKind::LeftBehind(Loss { count: 2, kinds: names, ..loss(15) })),
        entry(EntryKind::GapLost(loss(30))),
        entry(EntryKind::NotRedeliverable { event: undelivered("b", 60), answer: Some(410) }),
        gave_up("a", 45),
    ];
    check(
        &alarm(entries),
        &expect![[r#"
            🔴 <b>deploy-bot: the endpoint refuses everything, 2 webhook events not delivered, 2 left behind, part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)</b>
            Newest first.

            <b>Refuses everything</b>: the endpoint answers with 401 since 2026-11-30 14:05 UTC.

            <b>Left behind</b>: 2 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC.
            2 × <code>push</code>

            <b>Not read</b>: GitHub's list of deliveries from 2026-11-30 14:20 UTC to 2026-11-30 14:35 UTC.

            <code>workflow_run</code> · <code>completed</code> — GitHub refused to redeliver it (410)
            First delivery: 2026-11-30 15:05 UTC
            Attempts: 500, 503, no answer (504)
            guid <code>b</code>

            <code>workflow_run</code> · <code>completed</code> — gave up after 3 attempts
            First delivery: 2026-11-30 14:50 UTC
            Attempts: 500, 503, no answer (504)
            guid <code>a</code>

            <b>What to do</b>
            <b>Refuses everything</b>: the endpoint answers, but takes nothing, and what it refused is not asked for again. A rotated secret looks like this: compare the App's webhook secret and URL with what the endpoint expects. Once that is repaired, redeliver what matters on the Advanced page. The entry leaves when an attempt passes.
            <b>Left behind</b>: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            <b>Not read</b>: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            <b>Gave up</b>: every attempt failed, so it is not asked for again. Repair the endpoint, then look for the guid on the Advanced page and press Redeliver. The entry leaves when an attempt passes.
            <b>GitHub refused</b>: GitHub did not take the request to redeliver. Press Redeliver once on the Advanced page; if that fails too, do by hand what the event would have done. The entry leaves when an attempt passes.
            Can be redelivered until 2026-12-03 14:50 UTC; then GitHub forgets the oldest, and its entry leaves.
            <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
            deploy-bot: the endpoint refuses everything, 2 webhook events not delivered, 2 left behind, part of GitHub's list of deliveries not read (since 2026-11-30 14:05 UTC)
            ---
            [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

            ### What to do

            - **Refuses everything**: the endpoint answers, but takes nothing, and what it refused is not asked for again. A rotated secret looks like this: compare the App's webhook secret and URL with what the endpoint expects. Once that is repaired, redeliver what matters on the Advanced page. The entry leaves when an attempt passes.
            - **Left behind**: the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.
            - **Not read**: more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.
            - **Gave up**: every attempt failed, so it is not asked for again. Repair the endpoint, then look for the guid on the Advanced page and press Redeliver. The entry leaves when an attempt passes.
            - **GitHub refused**: GitHub did not take the request to redeliver. Press Redeliver once on the Advanced page; if that fails too, do by hand what the event would have done. The entry leaves when an attempt passes.
            - Can be redelivered until 2026-12-03 14:50 UTC; then GitHub forgets the oldest, and its entry leaves.

            ### Not working

            - **Refuses everything**: the endpoint answers with 401 since 2026-11-30 14:05 UTC.

            ### Lost

            - **Left behind**: 2 events, first delivered from 2026-11-30 14:05 UTC to 2026-11-30 14:20 UTC. 2 × `push`.
            - **Not read**: GitHub's list of deliveries from 2026-11-30 14:20 UTC to 2026-11-30 14:35 UTC.

            ### Events, newest first

            | event | first delivery | attempts | why it is not asked for again | guid | repository id |
            | --- | --- | --- | --- | --- | --- |
            | `workflow_run` `completed` | 2026-11-30 15:05 UTC | 500, 503, no answer (504) | GitHub refused to redeliver it (410) | [`b`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |
            | `workflow_run` `completed` | 2026-11-30 14:50 UTC | 500, 503, no answer (504) | gave up after 3 attempts | [`a`](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced) | 479544328 |

            github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
        "#]],
    );
}
