//! How a sweep begins: the lease is taken and the state loaded (spec sections 3.2 and 9).

use super::report::Ending;
use super::state::{State, StateError, Stopgap};
use super::{Caller, Run, SweepError};
use crate::alarm::entry::entries;
use crate::failure::FailureClass;
use crate::json;
use crate::policy::lease::{self, Lease, Taking};
use crate::policy::own::Others;
use crate::policy::reading::CLOCK_IS_WRONG;
use crate::policy::time::Time;
use crate::ports::{Clock, Key, Network, Signer, Storage, StorageError};

/// A sweep that has begun.
pub(super) struct Begun {
    /// Sweeps in a row that were killed before it.
    pub(super) killed_in_a_row: u32,
    pub(super) state: State,
}

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// Takes the lease and loads the state; `None` if there is nothing to do for this tick.
    pub(super) async fn begin(&mut self) -> Result<Option<Begun>, SweepError> {
        // Nothing is awaited but the storage up to the write, so no other event of the object comes in between.
        let storage = self.world.storage;
        let found = Lease::read(storage.read(Key::Lease).await?.as_deref());
        let lease = match lease::take(found, self.now) {
            Taking::Taken(lease) => lease,
            Taking::Held(other) => {
                self.report.ending = Ending::Held;
                self.report.warnings.push(format!("another sweep holds the lease until {}", other.until));
                return Ok(None);
            }
        };
        let stopgap = self.stopgap().await;
        self.has_stopgap = stopgap.is_some();
        let text = storage.read(Key::State).await?;
        let (mut state, aside) = match text.as_deref().map(State::read) {
            None => (State::default(), None),
            Some(Ok(state)) => (state, None),
            Some(Err(StateError::Unreadable)) => (State::default(), Some(self.aside().await?)),
            Some(Err(error @ StateError::Newer(_))) => {
                let failed_at = stopgap.and_then(|stopgap| stopgap.failures.last).map(|failure| failure.at);
                return if self.is_later_than(failed_at) { Err(error.into()) } else { Ok(self.nothing(Ending::NotLater)) };
            }
        };
        if let Some(stopgap) = stopgap {
            state.take_in(stopgap, self.now);
        }
        if let Some(ending) = self.ends_at_once(&state) {
            return Ok(self.nothing(ending));
        }
        state.move_to(self.now);
        if self.config.is_one_of_several {
            // Their times are those of GitHub's clock, and a tick may come late.
            state.hear(&Others::read(storage.read(Key::Others).await?.as_deref()));
        }
        if let Some(killed) = found {
            state.failures.note(killed.taken_at.min(self.now), FailureClass::Killed, None);
            // Nothing is shown before the plan is saved.
            let planned = state.ledger.swept_at == Some(killed.taken_at);
            state.alarm.doubt(planned.then(|| entries(&state.ledger)).as_deref());
            self.killed_at = Some(killed.taken_at);
        }
        // With the lease, so that each killed sweep is counted once, and since when stays the same.
        let killed_text = found.map(|_| state.write()).transpose().map_err(SweepError::Write)?;
        let lease_text = serde_json::to_string(&lease).map_err(SweepError::Write)?;
        let mut values = killed_text.as_deref().map(|text| self.values(text)).unwrap_or_default();
        values.push((Key::Lease, Some(lease_text.as_str())));
        values.extend(aside.map(|key| (key, text.as_deref())));
        storage.write(&values).await?;
        Ok(Some(Begun { killed_in_a_row: lease.killed_in_a_row, state }))
    }

    /// Whether there is nothing to do for this tick: it is an old one, or GitHub is to be left alone.
    fn ends_at_once(&mut self, state: &State) -> Option<Ending> {
        let failures = &state.failures;
        let failed_at = failures.last.filter(|_| failures.in_a_row > 0).map(|failure| failure.at);
        if !self.is_later_than(state.ledger.swept_at) || !self.is_later_than(failed_at) {
            return Some(Ending::NotLater);
        }
        let wait = match self.caller {
            Caller::Schedule => failures.waiting(self.now),
            Caller::Person => failures.waiting_as_named(self.now),
        };
        // Settings that cannot be used are told at once: GitHub is not called.
        wait.filter(|_| self.problems.is_none())?;
        self.report_failures(failures);
        Some(Ending::Waiting)
    }

    /// What was kept while the state could not be read or written. One that cannot be read itself counts as none.
    pub(super) async fn stopgap(&self) -> Option<Stopgap> {
        let text = self.world.storage.read(Key::Stopgap).await.ok()??;
        json::read(text.as_bytes()).ok()
    }

    /// Where a state that cannot be read is put aside: the first one stays, of all that follow the last.
    async fn aside(&mut self) -> Result<Key, StorageError> {
        let key = if self.world.storage.read(Key::Aside).await?.is_none() { Key::Aside } else { Key::AsideLast };
        let warning = format!("the stored state cannot be read: it is kept as {:?}, and this is a first sweep", key.as_str());
        self.report.warnings.push(warning);
        Ok(key)
    }

    fn nothing(&mut self, ending: Ending) -> Option<Begun> {
        self.report.ending = ending;
        None
    }

    fn is_later_than(&mut self, last: Option<Time>) -> bool {
        let Some(last) = last else { return true };
        if last.since(self.now) > CLOCK_IS_WRONG {
            let warning = format!("the last sweep was at {last}, long after this one: a clock was wrong, so it is passed over");
            self.report.warnings.push(warning);
            return true;
        }
        self.now > last
    }
}
