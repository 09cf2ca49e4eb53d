//! How things stand, as one value: made of what is stored and of the present, and shown as a page, as JSON and as metrics.
//!
//! Its JSON form is documented in docs/status.md and pinned by a test: programs read it.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::history::History;
use crate::alarm::entry::{Channel, Entry, Failing, entries, with_failing, with_lost_channel};
use crate::alarm::text::words::{address, events_wait, to_do};
use crate::alarm::{Alarm, Memory};
use crate::config::Config;
use crate::failure::FailureClass;
use crate::json;
use crate::policy::lease::Lease;
use crate::policy::time::{Time, hours, minutes};
use crate::sweep::failures::{Failure, TOLD_FROM};
use crate::sweep::report::Stamp;
use crate::sweep::state::State;

pub use super::view::{CallsView, EntryView, EventsView, FailureView, GapView, OutageView, RecoveringView, RowView, WindowView};

/// A last good sweep that is older than this means that something is wrong.
const STALE: Duration = hours(1);

/// Between two ticks of the schedule (wrangler.toml).
const TICK: Duration = minutes(15);

/// What a status is made of.
#[derive(Debug)]
pub struct Facts<'a> {
    /// The settings, as far as they are right: which App it is, and how long its GitHub keeps a delivery.
    pub right: &'a Config,
    /// The settings, or what is wrong with them, in sentences.
    pub config: Result<&'a Config, Vec<String>>,
    /// What is stored, or why that cannot be used.
    pub state: Result<&'a State, String>,
    /// The last two days.
    pub history: &'a History,
    /// Who sweeps.
    pub lease: Option<Lease>,
    /// The present.
    pub now: Time,
}

/// How things stand, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Nothing is open.
    AllWell,
    /// No sweep has finished yet.
    Starting,
    /// Something is open that a person should look at.
    Attention,
    /// The endpoint does not answer.
    Outage,
    /// The recovery itself does not work.
    Failing,
}

/// How things stand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Of this form. A field may be added to it; none is taken away or changes its meaning.
    pub version: u32,
    /// The App's id.
    pub app: String,
    /// The App's name in addresses, if it is known.
    pub app_name: Option<String>,
    /// The App's Advanced page, if it is known.
    pub advanced_url: Option<String>,
    /// The open issue of the control repository, if there is one.
    pub issue_url: Option<String>,
    /// The present.
    pub now: Stamp,
    /// Whether all is well.
    pub ok: bool,
    /// How things stand.
    pub word: Word,
    /// Why not all is well, in sentences.
    pub reasons: Vec<String>,
    /// What else is worth knowing, in sentences.
    pub notes: Vec<String>,
    /// The last sweep that did not fail.
    pub last_sweep: Option<Stamp>,
    /// The next tick that sweeps.
    pub next_sweep: Stamp,
    /// Since when a sweep is under way, if one is.
    pub sweeping_since: Option<Stamp>,
    /// Sweeps in a row that failed.
    pub failures_in_a_row: u32,
    /// The last failure; it stays after later successes.
    pub last_failure: Option<FailureView>,
    /// What is open, in the order of the alarm.
    pub entries: Vec<EntryView>,
    /// What to do about it, in sentences.
    pub advice: Vec<String>,
    /// The outage of the endpoint that a person is told of.
    pub outage: Option<OutageView>,
    /// Events that wait to be delivered.
    pub waiting: usize,
    /// Events by verdict.
    pub events: EventsView,
    /// The window.
    pub window: WindowView,
    /// Stretches of the list that no sweep has read yet.
    pub gaps: Vec<GapView>,
    /// A recovery by hand that is under way.
    pub recovering: Option<RecoveringView>,
    /// Since when the App is watched.
    pub watched_since: Option<Stamp>,
    /// Calls of the last sweep, and how many it may make.
    pub calls: CallsView,
    /// The sweeps of the last two days, the oldest first.
    pub history: Vec<RowView>,
    /// The path that lets a browser sign in.
    pub login_path: String,
}

impl Status {
    /// How things stand.
    #[must_use]
    pub fn of(facts: &Facts<'_>, login_path: String) -> Self {
        let Facts { history, now, .. } = facts;
        let nothing = State::default();
        let state = *facts.state.as_ref().unwrap_or(&&nothing);
        let (ledger, config) = (&state.ledger, facts.config.as_ref().ok());
        let last_good = last_good(state, history);
        let app = state.alarm.app.as_ref();
        let issue = state.alarm.control_repo.as_ref().and_then(|shown| shown.open_url());
        let alarm = Alarm {
            entries: open_entries(state, &facts.config),
            one_of_several: facts.right.is_one_of_several.then(|| facts.right.app_id.clone()),
            retention: facts.right.settings.retention,
            ..Alarm::default()
        };
        let mut status = Self {
            version: 1,
            app: facts.right.app_id.clone(),
            app_name: app.and_then(|app| app.slug.clone()),
            advanced_url: address(app.and_then(|app| app.advanced_url.as_deref())),
            issue_url: address(issue),
            now: Stamp(*now),
            ok: false,
            word: Word::AllWell,
            reasons: Vec::new(),
            notes: Vec::new(),
            last_sweep: last_good.map(Stamp),
            next_sweep: Stamp(next_tick(state.failures.waiting(*now).map_or(*now, |wait| wait.until))),
            sweeping_since: facts.lease.filter(|lease| *now < lease.until).map(|lease| Stamp(lease.taken_at)),
            failures_in_a_row: state.failures.in_a_row,
            last_failure: state.failures.last.map(|Failure { at, class }| FailureView { class, at: Stamp(at) }),
            entries: alarm.entries.iter().map(EntryView::of).collect(),
            advice: to_do(&alarm),
            outage: ledger.outage.map(|outage| OutageView { since: Stamp(outage.since), waiting: outage.waiting }),
            waiting: ledger.events.values().filter(|event| event.is_waiting()).count(),
            events: EventsView { last_sweep: history.last().map(|row| row.events).unwrap_or_default(), two_days: history.events() },
            window: WindowView {
                start: ledger.swept_at.map(|_| Stamp(ledger.ground.window_start)),
                stands_still: ledger.ground.lost_time.is_some(),
            },
            gaps: ledger.ground.gaps.iter().map(|gap| GapView { from: Stamp(gap.older_end.at), to: Stamp(gap.newer_end.at) }).collect(),
            recovering: RecoveringView::of(ledger),
            watched_since: ledger.ground.watched_since.map(Stamp),
            calls: CallsView { used: history.last().map(|row| row.calls), limit: config.map(|config| config.settings.subrequest_limit) },
            history: history.rows.iter().copied().map(RowView::from).collect(),
            login_path,
        };
        status.judge(facts, ledger.swept_at.is_some());
        status
    }

    /// Whether the last good sweep is recent enough.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.last_sweep.is_some_and(|last| self.now.0.since(last.0) <= STALE)
    }

    /// Says in a word how things stand, and why.
    fn judge(&mut self, facts: &Facts<'_>, has_swept: bool) {
        let mut failing = Vec::new();
        if let Err(problems) = &facts.config {
            failing.push(format!("The settings cannot be used: {}.", problems.join("; ")));
        }
        failing.extend(facts.state.as_ref().err().map(|error| format!("No sweep can go on: {error}.")));
        if let Some(failure) = self.last_failure.as_ref().filter(|_| self.failures_in_a_row >= TOLD_FROM) {
            failing.push(format!("{} sweeps in a row failed, the last one with {}.", self.failures_in_a_row, name_of(failure.class)));
        }
        if has_swept && !self.is_healthy() {
            failing.push("No sweep has succeeded for more than an hour.".to_owned());
        }
        let is_failing = !failing.is_empty();
        self.reasons = failing;
        if let Some(outage) = &self.outage {
            self.reasons.push(format!("The endpoint does not answer, and {} for it.", events_wait(outage.waiting)));
        }
        match self.entries.iter().filter(|entry| entry.kind != "outage" && entry.kind != "failing").count() {
            0 => {}
            1 => self.reasons.push("1 entry of the alarm is open.".to_owned()),
            open => self.reasons.push(format!("{open} entries of the alarm are open.")),
        }
        self.word = match () {
            () if is_failing => Word::Failing,
            () if self.outage.is_some() => Word::Outage,
            () if !self.reasons.is_empty() => Word::Attention,
            () if !has_swept => Word::Starting,
            () => Word::AllWell,
        };
        self.ok = self.word == Word::AllWell;
        if self.word == Word::Starting {
            self.reasons.push("No sweep has finished yet: the schedule fires every quarter of an hour.".to_owned());
        }
        self.note(facts);
    }

    fn note(&mut self, facts: &Facts<'_>) {
        if facts.config.as_ref().is_ok_and(|config| config.settings.dry_run) {
            self.notes.push("DRY_RUN is set: it asks for nothing and tells nobody.".to_owned());
        }
        if let Ok(config) = &facts.config {
            self.notes.extend(config.warnings.iter().map(|warning| format!("{warning}.")));
        }
        if let Some(failure) = self.last_failure.as_ref().filter(|_| self.failures_in_a_row == 1) {
            self.notes.push(format!("The last sweep failed with {}; the next one tries again.", name_of(failure.class)));
        }
        if self.window.stands_still {
            self.notes.push("The start of the window stands still, since lost time is being made up for.".to_owned());
        }
    }
}

/// A sweep that failed while it asked has read both lists: it counts as finished, but not as good.
fn last_good(state: &State, history: &History) -> Option<Time> {
    if state.failures.in_a_row == 0 {
        return state.ledger.swept_at;
    }
    let failed = state.failures.last.map(|failure| failure.at);
    history.last_good().or(state.ledger.swept_at.filter(|swept_at| Some(*swept_at) != failed))
}

/// The next quarter of an hour.
fn next_tick(now: Time) -> Time {
    let tick = i64::try_from(TICK.as_millis()).unwrap_or(1);
    Time::from_millis((now.millis().div_euclid(tick) + 1) * tick)
}

/// Everything that is open, in the order of the alarm.
fn open_entries(state: &State, config: &Result<&Config, Vec<String>>) -> Vec<Entry> {
    let mut open = entries(&state.ledger);
    if let Ok(config) = config {
        open = with_lost_channels(open, config, &state.alarm);
    }
    if let Some((since, class)) = state.failures.told() {
        let problems = config.as_ref().err().cloned().unwrap_or_default();
        open = with_failing(open, Failing { since, class, problems });
    }
    open
}

/// With the channels that the settings name and that cannot be reached.
fn with_lost_channels(mut open: Vec<Entry>, config: &Config, memory: &Memory) -> Vec<Entry> {
    let telegram = config.telegram.as_ref().and_then(|_| memory.telegram_reach.lost());
    let control_repo = config.control_repo.as_ref().and_then(|_| memory.control_repo_reach.lost());
    for (channel, lost) in [(Channel::Telegram, telegram), (Channel::ControlRepo, control_repo)] {
        if let Some(lost) = lost {
            open = with_lost_channel(open, channel, lost.since, &lost.said);
        }
    }
    open
}

/// As the log and the JSON name it.
pub(super) fn name_of(class: FailureClass) -> String {
    let json = json::write(&class);
    json.trim_matches('"').to_owned()
}
