//! The daily summary: never twice, never in the way, and never with a sound.

use crate::policy::tests::history::{parse, time};
use crate::policy::time::hours;
use crate::ports::{Key, NetworkError};

use super::world::{Crash, Outside, Upset};

/// A summary at 10:30, after a first sweep at 10:15.
fn outside(history: &str) -> Outside {
    let mut outside = Outside::new(history);
    outside.settings.insert("DAILY_SUMMARY", "10:30".to_owned());
    outside.tick("10:15");
    outside
}

/// The first lines of the summaries in the chat.
fn summaries(outside: &Outside) -> Vec<String> {
    let is_summary = |line: &String| line.contains("All well") || line.contains("last 24 hours");
    outside.telegram.first_lines().into_iter().filter(is_summary).collect()
}

#[test]
fn it_comes_once_a_day_with_the_first_sweep_from_its_time_on_and_makes_no_sound() {
    let outside = outside("");
    assert_eq!(summaries(&outside), [""; 0], "not due");
    let line = "🟢 All well: 2 sweeps in 24 hours, 0 deliveries read, none failed, nothing is open.";
    outside.tick("10:30");
    assert_eq!(outside.telegram.texts(), [format!("{line}\nKnown only since 2026-12-01 10:15 UTC.")]);
    outside.ticks(time("10:45"), time("10:15") + hours(24));
    assert_eq!(summaries(&outside).len(), 1, "past midnight too");
    outside.ticks(time("10:30") + hours(24), time("10:15") + hours(72));
    let whole = "🟢 All well: 96 sweeps in 24 hours, 0 deliveries read, none failed, nothing is open.";
    assert_eq!(summaries(&outside), [line, whole, whole]);
    assert_eq!(outside.telegram.sounds.get(), 0);
}

#[test]
fn it_has_the_figures_of_the_day() {
    let outside = outside("poison: 10:16 500 | 500\nback: 10:17 500 | 200\nfine: 10:18 200");
    outside.ticks(time("10:30"), time("10:15") + hours(24));
    outside.github.borrow_mut().add(parse("late: 34:20 500 | 200"));
    outside.tick_at(time("10:30") + hours(24));
    let text = outside.telegram.texts().pop().expect("it was sent");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!((lines[0], lines[1]), ("📋 deploy-bot: the last 24 hours", "96 sweeps, 0 failed."));
    assert!(lines[2].ends_with(" read, 3 attempts failed."), "{text}");
    assert_eq!(
        lines[3..],
        ["Asked for again: 2. Recovered: 1.", "Gave up: 1. Left behind: 0.", "Open now: 1 entry of the alarm, 1 event under way."]
    );
}

#[test]
fn a_crash_at_any_step_makes_no_second_one() {
    let mut without = 0;
    for done in [false, true] {
        for step in 0.. {
            let outside = outside("");
            outside.crash.set(Some(Crash { step, done }));
            if outside.tick("10:30").is_some() {
                assert!(step > 8, "{step}");
                break;
            }
            outside.ticks(time("10:45"), time("23:45"));
            let sent = summaries(&outside).len();
            assert!(sent <= 1, "{step} {done}: {sent}");
            without += 1 - sent;
        }
    }
    assert!((1..=4).contains(&without), "only one that was killed between the mark and the message costs it: {without}");
}

#[test]
fn an_answer_that_is_lost_is_not_asked_for_again_and_a_refusal_is_tried_by_the_next_sweep() {
    for (upset, sent) in [
        (Upset::AnswerLost, [1, 1]),
        (Upset::NoAnswer, [0, 0]),
        (Upset::Garbage, [0, 0]),
        (Upset::Status(502), [0, 0]),
        (Upset::Status(429), [0, 1]),
        (Upset::Status(400), [0, 1]),
    ] {
        let outside = outside("");
        outside.upsets.borrow_mut().insert(2, upset);
        let report = outside.tick("10:30").expect("it ends");
        assert_eq!((report.failure, report.calls, &*outside.calls.borrow()[2]), (None, 3, "POST sendMessage"), "{upset:?}");
        let at_once = summaries(&outside).len();
        outside.ticks(time("10:45"), time("12:00"));
        assert_eq!([at_once, summaries(&outside).len()], sent, "{upset:?}");
    }
}

#[test]
fn it_takes_no_call_from_anything_and_comes_with_the_next_sweep_that_has_one() {
    let history = "a: 10:16 500 | 500\nb: 10:17 503 | refuse 404\nc: 10:20 500, 10:21 500, 10:22 500";
    let run = |summary: bool, used: u32| {
        let mut outside = Outside::new(history);
        if summary {
            outside.settings.insert("DAILY_SUMMARY", "10:30".to_owned());
        }
        outside.settings.insert("HEARTBEAT_URL", "https://api.github.example/ping".to_owned());
        outside.faults.borrow_mut().push(("/ping", || Ok(crate::ports::Answer { status: 200, ..Default::default() })));
        outside.tick("10:15");
        outside.used_before.set(used);
        outside.tick("10:30");
        outside.used_before.set(0);
        let done = (outside.calls.borrow().clone(), outside.writes.get());
        (outside, done)
    };
    let mut skipped = 0;
    for used in 0..=50 {
        let ((_, (without, writes)), (outside, (with, writes_with))) = (run(false, used), run(true, used));
        let sent = summaries(&outside).len();
        assert_eq!(with[..with.len() - sent], without, "{used}");
        assert_eq!(writes_with, writes + sent, "{used}: one that cannot be sent is not saved as sent");
        let has_one_left = without.len() < usize::try_from(50 - used).expect("it is small");
        // Where the budget cut the alarm short, there is none left either.
        assert_eq!(sent == 1, has_one_left && without.iter().any(|call| call.contains("/ping")), "{used}");
        outside.tick("10:45");
        assert_eq!(summaries(&outside).len(), 1, "{used}");
        skipped += usize::from(sent == 0);
    }
    assert!(skipped > 0);
}

#[test]
fn a_chat_that_is_lost_is_not_called_for_it_and_has_it_once_it_is_back() {
    let outside = outside("a: 10:16 500, 10:17 500, 10:18 500");
    outside.telegram.shut.set(Some((403, "Forbidden: bot was blocked by the user")));
    outside.tick("10:30");
    outside.tick("10:45");
    let to_telegram =
        |outside: &Outside| outside.calls.borrow().iter().filter(|call| !call.contains("/app") && !call.contains("/repos")).count();
    assert_eq!(to_telegram(&outside), 1, "the alarm alone tries it: {:?}", outside.calls.borrow());
    outside.telegram.shut.set(None);
    outside.tick("11:00");
    assert_eq!((summaries(&outside).len(), outside.telegram.sounds.get()), (1, 1));
}

#[test]
fn one_that_is_refused_for_good_is_told_in_the_other_channel() {
    let outside = outside("");
    outside.telegram.shut.set(Some((403, "Forbidden: bot was blocked by the user")));
    outside.tick("10:30");
    outside.tick("10:45");
    assert!(outside.issues.open_titles()[0].contains("Telegram cannot be reached"), "{:?}", outside.issues.open_titles());
}

#[test]
fn neither_a_dry_run_nor_a_sweep_that_fails_sends_one() {
    let mut outside = outside("");
    outside.settings.insert("DRY_RUN", "true".to_owned());
    outside.tick("10:30");
    outside.settings.remove("DRY_RUN");
    outside.faults.borrow_mut().push(("/app/hook/deliveries", || Err(NetworkError::Failed)));
    outside.tick("10:45");
    assert_eq!(summaries(&outside), [""; 0]);
    outside.faults.borrow_mut().clear();
    outside.tick("11:00");
    assert_eq!(summaries(&outside), ["📋 The last 24 hours"]);
}

#[test]
fn figures_that_cannot_be_saved_are_not_sent() {
    let outside = outside("");
    outside.keeps_no_state.set(true);
    outside.tick("10:30");
    assert_eq!(summaries(&outside), [""; 0]);
    outside.keeps_no_state.set(false);
    outside.tick("10:45");
    assert_eq!(summaries(&outside).len(), 1);
    let of = format!("\"summary_of\":{}", time("10:30").millis());
    assert!(outside.stored.borrow()[&Key::State].contains(&of), "the time that it was for");
}
