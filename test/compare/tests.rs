//! What this Worker promises, on one seeded week of either App; and that docs/compare.md says what the code makes.

use std::fs;

use crate::page;
use crate::play::play;
use crate::policies::{OURS, SYSTEMS, System};
use crate::results;
use crate::score::Counts;
use crate::table::{Results, Row, render};
use crate::traffic::App;
use crate::week::Week;

/// docs/compare.json, as it was written last.
fn written() -> Results {
    let text = fs::read_to_string("docs/compare.json").expect("the tests run at the top of the repository");
    serde_json::from_str(&text).expect("the file is the program's own")
}

const STALE: &str = "docs/compare.json is stale: run `npm run compare -- --write`";

fn assert_goals(counts: &Counts) {
    assert!(counts.recoverable > 20 && counts.asks > 20, "nothing was played: {counts:?}");
    assert_eq!(forbidden(counts), [0; 4], "silent, though passed, though overtaken, false pages: {counts:?}");
}

/// The rows of both that have the same name agree in the first week.
fn assert_written(app: usize, made: &[(&System, Counts)]) {
    let written = written();
    for (system, counts) in made {
        let row = written.apps[app].systems.iter().find(|row| row.name == system.name).expect(STALE);
        assert_eq!(&row.weeks[0], counts, "{}: {STALE}", system.name);
    }
}

#[test]
fn on_a_quiet_app_nothing_is_lost_in_silence_and_nobody_is_bothered() {
    let week = Week::new(App::Quiet, 1);
    let ours = play(&week, &OURS);
    assert_goals(&ours);
    assert_written(0, &[(&OURS, ours)]);
}

#[test]
fn on_the_busy_fleet_neither() {
    let week = Week::new(App::Busy, 1);
    let ours = play(&week, &OURS);
    assert_goals(&ours);
    assert_written(1, &[(&OURS, ours)]);
}

#[test]
fn the_others_on_a_quiet_app_do_as_was_written() {
    let quiet = results(App::Quiet, &[1], &SYSTEMS);
    let made: Vec<(&System, Counts)> = SYSTEMS.iter().zip(quiet.systems.into_iter().map(|row| row.weeks[0].clone())).collect();
    assert_written(0, &made);
}

#[test]
fn the_page_has_the_table_of_what_was_written() {
    let page = fs::read_to_string("docs/compare.md").expect("the tests run at the top of the repository");
    let (_, table, _) = page::parts(&page).expect("the page has a place for it");
    assert_eq!(table, render(&written()), "run `npm run compare -- --write`");
    assert!(table.lines().all(|line| line.chars().count() <= 120), "a terminal has 120 columns");
}

/// What this Worker is never to do.
fn forbidden(counts: &Counts) -> [u64; 4] {
    [counts.silent, counts.asked_though_passed, counts.asked_though_overtaken, counts.false_pages]
}

#[test]
fn as_was_written_this_worker_alone_keeps_to_all_goals_in_all_weeks() {
    let written = written();
    for system in SYSTEMS.iter().filter(|system| !system.name.starts_with(' ')) {
        let rows = written.apps.iter().flat_map(|app| app.systems.iter().filter(|row| row.name == system.name));
        let keeps = rows.flat_map(|row| &row.weeks).all(|week| forbidden(week) == [0; 4]);
        assert_eq!(keeps, system.name == OURS.name, "{}", system.name);
    }
}

#[test]
fn as_was_written_five_attempts_lose_nothing() {
    for app in written().apps {
        let row = app.systems.iter().find(|row| row.name == " MAX_ATTEMPTS=5").expect(STALE);
        assert!(row.weeks.iter().all(|week| week.lost == 0 && forbidden(week) == [0; 4]), "{}", app.title);
    }
}

#[test]
fn as_was_written_who_loses_fewer_events_pays_for_it() {
    let all = |row: &Row, of: fn(&Counts) -> u64| row.weeks.iter().map(of).sum::<u64>();
    for app in written().apps {
        let ours = app.systems.iter().find(|row| row.name == OURS.name).expect(STALE);
        let lost = |row: &Row| all(row, |week| week.lost);
        for row in app.systems.iter().filter(|row| !row.name.starts_with(' ') && lost(row) < lost(ours)) {
            let in_vain = |row: &Row| all(row, |week| week.asked_for_nothing);
            assert!(in_vain(row) > 2 * in_vain(ours), "{} on {}", row.name, app.title);
        }
    }
}

#[test]
fn the_same_seed_is_the_same_week() {
    let [a, b] = [(); 2].map(|()| format!("{:?}", Week::new(App::Quiet, 4)));
    assert_eq!(a, b);
    assert_ne!(a, format!("{:?}", Week::new(App::Quiet, 5)));
}
