//! Stretches of the deliveries list that no sweep has read yet (spec sections 4 and 7).

use expect_test::expect;

use super::{Case, Fault, time};

/// Ten deliveries a page, one page a sweep: a quarter hour with more leaves a gap, and no call is left to read it.
fn starved(history: &str) -> Case {
    starved_from_the_first_sweep_on(history).traffic("09:00", "09:40", 2)
}

fn starved_from_the_first_sweep_on(history: &str) -> Case {
    Case::new(history).page_of(10).set(|settings| {
        settings.delivery_pages = 1;
        settings.subrequest_limit = 24;
    })
}

/// From now on there are calls for gaps.
fn fed(case: Case) -> Case {
    case.set(|settings| settings.subrequest_limit = 50)
}

#[test]
fn thirteen_hundred_deliveries_between_two_ticks_are_read_back_to_the_cursor() {
    let case =
        Case::new("a issues: 10:16 0\nb: 10:17 500").traffic("10:00", "10:15", 100).traffic("10:15", "10:30", 1300).tick("10:15").ground();
    let mut case = case.tick("10:30").ground();
    let swept = case.world.sweep(time("10:45"), Fault::None).unwrap();
    assert!(swept.second_look_complete);
    assert_eq!(swept.pages, [1, 5, 0], "five minutes of the busy quarter hour are read once more");
    case.check(&expect![[r#"
        ground: cursor 10:15:00.692, watched since 07:15, gaps []
        10:30 a: asked for again
        10:30 b: asked for again
        ground: cursor 10:29:59.307, watched since 07:15, gaps []
    "#]]);
}

#[test]
fn three_thousand_leave_a_gap_that_later_sweeps_read_to_the_end() {
    Case::new("a issues: 10:16 500\nb issues: 10:17 200\nc issues @2: 10:18 500\nd: 10:16 500\nhidden: 10:16 0")
        .traffic("10:00", "10:15", 100)
        .traffic("10:15", "10:30", 3000)
        .tick("10:15 10:30")
        .ground()
        .tick("10:45")
        .ground()
        .tick("11:00")
        .ground()
        .check(&expect![[r#"
            10:30 a: waits: an unread gap could hold what settles it
            10:30 c: waits: an unread gap could hold what settles it
            10:30 d: asked for again
            ground: cursor 10:29:59.700, watched since 07:15, gaps [10:15:00.900-10:20]
            10:45 a: superseded: a newer event of its kind passed (2026-12-01T10:17:00.000Z)
            10:45 c: asked for again
            10:45 d: delivered
            10:45 hidden: asked for again
            ground: cursor 10:30:06, watched since 07:15, gaps []
            11:00 c: delivered
            11:00 hidden: delivered
            ground: cursor 10:45:06, watched since 07:15, gaps []
        "#]]);
}

#[test]
fn five_thousand_leave_a_gap_that_later_sweeps_read_to_the_end() {
    Case::new("a issues: 10:16 500\nb issues: 10:17 200\nc issues @2: 10:18 500\nd: 10:16 500\nhidden: 10:16 0")
        .traffic("10:00", "10:15", 100)
        .traffic("10:15", "10:30", 5000)
        .tick("10:15 10:30")
        .ground()
        .tick("10:45..11:45")
        .ground()
        .tick("12:00")
        .check(&expect![[r#"
            10:30 a: waits: an unread gap could hold what settles it
            10:30 c: waits: an unread gap could hold what settles it
            10:30 d: asked for again
            ground: cursor 10:29:59.820, watched since 07:15, gaps [10:15:00.900-10:24]
            10:45 a: waits: an unread gap could hold what settles it
            10:45 c: waits: an unread gap could hold what settles it
            10:45 d: delivered
            11:00 a: waits: an unread gap could hold what settles it
            11:00 c: waits: an unread gap could hold what settles it
            11:15 a: superseded: a newer event of its kind passed (2026-12-01T10:17:00.000Z)
            11:15 c: asked for again
            11:15 hidden: asked for again
            11:30 c: delivered
            11:30 hidden: delivered
            ground: cursor 11:15:06, watched since 07:15, gaps []
        "#]]);
}

#[test]
fn what_can_be_overtaken_waits_for_a_gap_until_thirty_minutes_before_it_leaves_the_window() {
    starved("a issues: 10:05 500\nb: 10:05 500\nnone issues @null: 10:05 500")
        .traffic("10:06", "10:14", 30)
        .tick("10:00")
        .tick("10:15 12:30 12:45 13:00")
        .check(&expect![[r#"
            10:15 a: waits: an unread gap could hold what settles it
            10:15 b: asked for again
            10:15 none: asked for again
            12:30 a: waits: an unread gap could hold what settles it
            12:30 b: delivered
            12:30 none: delivered
            12:45 a: asked for again
            13:00 a: delivered
        "#]]);
}

#[test]
fn the_wait_ends_when_the_gap_is_read() {
    let case =
        starved("a issues: 10:05 500\nb issues: 10:07 200\nc issues @2: 10:05 500").traffic("10:06", "10:14", 30).tick("10:00 10:15");
    fed(case).tick("10:30..11:15").ground().check(&expect![[r#"
        10:15 a: waits: an unread gap could hold what settles it
        10:15 c: waits: an unread gap could hold what settles it
        10:30 a: waits: an unread gap could hold what settles it
        10:30 c: waits: an unread gap could hold what settles it
        10:45 a: superseded: a newer event of its kind passed (2026-12-01T10:07:00.000Z)
        10:45 c: waits: an unread gap could hold what settles it
        11:00 c: asked for again
        11:15 c: delivered
        ground: cursor 11:00:06, watched since 07:00, gaps []
    "#]]);
}

#[test]
fn what_is_newer_than_the_gap_does_not_wait() {
    starved("a issues: 10:14:30 500").traffic("10:06", "10:14", 30).tick("10:00").tick("10:15").ground().check(&expect![[r#"
        10:15 a: asked for again
        ground: cursor 10:14:30, watched since 07:00, gaps [09:20-10:11:36]
    "#]]);
}

#[test]
fn an_ask_is_not_lost_while_a_gap_could_hold_its_attempt() {
    // The attempt passed at 10:05:06, in the ground that the second sweep does not reach.
    let case = starved("a: 09:50 500").tick("10:05").traffic("10:05:01", "10:15", 30).tick("10:15..11:15").ground();
    fed(case).tick("11:30..12:00").ground().check(&expect![[r#"
        10:05 a: asked for again
        10:15 a: waits: asked for, not listed yet
        10:30 a: waits: asked for, not listed yet
        10:45 a: waits: asked for, not listed yet
        11:00 a: waits: asked for, not listed yet
        11:15 a: waits: asked for, not listed yet
        ground: cursor 10:14:40.033, watched since 07:05, gaps [09:50-10:11:40.333]
        11:30 a: waits: asked for, not listed yet
        11:45 a: delivered
        ground: cursor 10:14:40.033, watched since 07:05, gaps []
    "#]]);
}

#[test]
fn an_ask_that_a_gap_could_hold_waits_no_longer_than_thirty_minutes_before_the_window_ends() {
    starved("a: 09:50 500 | lost").tick("10:05").traffic("10:05:10", "10:15", 30).tick("10:15 12:15 12:30 12:45 13:00").check(&expect![[
        r#"
        10:05 a: asked for again
        10:15 a: waits: asked for, not listed yet
        12:15 a: waits: asked for, not listed yet
        12:30 a: asked for again
        12:45 a: waits: asked for, not listed yet
        13:00 a: gave up: its last attempt failed
        13:00 alarm: a gave up
    "#
    ]]);
}

#[test]
fn a_gap_that_the_window_leaves_behind_is_a_lost_stretch() {
    starved("").traffic("10:00", "10:14", 30).tick("10:00 10:15").ground().tick("13:00 13:15").ground().tick("85:00 85:15").check(
        &expect![[r#"
        ground: cursor 10:13:32, watched since 07:00, gaps [10:00-10:09:20]
        13:15 alarm: gap lost 1 [10:00-10:09:20]
        ground: cursor 10:13:32, watched since 07:00, gaps []
        85:15 alarm: none
    "#]],
    );
}

#[test]
fn a_gap_whose_page_cursor_is_refused_is_a_lost_stretch() {
    let mut case = starved("").traffic("10:00", "10:14", 30).tick("10:00 10:15").ground();
    case.world.github.takes_old_cursors = false;
    fed(case).tick("10:30").ground().check(&expect![[r#"
        ground: cursor 10:13:32, watched since 07:00, gaps [10:00-10:09:20]
        10:30 alarm: gap lost 1 [10:00-10:09:20]
        ground: cursor 10:13:32, watched since 07:00, gaps []
    "#]]);
}

#[test]
fn gaps_lost_by_consecutive_sweeps_are_one_entry() {
    let case = starved("").tick("10:00");
    let case = ["10:00", "10:15", "10:30"].iter().fold(case, |case, from| {
        let to = super::clock(time(from) + super::minutes(14));
        let tick = super::clock(time(from) + super::minutes(15));
        case.traffic(from, &to, 30).tick(&tick)
    });
    case.ground().tick("13:00..14:00").check(&expect![[r#"
        ground: cursor 10:43:32, watched since 07:00, gaps [10:28:32-10:39:20, 10:13:32-10:24:20, 09:20-10:09:20]
        13:15 alarm: gap lost 1 [09:20-10:09:20]
        13:30 alarm: gap lost 2 [09:20-10:24:20]
        13:45 alarm: gap lost 3 [09:20-10:39:20]
    "#]]);
}

#[test]
fn what_a_gap_held_from_before_the_window_is_left_behind_by_name() {
    // The list shows the time-out only where the gap is read, when its time is over.
    let case = starved("a: 10:05:30 0\nb: 10:06 200\nc: 10:05:30 0, 10:07 200").traffic("10:04", "10:14", 30).tick("10:00 10:15 13:00");
    fed(case).set(|settings| settings.delivery_pages = 5).tick("13:06 13:15").ground().check(&expect![[r#"
        13:06 a: left behind: it still waited when its time was over
        13:06 c: delivered
        13:06 alarm: left behind 1 [10:05:30-10:05:30] 1 issue_comment; gap lost 1 [09:20-10:05:20]
        ground: cursor 10:13:40, watched since 07:00, gaps []
    "#]]);
}

#[test]
fn what_was_forgotten_is_not_taken_up_again_where_a_page_goes_beyond_the_gap() {
    // The gap's last page shows `a` again, which was left behind long ago.
    let case = starved("a: 09:59 500 | unknown").tick("10:00").traffic("10:01", "10:14", 30).tick("10:15 10:30..13:00");
    fed(case).set(|settings| settings.delivery_pages = 5).tick("13:01 13:15").ground().check(&expect![[r#"
        10:00 a: asked for again
        10:15 a: waits: asked for, not listed yet
        10:30 a: waits: asked for, not listed yet
        10:45 a: waits: asked for, not listed yet
        11:00 a: waits: asked for, not listed yet
        11:15 a: waits: asked for, not listed yet
        11:30 a: waits: asked for, not listed yet
        11:45 a: waits: asked for, not listed yet
        12:00 a: waits: asked for, not listed yet
        12:15 a: waits: asked for, not listed yet
        12:30 a: asked for again
        12:45 a: waits: asked for, not listed yet
        13:00 a: left behind: it still waited when its time was over
        13:00 alarm: left behind 1 [09:59-09:59] 1 issue_comment
        ground: cursor 10:13:34, watched since 07:00, gaps []
    "#]]);
}

#[test]
fn the_newest_gap_is_read_first() {
    let case = starved("").tick("10:00").traffic("10:00", "10:14", 35).tick("10:15").traffic("10:15", "10:29", 35).tick("10:30").ground();
    fed(case).tick("10:45").ground().tick("11:00").ground().tick("11:15..12:00").ground().check(&expect![[r#"
        ground: cursor 10:28:36, watched since 07:00, gaps [10:13:36-10:25, 09:20-10:10]
        ground: cursor 10:28:36, watched since 07:00, gaps [10:13:36-10:21, 09:20-10:10]
        ground: cursor 10:28:36, watched since 07:00, gaps [10:13:36-10:17, 09:20-10:10]
        ground: cursor 10:28:36, watched since 07:00, gaps []
    "#]]);
}

#[test]
fn the_gap_of_a_first_sweep_is_read_later_and_makes_no_entry() {
    let case = starved_from_the_first_sweep_on("a issues: 07:20 0").traffic("07:16", "10:14", 30).tick("10:15").ground();
    fed(case).tick("10:20").ground().tick("10:25").ground().tick("10:30").ground().check(&expect![[r#"
        ground: cursor 10:08:04, watched since 09:14:40, gaps [07:15-09:14:40]
        ground: cursor 10:08:04, watched since 08:15:20, gaps [07:15-08:15:20]
        ground: cursor 10:08:04, watched since 07:20, gaps []
        ground: cursor 10:08:04, watched since 07:20, gaps []
    "#]]);
}

#[test]
fn the_gap_of_a_first_sweep_that_the_window_leaves_behind_makes_no_entry() {
    let case = starved_from_the_first_sweep_on("a issues: 07:20 0")
        .traffic("07:16", "10:14", 30)
        .tick("10:15")
        .ground()
        .tick("12:00 14:00")
        .ground();
    case.check(&expect![[r#"
        ground: cursor 10:08:04, watched since 09:14:40, gaps [07:15-09:14:40]
        ground: cursor 10:08:04, watched since 09:14:40, gaps []
    "#]]);
}

#[test]
fn the_gap_of_a_first_sweep_that_ends_with_the_list_was_watched_all_along() {
    let case = starved_from_the_first_sweep_on("").traffic("08:00", "10:14", 15).tick("10:15").ground();
    fed(case).tick("10:20").ground().check(&expect![[r#"
        ground: cursor 10:05:04, watched since 08:44:40, gaps [07:15-08:44:40]
        ground: cursor 10:05:04, watched since 07:15, gaps []
    "#]]);
}

#[test]
fn what_was_left_behind_in_a_gap_is_told_once_though_the_gap_is_read_later() {
    let case = starved("a issues: 10:05:30 500").traffic("10:04", "10:14", 30).tick("10:00 10:15 13:06");
    fed(case).set(|settings| settings.delivery_pages = 5).tick("13:07 13:15").check(&expect![[r#"
        10:15 a: waits: an unread gap could hold what settles it
        13:06 a: left behind: it still waited when its time was over
        13:06 alarm: left behind 1 [10:05:30-10:05:30] 1 issues
        13:07 alarm: left behind 1 [10:05:30-10:05:30] 1 issues; gap lost 1 [09:20-10:04:20]
    "#]]);
}

#[test]
fn what_passed_is_not_left_behind_when_its_gap_is_read_later() {
    let case = starved("a: 10:05:30 500").traffic("10:04", "10:14", 30).tick("10:00 10:15 10:30");
    let case = case.traffic("12:30", "12:45", 8).tick("12:46").traffic("12:55", "13:05", 9).tick("13:06");
    fed(case).set(|settings| settings.delivery_pages = 5).tick("13:07 13:15").check(&expect![[r#"
        10:15 a: asked for again
        10:30 a: delivered
        13:07 alarm: gap lost 1 [09:20-10:04:20]
    "#]]);
}

#[test]
fn a_gap_of_an_app_whose_first_sweep_found_nothing_is_an_entry_when_it_is_lost() {
    let case = Case::new("").page_of(10).set(|settings| {
        settings.delivery_pages = 1;
        settings.subrequest_limit = 24;
    });
    case.tick("10:00").traffic("10:01", "10:14", 30).tick("10:15").ground().tick("13:30").ground().check(&expect![[r#"
        ground: cursor 10:13:34, watched since 07:00, gaps [10:00:01-10:09:40]
        13:30 alarm: gap lost 1 [10:00:01-10:09:40]
        ground: cursor 10:13:34, watched since 07:00, gaps []
    "#]]);
}

#[test]
fn an_ask_newer_than_the_gap_is_lost_though_the_gap_is_unread() {
    let case = starved("a: 10:05:30 500, 10:13:50 500 | lost").traffic("10:04", "10:14", 30);
    case.tick("10:00 10:15 10:45").ground().check(&expect![[r#"
        10:15 a: asked for again
        10:45 a: gave up: its last attempt failed
        10:45 alarm: a gave up
        ground: cursor 10:13:50, watched since 07:00, gaps [09:20-10:11]
    "#]]);
}

#[test]
fn an_event_whose_first_delivery_a_gap_held_overtakes_once_that_is_read() {
    let case = starved("a issues: 10:04:30 500\nx issues: 10:06 0, 10:13:30 200").traffic("10:04", "10:14", 30);
    fed(case.tick("10:00 10:15")).set(|settings| settings.delivery_pages = 5).tick("10:30").check(&expect![[r#"
        10:15 a: waits: an unread gap could hold what settles it
        10:15 x: delivered
        10:30 a: superseded: a newer event of its kind passed (2026-12-01T10:06:00.000Z)
    "#]]);
}
