//! The reading of one sweep: which page comes next, and what is kept of each (spec section 3.3 and 3.4).
//!
//! [`Reader`] is a state machine without I/O: [`Reader::next`] says which page to fetch, [`Reader::take`] reads its bytes.
//! A page is read in one pass with borrowed fields. Of the many deliveries that passed at once only what may overtake
//! another event, and the guid, is kept.

mod gaps;
mod reader;

use std::collections::HashMap;
use std::rc::Rc;
use std::time::Duration;

pub use self::reader::Reader;
use super::delivery::{DeliveryId, Guid, Outcome, Position};
use super::event::Attempt;
use super::evidence::Stretch;
use super::ground::{GapEnd, NextLink, PageCursor};
use super::order::{self, by_number};
use super::own::Candidate;
use super::time::{Time, hours};

/// A tick this much later than GitHub's clock has a wrong time.
pub const CLOCK_IS_WRONG: Duration = hours(1);

/// The present, as far as a tick is to be believed: one far ahead of GitHub's clock has a wrong time, and then GitHub's
/// holds, so that one wrong tick does not shut the window.
#[must_use]
pub fn believed(tick: Time, github_date: Option<Time>) -> Time {
    github_date.filter(|date| tick.since(*date) > CLOCK_IS_WRONG).unwrap_or(tick)
}

/// One of GitHub's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// `?status=failure`.
    Failures,
    /// Every outcome, from the newest.
    Deliveries,
    /// Every outcome, where an earlier sweep stopped.
    Gap,
}

/// A page to fetch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// Of which list.
    pub list: List,
    /// Where it starts; `None` for a list's first page.
    pub from: Option<PageCursor>,
}

/// What comes next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// This page.
    Page(PageRequest),
    /// Nothing: both lists are read as far as they will be.
    Done,
    /// No page of the deliveries list fits the budget. Without that list a sweep cannot see a pass.
    NoRoom,
}

/// A page that is no list of deliveries.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// Not JSON, or not of GitHub's shape.
    #[error("the page is not a list of deliveries")]
    Shape(#[source] serde_json::Error),
    /// A time that cannot be read.
    #[error("delivery {0} has a `delivered_at` that is no date")]
    Time(DeliveryId),
    /// A guid or a name of absurd length.
    #[error("delivery {0} has a field of more than 255 bytes")]
    Long(DeliveryId),
    /// The list has to go on, and its next link is not to be followed.
    #[error("the list has to go on, but {0}")]
    Link(String),
}

/// One attempt as it was read, with what is known of its event.
#[derive(Clone, Debug)]
pub struct Item {
    /// Its event.
    pub guid: Guid,
    /// Such as `workflow_run`.
    pub event: Rc<str>,
    /// Such as `completed`.
    pub action: Option<Rc<str>>,
    /// The repository it is about.
    pub repository_id: Option<u64>,
    /// The attempt itself.
    pub attempt: Attempt,
    /// Whether it lay on ground that no sweep had read.
    pub fresh: bool,
}

/// The newest of several deliveries, by either way to compare them: which one holds is known when all is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Newest {
    /// By time, then id.
    pub by_millis: Position,
    /// By the second, then id.
    pub by_seconds: Position,
}

impl Newest {
    fn of(position: Position) -> Self {
        Self { by_millis: position, by_seconds: position }
    }

    fn take(&mut self, position: Position) {
        self.by_millis = position.max(self.by_millis);
        self.by_seconds = std::cmp::max_by_key(position, self.by_seconds, |position| position.whole_seconds());
    }

    /// Where that is, as positions are compared.
    #[must_use]
    pub fn place(&self, whole_seconds: bool) -> Position {
        if whole_seconds { self.by_seconds.whole_seconds() } else { self.by_millis }
    }
}

/// Whether GitHub knows the filter of the failures list. An Enterprise Server before 3.17 or so takes no notice of it, and lists every
/// outcome, or refuses the whole request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The list was not asked for.
    #[default]
    NotTried,
    /// It does, as far as can be seen.
    Known,
    /// It does not: then the failures come out of the deliveries list alone.
    Unknown,
}

/// How far a list was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Pages read.
    pub pages: u32,
    /// The oldest delivery on them.
    pub oldest: Option<Position>,
    /// Whether that is as far as it was to be read.
    pub complete: bool,
    next: NextLink,
}

impl Default for Reach {
    fn default() -> Self {
        Self { pages: 0, oldest: None, complete: false, next: NextLink::End }
    }
}

/// All that one sweep read.
#[derive(Debug, Default)]
pub struct Reading {
    /// Every attempt but first deliveries that passed, each perhaps more than once.
    pub items: Vec<Item>,
    /// First deliveries that passed, whatever their kind.
    pub passed_at_once: Vec<Guid>,
    /// The newest of them by kind, where their kind can overtake.
    pub overtaking: HashMap<(Rc<str>, u64), Newest>,
    /// Events that our own writes may have made, by their first deliveries. Whether they overtake is not known yet.
    pub maybe_own: Vec<Candidate>,
    /// The newest attempt that passed, of the deliveries list.
    pub newest_pass: Option<Newest>,
    /// The newest attempt that the endpoint answered, of either list.
    pub newest_answer: Option<Newest>,
    /// What was read of the deliveries list without a hole: the list itself first, then its gaps.
    pub stretches: Vec<Stretch>,
    /// Deliveries on all pages.
    pub deliveries: usize,
    /// The newest of them.
    pub newest: Option<Position>,
    /// The newest of them without milliseconds.
    pub whole_seconds_at: Option<Time>,
    /// GitHub's clock, from the newest answer.
    pub github_date: Option<Time>,
    /// The failures list.
    pub failures: Reach,
    /// Whether GitHub knows its filter.
    pub filter: Filter,
    /// The deliveries list: new ground, then the second look.
    pub list: Reach,
    /// Pages of gaps.
    pub gap_pages: u32,
    /// What became of the gaps, this sweep's own included.
    pub gaps: Vec<GapEnd>,
    /// Whether the second look got as far back as it should.
    pub second_look_complete: bool,
}

impl Reading {
    /// Attempts on new ground that failed or went unanswered, each once.
    pub fn failed(&self, which: impl Fn(&Item) -> bool) -> usize {
        let undelivered = |item: &&Item| matches!(item.attempt.outcome, Outcome::Failed | Outcome::Unanswered);
        let new = self.items.iter().filter(|item| item.fresh).filter(undelivered).filter(|item| which(item));
        let mut ids: Vec<DeliveryId> = new.map(|item| item.attempt.position.id).collect();
        order::sort(&mut ids, |id| by_number(id.0));
        ids.dedup();
        ids.len()
    }
}

impl Reach {
    fn turn(&mut self, oldest: Option<Position>, next: NextLink) {
        self.pages += 1;
        self.oldest = match (self.oldest, oldest) {
            (Some(known), Some(oldest)) => Some(known.min(oldest)),
            (known, oldest) => known.or(oldest),
        };
        self.next = next;
    }

    fn check_link(&self, goes_on: bool) -> Result<(), PageError> {
        match &self.next {
            NextLink::Unusable(reason) if goes_on => Err(PageError::Link(reason.clone())),
            _ => Ok(()),
        }
    }
}
