//! GitHub's own script: "Automatically redelivering failed deliveries for a GitHub App webhook", in `github/docs`,
//! `content/webhooks/using-webhooks/`.
//!
//! Every six hours: the time of the last run from an Actions variable (none: 24 hours ago), all outcomes back to that time, by guid;
//! what has no attempt with status `OK` is asked for by its newest attempt; then the start of this run is stored. No limit of
//! attempts. A call that fails ends the run before the variable is written, so the next one reads back as far.

use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours, minutes};

use crate::github::List;
use crate::policy::{Calls, Down, Policy, by_guid};

#[derive(Debug, Default)]
pub(crate) struct GitHubScript {
    last_run: Option<Time>,
}

impl Policy for GitHubScript {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        // The variable is read.
        calls.other()?;
        let since = self.last_run.unwrap_or(now - hours(24));
        let items = calls.read(List::All, (100, usize::MAX), |item| item.at <= since)?;
        for group in by_guid(&items).iter().filter(|group| !group.any_is_ok()) {
            calls.ask(group.newest().id)?;
        }
        // The variable is written.
        calls.other()?;
        self.last_run = Some(now);
        Ok(())
    }

    fn interval(&self) -> Duration {
        hours(6)
    }

    fn first_run(&self) -> Duration {
        minutes(40)
    }
}
