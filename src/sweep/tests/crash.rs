//! A sweep that is killed at any of its steps.

use std::cell::Cell;

use crate::policy::tests::history::time;
use crate::policy::time::{Time, minutes};
use crate::ports::Key;

use super::world::{Crash, Outside};

/// An event that recovers, one that gives up, one that GitHub will not redeliver, one that is overtaken, one that was only
/// not answered in time, and one whose attempt GitHub lists after the next sweep.
const HISTORY: &str = "
    recovers: 10:01 500 | 500, 200
    poison push: 10:02 500 | 500
    refused: 10:03 503 | refuse 404
    old workflow_run.completed @7: 10:04 500
    new workflow_run.completed @7: 10:05 200
    silent issues.opened @8: 10:06 0 | 200
    late: 10:07 500 | 200+20m
";

const FIRST: &str = "10:15";

fn last() -> Time {
    time("12:30")
}

/// What must hold whatever happens.
fn check(outside: &Outside, crash: &str) {
    for guid in ["recovers", "poison", "refused", "silent", "old"] {
        let asks = outside.asks_for(guid);
        let soon = asks.windows(2).any(|pair| pair[1].since(pair[0]) < minutes(10));
        assert!(!soon, "{crash}: {guid} was asked for twice at once: {asks:?}");
        assert!(asks.len() <= 3, "{crash}: {guid} was asked for {} times", asks.len());
    }
    let late = outside.asks_for("late");
    let soon = late.windows(2).any(|pair| pair[1].since(pair[0]) < minutes(30));
    assert!(!soon, "{crash}: asked for again before its attempt could show: {late:?}");
    assert_eq!(outside.asks_for("old").len(), 0, "{crash}: an overtaken event was asked for");
    let passed = |guid: &str| outside.github.borrow().record().any(|item| item.guid == guid && item.code == 200);
    assert!(passed("recovers") && passed("silent") && passed("late"), "{crash}: an event was lost");
    let attempts = outside.github.borrow().record().filter(|item| item.guid == "poison").count();
    assert_eq!(attempts, 3, "{crash}: attempts of the event that gives up");
    assert!(!outside.stored.borrow().contains_key(&Key::Lease), "{crash}: a lease was left behind");
    let titles = outside.issues.open_titles();
    assert_eq!(titles.len(), 1, "{crash}: open issues {titles:?}");
    assert!(titles[0].starts_with("deploy-bot: 2 webhook events not delivered"), "{crash}: {titles:?}");
    let texts = outside.telegram.texts();
    let last = texts.last().expect("a message was sent");
    assert!(last.contains("poison") && last.contains("refused"), "{crash}: {last}");
    assert!(outside.telegram.sounds.get() <= 3, "{crash}: {} sounds", outside.telegram.sounds.get());
}

#[test]
fn without_a_crash_all_of_that_holds() {
    let outside = Outside::new(HISTORY);
    outside.ticks(time(FIRST), last());
    check(&outside, "no crash");
    assert_eq!(outside.asks_for("recovers").len(), 2);
    assert_eq!(outside.asks_for("poison").len(), 2);
    assert_eq!(outside.asks_for("refused").len(), 1);
    assert_eq!(outside.telegram.sounds.get(), 1, "both entries came within the hour");
}

#[test]
fn a_crash_at_any_step_of_any_sweep_loses_nothing_and_repeats_nothing() {
    let mut crashes = 0;
    for tick in 0..5 {
        let crashed_at = time(FIRST) + minutes(15) * tick;
        for done in [false, true] {
            for step in 0.. {
                let outside = Outside::new(HISTORY);
                if tick > 0 {
                    outside.ticks(time(FIRST), crashed_at - minutes(15));
                }
                outside.crash.set(Some(Crash { step, done }));
                if outside.tick_at(crashed_at).is_some() {
                    assert_eq!(step, outside.steps(), "the sweep has no more steps");
                    break;
                }
                crashes += 1;
                outside.ticks(crashed_at + minutes(15), last());
                check(&outside, &format!("tick {tick}, step {step}, {}", if done { "done" } else { "not done" }));
            }
        }
    }
    assert!(crashes > 60, "{crashes} crashes");
}

#[test]
fn a_crash_in_each_of_two_sweeps_in_a_row_loses_nothing() {
    for first in 0..14 {
        for second in 0..8 {
            let outside = Outside::new(HISTORY);
            outside.crash.set(Some(Crash { step: first, done: true }));
            outside.tick(FIRST);
            outside.crash.set(Some(Crash { step: second, done: false }));
            outside.tick("10:30");
            outside.crash.set(None);
            outside.ticks(time("10:45"), last());
            check(&outside, &format!("steps {first} and {second}"));
        }
    }
}

#[test]
fn a_tick_during_a_sweep_and_the_same_tick_again_change_nothing() {
    let outside = Outside::new(HISTORY);
    outside.crash.set(Some(Crash { step: 4, done: true }));
    assert!(outside.tick("10:15").is_none());
    let stored = outside.stored.borrow().clone();
    for at in ["10:15", "10:28"] {
        let report = outside.tick(at).expect("it ends at once");
        assert_eq!(report.ending, crate::sweep::report::Ending::Held);
        assert_eq!(*outside.calls.borrow(), Vec::<String>::new());
    }
    assert_eq!(*outside.stored.borrow(), stored);
    let report = outside.tick("10:30").expect("the lease has ended by itself");
    assert_eq!(report.killed_in_a_row, 1);
    let report = outside.tick("10:30").expect("it ends at once");
    assert_eq!(report.ending, crate::sweep::report::Ending::NotLater);
}

#[test]
fn after_a_killed_sweep_a_quarter_of_the_pages_is_read() {
    let mut outside = Outside::new("");
    outside.github.get_mut().add_traffic(time("10:00"), time("10:14"), 40);
    outside.github.get_mut().page_sizes = vec![2];
    outside.crash.set(Some(Crash { step: 5, done: true }));
    assert!(outside.tick("10:15").is_none());
    let report = outside.tick("10:30").expect("the lease has ended by itself");
    assert_eq!((report.failures_list.pages, report.deliveries_list.pages), (1, 5));
    let report = outside.tick("10:45").expect("it sweeps");
    assert_eq!((report.killed_in_a_row, report.gap_pages), (0, 15));
}

/// Kills the sweep of 11:00 behind each of its steps, and shows the world to `killed`, then to `next` after the sweep of 11:15.
fn kill_at_eleven(history: &str, mut killed: impl FnMut(&Outside), next: impl Fn(&Outside, usize)) {
    let before = || {
        let outside = Outside::new(history);
        outside.ticks(time("10:15"), time("10:45"));
        outside
    };
    let whole = before();
    assert!(whole.tick("11:00").is_some());
    for step in 0..whole.steps() {
        let outside = before();
        outside.crash.set(Some(Crash { step, done: true }));
        assert!(outside.tick("11:00").is_none());
        killed(&outside);
        assert!(outside.tick("11:15").is_some());
        next(&outside, step);
    }
}

/// Whether the newest message and an open issue name the event.
fn shows(outside: &Outside, guid: &str) -> [bool; 2] {
    let message = outside.telegram.texts().last().is_some_and(|text| text.contains(guid));
    [message, outside.issues.open_issues().iter().any(|issue| issue.body.contains(guid))]
}

#[test]
fn what_a_killed_sweep_showed_last_is_corrected_though_the_alarm_went_back_to_what_was_saved() {
    // The second one gives up at 11:00, and passes by a click at 11:05: then the alarm is again what it was at 10:45.
    let history = "stays1: 10:01 500 | 500, 500\ncomes2: 10:16 500, 11:05 200 again | 500, 500";
    let mut shown = [false; 2];
    kill_at_eleven(
        history,
        |outside| shows(outside, "comes2").into_iter().zip(&mut shown).for_each(|(now, ever)| *ever |= now),
        |outside, step| {
            assert_eq!((shows(outside, "stays1"), shows(outside, "comes2")), ([true; 2], [false; 2]), "killed at step {step}");
        },
    );
    assert_eq!(shown, [true; 2], "it was killed behind either change");
}

#[test]
fn an_issue_that_a_killed_sweep_created_is_found_and_closed_though_its_entry_left() {
    let mut created = false;
    kill_at_eleven(
        "comes1: 10:16 500, 11:05 200 again | 500, 500",
        |outside| created |= !outside.issues.open_issues().is_empty(),
        |outside, step| assert_eq!(outside.issues.open_titles(), [""; 0], "killed at step {step}"),
    );
    assert!(created, "it was killed behind that");
}

#[test]
fn an_issue_that_a_killed_sweep_closed_was_not_closed_by_a_person() {
    // The first one passes by a click at 10:50, so that the sweep of 11:00 closes the issue; the second one gives up at 11:15.
    let history = "gone: 10:01 500, 10:05 500 again, 10:09 500 again, 10:50 200 again
        comes: 11:02 500, 11:05 500 again, 11:08 500 again";
    let (closed, saved) = (Cell::new(0), Cell::new(false));
    kill_at_eleven(
        history,
        |outside| {
            let is_closed = outside.issues.open_issues().is_empty();
            saved.set(is_closed && !outside.stored.borrow().contains_key(&Key::Lease));
            closed.set(closed.get() + usize::from(is_closed));
        },
        |outside, step| {
            // One whose end was saved stays closed, and what comes then stands in another.
            let issues = if saved.get() { 2 } else { 1 };
            assert_eq!(outside.issues.issues.borrow().len(), issues, "killed at step {step}");
            assert_eq!(shows(outside, "comes"), [true; 2], "killed at step {step}");
            assert_eq!(shows(outside, "gone"), [false; 2], "killed at step {step}");
        },
    );
    assert!(closed.get() > 1, "it was killed behind that, and before it was saved");
}
