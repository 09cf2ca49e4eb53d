//! An outage spends no attempts (spec section 5): an endpoint that is down must not look like an event that is broken.
//!
//! An attempt that went unanswered after another one that did was made into an outage, and does not count
//! ([`evidence`](super::evidence) says what lay before it). While no attempt was answered since some unanswered one, the
//! endpoint is in an outage. What that does to the window is [`lost_time`](super::lost_time)'s.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::delivery::{Outcome, Position};
use super::event::{AskStanding, Event};
use super::evidence::Counting;
use super::time::{Time, hours, minutes};

/// An outage is an entry of the alarm once it has lasted so long, and so far apart are the attempts of one event that show it:
/// less is a deploy, or one delivery that GitHub lists late.
const LASTED: Duration = minutes(30);

/// After this a probe in each sweep is more than an endpoint that is down for the night needs.
const PROBED_EACH_SWEEP: Duration = hours(3);

/// So often, then.
const PROBED_EVERY: Duration = hours(1);

/// The number of events that wait is brought up to date so often: each change is an edit.
const COUNTED_EVERY: Duration = hours(1);

/// How many attempts of an event count, and how many do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Against `MAX_ATTEMPTS`.
    pub counted: usize,
    /// Made into an outage.
    pub not_counted: usize,
}

/// Counts the attempts that were not made into an outage, and every ask that GitHub took and lost, until an attempt takes
/// its place.
#[must_use]
pub fn counted(event: &Event, standings: &[AskStanding]) -> Count {
    let into_outage = event.attempts.iter().filter(|attempt| attempt.counting == Counting::IntoOutage).count();
    let lost = standings.iter().filter(|standing| **standing == AskStanding::Lost).count();
    Count { counted: event.attempts.len() - into_outage + lost, not_counted: into_outage }
}

/// Whether the endpoint answers, as far as it was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Endpoint {
    /// The newest attempt that it answered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    answered: Option<Position>,
    /// The first one since then that it did not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unanswered: Option<Position>,
}

impl Endpoint {
    /// Takes what was read: the newest answer, and attempts that went unanswered, in any order. Returns whether an outage
    /// ended with it.
    pub fn take(&mut self, answered: Option<Position>, unanswered: impl Iterator<Item = Position>) -> bool {
        let was = self.unanswered;
        self.answered = self.answered.max(answered);
        let since = |position: &Position| Some(*position) > self.answered;
        self.unanswered = was.into_iter().chain(unanswered).filter(since).min();
        was.is_some_and(|was| !since(&was))
    }

    /// Since when it is in an outage, if it is.
    #[must_use]
    pub fn down_since(&self) -> Option<Position> {
        self.unanswered
    }

    /// Takes a stored time later than `now` as `now`.
    pub fn not_later_than(&mut self, now: Time) {
        for position in self.answered.iter_mut().chain(&mut self.unanswered) {
            position.at = position.at.min(now);
        }
    }

    /// Compares all times by whole seconds from now on.
    pub fn whole_seconds(&mut self) {
        for position in self.answered.iter_mut().chain(&mut self.unanswered) {
            *position = position.whole_seconds();
        }
    }
}

/// An outage of the endpoint, as an entry of the alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outage {
    /// Its first unanswered attempt, as it was known when the entry was made; it is the entry's key.
    pub since: Time,
    /// Events that wait for its end, brought up to date once an hour.
    pub waiting: u64,
    /// When they were counted.
    pub counted_at: Time,
}

impl Outage {
    /// The entry at `now`, when it `was` this one, if the endpoint is down since `since` and these are all events.
    ///
    /// It is made once the outage has lasted, two events (or one, twice) went unanswered, and at least one waits for its end; it
    /// leaves with the last that waits.
    #[must_use]
    pub fn entry<'a>(was: Option<Self>, since: Position, events: impl Iterator<Item = &'a Event> + Clone, now: Time) -> Option<Self> {
        let waiting = events.clone().filter(|event| event.is_waiting()).count() as u64;
        match was {
            _ if waiting == 0 => None,
            Some(was) if now.since(was.counted_at) < COUNTED_EVERY => Some(was),
            Some(was) => Some(Self { waiting, counted_at: now, ..was }),
            None if now.since(since.at) >= LASTED && is_proved(since, events) => Some(Self { since: since.at, waiting, counted_at: now }),
            None => None,
        }
    }

    /// Whether a probe is due: each sweep for the first hours, then once an hour. `last_ask` is the newest one of any event.
    #[must_use]
    pub fn is_probe_due(&self, last_ask: Option<Time>, now: Time) -> bool {
        now.since(self.since) < PROBED_EACH_SWEEP || last_ask.is_none_or(|last| now.since(last) >= PROBED_EVERY)
    }

    /// Takes a stored time later than `now` as `now`. The key stays.
    pub fn not_later_than(&mut self, now: Time) {
        self.counted_at = self.counted_at.min(now);
    }
}

/// Whether two different events, or one at attempts far enough apart, went unanswered since then.
///
/// Whether more is known of one whose first delivery was not read than that somebody clicked depends on where pages break.
fn is_proved<'a>(since: Position, events: impl Iterator<Item = &'a Event>) -> bool {
    let mut proofs = 0;
    for event in events.filter(|event| event.first().is_some()) {
        let mut unanswered =
            event.attempts.iter().filter(|attempt| attempt.outcome == Outcome::Unanswered && attempt.position >= since).peekable();
        let Some(first) = unanswered.peek().map(|attempt| attempt.position.at) else { continue };
        proofs += 1;
        if proofs > 1 || unanswered.any(|attempt| attempt.position.at.since(first) >= LASTED) {
            return true;
        }
    }
    false
}
