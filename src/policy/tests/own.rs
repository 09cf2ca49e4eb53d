//! Our own `issues` events of the control repository (spec section 8).

use expect_test::expect;

use super::{Case, time};
use crate::policy::event::Fate;
use crate::policy::own::Write;

impl Case {
    /// We wrote an issue of repository 7.
    fn wrote(mut self, at: &str) -> Self {
        let mut ledger = self.world.ledger();
        ledger.own.wrote(Write { repository_id: 7, at: time(at) });
        self.world.save(&ledger);
        self.world.oracle.settings_changed = true;
        self
    }
}

#[test]
fn our_own_event_is_never_asked_for_again_and_never_an_entry() {
    let own = "own issues.edited @7: 10:15:08.500 500, 10:40 500, 10:50 500";
    Case::new("a: 10:00 200").tick("10:15").wrote("10:15:08").add(own).tick("10:30..11:30").check(&expect![[r#"
        10:30 own: left alone: our own write of the issue made it
    "#]]);
}

#[test]
fn only_one_event_for_each_write_the_nearest_in_time() {
    let case = Case::new("").tick("10:15").wrote("10:15:08");
    let case = case.add("person issues.labeled @7: 10:15:30 500\nown issues.edited @7: 10:15:09 500\nlater issues @7: 10:17:09 500");
    case.tick("10:30").check(&expect![[r#"
        10:30 later: asked for again
        10:30 own: left alone: our own write of the issue made it
        10:30 person: asked for again
    "#]]);
}

#[test]
fn an_event_of_another_repository_or_another_kind_is_not_ours() {
    let case = Case::new("").tick("10:15").wrote("10:15:08");
    case.add("a issues.edited @8: 10:15:09 500\nb issue_comment @7: 10:15:09 500").tick("10:30").check(&expect![[r#"
        10:30 a: asked for again
        10:30 b: asked for again
    "#]]);
}

#[test]
fn our_own_event_overtakes_nothing_and_the_next_one_does() {
    let case = Case::new("old issues.opened @7: 10:10 500 | off").tick("10:15").wrote("10:15:08");
    let case = case.add("own issues.edited @7: 10:15:09 200").tick("10:30");
    let case = case.add("person issues.closed @7: 10:31 200").tick("10:45");
    case.check(&expect![[r#"
        10:15 old: asked for again
        10:30 old: asked for again
        10:45 old: superseded: a newer event of its kind passed (2026-12-01T10:31:00.000Z)
    "#]]);
}

#[test]
fn a_persons_event_beside_ours_overtakes() {
    let case = Case::new("old issues.opened @7: 10:10 500 | off").tick("10:15").wrote("10:15:08");
    case.add("own issues.edited @7: 10:15:09 200\nperson issues.closed @7: 10:15:40 200").tick("10:30").check(&expect![[r#"
        10:15 old: asked for again
        10:30 old: superseded: a newer event of its kind passed (2026-12-01T10:15:40.000Z)
    "#]]);
}

#[test]
fn our_own_event_that_passes_late_overtakes_nothing_either() {
    let case = Case::new("old issues.opened @7: 10:10 500 | lost").tick("10:15").wrote("10:15:08");
    case.add("own issues.edited @7: 10:15:09 500, 10:35 200").tick("10:30..11:00").check(&expect![[r#"
        10:15 old: asked for again
        10:30 old: waits: asked for, not listed yet
        10:30 own: left alone: our own write of the issue made it
        10:45 old: asked for again
        11:00 old: waits: asked for, not listed yet
    "#]]);
}

#[test]
fn an_event_that_was_taken_for_ours_is_anybodys_again_when_a_nearer_one_is_listed() {
    let case = Case::new("").tick("10:15").wrote("10:15:08").add("person issues.edited @7: 10:16 500, 10:20 500");
    case.add("own issues.edited @7: 10:15:09 500 listed 10:31").tick("10:30..11:00").check(&expect![[r#"
        10:30 person: left alone: our own write of the issue made it
        10:45 own: left alone: our own write of the issue made it
        10:45 person: asked for again
        11:00 person: delivered
    "#]]);
}

#[test]
fn it_stays_ours_until_nothing_lists_it_any_more() {
    let case = Case::new("").set(|settings| settings.window = super::minutes(72 * 60)).tick("10:15").wrote("10:15:08");
    let case = case.add("own issues.edited @7: 10:15:09 500").tick("10:30 40:00 82:00 82:15 82:30 83:00");
    assert!(case.world.ledger().events.values().all(|event| event.fate == Fate::Own));
    case.check(&expect![[r#"
        10:30 own: left alone: our own write of the issue made it
    "#]]);
}
