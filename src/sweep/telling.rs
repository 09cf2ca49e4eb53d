//! What a sweep tells, and whom (spec section 8): the two channels of the alarm, and a dead man's switch.

use super::report::{Line, chain};
use super::state::State;
use super::{Kept, Run, SweepError};
use crate::alarm::channels::Ways;
use crate::alarm::entry::{Entry, Failing, entries, with_failing};
use crate::alarm::text::name_of;
use crate::alarm::{Alarm, Memory};
use crate::config::Problems;
use crate::failure::FailureClass;
use crate::policy::delivery::Guid;
use crate::policy::plan::Plan;
use crate::ports::{Call, Clock, Method, Network, Signer, Storage};

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// What a maintainer should know of the settings, although they can be used.
    pub(super) fn warn_of_settings(&mut self) {
        if self.problems.is_none() {
            self.report.warnings.extend_from_slice(&self.config.warnings);
        }
        if self.channels.are_none() && !self.config.settings.dry_run {
            self.report
                .warnings
                .push("no channel of the alarm is set: set TELEGRAM_BOT_TOKEN and TELEGRAM_CHAT_ID, or CONTROL_REPO".to_owned());
        }
    }

    /// Whether both channels show already what is so after `plan`, if the sweep succeeds.
    pub(super) fn is_current(&self, memory: &Memory, plan: &Plan) -> bool {
        let alarm = self.alarm_of(entries(&plan.ledger), plan.recovered.clone());
        self.channels.are_current(memory, &alarm, self.now, Ways::All)
    }

    /// Shows what is so on each of these channels that shows something else.
    pub(super) async fn tell(&mut self, state: &mut State, ways: Ways) {
        let alarm = self.alarm(state);
        self.report.alarm_entries = alarm.entries.len();
        if self.config.settings.dry_run || self.channels.are_current(&state.alarm, &alarm, self.now, ways) {
            return;
        }
        let told = self.channels.show(std::mem::take(&mut state.alarm), &alarm, self.now, ways).await;
        state.alarm = told.memory;
        told.errors.iter().for_each(|error| self.warn(error));
        told.app_error.iter().for_each(|error| self.warn(error));
        let own = &mut state.ledger.own;
        let mut writes = own.forgotten(told.stood, self.killed_at);
        writes.extend(told.writes);
        self.report.writes.extend_from_slice(&writes);
        for write in writes {
            own.wrote(write);
        }
    }

    /// Two sweeps in a row were killed, and this one may be: it tells first, and saves that it did.
    pub(super) async fn tell_before_reading(&mut self, state: &mut State) -> Result<(), SweepError> {
        self.tell(state, Ways::All).await;
        if self.channels.used() > 0 { self.save(state, Kept::Lease).await } else { Ok(()) }
    }

    pub(super) fn has_told_all(&self, state: &State, ways: Ways) -> bool {
        self.channels.are_current(&state.alarm, &self.alarm(state), self.now, ways)
    }

    /// What is to be shown. The channels add what they know of the App.
    pub(super) fn alarm(&self, state: &State) -> Alarm {
        let mut entries = entries(&state.ledger);
        if let Some((since, class)) = state.failures.told() {
            let problems = self.problems.filter(|_| class == FailureClass::Config);
            entries = with_failing(entries, Failing { since, class, problems: problems.map(Problems::texts).unwrap_or_default() });
        }
        self.alarm_of(entries, self.passed.clone().unwrap_or_default())
    }

    fn alarm_of(&self, entries: Vec<Entry>, passed: Vec<Guid>) -> Alarm {
        let one_of_several = self.config.is_one_of_several.then(|| self.config.app_id.clone());
        let status_url = self.config.status_url.clone();
        Alarm { entries, passed, status_url, one_of_several, retention: self.config.settings.retention, ..Alarm::default() }
    }

    /// If nobody can be told, the run of the schedule fails, and the dead man's switch is not held.
    pub(super) fn report_lost_channels(&mut self, state: &State) {
        if self.config.settings.dry_run {
            return;
        }
        let lost = self.channels.lost(&state.alarm);
        self.report.warnings.extend(lost.iter().map(|(channel, said)| format!("{} cannot be reached: {said}", name_of(*channel))));
        self.report.channels_lost = self.channels.are_all_lost(&state.alarm);
    }

    /// One GET for a dead man's switch; its failure fails nothing.
    pub(super) async fn heartbeat(&mut self) {
        let Some(url) = &self.config.heartbeat_url else { return };
        let headers = &[("user-agent", "github-app-redeliver")];
        let call = Call { method: Method::Get, url: url.expose(), headers, body: None };
        match self.world.network.call(call).await {
            Ok(answer) if (200..300).contains(&answer.status) => {}
            Ok(answer) => self.report.warnings.push(format!("the heartbeat was answered with {}", answer.status)),
            Err(error) => self.report.warnings.push(format!("the heartbeat failed: {error}")),
        }
    }

    /// Something failed that does not fail the sweep.
    pub(super) fn warn(&self, error: &dyn std::error::Error) {
        log::warn!("{}", Line::Failure { app: &self.config.app_id, class: None, error: chain(error) }.json());
    }
}
