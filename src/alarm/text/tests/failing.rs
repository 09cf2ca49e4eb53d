//! The recovery itself fails, and an outage, as both channels say them.

use expect_test::expect;

use super::entries::check;
use super::*;
use crate::alarm::entry::Failing;
use crate::failure::FailureClass;
use crate::policy::outage::Outage;

fn failing(class: FailureClass, problems: &[&str]) -> Entry {
    entry(EntryKind::Failing(Failing { since: time(0), class, problems: problems.iter().map(|text| (*text).to_owned()).collect() }))
}

#[test]
fn the_recovery_fails_by_its_settings() {
    let problems = ["TELEGRAM_BOT_TOKEN is missing; ask @BotFather", "GITHUB_API_URL is no address such as <https://x>"];
    check(
        &alarm(vec![failing(FailureClass::Config, &problems)]),
        &expect![[r#"
        🔴 <b>deploy-bot: the recovery itself fails (since 2026-11-30 14:05 UTC)</b>

        <b>Recovery fails</b>: settings of the Worker cannot be used since 2026-11-30 14:05 UTC.
        • TELEGRAM_BOT_TOKEN is missing; ask @BotFather
        • GITHUB_API_URL is no address such as &lt;https://x&gt;

        <b>What to do</b>
        <b>Recovery fails</b>: no webhook event is asked for again until the settings are right. Set each as it says, with wrangler or in Cloudflare's dashboard, and deploy. The entry leaves with the next sweep that succeeds.
        <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
        deploy-bot: the recovery itself fails (since 2026-11-30 14:05 UTC)
        ---
        [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

        ### What to do

        - **Recovery fails**: no webhook event is asked for again until the settings are right. Set each as it says, with wrangler or in Cloudflare's dashboard, and deploy. The entry leaves with the next sweep that succeeds.

        ### Not working

        - **Recovery fails**: settings of the Worker cannot be used since 2026-11-30 14:05 UTC.
          - `TELEGRAM_BOT_TOKEN is missing; ask @BotFather`
          - `GITHUB_API_URL is no address such as <https://x>`

        github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
    "#]],
    );
}

#[test]
fn an_outage() {
    let outage = Outage { since: time(0), waiting: 42, counted_at: time(40) };
    check(
        &alarm(vec![entry(EntryKind::Outage(outage))]),
        &expect![[r#"
        🔴 <b>deploy-bot: the endpoint does not answer, 42 webhook events wait (since 2026-11-30 14:05 UTC)</b>

        <b>Outage</b>: the endpoint does not answer since 2026-11-30 14:05 UTC. 42 events wait.

        <b>What to do</b>
        <b>Outage</b>: repair the endpoint. The events come by themselves when it answers again. Until then one event is asked for again as a probe, and the others are kept waiting, each for 72 hours after its first delivery. The entry leaves when the endpoint answers.
        <a href="https://github.com/organizations/acme/settings/apps/deploy-bot/advanced">Open the App's Advanced page</a>"#]],
        &expect![[r#"
        deploy-bot: the endpoint does not answer, 42 webhook events wait (since 2026-11-30 14:05 UTC)
        ---
        [Open the App's Advanced page](https://github.com/organizations/acme/settings/apps/deploy-bot/advanced)

        ### What to do

        - **Outage**: repair the endpoint. The events come by themselves when it answers again. Until then one event is asked for again as a probe, and the others are kept waiting, each for 72 hours after its first delivery. The entry leaves when the endpoint answers.

        ### Not working

        - **Outage**: the endpoint does not answer since 2026-11-30 14:05 UTC. 42 events wait.

        github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when nothing is open any more.
    "#]],
    );
    let counted_later = Outage { counted_at: time(100), ..outage };
    let text = |outage| telegram::message(&alarm(vec![entry(EntryKind::Outage(outage))])).html;
    assert_eq!(text(outage), text(counted_later), "the same number is the same text");
    assert!(text(Outage { waiting: 1, ..outage }).contains("1 webhook event waits"));
}

#[test]
fn each_class_says_what_it_means_and_what_to_do() {
    use FailureClass::{Auth, Config, Decode, Killed, RateLimited, ServerError, State, Transport};
    let mut seen = std::collections::BTreeSet::new();
    for class in [Config, Auth, RateLimited, ServerError, Transport, Decode, State, Killed] {
        let alarm = alarm(vec![failing(class, &[])]);
        let (html, body) = (telegram::message(&alarm).html, issue::issue(&alarm).body);
        let EntryKind::Failing(of_class) = &alarm.entries[0].kind else { panic!("it is no other") };
        for text in [&html, &body] {
            assert!(text.contains(why_it_fails(of_class)) && text.contains("The entry leaves with the next sweep that"), "{text}");
        }
        seen.insert(why_it_fails(of_class));
    }
    assert_eq!(seen.len(), 8);
}

#[test]
fn more_problems_than_fit_are_counted() {
    let problem = "x".repeat(400);
    let all = alarm(vec![failing(FailureClass::Config, &[problem.as_str(); 12])]);
    let text = parse(&telegram::message(&all).html).expect("Telegram takes it").text;
    assert_eq!((text.matches("\n• ").count(), text.contains("… and 4 more, in the log.")), (8, true), "{text}");
    assert!(issue::issue(&all).body.contains("  - … and 4 more, in the log."));
}

#[test]
fn a_first_line_with_everything_in_it_is_cut() {
    let long = Alarm {
        slug: Some("a".repeat(48)),
        ..alarm(vec![
            failing(FailureClass::Auth, &[]),
            entry(EntryKind::Outage(Outage { since: time(0), waiting: u64::MAX, counted_at: time(0) })),
            entry(EntryKind::LeftBehind(Loss { count: 4_000_000, ..loss(0) })),
            entry(EntryKind::GapLost(loss(0))),
        ])
    };
    let title = issue::issue(&long).title;
    assert!(title.chars().count() <= 256 && title.contains(" and more (since 2026-11-30"), "{title}");
}
