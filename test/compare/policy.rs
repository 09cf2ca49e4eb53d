//! What a system that recovers deliveries may do: read pages, ask, tell a person. Every call is counted.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours};

use crate::github::{GitHub, Item, List, Page};
use crate::score::{News, Score};

/// GitHub's API answered with a 5xx.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Down;

/// A system that recovers deliveries: its rules, and what it keeps.
pub(crate) trait Policy {
    /// Runs once. What it does is done through `calls`; an error is a run that ended before its time.
    ///
    /// # Errors
    /// If GitHub's API was down, and the system ends its run for that.
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down>;

    /// How long after the start of a run the next one is due.
    fn interval(&self) -> Duration;

    /// When it first runs, after the start of the week.
    fn first_run(&self) -> Duration {
        self.interval()
    }
}

/// How long a call takes, as far as the record is concerned.
const A_CALL: Duration = Duration::from_millis(60);

/// The outside world of one run.
#[derive(Debug)]
pub(crate) struct Calls<'a, 'w> {
    pub(crate) github: &'a mut GitHub<'w>,
    pub(crate) score: &'a mut Score,
    /// Goes on with each call.
    clock: Time,
    made: u32,
}

impl<'a, 'w> Calls<'a, 'w> {
    /// A run that begins now.
    pub(crate) fn new(github: &'a mut GitHub<'w>, score: &'a mut Score, now: Time) -> Self {
        github.advance(now);
        github.note_listed(now);
        Self { github, score, clock: now, made: 0 }
    }

    /// Ends the run, and says when that is.
    pub(crate) fn end(self) -> Time {
        self.score.ran(self.made);
        self.clock
    }

    /// The clock of GitHub.
    pub(crate) fn clock(&self) -> Time {
        self.clock
    }

    /// Counts a call that is not about deliveries.
    ///
    /// # Errors
    /// If GitHub's API is down.
    pub(crate) fn other(&mut self) -> Result<(), Down> {
        self.made += 1;
        self.clock = self.clock + A_CALL;
        self.github.advance(self.clock);
        if self.github.week.api_down.holds(self.clock) { Err(Down) } else { Ok(()) }
    }

    /// Counts a call to another server than GitHub's.
    pub(crate) fn elsewhere(&mut self) {
        self.made += 1;
    }

    /// Reads a page.
    ///
    /// # Errors
    /// If GitHub's API is down.
    pub(crate) fn page(&mut self, list: List, before: Option<u64>, per_page: usize) -> Result<Page, Down> {
        self.other()?;
        Ok(self.github.page(list, before, per_page, self.clock))
    }

    /// Reads a list until an item for which `known` holds, which is left out with all that is older.
    ///
    /// # Errors
    /// If GitHub's API is down.
    pub(crate) fn read(
        &mut self,
        list: List,
        (per_page, most_pages): (usize, usize),
        known: impl Fn(&Item) -> bool,
    ) -> Result<Vec<Item>, Down> {
        let (mut items, mut next) = (Vec::new(), None);
        for _ in 0..most_pages {
            let page = self.page(list, next, per_page)?;
            let new = page.items.iter().position(&known).unwrap_or(page.items.len());
            items.extend_from_slice(&page.items[..new]);
            next = page.next;
            if new < page.items.len() || next.is_none() {
                break;
            }
        }
        Ok(items)
    }

    /// Asks for a delivery again. `Ok(false)` if GitHub no longer keeps it.
    ///
    /// # Errors
    /// If GitHub's API is down.
    pub(crate) fn ask(&mut self, delivery: u64) -> Result<bool, Down> {
        self.other()?;
        let Some(item) = self.github.delivery(delivery, self.clock) else { return Ok(false) };
        self.score.asked(self.github, item.event);
        self.github.redeliver(item.event, self.clock);
        Ok(true)
    }

    /// A message reached somebody's phone with a sound.
    pub(crate) fn page_person(&mut self, news: News) {
        self.score.paged(self.github, self.clock, news);
    }
}

/// All attempts of an event that a run read, newest first.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) items: Vec<Item>,
}

impl Group {
    /// The newest attempt.
    pub(crate) fn newest(&self) -> Item {
        self.items[0]
    }

    /// Whether any passed.
    pub(crate) fn any_is_ok(&self) -> bool {
        self.items.iter().any(Item::is_ok)
    }

    /// The first delivery, if it was read.
    pub(crate) fn first(&self) -> Option<Item> {
        self.items.iter().rev().find(|item| !item.redelivery).copied()
    }
}

/// Groups what was read by guid, in the order in which each was first met.
pub(crate) fn by_guid(items: &[Item]) -> Vec<Group> {
    let mut places = BTreeMap::new();
    let mut groups: Vec<Group> = Vec::new();
    for item in items {
        let place = *places.entry(item.event).or_insert_with(|| {
            groups.push(Group { items: Vec::new() });
            groups.len() - 1
        });
        groups[place].items.push(*item);
    }
    groups
}

/// An alarm of entries by guid in one Telegram message, for systems whose own is not known in detail: as kind to a person as this
/// Worker's. A new alarm sounds, and so does an entry that is added when the message is older than an hour.
#[derive(Debug, Default)]
pub(crate) struct Message {
    open: BTreeSet<u32>,
    sent_at: Option<Time>,
}

impl Message {
    /// Takes out what passed, adds what gave up, and tells if anything changed.
    pub(crate) fn show(&mut self, calls: &mut Calls<'_, '_>, gave_up: &[u32], passed: impl Fn(u32) -> bool) {
        let before = self.open.len();
        self.open.retain(|event| !passed(*event));
        let left = self.open.len() != before;
        let new: Vec<u32> = gave_up.iter().copied().filter(|event| self.open.insert(*event)).collect();
        if new.is_empty() && !left {
            return;
        }
        calls.elsewhere();
        let now = calls.clock();
        if !new.is_empty() && self.sent_at.is_none_or(|sent_at| now.since(sent_at) > hours(1)) {
            self.sent_at = Some(now);
            calls.page_person(News { events: new, itself: None });
        } else {
            calls.score.told(&new);
        }
        if self.open.is_empty() {
            self.sent_at = None;
        }
    }
}
