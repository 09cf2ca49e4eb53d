//! What a sweep says: one JSON line for the sweep, one for each redelivery and each event that gave up (spec section 12).
//!
//! The field names are pinned by a test. No line holds a token, a key, a payload or a URL.

use serde::Serialize;

use crate::failure::FailureClass;
use crate::json;
use crate::policy::delivery::{DeliveryId, Guid, Position};
use crate::policy::own::Write;
use crate::policy::plan::Tally;
use crate::policy::time::Time;

/// A time as people and log queries read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp(pub Time);

impl Serialize for Stamp {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

/// How a sweep ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// Both lists were read, and what was decided was done.
    #[default]
    Done,
    /// It read and decided only: `DRY_RUN`.
    DryRun,
    /// Another sweep holds the lease.
    Held,
    /// Its time is not later than that of the last finished sweep.
    NotLater,
    /// After a failure: it is not time yet for the next try, so nothing was called and nothing written.
    Waiting,
    /// No page of the deliveries list fitted the budget of calls: nothing was asked for.
    NoRoom,
    /// It failed.
    Failed,
}

/// A delivery in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Mark {
    id: DeliveryId,
    at: Stamp,
}

impl From<Position> for Mark {
    fn from(position: Position) -> Self {
        Self { id: position.id, at: Stamp(position.at) }
    }
}

/// How far one list was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ListReach {
    /// Pages.
    pub pages: u32,
    /// The oldest delivery on them.
    pub reached: Option<Stamp>,
    /// Whether that is as far as it was to be read.
    pub complete: bool,
}

/// The line of a sweep. How it went comes first: a log that cuts long lines off keeps that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Always `sweep`.
    pub message: &'static str,
    /// The App.
    pub app: String,
    /// `now` of the sweep.
    pub scheduled: Stamp,
    /// How it ended.
    pub ending: Ending,
    /// The class of a failure.
    pub failure: Option<FailureClass>,
    /// Sweeps in a row that failed, this one included.
    pub failures_in_a_row: u32,
    /// Until when ticks do nothing, after a failure that waits.
    pub wait_until: Option<Stamp>,
    /// Sweeps in a row that were killed before this one.
    pub killed_in_a_row: u32,
    /// Entries of the alarm.
    pub alarm_entries: usize,
    /// Whether no channel of the alarm that is set can be reached: then the run of the schedule fails.
    pub channels_lost: bool,
    /// What a maintainer should know, in sentences.
    pub warnings: Vec<String>,
    /// By the real clock.
    pub duration_ms: u64,
    /// The failures list.
    pub failures_list: ListReach,
    /// The deliveries list.
    pub deliveries_list: ListReach,
    /// Pages of gaps.
    pub gap_pages: u32,
    /// Gaps that are still unread.
    pub gaps: usize,
    /// The newer end of the newest of them.
    pub newest_gap: Option<Stamp>,
    /// Whether read ground was read again as far back as it should.
    pub second_look_complete: bool,
    /// Deliveries on all pages.
    pub deliveries: usize,
    /// Of them, those on new ground that failed or went unanswered.
    pub failed: usize,
    /// Events by verdict.
    pub events: Events,
    /// Attempts that were made into an outage.
    pub attempts_not_counted: usize,
    /// Calls made.
    pub calls: u32,
    /// Calls allowed.
    pub call_limit: u32,
    /// The newest delivery read.
    pub cursor: Option<Mark>,
    /// Since when the App is watched.
    pub watched_since: Option<Stamp>,
    /// What it wrote into the control repository: nobody reads it in the log.
    #[serde(skip)]
    pub writes: Vec<Write>,
}

/// Events by verdict, as in [`Tally`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Events {
    redelivered: usize,
    waiting: usize,
    recovered: usize,
    superseded: usize,
    gave_up: usize,
    not_redeliverable: usize,
    refused: usize,
    uncountable: usize,
    ignored: usize,
    own: usize,
    left_behind: usize,
}

/// The names of the verdicts, in the order of [`Events::counts`].
pub const VERDICTS: [&str; 11] = [
    "redelivered",
    "waiting",
    "recovered",
    "superseded",
    "gave_up",
    "not_redeliverable",
    "refused",
    "uncountable",
    "ignored",
    "own",
    "left_behind",
];

impl Events {
    /// The numbers, in the order of [`VERDICTS`].
    #[must_use]
    pub fn counts(&self) -> [usize; VERDICTS.len()] {
        let Self {
            redelivered,
            waiting,
            recovered,
            superseded,
            gave_up,
            not_redeliverable,
            refused,
            uncountable,
            ignored,
            own,
            left_behind,
        } = *self;
        [redelivered, waiting, recovered, superseded, gave_up, not_redeliverable, refused, uncountable, ignored, own, left_behind]
    }
}

impl From<Tally> for Events {
    fn from(tally: Tally) -> Self {
        let Tally {
            redelivered,
            waiting,
            recovered,
            superseded,
            gave_up,
            not_redeliverable,
            refused,
            uncountable,
            ignored,
            own,
            left_behind,
            ..
        } = tally;
        Self { redelivered, waiting, recovered, superseded, gave_up, not_redeliverable, refused, uncountable, ignored, own, left_behind }
    }
}

impl Report {
    /// Whether the run of the schedule is to fail, so that it shows in Cloudflare's list of past events.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        self.failure.is_some() || self.channels_lost
    }

    /// The report of a sweep that has not begun.
    #[must_use]
    pub fn new(app: &str, now: Time, call_limit: u32) -> Self {
        Self {
            message: "sweep",
            app: app.to_owned(),
            scheduled: Stamp(now),
            duration_ms: 0,
            ending: Ending::Done,
            failures_list: ListReach::default(),
            deliveries_list: ListReach::default(),
            gap_pages: 0,
            gaps: 0,
            newest_gap: None,
            second_look_complete: false,
            deliveries: 0,
            failed: 0,
            events: Events::default(),
            attempts_not_counted: 0,
            calls: 0,
            call_limit,
            cursor: None,
            watched_since: None,
            alarm_entries: 0,
            channels_lost: false,
            failure: None,
            failures_in_a_row: 0,
            wait_until: None,
            killed_in_a_row: 0,
            writes: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// The other lines.
#[derive(Debug, Serialize)]
#[serde(tag = "message", rename_all = "snake_case")]
pub enum Line<'a> {
    /// An ask, and what GitHub said.
    Redelivery {
        /// The App.
        app: &'a str,
        /// Of which event.
        guid: &'a Guid,
        /// Its name.
        event: &'a str,
        /// Its action.
        action: Option<&'a str>,
        /// On which attempt.
        delivery: DeliveryId,
        /// Counted attempts before it.
        attempts: usize,
        /// `taken`, `unknown`, `not redeliverable`, `forbidden`, `turned away` or `not made`.
        answer: &'a str,
        /// GitHub's status, if it is not 202.
        status: Option<u16>,
    },
    /// An event whose last attempt failed.
    GaveUp {
        /// The App.
        app: &'a str,
        /// Of which event.
        guid: &'a Guid,
        /// Its name.
        event: &'a str,
        /// Its action.
        action: Option<&'a str>,
        /// Attempts that were listed.
        attempts: usize,
    },
    /// One event of a plan that nobody carries out.
    Plan {
        /// The App.
        app: &'a str,
        /// Of which event.
        guid: &'a Guid,
        /// Its name.
        event: &'a str,
        /// Its action.
        action: Option<&'a str>,
        /// Its repository.
        repository_id: Option<u64>,
        /// Its first delivery.
        first: Option<Stamp>,
        /// The codes of its attempts, in the order of the list.
        attempts: Vec<i32>,
        /// What becomes of it, and why.
        verdict: String,
    },
    /// Something failed.
    Failure {
        /// The App.
        app: &'a str,
        /// The class, where the whole sweep failed.
        class: Option<FailureClass>,
        /// The error with its causes.
        error: String,
    },
}

impl Line<'_> {
    /// As it is logged.
    #[must_use]
    pub fn json(&self) -> String {
        // Plain data: nothing in it can fail to be written.
        json::write(self)
    }
}

/// An error and its causes, in one line.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
