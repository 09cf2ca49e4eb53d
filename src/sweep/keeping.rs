//! The history of sweeps, one row more with the last write of each.

use super::Run;
use super::state::State;
use crate::ports::{Clock, Key, Network, Signer, Storage};
use crate::status::history::{History, Row};

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// The history with this sweep in it, as it is stored. `None` if it cannot be: no sweep fails for that.
    pub(super) async fn history(&self, state: &State) -> Option<String> {
        if self.config.app_id.is_empty() {
            // Without an App there is no page to show it on.
            return None;
        }
        self.history_with(state).await?.write().ok()
    }

    /// The history as it is once this sweep is in it. `None` if it cannot be read.
    pub(super) async fn history_with(&self, state: &State) -> Option<History> {
        let mut history = History::read(self.world.storage.read(Key::History).await.ok()?.as_deref());
        let failure = state.failures.last.filter(|_| state.failures.in_a_row > 0).map(|last| last.class);
        let outage = state.ledger.outage.is_some();
        history.push(Row::of(&self.report, failure, outage, self.world.budget.used()));
        Some(history)
    }
}
