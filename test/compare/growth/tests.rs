//! Of a tenth of the fleet with a tenth of the pages and asks, which takes a tenth of the time. `npm run compare -- --growth` plays the
//! whole of it.

use super::*;

const A_TENTH: Month = Month { days: 5, turns: 6, share: 10, down_day: 11 };

/// With the fewest calls that these settings take, but two.
const FREE_TENTH: &Settings = &[
    ("CONTROL_REPO", "acme/control"),
    ("FAILURE_PAGES", "1"),
    ("DELIVERY_PAGES", "2"),
    ("MAX_REDELIVERIES", "1"),
    ("SUBREQUEST_LIMIT", "17"),
];

const PAID_TENTH: &Settings = &[
    ("CONTROL_REPO", "acme/control"),
    ("FAILURE_PAGES", "1"),
    ("DELIVERY_PAGES", "2"),
    ("MAX_REDELIVERIES", "20"),
    ("SUBREQUEST_LIMIT", "10000"),
];

/// Plays the month, in which nothing may grow, and returns it.
fn check(settings: &'static Settings) -> Played {
    let played = play_month(A_TENTH, 1, settings);
    assert_eq!(played.problems(), [""; 0]);
    let [before, all, last] = played.largest();
    assert!(all > 2 * before && before.abs_diff(last) <= DIGITS, "the day without an answer is in it: {before} {all} {last}");
    assert!(played.back_after() < hours(24 * 9), "back after {:?}", played.back_after());
    assert!(played.counts.recoverable > 5_000 && played.counts.asks > 300, "nothing was played: {:?}", played.counts);
    played
}

/// Whether a sweep had anything at this place of the state.
fn is_used(played: &Played, place: &str) -> bool {
    played.sweeps.iter().any(|swept| swept.shape.get(place).is_some_and(|length| *length > 0))
}

#[test]
fn after_a_month_and_a_day_of_it_without_an_answer_nothing_is_kept_that_was_not_kept_before() {
    let played = check(FREE_TENTH);
    for place in ["events[].k", "ground.gaps", "left_behind", "overtakers.newest", "own", "refusals.run"] {
        assert!(is_used(&played, &format!(".ledger.{place}")), "{place} was never used, so that it may well grow");
    }
}

#[test]
fn neither_is_it_with_ten_thousand_calls_and_twenty_times_the_asks() {
    check(PAID_TENTH);
}

/// A month in which every sweep leaves the same.
fn nothing_grows() -> Played {
    let month = Month { days: 1, turns: 3, share: 1, down_day: 1 };
    let swept = |quarter| Swept {
        at: START + hours(1) * quarter / 4,
        state_bytes: 100_000,
        history_bytes: 20_000,
        cost: Cost { allocations: 4_000, rows: 3, ..Cost::default() },
        shape: [(".ledger.own".to_owned(), 7)].into(),
    };
    Played { month, sweeps: (0..96 * 3).map(swept).collect(), counts: Counts::default() }
}

#[test]
fn whatever_grows_is_a_problem() {
    let with = |change: &dyn Fn(&mut Swept)| {
        let mut played = nothing_grows();
        played.sweeps.last_mut().into_iter().for_each(change);
        played.problems().join("\n")
    };
    let at = "2026-11-04T23:45:00.000Z";
    assert_eq!(with(&|_| {}), "");
    assert_eq!(with(&|last| *last.shape.entry(".ledger.own".to_owned()).or_default() = 8), format!("{at}: .ledger.own has 8, and had 7"));
    assert_eq!(with(&|last| _ = last.shape.insert(".new".to_owned(), 1)), format!("{at}: .new has 1, and had 0"));
    assert_eq!(with(&|last| last.shape.clear()), format!("{at}: .ledger.own has 0, and had 7"));
    assert_eq!(with(&|last| last.state_bytes += 33), format!("{at}: the state has 100033 bytes, and had 100000"));
    assert_eq!(with(&|last| last.cost.allocations = 4_131), format!("{at}: the sweep made 4131 allocations, and 4000 before"));
    assert_eq!(with(&|last| last.cost.rows = 6), format!("{at}: 6 rows written"));
    assert_eq!(with(&|last| last.history_bytes = 30_001), format!("{at}: state 100000 bytes, history 30001 bytes"));
    assert_eq!(with(&|last| last.at = last.at + hours(1)), "2026-11-05T00:00:00.000Z: the turns do not have the same sweeps");
    let silent = Played { counts: Counts { silent: 1, ..Counts::default() }, ..nothing_grows() };
    assert_eq!(silent.problems(), ["2026-11-05T00:00:00.000Z: 1 events were lost in silence"]);
    let mut large = nothing_grows();
    large.sweeps[96].state_bytes = VALUE_BYTES + 1;
    assert_eq!(large.problems().len(), 1, "in whichever turn");
}

#[test]
fn it_is_back_when_the_last_sweep_that_differs_is_past() {
    let mut played = nothing_grows();
    assert_eq!(played.back_after(), Duration::ZERO);
    played.sweeps[2 * 96 + 8].state_bytes += 100;
    assert_eq!(played.back_after(), hours(2));
}
