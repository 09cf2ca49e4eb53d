//! Events left behind: nothing is forgotten in silence (spec section 4).

use expect_test::expect;

use super::{Case, check, lines};

/// One ask a sweep, so that the others wait.
fn slow(history: &str) -> Case {
    Case::new(history).set(|settings| settings.max_redeliveries = 1)
}

#[test]
fn what_leaves_the_window_while_it_waits_is_left_behind_once() {
    slow("a: 10:00 500\nb: 10:01 500\nc push: 10:02 500").tick("10:15 13:01 13:15 13:30").check(&expect![[r#"
        10:15 a: asked for again
        10:15 b: waits: others come first
        10:15 c: waits: others come first
        13:01 a: delivered
        13:01 b: asked for again
        13:01 c: waits: others come first
        13:15 b: delivered
        13:15 c: left behind: it still waited when its time was over
        13:15 alarm: left behind 1 [10:02-10:02] 1 push
    "#]]);
}

#[test]
fn losses_within_an_hour_are_one_entry_and_later_ones_a_new_one() {
    slow("a: 10:00 500 | off\nb: 10:10 500 | off\nc: 10:50 500 | off\nd: 12:00 500 | off")
        .tick("10:15 13:05 13:15 13:30 13:45 14:00 14:30 15:15 77:15 85:05 87:15")
        .check(&expect![[r#"
            10:15 a: asked for again
            10:15 b: waits: others come first
            13:05 a: left behind: it still waited when its time was over
            13:05 b: asked for again
            13:05 c: waits: others come first
            13:05 d: waits: others come first
            13:05 alarm: left behind 1 [10:00-10:00] 1 issue_comment
            13:15 b: left behind: it still waited when its time was over
            13:15 c: asked for again
            13:15 d: waits: others come first
            13:15 alarm: left behind 2 [10:00-10:10] 2 issue_comment
            13:30 c: asked for again
            13:30 d: waits: others come first
            13:45 c: asked for again
            13:45 d: waits: others come first
            14:00 c: left behind: it still waited when its time was over
            14:00 d: asked for again
            14:00 alarm: left behind 3 [10:00-10:50] 3 issue_comment
            14:30 d: asked for again
            15:15 d: left behind: it still waited when its time was over
            15:15 alarm: left behind 3 [10:00-10:50] 3 issue_comment; left behind 1 [12:00-12:00] 1 issue_comment
            85:05 alarm: left behind 1 [12:00-12:00] 1 issue_comment
            87:15 alarm: none
        "#]]);
}

#[test]
fn sweeps_in_a_row_extend_the_entry() {
    let history = lines(8, |index| format!("e{index}: {}:{:02} 500 | off", 10 + index / 4, index % 4 * 15));
    slow(&history).tick("12:00 13:05..15:20").check(&expect![[r#"
        12:00 e0: asked for again
        12:00 e1: waits: others come first
        12:00 e2: waits: others come first
        12:00 e3: waits: others come first
        12:00 e4: waits: others come first
        12:00 e5: waits: others come first
        12:00 e6: waits: others come first
        12:00 e7: waits: others come first
        13:05 e0: left behind: it still waited when its time was over
        13:05 e1: asked for again
        13:05 e2: waits: others come first
        13:05 e3: waits: others come first
        13:05 e4: waits: others come first
        13:05 e5: waits: others come first
        13:05 e6: waits: others come first
        13:05 e7: waits: others come first
        13:05 alarm: left behind 1 [10:00-10:00] 1 issue_comment
        13:20 e1: left behind: it still waited when its time was over
        13:20 e2: asked for again
        13:20 e3: waits: others come first
        13:20 e4: waits: others come first
        13:20 e5: waits: others come first
        13:20 e6: waits: others come first
        13:20 e7: waits: others come first
        13:20 alarm: left behind 2 [10:00-10:15] 2 issue_comment
        13:35 e2: left behind: it still waited when its time was over
        13:35 e3: asked for again
        13:35 e4: waits: others come first
        13:35 e5: waits: others come first
        13:35 e6: waits: others come first
        13:35 e7: waits: others come first
        13:35 alarm: left behind 3 [10:00-10:30] 3 issue_comment
        13:50 e3: left behind: it still waited when its time was over
        13:50 e4: asked for again
        13:50 e5: waits: others come first
        13:50 e6: waits: others come first
        13:50 e7: waits: others come first
        13:50 alarm: left behind 4 [10:00-10:45] 4 issue_comment
        14:05 e4: left behind: it still waited when its time was over
        14:05 e5: asked for again
        14:05 e6: waits: others come first
        14:05 e7: waits: others come first
        14:05 alarm: left behind 5 [10:00-11:00] 5 issue_comment
        14:20 e5: left behind: it still waited when its time was over
        14:20 e6: asked for again
        14:20 e7: waits: others come first
        14:20 alarm: left behind 6 [10:00-11:15] 6 issue_comment
        14:35 e6: left behind: it still waited when its time was over
        14:35 e7: asked for again
        14:35 alarm: left behind 7 [10:00-11:30] 7 issue_comment
        14:50 e7: left behind: it still waited when its time was over
        14:50 alarm: left behind 8 [10:00-11:45] 8 issue_comment
    "#]]);
}

#[test]
fn an_ask_that_is_out_is_waited_for_and_then_left_behind() {
    check(
        "a: 10:00 500 | 500+5m\nb: 10:00 500 | lost",
        "12:59..14:00",
        &expect![[r#"
        12:59 a: asked for again
        12:59 b: asked for again
        13:14 a: left behind: it still waited when its time was over
        13:14 b: waits: asked for, not listed yet
        13:14 alarm: left behind 1 [10:00-10:00] 1 issue_comment
        13:29 a: left alone: its first delivery was not read
        13:29 b: left behind: it still waited when its time was over
        13:29 alarm: left behind 2 [10:00-10:00] 2 issue_comment
        13:44 a: left alone: its first delivery was not read
        13:59 a: left alone: its first delivery was not read
    "#]],
    );
}

#[test]
fn what_was_left_behind_is_neither_asked_nor_told_again_when_it_is_clicked() {
    slow("a: 10:00 500, 13:20 500 | off\nb: 10:01 500 | off").tick("10:15 13:15..13:45").check(&expect![[r#"
        10:15 a: asked for again
        10:15 b: waits: others come first
        13:15 a: left behind: it still waited when its time was over
        13:15 b: left behind: it still waited when its time was over
        13:15 alarm: left behind 2 [10:00-10:01] 2 issue_comment
        13:30 a: left alone: its first delivery was not read
        13:45 a: left alone: its first delivery was not read
    "#]]);
}

#[test]
fn what_happened_while_no_sweep_ran_is_left_behind_by_name() {
    check(
        "z: 10:00 200\na: 11:00 500\nb: 11:00 500, 11:05 200\nc: 11:00 404\nd: 11:00 500 again\ne: 11:10 200\nf: 15:00 500",
        "10:15 15:15 15:30",
        &expect![[r#"
            15:15 a: left behind: it still waited when its time was over
            15:15 b: delivered
            15:15 c: refused: the endpoint would refuse it again
            15:15 d: left alone: its first delivery was not read
            15:15 f: asked for again
            15:15 alarm: left behind 1 [11:00-11:00] 1 issue_comment
            15:30 f: delivered
        "#]],
    );
}

#[test]
fn the_first_sweep_leaves_nothing_behind() {
    check(
        "a: 05:00 500\nb: 07:14:59.999 500\nc: 07:15 0",
        "10:15 10:30",
        &expect![[r#"
        10:15 c: asked for again
        10:30 c: delivered
    "#]],
    );
}
