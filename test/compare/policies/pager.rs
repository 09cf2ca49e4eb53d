//! The pager, as its decision record of 2026-11-08 describes it, and as amended on 2026-11-12. Its source is not public,
//! so what the record leaves open is taken as this Worker does it: the oldest first, and the message of `policy::Message`.
//!
//! Every 15 minutes: what failed with a 5xx or got no answer comes again, up to three attempts in all, ten events a run, while its first
//! delivery is on the pages; never a 4xx; not once a newer event of the same kind passed. A third failure is an entry of the alarm.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours, minutes};

use crate::github::{Item, List};
use crate::policy::{Calls, Down, Group, Message, Policy, by_guid};
use crate::traffic::Kind;

const MAX_ATTEMPTS: usize = 3;

/// Events of a run at most.
const ASKS: usize = 10;

/// How far back the lists reach.
const WINDOW: Duration = hours(3);

fn is_failure(item: &Item) -> bool {
    item.code == 0 || item.code >= 500
}

/// The newest event of each kind that passed.
#[derive(Debug, Default)]
struct Passed(BTreeMap<Kind, (u32, Time)>);

impl Passed {
    fn note(&mut self, calls: &Calls<'_, '_>, item: &Item) {
        if let Some(kind) = calls.github.week.events[item.event as usize].kind {
            let newest = self.0.entry(kind).or_insert((item.event, item.at));
            if item.event >= newest.0 {
                *newest = (item.event, item.at);
            }
        }
    }

    fn overtakes(&self, calls: &Calls<'_, '_>, event: u32) -> bool {
        let kind = calls.github.week.events[event as usize].kind;
        kind.and_then(|kind| self.0.get(&kind)).is_some_and(|(newest, _)| *newest > event)
    }
}

/// Asks for what is to come again, and tells of what gave up.
fn decide(calls: &mut Calls<'_, '_>, message: &mut Message, groups: &[Group], passed: &Passed) -> Result<(), Down> {
    let open = groups.iter().filter(|group| group.first().is_some() && !group.any_is_ok() && is_failure(&group.newest()));
    let (gave_up, mut again): (Vec<&Group>, Vec<&Group>) = open.partition(|group| group.items.len() >= MAX_ATTEMPTS);
    again.retain(|group| !passed.overtakes(calls, group.newest().event));
    again.sort_by_key(|group| group.newest().event);
    let mut result = Ok(());
    for group in again.into_iter().take(ASKS) {
        result = calls.ask(group.newest().id).map(drop);
        if result.is_err() {
            break;
        }
    }
    let ok: BTreeSet<u32> = groups.iter().filter(|group| group.any_is_ok()).map(|group| group.newest().event).collect();
    let gave_up: Vec<u32> = gave_up.iter().map(|group| group.newest().event).collect();
    message.show(calls, &gave_up, |event| ok.contains(&event));
    result
}

/// Before its amendment: one list of three pages.
#[derive(Debug, Default)]
pub(crate) struct Pager {
    message: Message,
}

impl Policy for Pager {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let items = calls.read(List::All, (100, 3), |item| item.at < now - WINDOW)?;
        let mut passed = Passed::default();
        items.iter().filter(|item| item.is_ok()).for_each(|item| passed.note(calls, item));
        decide(calls, &mut self.message, &by_guid(&items), &passed)
    }

    fn interval(&self) -> Duration {
        minutes(15)
    }
}

/// As amended: the failures of three hours on three pages, and every outcome on 20, back to where the run before began.
#[derive(Debug, Default)]
pub(crate) struct AmendedPager {
    message: Message,
    newest_read: Option<u64>,
    /// For three hours: what the failures list leaves out, and passes of redeliveries.
    kept: BTreeMap<u64, Item>,
    passed: Passed,
}

impl Policy for AmendedPager {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let since = now - WINDOW;
        let failures = calls.read(List::Failures, (100, 3), |item| item.at < since)?;
        let newest_read = self.newest_read;
        let news = calls.read(List::All, (100, 20), |item| item.at < since || newest_read.is_some_and(|newest| item.id <= newest))?;
        for item in &news {
            if item.is_ok() {
                self.passed.note(calls, item);
            }
            if item.code == 0 || item.is_ok() && item.redelivery {
                self.kept.insert(item.id, *item);
            }
            self.newest_read = self.newest_read.max(Some(item.id));
        }
        self.kept.retain(|_, item| item.at >= since);
        self.passed.0.retain(|_, (_, at)| *at >= since);
        let mut all: BTreeMap<u64, Item> = failures.iter().map(|item| (item.id, *item)).collect();
        all.extend(&self.kept);
        let newest_first: Vec<Item> = all.into_values().rev().collect();
        decide(calls, &mut self.message, &by_guid(&newest_first), &self.passed)
    }

    fn interval(&self) -> Duration {
        minutes(15)
    }
}
