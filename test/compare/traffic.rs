//! A week of an App's events, from a seed: a quiet App, or the fleet of ten repositories that was measured.
//!
//! The fleet: in the week up to 2026-11-11 ten repositories created up to 431 workflow runs in 15 minutes, each with three deliveries
//! of its own and those of its checks, some 3,000 in that quarter of an hour, and 24 quarters held 100 runs or more.

use std::time::Duration;

use github_app_redeliver::policy::settings::SUPERSEDED_EVENTS;
use github_app_redeliver::policy::time::{Time, hours, minutes};
use rand::Rng;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;

/// Monday, 2026-11-02 00:00 UTC.
pub(crate) const START: Time = Time::from_millis(1_793_577_600_000);

/// Events of these days are counted; a day of plain traffic follows, so that what failed last can still be brought back.
pub(crate) const DAYS: u64 = 7;

/// Quarters of an hour that are played.
const QUARTERS: u64 = (DAYS + 1) * 96;

/// Event names of people's work, and how often each occurs among 100.
const PEOPLE: [(&str, &str, u32); 10] = [
    ("push", "", 24),
    ("pull_request", "synchronize", 20),
    ("issue_comment", "created", 18),
    ("pull_request_review", "submitted", 10),
    ("pull_request_review_comment", "created", 8),
    ("issues", "opened", 9),
    ("create", "", 4),
    ("discussion_comment", "created", 3),
    ("discussion", "created", 2),
    ("release", "published", 2),
];

/// Deliveries of one run and of its checks: name, action, and the longest time after the one before.
const RUN: [(&str, &str, Duration); 7] = [
    ("workflow_run", "requested", Duration::from_secs(5)),
    ("workflow_run", "in_progress", Duration::from_secs(20)),
    ("check_run", "created", Duration::from_secs(10)),
    ("check_run", "created", Duration::from_secs(10)),
    ("check_run", "completed", minutes(2)),
    ("check_run", "completed", minutes(2)),
    ("workflow_run", "completed", Duration::from_secs(20)),
];

/// Which App.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum App {
    /// One repository, some 150 deliveries a day.
    Quiet,
    /// Ten repositories, some 3,000 deliveries in the busiest quarter of an hour.
    Busy,
}

/// Event name and repository, as an index.
pub(crate) type Kind = usize;

/// One event as it comes, whatever the endpoint makes of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    /// When GitHub first tries to deliver it.
    pub(crate) at: Time,
    /// Such as `workflow_run`.
    pub(crate) name: &'static str,
    /// Such as `completed`; empty for none.
    pub(crate) action: &'static str,
    /// From 0.
    pub(crate) repository: u8,
    /// Name and repository, where a newer one overtakes an older one by default.
    pub(crate) kind: Option<Kind>,
}

/// The events of a week and a day, by time.
pub(crate) fn events(app: App, random: &mut StdRng) -> Vec<Event> {
    let runs = runs_by_quarter(app, random);
    spread(app, &runs, random)
}

/// The events of working days of the fleet, each with as many busy quarters of an hour as the whole week had, by time. Of `share` fleets
/// together they would be as many as were measured.
pub(crate) fn busiest_events(days: u32, share: u32, random: &mut StdRng) -> Vec<Event> {
    let mut runs = Vec::new();
    for _ in 0..days {
        let mut day: Vec<u32> = (0..96).map(|quarter| runs_of_the_fleet(quarter, random)).collect();
        crowd(&mut day, random);
        runs.extend(day.iter().map(|runs| runs / share));
    }
    spread(App::Busy, &runs, random)
}

/// The events of quarters of an hour with so many runs each.
fn spread(app: App, runs_by_quarter: &[u32], random: &mut StdRng) -> Vec<Event> {
    let mut events = Vec::new();
    for (quarter, runs) in runs_by_quarter.iter().copied().enumerate() {
        let from = START + minutes(15) * u32::try_from(quarter).expect("few");
        let people = match app {
            App::Quiet => poisson(random, 0.7 * activity(quarter)),
            App::Busy => poisson(random, 1.0 + f64::from(runs) * 0.2),
        };
        let within = |random: &mut StdRng| from + Duration::from_millis(random.gen_range(0..900_000));
        for _ in 0..runs {
            let at = within(random);
            add_run(&mut events, at, repository(app, random), random);
        }
        for _ in 0..people {
            let (name, action, _) = PEOPLE.choose_weighted(random, |(_, _, weight)| *weight).expect("there are some");
            let at = within(random);
            events.push(event(at, name, action, repository(app, random)));
        }
    }
    let end = START + minutes(15) * u32::try_from(runs_by_quarter.len()).expect("few");
    events.retain(|event| event.at < end);
    events.sort_by_key(|event| event.at);
    events
}

fn repository(app: App, random: &mut StdRng) -> u8 {
    // Some repositories are busier than others.
    if app == App::Quiet { 0 } else { random.gen_range(0..10_u8).min(random.gen_range(0..10)) }
}

fn add_run(events: &mut Vec<Event>, mut at: Time, repository: u8, random: &mut StdRng) {
    for (name, action, longest) in RUN {
        at = at + Duration::from_secs_f64(longest.as_secs_f64() * random.r#gen::<f64>());
        events.push(event(at, name, action, repository));
    }
}

fn event(at: Time, name: &'static str, action: &'static str, repository: u8) -> Event {
    let kind = SUPERSEDED_EVENTS.iter().position(|known| *known == name).map(|place| place * 10 + usize::from(repository));
    Event { at, name, action, repository, kind }
}

/// Kinds there are at most.
pub(crate) const KINDS: usize = SUPERSEDED_EVENTS.len() * 10;

/// How much is going on, on average 1: the working day of a few time zones.
fn activity(quarter: usize) -> f64 {
    let weekend = (quarter / 96) % 7 >= 5;
    let by_hour = match quarter % 96 / 4 {
        7..=17 => 1.8,
        6 | 18..=21 => 1.0,
        _ => 0.35,
    };
    if weekend { by_hour * 0.35 } else { by_hour * 1.1 }
}

fn runs_by_quarter(app: App, random: &mut StdRng) -> Vec<u32> {
    let quarters = usize::try_from(QUARTERS).expect("few");
    if app == App::Quiet {
        return (0..quarters).map(|quarter| poisson(random, 0.12 * activity(quarter))).collect();
    }
    let mut runs: Vec<u32> = (0..quarters).map(|quarter| runs_of_the_fleet(quarter, random)).collect();
    crowd(&mut runs[..5 * 96], random);
    runs
}

/// Runs of a quarter of an hour that is not among the busy ones.
fn runs_of_the_fleet(quarter: usize, random: &mut StdRng) -> u32 {
    poisson(random, 22.0 * activity(quarter)).min(99)
}

/// Makes 24 quarters of the working hours busy, one of them as busy as the busiest that was measured.
fn crowd(runs: &mut [u32], random: &mut StdRng) {
    let mut working: Vec<usize> = (0..runs.len()).filter(|quarter| (7 * 4..20 * 4).contains(&(quarter % 96))).collect();
    working.shuffle(random);
    for (place, quarter) in working.into_iter().take(24).enumerate() {
        runs[quarter] = if place == 0 { 431 } else { random.gen_range(100..=330) };
    }
}

/// A Poisson number, by multiplying. `mean` stays far below 700.
fn poisson(random: &mut StdRng, mean: f64) -> u32 {
    let (limit, mut product, mut count) = ((-mean).exp(), random.r#gen::<f64>(), 0);
    while product > limit {
        product *= random.r#gen::<f64>();
        count += 1;
    }
    count
}

/// So long after the start of the week.
pub(crate) fn day_and_time(day: u64, hour: u64, minute: u64) -> Time {
    START + hours(24 * day + hour) + minutes(minute)
}

/// When the play ends.
pub(crate) fn end() -> Time {
    START + hours(24 * (DAYS + 1))
}

/// When the counted days end.
pub(crate) fn counted_until() -> Time {
    START + hours(24 * DAYS)
}
