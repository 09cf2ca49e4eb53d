//! What a sweep tells, and what comes of its own writes.

use crate::policy::tests::history::{parse, time};
use crate::policy::time::{Time, minutes};
use crate::ports::{Key, NetworkError};
use crate::sweep::report::Ending;
use crate::sweep::state::VERSION;

use super::world::Outside;

/// GitHub delivers what was heard of our writes to the App itself, with this code.
fn deliver_own_events(outside: &Outside, code: u16) -> usize {
    let events: Vec<(u64, &str, Time)> = outside.issues.events.borrow_mut().drain(..).collect();
    for (index, (repository, action, at)) in events.iter().enumerate() {
        let clock = crate::policy::tests::history::clock(*at + std::time::Duration::from_secs(2 + index as u64));
        let line = format!("own-{}-{index} issues.{action} @{repository}: {clock} {code} | {code}", at.millis());
        outside.github.borrow_mut().add(parse(&line));
    }
    events.len()
}

#[test]
fn the_alarm_does_not_feed_itself() {
    for code in [500, 0, 404, 200] {
        let outside = Outside::new("a: 10:01 500 | 500\nb push: 12:01 500 | 500\nc: 12:40 500 | 500, 200");
        let mut heard = 0;
        let mut now = time("10:15");
        while now <= time("16:00") {
            let report = outside.tick_at(now).expect("it ends");
            assert_eq!(report.failure, None);
            heard += deliver_own_events(&outside, code);
            now = now + minutes(15);
        }
        assert!(heard >= 2, "{heard}");
        assert_eq!(outside.asks.borrow().iter().filter(|(guid, _)| guid.starts_with("own")).count(), 0, "{code}");
        assert!(!outside.issues.open_issues()[0].body.contains("own-"), "{code}");
        assert_eq!((outside.issues.issues.borrow().len(), heard), (1, 2), "{code}: one that opens it, one that edits it");
    }
}

#[test]
fn nor_does_what_was_written_while_the_state_could_not_be_read_or_written() {
    for is_newer in [true, false] {
        let outside = Outside::new("");
        outside.ticks(time("10:00"), time("10:15"));
        let before = outside.stored.borrow()[&Key::State].clone();
        if is_newer {
            outside.stored.borrow_mut().insert(Key::State, format!(r#"{{"version":{}}}"#, VERSION + 1));
        }
        outside.keeps_no_state.set(!is_newer);
        for at in ["10:30", "10:45", "11:00"] {
            outside.tick(at);
            deliver_own_events(&outside, 500);
        }
        outside.stored.borrow_mut().insert(Key::State, before);
        outside.keeps_no_state.set(false);
        outside.ticks(time("11:15"), time("12:30"));
        assert_eq!(outside.asks.borrow().len(), 0, "{is_newer}: {:?}", outside.asks.borrow());
        assert!(outside.issues.open_issues().is_empty());
    }
}

#[test]
fn our_own_event_that_passed_overtakes_no_event_of_a_person() {
    let outside = Outside::new("a: 10:01 500 | 500\nold issues.opened @7: 10:35 500 | 500, 200");
    outside.ticks(time("10:15"), time("10:30"));
    outside.tick("10:45");
    assert_eq!(deliver_own_events(&outside, 200), 1);
    outside.tick("11:00");
    assert_eq!(outside.asks_for("old").len(), 2, "it is asked for all the same");
}

#[test]
fn when_no_channel_is_left_the_run_fails_and_no_heartbeat_is_sent() {
    let mut outside = Outside::new("a: 10:01 500, 10:05 500, 10:09 500");
    outside.settings.insert("HEARTBEAT_URL", "https://api.github.example/ping".to_owned());
    outside.telegram.shut.set(Some((403, "Forbidden: bot was blocked by the user")));
    outside.faults.borrow_mut().push(("/ping", || Ok(crate::ports::Answer { status: 200, ..Default::default() })));
    outside.faults.borrow_mut().push(("/repos/", || Err(NetworkError::Failed)));
    let heartbeat = |outside: &Outside| outside.calls.borrow().iter().any(|call| call.ends_with("/ping"));
    for at in ["10:15", "10:30"] {
        let report = outside.tick(at).expect("it ends");
        assert_eq!((report.channels_lost, report.is_failure(), heartbeat(&outside)), (false, false, true), "{at}");
    }
    let report = outside.tick("10:45").expect("it ends");
    assert_eq!((report.channels_lost, report.is_failure(), heartbeat(&outside)), (true, true, false));
    assert_eq!((report.ending, report.failure), (Ending::Done, None));
    assert_eq!(
        report.warnings,
        [
            "Telegram cannot be reached: Forbidden: bot was blocked by the user (status 403)",
            "the control repository cannot be reached: the connection failed"
        ]
    );
    outside.faults.borrow_mut().pop();
    let report = outside.tick("11:00").expect("it ends");
    assert_eq!((report.channels_lost, heartbeat(&outside)), (false, true));
    assert!(outside.issues.open_titles()[0].contains("Telegram cannot be reached"));
}

#[test]
fn an_endpoint_that_refuses_everything_is_told_once_and_until_it_takes_something() {
    let history: Vec<String> = (0..12).map(|index| format!("r{index}: 10:{:02} 401", index * 4)).collect();
    let outside = Outside::new(&history.join("\n"));
    outside.ticks(time("10:15"), time("12:00"));
    let line = "deploy-bot: the endpoint refuses everything (since 2026-12-01 10:00 UTC)";
    assert_eq!((outside.issues.open_titles(), outside.telegram.first_lines()), (vec![line.to_owned()], vec![format!("🔴 {line}")]));
    outside.github.borrow_mut().add(parse("ok: 12:05 200"));
    outside.tick("12:15");
    assert_eq!((outside.issues.open_titles().len(), outside.telegram.texts()), (0, vec!["🟢 Nothing is open any more.".to_owned()]));
}
