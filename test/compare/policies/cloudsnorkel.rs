//! `CloudSnorkel`: `src/webhook-redelivery.lambda.ts` in `CloudSnorkel/cdk-github-runners`.
//!
//! Every five minutes: all outcomes, 30 a page, back to the newest id of the last run, or 30 minutes on a cold start. A first failure is
//! asked for at once, a failed redelivery only if its first failure is in memory and younger than three hours; not what
//! a newer attempt settled with `OK`. The id moves on before the asks, and an ask that throws loses the rest. The memory is the Lambda's.
//!
//! Assumed: a cold start every six hours. AWS says of it only that it happens.

use std::collections::BTreeMap;
use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours, minutes};

use crate::github::List;
use crate::policy::{Calls, Down, Policy, by_guid};

#[derive(Debug, Default)]
pub(crate) struct CloudSnorkel {
    started: Time,
    last_id: Option<u64>,
    first_failures: BTreeMap<u32, Time>,
}

impl Policy for CloudSnorkel {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        if now.since(self.started) >= hours(6) {
            *self = Self { started: now, ..Self::default() };
        }
        let last_id = self.last_id;
        let items = calls.read(List::All, (30, usize::MAX), |item| match last_id {
            Some(last_id) => item.id <= last_id,
            None => item.at < now - minutes(30),
        })?;
        self.last_id = items.iter().map(|item| item.id).max().or(self.last_id);
        for group in by_guid(&items).iter().filter(|group| !group.newest().is_ok()) {
            let newest = group.newest();
            if let Some(first) = group.first().filter(|first| !first.is_ok()) {
                self.first_failures.insert(newest.event, first.at);
            }
            let young = self.first_failures.get(&newest.event).is_some_and(|first| now.since(*first) < hours(3));
            if young {
                // Of those that it read, it names the oldest.
                calls.ask(group.items[group.items.len() - 1].id)?;
            }
        }
        Ok(())
    }

    fn interval(&self) -> Duration {
        minutes(5)
    }
}
