//! A week: the events, what the endpoint makes of each attempt, when GitHub's API is down, and what maintainers click.
//!
//! Everything follows from the seed and is the same for every system that is played: what an attempt comes to depends on the
//! event, on how often it was tried and on the time, never on who asked.

use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours, minutes};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::traffic::{self, App, Event, counted_until, day_and_time};

mod month;

pub(crate) use month::Month;

/// A stretch of time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spell {
    pub(crate) from: Time,
    pub(crate) to: Time,
}

impl Spell {
    fn lasting(from: Time, span: Duration) -> Self {
        Self { from, to: from + span }
    }

    pub(crate) fn holds(&self, at: Time) -> bool {
        self.from <= at && at < self.to
    }
}

/// Stretches of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spells(Vec<Spell>);

impl Spells {
    pub(crate) fn holds(&self, at: Time) -> bool {
        self.0.iter().any(|spell| spell.holds(at))
    }
}

impl From<Spell> for Spells {
    fn from(spell: Spell) -> Self {
        Self(vec![spell])
    }
}

/// What is peculiar to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Nature {
    /// Nothing: it passes when the endpoint works.
    Plain,
    /// It never passes, and has this code each time.
    Poison(i16),
    /// The endpoint refuses it each time, with this code.
    Refused(i16),
}

/// What came of an attempt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    /// As GitHub lists it.
    pub(crate) code: i16,
    /// Whether the endpoint did its work, though its answer may have come too late.
    pub(crate) handled: bool,
}

/// Somebody presses Redeliver on the Advanced page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Click {
    pub(crate) at: Time,
    /// Index of the event.
    pub(crate) event: u32,
    /// Only if it has not passed by then.
    pub(crate) if_undelivered: bool,
}

/// A week of an App.
#[derive(Debug)]
pub(crate) struct Week {
    pub(crate) seed: u64,
    /// By time.
    pub(crate) events: Vec<Event>,
    pub(crate) natures: Vec<Nature>,
    /// When the days that are counted end.
    counted_until: Time,
    /// 40 minutes of 500s.
    pub(crate) broken: Spells,
    /// Eight hours without an answer, with this code.
    pub(crate) night: Spells,
    night_code: i16,
    /// GitHub's API answers 5xx; deliveries go on.
    pub(crate) api_down: Spells,
    /// Every other answer comes too late, though the work was done.
    pub(crate) late: Spells,
    /// A deploy on each working day: three minutes of 404.
    deploys: Spells,
    /// By time.
    pub(crate) clicks: Vec<Click>,
    /// One delivery in so many fails by itself.
    one_in: u64,
    /// After so many events all comes again.
    turn: u32,
}

/// What an endpoint that is down looks like: one code a seed, since it depends on what stands in front of it.
const NIGHT_CODES: [i16; 5] = [0, 502, 504, 521, 530];

/// The codes of an answer that came too late: sources disagree.
const TOO_LATE: [i16; 2] = [504, 0];

impl Week {
    /// The week of this seed.
    pub(crate) fn new(app: App, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let events = traffic::events(app, &mut random);
        let night = Spell::lasting(day_and_time(2, 22, 0), hours(8));
        Self::of(app, seed, events, night.into(), random)
    }

    /// With these events, and nights like these.
    fn of(app: App, seed: u64, events: Vec<Event>, night: Spells, mut random: StdRng) -> Self {
        let mut at = |day, from: u64, to: u64| day_and_time(day, from, random.gen_range(0..(to - from) * 60));
        let broken = Spell::lasting(at(1, 9, 16), minutes(40));
        let api_down = Spell::lasting(at(4, 9, 16), hours(1));
        let late_from = at(0, 12, 17);
        let deploys = Spells((0..5).map(|day| Spell::lasting(at(day, 17, 19), minutes(3))).collect());
        let late = Spell::lasting(late_from, minutes(random.gen_range(10..=40)));
        let natures = natures(app, &events, &mut random);
        let place = usize::try_from(seed).expect("small") % NIGHT_CODES.len();
        let mut week = Self {
            seed,
            turn: u32::try_from(events.len()).expect("far fewer than 2^32"),
            events,
            natures,
            counted_until: counted_until(),
            broken: broken.into(),
            night,
            night_code: NIGHT_CODES[place],
            api_down: api_down.into(),
            late: late.into(),
            deploys,
            clicks: Vec::new(),
            one_in: if app == App::Quiet { 100 } else { 300 },
        };
        week.clicks = week.clicks(broken, &mut random);
        week
    }

    /// What the `nth` attempt of an event, made at `at`, comes to. The first is 0.
    pub(crate) fn outcome(&self, event: u32, nth: u16, at: Time) -> Outcome {
        let failed = |code| Outcome { code, handled: false };
        let nature = self.natures[event as usize];
        if self.night.holds(at) {
            return failed(self.night_code);
        }
        if self.deploys.holds(at) {
            return failed(404);
        }
        if let Nature::Poison(code) | Nature::Refused(code) = nature {
            return failed(code);
        }
        if self.broken.holds(at) {
            return failed(500);
        }
        let chance = self.chance(event, nth, 1);
        if self.late.holds(at) && chance.is_multiple_of(2) {
            return Outcome { code: TOO_LATE[usize::from(self.seed.is_multiple_of(2))], handled: true };
        }
        if chance % self.one_in == 1 {
            let codes = [500, 500, 503, 0];
            return failed(codes[usize::try_from(chance / self.one_in % 4).expect("below 4")]);
        }
        Outcome { code: 200, handled: true }
    }

    /// When an attempt made at `at` is listed: one in 100 late, of which every fifth by up to four minutes.
    pub(crate) fn listed_at(&self, event: u32, nth: u16, at: Time) -> Time {
        let chance = self.chance(event, nth, 2);
        match chance % 1000 {
            0..=1 => at + Duration::from_secs(chance / 1000 % 240),
            2..=9 => at + Duration::from_secs(chance / 1000 % 60),
            _ => at,
        }
    }

    /// How long GitHub takes from a 202 to the attempt.
    pub(crate) fn delay(&self, event: u32, nth: u16) -> Duration {
        let chance = self.chance(event, nth, 3);
        Duration::from_millis(if chance.is_multiple_of(50) { 20_000 + chance / 50 % 160_000 } else { 1_000 + chance / 50 % 15_000 })
    }

    /// Whether the endpoint gives no answer at all at `at`.
    pub(crate) fn is_down(&self, at: Time) -> bool {
        self.night.holds(at)
    }

    /// Whether the event came in the days that are counted.
    pub(crate) fn counts(&self, event: u32) -> bool {
        self.events[event as usize].at < self.counted_until
    }

    /// A number that depends on the event, the attempt and the purpose alone.
    fn chance(&self, event: u32, nth: u16, purpose: u64) -> u64 {
        let mut state = self.seed ^ u64::from(event % self.turn) << 24 ^ u64::from(nth) << 4 ^ purpose;
        for _ in 0..2 {
            // SplitMix64.
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            state = (state ^ state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            state = (state ^ state >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            state ^= state >> 31;
        }
        state
    }

    /// Maintainers click in working hours, mostly on what failed; and while the endpoint is broken, on what had passed, to see
    /// whether it works again.
    fn clicks(&self, broken: Spell, random: &mut StdRng) -> Vec<Click> {
        let failed: Vec<u32> = self.indexes().filter(|event| self.fails_at_first(*event)).collect();
        let mut clicks = Vec::new();
        for _ in 0..(failed.len() / 20).clamp(4, 30) {
            let event = failed[random.gen_range(0..failed.len())];
            let at = self.events[event as usize].at + minutes(random.gen_range(8..180));
            let hour = at.seconds() / 3600 % 24;
            if (8..20).contains(&hour) {
                clicks.push(Click { at, event, if_undelivered: true });
            }
        }
        let before = self.events.partition_point(|event| event.at < broken.from);
        for minute in [4, 11, 23, 34] {
            let mut passed = (0..before).rev().map(|event| u32::try_from(event).expect("few")).filter(|event| self.passes_at_first(*event));
            let event = passed.nth(random.gen_range(0..20));
            clicks.extend(event.map(|event| Click { at: broken.from + minutes(minute), event, if_undelivered: false }));
        }
        for day in 0..7 {
            let at = day_and_time(day, 9, random.gen_range(0..480));
            let event = self.events.partition_point(|event| event.at < at).checked_sub(random.gen_range(1..30));
            clicks.extend(event.map(|event| Click { at, event: u32::try_from(event).expect("few"), if_undelivered: false }));
        }
        clicks.sort_by_key(|click| click.at);
        clicks
    }

    /// How many kinds there are, at most.
    pub(crate) fn kinds(&self) -> usize {
        self.events.iter().filter_map(|event| event.kind).max().map_or(0, |kind| kind + 1)
    }

    /// The indexes of all events.
    pub(crate) fn indexes(&self) -> std::ops::Range<u32> {
        0..u32::try_from(self.events.len()).expect("far fewer than 2^32")
    }

    fn fails_at_first(&self, event: u32) -> bool {
        let code = self.outcome(event, 0, self.events[event as usize].at).code;
        code == 0 || code >= 500
    }

    fn passes_at_first(&self, event: u32) -> bool {
        self.outcome(event, 0, self.events[event as usize].at).code == 200
    }
}

/// Six poisoned events on a quiet App and 24 on the fleet, a third of which time out; and one in 200 is refused.
fn natures(app: App, events: &[Event], random: &mut StdRng) -> Vec<Nature> {
    let mut natures = vec![Nature::Plain; events.len()];
    for nature in &mut natures {
        if random.gen_ratio(1, 200) {
            *nature = Nature::Refused(if random.gen_ratio(1, 2) { 422 } else { 400 });
        }
    }
    let counted = events.partition_point(|event| event.at < counted_until());
    for turn in 0..if app == App::Quiet { 6 } else { 24 } {
        let code = if turn % 3 == 2 { TOO_LATE[turn % 2] } else { 500 };
        natures[random.gen_range(0..counted)] = Nature::Poison(code);
    }
    natures
}
