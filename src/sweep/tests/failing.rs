//! Sweeps that fail: nothing is decided on half a picture.

use crate::failure::FailureClass;
use crate::policy::plan::Tally;
use crate::policy::tests::history::{parse, time};
use crate::ports::{Answer, AnswerHeaders, Key, NetworkError};
use crate::sweep::failures::Failure;
use crate::sweep::report::{Ending, Events};
use crate::sweep::state::{State, VERSION};

use super::world::{Crash, Fault, Outside, Upset};

const HISTORY: &str = "
    a: 10:01 500 | 500, 500
    b push: 10:02 503
";

fn status(status: u16) -> Answer {
    Answer { status, body: b"{\"message\":\"no\"}".to_vec(), ..Answer::default() }
}

pub(super) fn state(outside: &Outside) -> State {
    State::read(outside.stored.borrow().get(&Key::State).expect("a state was saved")).expect("it can be read")
}

/// Lets every call that contains `which` fail, and checks that the sweep leaves things as they were.
fn check(fault: Fault, class: FailureClass) {
    let outside = Outside::new(HISTORY);
    outside.tick("10:00");
    let before = state(&outside);
    outside.faults.borrow_mut().push(fault);
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.ending, report.failure), (Ending::Failed, Some(class)), "{}", fault.0);
    assert_eq!(*outside.asks.borrow(), [], "nothing was asked for");
    let after = state(&outside);
    assert_eq!(after.ledger.ground.cursor, before.ledger.ground.cursor);
    assert_eq!((after.failures.in_a_row, after.failures.last.map(|failure| failure.class)), (1, Some(class)));
    outside.faults.borrow_mut().clear();
    let report = outside.tick("10:30").expect("it ends");
    assert_eq!((report.ending, report.events), (Ending::Done, events(2, 0)));
    assert_eq!(state(&outside).failures.in_a_row, 0);
    assert_eq!(state(&outside).failures.last.map(|failure| failure.class), Some(class), "the last failure stays");
}

/// Events by verdict, of a sweep that asked for so many and saw so many pass.
pub(super) fn events(redelivered: usize, recovered: usize) -> Events {
    Tally { redelivered, recovered, ..Tally::default() }.into()
}

#[test]
fn a_list_that_cannot_be_read_ends_the_sweep_before_anything_is_asked() {
    for list in ["GET /app/hook/deliveries?per_page=100&status=failure", "GET /app/hook/deliveries?per_page=100"] {
        check((list, || Ok(status(401))), FailureClass::Auth);
        check((list, || Ok(status(403))), FailureClass::Auth);
        check((list, || Ok(status(429))), FailureClass::RateLimited);
        check((list, || Ok(status(500))), FailureClass::ServerError);
        check((list, || Ok(status(404))), FailureClass::Config);
        check((list, || Ok(status(301))), FailureClass::Config);
        check((list, || Ok(status(200))), FailureClass::Decode);
        check((list, || Err(NetworkError::Failed)), FailureClass::Transport);
        check((list, || Err(NetworkError::TimedOut)), FailureClass::Transport);
        check((list, || Err(NetworkError::TooLarge)), FailureClass::Decode);
        check((list, || Ok(Answer { status: 200, body: b"<html>".to_vec(), ..Answer::default() })), FailureClass::Decode);
        let elsewhere = || {
            let link = Some("<https://evil.example/app/hook/deliveries?cursor=a>; rel=\"next\"".to_owned());
            Ok(Answer { status: 200, body: b"[]".to_vec(), headers: AnswerHeaders { link, ..AnswerHeaders::default() } })
        };
        check((list, elsewhere), FailureClass::Decode);
    }
}

#[test]
fn a_get_that_failed_is_tried_once_more_and_counted() {
    let outside = Outside::new(HISTORY);
    outside.faults.borrow_mut().push(("status=failure", || Err(NetworkError::Failed)));
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.failure, outside.calls.borrow().len()), (Some(FailureClass::Transport), 2));
    outside.faults.borrow_mut()[0].1 = || Ok(status(401));
    outside.tick("10:30");
    assert_eq!(*outside.calls.borrow(), ["GET /app/hook/deliveries?per_page=100&status=failure", "POST sendMessage"], "a refusal is final");
}

#[test]
fn while_github_turns_asks_away_no_sweep_succeeds_and_the_window_stands_still() {
    let outside = Outside::new(HISTORY);
    outside.tick("10:00");
    outside.faults.borrow_mut().push(("POST /app/hook/deliveries", || Ok(status(401))));
    outside.ticks(time("10:15"), time("15:00"));
    outside.faults.borrow_mut().clear();
    outside.ticks(time("15:15"), time("15:45"));
    assert_eq!(state(&outside).ledger.left_behind, [], "its asks were not made, so that was no time to lose");
    assert_eq!(outside.asks_for("b").len(), 1);
    assert_eq!(state(&outside).ledger.succeeded_at, None);
}

const FOUR: &str = "a: 10:01 500\nb: 10:02 500\nc: 10:03 500\nd: 10:04 500";

/// Asks of the last sweep.
fn asks_made(outside: &Outside) -> usize {
    outside.calls.borrow().iter().filter(|call| call.ends_with("/attempts")).count()
}

#[test]
fn when_github_turns_asks_away_the_sweep_ends_and_no_ask_stands() {
    for answer in [(|| Ok(status(401))) as fn() -> _, || Ok(status(429))] {
        let outside = Outside::new(FOUR);
        outside.faults.borrow_mut().push(("POST /app/hook/deliveries", answer));
        let report = outside.tick("10:15").expect("it ends");
        assert!(report.failure.is_some());
        assert_eq!(asks_made(&outside), 3, "those under way beside it");
        assert!(state(&outside).ledger.events.values().all(|event| event.asks.is_empty()));
        outside.faults.borrow_mut().clear();
        outside.tick("10:30");
        assert_eq!(outside.asks.borrow().len(), 4);
    }
}

#[test]
fn the_second_answer_that_nobody_knows_ends_the_asking() {
    let outside = Outside::new(FOUR);
    outside.faults.borrow_mut().push(("POST /app/hook/deliveries", || Ok(status(502))));
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!(report.failure, None);
    assert_eq!(asks_made(&outside), 3, "those under way side by side");
    let asked: Vec<usize> = state(&outside).ledger.events.values().map(|event| event.asks.len()).collect();
    assert_eq!(asked, [1, 1, 1, 0], "what was not made is struck, what may have been taken stands");
    outside.faults.borrow_mut().clear();
    outside.tick("10:30");
    assert_eq!((outside.asks_for("a").len(), outside.asks_for("d").len()), (0, 1), "a may have been taken");
    outside.tick("10:45");
    assert_eq!(outside.asks_for("a").len(), 1);
}

#[test]
fn after_one_answer_that_nobody_knows_the_asks_go_one_by_one() {
    let outside = Outside::new("a: 10:01 500\nb: 10:02 500\nc: 10:03 500\nd: 10:04 500\ne: 10:05 500\nf: 10:06 500");
    outside.fail_once("POST /app/hook/deliveries", || Ok(status(502)));
    outside.upsets.borrow_mut().insert(5, Upset::NoAnswer);
    outside.tick("10:15");
    assert_eq!(asks_made(&outside), 4, "three side by side, and the one whose answer was lost too");
}

#[test]
fn a_suspended_installation_keeps_no_other_event_waiting() {
    let outside = Outside::new("a: 10:01 500 | refuse 403\nb: 10:02 500 | 200\nc: 10:03 500 | refuse 404\nd: 10:04 500 | 200");
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.failure, report.alarm_entries), (None, 2));
    assert_eq!(outside.asks.borrow().len(), 4);
    outside.tick("10:30");
    assert_eq!(outside.asks.borrow().len(), 4, "neither is asked for again");
}

#[test]
fn of_three_that_are_forbidden_at_once_two_are_told_and_the_third_is_asked_for_again() {
    let outside = Outside::new(FOUR);
    outside.faults.borrow_mut().push(("POST /app/hook/deliveries", || Ok(status(403))));
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((asks_made(&outside), report.alarm_entries), (3, 2));
    outside.faults.borrow_mut().clear();
    outside.tick("10:30");
    assert_eq!([outside.asks_for("a").len(), outside.asks_for("c").len(), outside.asks_for("d").len()], [0, 1, 1]);
}

#[test]
fn one_answer_of_each_sort_ends_no_asking() {
    let outside = Outside::new("a: 10:01 500 | refuse 403\nb: 10:02 500 | unknown\nc: 10:03 500 | 200\nd: 10:04 500 | 200");
    outside.tick("10:15");
    assert_eq!(outside.asks.borrow().len(), 4);
}

#[test]
fn a_channel_that_fails_stops_neither_the_asks_nor_the_other_channel() {
    let poison = "a: 10:01 500 | 500, 500\nb: 10:40 500 | 200";
    for (broken, telegrams, issues) in [("sendMessage", 0, 1), ("/repos/", 1, 0)] {
        let outside = Outside::new(poison);
        outside.tick("10:15");
        outside.tick("10:30");
        outside.faults.borrow_mut().push((broken, || Err(NetworkError::Failed)));
        let report = outside.tick("10:45").expect("it ends");
        assert_eq!((report.failure, report.alarm_entries), (None, 1));
        assert_eq!(outside.asks_for("b").len(), 1);
        assert_eq!((outside.telegram.texts().len(), outside.issues.open_titles().len()), (telegrams, issues));
        outside.faults.borrow_mut().clear();
        outside.tick("11:00");
        assert_eq!((outside.telegram.texts().len(), outside.issues.open_titles().len()), (1, 1), "one sweep later both show it");
        outside.tick("11:15");
        assert_eq!(outside.calls.borrow().len(), 2, "an unchanged alarm costs no call");
    }
}

#[test]
fn a_state_that_cannot_be_read_is_put_aside_and_one_of_a_newer_version_stops_the_sweep() {
    let outside = Outside::new(HISTORY);
    outside.stored.borrow_mut().insert(Key::State, "{broken".to_owned());
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.failure, report.warnings.len()), (None, 1));
    assert_eq!(outside.stored.borrow().get(&Key::Aside).map(String::as_str), Some("{broken"));
    let newer = format!(r#"{{"version":{}}}"#, VERSION + 1);
    outside.stored.borrow_mut().insert(Key::State, newer.clone());
    let report = outside.tick("10:30").expect("it ends");
    assert_eq!(report.failure, Some(FailureClass::State));
    assert_eq!(outside.calls.borrow().len(), 0);
    assert_eq!(outside.stored.borrow().get(&Key::State), Some(&newer));
}

#[test]
fn a_sweep_without_room_for_a_page_asks_for_nothing_and_keeps_everything() {
    let outside = Outside::new(HISTORY);
    outside.used_before.set(28);
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.ending, report.failure), (Ending::NoRoom, None));
    assert_eq!(report.warnings, ["no page of the deliveries list fits the calls that are left: raise SUBREQUEST_LIMIT"]);
    assert_eq!((outside.calls.borrow().len(), outside.stored.borrow().len()), (0, 0), "neither lease nor state, so it is no good sweep");
    outside.used_before.set(27);
    let report = outside.tick("10:30").expect("it ends");
    assert_eq!((report.ending, report.deliveries_list.pages), (Ending::Done, 1));
}

#[test]
fn a_retry_takes_no_call_that_is_kept_back() {
    let outside = Outside::new(HISTORY);
    outside.used_before.set(26);
    outside.fail_once("status=failure", || Err(NetworkError::Failed));
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.failure, outside.calls.borrow().len()), (Some(FailureClass::Transport), 1), "one call is left, for the other list");
}

#[test]
fn a_killed_sweep_is_a_failure_of_that_class() {
    let outside = Outside::new(HISTORY);
    outside.crash.set(Some(Crash { step: 4, done: false }));
    assert!(outside.tick("10:15").is_none());
    outside.tick("10:30");
    let failures = state(&outside).failures;
    assert_eq!(failures.last, Some(Failure { at: time("10:15"), class: FailureClass::Killed }));
    assert_eq!(failures.in_a_row, 0, "this one succeeded");
}

#[test]
fn a_link_that_is_not_to_be_followed_fails_nothing() {
    let elsewhere = || {
        let item =
            br#"[{"id":1,"guid":"z","delivered_at":"2026-11-30T00:00:00.000Z","redelivery":false,"status_code":200,"event":"push"}]"#;
        let link = Some("<https://evil.example/app/hook/deliveries?cursor=x>; rel=\"next\"".to_owned());
        Ok(Answer { status: 200, headers: AnswerHeaders { link, ..AnswerHeaders::default() }, body: item.to_vec() })
    };
    let outside = Outside::new(HISTORY);
    outside.tick("10:00");
    outside.faults.borrow_mut().push(("GET /app/hook/deliveries", elsewhere));
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.failure, outside.calls.borrow().len()), (None, 2));
}

#[test]
fn a_gap_that_cannot_be_read_stops_nothing_and_is_an_entry_once_the_window_has_left_it() {
    let mut outside = Outside::new("");
    outside.settings.insert("DELIVERY_PAGES", "2".to_owned());
    outside.github.get_mut().add_traffic(time("09:00"), time("09:10"), 5);
    outside.tick("10:00");
    outside.github.get_mut().add_traffic(time("10:01"), time("10:14"), 1000);
    assert_eq!(outside.tick("10:15").map(|report| report.gaps), Some(1));
    outside.github.get_mut().add(parse("a: 10:20 500\nb: 13:20 500"));
    let cursor = state(&outside).ledger.ground.gaps[0].next.0.split_once("cursor=").expect("a page cursor").1.to_owned();
    let cursor: &str = cursor.leak();
    outside.faults.borrow_mut().push((cursor, || Ok(status(500))));
    let report = outside.tick("10:30").expect("it ends");
    assert_eq!(outside.calls.borrow().iter().filter(|call| call.contains(cursor)).count(), 2, "it was tried once more, and left");
    assert_eq!((report.failure, report.gaps, report.gap_pages), (None, 1, 0));
    assert!(report.warnings.iter().any(|warning| warning.contains("a gap stays unread")), "{:?}", report.warnings);
    assert_eq!(outside.asks_for("a").len(), 1, "it is newer than the gap");
    for quarter in 3..=12 {
        outside.tick(&format!("{}:{:02}", 10 + quarter / 4, quarter % 4 * 15));
    }
    let report = outside.tick("13:15").expect("it ends");
    assert_eq!((report.failure, report.gaps, report.alarm_entries), (None, 0, 1), "the window has left the gap");
    outside.tick("13:30");
    assert_eq!(outside.asks_for("b").len(), 1);
}

#[test]
fn a_dry_run_reads_and_saves_but_asks_for_nothing_and_tells_nobody() {
    let mut outside = Outside::new("a: 10:01 500\ngave-up: 10:01 500, 10:05 500, 10:09 500");
    outside.settings.insert("DRY_RUN", "true".to_owned());
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.ending, report.calls, report.alarm_entries), (Ending::DryRun, 2, 1));
    assert_eq!(outside.calls.borrow().len(), 2);
    assert!(state(&outside).ledger.ground.cursor.is_some());
    assert!(state(&outside).ledger.events.values().all(|event| event.asks.is_empty()));
}

#[test]
fn a_quiet_sweep_makes_two_calls_and_writes_the_lease_and_one_value() {
    let outside = Outside::new("");
    outside.tick("10:00");
    assert_eq!(outside.calls.borrow().len(), 5, "the first one looks for an issue");
    outside.tick("10:15");
    assert_eq!((outside.calls.borrow().len(), outside.writes.get()), (2, 2));
    let outside = Outside::new(HISTORY);
    outside.tick("10:00");
    outside.tick("10:15");
    assert_eq!((outside.calls.borrow().len(), outside.writes.get()), (4, 3), "asks write the value once more");
}

#[test]
fn the_heartbeat_is_sent_after_both_lists_were_read_and_fails_nothing() {
    let mut outside = Outside::new(HISTORY);
    outside.settings.insert("HEARTBEAT_URL", "https://api.github.example/ping".to_owned());
    outside.faults.borrow_mut().push(("GET /ping", || Err(NetworkError::TimedOut)));
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.failure, report.warnings.len()), (None, 1));
    assert_eq!(outside.calls.borrow().last().map(String::as_str), Some("GET /ping"));
    outside.faults.borrow_mut().push(("GET /app/hook", || Ok(status(401))));
    outside.tick("10:30");
    assert_eq!(outside.calls.borrow().len(), 1, "no heartbeat when a list could not be read");
}
