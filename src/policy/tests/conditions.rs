//! Which events are asked for again: the conditions of spec section 4, one by one.

use expect_test::expect;

use super::{Case, check, lines};

#[test]
fn a_fresh_first_failure_is_asked_for_by_the_next_sweep() {
    check(
        "a: 10:14:59 500",
        "10:15 10:30",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: delivered
    "#]],
    );
}

#[test]
fn every_outcome_has_its_verdict() {
    check(
        "
        failed: 10:01 500
        hidden: 10:02 0
        gateway: 10:03 504
        edge: 10:04 522
        odd: 10:05 999
        passed: 10:06 204
        moved: 10:07 301
        refused: 10:08 404
        ",
        "10:15",
        &expect![[r#"
            10:15 edge: asked for again
            10:15 failed: asked for again
            10:15 gateway: asked for again
            10:15 hidden: asked for again
            10:15 moved: refused: the endpoint would refuse it again
            10:15 odd: asked for again
            10:15 refused: refused: the endpoint would refuse it again
        "#]],
    );
}

#[test]
fn an_event_whose_first_delivery_was_not_read_is_left_alone() {
    check(
        "a: 10:00 500 again",
        "10:15..14:00",
        &expect![[r#"
        10:15 a: left alone: its first delivery was not read
        10:30 a: left alone: its first delivery was not read
        10:45 a: left alone: its first delivery was not read
        11:00 a: left alone: its first delivery was not read
        11:15 a: left alone: its first delivery was not read
        11:30 a: left alone: its first delivery was not read
        11:45 a: left alone: its first delivery was not read
        12:00 a: left alone: its first delivery was not read
        12:15 a: left alone: its first delivery was not read
        12:30 a: left alone: its first delivery was not read
        12:45 a: left alone: its first delivery was not read
        13:00 a: left alone: its first delivery was not read
        13:15 a: left alone: its first delivery was not read
    "#]],
    );
}

#[test]
fn an_event_whose_first_delivery_lies_before_the_window_is_left_alone_and_was_never_left_behind() {
    check(
        "a: 07:14 500, 10:00 500",
        "10:15 10:30",
        &expect![[r#"
        10:15 a: left alone: its first delivery was not read
        10:30 a: left alone: its first delivery was not read
    "#]],
    );
}

#[test]
fn the_first_delivery_may_have_been_read_by_an_earlier_sweep() {
    Case::new("a: 10:00 500 | 500")
        .page_of(1)
        .traffic("10:16", "10:29", 8)
        .set(|settings| settings.failure_pages = 1)
        .tick("10:15..10:45")
        .check(&expect![[r#"
            10:15 a: asked for again
            10:30 a: asked for again
            10:45 a: gave up: its last attempt failed
            10:45 alarm: a gave up
        "#]]);
}

#[test]
fn the_window_ends_at_its_first_moment() {
    check(
        "a: 07:15 500\nb: 07:14:59.999 500",
        "10:15",
        &expect![[r#"
        10:15 a: asked for again
    "#]],
    );
}

#[test]
fn a_pass_by_a_click_of_a_maintainer_settles_the_event() {
    check(
        "a: 10:00 500, 10:10 200\nb: 10:00 500, 10:16 201 | lost",
        "10:15..11:15",
        &expect![[r#"
        10:15 a: delivered
        10:15 b: asked for again
        10:30 b: delivered
    "#]],
    );
}

#[test]
fn a_failure_after_a_pass_settles_nothing() {
    check(
        "a: 10:00 500, 10:05 200, 10:10 500",
        "10:15 10:30",
        &expect![[r#"
        10:15 a: delivered
    "#]],
    );
}

#[test]
fn a_click_on_what_passed_at_once_is_not_asked_for_when_it_fails() {
    check("a: 10:00 200, 10:05 500\nb: 10:00 200, 10:20 500", "10:15 10:30 10:45", &expect![[""]]);
}

#[test]
fn the_newest_attempt_decides_what_a_refusal_means() {
    check(
        "
        a: 10:00 500, 10:05 404
        b: 10:00 404, 10:05 500
        c: 10:00 500, 10:20 410, 10:50 500 | lost
        ",
        "10:15 10:30 11:00 11:15",
        &expect![[r#"
            10:15 a: refused: the endpoint would refuse it again
            10:15 b: asked for again
            10:15 c: asked for again
            10:30 a: refused: the endpoint would refuse it again
            10:30 b: delivered
            10:30 c: refused: the endpoint would refuse it again
            11:00 a: refused: the endpoint would refuse it again
            11:00 c: gave up: its last attempt failed
            11:00 alarm: c gave up
            11:15 a: refused: the endpoint would refuse it again
        "#]],
    );
}

#[test]
fn fewer_than_max_attempts_count() {
    check(
        "a: 10:00 500, 10:05 500\nb: 10:00 500, 10:05 500, 10:10 500",
        "10:15 10:30",
        &expect![[r#"
        10:15 a: asked for again
        10:15 b: gave up: its last attempt failed
        10:15 alarm: b gave up
        10:30 a: delivered
    "#]],
    );
}

#[test]
fn the_third_attempt_that_fails_is_the_last() {
    check(
        "a: 10:00 500 | 500",
        "10:15..14:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: asked for again
        10:45 a: gave up: its last attempt failed
        10:45 alarm: a gave up
    "#]],
    );
}

#[test]
fn what_gave_up_leaves_the_alarm_when_it_passes_and_when_github_forgets_it() {
    check(
        "a: 10:00 500, 10:01 500, 10:02 500, 30:00 200\nb: 10:00 500, 10:01 500, 10:02 0",
        "10:15 30:15 81:45 82:00 82:15",
        &expect![[r#"
        10:15 a: gave up: its last attempt failed
        10:15 b: gave up: its last attempt failed
        10:15 alarm: a gave up; b gave up
        30:15 a: delivered
        30:15 alarm: b gave up
        82:00 alarm: none
    "#]],
    );
}

#[test]
fn it_is_not_in_ignored_events() {
    Case::new("a push: 10:00 500\nb: 10:00 500").set(|settings| settings.ignored_events = vec!["push".into()]).tick("10:15").check(
        &expect![[r#"
        10:15 a: ignored by IGNORED_EVENTS
        10:15 b: asked for again
    "#]],
    );
}

#[test]
fn ten_minutes_lie_between_two_asks() {
    check(
        "a: 10:00 500 | 500, 200",
        "10:15 10:24:59 10:25",
        &expect![[r#"
        10:15 a: asked for again
        10:24:59 a: waits: asked for less than ten minutes ago
        10:25 a: asked for again
    "#]],
    );
}

#[test]
fn ten_are_asked_for_in_a_sweep_the_fewest_attempts_first_then_the_oldest() {
    Case::new(
        "
        twice: 10:00 500, 10:01 500
        old: 10:02 500
        b: 10:03 500
        c: 10:04 500
        new: 10:05 500
        ",
    )
    .set(|settings| settings.max_redeliveries = 2)
    .tick("10:15..11:00")
    .check(&expect![[r#"
        10:15 b: asked for again
        10:15 c: waits: others come first
        10:15 new: waits: others come first
        10:15 old: asked for again
        10:15 twice: waits: others come first
        10:30 b: delivered
        10:30 c: asked for again
        10:30 new: asked for again
        10:30 old: delivered
        10:30 twice: waits: others come first
        10:45 c: delivered
        10:45 new: delivered
        10:45 twice: asked for again
        11:00 twice: delivered
    "#]]);
}

#[test]
fn the_default_is_ten_asks_a_sweep() {
    let history = lines(12, |index| format!("e{index:02}: 10:{index:02} 500"));
    let mut case = Case::new(&history).tick("10:15");
    let asked = case.world.sweep(super::time("10:30"), super::Fault::None).unwrap().asked;
    assert_eq!(asked, ["e10", "e11"]);
}

#[test]
fn a_dry_run_decides_but_asks_for_nothing_and_loses_nothing() {
    Case::new("a: 10:00 500\nb: 10:01 500\nc: 10:02 500, 10:03 500, 10:04 500")
        .set(|settings| {
            settings.dry_run = true;
            settings.max_redeliveries = 1;
        })
        .tick("10:15 13:15")
        .ground()
        .check(&expect![[r#"
            10:15 a: asked for again
            10:15 b: waits: others come first
            10:15 c: gave up: its last attempt failed
            10:15 alarm: c gave up
            13:15 a: left behind: it still waited when its time was over
            13:15 b: left behind: it still waited when its time was over
            ground: cursor 10:04, watched since 07:15, gaps []
        "#]]);
}

#[test]
fn the_same_tick_twice_or_an_earlier_one_changes_nothing() {
    check(
        "a: 10:00 500 | lost",
        "10:15 10:15 10:14",
        &expect![[r#"
        10:15 a: asked for again
        10:15 nothing
        10:14 nothing
    "#]],
    );
}

#[test]
fn a_pass_among_very_many_attempts_settles_the_event() {
    let clicks = |count: usize| lines(count, |index| format!("10:{:02}:{:02} 500", 1 + index / 60, index % 60)).replace('\n', ", ");
    check(
        &format!("a: 10:00 500, 10:00:30 200, {}\nb: 10:00 500, {}", clicks(40), clicks(40)),
        "10:15 10:30",
        &expect![[r#"
        10:15 a: delivered
        10:15 b: gave up: its last attempt failed
        10:15 alarm: b gave up
    "#]],
    );
}

#[test]
fn how_far_a_page_reaches_beyond_the_window_keeps_no_event() {
    // Refused, out of the window, and clicked afterwards: its first delivery is known no more, whatever else stands on its page.
    let history = "a issues: 09:10 500, 09:10:01 500\nb issues: 09:00 404, 12:16 500\nc issues @2: 09:00 500";
    let alarms: Vec<String> = [1, 7, 100]
        .map(|items| {
            let case = Case::new(history).page_of(items).set(|settings| settings.max_attempts = 2);
            case.tick("10:00..12:45").alarm
        })
        .to_vec();
    assert!(alarms.iter().all(|alarm| alarm == &alarms[0] && !alarm.contains("b gave up")), "{alarms:?}");
}
