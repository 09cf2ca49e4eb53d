//! Changed settings apply to what is decided after them and reopen nothing (spec section 11).

use expect_test::expect;

use super::{Case, time};
use crate::policy::delivery::{DeliveryId, Position};
use crate::policy::ledger::{Ledger, NoRoom};
use crate::policy::settings::Settings;

#[test]
fn max_attempts_lowered_applies_and_raised_reopens_nothing() {
    Case::new("a: 10:00 500 | 500\nb: 10:20 500 | 500")
        .tick("10:15")
        .set(|settings| settings.max_attempts = 2)
        .tick("10:30 10:45")
        .set(|settings| settings.max_attempts = 5)
        .tick("11:00..11:30")
        .check(&expect![[r#"
            10:15 a: asked for again
            10:30 a: gave up: its last attempt failed
            10:30 b: asked for again
            10:30 alarm: a gave up
            10:45 b: gave up: its last attempt failed
            10:45 alarm: a gave up; b gave up
        "#]]);
}

#[test]
fn a_name_ignored_from_now_on_takes_its_entries_out() {
    Case::new("a push: 10:00 500, 10:01 500, 10:02 500\nb push: 10:00 500 | 500\nc: 10:00 500, 10:01 500, 10:02 500")
        .tick("10:15")
        .set(|settings| settings.ignored_events = vec!["push".into()])
        .tick("10:30 10:45")
        .check(&expect![[r#"
            10:15 a: gave up: its last attempt failed
            10:15 b: asked for again
            10:15 c: gave up: its last attempt failed
            10:15 alarm: a gave up; c gave up
            10:30 b: ignored by IGNORED_EVENTS
            10:30 alarm: c gave up
        "#]]);
}

#[test]
fn a_name_no_longer_ignored_reopens_nothing() {
    Case::new("a push: 10:00 500\nb push: 10:25 500\nc push: 10:31 500 | 500")
        .set(|settings| settings.ignored_events = vec!["push".into()])
        .tick("10:15")
        .set(|settings| settings.ignored_events.clear())
        .tick("10:30..11:15 14:00")
        .check(&expect![[r#"
            10:15 a: ignored by IGNORED_EVENTS
            10:30 b: ignored by IGNORED_EVENTS
            10:45 c: asked for again
            11:00 c: asked for again
            11:15 c: gave up: its last attempt failed
            11:15 alarm: c gave up
        "#]]);
}

#[test]
fn what_was_ignored_once_is_never_told_as_left_behind() {
    // The sweeps stop for so long that the event and the change leave the window at once.
    Case::new("a push: 10:20 500")
        .set(|settings| settings.ignored_events = vec!["push".into()])
        .tick("10:30")
        .set(|settings| settings.ignored_events.clear())
        .tick("10:45 15:00 15:15")
        .check(&expect![[r#"
            10:30 a: ignored by IGNORED_EVENTS
        "#]]);
}

#[test]
fn retry_status_applies_to_what_is_read_after_it() {
    Case::new("a: 10:00 429\nb: 10:20 429\nc: 10:20 408")
        .tick("10:15")
        .set(|settings| settings.retry_status = vec![429])
        .tick("10:30 10:45")
        .check(&expect![[r#"
            10:15 a: refused: the endpoint would refuse it again
            10:30 a: refused: the endpoint would refuse it again
            10:30 b: asked for again
            10:30 c: refused: the endpoint would refuse it again
            10:45 a: refused: the endpoint would refuse it again
            10:45 b: delivered
            10:45 c: refused: the endpoint would refuse it again
        "#]]);
}

#[test]
fn a_wider_window_reopens_nothing() {
    Case::new("a: 06:00 500\nb: 10:00 500 | off\nc: 10:00 500 | off")
        .tick("10:15 13:15")
        .set(|settings| settings.window = super::minutes(72 * 60))
        .tick("13:30 13:45")
        .check(&expect![[r#"
            10:15 b: asked for again
            10:15 c: asked for again
            13:15 b: left behind: it still waited when its time was over
            13:15 c: left behind: it still waited when its time was over
            13:15 alarm: left behind 2 [10:00-10:00] 2 issue_comment
        "#]]);
}

#[test]
fn a_narrower_window_leaves_behind_what_waited() {
    Case::new("a: 09:00 500 | off\nb: 10:00 500 | off, 200")
        .tick("10:15")
        .set(|settings| settings.window = super::minutes(60))
        .tick("10:30 10:45")
        .check(&expect![[r#"
            10:15 a: asked for again
            10:15 b: asked for again
            10:30 a: left behind: it still waited when its time was over
            10:30 b: asked for again
            10:30 alarm: left behind 1 [09:00-09:00] 1 issue_comment
            10:45 b: delivered
        "#]]);
}

#[test]
fn a_change_that_a_wrong_clock_saw_holds_from_now_on() {
    let (now, far, soon) = (time("10:00"), time("8760:00"), time("10:10"));
    let at = |at| Position { at, id: DeliveryId(1) };
    let mut settings = Settings { ignored_events: vec!["status".into()], ..Settings::default() };
    let mut ledger = Ledger::default();
    ledger.apply(&settings, now);
    ledger.ground.cursor = Some(at(now));
    settings.ignored_events.clear();
    settings.superseded_events.push("push".into());
    // The clock of this sweep was a year ahead.
    ledger.apply(&settings, far);
    ledger.no_room = NoRoom { overtakable: Some(at(far)), any: Some(at(far)) };
    ledger.overtakers.passed(&"issues".into(), Some(1), at(far));
    ledger.swept_at = Some(far);
    ledger.move_to(now);
    ledger.apply(&settings, now);
    ledger.overtakers.passed(&"push".into(), Some(1), at(soon));
    assert!(!ledger.ignores("status", at(soon)) && ledger.ignores("status", at(now)));
    assert!(ledger.overtakers.overtaking(&"push".into(), Some(1), at(now)).is_some());
    assert!(ledger.overtakers.overtaking(&"issues".into(), Some(1), at(soon)).is_none());
    assert!(!ledger.has_no_room(true, at(soon)) && ledger.has_no_room(false, at(now)));
    assert_eq!(ledger.swept_at, Some(now));
}
