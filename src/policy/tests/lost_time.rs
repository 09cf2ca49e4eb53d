//! Outages and lost time when something else is wrong too: a gap, a clock, a setting, the asks (spec section 5).

use expect_test::expect;

use super::{Case, lines, time};

/// What was seen of one event from a tick on.
fn of(case: &Case, guid: &str, from: &str) -> String {
    let which = format!(" {guid}: ");
    let seen = case.seen.lines().filter(|line| line.contains(&which) && line.split(' ').next().is_some_and(|at| time(at) >= time(from)));
    seen.collect::<Vec<_>>().join("\n")
}

fn alarms(case: &Case) -> String {
    let lines: Vec<&str> = case.seen.lines().filter(|line| line.contains(" alarm: ")).collect();
    lines.join("\n")
}

/// Twelve deliveries a page, one page a sweep, and none for gaps.
fn starved(case: Case) -> Case {
    case.page_of(12).set(|settings| {
        settings.delivery_pages = 1;
        settings.subrequest_limit = 24;
    })
}

#[test]
fn an_event_of_later_waits_for_a_gap_while_a_long_night_is_worked_off() {
    // Two hundred events take five hours, more than a window; a newer one of n's kind passed, and is not read.
    let night = lines(200, |index| format!("e{index}: 10:{:02}:{:02} 200", 5 + index / 60, index % 60));
    let case = Case::new("").down("10:00", "13:00").add("p: 09:55 200").add(&night).add("q push: 13:01 200").tick("10:15..17:00");
    let case = starved(case).add("n issues: 17:05 500\nm issues: 17:07 200").traffic("17:08", "17:14", 30).tick("17:15");
    expect!["17:15 n: waits: an unread gap could hold what settles it"].assert_eq(&of(&case, "n", "17:15"));
}
