//! An outage spends no attempts, is one entry, is probed, and lost time does not use up the window (spec section 5).

use std::collections::BTreeSet;

use expect_test::expect;

use super::{Case, check, lines, time};
use crate::policy::evidence::Counting;

/// The guids that were asked for, by tick.
fn asks(case: &Case) -> String {
    let asked = case.seen.lines().filter_map(|line| line.strip_suffix(": asked for again"));
    asked.collect::<Vec<_>>().join(", ")
}

/// The guids that passed after all.
fn delivered(case: &Case) -> BTreeSet<&str> {
    let passed = case.seen.lines().filter_map(|line| line.strip_suffix(": delivered"));
    passed.filter_map(|line| line.split_whitespace().nth(1)).collect()
}

#[test]
fn a_redelivery_into_an_outage_does_not_count_and_one_to_a_living_endpoint_does() {
    check(
        "
        p: 10:00 200
        a: 10:05 0 | 0, 0, 500, 500
        b: 11:05 502 | 504
        q push: 11:04 200
        r push: 11:17 200
        s push: 11:32 200
        ",
        "10:15..11:45",
        &expect![[r#"
            10:15 a: asked for again
            10:30 a: asked for again
            10:45 a: asked for again
            11:00 a: asked for again
            11:15 a: gave up: its last attempt failed
            11:15 b: asked for again
            11:15 alarm: a gave up
            11:30 b: asked for again
            11:45 b: asked for again
        "#]],
    );
}

#[test]
fn redeliveries_of_the_five_minutes_before_are_passed_over() {
    // Three are asked for at once. Each of their attempts follows another unanswered one, but the endpoint lives.
    check(
        "
        p: 10:00 200
        a: 10:05 0 | 0
        b: 10:06 0 | 0
        c: 10:07 0 | 0
        q push: 10:10 200
        r push: 10:28 200
        ",
        "10:15..10:45",
        &expect![[r#"
            10:15 a: asked for again
            10:15 b: asked for again
            10:15 c: asked for again
            10:30 a: asked for again
            10:30 b: asked for again
            10:30 c: asked for again
            10:45 a: gave up: its last attempt failed
            10:45 b: gave up: its last attempt failed
            10:45 c: gave up: its last attempt failed
            10:45 alarm: a gave up; b gave up; c gave up
        "#]],
    );
}

#[test]
fn what_lay_before_in_an_unread_gap_counts_until_it_is_read() {
    let counting = |case: &Case| {
        let events = case.world.ledger().events;
        let event = events.values().find(|event| event.guid.to_string() == "a").expect("it waits");
        event.newest().expect("it has attempts").counting
    };
    for (code, then) in [(0, Counting::IntoOutage), (200, Counting::Counts)] {
        let history = format!("a: 10:00 500, 10:40 0 | off\nb push: 10:39 {code}");
        let case = Case::new(&history).traffic("10:41", "10:45", 4).page_of(5).set(|settings| settings.delivery_pages = 1);
        let case = case.tick("10:15 10:45");
        assert_eq!(counting(&case), Counting::Unread);
        assert_eq!(counting(&case.tick("11:00")), then);
    }
}

#[test]
fn an_outage_is_one_entry_after_thirty_minutes_and_leaves_with_the_first_answer() {
    let case = Case::new("").down("10:00", "11:20").add("p: 09:55 200\na: 10:05 200\nb: 10:50 200").sleeping();
    case.tick("10:15..11:45").check(&expect![[r#"
        10:15 a: asked for again
        10:30 a: asked for again
        10:45 a: asked for again
        11:00 a: waits: the endpoint does not answer
        11:00 b: asked for again
        11:00 alarm: outage since 10:05, 2 wait
        11:15 a: asked for again
        11:15 b: waits: the endpoint does not answer
        11:30 a: waits: the endpoint does not answer
        11:30 b: asked for again
        11:45 a: asked for again
        11:45 b: delivered
        11:45 alarm: none
    "#]]);
}

#[test]
fn one_event_is_proof_only_by_attempts_thirty_minutes_apart() {
    // Its redelivery is listed late, the endpoint passed it long ago: nobody is told.
    let late = Case::new("p: 09:55 200\na: 10:05 0, 10:16 200 listed 10:52 | off").tick("10:15..11:00");
    assert_eq!(late.alarms(), "");
    let silent = Case::new("").down("10:00", "12:00").add("p: 09:55 200\na: 10:05 200").tick("10:15..12:15");
    expect![[r#"
        11:00 alarm: outage since 10:05, 1 wait
        12:15 alarm: none"#]]
    .assert_eq(&silent.alarms());
}

#[test]
fn a_probe_goes_to_the_least_recently_asked_and_after_three_hours_once_an_hour() {
    let case = Case::new("").down("10:00", "20:00").add("p: 09:55 200\na: 10:05 200\nb: 10:06 200\nc: 10:07 200");
    expect!["10:15 a, 10:15 b, 10:15 c, 10:30 a, 10:30 b, 10:30 c, 10:45 a, 11:00 b, 11:15 c, 11:30 a, 11:45 b, 12:00 c, 12:15 a, 12:30 b, 12:45 c, 13:00 a, 14:00 b, 15:00 c, 16:00 a"].assert_eq(&asks(&case.tick("10:15..16:15")));
}

#[test]
fn the_first_answer_to_any_new_delivery_ends_it_and_all_are_asked_for_at_once() {
    let history = lines(7, |index| format!("e{index}: 10:{:02} 200", 5 + index));
    let case = Case::new("").down("10:00", "12:05").add(&history).add("n push: 12:06 404\no: 09:00 200");
    expect!["10:15 e0, 10:15 e1, 10:15 e2, 10:15 e3, 10:15 e4, 10:15 e5, 10:15 e6, 10:30 e0, 10:30 e1, 10:30 e2, 10:30 e3, 10:30 e4, 10:30 e5, 10:30 e6, 10:45 e0, 11:00 e1, 11:15 e2, 11:30 e3, 11:45 e4, 12:00 e5, 12:15 e0, 12:15 e1, 12:15 e2, 12:15 e3, 12:15 e4, 12:15 e5, 12:15 e6"].assert_eq(&asks(&case.tick("10:15..12:15")));
}

#[test]
fn a_night_without_an_answer_loses_nothing() {
    let history = lines(60, |index| format!("e{index}: {}:{:02} 200", 22 + index / 8, index % 8 * 7));
    let case = Case::new("").down("22:00", "30:00").add("p: 21:50 200").add(&history).add("q push: 30:05 200");
    let case = case.tick("22:15..38:00");
    assert_eq!(delivered(&case).len(), 60);
    expect![[r#"
        22:30 alarm: outage since 22:00, 5 wait
        23:30 alarm: outage since 22:00, 13 wait
        24:30 alarm: outage since 22:00, 21 wait
        25:30 alarm: outage since 22:00, 29 wait
        26:30 alarm: outage since 22:00, 37 wait
        27:30 alarm: outage since 22:00, 45 wait
        28:30 alarm: outage since 22:00, 53 wait
        29:30 alarm: outage since 22:00, 60 wait
        30:15 alarm: none"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn the_window_moves_on_one_window_after_the_end_and_not_while_one_of_that_time_waits() {
    let start = |case: &Case| super::clock(case.world.ledger().ground.window_start);
    let case = Case::new("").down("10:00", "13:00").add("p: 09:55 200\na: 10:05 200\nb: 10:06 200 | off\nn push: 13:01 200");
    let case = case.tick("10:15..13:00");
    assert_eq!(start(&case), "07:45", "it stands still since the outage became an entry");
    let case = case.tick("13:15..16:00");
    assert_eq!(start(&case), "07:45");
    let mut case = case.tick("16:15..16:30");
    assert_eq!(start(&case), "07:45", "one of that time waits");
    case.world.github.answers_from = Some(time("16:31"));
    let case = case.tick("16:45..17:15");
    assert_eq!(start(&case), "14:15");
}

#[test]
fn what_failed_while_no_sweep_succeeded_is_recovered() {
    let history = "z: 10:00 200\na: 11:00 500\nb: 11:00 500, 11:05 200\nc: 11:00 404\nd: 14:50 500";
    Case::new(history).sleeping().tick("10:15 18:15 18:30 21:00").check(&expect![[r#"
        18:15 a: asked for again
        18:15 b: delivered
        18:15 c: refused: the endpoint would refuse it again
        18:15 d: asked for again
        18:30 a: delivered
        18:30 c: refused: the endpoint would refuse it again
        18:30 d: delivered
        21:00 c: refused: the endpoint would refuse it again
    "#]]);
    // One tick that comes late loses no time.
    let case = Case::new("a: 10:00 500 | off").sleeping().tick("10:15..12:45 13:04");
    expect!["13:04 alarm: left behind 1 [10:00-10:00] 1 issue_comment"].assert_eq(&case.alarms());
}

#[test]
fn after_seventy_two_hours_an_event_is_abandoned() {
    let case = Case::new("").down("10:00", "200:00").add("p: 09:55 200\na: 10:05 200\nb: 40:06 200").tick("10:15..120:00");
    expect![[r#"
        11:00 alarm: outage since 10:05, 1 wait
        41:00 alarm: outage since 10:05, 2 wait
        82:15 alarm: left behind 1 [10:05-10:05] 1 issue_comment; outage since 10:05, 2 wait
        83:00 alarm: left behind 1 [10:05-10:05] 1 issue_comment; outage since 10:05, 1 wait
        112:15 alarm: left behind 1 [10:05-10:05] 1 issue_comment; left behind 1 [40:06-40:06] 1 issue_comment"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn the_entry_leaves_when_nothing_waits_for_the_end_any_more() {
    let case = Case::new("").down("10:00", "200:00").add("p: 09:55 200\na: 10:05 200\nb: 10:06 200").tick("10:15..12:00");
    let case = case.set(|settings| settings.ignored_events = vec!["issue_comment".to_owned()]).tick("12:15..12:30");
    expect![[r#"
        10:45 alarm: outage since 10:05, 2 wait
        12:15 alarm: none"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn a_first_sweep_finds_the_start_of_the_outage_it_is_in_or_that_just_ended() {
    for down_until in ["30:00", "19:00"] {
        let history = lines(6, |index| format!("e{index}: {}:00 200", 12 + index));
        let case = Case::new("").down("11:30", down_until).add("o: 11:00 500").add(&history).add("n push: 19:01 200").page_of(2);
        let case = case.tick("19:15..31:00");
        assert!(delivered(&case).into_iter().collect::<String>().starts_with("e0e1e2e3e4e5"));
        assert!(!asks(&case).contains('o'), "it failed before");
    }
}

#[test]
fn a_poison_event_is_told_from_an_outage_of_others() {
    // It times out whenever it comes, before the outage and after.
    let case = Case::new("").add("p: 09:55 200\nx: 10:00 0 | 0").down("10:10", "11:40");
    let case = case.add("a: 10:12 200\nb: 10:20 200\nq push: 11:41 200").traffic("11:41", "14:00", 60).tick("10:15..13:00");
    expect![[r#"
        10:30 alarm: outage since 10:00, 3 wait
        11:45 alarm: none
        12:15 alarm: x gave up"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn an_endpoint_that_always_times_out_on_a_quiet_app_is_one_page() {
    let case = Case::new("").down("10:00", "100:00").add("p: 09:55 200\na: 10:05 200\nb: 15:00 200\nc: 30:00 200").tick("10:15..50:00");
    expect![[r#"
        11:00 alarm: outage since 10:05, 1 wait
        15:00 alarm: outage since 10:05, 2 wait
        30:00 alarm: outage since 10:05, 3 wait"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn a_gap_of_the_outage_is_waited_for_until_one_window_after_it() {
    let case = Case::new("").down("10:00", "12:00").add("p: 09:55 200\na issues: 10:05 200\nb: 10:06 200").tick("10:15..12:00");
    let case = case.traffic("12:01", "12:14", 60).page_of(10).set(|settings| {
        settings.delivery_pages = 2;
        settings.subrequest_limit = 26;
    });
    case.tick("12:15..15:30").ground().check(&expect![[r#"
        10:15 a: asked for again
        10:15 b: asked for again
        10:30 a: asked for again
        10:30 b: asked for again
        10:45 a: asked for again
        10:45 b: waits: the endpoint does not answer
        10:45 alarm: outage since 10:05, 2 wait
        11:00 a: waits: the endpoint does not answer
        11:00 b: asked for again
        11:15 a: asked for again
        11:15 b: waits: the endpoint does not answer
        11:30 a: waits: the endpoint does not answer
        11:30 b: asked for again
        11:45 a: asked for again
        11:45 b: waits: the endpoint does not answer
        12:00 a: waits: the endpoint does not answer
        12:00 b: asked for again
        12:15 a: waits: an unread gap could hold what settles it
        12:15 b: waits: asked for, not listed yet
        12:15 alarm: none
        12:30 a: waits: an unread gap could hold what settles it
        12:30 b: waits: asked for, not listed yet
        12:45 a: waits: an unread gap could hold what settles it
        12:45 b: waits: asked for, not listed yet
        13:00 a: waits: an unread gap could hold what settles it
        13:00 b: waits: asked for, not listed yet
        13:15 a: waits: an unread gap could hold what settles it
        13:15 b: waits: asked for, not listed yet
        13:30 a: asked for again
        13:30 b: delivered
        13:45 a: delivered
        ground: cursor 13:30:06, watched since 07:15, gaps []
    "#]]);
}

#[test]
fn the_entry_leaves_with_the_last_that_waits_though_it_is_github_that_refuses_it() {
    let case = Case::new("a issues: 09:00 500, 09:34 0\nb issues: 10:16 0 | refuse 404").set(|settings| settings.max_attempts = 2);
    let case = case.tick("10:00..10:30");
    assert_eq!(case.alarm, "a gave up; b not redeliverable (404)", "nothing waits for the end of an outage");
}

#[test]
fn nor_does_a_gap_below_the_unread_one_that_holds_the_attempt() {
    // The failures list shows the attempt of 11:31:07. The pass of 11:30 is in the unread gap that holds it.
    let history = "a: 11:32 500\nb: 10:42 500, 10:46 500, 11:31:07 502 | lost\nc: 11:22 0";
    let case = Case::new(history).traffic("09:00", "13:00", 24).page_of(1).set(|settings| {
        settings.max_attempts = 4;
        settings.delivery_pages = 1;
        settings.failure_pages = 2;
        settings.max_redeliveries = 1;
    });
    // The oracle of these tests counts what lay before each attempt.
    let case = case.tick("10:00..13:00");
    let counting = case.world.ledger().events.values().find(|event| event.guid == "b".into()).map(|event| event.attempts[2].counting);
    assert_ne!(counting, Some(Counting::IntoOutage), "{}", case.seen);
}

#[test]
fn a_gap_further_below_says_nothing_of_what_lay_just_before_an_attempt() {
    // Two gaps below the attempt of 12:31: the next one holds a pass, the one further below what went unanswered.
    let history = "a: 12:01 0 | lost\nb: 12:28 500, 12:31 0 | lost\nc: 09:00 500, 12:30:07 500\np push: 12:30 200";
    let case = Case::new(history).page_of(2).set(|settings| {
        settings.max_attempts = 2;
        settings.delivery_pages = 1;
        settings.failure_pages = 1;
        settings.max_redeliveries = 1;
    });
    let case = case.tick("10:00..12:45");
    assert!(case.seen.contains("12:45 b: gave up: its last attempt failed"), "{}", case.seen);
}

#[test]
fn a_delivery_without_milliseconds_changes_nothing_of_what_was_weighed_before() {
    // The two that went unanswered are five minutes and a quarter of a second apart, and five minutes by whole seconds.
    let history = "e issues: 10:00 500, 12:41:00.250 0 | off, off\nf push: 10:00 500, 12:36 0\np: 12:30 200\nq: 12:42 200";
    let case = Case::new(history).sleeping().tick("12:45");
    let weighed = |case: &Case| case.world.ledger().events[&"e".into()].attempts[1].counting;
    assert_eq!(weighed(&case), Counting::IntoOutage);
    let case = case.add("r: 12:46 200 plain").tick("13:00");
    assert!(case.world.ledger().ground.whole_seconds_at.is_some());
    assert_eq!(weighed(&case), Counting::IntoOutage);
}
