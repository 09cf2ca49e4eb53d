//! A month of the busiest traffic: the same working days over and over, so that a sweep finds what the same sweep of an earlier turn
//! found, and whatever differs between the two was left over. With a day in it on which the endpoint is down.
//!
//! Repositories come and go: one of the ten is another one in each turn.

use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours};
use rand::SeedableRng;
use rand::rngs::StdRng;

use super::{Click, Spell, Spells, Week};
use crate::traffic::{self, App, Event, KINDS, START, day_and_time};

/// How long a month is, and what happens in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Month {
    /// Working days of one turn.
    pub(crate) days: u32,
    /// Turns.
    pub(crate) turns: u32,
    /// Of how many such fleets together the events would be those of the one that was measured.
    pub(crate) share: u32,
    /// The day, from 0, on which the endpoint gives no answer.
    pub(crate) down_day: u32,
}

/// The repository that is another one in each turn.
const PASSING: u8 = 9;

impl Month {
    /// How long one turn is.
    pub(crate) fn turn(self) -> Duration {
        hours(24) * self.days
    }

    /// The turn before the day without an answer, which those after it are held against.
    pub(crate) fn before(self) -> u32 {
        (self.down_day / self.days).saturating_sub(1)
    }

    /// The turn of a time, from 0.
    pub(crate) fn turn_of(self, at: Time) -> u32 {
        u32::try_from(at.since(START).as_secs() / self.turn().as_secs()).expect("few turns")
    }

    /// When it ends.
    pub(crate) fn end(self) -> Time {
        START + self.turn() * self.turns
    }

    /// When the day without an answer is over.
    pub(crate) fn down_until(self) -> Time {
        day_and_time(u64::from(self.down_day) + 1, 0, 0)
    }

    /// The day without an answer.
    fn down(self) -> Spells {
        Spell::lasting(day_and_time(u64::from(self.down_day), 0, 0), hours(24)).into()
    }
}

impl Week {
    /// The fleet's month of this seed.
    pub(crate) fn of_month(month: Month, seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let events = traffic::busiest_events(month.days, month.share, &mut random);
        let turn = Self::of(App::Busy, seed, events, Spells::default(), random);
        let later =
            |spells: &Spells| Spells(month.each(&spells.0, |spell, span, _| Spell { from: spell.from + span, to: spell.to + span }));
        let mut clicks =
            month.each(&turn.clicks, |click, span, nth| Click { at: click.at + span, event: click.event + nth * turn.turn, ..*click });
        clicks.sort_by_key(|click| click.at);
        Self {
            events: month.each(&turn.events, |event, span, nth| in_turn(*event, span, nth)),
            natures: month.each(&turn.natures, |nature, _, _| *nature),
            // What fails on the last day is still to be brought back.
            counted_until: START + month.turn() * month.turns.saturating_sub(1),
            broken: later(&turn.broken),
            night: month.down(),
            api_down: later(&turn.api_down),
            late: later(&turn.late),
            deploys: later(&turn.deploys),
            clicks,
            ..turn
        }
    }
}

impl Month {
    /// The same in each turn, that much later.
    fn each<T, U>(self, once: &[T], in_turn: impl Fn(&T, Duration, u32) -> U) -> Vec<U> {
        (0..self.turns).flat_map(|nth| once.iter().map(|one| in_turn(one, self.turn() * nth, nth)).collect::<Vec<U>>()).collect()
    }
}

fn in_turn(event: Event, span: Duration, nth: u32) -> Event {
    let passes_by = event.repository == PASSING;
    let nth_of_these = if passes_by { nth } else { 0 };
    Event {
        at: event.at + span,
        repository: event.repository + 10 * u8::try_from(nth_of_these).expect("few turns"),
        kind: event.kind.map(|kind| kind + KINDS * usize::try_from(nth_of_these).expect("few turns")),
        ..event
    }
}
