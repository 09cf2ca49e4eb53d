//! One sweep: from the tick to the saved state (spec section 3).
//!
//! It is async, but generic over the ports, so tests run it natively against fakes. It decides nothing itself: which
//! page comes next, which events are asked for again and what is kept is the policy's; what is told is the alarm's.

mod asking;
mod beginning;
mod failing;
pub mod failures;
mod keeping;
mod planning;
mod reading;
pub mod report;
pub mod state;
mod summarizing;
mod telling;

#[cfg(test)]
mod tests;

use std::time::Duration;

use crate::alarm::channels::{Channels, Ways};
use crate::config::{Config, Problems, Unusable};
use crate::failure::FailureClass;
use crate::github::api::Api;
use crate::github::error::GitHubError;
use crate::json;
use crate::policy::budget::Budget;
use crate::policy::delivery::Guid;
use crate::policy::ledger::Ledger;
use crate::policy::plan::{Plan, Tally};
use crate::policy::reading::PageError;
use crate::policy::time::Time;
use crate::ports::{Clock, Key, Network, Signer, Storage, StorageError};
use beginning::Begun;
pub use failing::settle;
pub use planning::{Planned, plan};
use report::{Ending, Line, Report, Stamp};
use state::{State, StateError};

/// Why a sweep ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
    /// The settings.
    #[error(transparent)]
    Settings(Problems),
    /// GitHub, or the way to it.
    #[error(transparent)]
    GitHub(#[from] GitHubError),
    /// A page is no list of deliveries.
    #[error("a page of {0:?} cannot be read")]
    Page(crate::policy::reading::List, #[source] PageError),
    /// The storage.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The stored state.
    #[error(transparent)]
    State(#[from] StateError),
    /// The state cannot be written.
    #[error("the state cannot be written")]
    Write(#[source] serde_json::Error),
}

impl SweepError {
    /// Its class.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Settings(_) => FailureClass::Config,
            Self::GitHub(error) => error.class(),
            Self::Page(..) => FailureClass::Decode,
            Self::Storage(_) | Self::State(_) | Self::Write(_) => FailureClass::State,
        }
    }

    /// The wait that GitHub names.
    fn wait(&self) -> Option<Duration> {
        if let Self::GitHub(error) = self { error.wait() } else { None }
    }
}

/// The outside world of one sweep.
#[derive(Debug)]
pub struct World<'a, N, S, C, T> {
    /// Outgoing calls, counted against `budget`.
    pub network: &'a N,
    /// The runtime's signature.
    pub signer: &'a S,
    /// The real clock.
    pub clock: &'a C,
    /// The Durable Object's storage.
    pub storage: &'a T,
    /// The calls of this invocation.
    pub budget: &'a Budget,
}

/// Who wants a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// The schedule.
    Schedule,
    /// A person: for them a wait of our own after a failure, which is only a guess, is no reason not to try.
    Person,
}

/// Sweeps once, at `now`, and says how it went. The report is logged here.
pub async fn sweep<N: Network, S: Signer, C: Clock, T: Storage>(world: &World<'_, N, S, C, T>, config: &Config, now: Time) -> Report {
    run(world, config, None, (Caller::Schedule, now)).await
}

/// The same for a person.
pub async fn sweep_by_hand<N: Network, S: Signer, C: Clock, T: Storage>(
    world: &World<'_, N, S, C, T>,
    config: &Config,
    now: Time,
) -> Report {
    run(world, config, None, (Caller::Person, now)).await
}

/// A sweep whose settings cannot be used: no call to GitHub, but the failure is kept, and told if it is not the first.
pub async fn sweep_without_settings<N: Network, S: Signer, C: Clock, T: Storage>(
    world: &World<'_, N, S, C, T>,
    unusable: &Unusable,
    now: Time,
) -> Report {
    run(world, &unusable.right, Some(&unusable.problems), (Caller::Schedule, now)).await
}

async fn run<N: Network, S: Signer, C: Clock, T: Storage>(
    world: &World<'_, N, S, C, T>,
    config: &Config,
    problems: Option<&Problems>,
    (caller, now): (Caller, Time),
) -> Report {
    let started = world.clock.now();
    let api = Api::new(world.network, world.signer, world.clock, &config.api_url, &config.app_id);
    let mut run = Run::new(world, config, &api, now);
    run.problems = problems;
    run.caller = caller;
    run.sweep().await;
    let report = run.ended(started);
    let line = json::write(&report);
    if report.is_failure() {
        log::error!("{line}");
    } else {
        log::info!("{line}");
    }
    report
}

struct Run<'a, N, S, C, T> {
    world: &'a World<'a, N, S, C, T>,
    config: &'a Config,
    /// Why the settings cannot be used, if so.
    problems: Option<&'a Problems>,
    caller: Caller,
    now: Time,
    api: &'a Api<'a, N, S, C>,
    channels: Channels<'a, N, S, C>,
    report: Report,
    /// The events that passed, once it is decided.
    passed: Option<Vec<Guid>>,
    /// Whether there is a stopgap, which the next save takes out.
    has_stopgap: bool,
    /// When the sweep before began, if it was killed.
    killed_at: Option<Time>,
}

impl<'a, N: Network, S: Signer, C: Clock, T: Storage> Run<'a, N, S, C, T> {
    fn new(world: &'a World<'a, N, S, C, T>, config: &'a Config, api: &'a Api<'a, N, S, C>, now: Time) -> Self {
        Self {
            world,
            config,
            problems: None,
            caller: Caller::Schedule,
            now,
            api,
            channels: Channels::new(world.network, world.clock, api, world.budget, config),
            report: Report::new(&config.app_id, now, config.settings.subrequest_limit),
            passed: None,
            has_stopgap: false,
            killed_at: None,
        }
    }

    /// Its report, now that it has ended.
    fn ended(self, started: Time) -> Report {
        let mut report = self.report;
        report.calls = self.world.budget.used();
        report.duration_ms = u64::try_from(self.world.clock.now().since(started).as_millis()).unwrap_or(u64::MAX);
        report
    }

    /// One sweep, whatever becomes of it: a failure is logged, kept and told here.
    async fn sweep(&mut self) {
        self.warn_of_settings();
        let Begun { killed_in_a_row, mut state } = match self.begin().await {
            Ok(Some(begun)) => begun,
            Ok(None) => return,
            Err(error) => return self.fail_without_state(&error, None).await,
        };
        self.report.killed_in_a_row = killed_in_a_row;
        let done = match self.problems {
            Some(problems) => Err(SweepError::Settings(problems.clone())),
            None => self.work(killed_in_a_row, &mut state).await,
        };
        if let Err(error) = done {
            self.fail(&error, state).await;
        }
    }

    /// Reads, decides, saves, asks and tells.
    async fn work(&mut self, killed_in_a_row: u32, state: &mut State) -> Result<(), SweepError> {
        let settings = &self.config.settings;
        state.ledger.apply(settings, self.now);
        if killed_in_a_row >= failures::TOLD_FROM {
            self.tell_before_reading(state).await?;
        }
        let Some(mut plan) = self.plan(&mut state.ledger, killed_in_a_row > 0, settings.dry_run).await? else {
            self.report.ending = Ending::NoRoom;
            self.report.warnings.push("no page of the deliveries list fits the calls that are left: raise SUBREQUEST_LIMIT".to_owned());
            return Ok(self.world.storage.write(&[(Key::Lease, None)]).await?);
        };
        self.log_plan(&plan);
        let quiet = plan.asks.is_empty() && self.is_current(&state.alarm, &plan);
        self.passed = Some(std::mem::take(&mut plan.recovered));
        if !settings.dry_run && !quiet {
            state.ledger = plan.ledger;
            self.save(state, Kept::Lease).await?;
            plan.ledger = std::mem::take(&mut state.ledger);
        }
        let asked = self.ask(&mut plan).await;
        state.ledger = plan.ledger;
        self.report_plan(plan.tally, &state.ledger);
        asked?;
        let before = state.failures;
        state.failures = before.after_success();
        state.ledger.succeed();
        self.tell(state, Ways::All).await;
        self.report_lost_channels(state);
        if !self.report.channels_lost {
            self.heartbeat().await;
        }
        let summarized = self.summarize(state).await;
        let saved = if summarized.is_ok() { self.save(state, Kept::Done).await } else { summarized };
        // A sweep that cannot be saved did not succeed.
        saved.inspect_err(|_| state.failures = before)
    }

    /// Saves the state; with the last write the lease goes.
    async fn save(&self, state: &State, kept: Kept) -> Result<(), SweepError> {
        let text = state.write().map_err(SweepError::Write)?;
        let history = if kept == Kept::Done { self.history(state).await } else { None };
        let mut values = self.values(&text);
        values.extend((kept == Kept::Done).then_some((Key::Lease, None)));
        values.extend(history.as_deref().map(|history| (Key::History, Some(history))));
        Ok(self.world.storage.write(&values).await?)
    }

    /// What is written with each state.
    fn values<'v>(&self, state: &'v str) -> Vec<(Key, Option<&'v str>)> {
        let stopgap = self.has_stopgap.then_some((Key::Stopgap, None));
        [(Key::State, Some(state))].into_iter().chain(stopgap).collect()
    }

    #[inline(never)]
    fn report_plan(&mut self, tally: Tally, ledger: &Ledger) {
        let report = &mut self.report;
        if self.config.settings.dry_run {
            report.ending = Ending::DryRun;
        }
        report.events = tally.into();
        report.attempts_not_counted = tally.attempts_not_counted;
        let ground = &ledger.ground;
        report.cursor = ground.cursor.map(Into::into);
        report.watched_since = ground.watched_since.map(Stamp);
        report.gaps = ground.gaps.len();
        report.newest_gap = ground.gaps.first().map(|gap| Stamp(gap.newer_end.at));
    }

    #[inline(never)]
    fn log_plan(&self, plan: &Plan) {
        let app = self.config.app_id.as_str();
        for guid in &plan.gave_up {
            if let Some(event) = plan.ledger.events.get(guid) {
                let line = Line::GaveUp { app, guid, event: &event.event, action: event.action.as_deref(), attempts: event.attempts.len() };
                log::warn!("{}", line.json());
            }
        }
        for judged in &plan.judged {
            let event = &judged.event;
            let line = Line::Plan {
                app,
                guid: &event.guid,
                event: &event.event,
                action: event.action.as_deref(),
                repository_id: event.repository_id,
                first: event.first().map(|first| Stamp(first.at)),
                attempts: event.attempts.iter().map(|attempt| attempt.status_code).collect(),
                verdict: judged.verdict.to_string(),
            };
            log::info!("{}", line.json());
        }
    }
}

/// What a save leaves behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// The sweep goes on.
    Lease,
    /// It was the last write.
    Done,
}
