//! Two sweeps of one App never overlap (spec section 3.2).
//!
//! The lease is written before anything else and removed with the last write. It ends by itself before the next tick,
//! so one that a later tick finds was left by a sweep that was killed.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::time::{Time, minutes};
use crate::json;

/// Below the 15 minutes between two ticks, above the five that a sweep may take. A tick that comes more than nine minutes late
/// outlives it: within one object `recovery` still knows that it is under way.
const TERM: Duration = minutes(14);

/// Who sweeps, and until when. The stored form is pinned by a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The sweep's `now`.
    pub taken_at: Time,
    /// From then on it holds nobody up.
    pub until: Time,
    /// Sweeps in a row that were killed before this one.
    #[serde(default)]
    pub killed_in_a_row: u32,
}

impl Lease {
    /// Reads a stored one. What cannot be read holds nobody up.
    #[must_use]
    pub fn read(stored: Option<&str>) -> Option<Self> {
        stored.and_then(|text| json::read(text.as_bytes()).ok())
    }
}

/// What a tick finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taking {
    /// Another sweep is under way; this tick changes nothing.
    Held(Lease),
    /// This sweep's own lease, to be written first.
    Taken(Lease),
}

/// Decides from the lease that was `found`, if any, and this tick's `now`.
///
/// A lease from the future (a wrong clock) holds nobody up for longer than its own term.
#[must_use]
pub fn take(found: Option<Lease>, now: Time) -> Taking {
    let lease = Lease { taken_at: now, until: now + TERM, killed_in_a_row: 0 };
    match found {
        None => Taking::Taken(lease),
        Some(other) if now < other.until && other.until.since(now) <= TERM => Taking::Held(other),
        Some(killed) => Taking::Taken(Lease { killed_in_a_row: killed.killed_in_a_row.saturating_add(1), ..lease }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minute: i64) -> Time {
        Time::from_millis(minute * 60_000)
    }

    #[test]
    fn the_same_tick_twice_and_a_second_one_are_held_up() {
        let Taking::Taken(lease) = take(None, at(0)) else { panic!("nothing holds it up") };
        assert_eq!(take(Some(lease), at(0)), Taking::Held(lease));
        assert_eq!(take(Some(lease), at(13)), Taking::Held(lease));
    }

    #[test]
    fn a_lease_that_the_next_tick_finds_was_left_by_a_killed_sweep() {
        let Taking::Taken(first) = take(None, at(0)) else { panic!("nothing holds it up") };
        let Taking::Taken(second) = take(Some(first), at(15)) else { panic!("it has ended by itself") };
        assert_eq!(second.killed_in_a_row, 1);
        let Taking::Taken(third) = take(Some(second), at(30)) else { panic!("it has ended by itself") };
        assert_eq!(third.killed_in_a_row, 2);
    }

    #[test]
    fn one_wrong_clock_does_not_stop_everything() {
        let Taking::Taken(future) = take(None, at(100_000)) else { panic!("nothing holds it up") };
        assert!(matches!(take(Some(future), at(0)), Taking::Taken(_)));
    }

    #[test]
    fn the_stored_form_is_pinned() {
        let Taking::Taken(lease) = take(None, at(0)) else { panic!("nothing holds it up") };
        let json = serde_json::to_string(&lease).expect("a lease is plain data");
        assert_eq!(json, r#"{"taken_at":0,"until":840000,"killed_in_a_row":0}"#);
    }
}
