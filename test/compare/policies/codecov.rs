//! codecov: `apps/worker/tasks/github_app_webhooks_check.py` in `codecov/umbrella`.
//!
//! Every six hours: every page to the end of the list, 50 a page; of the last eight hours each delivery whose code is not 200 is asked
//! for. Nothing is grouped by guid, so what passed since is asked for again, and an event once for each of its attempts. An error ends
//! the task. Its filter of event names (`installation*`) is left out, since it fits its one receiver.

use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours};

use crate::github::List;
use crate::policy::{Calls, Down, Policy};

#[derive(Debug, Default)]
pub(crate) struct Codecov;

impl Policy for Codecov {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let mut next = None;
        loop {
            let page = calls.page(List::All, next, 50)?;
            for item in page.items.iter().filter(|item| item.code != 200 && item.at >= now - hours(8)) {
                calls.ask(item.id)?;
            }
            next = page.next;
            if next.is_none() {
                return Ok(());
            }
        }
    }

    fn interval(&self) -> Duration {
        hours(6)
    }
}
