//! Plays a week for a system, and all weeks for all systems on every core.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use github_app_redeliver::policy::time::Time;

use crate::github::GitHub;
use crate::policies::System;
use crate::policy::{Calls, Policy};
use crate::score::{Counts, Score};
use crate::traffic::{App, START, end};
use crate::week::Week;

/// Plays one week for one system.
pub(crate) fn play(week: &Week, system: &System) -> Counts {
    play_until(week, &mut *(system.make)(), end(), |_, _| {})
}

/// Plays the events of this week up to that time for one system, and shows it to `each` after each run, with when that began.
pub(crate) fn play_until<P: Policy + ?Sized>(week: &Week, policy: &mut P, end: Time, mut each: impl FnMut(&P, Time)) -> Counts {
    let mut github = GitHub::new(week);
    let mut score = Score::default();
    let mut due = START + policy.first_run();
    // A run that takes longer than the time to the next one is followed by it at once.
    let mut free = START;
    while due.max(free) < end {
        let now = due.max(free);
        let mut calls = Calls::new(&mut github, &mut score, now);
        // How a system goes on after a failed run is its own affair, and shows in its interval.
        let _ = policy.run(&mut calls, now);
        free = calls.end();
        due = now + policy.interval();
        each(policy, now);
    }
    score.finish(&mut github, end)
}

/// Plays weeks of an App with these seeds for each system. Returns for each system the counts of each week.
pub(crate) fn play_all(app: App, seeds: &[u64], systems: &[System]) -> Vec<Vec<Counts>> {
    let weeks: Vec<Week> = seeds.iter().map(|seed| Week::new(app, *seed)).collect();
    let jobs: Vec<(usize, usize)> = (0..systems.len()).flat_map(|system| (0..weeks.len()).map(move |week| (system, week))).collect();
    let results: Vec<Mutex<Option<Counts>>> = jobs.iter().map(|_| Mutex::default()).collect();
    let next = AtomicUsize::new(0);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((place, (system, week))) =
                    Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|at| Some((at, *jobs.get(at)?)))
                {
                    let counts = play(&weeks[week], &systems[system]);
                    *results[place].lock().expect("no thread panics with it") = Some(counts);
                }
            });
        }
    });
    let mut counts = results.into_iter().map(|result| result.into_inner().expect("no thread panicked").expect("each job was done"));
    systems.iter().map(|_| counts.by_ref().take(weeks.len()).collect()).collect()
}
