//! The stored form. A change of these snapshots needs a thought about the states that are out there.

use std::rc::Rc;

use expect_test::{expect, expect_file};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::properties::config;
use super::{Case, World, time};
use crate::json;
use crate::policy::delivery::{DeliveryId, Guid, Outcome, Position};
use crate::policy::event::stored::{ASK_BYTES, OBJECT_BYTES};
use crate::policy::event::{Ask, Attempt, Event, Fate};
use crate::policy::evidence::Counting;
use crate::policy::ledger::{Ledger, add_loss};
use crate::policy::time::Time;

#[test]
fn the_stored_form_is_pinned() {
    let case = Case::new(
        "
        a: 10:00 500 | lost
        b issues.opened @7: 10:01 500, 10:02 0, 10:03 500
        c: 10:01 500 | refuse 404
        d issues @7: 10:04 200
        e push @null: 10:05 0 again
        f push: 10:06 500, 10:07 200
        g issues @7: 10:01 500
        h status: 10:08 500 | off
        i issues @8: 10:13 200
        ",
    );
    let case = case.traffic("10:09", "10:14", 20).page_of(10).set(|settings| {
        settings.delivery_pages = 2;
        settings.subrequest_limit = 25;
        settings.superseded_events = vec!["issues".into()];
        settings.ignored_events = vec!["status".into()];
    });
    let case = case.tick("10:15").set(|settings| settings.ignored_events.clear()).tick("10:30");
    let mut ledger = case.world.ledger();
    for (name, at) in [("push", "10:00"), ("push", "10:01"), ("status", "09:59")] {
        add_loss(&mut ledger.left_behind, (time(at), time(at)), Some(&name.into()), time("10:30"), None);
    }
    add_loss(&mut ledger.gaps_lost, (time("08:00"), time("08:10")), None, time("10:30"), None);
    let pretty = serde_json::to_string_pretty(&ledger).unwrap();
    expect_file!["stored.json"].assert_eq(&pretty);
}

#[test]
fn a_state_of_the_first_version_without_its_optional_parts_is_read() {
    let stored = r#"{"swept_at":null,"ground":{"cursor":null,"gaps":[],"watched_since":null,"window_start":0,"whole_seconds_at":null},
        "overtakers":{"since":{},"newest":[]},"ignored":{},"events":[],"left_behind":[],"gaps_lost":[]}"#;
    assert_eq!(serde_json::from_str::<Ledger>(stored).unwrap(), Ledger::default());
}

#[test]
fn a_lost_state_loses_speed_and_nothing_else() {
    let history = "a: 10:00 500, 10:16 500\nb: 10:01 500 | 500, 200\nc issues: 10:02 500\nd issues: 10:03 200\ne: 10:04 500, 10:05 200";
    let mut case = Case::new(history).tick("10:15");
    case.world = World { saved: String::new(), ..case.world };
    case.tick("10:30 10:45").check(&expect![[r#"
        10:15 a: asked for again
        10:15 b: asked for again
        10:15 c: superseded: a newer event of its kind passed (2026-12-01T10:03:00.000Z)
        10:15 e: delivered
        10:30 a: delivered
        10:30 b: asked for again
        10:30 c: superseded: a newer event of its kind passed (2026-12-01T10:03:00.000Z)
        10:30 e: delivered
        10:45 b: delivered
    "#]]);
}

/// The stored form of all events, and what is read of it.
fn again(events: Vec<Event>) -> (String, Vec<Event>) {
    let events = events.into_iter().map(|event| (event.guid.clone(), event)).collect();
    let text = serde_json::to_string(&Ledger { events, ..Ledger::default() }).unwrap();
    let read: Ledger = json::read(text.as_bytes()).unwrap();
    let start = text.find(r#""events":["#).unwrap() + 10;
    let end = text.find(r#"],"left_behind""#).unwrap();
    (text[start..end].to_owned(), read.events.into_values().collect())
}

/// One attempt, no ask, all that can be said of it.
fn plain_event() -> Event {
    let at = Position { at: time("10:00"), id: DeliveryId(3_100_011_920_000_000_000) };
    let attempt = Attempt { position: at, status_code: 404, outcome: Outcome::Refused, redelivery: false, counting: Counting::Counts };
    Event {
        guid: "38ee792a-82e7-11f1-959e-7ce606dfe5da".into(),
        event: "check_run".into(),
        action: Some("completed".into()),
        repository_id: Some(479_544_328),
        attempts: vec![attempt],
        asks: Vec::new(),
        fate: Fate::Open,
    }
}

fn plain_ask() -> Ask {
    Ask { at: time("10:15"), after: time("10:14"), on: plain_event().attempts[0].position, taken: true }
}

#[test]
fn an_event_with_one_attempt_and_no_ask_is_stored_as_words() {
    let event = plain_event();
    let attempt = event.attempts[0];
    let stored = |event: Event| again(vec![event]).0;
    let words = [
        event.clone(),
        Event { fate: Fate::Passed, action: None, ..event.clone() },
        Event { fate: Fate::Superseded, repository_id: None, ..event.clone() },
        Event { fate: Fate::Ignored, guid: "a".into(), ..event.clone() },
        Event { fate: Fate::LeftBehind, attempts: vec![Attempt { redelivery: true, ..attempt }], ..event.clone() },
        Event { fate: Fate::Own, attempts: vec![Attempt { counting: Counting::Unread, ..attempt }], ..event.clone() },
        Event {
            fate: Fate::Forgotten,
            attempts: vec![Attempt { status_code: -1, outcome: Outcome::Unanswered, ..attempt }],
            ..event.clone()
        },
    ];
    let words: Vec<String> = words.into_iter().map(stored).collect();
    expect![[r#"
        "38ee792a-82e7-11f1-959e-7ce606dfe5da check_run completed 479544328 1796119200000 3100011920000000000 404 r0"
        "38ee792a-82e7-11f1-959e-7ce606dfe5da check_run - 479544328 1796119200000 3100011920000000000 404 r0 passed"
        "38ee792a-82e7-11f1-959e-7ce606dfe5da check_run completed - 1796119200000 3100011920000000000 404 r0 superseded"
        "a check_run completed 479544328 1796119200000 3100011920000000000 404 r0 ignored"
        "38ee792a-82e7-11f1-959e-7ce606dfe5da check_run completed 479544328 1796119200000 3100011920000000000 404 r1 left_behind"
        "38ee792a-82e7-11f1-959e-7ce606dfe5da check_run completed 479544328 1796119200000 3100011920000000000 404 r4 own"
        "38ee792a-82e7-11f1-959e-7ce606dfe5da check_run completed 479544328 1796119200000 3100011920000000000 -1 u0 forgotten"
    "#]]
    .assert_eq(&(words.join("\n") + "\n"));
    let objects = [
        Event { fate: Fate::GaveUp, ..event.clone() },
        Event { fate: Fate::NotRedeliverable(None), ..event.clone() },
        Event {
            attempts: vec![attempt, Attempt { position: Position { id: DeliveryId(u64::MAX), ..attempt.position }, ..attempt }],
            ..event.clone()
        },
        Event { asks: vec![plain_ask()], ..event.clone() },
        Event { action: Some("-".into()), ..event.clone() },
        Event { action: Some("of two".into()), ..event.clone() },
        Event { event: "".into(), ..event.clone() },
        Event { event: "a\"b".into(), ..event.clone() },
        Event { guid: "\\".into(), ..event.clone() },
        Event { guid: "\u{7f}".into(), ..event.clone() },
        Event { action: Some("ü".into()), ..event },
    ];
    for event in objects {
        assert!(stored(event.clone()).starts_with(r#"{"g":""#), "{event:?}");
    }
}

#[test]
fn words_that_are_no_event_are_no_state() {
    let good = again(vec![plain_event()]).0;
    let read = |stored: &str| {
        let ledger = serde_json::to_string(&Ledger::default()).unwrap();
        json::read::<Ledger>(ledger.replace(r#""events":[]"#, &format!(r#""events":[{stored}]"#)).as_bytes())
    };
    assert_eq!(read(&good).unwrap().events.len(), 1);
    let words: Vec<&str> = good.trim_matches('"').split(' ').collect();
    for (index, word) in words.iter().enumerate() {
        let with = |word: &str| {
            let mut words = words.clone();
            words[index] = word;
            format!("\"{}\"", words.join(" "))
        };
        assert!(read(&with(word)).is_ok());
        if index > 2 {
            for wrong in ["x", "", "18446744073709551616", "1.5", "r", "r256", "0x1"] {
                assert!(read(&with(wrong)).is_err(), "word {index} as {wrong:?}");
            }
        }
        let without = [&words[..index], &words[index + 1..]].concat();
        assert!(read(&format!("\"{}\"", without.join(" "))).is_err(), "without word {index}");
    }
    for wrong in
        ["\"\"", "\" \"", "1", "null", "[]", "{}", "true", &good.replace("r0", "r0 gave_up"), &good.replace("r0", "r0 passed again")]
    {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

prop_compose! {
    fn any_text()(text in select(vec!["38ee792a-82e7-11f1-959e-7ce606dfe5da", "a", "check_run", "-", "", " ", "of two", "ü😀", "\"\\", "\u{0}", "</script>"])) -> Rc<str> {
        text.into()
    }
}

prop_compose! {
    fn any_attempt()(
        at in any::<i64>(),
        id in any::<u64>(),
        status_code in any::<i32>(),
        outcome in select(vec![Outcome::Passed, Outcome::Refused, Outcome::Failed, Outcome::Unanswered]),
        redelivery in any::<bool>(),
        counting in select(vec![Counting::Counts, Counting::IntoOutage, Counting::Unread]),
    ) -> Attempt {
        Attempt { position: Position { at: Time::from_millis(at), id: DeliveryId(id) }, status_code, outcome, redelivery, counting }
    }
}

prop_compose! {
    fn any_event()(
        guid in any_text(),
        event in any_text(),
        action in option::of(any_text()),
        repository_id in option::of(any::<u64>()),
        attempts in vec(any_attempt(), 1..3),
        asks in vec(Just(plain_ask()), 0..2),
        fate in select(vec![
            Fate::Open,
            Fate::Passed,
            Fate::Superseded,
            Fate::Ignored,
            Fate::LeftBehind,
            Fate::Own,
            Fate::Forgotten,
            Fate::GaveUp,
            Fate::NotRedeliverable(None),
            Fate::NotRedeliverable(Some(404)),
        ]),
    ) -> Event {
        Event { guid: Guid::from(&*guid), event, action, repository_id, attempts, asks, fate }
    }
}

proptest! {
    #![proptest_config(config(1))]

    #[test]
    fn whatever_an_event_holds_it_is_read_back_as_the_same_and_measured(event in any_event()) {
        let (stored, read) = again(vec![event.clone()]);
        // And the comma behind it.
        let bytes = stored.len() + 1;
        prop_assert!(bytes <= event.stored_bytes(), "{}: {} at most", stored, event.stored_bytes());
        prop_assert!(!stored.is_ascii() || bytes == event.measured_bytes(), "{}: {}", stored, event.measured_bytes());
        prop_assert_eq!(&read[..], std::slice::from_ref(&event));
        let asked = Event { asks: vec![plain_ask()], ..event.clone() };
        if event.asks.is_empty() {
            let more = asked.measured_bytes().saturating_sub(event.measured_bytes());
            prop_assert!(!stored.is_ascii() || more <= ASK_BYTES + OBJECT_BYTES, "{}: {} more with an ask", stored, more);
        }
    }
}
