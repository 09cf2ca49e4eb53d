#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them so")]

mod entries;
mod failing;
mod gallery;
mod hostile;

use std::collections::BTreeMap;

use expect_test::expect;

use super::*;
use crate::alarm::Alarm;
use crate::alarm::fakes::html::parse;
use crate::alarm::sample::{ADVANCED, alarm, attempt, gave_up, loss, time, undelivered};
use crate::policy::event::Attempt;
use crate::policy::outage::Outage;
use crate::policy::time::{hours, minutes};

fn entry(kind: EntryKind) -> Entry {
    Entry { key: "some".to_owned(), kind }
}

#[test]
fn how_long_it_took_in_words() {
    let seconds = [0, 61, 3_540, 3_600, 3_660, 7_200, 90_000, 172_800, 300_000];
    let words: Vec<String> = seconds.iter().map(|seconds| span(Duration::from_secs(*seconds))).collect();
    assert_eq!(words, ["a minute", "2 minutes", "59 minutes", "an hour", "1 h 1 min", "2 hours", "25 hours", "2 days", "3 days"]);
}

#[test]
fn what_is_left_of_a_message_and_of_an_issue() {
    let ended = |passed, all, took| Ended { recovered: Recovered { passed, all }, took: Some(took) };
    let recovered = ended(1, 1, minutes(45));
    let texts = [
        telegram::closed(&Alarm::default(), recovered).html,
        telegram::closed(&Alarm::default(), ended(0, 1, minutes(45))).html,
        telegram::closed(&Alarm::default(), ended(5, 5, minutes(135))).html,
        telegram::closed(&Alarm::default(), Ended { took: None, ..ended(2, 5, minutes(1)) }).html,
        telegram::pointer(Some("https://t.me/c/1234567890/2")).html,
        telegram::pointer(None).html,
        telegram::moved().html,
    ];
    expect![[r#"
        🟢 Recovered after 45 minutes: the event was delivered. Nothing is open any more.
        🟢 Nothing is open any more.
        🟢 Recovered after 2 h 15 min: all 5 events were delivered. Nothing is open any more.
        🟢 Nothing is open any more. Recovered: 2 of 5 entries; their events were delivered.
        ⬇️ This alarm goes on in a <a href="https://t.me/c/1234567890/2">newer message</a>.
        ⬇️ This alarm goes on in a newer message below.
        ➡️ This alarm goes on in another chat."#]]
    .assert_eq(&texts.join("\n"));
    let issues =
        [issue::closed(recovered, 0), issue::closed(ended(1, 2, hours(80)), 1), issue::record_lost(), issue::pointer(7), issue::moved()];
    let texts: Vec<String> = issues.iter().map(|issue| format!("{}\n---\n{}", issue.title, issue.body)).collect();
    expect![[r#"
        Webhook deliveries: nothing is open any more
        ---
        Recovered after 45 minutes: the event was delivered. Nothing is open any more.

        What stood here is in the history of this text ("edited", above).
        ===
        Webhook deliveries: nothing new is open any more
        ---
        Nothing new is open any more, after 3 days. Recovered: 1 of 2 entries; its event was delivered. Open still: 1 entry of an issue that a person closed.

        What stood here is in the history of this text ("edited", above).
        ===
        Webhook deliveries: nothing is open any more
        ---
        The record of this issue was lost, and nothing is open as far as is known now. What GitHub still lists as failed is asked for again. The earlier text is in the history ("edited", above).
        ===
        Webhook deliveries: this alarm goes on in another issue
        ---
        This alarm goes on in #7.
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
fn a_host_with_a_letter_that_ends_a_link_is_none() {
    for host in ["git\"hub.com", "git)hub.com", "git`hub.com", "git'hub.com", "git*hub.com", "git{hub.com"] {
        assert_eq!(link(Some(&format!("https://{host}/settings"))), None, "{host}");
    }
    assert_eq!(link(Some("https://ghe-1.example_x:8443/a")).map(String::from).as_deref(), Some("https://ghe-1.example_x:8443/a"));
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
    let button = |url: &str| {
        telegram::message(&Alarm { advanced_url: Some(url.to_owned()), ..alarm(vec![gave_up("a", 0)]) }).buttons.first().cloned()
    };
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

#[test]
fn of_several_apps_each_text_names_its_own() {
    let one_of_several = Some("7654321".to_owned());
    let without_name = Alarm { one_of_several: one_of_several.clone(), slug: None, ..alarm(vec![gave_up("a", 0)]) };
    assert!(headline(&without_name).starts_with("App 7654321: 1 webhook event not delivered"));
    let named = Alarm { one_of_several, ..alarm(vec![gave_up("a", 0)]) };
    assert!(headline(&named).starts_with("deploy-bot: 1 webhook event"));
    let recovered = Ended { recovered: Recovered { passed: 0, all: 1 }, took: None };
    assert_eq!(telegram::closed(&named, recovered).html, "🟢 deploy-bot: Nothing is open any more.");
    assert_eq!(telegram::closed(&without_name, recovered).html, "🟢 App 7654321: Nothing is open any more.");
    // A Worker with one App says what it always said.
    assert_eq!(telegram::closed(&alarm(Vec::new()), recovered).html, "🟢 Nothing is open any more.");
    let failing = |class| {
        let failing = Failing { since: time(0), class, problems: Vec::new() };
        let several = Alarm { entries: vec![entry(EntryKind::Failing(failing))], ..named.clone() };
        advice(&several)[0].1.clone()
    };
    let auth = failing(FailureClass::Auth);
    assert!(auth.contains("(7654321)") && auth.contains("as GITHUB_APP_PRIVATE_KEY_7654321.") && !auth.contains("GITHUB_APP_ID"), "{auth}");
    assert!(failing(FailureClass::Config).contains("the id 7654321 in APPS and GITHUB_API_URL are right"));
}

#[test]
fn how_long_github_keeps_a_delivery_is_said_as_it_is_there() {
    let keeps = |hours: u64, entries: Vec<Entry>| Alarm { retention: crate::policy::time::hours(hours), ..alarm(entries) };
    assert_eq!(
        how_long(&keeps(168, vec![gave_up("a", 0)])).as_deref(),
        Some("Can be redelivered until 2026-12-07 14:05 UTC; then GitHub forgets it, and the entry leaves.")
    );
    let lost = entry(EntryKind::GapLost(loss(0)));
    assert_eq!(how_long(&keeps(168, vec![lost])).as_deref(), Some("GitHub keeps a delivery for 168 hours; after that the entry leaves."));
    let outage = entry(EntryKind::Outage(Outage { since: time(0), waiting: 3, counted_at: time(0) }));
    assert!(advice(&keeps(168, vec![outage.clone()]))[0].1.contains("each for 168 hours after its first delivery"));
    assert!(advice(&keeps(72, vec![outage]))[0].1.contains("each for 72 hours after its first delivery"));
}
