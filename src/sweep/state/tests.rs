use expect_test::expect;
use serde_json::Value;

use super::*;
use crate::failure::FailureClass;
use crate::policy::delivery::{DeliveryId, Position};
use crate::policy::event::Event;
use crate::policy::own;
use crate::policy::time::minutes;

fn state() -> State {
    let mut state = State::default();
    state.ledger.swept_at = Some(Time::from_millis(1_793_612_700_000));
    state.ledger.ground.cursor = Some(Position { at: Time::from_millis(1_793_610_905_123), id: DeliveryId(u64::MAX) });
    state.failures.note(Time::from_millis(1_793_606_400_000), FailureClass::RateLimited, Some(minutes(90)));
    state
}

#[test]
fn the_stored_form_is_pinned() {
    // A change here needs a new version, and a test that the old one is still read.
    expect![[r#"{"version":2,"ledger":{"swept_at":1793612700000,"ground":{"cursor":[1793610905123,"18446744073709551615"],"gaps":[],"watched_since":null,"window_start":0,"whole_seconds_at":null},"overtakers":{"since":{},"newest":[]},"ignored":{},"no_room":{"overtakable":null,"any":null},"events":[],"left_behind":[],"gaps_lost":[],"refusals":{},"endpoint":{},"own":[]},"alarm":{"telegram":null,"telegram_reach":{"failed":0},"control_repo":null,"control_repo_reach":{"failed":0},"app":null},"failures":{"last":{"at":1793606400000,"class":"rate_limited"},"in_a_row":1,"since":1793606400000,"wait":{"until":1793611800000,"named":true},"waits":1}}"#]]
        .assert_eq(&state().write().expect("it is written"));
}

#[test]
fn what_was_written_is_read_again() {
    let text = state().write().expect("it is written");
    assert_eq!(State::read(&text), Ok(state()));
}

#[test]
fn a_newer_version_is_told_from_what_cannot_be_read() {
    let newer = |text: &str| State::read(text).expect_err("it is not to be used");
    assert_eq!(newer(r#"{"version":3,"everything":"else"}"#), StateError::Newer(3));
    let same_form = state().write().expect("it is written").replace("\"version\":2", "\"version\":7");
    assert_eq!(newer(&same_form), StateError::Newer(7));
    for text in ["", "{", "null", "[]", "{}", r#"{"version":1}"#, r#"{"version":"1"}"#, r#"{"version":0,"ledger":{}}"#, "\u{0}"] {
        assert_eq!(newer(text), StateError::Unreadable, "{text}");
    }
}

#[test]
fn a_state_of_the_first_version_is_read_and_written_as_one_of_this() {
    let text = state().write().expect("it is written");
    let first = text.replace("\"version\":2", "\"version\":1");
    assert_ne!(first, text);
    assert_eq!(State::read(&first).expect("it is read").write().expect("it is written"), text);
}

#[test]
fn other_letters_are_stored_as_ascii_and_read_as_they_were() {
    let mut state = state();
    state.ledger.ignored.insert("grün 🟢".into(), None);
    let text = state.write().expect("it is written");
    assert!(text.is_ascii() && text.contains("gr\\u00fcn \\ud83d\\udfe2"), "{text}");
    assert_eq!(State::read(&text), Ok(state));
}

#[test]
fn what_was_heard_while_the_state_could_not_be_written_is_taken_in_once() {
    let write = |minute: u64| own::Write { repository_id: 7, at: Time::from_millis(1_796_112_000_000) + minutes(minute) };
    let mut others = Others::default();
    others.add(&[write(0), write(5)]);
    let mut unwritten = state();
    unwritten.hear(&others);
    let stopgap = Stopgap { own: unwritten.ledger.own.clone(), heard: unwritten.heard, ..Stopgap::default() };
    let mut later = state();
    later.take_in(stopgap, write(15).at);
    later.hear(&others);
    assert_eq!((later.ledger.own, later.heard), (unwritten.ledger.own, 2));
}

#[test]
fn the_stored_form_of_the_stopgap_is_pinned() {
    let stopgap = Stopgap { failures: state().failures, alarm: Memory::default(), own: state().ledger.own, heard: 0 };
    let text = serde_json::to_string(&stopgap).expect("it is plain data");
    expect![[r#"{"failures":{"last":{"at":1793606400000,"class":"rate_limited"},"in_a_row":1,"since":1793606400000,"wait":{"until":1793611800000,"named":true},"waits":1},"alarm":{"telegram":null,"telegram_reach":{"failed":0},"control_repo":null,"control_repo_reach":{"failed":0},"app":null},"own":[]}"#]].assert_eq(&text);
    assert_eq!(serde_json::from_str::<Stopgap>(&text).expect("it is read again"), stopgap);
}

/// The places at which `kept` has something that `now` has not.
fn lost(kept: &Value, now: &Value, path: &str) -> Vec<String> {
    match (kept, now) {
        (Value::Object(kept), Value::Object(now)) => {
            kept.iter().flat_map(|(key, value)| lost(value, now.get(key).unwrap_or(&Value::Null), &format!("{path}.{key}"))).collect()
        }
        (Value::Array(kept), Value::Array(now)) if kept.len() == now.len() => {
            kept.iter().zip(now).flat_map(|(kept, now)| lost(kept, now, path)).collect()
        }
        _ if kept == now => Vec::new(),
        _ => vec![format!("{path}: {kept} became {now}")],
    }
}

#[test]
fn what_each_released_version_stored_is_read_and_nothing_of_it_is_lost() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/test/fixtures/states");
    let files: Vec<_> = std::fs::read_dir(folder).expect("the states are there").collect();
    assert!(!files.is_empty());
    for file in files {
        let path = file.expect("it is listed").path();
        let storage: Value = serde_json::from_slice(&std::fs::read(&path).expect("it is read")).expect("it is JSON");
        let text = storage["state"].as_str().expect("a text");
        let state = State::read(text).expect("a newer Worker reads what an older one wrote");
        let mut kept: Value = serde_json::from_str(text).expect("it is JSON");
        let mut now = serde_json::to_value(&state).expect("it is plain data");
        let events = |state: &mut Value| {
            state["version"].take();
            state["ledger"]["events"].take().as_array().expect("a list").clone()
        };
        let (events_kept, events_now) = (events(&mut kept), events(&mut now));
        assert_eq!(lost(&kept, &now, ""), [""; 0], "{}", path.display());
        assert!(!events_kept.is_empty() && events_kept.len() == events_now.len(), "{}", path.display());
        for event in events_kept {
            // The first version had all of them as objects.
            let is_there = match serde_json::from_value::<Event>(event.clone()) {
                Ok(event) => state.ledger.events.get(&event.guid) == Some(&event),
                Err(_) => events_now.contains(&event),
            };
            assert!(is_there, "{}: {event}", path.display());
        }
    }
}

#[test]
fn the_last_summary_is_kept_with_its_time_and_no_later_one_than_the_present() {
    let at = |minute: u64| Time::from_millis(1_793_606_400_000) + minutes(minute);
    let of = |summary_of| Memory { summary_of, ..Memory::default() };
    let mut state = State { alarm: of(Some(at(60))), ..state() };
    let text = state.write().expect("it is written");
    assert!(text.contains(r#""app":null,"summary_of":1793610000000}"#), "{text}");
    assert_eq!(State::read(&text), Ok(state.clone()));
    state.move_to(at(30));
    assert_eq!(state.alarm.summary_of, Some(at(30)), "a wrong clock's");
    // Whichever of the two was saved while the other could not be.
    for (before, later) in [(Some(at(5)), None), (None, Some(at(5))), (Some(at(5)), Some(at(2))), (Some(at(2)), Some(at(5)))] {
        assert_eq!(of(before).followed_by(of(later), at(30)).summary_of, Some(at(5)));
    }
}
