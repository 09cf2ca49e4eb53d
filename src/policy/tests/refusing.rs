//! The endpoint refuses everything (spec section 8).

use expect_test::expect;

use super::{Case, lines};

/// A refused event every five minutes from 10:00 on.
fn refused(count: usize) -> String {
    lines(count, |index| format!("r{index:02}: {:02}:{:02} {}", 10 + index * 5 / 60, index * 5 % 60, 401 + index % 2 * 2))
}

#[test]
fn ten_refusals_over_half_an_hour_are_an_entry_until_the_first_pass() {
    let case = Case::new(&refused(14)).add("ok: 11:20 200").tick("10:15..11:30");
    expect![[r#"
        10:45 alarm: refuses everything since 10:00 [401, 403]
        11:30 alarm: none"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn one_pass_since_the_first_of_them_and_they_are_none() {
    let case = Case::new(&refused(10)).add("ok: 10:44 200").tick("10:15..11:30");
    expect![[""]].assert_eq(&case.alarms());
}

#[test]
fn redeliveries_count_as_attempts_and_a_redelivery_that_passes_ends_it() {
    let clicks: Vec<String> = (0..10).map(|index| format!("10:{:02} 404", index * 4)).collect();
    let case = Case::new(&format!("a: {}", clicks.join(", "))).add("b: 09:00 500, 10:50 200").tick("10:45 11:00");
    expect![[r#"
        10:45 alarm: refuses everything since 10:00 [404]
        11:00 alarm: none"#]]
    .assert_eq(&case.alarms());
}

#[test]
fn the_second_look_and_the_failures_list_count_nothing_twice() {
    // Nine, over more than half an hour, of which each sweep reads the last ones again.
    let case = Case::new(&refused(9)).tick("10:15..12:00");
    assert_eq!(case.alarms(), "");
}

#[test]
fn refusals_in_a_gap_count_once_it_is_read() {
    let case = Case::new(&refused(12)).page_of(4).traffic("08:00", "09:59", 1);
    let case = case.set(|settings| {
        settings.delivery_pages = 2;
        settings.failure_pages = 1;
    });
    expect!["11:15 alarm: refuses everything since 10:00 [401, 403]"].assert_eq(&case.tick("10:00 11:00 11:15 11:30").alarms());
}

#[test]
fn a_code_that_retry_status_names_is_no_refusal() {
    let case = Case::new(&refused(12)).set(|settings| settings.retry_status = vec![401, 403]).tick("11:00");
    assert!(!case.seen.contains("refuses everything"));
}
