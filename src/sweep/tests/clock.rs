//! Ticks whose time is wrong.

use crate::policy::tests::history::time;
use crate::policy::time::{Time, hours, minutes};
use crate::sweep::report::Ending;

use super::failing::{events, state};
use super::world::Outside;

const HISTORY: &str = "
    a: 10:01 500 | 500, 500
    b push: 10:02 503
";

/// Far ahead of what the clock says.
fn ahead(clock: &str) -> Time {
    time(clock) + hours(24 * 20)
}

#[test]
fn one_wrong_clock_does_not_stop_everything() {
    let outside = Outside::new(HISTORY);
    let report = outside.tick_with_clock(time("10:15") + minutes(60 * 24 * 365), time("10:15")).expect("it ends");
    assert!(report.warnings[0].contains("GitHub's clock"), "{:?}", report.warnings);
    assert_eq!(outside.asks.borrow().len(), 2, "GitHub's clock bounds the wrong one");
    let report = outside.tick("10:30").expect("it ends");
    assert_eq!((report.ending, report.failure), (Ending::Done, None));
    assert!(report.warnings[0].contains("a clock was wrong"), "{:?}", report.warnings);
    assert_eq!((outside.asks.borrow().len(), report.events), (3, events(1, 1)));
    assert_eq!(state(&outside).ledger.left_behind, [], "nothing was lost by it");
    let report = outside.tick("10:45").expect("it ends");
    assert_eq!((report.alarm_entries, report.warnings.len()), (1, 0));
}

#[test]
fn one_wrong_clock_loses_no_gap() {
    let mut outside = Outside::new("hidden: 10:02:00.500 0");
    outside.settings.insert("DELIVERY_PAGES", "2".to_owned());
    outside.github.get_mut().add_traffic(time("09:00"), time("09:10"), 5);
    outside.tick("10:00");
    outside.github.get_mut().add_traffic(time("10:01"), time("10:14"), 1000);
    assert_eq!(outside.tick("10:15").map(|report| report.gaps), Some(1));
    let report = outside.tick_with_clock(ahead("10:30"), time("10:30")).expect("it ends");
    assert_eq!((report.gaps, report.alarm_entries), (1, 0));
    outside.ticks(time("10:45"), time("11:30"));
    assert_eq!(outside.asks_for("hidden").len(), 1);
}

#[test]
fn a_wrong_clock_on_the_first_sweep_hides_no_part_of_the_window() {
    let outside = Outside::new("hidden: 08:30 0");
    outside.github.borrow_mut().add_traffic(time("08:00"), time("10:00"), 300);
    let report = outside.tick_with_clock(ahead("10:15"), time("10:15")).expect("it ends");
    assert_eq!((report.deliveries_list.pages, report.gaps), (4, 0));
    assert_eq!(outside.asks_for("hidden").len(), 1);
}
