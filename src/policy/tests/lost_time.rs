//! Outages and lost time when something else is wrong too: a gap, a clock, a setting, the asks (spec section 5).

use expect_test::expect;

use super::{Case, Fault, lines, time};

/// What was seen of one event from a tick on.
fn of(case: &Case, guid: &str, from: &str) -> String {
    let which = format!(" {guid}: ");
    let seen = case.seen.lines().filter(|line| line.contains(&which) && line.split(' ').next().is_some_and(|at| time(at) >= time(from)));
    seen.collect::<Vec<_>>().join("\n")
}

fn alarms(case: &Case) -> String {
    let lines: Vec<&str> = case.seen.lines().filter(|line| line.contains(" alarm: ")).collect();
    lines.join("\n")
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
fn an_answer_from_the_future_does_not_hide_an_outage() {
    let case = Case::new("future: 99:00 200 listed 10:01").down("10:00", "16:00").add("a: 10:05 200\nb: 10:06 200").tick("10:15..16:30");
    expect![[r#"
        10:45 alarm: outage since 10:05, 2 wait
        16:15 alarm: none"#]]
    .assert_eq(&alarms(&case));
}

#[test]
fn a_pass_from_the_future_does_not_hide_that_everything_is_refused() {
    let refused = lines(12, |index| format!("r{index}: 10:{:02} 401", 4 * index));
    let case = Case::new("future: 99:00 200 listed 10:01").add(&refused).tick("10:15..11:00");
    expect!["10:45 alarm: refuses everything since 10:00 [401]"].assert_eq(&alarms(&case));
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
