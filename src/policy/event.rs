//! An event: all attempts of one guid, and what this Worker asked for.

pub mod stored;

use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::delivery::{Guid, Outcome, Position};
use super::evidence::Counting;
use super::order::{self, oldest_first};
use super::time::{Time, minutes};

/// An ask that has not shown up after this long is lost. Twice the interval of the sweeps, so that one which GitHub
/// lists late is not asked for again.
pub const LOST_AFTER: Duration = minutes(30);

/// So many asks in a row that were lost or struck are an answer too.
const UNSHOWN_IN_A_ROW: usize = 3;

/// Attempts kept of one event: far above `MAX_ATTEMPTS` (10 at most), so that a maintainer who clicks all day does not
/// let the state grow. The first and the newest stay.
const ATTEMPTS_KEPT: usize = 32;

/// One attempt, judged when it was read: a changed `RETRY_STATUS` reopens nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "stored::AttemptWire", into = "stored::AttemptWire")]
pub struct Attempt {
    /// Its place in the list.
    pub position: Position,
    /// What the endpoint answered, for people.
    pub status_code: i32,
    /// What that comes to.
    pub outcome: Outcome,
    /// Whether somebody asked for it.
    pub redelivery: bool,
    /// Whether it counts against `MAX_ATTEMPTS`.
    pub counting: Counting,
}

/// One request to GitHub to redeliver.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// `now` of the sweep that asked.
    #[serde(rename = "at")]
    pub at: Time,
    /// The newest delivery of the whole list at that time, by GitHub's clock: the attempt that shows it is listed later.
    #[serde(rename = "after")]
    pub after: Time,
    /// The newest attempt of the event, on which it was made.
    #[serde(rename = "on")]
    pub on: Position,
    /// Whether GitHub answered 202. Else its answer is not known: a crash, a 5xx, a time-out.
    #[serde(rename = "taken")]
    pub taken: bool,
}

/// What became of an ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskStanding {
    /// A later attempt of the event is its.
    Shown,
    /// It may still show up.
    Pending,
    /// GitHub took it, and no attempt came: it counts as one.
    Lost,
    /// Nobody knows whether GitHub took it, and no attempt came: it counts for nothing.
    Struck,
}

/// Where an event has come to rest, if it has. Kept so that the same event, read again, is not taken up again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Fate {
    /// Nowhere yet.
    #[default]
    #[serde(rename = "open")]
    Open,
    /// Delivered, for good.
    #[serde(rename = "passed")]
    Passed,
    /// A newer event of its kind passed.
    #[serde(rename = "superseded")]
    Superseded,
    /// Its name is in `IGNORED_EVENTS`.
    #[serde(rename = "ignored")]
    Ignored,
    /// It was left behind, and an unread gap holds its first delivery: kept so that it is told once.
    #[serde(rename = "left_behind")]
    LeftBehind,
    /// Our own write made it.
    #[serde(rename = "own")]
    Own,
    /// A person took its entry out of the alarm: kept so that it does not come back.
    #[serde(rename = "forgotten")]
    Forgotten,
    /// Its last counted attempt failed: an entry of the alarm.
    #[serde(rename = "gave_up")]
    GaveUp,
    /// GitHub will not redeliver it: an entry of the alarm, with GitHub's answer (`None`: it took three asks and
    /// delivered none).
    #[serde(rename = "not_redeliverable")]
    NotRedeliverable(Option<u16>),
}

impl Fate {
    /// Whether it is an entry of the alarm.
    #[must_use]
    pub fn is_entry(&self) -> bool {
        matches!(self, Self::GaveUp | Self::NotRedeliverable(_))
    }

    /// Whether it is settled without an entry: nothing that comes later opens it again.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        matches!(self, Self::Passed | Self::Superseded | Self::Ignored | Self::Own | Self::LeftBehind | Self::Forgotten)
    }
}

/// One event. Its stored form as an object has short keys, since the state holds thousands; most are stored shorter still
/// ([`stored`]).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Its identity.
    #[serde(rename = "g")]
    pub guid: Guid,
    /// Such as `workflow_run`.
    #[serde(rename = "e")]
    pub event: Rc<str>,
    /// Such as `completed`.
    #[serde(rename = "a", default, skip_serializing_if = "Option::is_none")]
    pub action: Option<Rc<str>>,
    /// The repository it is about.
    #[serde(rename = "r", default, skip_serializing_if = "Option::is_none")]
    pub repository_id: Option<u64>,
    /// In the order of the list. Invariant: sorted by position, each id once, never empty.
    #[serde(rename = "t")]
    pub attempts: Vec<Attempt>,
    /// In the order they were made.
    #[serde(rename = "k", default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Ask>,
    /// Where it has come to rest.
    #[serde(rename = "f", default, skip_serializing_if = "is_open")]
    pub fate: Fate,
}

fn is_open(fate: &Fate) -> bool {
    *fate == Fate::Open
}

impl Event {
    /// The earliest attempt that nobody asked for: it is the event's time. `None` while it has not been read.
    #[must_use]
    pub fn first(&self) -> Option<Position> {
        self.attempts.iter().find(|attempt| !attempt.redelivery).map(|attempt| attempt.position)
    }

    /// Where the event stands: its first delivery, or the earliest attempt that was read.
    #[must_use]
    pub fn standing(&self) -> Position {
        self.first().or_else(|| self.attempts.first().map(|attempt| attempt.position)).unwrap_or_default()
    }

    /// The newest attempt that was read.
    #[must_use]
    pub fn newest(&self) -> Option<&Attempt> {
        self.attempts.last()
    }

    /// Whether any attempt passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.fate == Fate::Passed || self.attempts.iter().any(|attempt| attempt.outcome == Outcome::Passed)
    }

    /// Whether the endpoint refused the newest attempt.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.newest().is_some_and(|newest| newest.outcome == Outcome::Refused)
    }

    /// Whether it is to come again, as far as can be told.
    #[must_use]
    pub fn is_waiting(&self) -> bool {
        self.fate == Fate::Open && self.first().is_some() && !self.is_refused()
    }

    /// Adds an attempt unless it is known. Returns whether it was new.
    pub fn add(&mut self, attempt: Attempt) -> bool {
        if self.attempts.iter().any(|known| known.position.id == attempt.position.id) {
            return false;
        }
        let place = self.attempts.partition_point(|known| known.position < attempt.position);
        let was_forgotten = self.attempts.len() >= ATTEMPTS_KEPT && place < self.attempts.len();
        if was_forgotten && attempt.redelivery && attempt.outcome != Outcome::Passed {
            // The failures list shows it again and again; taken up, it would drive out a newer one.
            return false;
        }
        self.attempts.insert(place, attempt);
        if self.attempts.len() > ATTEMPTS_KEPT {
            self.forget_one();
        }
        true
    }

    /// Forgets an old attempt that matters least, and the ask that it shows. The first delivery gives the event its time, a pass
    /// settles it, and what counts is counted: so it is one that was made into an outage, if there is one.
    fn forget_one(&mut self) {
        let mut later = self.attempts.iter().enumerate().skip(1);
        let into_outage = later.clone().find(|(_, attempt)| attempt.counting == Counting::IntoOutage);
        let undelivered = into_outage.or_else(|| later.find(|(_, attempt)| attempt.outcome != Outcome::Passed));
        let place = undelivered.map_or(1, |(place, _)| place);
        if let Some(ask) = self.shown_by().iter().position(|shown| *shown == Some(place)) {
            self.asks.remove(ask);
        }
        self.attempts.remove(place);
    }

    /// Of each ask the place of the attempt that shows it: a later one, by position, one to one, the oldest ask first.
    fn shown_by(&self) -> Vec<Option<usize>> {
        let mut unused = self.attempts.iter().map(|attempt| attempt.position).enumerate().peekable();
        let shown_by = |(index, ask): (usize, &Ask)| {
            while unused.next_if(|(_, position)| *position <= ask.on).is_some() {}
            // One that was struck takes no attempt from the ask that followed it: what is listed since is that one's.
            let until = self.asks.get(index + 1).filter(|_| !ask.taken).map(|following| following.after);
            unused.next_if(|(_, position)| until.is_none_or(|until| position.at <= until)).map(|(place, _)| place)
        };
        self.asks.iter().enumerate().map(shown_by).collect()
    }

    /// What became of each ask. `may_show` tells of one that no attempt shows whether one still may.
    #[must_use]
    pub fn ask_standings(&self, may_show: impl Fn(&Ask) -> bool) -> Vec<AskStanding> {
        let standing = |(ask, shown_by): (&Ask, Option<usize>)| match shown_by {
            Some(_) => AskStanding::Shown,
            None if may_show(ask) => AskStanding::Pending,
            None if ask.taken => AskStanding::Lost,
            None => AskStanding::Struck,
        };
        self.asks.iter().zip(self.shown_by()).map(standing).collect()
    }

    /// Settles it: what is kept is its time, so that it is not taken up again. One of our own may turn out to be anybody's.
    pub fn settle(&mut self, fate: Fate) {
        if !fate.is_entry() && fate != Fate::Own {
            let kept = self.standing();
            self.attempts.retain(|attempt| attempt.position == kept);
            self.asks.clear();
            self.action = None;
        }
        self.fate = fate;
    }

    /// Takes a time later than `now` as `now`.
    pub fn not_later_than(&mut self, now: Time) {
        for attempt in &mut self.attempts {
            attempt.position.at = attempt.position.at.min(now);
        }
        order::sort(&mut self.attempts, |attempt| oldest_first(0, attempt.position));
        for ask in &mut self.asks {
            ask.at = ask.at.min(now);
            ask.after = ask.after.min(now);
            ask.on.at = ask.on.at.min(now);
        }
    }

    /// Compares all times by whole seconds from now on.
    pub fn whole_seconds(&mut self) {
        for attempt in &mut self.attempts {
            attempt.position = attempt.position.whole_seconds();
        }
        order::sort(&mut self.attempts, |attempt| oldest_first(0, attempt.position));
        for ask in &mut self.asks {
            ask.on = ask.on.whole_seconds();
        }
    }
}

/// Whether the newest asks in a row were all lost or struck: then GitHub will not redeliver this event.
#[must_use]
pub fn github_never_delivers(standings: &[AskStanding]) -> bool {
    let unshown = |standing: &&AskStanding| matches!(standing, AskStanding::Lost | AskStanding::Struck);
    standings.iter().rev().take_while(unshown).count() >= UNSHOWN_IN_A_ROW
}
