//! The invariants of spec section 13 over random histories, with sweeps that never run, come twice or die half-way, and
//! asks that are lost. Invariants 1 to 4 are checked by the oracle within each sweep.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::RngSeed;

use super::history::{MIDNIGHT, parse};
use super::model::{Fault, Swept, World};
use super::{alarm, time};
use crate::policy::plan::{AskAnswer, Verdict};
use crate::policy::time::{Time, minutes};

const KINDS: [&str; 6] = ["issues", "issues @2", "issues @null", "pull_request", "push", "issue_comment.created"];
const CODES: [&str; 7] = ["500", "500", "503", "0", "502", "404", "200"];
const ASKS: [&str; 11] = ["200", "500", "500", "500+20m", "500+40m", "200+35m", "lost", "unknown", "unknown 500", "off", "refuse 404"];

/// Cases of all properties together in `npm test`.
const CASES: u64 = 20_000;

/// What they are shared out in: 8 for each property below, 2 for each of [`super::nights`] and [`super::recovering`], 2 for whole
/// sweeps, 2 for the channels.
const PARTS: u64 = 42;

/// What a tick does; `Never` is one that does not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tick {
    Sweep(Fault),
    Twice,
    Never,
}

#[derive(Clone, Debug)]
pub(super) struct Story {
    history: String,
    traffic: u32,
    page_sizes: Vec<usize>,
    ticks: Vec<Tick>,
    delivery_pages: u32,
    failure_pages: u32,
    max_redeliveries: usize,
    max_attempts: usize,
    ignores_the_filter: bool,
}

impl Story {
    pub(super) fn world(&self) -> World {
        let mut world = World::default();
        world.github.add(parse(&self.history));
        world.github.add_traffic(time("09:00"), time("13:00"), self.traffic);
        world.github.page_sizes.clone_from(&self.page_sizes);
        world.settings.delivery_pages = self.delivery_pages;
        world.settings.failure_pages = self.failure_pages;
        world.settings.max_redeliveries = self.max_redeliveries;
        world.settings.max_attempts = self.max_attempts;
        world.github.ignores_the_filter = self.ignores_the_filter;
        world
    }

    /// The ticks with their times, then `calm` more without a fault.
    pub(super) fn ticks(&self, calm: usize) -> impl Iterator<Item = (Time, Tick)> {
        let start = time("10:00");
        let calm = std::iter::repeat_n(Tick::Sweep(Fault::None), calm);
        self.ticks.clone().into_iter().chain(calm).enumerate().map(move |(index, tick)| (start + minutes(15 * index as u64), tick))
    }
}

prop_compose! {
    /// Second of the day between 9 and 13 h, in lumps, so that equal times happen.
    fn moment()(minute in 540_u32..780, second in select(vec![0_u32, 0, 7, 59]), milli in select(vec![0_u32, 0, 250, 900])) -> String {
        format!("{:02}:{:02}:{second:02}.{milli:03}", minute / 60, minute % 60)
    }
}

prop_compose! {
    fn attempt(late: bool)(at in moment(), code in select(CODES.to_vec()), plain in prop::bool::weighted(0.03), listed in option::weighted(0.2, 1_u64..5)) -> String {
        let listed = listed.filter(|_| late).map_or_else(String::new, |later| format!(" listed {}", super::clock(time(&at) + minutes(later))));
        let at = if plain { at[..8].to_owned() } else { at };
        format!("{at} {code}{}{listed}", if plain { " plain" } else { "" })
    }
}

prop_compose! {
    fn event(late: bool)(
        kind in select(KINDS.to_vec()),
        mut attempts in vec(attempt(late), 1..4),
        first_is_lost in prop::bool::weighted(0.05),
        asks in vec(select(ASKS.to_vec()), 0..6),
    ) -> String {
        attempts.sort();
        if first_is_lost {
            attempts[0] += " again";
        }
        format!("{kind}: {} | {}", attempts.join(", "), asks.join(", "))
    }
}

/// With `tight` budgets gaps arise; `late` has GitHub list deliveries up to four minutes late.
pub(super) fn story(tight: bool, late: bool) -> impl Strategy<Value = Story> {
    let faults = vec![
        Tick::Sweep(Fault::None),
        Tick::Sweep(Fault::None),
        Tick::Sweep(Fault::None),
        Tick::Sweep(Fault::None),
        Tick::Sweep(Fault::Crash),
        Tick::Sweep(Fault::CrashLate),
        Tick::Sweep(Fault::AfterKill),
        Tick::Twice,
        Tick::Never,
    ];
    let pages = if tight { 1_u32..5 } else { 500..501 };
    (
        vec(event(late), 1..10),
        0_u32..40,
        vec(1_usize..15, 1..4),
        vec(select(faults), 4..24),
        pages.clone(),
        pages,
        1_usize..4,
        2_usize..5,
        prop::bool::weighted(0.2),
    )
        .prop_map(
            move |(
                events,
                traffic,
                page_sizes,
                mut ticks,
                delivery_pages,
                failure_pages,
                max_redeliveries,
                max_attempts,
                ignores_the_filter,
            )| {
                let history = super::lines(events.len(), |index| format!("e{index} {}", events[index]));
                if !tight {
                    // A killed sweep's successor may read a quarter only, and that may leave a gap.
                    ticks.iter_mut().filter(|tick| **tick == Tick::Sweep(Fault::AfterKill)).for_each(|tick| *tick = Tick::Twice);
                }
                Story {
                    history,
                    traffic,
                    page_sizes,
                    ticks,
                    delivery_pages,
                    failure_pages,
                    max_redeliveries,
                    max_attempts,
                    ignores_the_filter,
                }
            },
        )
}

/// Plays a story, and shows each sweep to `each`, with the world after it.
pub(super) fn play(mut world: World, ticks: impl Iterator<Item = (Time, Tick)>, mut each: impl FnMut(Time, &World, &Swept)) -> World {
    if world.settings.delivery_pages > 100 {
        world.settings.subrequest_limit = 10_000;
    }
    for (now, tick) in ticks {
        let fault = match tick {
            Tick::Never => continue,
            Tick::Twice => Fault::None,
            Tick::Sweep(fault) => fault,
        };
        if let Some(swept) = world.sweep(now, fault) {
            each(now, &world, &swept);
        }
        if tick == Tick::Twice {
            let before = world.saved.clone();
            assert!(world.sweep(now, Fault::None).is_none() && world.saved == before, "the same tick twice changes nothing");
        }
    }
    world
}

/// So many of [`PARTS`] of all cases. `npm run prove` sets more of them, and another seed.
pub(crate) fn config(parts: u32) -> ProptestConfig {
    let cases = u32::try_from(number("CASES").unwrap_or(CASES) * u64::from(parts) / PARTS).expect("no more than four thousand million");
    few(cases)
}

/// So many cases: the same ones each time, unless `SEED` names others.
pub(crate) fn few(cases: u32) -> ProptestConfig {
    let rng_seed = RngSeed::Fixed(number("SEED").unwrap_or(1));
    ProptestConfig { cases, rng_seed, failure_persistence: None, ..ProptestConfig::default() }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("it is a number"))
}

proptest! {
    #![proptest_config(config(8))]

    /// Invariants 1 to 4, with gaps and late listings.
    #[test]
    fn no_event_is_asked_for_that_must_not_be(story in story(true, true)) {
        play(story.world(), story.ticks(4), |_, _, _| {});
    }
}

proptest! {
    #![proptest_config(config(8))]

    /// Invariant 5.
    #[test]
    fn the_order_on_a_page_and_where_pages_break_change_no_decision(story in story(false, false), others in vec(1_usize..40, 1..5)) {
        let tell = |world: World| {
            let mut told = Vec::new();
            play(world, story.ticks(4), |now, world, swept| {
                let ledger = world.ledger();
                told.push((now, swept.asked.clone(), swept.plan.tally.waiting, alarm(&ledger), ledger.refusals));
            });
            told
        };
        let mut world = story.world();
        world.github.page_sizes = others;
        world.github.shuffled = true;
        prop_assert_eq!(tell(story.world()), tell(world));
    }

    /// Invariant 6.
    #[test]
    fn a_sweep_repeated_with_nothing_new_asks_for_nothing_twice_and_leaves_the_same_alarm(story in story(false, true)) {
        play(story.world(), story.ticks(4), |now, world, swept| {
            let mut again = world.clone();
            let asked_before: BTreeSet<String> = again.oracle.asked_at(now, AskAnswer::Withdrawn);
            let refused = alarm(&again.ledger()).matches("not redeliverable").count();
            let repeated = again.sweep_again(now).expect("there is room to read");
            assert!(repeated.asked.iter().all(|guid| !asked_before.contains(guid)), "{:?} after {:?}", repeated.asked, swept.asked);
            if refused == alarm(&again.ledger()).matches("not redeliverable").count() {
                assert_eq!(alarm(&again.ledger()), alarm(&world.ledger()));
            }
        });
    }

    /// Invariant 7.
    #[test]
    fn every_event_ends_with_a_verdict_and_none_is_forgotten_in_silence(story in story(false, true)) {
        let mut verdicts: BTreeMap<String, Verdict> = BTreeMap::new();
        let (mut left_behind, mut first_sweep) = (0, None);
        // From the first calm tick on the endpoint answers.
        let calm_from = story.ticks(1).last().map_or(MIDNIGHT, |(now, _)| now);
        let mut world = story.world();
        world.github.answers_from = Some(calm_from);
        let world = play(world, story.ticks(60), |now, world, swept| {
            first_sweep.get_or_insert(now);
            for judged in &swept.plan.judged {
                verdicts.insert(judged.event.guid.to_string(), judged.verdict);
            }
            left_behind += swept.plan.tally.left_behind;
            let ledger = world.ledger();
            assert_eq!(ledger.left_behind.iter().map(|loss| loss.count).sum::<u64>(), left_behind as u64, "each is told once");
            for event in ledger.events.values().filter(|event| event.fate.is_entry()) {
                // GitHub's answer to an ask made it one.
                verdicts.insert(event.guid.to_string(), Verdict::NotRedeliverable);
            }
        });
        let start = first_sweep.map_or(MIDNIGHT, |first_sweep| first_sweep - world.settings.window);
        for item in world.github.record().filter(|item| !item.redelivery && !item.guid.starts_with('~')) {
            let verdict = verdicts.get(&item.guid);
            let settled = match verdict {
                Some(Verdict::Redeliver | Verdict::Waiting(_) | Verdict::Ignored) => false,
                Some(_) => true,
                None => (200..300).contains(&item.code) || item.at < start,
            };
            assert!(settled, "{}: {verdict:?}", item.guid);
        }
    }
}
