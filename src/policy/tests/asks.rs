//! What becomes of an ask (spec section 4).

use expect_test::expect;

use super::{Case, check};

#[test]
fn an_ask_is_shown_by_a_later_attempt() {
    check(
        "a: 10:00 500 | 500, 200",
        "10:15..11:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: asked for again
        10:45 a: delivered
    "#]],
    );
}

#[test]
fn an_ask_that_is_shown_late_is_waited_for() {
    check(
        "a: 10:00 500 | 500+20m, 200",
        "10:15..11:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: delivered
    "#]],
    );
}

#[test]
fn an_ask_is_lost_after_thirty_minutes() {
    check(
        "a: 10:00 500 | lost, 200",
        "10:15 10:44:59 10:45 11:00",
        &expect![[r#"
        10:15 a: asked for again
        10:44:59 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: delivered
    "#]],
    );
}

#[test]
fn a_lost_ask_that_github_took_counts() {
    check(
        "a: 10:00 500 | lost, 500",
        "10:15..11:30",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: waits: asked for, not listed yet
        11:15 a: gave up: its last attempt failed
        11:15 alarm: a gave up
    "#]],
    );
}

#[test]
fn a_lost_ask_counts_only_until_an_attempt_takes_its_place() {
    // The first ask is listed when it was lost already: the second attempt is its, the third the second ask's.
    check(
        "a: 10:00 500 | 500+40m, 200",
        "10:15..11:30",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: delivered
    "#]],
    );
}

#[test]
fn all_asks_lost_is_giving_up() {
    check(
        "a: 10:00 500 | lost",
        "10:15..12:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: waits: asked for, not listed yet
        11:15 a: gave up: its last attempt failed
        11:15 alarm: a gave up
    "#]],
    );
}

#[test]
fn an_ask_whose_answer_is_not_known_is_struck() {
    check(
        "a: 10:00 500 | unknown, 500, 200",
        "10:15..11:30",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: asked for again
        11:15 a: delivered
    "#]],
    );
}

#[test]
fn an_ask_whose_answer_is_not_known_may_have_been_taken() {
    check(
        "a: 10:00 500 | unknown 500, unknown 200",
        "10:15..11:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: asked for again
        10:45 a: delivered
    "#]],
    );
}

#[test]
fn three_asks_in_a_row_that_do_not_show_are_an_answer() {
    check(
        "a: 10:00 500 | unknown",
        "10:15..13:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: waits: asked for, not listed yet
        11:15 a: asked for again
        11:30 a: waits: asked for, not listed yet
        11:45 a: GitHub will not redeliver it
        11:45 alarm: a never delivered
    "#]],
    );
}

#[test]
fn lost_and_struck_asks_make_up_the_three() {
    Case::new("a: 10:00 500 | unknown, lost, unknown").set(|settings| settings.max_attempts = 10).tick("10:15..12:00").check(&expect![[
        r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: waits: asked for, not listed yet
        11:15 a: asked for again
        11:30 a: waits: asked for, not listed yet
        11:45 a: GitHub will not redeliver it
        11:45 alarm: a never delivered
    "#
    ]]);
}

#[test]
fn an_attempt_between_ends_the_row() {
    Case::new("a: 10:00 500 | unknown, unknown, 500, unknown, unknown, 200")
        .set(|settings| settings.max_attempts = 10)
        .tick("10:15..13:00")
        .check(&expect![[r#"
            10:15 a: asked for again
            10:30 a: waits: asked for, not listed yet
            10:45 a: asked for again
            11:00 a: waits: asked for, not listed yet
            11:15 a: asked for again
            11:30 a: asked for again
            11:45 a: waits: asked for, not listed yet
            12:00 a: asked for again
            12:15 a: waits: asked for, not listed yet
            12:30 a: asked for again
            12:45 a: delivered
        "#]]);
}

#[test]
fn what_github_never_delivers_leaves_the_alarm_when_a_click_passes() {
    check(
        "a: 10:00 500, 13:00 200 | unknown",
        "10:15..13:15",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: waits: asked for, not listed yet
        11:15 a: asked for again
        11:30 a: waits: asked for, not listed yet
        11:45 a: GitHub will not redeliver it
        11:45 alarm: a never delivered
        13:00 a: delivered
        13:00 alarm: none
    "#]],
    );
}

#[test]
fn a_click_shows_an_ask_one_to_one() {
    check(
        "a: 10:00 500, 10:20 500 | lost, 200",
        "10:15..11:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: asked for again
        10:45 a: delivered
    "#]],
    );
}

#[test]
fn an_answer_that_github_will_not_redeliver_is_an_entry_and_the_others_go_on() {
    check(
        "
        a: 10:00 500 | refuse 404
        b: 10:01 500 | refuse 400
        c: 10:02 500 | refuse 410
        d: 10:03 500 | refuse 422
        e: 10:04 500 | refuse 403
        f: 10:05 500 | 200
        ",
        "10:15 10:30 82:00 82:15",
        &expect![[r#"
            10:15 a: asked for again
            10:15 b: asked for again
            10:15 c: asked for again
            10:15 d: asked for again
            10:15 e: asked for again
            10:15 f: asked for again
            10:15 alarm: a not redeliverable (404); b not redeliverable (400); c not redeliverable (410); d not redeliverable (422); e not redeliverable (403)
            10:30 f: delivered
            82:00 alarm: b not redeliverable (400); c not redeliverable (410); d not redeliverable (422); e not redeliverable (403)
            82:15 alarm: none
        "#]],
    );
}

#[test]
fn an_ask_that_was_turned_away_is_struck_at_once() {
    check(
        "a: 10:00 500 | off, off, off, off, 200",
        "10:15..11:30",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: asked for again
        10:45 a: asked for again
        11:00 a: asked for again
        11:15 a: asked for again
        11:30 a: delivered
    "#]],
    );
}

#[test]
fn killed_between_the_save_and_the_asks_nothing_is_asked_twice_at_once() {
    check(
        "a: 10:00 500 | 200",
        "10:15!crash 10:30 10:45 11:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: delivered
    "#]],
    );
}

#[test]
fn killed_after_the_asks_their_attempts_show_them() {
    check(
        "a: 10:00 500 | 500+20m, 200",
        "10:15!late 10:30..11:00",
        &expect![[r#"
        10:15 a: asked for again
        10:30 a: waits: asked for, not listed yet
        10:45 a: asked for again
        11:00 a: delivered
    "#]],
    );
}

#[test]
fn the_third_attempt_may_be_an_ask_that_is_still_out_when_the_window_has_left_the_event() {
    check(
        "a: 10:00 500 | 500, 500+20m\nb: 10:00 500 | 500, 200+20m",
        "10:15 13:00..13:30",
        &expect![[r#"
        10:15 a: asked for again
        10:15 b: asked for again
        13:00 a: asked for again
        13:00 b: asked for again
        13:15 a: waits: asked for, not listed yet
        13:15 b: waits: asked for, not listed yet
        13:30 a: gave up: its last attempt failed
        13:30 b: delivered
        13:30 alarm: a gave up
    "#]],
    );
}
