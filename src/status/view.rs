//! The parts of a [`Status`](super::status::Status), as its JSON has them.

use serde::Serialize;

use super::history::{Counts, Row};
use crate::alarm::entry::Entry;
use crate::alarm::text::words::{Words, event_name, words};
use crate::failure::FailureClass;
use crate::policy::ledger::Ledger;
use crate::policy::recovering::{Progress, progress};
use crate::sweep::report::{Stamp, VERDICTS};

/// A failure of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FailureView {
    /// Its class.
    pub class: FailureClass,
    /// When.
    pub at: Stamp,
}

/// One open entry of the alarm.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EntryView {
    /// What it is recognised by from sweep to sweep.
    pub key: String,
    /// Such as `gave_up`: the beginning of the key.
    pub kind: String,
    /// Since when.
    pub since: Stamp,
    /// What is wrong, in words.
    pub what: String,
    /// More of it.
    pub more: String,
    /// Of an event: its guid.
    pub guid: Option<String>,
    /// Of an event: its name and action.
    pub event: Option<String>,
    /// Of an event: its repository.
    pub repository_id: Option<u64>,
    /// Of an event: the codes of its attempts.
    pub attempts: Vec<i32>,
}

/// The endpoint does not answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutageView {
    /// Since when.
    pub since: Stamp,
    /// Events that wait for its end.
    pub waiting: u64,
}

/// Events by verdict; the names are those of a sweep's line.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EventsView {
    /// Of the last sweep.
    #[serde(serialize_with = "by_verdict")]
    pub last_sweep: Counts,
    /// Of the last two days. Events that wait are counted by each sweep.
    #[serde(serialize_with = "by_verdict")]
    pub two_days: Counts,
}

/// The window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WindowView {
    /// Its start: an older event is not asked for.
    pub start: Option<Stamp>,
    /// Whether it stands still, since lost time is being made up for.
    pub stands_still: bool,
}

/// A stretch of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapView {
    /// Older end.
    pub from: Stamp,
    /// Newer end.
    pub to: Stamp,
}

/// A recovery by hand.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RecoveringView {
    /// How far back it reaches.
    pub since: Stamp,
    /// When a person asked for it.
    pub asked_at: Stamp,
    /// Stretches still to be read; `null` before the first sweep of it.
    pub gaps: Option<usize>,
    /// Events of that time that wait.
    pub waiting: usize,
}

/// Calls of a sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallsView {
    /// Made by the last sweep.
    pub used: Option<u64>,
    /// Allowed; `null` if the settings cannot be used.
    pub limit: Option<u32>,
}

/// One sweep.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowView {
    at: Stamp,
    failure: Option<FailureClass>,
    outage: bool,
    deliveries: u64,
    failed: u64,
    calls: u64,
    #[serde(serialize_with = "by_verdict")]
    events: Counts,
}

fn by_verdict<S: serde::Serializer>(counts: &Counts, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(VERDICTS.iter().zip(counts))
}

impl RecoveringView {
    /// How far the recovery by hand is, if one is under way.
    #[must_use]
    pub fn of(ledger: &Ledger) -> Option<Self> {
        let Progress { recovering, gaps, waiting } = progress(ledger)?;
        Some(Self { since: Stamp(recovering.since), asked_at: Stamp(recovering.asked_at), gaps, waiting })
    }
}

impl EntryView {
    /// What an entry of the alarm says.
    #[must_use]
    pub fn of(entry: &Entry) -> Self {
        let Words { what, more } = words(entry);
        let event = entry.kind.event();
        Self {
            key: entry.key.clone(),
            kind: entry.key.split(':').next().unwrap_or_default().replace('-', "_"),
            since: Stamp(entry.kind.since()),
            what,
            more,
            guid: event.map(|event| event.guid.to_string()),
            event: event.map(|event| event_name(&event.event, event.action.as_deref())),
            repository_id: event.and_then(|event| event.repository_id),
            attempts: event.map(|event| event.attempts.iter().map(|attempt| attempt.status_code).collect()).unwrap_or_default(),
        }
    }
}

impl From<Row> for RowView {
    fn from(row: Row) -> Self {
        let Row { at, failure, outage, deliveries, failed, calls, events } = row;
        Self { at: Stamp(at), failure, outage, deliveries, failed, calls, events }
    }
}
