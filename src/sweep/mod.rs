//! One sweep: from the tick to the saved state (spec section 3).
//!
//! It is async, but generic over the ports, so tests run it natively against fakes. It decides nothing itself: which
//! page comes next, which events are asked for again and what is kept is the policy's; what is told is the alarm's.

mod asking;
mod reading;
pub mod report;
pub mod state;

#[cfg(test)]
mod tests;

use crate::alarm::Alarm;
use crate::alarm::channels::Channels;
use crate::alarm::entry::entries;
use crate::config::Config;
use crate::github::api::Api;
use crate::github::error::{FailureClass, GitHubError};
use crate::policy::budget::Budget;
use crate::policy::lease::{self, Lease, Taking};
use crate::policy::plan::{Plan, decide};
use crate::policy::reading::{CLOCK_IS_WRONG, PageError};
use crate::policy::time::Time;
use crate::ports::{Clock, Key, Network, Signer, Storage, StorageError};
use report::{Ending, Line, Report, Stamp, chain};
use state::{State, StateError};

/// Why a sweep ended before its time.
#[derive(Debug, thiserror::Error)]
pub enum SweepError {
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
            Self::GitHub(error) => error.class(),
            Self::Page(..) => FailureClass::Decode,
            Self::Storage(_) | Self::State(_) | Self::Write(_) => FailureClass::State,
        }
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

/// Sweeps once, at `now`, and says how it went. The report is logged here.
pub async fn sweep<N: Network, S: Signer, C: Clock, T: Storage>(world: &World<'_, N, S, C, T>, config: &Config, now: Time) -> Report {
    let started = world.clock.now();
    let api = Api::new(world.network, world.signer, world.clock, &config.api_url, &config.app_id);
    let mut run = Run {
        world,
        config,
        now,
        api: &api,
        channels: Channels::new(world.network, world.clock, &api, world.budget, config),
        report: Report::new(&config.app_id, now, config.settings.subrequest_limit),
    };
    if let Err(error) = run.sweep().await {
        run.fail(&error);
    }
    let mut report = run.report;
    report.calls = world.budget.used();
    report.duration_ms = u64::try_from(world.clock.now().since(started).as_millis()).unwrap_or(u64::MAX);
    let line = serde_json::to_string(&report).unwrap_or_default();
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
    now: Time,
    api: &'a Api<'a, N, S, C>,
    channels: Channels<'a, N, S, C>,
    report: Report,
}

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    async fn sweep(&mut self) -> Result<(), SweepError> {
        if self.channels.are_none() && !self.config.settings.dry_run {
            self.report
                .warnings
                .push("no channel of the alarm is set: set TELEGRAM_BOT_TOKEN and TELEGRAM_CHAT_ID, or CONTROL_REPO".to_owned());
        }
        let Some((lease, state)) = self.begin().await? else { return Ok(()) };
        self.report.killed_in_a_row = lease.killed_in_a_row;
        if let Err(error) = self.work(lease, state).await? {
            self.fail(&error);
        }
        Ok(())
    }

    /// Takes the lease and loads the state; `None` if there is nothing to do for this tick.
    async fn begin(&mut self) -> Result<Option<(Lease, State)>, SweepError> {
        // Nothing is awaited but the storage up to the write, so no other event of the object comes in between.
        let storage = self.world.storage;
        let found: Option<Lease> = storage.read(Key::Lease).await?.and_then(|text| serde_json::from_str(&text).ok());
        let killed = found;
        let lease = match lease::take(found, self.now) {
            Taking::Taken(lease) => lease,
            Taking::Held(other) => {
                self.report.ending = Ending::Held;
                self.report.warnings.push(format!("another sweep holds the lease until {}", other.until));
                return Ok(None);
            }
        };
        let text = storage.read(Key::State).await?;
        let mut state = State::default();
        let mut aside = None;
        match text.as_deref().map(State::read) {
            None => {}
            Some(Ok(read)) => state = read,
            Some(Err(StateError::Unreadable)) => {
                self.report
                    .warnings
                    .push(format!("the stored state cannot be read: it is kept as {:?}, and this is a first sweep", Key::Aside.as_str()));
                aside = text.as_deref();
            }
            Some(Err(error @ StateError::Newer(_))) => return Err(error.into()),
        }
        if !self.is_later_than(state.ledger.swept_at) {
            self.report.ending = Ending::NotLater;
            return Ok(None);
        }
        if let Some(killed) = killed {
            state.failures.note(killed.taken_at, FailureClass::Killed);
        }
        let lease_text = serde_json::to_string(&lease).map_err(SweepError::Write)?;
        let mut values = vec![(Key::Lease, Some(lease_text.as_str()))];
        values.extend(aside.map(|text| (Key::Aside, Some(text))));
        storage.write(&values).await?;
        Ok(Some((lease, state)))
    }

    fn is_later_than(&mut self, swept_at: Option<Time>) -> bool {
        let Some(swept_at) = swept_at else { return true };
        if swept_at.since(self.now) > CLOCK_IS_WRONG {
            self.report
                .warnings
                .push(format!("the last sweep was at {swept_at}, long after this one: a clock was wrong, so it is passed over"));
            return true;
        }
        self.now > swept_at
    }

    /// Reads, decides, saves, asks and tells. The outer error is the storage's: then nothing more can be saved.
    async fn work(&mut self, lease: Lease, mut state: State) -> Result<Result<(), SweepError>, SweepError> {
        let settings = &self.config.settings;
        state.ledger.move_to(self.now);
        state.ledger.apply(settings, self.now);
        state.alarm.move_to(self.now);
        if lease.killed_in_a_row > 0 {
            state.alarm.doubt();
        }
        let reading = match self.read(&state.ledger, lease.killed_in_a_row > 0).await {
            Ok(Some(reading)) => reading,
            Ok(None) => {
                self.report.ending = Ending::NoRoom;
                self.world.storage.write(&[(Key::Lease, None)]).await?;
                return Ok(Ok(()));
            }
            Err(error) => {
                state.failures.note(self.now, error.class());
                self.save(&state, Kept::Done).await?;
                return Ok(Err(error));
            }
        };
        self.report_reading(&reading);
        let mut plan = decide(std::mem::take(&mut state.ledger), reading, settings, self.now, settings.dry_run);
        self.log_plan(&plan);
        let mut shown = alarm(&plan);
        let quiet = plan.asks.is_empty() && self.channels.are_current(&state.alarm, &shown, self.now);
        if !settings.dry_run && !quiet {
            state.ledger = plan.ledger;
            self.save(&state, Kept::Lease).await?;
            plan.ledger = std::mem::take(&mut state.ledger);
            if let Err(error) = self.ask(&mut plan).await {
                self.report_plan(&plan, &shown);
                state.ledger = plan.ledger;
                state.failures.note(self.now, error.class());
                self.save(&state, Kept::Done).await?;
                return Ok(Err(error.into()));
            }
            shown = alarm(&plan);
            let told = self.channels.show(std::mem::take(&mut state.alarm), &shown, self.now).await;
            state.alarm = told.memory;
            told.errors.iter().for_each(|error| self.warn(error));
            told.app_error.iter().for_each(|error| self.warn(error));
            told.writes.into_iter().for_each(|write| plan.ledger.own.wrote(write));
            self.report_lost_channels(&state);
        }
        if !self.report.channels_lost {
            self.heartbeat().await;
        }
        self.report_plan(&plan, &shown);
        state.ledger = plan.ledger;
        state.ledger.succeed();
        state.failures.in_a_row = 0;
        self.save(&state, Kept::Done).await?;
        Ok(Ok(()))
    }

    /// Saves the state; with the last write the lease goes.
    async fn save(&self, state: &State, kept: Kept) -> Result<(), SweepError> {
        let text = state.write().map_err(SweepError::Write)?;
        let values = [(Key::State, Some(text.as_str())), (Key::Lease, None)];
        let values = if kept == Kept::Lease { &values[..1] } else { &values[..] };
        Ok(self.world.storage.write(values).await?)
    }

    /// If nobody can be told, the run of the schedule fails, and the dead man's switch is not held.
    fn report_lost_channels(&mut self, state: &State) {
        let lost = self.channels.lost(&state.alarm);
        self.report.warnings.extend(lost.iter().map(|(channel, said)| format!("{channel:?} cannot be reached: {said}")));
        self.report.channels_lost = self.channels.are_all_lost(&state.alarm);
    }

    /// One GET for a dead man's switch; its failure fails nothing.
    async fn heartbeat(&mut self) {
        let Some(url) = &self.config.heartbeat_url else { return };
        let call = crate::ports::Call {
            method: crate::ports::Method::Get,
            url: url.expose(),
            headers: &[("user-agent", "github-app-redeliver")],
            body: None,
        };
        match self.world.network.call(call).await {
            Ok(answer) if (200..300).contains(&answer.status) => {}
            Ok(answer) => self.report.warnings.push(format!("the heartbeat was answered with {}", answer.status)),
            Err(error) => self.report.warnings.push(format!("the heartbeat failed: {error}")),
        }
    }

    /// Something failed that does not fail the sweep.
    fn warn(&self, error: &dyn std::error::Error) {
        log::warn!("{}", Line::Failure { app: &self.config.app_id, class: None, error: chain(error) }.json());
    }

    fn fail(&mut self, error: &SweepError) {
        self.report.ending = Ending::Failed;
        self.report.failure = Some(error.class());
        log::error!("{}", Line::Failure { app: &self.config.app_id, class: Some(error.class()), error: chain(error) }.json());
    }

    fn report_plan(&mut self, plan: &Plan, alarm: &Alarm) {
        let report = &mut self.report;
        if self.config.settings.dry_run {
            report.ending = Ending::DryRun;
        }
        report.events = plan.tally.into();
        report.attempts_not_counted = plan.tally.attempts_not_counted;
        report.alarm_entries = alarm.entries.len();
        let ground = &plan.ledger.ground;
        report.cursor = ground.cursor.map(Into::into);
        report.watched_since = ground.watched_since.map(Stamp);
        report.gaps = ground.gaps.len();
        report.newest_gap = ground.gaps.first().map(|gap| Stamp(gap.newer_end.at));
    }

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

/// What is to be shown after `plan`. The channels add what they know of the App.
fn alarm(plan: &Plan) -> Alarm {
    Alarm { entries: entries(&plan.ledger), passed: plan.recovered.clone(), ..Alarm::default() }
}

/// What a save leaves behind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kept {
    /// The sweep goes on.
    Lease,
    /// It was the last write.
    Done,
}
