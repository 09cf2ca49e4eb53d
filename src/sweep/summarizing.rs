//! The daily summary: one silent message, with the last call that is left.

use super::state::State;
use super::{Caller, Kept, Run, SweepError};
use crate::alarm::channels::Ways;
use crate::alarm::summary::due;
use crate::policy::time::Time;
use crate::ports::{Clock, Network, Signer, Storage};

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// Sends the summary if it is due. That it was sent is saved before: a crash, or an answer that is lost, costs a summary and never
    /// makes a second one. Only where it is certain that none was sent, the next sweep tries again.
    pub(super) async fn summarize(&mut self, state: &mut State) -> Result<(), SweepError> {
        let Some(due) = self.summary_due(state) else { return Ok(()) };
        // Without figures there is nothing to say; the next sweep may be able to read them.
        let Some(history) = self.history_with(state).await else { return Ok(()) };
        let last = state.alarm.summary_of.replace(due);
        if let Err(error) = self.save(state, Kept::Lease).await {
            state.alarm.summary_of = last;
            return Err(error);
        }
        let alarm = self.alarm(state);
        if let Err(error) = self.channels.summarize(&mut state.alarm, &alarm, &history.last_day(self.now), self.now).await {
            if !error.may_have_worked() {
                state.alarm.summary_of = last;
            }
            self.warn(&error);
        }
        Ok(())
    }

    /// After the alarm, the asks and the heartbeat, and only in a chat that can be reached and shows what is so.
    fn summary_due(&self, state: &State) -> Option<Time> {
        let at = self.config.daily_summary?;
        let due = due(at, state.alarm.summary_of, self.now)?;
        let may = self.caller == Caller::Schedule && !self.config.settings.dry_run && self.world.budget.left() > 0;
        (may && self.has_told_all(state, Ways::WithoutGitHub)).then_some(due)
    }
}
