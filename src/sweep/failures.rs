//! Sweeps that failed, and how long the next ones wait (spec section 9). Pure, and part of the stored state.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::failure::FailureClass;
use crate::github::error::LONGEST_WAIT;
use crate::policy::time::{Time, minutes};

/// One failure may be a bad quarter of an hour. From this one in a row on a person is told.
pub const TOLD_FROM: u32 = 2;

/// Waits in a row where GitHub names none; the last one is repeated.
const WAITS: [Duration; 3] = [minutes(15), minutes(30), minutes(60)];

/// A tick that comes some seconds early ends a wait of our own all the same, or it would last a quarter of an hour longer.
const EARLY_TICK: Duration = minutes(1);

/// The last failure of a sweep; it stays after later successes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// `now` of that sweep.
    pub at: Time,
    /// What kind of failure.
    pub class: FailureClass,
}

/// Until when no sweep calls GitHub.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wait {
    /// The first tick from then on sweeps.
    pub until: Time,
    /// Whether GitHub named it. One of our own is only a guess.
    pub named: bool,
}

/// Sweeps that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// The last one, ever.
    pub last: Option<Failure>,
    /// In a row, up to now.
    pub in_a_row: u32,
    /// The first one of that row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Time>,
    /// The wait after the last one, if it is of a class that waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wait: Option<Wait>,
    /// Waits since the last success.
    #[serde(default, skip_serializing_if = "is_zero")]
    waits: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_zero(waits: &u32) -> bool {
    *waits == 0
}

impl Failures {
    /// A sweep failed, and GitHub may have `named` a wait.
    pub fn note(&mut self, at: Time, class: FailureClass, named: Option<Duration>) {
        self.last = Some(Failure { at, class });
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.since.get_or_insert(at);
        self.wait = None;
        if waits(class) {
            let step = usize::try_from(self.waits).unwrap_or(usize::MAX).min(WAITS.len() - 1);
            let span = named.unwrap_or(WAITS[step]).min(LONGEST_WAIT);
            self.wait = Some(Wait { until: at + span, named: named.is_some() });
            self.waits = self.waits.saturating_add(1);
        }
    }

    /// After a sweep that succeeded. The last failure stays.
    #[must_use]
    pub fn after_success(self) -> Self {
        Self { last: self.last, ..Self::default() }
    }

    /// The row of failures that a person is told of: since when, and the class of the last one.
    #[must_use]
    pub fn told(&self) -> Option<(Time, FailureClass)> {
        let last = self.last.filter(|_| self.in_a_row >= TOLD_FROM)?;
        Some((self.since.unwrap_or(last.at), last.class))
    }

    /// The wait that the last failure began.
    #[must_use]
    pub fn wait(&self) -> Option<Wait> {
        self.wait
    }

    /// The wait that a tick at `now` falls into. A failure of the future was a wrong clock's: nobody waits for it.
    #[must_use]
    pub fn waiting(&self, now: Time) -> Option<Wait> {
        let early = |wait: &Wait| if wait.named { Duration::ZERO } else { EARLY_TICK };
        self.wait.filter(|wait| now + early(wait) < wait.until && self.last.is_some_and(|last| last.at <= now))
    }

    /// The same, if GitHub named it: one of our own is no reason for a person not to try.
    #[must_use]
    pub fn waiting_as_named(&self, now: Time) -> Option<Wait> {
        self.waiting(now).filter(|wait| wait.named)
    }

    /// Takes every time later than `now` as `now`, but for the end of a wait, which lies ahead.
    pub fn move_to(&mut self, now: Time) {
        if let Some(last) = self.last.as_mut().filter(|last| last.at > now) {
            last.at = now;
            self.wait = None;
        }
        self.since = self.since.map(|since| since.min(now));
    }
}

/// Whether a failure of this class waits. What a person mends is tried again at the next tick.
fn waits(class: FailureClass) -> bool {
    match class {
        FailureClass::RateLimited | FailureClass::ServerError | FailureClass::Transport | FailureClass::Decode => true,
        FailureClass::Config | FailureClass::Auth | FailureClass::State | FailureClass::Killed => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::time::hours;

    fn at(minute: u64) -> Time {
        Time::from_millis(1_793_606_400_000) + minutes(minute)
    }

    /// The ticks, of one each quarter of an hour, that sweep when all fail like this.
    fn sweeps(class: FailureClass, named: Option<Duration>, ticks: u64) -> Vec<u64> {
        let mut failures = Failures::default();
        let ticks = (0..ticks).map(|tick| tick * 15);
        ticks
            .filter(|minute| {
                let sweeps = failures.waiting(at(*minute)).is_none();
                if sweeps {
                    failures.note(at(*minute), class, named);
                }
                sweeps
            })
            .collect()
    }

    #[test]
    fn waits_of_our_own_are_15_30_and_then_60_minutes() {
        for class in [FailureClass::RateLimited, FailureClass::ServerError, FailureClass::Transport, FailureClass::Decode] {
            assert_eq!(sweeps(class, None, 16), [0, 15, 45, 105, 165, 225], "{class:?}");
        }
    }

    #[test]
    fn what_a_person_mends_is_tried_at_each_tick() {
        for class in [FailureClass::Auth, FailureClass::Config, FailureClass::State, FailureClass::Killed] {
            assert_eq!(sweeps(class, Some(hours(1)), 4), [0, 15, 30, 45], "{class:?}");
        }
    }

    #[test]
    fn a_wait_that_github_names_is_kept_to_the_second_and_for_six_hours_at_most() {
        assert_eq!(sweeps(FailureClass::RateLimited, Some(hours(2)), 17), [0, 120, 240]);
        assert_eq!(sweeps(FailureClass::RateLimited, Some(hours(9)), 40), [0, 360]);
        let mut failures = Failures::default();
        failures.note(at(0), FailureClass::RateLimited, Some(minutes(30)));
        assert_eq!(failures.wait(), Some(Wait { until: at(30), named: true }));
        let second = Duration::from_secs(1);
        assert!(failures.waiting(at(30) - second).is_some() && failures.waiting(at(30)).is_none());
        failures.note(at(30), FailureClass::RateLimited, None);
        assert_eq!(failures.wait(), Some(Wait { until: at(60), named: false }));
        assert!(failures.waiting(at(60) - second).is_none(), "a tick may come a second early");
        assert!(failures.waiting(at(31)).is_some() && failures.waiting_as_named(at(31)).is_none(), "that is our own");
    }

    #[test]
    fn the_second_in_a_row_is_told_since_the_first_and_a_success_ends_it() {
        let mut failures = Failures::default();
        failures.note(at(0), FailureClass::Auth, None);
        assert_eq!(failures.told(), None);
        failures.note(at(15), FailureClass::Transport, None);
        failures.note(at(30), FailureClass::ServerError, None);
        assert_eq!(failures.told(), Some((at(0), FailureClass::ServerError)));
        failures = failures.after_success();
        assert_eq!((failures.told(), failures.waiting(at(30)), failures.in_a_row), (None, None, 0));
        assert_eq!(failures.last, Some(Failure { at: at(30), class: FailureClass::ServerError }), "it stays");
        failures.note(at(60), FailureClass::Transport, None);
        assert_eq!(failures.wait().map(|wait| wait.until), Some(at(75)), "the waits begin anew");
    }

    #[test]
    fn a_failure_of_the_future_holds_nobody_up() {
        let mut failures = Failures::default();
        failures.note(at(100_000), FailureClass::Transport, Some(hours(6)));
        assert_eq!(failures.waiting(at(0)), None);
        failures.move_to(at(0));
        failures.note(at(0), FailureClass::Auth, None);
        assert_eq!(failures.told(), Some((at(0), FailureClass::Auth)));
    }
}
