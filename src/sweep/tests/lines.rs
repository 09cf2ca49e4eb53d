//! The lines of the log, whose field names are pinned.
#![allow(clippy::needless_raw_string_hashes, reason = "expect-test writes them so")]

use expect_test::expect;
use serde_json::Value;

use crate::sweep::report::Line;

use super::world::Outside;

/// All field names, nested ones with a dot.
fn names(value: &Value, prefix: &str, into: &mut Vec<String>) {
    if let Value::Object(fields) = value {
        for (name, value) in fields {
            into.push(format!("{prefix}{name}"));
            names(value, &format!("{prefix}{name}."), into);
        }
    }
}

#[test]
fn the_fields_of_the_sweep_line() {
    let outside = Outside::new("a: 10:01 500");
    let report = outside.tick("10:15").expect("it ends");
    let mut found = Vec::new();
    names(&serde_json::to_value(&report).expect("a report is plain data"), "", &mut found);
    expect![[r#"
        alarm_entries
        app
        attempts_not_counted
        call_limit
        calls
        channels_lost
        cursor
        cursor.at
        cursor.id
        deliveries
        deliveries_list
        deliveries_list.complete
        deliveries_list.pages
        deliveries_list.reached
        duration_ms
        ending
        events
        events.gave_up
        events.ignored
        events.left_behind
        events.not_redeliverable
        events.own
        events.recovered
        events.redelivered
        events.refused
        events.superseded
        events.uncountable
        events.waiting
        failed
        failure
        failures_in_a_row
        failures_list
        failures_list.complete
        failures_list.pages
        failures_list.reached
        gap_pages
        gaps
        killed_in_a_row
        message
        newest_gap
        scheduled
        second_look_complete
        wait_until
        warnings
        watched_since"#]]
    .assert_eq(&found.join("\n"));
}

#[test]
fn how_a_sweep_went_stands_at_the_start_of_its_line() {
    let mut report = Outside::new("a: 10:01 500").tick("10:15").expect("it ends");
    report.warnings = vec!["one".to_owned()];
    let line = serde_json::to_string(&report).expect("a report is plain data");
    let start = r#"{"message":"sweep","app":"123456","scheduled":"2026-12-01T10:15:00.000Z","ending":"done","failure":null,"failures_in_a_row":0,"wait_until":null,"killed_in_a_row":0,"alarm_entries":0,"channels_lost":false,"warnings":["one"],"#;
    assert!(line.starts_with(start), "{line}");
}

#[test]
fn the_other_lines() {
    let guid = "38ee792a-82e7-11f1-959e-7ce606dfe5da".into();
    let delivery = crate::policy::delivery::DeliveryId(u64::MAX);
    let lines = [
        Line::Redelivery { app: "1", guid: &guid, event: "push", action: None, delivery, attempts: 1, answer: "taken", status: None },
        Line::GaveUp { app: "1", guid: &guid, event: "issues", action: Some("opened"), attempts: 3 },
        Line::Failure { app: "1", class: Some(crate::failure::FailureClass::Auth), error: "GitHub answered 401".to_owned() },
    ];
    expect![[r#"
        {"message":"redelivery","app":"1","guid":"38ee792a-82e7-11f1-959e-7ce606dfe5da","event":"push","action":null,"delivery":"18446744073709551615","attempts":1,"answer":"taken","status":null}
        {"message":"gave_up","app":"1","guid":"38ee792a-82e7-11f1-959e-7ce606dfe5da","event":"issues","action":"opened","attempts":3}
        {"message":"failure","app":"1","class":"auth","error":"GitHub answered 401"}"#]].assert_eq(&lines.map(|line| line.json()).join("\n"));
}
