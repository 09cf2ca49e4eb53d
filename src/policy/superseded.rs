//! A newer event overtakes an older one (spec section 6).
//!
//! A redelivery is late, and a handler that trusts its payload would set an old state again. The list does not say
//! which pull request or check an event is about, so the rule goes by the kind: event name and repository.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::delivery::Position;
use super::event::stored::json_bytes;
use super::order::{self, oldest_first};
use super::settings::Settings;
use super::time::Time;

/// Kinds kept at most: 80 for a fleet of ten repositories, and 0.3 MB of the state at this bound. The oldest go first.
const KINDS: usize = 4_000;

/// The newest event of each kind that passed, by its first delivery.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overtakers {
    newest: BTreeMap<(Rc<str>, u64), Position>,
    /// The event names of the rule, each with the time from which it holds: `None` for one that was there from the start.
    since: BTreeMap<Rc<str>, Option<Time>>,
}

impl Overtakers {
    /// Takes the set of the settings. A name that is new to a known App overtakes only with events first delivered from
    /// now on: a changed setting reopens nothing, and settles nothing in hindsight.
    pub fn apply(&mut self, settings: &Settings, now: Time, first_sweep: bool) {
        let names = &settings.superseded_events;
        self.since.retain(|name, _| names.iter().any(|wanted| **wanted == **name));
        for name in names {
            self.since.entry(name.as_str().into()).or_insert((!first_sweep).then_some(now));
        }
        self.newest.retain(|(event, _), _| self.since.contains_key(event));
    }

    /// Whether events of this kind can overtake, and be overtaken.
    #[must_use]
    pub fn covers(&self, event: &str, repository_id: Option<u64>) -> bool {
        repository_id.is_some() && self.since.contains_key(event)
    }

    /// An event of the kind, first delivered at `first`, passed. A redelivery that passes is not newer because it
    /// passed late, so it is always the first delivery that is told here.
    pub fn passed(&mut self, event: &Rc<str>, repository_id: Option<u64>, first: Position) {
        let (Some(repository), Some(since)) = (repository_id, self.since.get(event)) else { return };
        if since.is_some_and(|since| first.at <= since) {
            return;
        }
        let newest = self.newest.entry((event.clone(), repository)).or_insert(first);
        *newest = first.max(*newest);
    }

    /// The newer event that overtakes one first delivered at `first`, if there is one.
    #[must_use]
    pub fn overtaking(&self, event: &Rc<str>, repository_id: Option<u64>, first: Position) -> Option<Position> {
        let newest = self.newest.get(&(event.clone(), repository_id?))?;
        (*newest > first).then_some(*newest)
    }

    /// Forgets what GitHub no longer keeps, and the oldest beyond the bound.
    pub fn prune(&mut self, retention: Duration, now: Time) {
        self.newest.retain(|_, newest| newest.at + retention >= now);
        if self.newest.len() > KINDS {
            let mut positions: Vec<Position> = self.newest.values().copied().collect();
            order::sort(&mut positions, |position| oldest_first(0, *position));
            let oldest_kept = positions[positions.len() - KINDS];
            self.newest.retain(|_, newest| *newest >= oldest_kept);
        }
    }

    /// Takes a stored time later than `now` as `now`.
    pub fn not_later_than(&mut self, now: Time) {
        for newest in self.newest.values_mut() {
            newest.at = newest.at.min(now);
        }
        for since in self.since.values_mut().flatten() {
            *since = (*since).min(now);
        }
    }

    /// Compares all times by whole seconds from now on.
    pub fn whole_seconds(&mut self) {
        for newest in self.newest.values_mut() {
            *newest = newest.whole_seconds();
        }
    }

    /// Bytes of the stored form at most.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let names: usize = self.since.keys().map(|name| json_bytes(name) + 24).sum();
        self.newest.keys().map(|(event, _)| json_bytes(event) + 70).sum::<usize>() + names
    }
}

/// The stored form: `since` by name, `newest` as `[event, repository_id, [time, id]]`.
#[derive(Serialize, Deserialize)]
struct Wire {
    since: BTreeMap<Rc<str>, Option<Time>>,
    newest: Vec<(Rc<str>, u64, Position)>,
}

impl Serialize for Overtakers {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let newest = self.newest.iter().map(|((event, repository), at)| (event.clone(), *repository, *at)).collect();
        Wire { since: self.since.clone(), newest }.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Overtakers {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let wire = Wire::deserialize(deserializer)?;
        let newest = wire.newest.into_iter().map(|(event, repository, at)| ((event, repository), at)).collect();
        Ok(Self { newest, since: wire.since })
    }
}
