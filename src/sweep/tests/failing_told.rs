//! Sweeps that fail in a row: what waits, who is told, and when it is over (spec section 9).

use crate::failure::FailureClass;
use crate::policy::tests::history::{parse, time};
use crate::policy::time::minutes;
use crate::ports::{Answer, AnswerHeaders, Key, NetworkError};
use crate::sweep::report::Ending;
use crate::sweep::state::{State, VERSION};

use super::failing::state;
use super::world::{Crash, Fault, Outside};

const LISTS: &str = "GET /app/hook/deliveries";

#[allow(clippy::unnecessary_wraps, reason = "a call may have no answer")]
fn refuses(status: u16) -> Result<Answer, NetworkError> {
    Ok(Answer { status, body: b"{\"message\":\"no\"}".to_vec(), ..Answer::default() })
}

/// An App of which nothing is known yet but that nothing is wrong.
fn quiet() -> Outside {
    let outside = Outside::new("");
    outside.tick("10:00");
    outside
}

fn breaks(outside: &Outside, fault: Fault) {
    outside.faults.borrow_mut().push(fault);
}

/// Endings of the ticks from one time to another, with what each waits for.
fn endings(outside: &Outside, from: &str, to: &str) -> Vec<(Ending, u32)> {
    outside.ticks(time(from), time(to)).iter().map(|report| (report.ending, report.failures_in_a_row)).collect()
}

fn titles(outside: &Outside) -> Vec<String> {
    outside.issues.open_titles()
}

const LINE: &str = "deploy-bot: the recovery itself fails (since 2026-12-01 10:15 UTC)";

#[test]
fn github_is_down_for_two_hours_waits_one_page_and_it_leaves_with_the_first_success() {
    for fault in [(|| refuses(500)) as fn() -> _, || Err(NetworkError::TimedOut)] {
        let outside = quiet();
        breaks(&outside, ("/app", fault));
        breaks(&outside, ("/repos/", fault));
        let row = endings(&outside, "10:15", "12:00");
        let (failed, waiting) = (Ending::Failed, Ending::Waiting);
        assert_eq!(row, [(failed, 1), (failed, 2), (waiting, 2), (failed, 3), (waiting, 3), (waiting, 3), (waiting, 3), (failed, 4)]);
        assert_eq!(outside.telegram.first_lines(), ["🔴 The recovery itself fails (since 2026-12-01 10:15 UTC)"]);
        assert_eq!((outside.telegram.sounds.get(), titles(&outside).len()), (1, 0), "the control repository waits for GitHub");
        outside.faults.borrow_mut().clear();
        outside.github.borrow_mut().add(parse("a: 11:00 500 | 200"));
        assert_eq!(endings(&outside, "12:15", "13:00")[3], (Ending::Done, 0));
        assert_eq!(outside.asks_for("a"), [time("13:00")], "what failed meanwhile is asked for");
        assert_eq!(outside.telegram.texts(), ["🟢 Nothing is open any more."]);
        assert_eq!((outside.telegram.sounds.get(), titles(&outside).len()), (1, 0));
    }
}

#[test]
fn a_tick_that_waits_makes_no_call_and_no_write_and_says_until_when() {
    let outside = quiet();
    breaks(&outside, (LISTS, || refuses(503)));
    outside.ticks(time("10:15"), time("10:30"));
    let stored = outside.stored.borrow().clone();
    let report = outside.tick("10:45").expect("it ends");
    assert_eq!((report.ending, report.is_failure()), (Ending::Waiting, false));
    assert_eq!(report.wait_until.map(|until| until.0), Some(time("11:00")));
    assert_eq!((outside.calls.borrow().len(), outside.writes.get(), &*outside.stored.borrow()), (0, 0, &stored));
}

#[test]
fn a_revoked_key_is_tried_at_each_tick_and_told_once_in_telegram_alone() {
    let outside = quiet();
    breaks(&outside, ("/app", || refuses(401)));
    breaks(&outside, ("/repos/", || refuses(401)));
    assert!(endings(&outside, "10:15", "13:00").iter().all(|(ending, _)| *ending == Ending::Failed));
    assert_eq!((outside.telegram.sounds.get(), titles(&outside).len()), (1, 0));
    assert!(outside.telegram.texts()[0].contains("GITHUB_APP_PRIVATE_KEY"));
    assert!(!outside.calls.borrow().iter().any(|call| call.contains("/repos/") || call == "GET /app"), "GitHub is left alone");
    outside.faults.borrow_mut().clear();
    assert_eq!(outside.tick("13:15").map(|report| (report.ending, report.failures_in_a_row)), Some((Ending::Done, 0)));
    assert_eq!(outside.telegram.texts(), ["🟢 Nothing is open any more."]);
}

#[test]
fn the_wait_that_github_names_is_kept() {
    #[allow(clippy::unnecessary_wraps, reason = "a call may have no answer")]
    fn limited(headers: AnswerHeaders) -> Result<Answer, NetworkError> {
        Ok(Answer { status: 429, headers, ..Answer::default() })
    }
    let retry_after = || limited(AnswerHeaders { retry_after: Some("7200".to_owned()), ..AnswerHeaders::default() });
    let reset = || {
        limited(AnswerHeaders {
            date: Some("Tue, 01 Dec 2026 10:15:00 GMT".to_owned()),
            rate_limit_remaining: Some("0".to_owned()),
            rate_limit_reset: Some((time("12:15").millis() / 1000).to_string()),
            ..AnswerHeaders::default()
        })
    };
    for fault in [retry_after as fn() -> _, reset] {
        let outside = quiet();
        breaks(&outside, (LISTS, fault));
        let report = outside.tick("10:15").expect("it ends");
        assert_eq!((report.failure, report.wait_until.map(|until| until.0)), (Some(FailureClass::RateLimited), Some(time("12:15"))));
        outside.faults.borrow_mut().clear();
        assert!(endings(&outside, "10:30", "12:00").iter().all(|(ending, _)| *ending == Ending::Waiting));
        assert_eq!(outside.tick("12:15").map(|report| report.ending), Some(Ending::Done));
        assert_eq!(outside.telegram.texts().len(), 0, "one failure tells nobody");
    }
}

#[test]
fn the_same_tick_again_counts_no_second_failure() {
    let outside = quiet();
    breaks(&outside, (LISTS, || refuses(401)));
    outside.tick("10:15");
    assert_eq!(outside.tick("10:15").map(|report| report.ending), Some(Ending::NotLater));
    assert_eq!((state(&outside).failures.in_a_row, outside.telegram.texts().len()), (1, 0));
}

#[test]
fn a_failing_sweep_keeps_the_other_entries_and_asks_nothing_of_the_repository() {
    let outside = Outside::new("a: 10:01 500 | 500, 500");
    outside.ticks(time("10:15"), time("10:45"));
    assert_eq!(titles(&outside), ["deploy-bot: 1 webhook event not delivered (since 2026-12-01 10:01 UTC)"]);
    breaks(&outside, ("/app", || refuses(401)));
    outside.ticks(time("11:00"), time("11:15"));
    let line = "🔴 deploy-bot: the recovery itself fails, 1 webhook event not delivered (since 2026-12-01 10:01 UTC)";
    assert_eq!((outside.telegram.first_lines(), titles(&outside).len()), (vec![line.to_owned()], 1));
    outside.faults.borrow_mut().clear();
    outside.tick("11:30");
    assert_eq!(outside.telegram.first_lines(), ["🔴 deploy-bot: 1 webhook event not delivered (since 2026-12-01 10:01 UTC)"]);
}

#[test]
fn what_was_decided_before_github_turned_the_asks_away_is_told_at_once() {
    let outside = Outside::new("gone: 10:01 500, 10:05 500, 10:09 500\nb: 10:02 500 | 200");
    breaks(&outside, ("POST /app/hook/deliveries", || refuses(401)));
    let report = outside.tick("10:15").expect("it ends");
    assert_eq!((report.failure, report.alarm_entries), (Some(FailureClass::Auth), 1));
    assert!(outside.telegram.texts()[0].contains("guid gone"), "{:?}", outside.telegram.texts());
    assert_eq!(titles(&outside).len(), 0);
    outside.tick("10:30");
    assert!(outside.telegram.first_lines()[0].contains("he recovery itself fails, 1 webhook event not delivered"));
    outside.faults.borrow_mut().clear();
    outside.tick("10:45");
    assert_eq!((outside.asks_for("b").len(), titles(&outside).len()), (1, 1), "the repository goes on once GitHub works");
    assert!(!outside.telegram.first_lines()[0].contains("recovery"));
}

#[test]
fn github_and_telegram_fail_together_and_what_is_over_by_then_is_never_sent() {
    let outside = quiet();
    breaks(&outside, (LISTS, || refuses(401)));
    breaks(&outside, ("sendMessage", || Err(NetworkError::Failed)));
    outside.ticks(time("10:15"), time("10:45"));
    assert_eq!(outside.telegram.texts().len(), 0);
    outside.faults.borrow_mut().pop();
    outside.tick("11:00");
    assert_eq!(outside.telegram.sounds.get(), 1, "it is told as soon as Telegram works");
    let outside = quiet();
    breaks(&outside, (LISTS, || refuses(401)));
    breaks(&outside, ("sendMessage", || Err(NetworkError::Failed)));
    outside.ticks(time("10:15"), time("10:30"));
    outside.faults.borrow_mut().clear();
    outside.tick("10:45");
    assert_eq!((outside.telegram.texts().len(), titles(&outside).len()), (0, 0));
}

#[test]
fn two_killed_sweeps_are_told_before_the_third_reads_once_and_by_both_channels() {
    let outside = quiet();
    let kill = |tick| {
        outside.crash.set(Some(Crash { step: steps_until_the_list(&outside, tick), done: true }));
        assert!(outside.tick_at(time("10:00") + minutes(15) * tick).is_none(), "it is killed");
    };
    kill(1);
    kill(2);
    assert_eq!((outside.telegram.sounds.get(), titles(&outside).len()), (0, 0));
    kill(3);
    assert_eq!((outside.telegram.first_lines(), titles(&outside)), (vec![format!("🔴 {LINE}")], vec![LINE.to_owned()]));
    let report = outside.tick("11:00").expect("it ends");
    assert_eq!((report.killed_in_a_row, report.failure, report.alarm_entries), (3, None, 0));
    assert_eq!((outside.telegram.texts(), titles(&outside).len()), (vec!["🟢 Nothing is open any more.".to_owned()], 0));
    assert!(outside.calls.borrow().len() <= 50);
    assert_eq!(state(&outside).failures.last.map(|failure| failure.class), Some(FailureClass::Killed));
}

#[test]
fn killed_again_and_again_is_told_once_with_the_same_key() {
    let outside = quiet();
    for tick in 1..12 {
        outside.crash.set(Some(Crash { step: steps_until_the_list(&outside, tick), done: true }));
        assert!(outside.tick_at(time("10:00") + minutes(15) * tick).is_none());
    }
    assert_eq!((outside.telegram.sounds.get(), titles(&outside)), (1, vec![LINE.to_owned()]));
    outside.tick_at(time("10:00") + minutes(15) * 12).expect("it ends");
    assert_eq!((outside.telegram.texts(), titles(&outside).len()), (vec!["🟢 Nothing is open any more.".to_owned()], 0));
}

#[test]
fn a_persons_closing_of_it_stays_while_each_sweep_is_killed_before_it_has_a_plan() {
    let outside = quiet();
    for tick in 1..9 {
        let told = tick > 3;
        if told {
            outside.issues.person_sets(false);
        }
        outside.crash.set(Some(Crash { step: steps_until_the_list(&outside, tick), done: true }));
        assert!(outside.tick_at(time("10:00") + minutes(15) * tick).is_none());
        assert!(!told || titles(&outside).is_empty(), "tick {tick}");
    }
    assert_eq!(outside.issues.issues.borrow().len(), 1, "it was told before");
}

/// The step at which the sweep asks for a list, found in a copy of the world in which it is not killed.
fn steps_until_the_list(outside: &Outside, tick: u32) -> usize {
    let copy = quiet();
    copy.stored.replace(outside.stored.borrow().clone());
    copy.telegram.messages.replace(outside.telegram.messages.borrow().clone());
    copy.issues.issues.replace(outside.issues.issues.borrow().clone());
    copy.tick_at(time("10:00") + minutes(15) * tick).expect("it ends");
    copy.list_at.get()
}

#[test]
fn what_is_told_first_takes_from_the_calls_of_the_alarm_and_not_from_those_of_the_asks() {
    let mut outside = quiet();
    outside.settings.insert("SUBREQUEST_LIMIT", "26".to_owned());
    for tick in 1..3 {
        outside.crash.set(Some(Crash { step: steps_until_the_list(&outside, tick), done: true }));
        assert!(outside.tick_at(time("10:00") + minutes(15) * tick).is_none());
    }
    let events: Vec<String> = (0..10).map(|index| format!("e{index}: 10:3{index} 500 | 200")).collect();
    outside.github.borrow_mut().add(parse(&events.join("\n")));
    let report = outside.tick("10:45").expect("it ends");
    assert_eq!((report.ending, report.failure), (Ending::Done, None));
    assert_eq!((outside.asks.borrow().len(), report.deliveries_list.pages), (10, 1));
    assert!(report.calls <= 26, "{}", report.calls);
    outside.tick("11:00");
    assert_eq!((outside.telegram.sounds.get(), outside.telegram.texts()), (1, vec!["🟢 Nothing is open any more.".to_owned()]));
}

#[test]
fn a_state_of_a_newer_version_is_told_by_the_second_sweep_and_stays_as_it_is() {
    let outside = Outside::new("a: 10:01 500 | 500, 500");
    outside.ticks(time("10:15"), time("10:45"));
    let before = outside.stored.borrow()[&Key::State].clone();
    let newer = format!(r#"{{"version":{}}}"#, VERSION + 1);
    outside.stored.borrow_mut().insert(Key::State, newer.clone());
    let row = endings(&outside, "11:00", "12:30");
    assert!(row.iter().all(|(ending, _)| *ending == Ending::Failed));
    assert_eq!((row.last(), outside.telegram.sounds.get()), (Some(&(Ending::Failed, 7)), 2), "one page for the event, one for this");
    assert_eq!(outside.stored.borrow()[&Key::State], newer);
    assert!(outside.telegram.texts()[1].contains("what is kept between sweeps"));
    assert_eq!(outside.tick("12:30").map(|report| report.ending), Some(Ending::NotLater));
    outside.stored.borrow_mut().insert(Key::State, before);
    outside.tick("12:45");
    let line = "deploy-bot: 1 webhook event not delivered (since 2026-12-01 10:01 UTC)";
    assert_eq!((titles(&outside), outside.telegram.sounds.get()), (vec![line.to_owned()], 2));
    let texts = outside.telegram.first_lines();
    assert_eq!((texts.len(), texts[1].as_str()), (2, format!("🔴 {line}").as_str()));
    assert!(texts[0].starts_with("⬇️"), "{texts:?}");
    assert!(!outside.stored.borrow().contains_key(&Key::Stopgap));
    assert_eq!(state(&outside).failures.last.map(|failure| failure.class), Some(FailureClass::State));
    outside.tick("13:00");
    assert_eq!(outside.calls.borrow().len(), 2, "and then it is quiet");
}

#[test]
fn a_state_that_cannot_be_written_is_told_too() {
    let outside = quiet();
    outside.keeps_no_state.set(true);
    assert_eq!(endings(&outside, "10:15", "10:45"), [(Ending::Failed, 1), (Ending::Failed, 2), (Ending::Failed, 3)]);
    assert_eq!((titles(&outside), outside.telegram.sounds.get()), (vec![LINE.to_owned()], 1));
    assert!(!outside.stored.borrow().contains_key(&Key::Lease), "no sweep is taken for a killed one");
    outside.keeps_no_state.set(false);
    assert_eq!(endings(&outside, "11:00", "11:00"), [(Ending::Done, 0)]);
    assert_eq!((titles(&outside).len(), outside.telegram.texts()), (0, vec!["🟢 Nothing is open any more.".to_owned()]));
    assert!(!outside.stored.borrow().contains_key(&Key::Stopgap));
}

#[test]
fn of_states_that_cannot_be_read_the_first_and_the_last_are_kept() {
    let outside = quiet();
    for (at, broken) in [("10:15", "{first"), ("10:30", "{second"), ("10:45", "{third")] {
        outside.stored.borrow_mut().insert(Key::State, broken.to_owned());
        assert_eq!(outside.tick(at).map(|report| report.failure), Some(None));
    }
    let stored = outside.stored.borrow();
    assert_eq!((stored[&Key::Aside].as_str(), stored[&Key::AsideLast].as_str()), ("{first", "{third"));
    assert!(State::read(&stored[&Key::State]).is_ok());
}

#[test]
fn wrong_settings_are_told_in_telegram_without_a_call_to_github_and_leave_once_they_are_right() {
    let mut outside = quiet();
    outside.settings.insert("GITHUB_APP_PRIVATE_KEY", "no key".to_owned());
    outside.settings.insert("MAX_ATTEMPTS", "eleven".to_owned());
    for (tick, clock) in ["10:15", "10:30", "10:45", "11:00"].into_iter().enumerate() {
        let report = outside.tick(clock).expect("it ends");
        assert_eq!((report.failure, report.failures_in_a_row), (Some(FailureClass::Config), u32::try_from(tick).expect("small") + 1));
        assert!(outside.calls.borrow().iter().all(|call| call.ends_with("Message") || call.ends_with("Text")), "{:?}", outside.calls);
    }
    let texts = outside.telegram.texts();
    assert!(texts[0].contains("GITHUB_APP_PRIVATE_KEY is") && texts[0].contains("MAX_ATTEMPTS is no whole number"), "{texts:?}");
    assert!(!texts[0].contains("eleven") && outside.telegram.sounds.get() == 1);
    assert!(titles(&outside).is_empty());
    outside.settings.clear();
    outside.tick("11:15");
    assert_eq!(outside.telegram.texts(), ["🟢 Nothing is open any more."]);
}

#[test]
fn a_dry_run_that_fails_tells_nobody() {
    let mut outside = Outside::new("");
    outside.settings.insert("DRY_RUN", "true".to_owned());
    breaks(&outside, (LISTS, || refuses(401)));
    outside.ticks(time("10:15"), time("11:00"));
    assert_eq!((outside.telegram.texts().len(), state(&outside).failures.in_a_row), (0, 4));
}

#[test]
fn a_get_of_the_alarm_that_failed_is_tried_once_more_within_the_calls_of_the_alarm() {
    let outside = Outside::new("a: 10:01 500 | 500, 500");
    outside.ticks(time("10:15"), time("10:30"));
    outside.fail_once("/installation", || refuses(502));
    let report = outside.tick("10:45").expect("it ends");
    assert_eq!((titles(&outside).len(), report.failure), (1, None));
    assert_eq!(outside.calls.borrow().iter().filter(|call| call.ends_with("/installation")).count(), 2);
}
