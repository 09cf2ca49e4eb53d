//! ubicloud: `prog/redeliver_github_failures.rb` in `ubicloud/ubicloud`.
//!
//! Every two minutes: all outcomes back to the last check, 100 pages at most (silently), by guid; what has no `OK` is asked for by its
//! newest attempt, in child strands whose failed calls are tried again for ten minutes. No limit of attempts.

use std::time::Duration;

use github_app_redeliver::policy::time::{Time, minutes};

use crate::github::List;
use crate::policy::{Calls, Down, Policy, by_guid};

#[derive(Debug, Default)]
pub(crate) struct Ubicloud {
    last_check: Option<Time>,
    /// Asks that failed: which delivery, and until when they are tried again.
    failed: Vec<(u64, Time)>,
}

impl Policy for Ubicloud {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        for (delivery, until) in std::mem::take(&mut self.failed) {
            if now < until && calls.ask(delivery).is_err() {
                self.failed.push((delivery, until));
            }
        }
        let since = self.last_check.unwrap_or(now - self.interval());
        let items = calls.read(List::All, (100, 100), |item| item.at <= since)?;
        self.last_check = Some(now);
        for group in by_guid(&items).iter().filter(|group| !group.any_is_ok()) {
            let delivery = group.newest().id;
            if calls.ask(delivery).is_err() {
                self.failed.push((delivery, now + minutes(10)));
            }
        }
        Ok(())
    }

    fn interval(&self) -> Duration {
        minutes(2)
    }
}
