//! GitHub as far as these systems see it: the record of deliveries in pages, and redeliveries that are made some time after they were
//! asked for. Items of the record are served newest first, some are listed late, and none after 72 hours.
//!
//! A page cursor names the delivery after which the list goes on, as GitHub's does. The clock goes on from call to call, so the
//! list grows while it is read.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use github_app_redeliver::policy::settings::RETENTION;
use github_app_redeliver::policy::time::Time;

use crate::week::Week;

/// Ids are as large as GitHub's, and grow with time.
pub(crate) const FIRST_ID: u64 = 3_850_000_000_000_000_000;

/// One item of the record.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    /// Its id.
    pub(crate) id: u64,
    /// Stands for the guid.
    pub(crate) event: u32,
    /// `delivered_at`.
    pub(crate) at: Time,
    /// Whether somebody asked for it.
    pub(crate) redelivery: bool,
    /// `status_code`.
    pub(crate) code: i16,
    listed_at: Time,
}

impl Item {
    /// Whether its `status` is `OK`.
    pub(crate) fn is_ok(&self) -> bool {
        (200..300).contains(&self.code)
    }
}

/// Which list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum List {
    /// Every outcome.
    All,
    /// `status=failure`: codes from 400 to 599.
    Failures,
}

/// A page of a list.
#[derive(Debug)]
pub(crate) struct Page {
    /// Newest first.
    pub(crate) items: Vec<Item>,
    /// The page cursor of what follows.
    pub(crate) next: Option<u64>,
}

/// How an event stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    /// Attempts made.
    pub(crate) attempts: u16,
    /// How often the endpoint did its work.
    pub(crate) handled: u16,
    /// When it first did.
    pub(crate) handled_at: Option<Time>,
    /// Whether that attempt came of a click.
    pub(crate) by_hand: bool,
    /// Whether an attempt passed.
    pub(crate) passed: bool,
    /// Whether GitHub lists one that passed.
    pub(crate) pass_is_listed: bool,
    /// The code of the newest attempt.
    pub(crate) newest_code: i16,
}

/// An attempt that is yet to be made: when, of which event, whether somebody clicked.
type Due = (Time, u32, bool);

/// The record of one App.
#[derive(Debug)]
pub(crate) struct GitHub<'w> {
    pub(crate) week: &'w Week,
    /// By time, and so by id.
    record: Vec<Item>,
    /// Indexes of those with codes from 400 to 599.
    failures: Vec<usize>,
    /// First deliveries made.
    firsts: usize,
    clicks: usize,
    due: BinaryHeap<Reverse<Due>>,
    /// Passes that are made and perhaps not listed yet.
    passes: BinaryHeap<Reverse<(Time, u32)>>,
    standings: Vec<Standing>,
    /// By kind, the newest event that passed, as far as it is listed.
    newest_passed: Vec<Option<u32>>,
}

impl<'w> GitHub<'w> {
    pub(crate) fn new(week: &'w Week) -> Self {
        Self {
            week,
            record: Vec::with_capacity(week.events.len() * 2),
            failures: Vec::new(),
            firsts: 0,
            clicks: 0,
            due: BinaryHeap::new(),
            passes: BinaryHeap::new(),
            standings: vec![Standing::default(); week.events.len()],
            newest_passed: vec![None; week.kinds()],
        }
    }

    /// How an event stands.
    pub(crate) fn standing(&self, event: u32) -> &Standing {
        &self.standings[event as usize]
    }

    /// Whether GitHub lists a pass of a newer event of the same kind.
    pub(crate) fn is_overtaken(&self, event: u32) -> bool {
        let kind = self.week.events[event as usize].kind;
        kind.and_then(|kind| self.newest_passed[kind]).is_some_and(|newest| newest > event)
    }

    /// Lets time pass up to `now`: deliveries, redeliveries and clicks, in the order of their times.
    pub(crate) fn advance(&mut self, now: Time) {
        let week = self.week;
        loop {
            let first = week.events.get(self.firsts).map(|event| event.at).filter(|at| *at <= now);
            let due = self.due.peek().map(|Reverse((at, ..))| *at).filter(|at| *at <= now);
            let click = week.clicks.get(self.clicks).map(|click| click.at).filter(|at| *at <= now);
            let Some(earliest) = [first, due, click].into_iter().flatten().min() else { break };
            if first == Some(earliest) {
                let event = u32::try_from(self.firsts).expect("far fewer than 2^32");
                self.firsts += 1;
                self.attempt(event, earliest, false, false);
            } else if due == Some(earliest) {
                let Some(Reverse((at, event, by_hand))) = self.due.pop() else { break };
                self.attempt(event, at, true, by_hand);
            } else {
                let click = week.clicks[self.clicks];
                self.clicks += 1;
                if !click.if_undelivered || !self.standing(click.event).passed {
                    self.due.push(Reverse((click.at + Duration::from_secs(2), click.event, true)));
                }
            }
        }
    }

    fn attempt(&mut self, event: u32, at: Time, redelivery: bool, by_hand: bool) {
        let nth = self.standing(event).attempts;
        let outcome = self.week.outcome(event, nth, at);
        let index = self.record.len();
        let id = FIRST_ID + index as u64;
        let listed_at = self.week.listed_at(event, nth, at);
        let item = Item { id, event, at, redelivery, code: outcome.code, listed_at };
        if (400..600).contains(&item.code) {
            self.failures.push(index);
        }
        if item.is_ok() {
            self.passes.push(Reverse((listed_at, event)));
        }
        let standing = &mut self.standings[event as usize];
        standing.attempts = nth.saturating_add(1);
        standing.newest_code = item.code;
        standing.passed |= item.is_ok();
        if outcome.handled {
            standing.handled = standing.handled.saturating_add(1);
            if standing.handled_at.is_none() {
                (standing.handled_at, standing.by_hand) = (Some(at), by_hand);
            }
        }
        self.record.push(item);
    }

    /// Notes which passes are listed by `now`: what a sweep that begins then can know.
    pub(crate) fn note_listed(&mut self, now: Time) {
        while let Some(Reverse((_, event))) = self.passes.peek().copied().filter(|Reverse((listed_at, _))| *listed_at <= now) {
            self.passes.pop();
            self.standings[event as usize].pass_is_listed = true;
            if let Some(kind) = self.week.events[event as usize].kind {
                self.newest_passed[kind] = self.newest_passed[kind].max(Some(event));
            }
        }
    }

    /// A page as it stands at `now`, of items older than the cursor `before`.
    pub(crate) fn page(&self, list: List, before: Option<u64>, per_page: usize, now: Time) -> Page {
        let oldest = self.record.partition_point(|item| item.at + RETENTION < now);
        let end = before.map_or(self.record.len(), |before| self.record.partition_point(|item| item.id < before));
        let is_listed = |index: &usize| self.record[*index].listed_at <= now;
        let take = |indexes: &mut dyn Iterator<Item = usize>| {
            let mut listed = indexes.filter(is_listed);
            let items: Vec<Item> = listed.by_ref().take(per_page).map(|index| self.record[index]).collect();
            let next = listed.next().and(items.last()).map(|item| item.id);
            Page { items, next }
        };
        match list {
            List::All => take(&mut (oldest..end.max(oldest)).rev()),
            List::Failures => {
                let to = self.failures.partition_point(|index| *index < end);
                let from = self.failures.partition_point(|index| *index < oldest);
                take(&mut self.failures[from.min(to)..to].iter().rev().copied())
            }
        }
    }

    /// The delivery of this id, if GitHub still keeps it at `now`.
    pub(crate) fn delivery(&self, id: u64, now: Time) -> Option<Item> {
        let index = usize::try_from(id.checked_sub(FIRST_ID)?).ok()?;
        self.record.get(index).filter(|item| item.at + RETENTION >= now).copied()
    }

    /// Takes an ask.
    pub(crate) fn redeliver(&mut self, event: u32, now: Time) {
        let delay = self.week.delay(event, self.standing(event).attempts);
        self.due.push(Reverse((now + delay, event, false)));
    }
}
