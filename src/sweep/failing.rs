//! When the sweep itself fails (spec section 9): the failure is logged and kept, and told if it is not the first in a row.

use super::failures::Failures;
use super::report::{Ending, Line, Stamp, chain};
use super::state::{State, Stopgap};
use super::{Kept, Run, SweepError, World};
use crate::alarm::channels::Ways;
use crate::config::Config;
use crate::failure::FailureClass;
use crate::github::api::Api;
use crate::policy::time::Time;
use crate::ports::{Clock, Key, Network, Signer, Storage};

/// The object of no App: takes out what it told, now that the settings name an App and another object sweeps.
pub async fn settle<N: Network, S: Signer, C: Clock, T: Storage>(world: &World<'_, N, S, C, T>, config: &Config, now: Time) {
    let api = Api::new(world.network, world.signer, world.clock, &config.api_url, &config.app_id);
    let mut run = Run::new(world, config, &api, now);
    if let Err(error) = run.settle().await {
        run.log_failure(&error);
    }
}

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// The sweep failed. `state` holds what was done up to then.
    pub(super) async fn fail(&mut self, error: &SweepError, mut state: State) {
        let class = error.class();
        if class == FailureClass::State {
            return self.fail_without_state(error, Some(state)).await;
        }
        self.log_failure(error);
        state.failures.note(self.now, class, error.wait());
        self.report_failures(&state.failures);
        // What was decided before GitHub turned the asks away is told too; else the alarm stays as it is until the second failure.
        if state.failures.told().is_some() || self.passed.is_some() {
            self.tell(&mut state, ways(class)).await;
            self.report_lost_channels(&state);
        }
        if let Err(error) = self.save(&state, Kept::Done).await {
            self.fail_without_state(&error, Some(state)).await;
        }
    }

    /// The state cannot be read, or not be written, and stays as it is: the failure is kept under a key of its own.
    pub(super) async fn fail_without_state(&mut self, error: &SweepError, state: Option<State>) {
        self.log_failure(error);
        let mut state = match (state, self.stopgap().await) {
            (Some(state), _) => state,
            (None, stopgap) => {
                let mut state = State::default();
                state.take_in(stopgap.unwrap_or_default(), self.now);
                state.move_to(self.now);
                state
            }
        };
        state.failures.note(self.now, error.class(), None);
        self.report_failures(&state.failures);
        if state.failures.told().is_some() {
            self.tell(&mut state, ways(error.class())).await;
            self.report_lost_channels(&state);
        }
        if let Err(error) =
            self.save_stopgap(Stopgap { failures: state.failures, alarm: state.alarm, own: state.ledger.own, heard: state.heard }).await
        {
            self.log_failure(&error);
        }
    }

    async fn save_stopgap(&self, stopgap: Stopgap) -> Result<(), SweepError> {
        let text = serde_json::to_string(&stopgap).map_err(SweepError::Write)?;
        // Without its lease this sweep is not taken for a killed one.
        Ok(self.world.storage.write(&[(Key::Stopgap, Some(text.as_str())), (Key::Lease, None)]).await?)
    }

    async fn settle(&mut self) -> Result<(), SweepError> {
        let storage = self.world.storage;
        let Some(text) = storage.read(Key::State).await? else { return Ok(()) };
        let mut state = State::read(&text)?;
        state.move_to(self.now);
        state.failures = state.failures.after_success();
        self.tell(&mut state, Ways::WithoutGitHub).await;
        if self.has_told_all(&state, Ways::WithoutGitHub) {
            return Ok(storage.write(&[(Key::State, None), (Key::History, None), (Key::Lease, None)]).await?);
        }
        self.save(&state, Kept::Done).await
    }

    pub(super) fn report_failures(&mut self, failures: &Failures) {
        self.report.failures_in_a_row = failures.in_a_row;
        self.report.wait_until = failures.wait().map(|wait| Stamp(wait.until));
    }

    fn log_failure(&mut self, error: &SweepError) {
        self.report.ending = Ending::Failed;
        self.report.failure = Some(error.class());
        log::error!("{}", Line::Failure { app: &self.config.app_id, class: Some(error.class()), error: chain(error) }.json());
    }
}

/// Where GitHub itself fails, or may not be called, the control repository waits.
fn ways(class: FailureClass) -> Ways {
    match class {
        FailureClass::State | FailureClass::Killed => Ways::All,
        FailureClass::Config
        | FailureClass::Auth
        | FailureClass::RateLimited
        | FailureClass::ServerError
        | FailureClass::Transport
        | FailureClass::Decode => Ways::WithoutGitHub,
    }
}
