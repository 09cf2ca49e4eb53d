//! Outages and lost time when something else is wrong too: a gap, a clock, a setting, the asks (spec section 5).

use expect_test::expect;

use super::{Case, Fault, lines, time};

/// What was seen of one event from a tick on.
fn of(case: &Case, guid: &str, from: &str) -> String {
    let which = format!(" {guid}: ");
    let seen = case.seen.lines().filter(|line| line.contains(&which) && line.split(' ').next().is_some_and(|at| time(at) >= time(from)));
    seen.collect::<Vec<_>>().join("\n")
}

/// Twelve deliveries a page, one page a sweep, and none for gaps.
fn starved(case: Case) -> Case {
    case.page_of(12).set(|settings| {
        settings.delivery_pages = 1;
        settings.subrequest_limit = 24;
    })
}

#[test]
fn an_event_of_later_waits_for_a_gap_while_a_long_night_is_worked_off() {
    // Two hundred events take five hours, more than a window; a newer one of n's kind passed, and is not read.
    let night = lines(200, |index| format!("e{index}: 10:{:02}:{:02} 200", 5 + index / 60, index % 60));
    let case = Case::new("").down("10:00", "13:00").add("p: 09:55 200").add(&night).add("q push: 13:01 200").tick("10:15..17:00");
    let case = starved(case).add("n issues: 17:05 500\nm issues: 17:07 200").traffic("17:08", "17:14", 30).tick("17:15");
    expect!["17:15 n: waits: an unread gap could hold what settles it"].assert_eq(&of(&case, "n", "17:15"));
}

#[test]
fn an_event_of_lost_time_waits_for_a_gap_until_the_very_end_of_one_window() {
    let case = Case::new("").down("10:00", "12:00").add("p: 09:55 200\na issues: 10:05 200\nb: 10:06 200").tick("10:15..12:00");
    let case = starved(case.traffic("12:01", "12:14", 60)).tick("12:15..15:15");
    expect![[r#"
        15:00 a: waits: an unread gap could hold what settles it
        15:15 a: asked for again"#]]
    .assert_eq(&of(&case, "a", "15:00"));
}

#[test]
fn a_wait_for_a_gap_without_lost_time_ends_thirty_minutes_before_the_window_does() {
    let case = starved(Case::new("").traffic("09:00", "09:40", 2).tick("10:15"));
    let case = case.add("a issues: 10:15 500\nb issues @2: 10:15:30 500").traffic("10:16", "10:29", 30).tick("10:30 12:30..13:00");
    expect![[r#"
        12:45 a: asked for again
        12:45 b: waits: an unread gap could hold what settles it"#]]
    .assert_eq(
        &[of(&case, "a", "12:45"), of(&case, "b", "12:45")].map(|seen| seen.lines().next().unwrap_or_default().to_owned()).join("\n"),
    );
}

#[test]
fn the_oldest_delivery_that_was_read_does_not_wait_for_the_gap_behind_it() {
    let case = starved(Case::new("").traffic("09:00", "09:40", 2).tick("10:00"));
    let case = case.traffic("10:01", "10:08", 30).add("a issues: 10:08:30 500").traffic("10:09", "10:14", 11).tick("10:15").ground();
    expect![[r#"
        10:15 a: asked for again
        ground: cursor 10:13:32.727, watched since 07:00, gaps [09:20-10:08:30]
    "#]]
    .assert_eq(&case.seen);
}

#[test]
fn an_answer_from_the_future_does_not_hide_an_outage() {
    let case = Case::new("future: 99:00 200 listed 10:01").down("10:00", "16:00").add("a: 10:05 200\nb: 10:06 200").tick("10:15..16:30");
    expect![[r#"
        10:45 alarm: outage since 10:05, 2 wait
        16:15 alarm: none"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn an_answer_of_the_second_that_githubs_clock_shows_is_none_of_the_future() {
    let case = Case::new("").down("10:00", "11:00").add("p: 09:55 200\na: 10:05 200\nb: 10:06 200").tick("10:15..10:45");
    let case = case.add("q push: 11:00:01.500 200 listed 11:00").tick("11:00");
    expect![[r#"
        10:45 alarm: outage since 10:05, 2 wait
        11:00 alarm: none"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn a_pass_from_the_future_does_not_hide_that_everything_is_refused() {
    let refused = lines(12, |index| format!("r{index}: 10:{:02} 401", 4 * index));
    let case = Case::new("future: 99:00 200 listed 10:01").add(&refused).tick("10:15..11:00");
    expect!["10:45 alarm: refuses everything since 10:00 [401]"].assert_eq(&case.alarms());
}

#[test]
fn a_sweep_that_dies_before_its_asks_are_done_is_none_that_succeeded() {
    let start = |case: &Case| super::clock(case.world.ledger().ground.window_start);
    let case = Case::new("p: 09:55 200\na: 10:05 500\nb: 10:06 500").sleeping().tick("10:15");
    assert_eq!(start(&case), "07:15");
    let case = case.tick("10:30!crash 10:45!late 11:00!crash 11:15");
    assert_eq!(start(&case), "07:30", "the one at 10:30 is the first that does not succeed");
    let mut case = case.tick("11:30..14:00");
    assert_eq!(start(&case), "07:30");
    case.world.sweep(time("14:15"), Fault::None);
    assert_eq!(start(&case), "11:15", "one window after the first that did");
}

#[test]
fn an_answer_that_is_listed_late_parts_one_outage_from_the_next() {
    let case = Case::new("").down("10:00", "20:00").add("p: 09:55 200\na: 10:05 200\nb: 10:40 200\nc: 10:50 200").tick("10:15..12:00");
    let mut case = case;
    case.world.github.down.clear();
    let case = case.add("z push: 11:10 200 listed 12:10").down("10:00", "20:00").tick("12:15");
    expect![[r#"
        10:45 alarm: outage since 10:05, 2 wait
        11:45 alarm: outage since 10:05, 3 wait
        12:15 alarm: outage since 11:15:06, 3 wait"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn of_events_that_were_never_asked_for_the_oldest_is_the_probe() {
    let case = Case::new("").down("10:00", "20:00").add("p: 09:55 200\nz: 10:15:30 200\na: 10:16 200").sleeping().tick("10:00 10:46");
    expect!["10:46 z: asked for again"].assert_eq(&of(&case, "z", "10:46"));
    expect!["10:46 a: waits: the endpoint does not answer"].assert_eq(&of(&case, "a", "10:46"));
}

#[test]
fn what_a_first_sweep_takes_up_of_an_outage_is_worked_off_however_many_sweeps_it_takes() {
    let history = lines(30, |index| format!("e{index}: 12:{index:02} 200"));
    let case =
        Case::new("").down("11:30", "19:00").add("o: 11:00 200").add(&history).add("l: 17:00 200\nn push: 19:01 200").tick("19:15..20:30");
    let delivered = case.seen.lines().filter(|line| line.ends_with(": delivered")).count();
    assert!(delivered >= 31, "{}", case.seen);
    assert_eq!(case.alarms(), "");
}

#[test]
fn a_first_sweep_with_nothing_in_its_window_reads_no_further() {
    let mut case = Case::new("").down("00:00", "10:00").traffic("01:00", "03:00", 50).page_of(10);
    let swept = case.world.sweep(time("10:15"), Fault::None).unwrap();
    assert_eq!(swept.pages[1], 1);
}

#[test]
fn what_passed_is_not_taken_up_again_by_a_redelivery_that_the_window_still_holds() {
    // Its first delivery leaves the window half an hour before the second of its redeliveries does.
    let case = Case::new("p: 09:55 200\na: 10:00 500 | 500, 500, 200").set(|settings| settings.max_attempts = 9).tick("10:15..14:15");
    expect!["11:00 a: delivered"].assert_eq(&of(&case, "a", "11:00"));
}

#[test]
fn an_event_of_the_future_that_passed_is_not_asked_for_again() {
    let case = Case::new("future: 30:00 0 listed 10:01\np: 09:00 200").traffic("10:00", "40:00", 200).tick("10:15..35:00");
    expect!["10:30 future: delivered"].assert_eq(&of(&case, "future", "10:16"));
}

#[test]
fn a_dry_run_holds_the_window_for_one_window_only() {
    let case = Case::new("a: 10:05 500").set(|settings| settings.dry_run = true).sleeping();
    let case = case.tick("10:15 11:00..13:45");
    assert_eq!(super::clock(case.world.ledger().ground.window_start), "07:15", "a tick that never came is lost time all the same");
    let case = case.tick("14:00..14:15");
    assert_eq!(super::clock(case.world.ledger().ground.window_start), "11:15", "nothing of it can be worked off");
}

#[test]
fn a_tick_that_comes_twice_leaves_nothing_behind_that_its_first_sweep_did_not() {
    // The first sweep of one of them settles the last event that holds the window, with e1 outside of where it will start.
    let history = "e0 issues: 09:00 500\ne1 issues @null: 10:30:07 500 | 500, 500, off\n\
                   e2 issues @null: 09:00 500 | 500, 500, unknown, 500+20m\ne3 issues: 12:01 500\ne4 issues @2: 09:00 500 | unknown";
    let case = Case::new(history).sleeping().page_of(1);
    let case = case.set(|settings| (settings.max_redeliveries, settings.max_attempts) = (1, 4));
    let mut case = case.tick("10:00!crash 10:15!crash");
    let mut left_behind = 0;
    for tick in (2..20).map(|quarter| time("10:00") + crate::policy::time::minutes(15 * quarter)) {
        case = case.tick(&super::clock(tick));
        let once = super::alarm(&case.world.ledger());
        let mut again = case.world.clone();
        again.sweep_again(tick).expect("there is room to read");
        assert_eq!(super::alarm(&again.ledger()), once, "at {}", super::clock(tick));
        left_behind += once.matches("left behind").count();
    }
    assert!(left_behind > 0, "the window does move, and e1 is told of: {}", case.seen);
}
