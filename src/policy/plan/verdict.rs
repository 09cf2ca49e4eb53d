//! What becomes of an event, in one word and in a sentence, and how many of each there were.

use std::fmt;

use crate::policy::delivery::Position;

/// Why an undelivered event is not asked for now, though it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// An ask for it has not shown up yet.
    Asked,
    /// The last ask for it is less than ten minutes old.
    TooSoon,
    /// An unread gap could hold what settles it.
    Gap,
    /// Others come first.
    Turn,
    /// The endpoint is in an outage, and another event, or a later sweep, probes it.
    Outage,
}

/// What becomes of an event in this sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is asked for again.
    Redeliver,
    /// It waits.
    Waiting(Wait),
    /// An attempt of it passed.
    Passed,
    /// The endpoint would refuse it again.
    Refused,
    /// A newer event of its kind passed: the first delivery of that one.
    Superseded(Position),
    /// Its last counted attempt failed.
    GaveUp,
    /// GitHub will not redeliver it.
    NotRedeliverable,
    /// Its first delivery was not read, so its attempts cannot be counted.
    Uncountable,
    /// Its name is in `IGNORED_EVENTS`.
    Ignored,
    /// Our own write of the issue made it.
    Own,
    /// A person took its entry out of the alarm.
    Forgotten,
    /// It left the window, or there was no room for it, while it still waited.
    LeftBehind,
}

/// For people: why.
impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redeliver => out.write_str("asked for again"),
            Self::Waiting(Wait::Asked) => out.write_str("waits: asked for, not listed yet"),
            Self::Waiting(Wait::TooSoon) => out.write_str("waits: asked for less than ten minutes ago"),
            Self::Waiting(Wait::Gap) => out.write_str("waits: an unread gap could hold what settles it"),
            Self::Waiting(Wait::Turn) => out.write_str("waits: others come first"),
            Self::Waiting(Wait::Outage) => out.write_str("waits: the endpoint does not answer"),
            Self::Passed => out.write_str("delivered"),
            Self::Refused => out.write_str("refused: the endpoint would refuse it again"),
            Self::Superseded(newer) => write!(out, "superseded: a newer event of its kind passed ({})", newer.at),
            Self::GaveUp => out.write_str("gave up: its last attempt failed"),
            Self::NotRedeliverable => out.write_str("GitHub will not redeliver it"),
            Self::Uncountable => out.write_str("left alone: its first delivery was not read"),
            Self::Ignored => out.write_str("ignored by IGNORED_EVENTS"),
            Self::Own => out.write_str("left alone: our own write of the issue made it"),
            Self::Forgotten => out.write_str("left alone: its entry was taken out by hand"),
            Self::LeftBehind => out.write_str("left behind: it still waited when its time was over"),
        }
    }
}

/// Events by verdict. Those that rest are counted by the sweep in which they came to rest, those that wait by each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Asked for again.
    pub redelivered: usize,
    /// Waiting.
    pub waiting: usize,
    /// Failed at first, and passed since.
    pub recovered: usize,
    /// Overtaken.
    pub superseded: usize,
    /// Gave up.
    pub gave_up: usize,
    /// GitHub will not redeliver them.
    pub not_redeliverable: usize,
    /// Refused.
    pub refused: usize,
    /// First delivery not read.
    pub uncountable: usize,
    /// Ignored.
    pub ignored: usize,
    /// Made by our own writes.
    pub own: usize,
    /// Left behind.
    pub left_behind: usize,
    /// Attempts of all these that were made into an outage.
    pub attempts_not_counted: usize,
}
