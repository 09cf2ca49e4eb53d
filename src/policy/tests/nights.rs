//! Random days with an endpoint that is down for a while, twice at most, and sweeps that do not come or die half-way.
//!
//! Twice, since the first redelivery into an outage may follow an answer, and then it counts: an endpoint that dies three times
//! as it is asked looks like an event that is broken, and the specification takes it for one.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::history::{MIDNIGHT, clock, parse};
use super::model::{Fault, World};
use super::properties::{Tick, config, play};
use super::{lines, time};
use crate::policy::plan::Verdict;
use crate::policy::time::{Time, minutes};

/// The last tick with a fault is not later than this: 72 hours must suffice for what follows.
const TICKS: usize = 120;

/// Then comes the morning. The endpoint may be down for twenty of these ticks still; then there is an hour to the next probe, and time
/// to work off what may have failed (74 events, three a sweep).
const CALM: usize = 56;

#[derive(Clone, Debug)]
struct Night {
    history: String,
    /// Minutes after the first tick, and how many.
    down: Vec<(u64, u64)>,
    /// From which tick on how many ticks do what.
    faults: Vec<(usize, usize, Tick)>,
    traffic: u32,
    page_sizes: Vec<usize>,
    pages: u32,
    max_redeliveries: usize,
}

impl Night {
    fn world(&self) -> World {
        let start = time("10:00");
        let mut world = World::default();
        world.github.down = self.down.iter().map(|(from, length)| (start + minutes(*from), start + minutes(from + length))).collect();
        world.github.add(parse(&self.history));
        world.github.add_traffic(time("09:00"), time("48:00"), self.traffic);
        world.github.page_sizes.clone_from(&self.page_sizes);
        world.settings.delivery_pages = self.pages;
        world.settings.failure_pages = self.pages;
        world.settings.max_redeliveries = self.max_redeliveries;
        world
    }

    fn ticks(&self) -> impl Iterator<Item = (Time, Tick)> {
        let mut ticks = vec![Tick::Sweep(Fault::None); TICKS + CALM];
        for (from, length, fault) in &self.faults {
            ticks[*from..(from + length).min(TICKS)].fill(*fault);
        }
        ticks.into_iter().enumerate().map(|(index, tick)| (time("10:00") + minutes(15 * index as u64), tick))
    }
}

prop_compose! {
    fn event()(
        kind in select(vec!["issues", "issues @2", "pull_request", "push", "push @null", "issue_comment.created"]),
        minute in 540_u32..2_280,
        milli in select(vec![0_u32, 250, 900]),
        listed in option::weighted(0.2, 1_u32..5),
    ) -> String {
        let at = |minute| format!("{:02}:{:02}:00.{milli:03}", minute / 60, minute % 60);
        let listed = listed.map_or_else(String::new, |later| format!(" listed {}", at(minute + later)));
        format!("{kind}: {} 200{listed}", at(minute))
    }
}

/// With `tight` budgets gaps arise.
fn night(tight: bool) -> impl Strategy<Value = Night> {
    let faults = vec![Tick::Never, Tick::Never, Tick::Twice, Tick::Sweep(Fault::Crash), Tick::Sweep(Fault::CrashLate)];
    let fault = (0..TICKS, 1_usize..40, select(faults)).prop_map(|(from, length, fault)| match fault {
        Tick::Never => (from, length, fault),
        // Three asks in a row that were struck are an answer too.
        fault => (from, 1 + length % 2, fault),
    });
    let pages = if tight { 1_u32..6 } else { 500..501 };
    let down = vec((0_u64..1_200, select(vec![5_u64, 40, 200, 480, 900])), 1..3);
    (vec(event(), 1..14), down, vec(fault, 0..4), 0_u32..60, vec(2_usize..15, 1..4), pages, 3_usize..6).prop_map(
        |(events, down, faults, traffic, page_sizes, pages, max_redeliveries)| {
            let history = lines(events.len(), |index| format!("e{index} {}", events[index]));
            Night { history, down, faults, traffic, page_sizes, pages, max_redeliveries }
        },
    )
}

fn came_back(verdict: Verdict) -> bool {
    matches!(verdict, Verdict::Passed | Verdict::Superseded(_))
}

proptest! {
    #![proptest_config(config(2))]

    /// Invariants 1 to 4, with gaps.
    #[test]
    fn no_event_is_asked_for_in_an_outage_that_must_not_be(night in night(true)) {
        play(night.world(), night.ticks(), |_, _, _| {});
    }

    /// Invariant 7, and more: what would have passed but for the outage comes back, whatever else went wrong that night.
    #[test]
    fn a_night_of_downtime_loses_nothing(night in night(false)) {
        let mut verdicts: BTreeMap<String, Verdict> = BTreeMap::new();
        let mut first_sweep = None;
        let world = play(night.world(), night.ticks(), |now, _, swept| {
            first_sweep.get_or_insert(now);
            for judged in &swept.plan.judged {
                let verdict = verdicts.entry(judged.event.guid.to_string()).or_insert(judged.verdict);
                // Once it came back its later attempts are of no account: they may be read when its first delivery is forgotten.
                if !came_back(*verdict) {
                    *verdict = judged.verdict;
                }
            }
        });
        let ledger = world.ledger();
        assert_eq!(ledger.outage, None, "the endpoint answers");
        assert!(ledger.left_behind.is_empty() && ledger.gaps_lost.is_empty(), "{}", super::alarm(&ledger));
        let start = first_sweep.map_or(MIDNIGHT, |first_sweep| first_sweep - world.settings.window);
        for item in world.github.record().filter(|item| !item.redelivery && item.at >= start) {
            let verdict = verdicts.get(&item.guid);
            let is_well = verdict.map_or_else(|| (200..300).contains(&item.code), |verdict| came_back(*verdict));
            assert!(is_well, "{} of {}: {verdict:?}", item.guid, clock(item.at));
        }
    }
}
