//! Recovery by hand, and entries that a person takes out.

use expect_test::expect;
use proptest::prelude::*;

use super::history::parse;
use super::properties::{Story, Tick, config, play, story};
use super::{Case, Fault, lines, time};
use crate::policy::event::Fate;
use crate::policy::forgetting::forget;
use crate::policy::ledger::Ledger;
use crate::policy::recovering::{OutOfReach, progress};
use crate::policy::time::{hours, minutes};

impl Case {
    /// A person asks for a recovery since then, a minute after the last tick.
    fn recover(mut self, since: &str) -> Self {
        let now = self.world.ledger().swept_at.map_or_else(|| time("10:01"), |swept_at| swept_at + minutes(1));
        self.world.recover(time(since), now).expect("it is within reach");
        self
    }

    fn progress(&self) -> Option<(Option<usize>, usize)> {
        progress(&self.world.ledger()).map(|progress| (progress.gaps, progress.waiting))
    }

    fn ledger(&self) -> Ledger {
        self.world.ledger()
    }
}

#[test]
fn what_was_left_behind_in_a_known_outage_is_asked_for_again_and_what_passed_is_not() {
    let history = "first: 09:00 200\npassed: 09:10 500, 09:31 200\nlost: 09:20 500\nolder issues: 09:25 500\nnewer issues: 09:40 200";
    Case::new(history).tick("14:00").recover("09:00").tick("14:15 14:30").ground().check(&expect![[r#"
        14:15 lost: asked for again
        14:15 older: superseded: a newer event of its kind passed (2026-12-01T09:40:00.000Z)
        14:15 passed: delivered
        14:30 lost: delivered
        ground: cursor 14:15:06, watched since 09:00, gaps []
    "#]]);
}

/// Ten deliveries a page, one new page a sweep and some for gaps; `hidden` failed, and passed behind what the pages reach.
fn long(history: &str) -> Case {
    Case::new(history).page_of(10).traffic("09:00", "14:00", 200).tick("14:00").set(|settings| {
        settings.delivery_pages = 4;
        settings.subrequest_limit = 34;
    })
}

#[test]
fn while_it_is_read_again_a_failure_whose_pass_is_not_read_yet_is_passed_over() {
    let case = long("hidden: 09:10 500, 09:31 200\nlost: 09:20 500 | 200").recover("09:00").tick("14:15");
    assert_eq!(case.progress(), Some((Some(1), 0)));
    assert!(case.ledger().events.is_empty(), "the failures list showed both");
    case.tick("14:30..15:30").check(&expect![[r#"
        15:15 hidden: delivered
        15:15 lost: asked for again
        15:30 lost: delivered
    "#]]);
}

#[test]
fn attempts_are_counted_from_the_list_and_what_gave_up_stays_so() {
    let spent = "spent: 09:10 500, 09:31 500 again, 09:50 500 again";
    Case::new(&format!("{spent}\nonce: 09:12 500, 09:40 500 again | 500")).tick("14:00").recover("09:00").tick("14:15..15:00").check(
        &expect![[r#"
            14:15 once: asked for again
            14:15 spent: gave up: its last attempt failed
            14:15 alarm: spent gave up
            14:30 once: gave up: its last attempt failed
            14:30 alarm: once gave up; spent gave up
        "#]],
    );
    let case = Case::new("e: 10:01 500 | 500").tick("10:15..11:00").set(|settings| settings.max_attempts = 10).recover("09:00");
    let case = case.tick("11:15..12:00");
    assert_eq!(super::alarm(&case.ledger()), "e gave up", "a changed setting reopens nothing, and neither does this");
}

#[test]
fn the_window_stands_still_until_all_is_read_and_worked_off_and_then_moves_on() {
    let history = lines(9, |index| format!("e{index}: 09:0{index} 500 | 200"));
    let mut case = Case::new(&history).traffic("08:30", "14:00", 30).tick("14:00").set(|settings| settings.max_redeliveries = 1);
    case = case.recover("09:00").tick("14:15");
    assert_eq!(case.progress(), Some((Some(0), 9)));
    case = case.tick("14:30..16:30");
    assert_eq!((case.ledger().ground.window_start, case.progress()), (time("09:00"), Some((Some(0), 0))));
    assert!((0..9).all(|index| case.world.github.record().any(|item| item.guid == format!("e{index}") && item.code == 200)));
    case = case.tick("16:45..17:15");
    assert_eq!((case.progress(), case.ledger().ground.window_start), (None, time("14:15")));
    assert!(case.ledger().left_behind.is_empty());
}

#[test]
fn the_window_stands_still_for_as_long_as_it_takes_to_read_again() {
    let case = long("lost: 09:20 500 | 200").traffic("09:00", "14:00", 1_000).recover("09:00").tick("14:15..19:00");
    assert_eq!((case.progress(), case.ledger().ground.window_start), (Some((Some(1), 0)), time("09:00")));
    let case = case.tick("19:15..23:00");
    assert!(case.world.github.record().any(|item| item.guid == "lost" && item.code == 200));
    assert!(case.ledger().gaps_lost.is_empty());
}

#[test]
fn ground_that_cannot_be_read_again_is_told_and_nothing_of_it_is_asked_for() {
    let mut case = long("hidden: 09:10 500, 09:31 200\nlost: 09:20 500").recover("09:00").tick("14:15");
    case.world.github.takes_old_cursors = false;
    case = case.tick("14:30..18:00");
    assert!(super::alarm(&case.ledger()).starts_with("gap lost 1 [09:00-"));
    case.check(&expect![[r#"
        14:30 alarm: gap lost 1 [09:00-13:00]
    "#]]);
}

#[test]
fn refusals_that_are_read_again_are_not_counted_again() {
    let history = lines(6, |index| format!("r{index}: 10:{:02} 401", 5 + index * 7));
    let case = Case::new(&history).tick("10:15..11:00").recover("10:00").tick("11:15");
    assert!(case.ledger().refusals.refusing().is_none());
}

#[test]
fn a_first_sweep_reads_back_as_far_as_it_is_asked_to() {
    let case = Case::new("e: 04:00 500\nolder: 03:00 500").recover("04:00").tick("10:15");
    assert_eq!(case.ledger().ground.watched_since, Some(time("04:00")));
    case.check(&expect![[r#"
        10:15 e: asked for again
    "#]]);
}

#[test]
fn only_the_last_72_hours_can_be_asked_for() {
    let mut world = Case::new("e: 10:01 500").tick("10:15").world;
    let now = time("10:20");
    let before = world.saved.clone();
    assert_eq!(world.recover(now, now), Err(OutOfReach::Future));
    assert_eq!(world.recover(now + minutes(1), now), Err(OutOfReach::Future));
    assert_eq!(world.recover(now - hours(72) - minutes(1), now), Err(OutOfReach::TooOld(72)));
    assert_eq!(world.saved, before);
    assert_eq!(world.recover(now - hours(72), now), Ok(()));
    world.settings.retention = hours(168);
    assert_eq!(world.recover(now - hours(168), now), Ok(()));
    assert_eq!(world.recover(now - hours(168) - minutes(1), now), Err(OutOfReach::TooOld(168)));
}

#[test]
fn an_entry_that_is_taken_out_does_not_come_back_when_it_is_read_again_but_a_pass_counts() {
    let mut case = Case::new("e: 10:01 500 | 500\nf: 10:02 500 | 500").tick("10:15..11:00");
    let mut ledger = case.ledger();
    assert!(!forget(&mut ledger, &"unknown".into()));
    assert!(forget(&mut ledger, &"e".into()) && !forget(&mut ledger, &"e".into()));
    case.world.save(&ledger);
    case = case.tick("11:15..20:00").recover("09:00").tick("20:15..20:45");
    assert_eq!(super::alarm(&case.ledger()), "f gave up");
    assert_eq!(case.ledger().events[&"e".into()].fate, Fate::Forgotten);
    case.world.github.add(parse("e: 20:50 200 again"));
    let case = case.tick("21:00");
    assert_eq!(case.ledger().events[&"e".into()].fate, Fate::Passed);
}

#[test]
fn an_event_that_still_waits_is_no_entry_to_take_out() {
    let mut ledger = Case::new("e: 10:01 500").tick("10:15").ledger();
    assert!(!forget(&mut ledger, &"e".into()));
}

proptest! {
    #![proptest_config(config(2))]

    /// Invariants 1 to 4, when a person asks for a recovery before some tick, or before two.
    #[test]
    fn a_recovery_by_hand_breaks_no_invariant(
        story in story(true, true),
        asked in prop::collection::vec((4_u64..28, 0_u64..500), 1..3),
    ) {
        recovered(&story, &asked);
    }
}

/// Plays a story in which a person asks, so many quarters of an hour after its start, for a recovery of so many minutes.
fn recovered(story: &Story, asked: &[(u64, u64)]) {
    let mut world = story.world();
    for (now, tick) in story.ticks(12) {
        let quarter = now.since(time("10:00")).as_secs() / 900;
        for (_, back) in asked.iter().filter(|(at, _)| *at == quarter) {
            let asked_at = now - minutes(1);
            world.recover(asked_at - minutes(*back + 1), asked_at).expect("it is within reach");
        }
        if tick != Tick::Never {
            world = play(world, std::iter::once((now, tick)), |_, _, _| {});
        }
    }
    let swept = world.sweep(time("23:00"), Fault::None);
    assert!(swept.is_some());
}
