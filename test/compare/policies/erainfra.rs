//! erainfra: `packages/backend/convex/recovery.ts` in `Fanzzzd/erainfra`.
//!
//! Every five minutes: three pages at most, back to a watermark with ten minutes of overlap, which starts an hour back and does not move
//! when the pages or the 20 asks of a run were used up. Failed is what is not 2xx; not what has a pass on the pages, nor what its own
//! database received, nor what is older than 24 hours. The oldest first, three requests an event, one, five and 30 minutes apart, each
//! counted before the call; a refused one does not stop the rest. A run that fails waits 1, 5, 15, then 60 minutes.
//!
//! Left out: its filter of event names (`workflow_job`), which fits its one receiver, and that it cannot read ids of 19 digits.
//! "Received" is taken as: the endpoint did its work. Assumed: requests that are due are made again from its rows, whether or not they
//! are on the pages.

use std::collections::BTreeMap;
use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours, minutes};

use crate::github::{Item, List};
use crate::policy::{Calls, Down, Policy, by_guid};

/// Requests of an event at most, and how long after each the next may follow.
const BACKOFF: [Duration; 3] = [minutes(1), minutes(5), minutes(30)];

/// Requests of a run at most.
const ASKS: usize = 20;

/// How long it waits after so many failed runs.
const BREAKER: [Duration; 4] = [minutes(1), minutes(5), minutes(15), minutes(60)];

#[derive(Debug)]
struct Row {
    delivery: Item,
    requests: usize,
    due: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Erainfra {
    watermark: Option<Time>,
    rows: BTreeMap<u32, Row>,
    failures: usize,
}

impl Erainfra {
    fn scan(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let watermark = self.watermark.unwrap_or(now - hours(1)).max(now - hours(72));
        let since = watermark - minutes(10);
        let mut pages = 0;
        let (mut items, mut next, mut reached) = (Vec::new(), None, false);
        while pages < 3 && !reached {
            let page = calls.page(List::All, next, 100)?;
            pages += 1;
            reached = page.next.is_none() || page.items.last().is_none_or(|item| item.at < since);
            items.extend(page.items.iter().filter(|item| item.at >= since).copied());
            next = page.next;
        }
        for group in by_guid(&items) {
            let newest = group.newest();
            if group.any_is_ok() {
                self.settle(newest.event);
            } else {
                let row = self.rows.entry(newest.event).or_insert(Row { delivery: newest, requests: 0, due: now });
                row.delivery = newest;
            }
        }
        let all = self.request(calls, now)?;
        if reached && all {
            self.watermark = Some(now);
        } else {
            self.watermark = Some(watermark);
        }
        Ok(())
    }

    fn settle(&mut self, event: u32) {
        if let Some(row) = self.rows.get_mut(&event) {
            row.requests = BACKOFF.len();
        }
    }

    /// Makes the requests that are due. Returns whether that was all of them.
    fn request(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<bool, Down> {
        self.rows.retain(|_, row| now.since(row.delivery.at) < hours(24));
        let received = |event: u32, calls: &Calls<'_, '_>| calls.github.standing(event).handled > 0;
        let mut due: Vec<(Time, u32)> = self
            .rows
            .iter()
            .filter(|(event, row)| row.requests < BACKOFF.len() && row.due <= now && !received(**event, calls))
            .map(|(event, row)| (row.delivery.at, *event))
            .collect();
        due.sort_unstable();
        for (_, event) in due.iter().take(ASKS) {
            let Some(row) = self.rows.get_mut(event) else { continue };
            row.due = now + BACKOFF[row.requests];
            row.requests += 1;
            calls.ask(row.delivery.id)?;
        }
        Ok(due.len() <= ASKS)
    }
}

impl Policy for Erainfra {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let result = self.scan(calls, now);
        self.failures = if result.is_ok() { 0 } else { self.failures + 1 };
        result
    }

    fn interval(&self) -> Duration {
        let wait = self.failures.checked_sub(1).map(|place| BREAKER[place.min(BREAKER.len() - 1)]);
        wait.unwrap_or_default().max(minutes(5))
    }
}
