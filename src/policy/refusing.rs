//! The endpoint refuses everything (spec section 8): a rotated secret looks like this. What is refused is never asked for
//! again and is no entry of its own, so that without this record nobody would learn of it.
//!
//! The record is made of sums, minima and maxima over the deliveries list alone, so that neither the order of items on a page nor
//! where pages break changes it. Each attempt is counted once: on the ground that no sweep had read.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::delivery::Position;
use super::event::Attempt;
use super::time::{Time, minutes};

/// Fewer refusals than this may be one event's fault.
const ATTEMPTS: u64 = 10;

/// Over less than this, an endpoint that is being deployed may be the reason.
const SPAN: Duration = minutes(30);

/// Codes kept, the smallest: there are two hundred, and nobody reads more than a few.
const CODES: usize = 16;

/// Refused attempts since the last pass.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusals {
    /// The newest attempt that passed, of whatever event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    passed: Option<Position>,
    /// The refused ones after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<Run>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Run {
    first: Position,
    last: Position,
    count: u64,
    codes: BTreeSet<i32>,
}

/// An endpoint that refuses everything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusing {
    /// The first refusal since the last pass.
    pub since: Time,
    /// The codes of the refusals.
    pub codes: Vec<i32>,
}

impl Refusals {
    /// Takes what one sweep read: the newest pass, and the refused attempts on new ground, each once.
    pub fn take(&mut self, passed: Option<Position>, refused: impl IntoIterator<Item = Attempt>) {
        self.passed = self.passed.max(passed);
        // A pass among those that are counted ends the run: how many of them were later is not kept.
        if self.run.as_ref().is_some_and(|run| self.passed.is_some_and(|passed| passed >= run.first)) {
            self.run = None;
        }
        for Attempt { position, status_code, .. } in refused {
            if self.passed.is_some_and(|passed| position <= passed) {
                continue;
            }
            let run = self.run.get_or_insert_with(|| Run { first: position, last: position, count: 0, codes: BTreeSet::new() });
            run.first = run.first.min(position);
            run.last = run.last.max(position);
            run.count = run.count.saturating_add(1);
            run.codes.insert(status_code);
            if run.codes.len() > CODES {
                run.codes.pop_last();
            }
        }
    }

    /// Whether everything is refused, so far as it was read.
    #[must_use]
    pub fn refusing(&self) -> Option<Refusing> {
        let run = self.run.as_ref().filter(|run| run.count >= ATTEMPTS && run.last.at.since(run.first.at) >= SPAN)?;
        Some(Refusing { since: run.first.at, codes: run.codes.iter().copied().collect() })
    }

    /// Takes a stored time later than `now` as `now`.
    pub fn not_later_than(&mut self, now: Time) {
        for position in self.positions() {
            position.at = position.at.min(now);
        }
    }

    /// Compares all times by whole seconds from now on.
    pub fn whole_seconds(&mut self) {
        for position in self.positions() {
            *position = position.whole_seconds();
        }
    }

    fn positions(&mut self) -> impl Iterator<Item = &mut Position> {
        let run = self.run.as_mut().map(|run| [&mut run.first, &mut run.last]);
        self.passed.iter_mut().chain(run.into_iter().flatten())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::delivery::{DeliveryId, Outcome};
    use crate::policy::evidence::Counting;

    fn at(minute: u64) -> Position {
        Position { at: Time::from_millis(0) + minutes(minute), id: DeliveryId(minute) }
    }

    fn refused(minutes: impl IntoIterator<Item = u64>) -> Vec<Attempt> {
        let of = |minute| Attempt {
            position: at(minute),
            status_code: 401 + i32::try_from(minute % 2).expect("small"),
            outcome: Outcome::Refused,
            redelivery: false,
            counting: Counting::Counts,
        };
        minutes.into_iter().map(of).collect()
    }

    fn since(refusals: &Refusals) -> Option<Time> {
        refusals.refusing().map(|refusing| refusing.since)
    }

    #[test]
    fn ten_over_half_an_hour_and_no_fewer() {
        for (minutes, expected) in [
            ((0..9).map(|minute| minute * 5).collect::<Vec<u64>>(), None),
            ((0..10).map(|minute| minute * 3).collect(), None),
            ((0..9).chain([30]).collect(), Some(at(0).at)),
        ] {
            let mut refusals = Refusals::default();
            refusals.take(None, refused(minutes));
            assert_eq!(since(&refusals), expected);
        }
    }

    #[test]
    fn several_sweeps_add_up_and_name_all_codes() {
        let mut refusals = Refusals::default();
        refusals.take(Some(at(3)), refused([1, 2, 3, 4, 5, 6]));
        refusals.take(None, refused([20, 21, 22, 23, 24, 25]));
        assert_eq!(refusals.refusing(), None);
        refusals.take(Some(at(2)), refused([34]));
        assert_eq!(refusals.refusing(), Some(Refusing { since: at(4).at, codes: vec![401, 402] }));
    }

    #[test]
    fn a_pass_since_the_first_refusal_ends_it_and_an_older_one_does_not() {
        let mut refusals = Refusals::default();
        refusals.take(Some(at(9)), refused(10..50));
        assert!(refusals.refusing().is_some());
        refusals.take(Some(at(8)), []);
        assert!(refusals.refusing().is_some());
        let mut late = refusals.clone();
        late.take(Some(at(30)), []);
        assert_eq!(late.refusing(), None, "one that is listed late, among them");
        refusals.take(Some(at(60)), refused([61]));
        assert_eq!(refusals.refusing(), None);
        refusals.take(None, refused(62..100));
        assert_eq!(since(&refusals), Some(at(61).at));
    }

    #[test]
    fn an_older_refusal_that_is_read_late_comes_first() {
        let mut refusals = Refusals::default();
        refusals.take(Some(at(0)), refused(40..60));
        refusals.take(None, refused([20]));
        assert_eq!(since(&refusals), Some(at(20).at));
    }

    #[test]
    fn no_more_codes_are_kept_than_anybody_reads() {
        let mut refusals = Refusals::default();
        let codes = |code| Attempt { status_code: code, ..refused([u64::try_from(code).expect("positive")])[0] };
        refusals.take(None, (300..500).rev().map(codes));
        assert_eq!(refusals.refusing().map(|refusing| refusing.codes), Some((300..316).collect()));
        assert!(serde_json::to_string(&refusals).expect("it is stored").len() < 400);
    }
}
