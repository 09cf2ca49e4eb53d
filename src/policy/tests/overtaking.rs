//! A newer event overtakes an older one (spec section 6).

use expect_test::expect;

use super::{Case, check};
use crate::policy::settings::SUPERSEDED_EVENTS;

#[test]
fn every_kind_of_the_set_is_overtaken_by_its_own() {
    assert_eq!(SUPERSEDED_EVENTS.len(), 8);
    for name in SUPERSEDED_EVENTS {
        let history = format!("old {name}: 10:00 500\nnew {name}: 10:01 200\nnext {name}: 10:02 500");
        let mut case = Case::new(&history);
        assert_eq!(case.world.sweep(super::time("10:15"), super::Fault::None).unwrap().asked, ["next"], "{name}");
    }
}

#[test]
fn every_kind_outside_the_set_always_comes_again() {
    for name in ["issue_comment", "push", "workflow_job", "pull_request_review", "installation", "status", "event_of_2031"] {
        let mut case = Case::new(&format!("old {name}: 10:00 500\nnew {name}: 10:01 200"));
        assert_eq!(case.world.sweep(super::time("10:15"), super::Fault::None).unwrap().asked, ["old"], "{name}");
    }
}

#[test]
fn another_repository_another_event_and_none_do_not_overtake() {
    check(
        "
        a issues.opened @1: 10:00 500
        b issues.closed @2: 10:01 200
        c pull_request.closed @1: 10:01 200
        d issues.opened @null: 10:00 500
        e issues.closed @null: 10:01 200
        ",
        "10:15",
        &expect![[r#"
            10:15 a: asked for again
            10:15 d: asked for again
        "#]],
    );
}

#[test]
fn another_action_of_the_same_kind_overtakes() {
    check(
        "a issues.opened: 10:00 500\nb issues.labeled: 10:01 200",
        "10:15",
        &expect![[r#"
        10:15 a: superseded: a newer event of its kind passed (2026-12-01T10:01:00.000Z)
    "#]],
    );
}

#[test]
fn only_what_passed_overtakes() {
    check(
        "a issues: 10:00 500\nb issues: 10:01 404\nc issues: 10:02 500 | lost",
        "10:15",
        &expect![[r#"
        10:15 a: asked for again
        10:15 b: refused: the endpoint would refuse it again
        10:15 c: asked for again
    "#]],
    );
}

#[test]
fn an_older_event_that_passes_late_does_not_overtake() {
    check(
        "old issues: 10:00 500, 10:14 200\nnew issues: 10:10 500",
        "10:15",
        &expect![[r#"
        10:15 new: asked for again
        10:15 old: delivered
    "#]],
    );
}

#[test]
fn a_newer_event_that_passes_late_overtakes_by_its_first_delivery() {
    check(
        "old issues: 10:00 500 | lost\nnew issues: 10:10 500, 10:40 200 | lost",
        "10:15..10:45",
        &expect![[r#"
        10:15 new: asked for again
        10:15 old: asked for again
        10:30 new: waits: asked for, not listed yet
        10:30 old: waits: asked for, not listed yet
        10:45 new: delivered
        10:45 old: superseded: a newer event of its kind passed (2026-12-01T10:10:00.000Z)
    "#]],
    );
    check(
        "old issues: 10:00 500 | lost\nnew issues: 10:10 500 | 200",
        "10:15 10:30",
        &expect![[r#"
        10:15 new: asked for again
        10:15 old: asked for again
        10:30 new: delivered
        10:30 old: superseded: a newer event of its kind passed (2026-12-01T10:10:00.000Z)
    "#]],
    );
}

#[test]
fn at_equal_times_the_ids_decide() {
    check(
        "old issues: 10:00 500 #6\nnew issues: 10:00 200 #7",
        "10:15",
        &expect![[r#"
        10:15 old: superseded: a newer event of its kind passed (2026-12-01T10:00:00.000Z)
    "#]],
    );
    check(
        "old issues: 10:00 500 #8\nnew issues: 10:00 200 #7",
        "10:15",
        &expect![[r#"
        10:15 old: asked for again
    "#]],
    );
}

#[test]
fn while_an_item_has_no_milliseconds_all_are_compared_by_whole_seconds() {
    check(
        "a issues: 10:00:00.900 500 #6\nb issues: 10:00:00 200 #7 plain",
        "10:15",
        &expect![[r#"
        10:15 a: superseded: a newer event of its kind passed (2026-12-01T10:00:00.000Z)
    "#]],
    );
    check(
        "a issues: 10:00:00.100 500 #6\nb issues: 10:00:00.900 200 #5",
        "10:15",
        &expect![[r#"
        10:15 a: superseded: a newer event of its kind passed (2026-12-01T10:00:00.900Z)
    "#]],
    );
    check(
        "a issues: 10:00:00.100 500 #6\nb issues: 10:00:00.900 200 #5\nc: 09:00 200 plain",
        "10:15",
        &expect![[r#"
        10:15 a: asked for again
    "#]],
    );
}

#[test]
fn the_newest_that_passed_is_found_by_whole_seconds_too() {
    // By milliseconds the newest is y, by whole seconds it is z, and only z is newer than a.
    check(
        "a issues: 10:00:00.500 500 #6\ny issues: 10:00:00.900 200 #5\nz issues: 10:00:00.100 200 #7\np: 09:00 200 plain",
        "10:15",
        &expect![[r#"
        10:15 a: superseded: a newer event of its kind passed (2026-12-01T10:00:00.000Z)
    "#]],
    );
}

#[test]
fn times_are_compared_by_whole_seconds_as_long_as_github_keeps_such_an_item() {
    // Later sweeps do not read `c` again.
    let case = Case::new("c: 09:00 200 plain\nx issues: 11:00:00.100 500 #6\ny issues: 11:00:00.900 200 #5");
    let case = case.add("z issues: 82:10:00.100 500 #9\nw issues: 82:10:00.900 200 #8").page_of(2).traffic("10:00", "10:10", 10);
    case.tick("10:15 11:15 82:00 82:15").check(&expect![[r#"
        11:15 x: asked for again
        82:00 x: delivered
        82:15 z: superseded: a newer event of its kind passed (2026-12-04T10:10:00.900Z)
    "#]]);
}

#[test]
fn a_passed_event_whose_first_delivery_was_not_read_overtakes_nothing() {
    check(
        "a issues: 10:00 500\nb issues: 10:05 200 again",
        "10:15",
        &expect![[r#"
        10:15 a: asked for again
        10:15 b: delivered
    "#]],
    );
}

#[test]
fn what_passed_overtakes_in_later_sweeps_too() {
    check(
        "a issues: 10:00 500 listed 10:20\nb issues: 10:10 200",
        "10:15 10:30 10:45",
        &expect![[r#"
        10:30 a: superseded: a newer event of its kind passed (2026-12-01T10:10:00.000Z)
    "#]],
    );
}

#[test]
fn what_was_overtaken_stays_so_when_it_is_clicked_and_fails() {
    check(
        "a issues: 10:00 500, 10:20 500\nb issues: 10:01 200",
        "10:15..10:45",
        &expect![[r#"
        10:15 a: superseded: a newer event of its kind passed (2026-12-01T10:01:00.000Z)
    "#]],
    );
}

#[test]
fn what_gave_up_keeps_its_entry_though_a_newer_one_passed() {
    check(
        "a issues: 10:00 500, 10:01 500, 10:02 500\nb issues: 10:05 200",
        "10:15 10:30",
        &expect![[r#"
        10:15 a: gave up: its last attempt failed
        10:15 alarm: a gave up
    "#]],
    );
    check(
        "a issues: 10:00 500, 10:01 500, 10:02 500\nb issues: 10:20 200",
        "10:15 10:30",
        &expect![[r#"
        10:15 a: gave up: its last attempt failed
        10:15 alarm: a gave up
    "#]],
    );
}

#[test]
fn the_set_of_the_settings_replaces_the_default() {
    Case::new("a issues: 10:00 500\nb issues: 10:01 200\nc push: 10:00 500\nd push: 10:01 200")
        .set(|settings| settings.superseded_events = vec!["push".into()])
        .tick("10:15")
        .check(&expect![[r#"
            10:15 a: asked for again
            10:15 c: superseded: a newer event of its kind passed (2026-12-01T10:01:00.000Z)
        "#]]);
}

#[test]
fn an_empty_set_overtakes_nothing() {
    Case::new("a issues: 10:00 500\nb issues: 10:01 200").set(|settings| settings.superseded_events.clear()).tick("10:15").check(&expect![
        [r#"
        10:15 a: asked for again
    "#]
    ]);
}

#[test]
fn a_kind_that_was_added_overtakes_only_from_then_on() {
    Case::new("a push: 10:00 500 | lost\nb push: 10:05 200\nc push: 10:20 200\nd push: 10:32 500 | lost\ne push: 10:40 200\nf push @2: 10:35 500 | 500")
        .tick("10:15")
        .set(|settings| settings.superseded_events.push("push".into()))
        .tick("10:30 10:45 11:00")
        .check(&expect![[r#"
            10:15 a: asked for again
            10:30 a: waits: asked for, not listed yet
            10:45 a: superseded: a newer event of its kind passed (2026-12-01T10:40:00.000Z)
            10:45 d: superseded: a newer event of its kind passed (2026-12-01T10:40:00.000Z)
            10:45 f: asked for again
            11:00 f: asked for again
        "#]]);
}

#[test]
fn what_was_delivered_when_the_kind_was_added_does_not_overtake_yet() {
    Case::new("a push: 10:20 500\nb push: 10:30 200 listed 10:31")
        .tick("10:15")
        .set(|settings| settings.superseded_events.push("push".into()))
        .tick("10:30 10:45")
        .check(&expect![[r#"
            10:30 a: asked for again
            10:45 a: delivered
        "#]]);
}

#[test]
fn a_kind_that_was_taken_out_reopens_nothing_and_overtakes_no_more() {
    let case = Case::new("a issues: 10:00 500, 10:20 500\nb issues: 10:01 200\nc issues: 10:25 500\nd issues: 10:26 200");
    let case = case.add("late issues: 10:00 500 listed 10:20").tick("10:15").set(|settings| settings.superseded_events.clear());
    case.tick("10:30 10:45").check(&expect![[r#"
        10:15 a: superseded: a newer event of its kind passed (2026-12-01T10:01:00.000Z)
        10:30 c: asked for again
        10:30 late: asked for again
        10:45 c: delivered
        10:45 late: delivered
    "#]]);
}

#[test]
fn an_overtaken_event_keeps_nothing_but_its_time() {
    let case = Case::new("a issues.opened: 10:00 500, 10:20 500, 10:40 500\nb issues: 10:01 200").tick("10:15..11:00");
    let ledger = case.world.ledger();
    let kept = ledger.events.values().next().unwrap();
    assert_eq!((ledger.events.len(), kept.attempts.len(), &kept.action), (1, 1, &None));
}
