//! Whatever comes from outside: every text is taken, fits, and says what it says of harmless names.

use proptest::prelude::*;

use super::*;
use crate::policy::outage::Outage;
use crate::policy::tests::properties::few;

/// Pieces that mean something to Telegram, to Markdown or to a terminal, between any characters.
const PIECES: &[&str] = &[
    "<b>",
    "</b>",
    "</code>",
    "<a href=\"https://evil.example\">",
    "&",
    "&lt;",
    "&#60;",
    "\"",
    "'",
    "`",
    "``",
    "|",
    "\\|",
    "\\",
    "@all",
    "#1",
    "<!--",
    "-->",
    "<!-- github-app-redeliver:v1 app=1 -->",
    "\n",
    "\r\n",
    "\n\n# x\n",
    "](https://evil.example)",
    "![",
    "**",
    "_",
    "~~",
    "https://evil.example",
    "www.evil.example",
    "/start",
    "\u{202e}",
    "\u{200b}",
    "\u{0}",
    "😀",
    "\u{fdfd}",
    " ",
    "",
];

fn hostile() -> impl Strategy<Value = String> {
    let piece = prop_oneof![4 => proptest::sample::select(PIECES).prop_map(str::to_owned), 1 => any::<String>()];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

fn outcome() -> impl Strategy<Value = Outcome> {
    proptest::sample::select(&[Outcome::Passed, Outcome::Refused, Outcome::Failed, Outcome::Unanswered][..])
}

fn any_event() -> impl Strategy<Value = Undelivered> {
    let attempts = proptest::collection::vec((any::<i32>(), outcome(), any::<bool>()), 0..33);
    let names = (hostile(), hostile(), proptest::option::of(hostile()));
    (names, proptest::option::of(any::<u64>()), any::<i64>(), attempts, 0_usize..40).prop_map(
        |((guid, event, action), repository_id, at, attempts, lost_asks)| {
            let mut undelivered = undelivered(&guid, 0);
            undelivered.event = event.as_str().into();
            undelivered.action = action.map(|action| action.as_str().into());
            undelivered.first.at = Time::from_millis(at);
            let of = |(status_code, outcome, redelivery)| Attempt { redelivery, ..attempt(0, status_code, outcome) };
            undelivered.attempts = attempts.into_iter().map(of).collect();
            Undelivered { repository_id, lost_asks, ..undelivered }
        },
    )
}

fn any_loss() -> impl Strategy<Value = Loss> {
    let kinds = proptest::collection::btree_map(hostile(), any::<u32>(), 0..21);
    (any::<u64>(), kinds, any::<i64>()).prop_map(|(count, kinds, from)| {
        let kinds = kinds.into_iter().map(|(name, count)| (name.as_str().into(), u64::from(count))).collect();
        Loss { count: count / 1000, kinds, from: Time::from_millis(from), ..loss(15) }
    })
}

/// As many problems of the settings as there can be. They are our own words: none is hostile, and none longer (`config::tests`).
fn any_failing() -> impl Strategy<Value = Failing> {
    use FailureClass::{Auth, Config, Decode, Killed, RateLimited, ServerError, State, Transport};
    let class = proptest::sample::select(vec![Config, Auth, RateLimited, ServerError, Transport, Decode, State, Killed]);
    (class, 0_usize..30, any::<i64>()).prop_map(|(class, count, since)| {
        let problem = format!("SUBREQUEST_LIMIT is below 26, <the calls> that {}", "a sweep needs ".repeat(12));
        Failing { since: Time::from_millis(since), class, problems: vec![problem; if class == Config { count } else { 0 }] }
    })
}

fn any_entry() -> impl Strategy<Value = Entry> {
    prop_oneof![
        4 => any_event().prop_map(EntryKind::GaveUp),
        2 => (any_event(), proptest::option::of(any::<u16>())).prop_map(|(event, answer)| EntryKind::NotRedeliverable { event, answer }),
        1 => any_loss().prop_map(EntryKind::LeftBehind),
        1 => any_loss().prop_map(EntryKind::GapLost),
        1 => proptest::collection::vec(any::<i32>(), 1..17).prop_map(|codes| EntryKind::Refusing(Refusing { since: time(0), codes })),
        1 => (any::<u64>(), any::<i64>()).prop_map(|(waiting, since)| {
            EntryKind::Outage(Outage { since: Time::from_millis(since), waiting, counted_at: time(0) })
        }),
        1 => any_failing().prop_map(EntryKind::Failing),
        1 => (any::<bool>(), hostile(), any::<i64>()).prop_map(|(telegram, said, since)| EntryKind::ChannelLost {
            channel: if telegram { Channel::Telegram } else { Channel::ControlRepo },
            since: Time::from_millis(since),
            said,
        }),
    ]
    .prop_map(entry)
}

fn any_alarm(entries: impl Into<proptest::collection::SizeRange>) -> impl Strategy<Value = Alarm> {
    let url =
        prop_oneof![Just(None), Just(Some(ADVANCED.to_owned())), hostile().prop_map(|path| Some(format!("https://a.example/{path}")))];
    let page = || proptest::option::of(hostile().prop_map(|path| format!("https://a.example/{path}")));
    let (issue_url, status_url) = (page(), page());
    (proptest::collection::vec(any_entry(), entries), url, proptest::option::of(hostile()), issue_url, status_url).prop_map(
        |(entries, advanced_url, slug, issue_url, status_url)| Alarm {
            entries,
            slug,
            advanced_url,
            issue_url,
            status_url,
            ..Alarm::default()
        },
    )
}

/// The same alarm with names that harm nobody.
fn harmless(alarm: &Alarm) -> Alarm {
    let mut alarm = alarm.clone();
    // A name that is none is left out.
    if app_name(&alarm).is_none() {
        alarm.slug = None;
    }
    for entry in &mut alarm.entries {
        match &mut entry.kind {
            EntryKind::GaveUp(event) | EntryKind::NotRedeliverable { event, .. } => {
                event.guid = "guid".into();
                event.event = "event".into();
                event.action = event.action.take().map(|_| "action".into());
            }
            EntryKind::LeftBehind(loss) => {
                let names = (0..).map(|number| format!("kind{number:02}"));
                loss.kinds = names.zip(loss.kinds.values()).map(|(name, count)| (name.into(), *count)).collect();
            }
            EntryKind::ChannelLost { said, .. } => "said".clone_into(said),
            EntryKind::Failing(_) | EntryKind::Outage(_) | EntryKind::GapLost(_) | EntryKind::Refusing(_) => {}
        }
    }
    alarm
}

/// The text without what stands between each `start` and the next `end`.
fn without(text: &str, start: &str, end: &str) -> String {
    let mut rest = text;
    let mut skeleton = String::new();
    while let Some((before, after)) = rest.split_once(start) {
        let (_, behind) = after.split_once(end).expect("what starts ends");
        skeleton.push_str(before);
        skeleton.push_str(start);
        skeleton.push_str(end);
        rest = behind;
    }
    skeleton + rest
}

proptest! {
    #![proptest_config(few(64))]

    #[test]
    fn a_thousand_hostile_entries_fit_and_are_taken(alarm in any_alarm(1..20), times in 1_usize..60) {
        let entries: Vec<Entry> = alarm.entries.iter().cycle().take(alarm.entries.len() * times).cloned().collect();
        let alarm = Alarm { entries, ..alarm };
        let message = telegram::message(&alarm);
        let parsed = parse(&message.html).map_err(TestCaseError::fail)?;
        prop_assert!(parsed.units() < 4_000, "{}", parsed.units());
        // The first entry always fits, or the message would say nothing.
        let nothing = format!("… and {} more that do not fit here", alarm.entries.len());
        prop_assert!(!parsed.text.contains(&nothing));
        let issue = issue::issue(&alarm);
        prop_assert!(issue.body.len() + issue::marker(u64::MAX).len() + 2 <= 65_536);
        prop_assert!(issue.title.chars().count() <= 256);
        prop_assert!(!issue.body.contains(&nothing));
    }

    #[test]
    fn nothing_from_outside_changes_the_markup(alarm in any_alarm(1..4)) {
        let harmless = harmless(&alarm);
        let skeleton = |alarm: &Alarm| without(&telegram::message(alarm).html, "<code>", "</code>");
        prop_assert_eq!(skeleton(&alarm), skeleton(&harmless));
        let skeleton = |alarm: &Alarm| without(&issue::issue(alarm).body, "`", "`");
        prop_assert_eq!(skeleton(&alarm), skeleton(&harmless));
        for row in issue::issue(&alarm).body.lines().filter(|line| line.starts_with('|')) {
            prop_assert_eq!(row.matches('|').count(), 7, "{}", row);
        }
        for text in [telegram::message(&alarm).html, issue::issue(&alarm).body] {
            prop_assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'));
        }
    }

    #[test]
    fn links_lead_where_the_alarm_says(alarm in any_alarm(1..4)) {
        let message = telegram::message(&alarm);
        let parsed = parse(&message.html).map_err(TestCaseError::fail)?;
        // Every other address of these alarms is there.
        let host = |url: &str| Url::parse(url).ok().and_then(|url| url.host_str().map(str::to_owned));
        for address in parsed.marks.iter().filter_map(|(_, address, _)| address.as_deref()).chain(message.buttons.iter().map(|button| &*button.url)) {
            let host = host(address);
            prop_assert_eq!(host.as_deref(), Some(if address.starts_with(ADVANCED) { "github.com" } else { "a.example" }));
        }
    }
}
