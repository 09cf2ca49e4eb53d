//! Which attempts count against `MAX_ATTEMPTS` (spec section 5).
//!
//! Here every listed attempt counts. The rule that an outage spends none replaces [`counted`].

use serde::{Deserialize, Serialize};

use super::event::{AskStanding, Event};
use super::time::Time;

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

/// How many attempts of an event count, and how many do not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Against `MAX_ATTEMPTS`.
    pub counted: usize,
    /// Made into an outage.
    pub not_counted: usize,
}

/// Counts every listed attempt, and every ask that GitHub took and lost, until an attempt takes its place.
#[must_use]
pub fn counted(event: &Event, standings: &[AskStanding]) -> Count {
    let lost = standings.iter().filter(|standing| **standing == AskStanding::Lost).count();
    Count { counted: event.attempts.len() + lost, not_counted: 0 }
}
