//! Which of the events that may be asked for are asked for in this sweep, and in what order.

use super::decision::Decision;
use super::{Judged, PlannedAsk, Verdict, Wait};
use crate::policy::delivery::{Guid, Position};
use crate::policy::event::Ask;
use crate::policy::order::{self, oldest_first};
use crate::policy::time::Time;

/// An event that may be asked for.
pub(super) struct Candidate {
    /// Counted attempts.
    pub(super) attempts: usize,
    /// Its first delivery.
    pub(super) first: Position,
    /// Its identity.
    pub(super) guid: Guid,
}

impl Decision<'_> {
    /// Chooses, and writes the asks into the ledger. `after` is the newest delivery of the whole list.
    pub(super) fn choose(&mut self, mut candidates: Vec<Candidate>, after: Time) -> Vec<PlannedAsk> {
        let (most, wait) = self.order(&mut candidates);
        let mut asks = Vec::new();
        for (place, Candidate { attempts, guid, .. }) in candidates.into_iter().enumerate() {
            let Some(event) = self.ledger.events.get_mut(&guid) else { continue };
            let Some(newest) = event.newest().copied() else { continue };
            let verdict = if place < most { Verdict::Redeliver } else { Verdict::Waiting(wait) };
            match verdict {
                Verdict::Redeliver => self.tally.redelivered += 1,
                _ => self.tally.waiting += 1,
            }
            if verdict == Verdict::Redeliver && !self.settings.dry_run {
                event.asks.push(Ask { at: self.now, after, on: newest.position, taken: false });
                asks.push(PlannedAsk { guid, delivery: newest.position.id, attempts });
            }
            if self.explain {
                self.judged.push(Judged { event: event.clone(), verdict });
            }
        }
        asks
    }

    /// Puts them in order, and says how many are asked for and why the others wait.
    ///
    /// The fewest attempts first, then the oldest event. In an outage one is asked for, a probe, since the others would fail
    /// too: the least recently asked, then the oldest.
    fn order(&self, candidates: &mut Vec<Candidate>) -> (usize, Wait) {
        let Some(outage) = self.ledger.outage else {
            order::sort(candidates, |candidate| oldest_first(i64::try_from(candidate.attempts).unwrap_or(i64::MAX), candidate.first));
            return (self.settings.max_redeliveries, Wait::Turn);
        };
        let last_ask = |guid: &Guid| self.ledger.events.get(guid).and_then(|event| event.asks.last()).map(|ask| ask.at);
        order::sort(candidates, |candidate| oldest_first(last_ask(&candidate.guid).map_or(i64::MIN, Time::millis), candidate.first));
        let newest_ask = self.ledger.events.values().filter_map(|event| event.asks.last()).map(|ask| ask.at).max();
        (usize::from(outage.is_probe_due(newest_ask, self.now)), Wait::Outage)
    }
}
