//! The stored form. A change of these snapshots needs a thought about the states that are out there.

use expect_test::{expect, expect_file};

use super::{Case, World, time};
use crate::policy::ledger::{Ledger, add_loss};

#[test]
fn the_stored_form_is_pinned() {
    let case = Case::new(
        "
        a: 10:00 500 | lost
        b issues.opened @7: 10:01 500, 10:02 0, 10:03 500
        c: 10:01 500 | refuse 404
        d issues @7: 10:04 200
        e push @null: 10:05 0 again
        f push: 10:06 500, 10:07 200
        g issues @7: 10:01 500
        h status: 10:08 500 | off
        i issues @8: 10:13 200
        ",
    );
    let case = case.traffic("10:09", "10:14", 20).page_of(10).set(|settings| {
        settings.delivery_pages = 2;
        settings.subrequest_limit = 25;
        settings.superseded_events = vec!["issues".into()];
        settings.ignored_events = vec!["status".into()];
    });
    let case = case.tick("10:15").set(|settings| settings.ignored_events.clear()).tick("10:30");
    let mut ledger = case.world.ledger();
    for (name, at) in [("push", "10:00"), ("push", "10:01"), ("status", "09:59")] {
        add_loss(&mut ledger.left_behind, (time(at), time(at)), Some(&name.into()), time("10:30"), None);
    }
    add_loss(&mut ledger.gaps_lost, (time("08:00"), time("08:10")), None, time("10:30"), None);
    let pretty = serde_json::to_string_pretty(&ledger).unwrap();
    expect_file!["stored.json"].assert_eq(&pretty);
}

#[test]
fn a_state_of_the_first_version_without_its_optional_parts_is_read() {
    let stored = r#"{"swept_at":null,"ground":{"cursor":null,"gaps":[],"watched_since":null,"window_start":0,"whole_seconds_at":null},
        "overtakers":{"since":{},"newest":[]},"ignored":{},"events":[],"left_behind":[],"gaps_lost":[]}"#;
    assert_eq!(serde_json::from_str::<Ledger>(stored).unwrap(), Ledger::default());
}

#[test]
fn a_lost_state_loses_speed_and_nothing_else() {
    let history = "a: 10:00 500, 10:16 500\nb: 10:01 500 | 500, 200\nc issues: 10:02 500\nd issues: 10:03 200\ne: 10:04 500, 10:05 200";
    let mut case = Case::new(history).tick("10:15");
    case.world = World { saved: String::new(), ..case.world };
    case.tick("10:30 10:45").check(&expect![[r#"
        10:15 a: asked for again
        10:15 b: asked for again
        10:15 c: superseded: a newer event of its kind passed (2026-12-01T10:03:00.000Z)
        10:15 e: delivered
        10:30 a: delivered
        10:30 b: asked for again
        10:30 c: superseded: a newer event of its kind passed (2026-12-01T10:03:00.000Z)
        10:30 e: delivered
        10:45 b: delivered
    "#]]);
}
