//! tuist: `Tuist.Runners.Workers.WebhookRedeliveryWorker` in `tuist/tuist` (pull request 10909).
//!
//! `status=failure` of the last 15 minutes, by guid, the newest attempt. That list holds no pass, so what passed since is asked for
//! again as long as its failure is in the window. A page that cannot be read ends the reading, an ask that fails is warned of. No limit of
//! attempts: a failed redelivery is a new failure. Its filter of event names (`workflow_job`) is left out, since it fits its
//! one receiver.
//!
//! Assumed: every five minutes. The schedule is in a setting that was not seen.

use std::time::Duration;

use github_app_redeliver::policy::time::{Time, minutes};

use crate::github::List;
use crate::policy::{Calls, Down, Policy, by_guid};

#[derive(Debug, Default)]
pub(crate) struct Tuist;

impl Policy for Tuist {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let since = now - minutes(15);
        let (mut items, mut next) = (Vec::new(), None);
        while let Ok(page) = calls.page(List::Failures, next, 100) {
            let young = page.items.iter().filter(|item| item.at >= since);
            let before = items.len();
            items.extend(young.copied());
            next = page.next;
            if items.len() - before < page.items.len() || next.is_none() {
                break;
            }
        }
        for group in by_guid(&items) {
            // Warned of, and no more.
            let _ = calls.ask(group.newest().id);
        }
        Ok(())
    }

    fn interval(&self) -> Duration {
        minutes(5)
    }
}
