//! Reads both lists, as far as the policy wants them and the budget allows.

use super::report::{ListReach, Stamp};
use super::{Run, SweepError};
use crate::apart::apart;
use crate::github::deliveries::Page;
use crate::github::error::GitHubError;
use crate::policy::ledger::Ledger;
use crate::policy::reading::{CLOCK_IS_WRONG, List, Next, PageRequest, Reach, Reader, Reading};
use crate::ports::{Clock, Network, Signer, Storage};

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// Reads the failures, then the deliveries, so that a pass that arrives meanwhile is seen. `None` if no page of the
    /// deliveries list fits the budget.
    pub(super) async fn read(&self, ledger: &Ledger, killed: bool) -> Result<Option<Reading>, SweepError> {
        apart(self.read_lists(ledger, killed)).await
    }

    async fn read_lists(&self, ledger: &Ledger, killed: bool) -> Result<Option<Reading>, SweepError> {
        let settings = &self.config.settings;
        let mut reader = Reader::new(ledger, settings, self.now, killed);
        loop {
            match reader.next(self.world.budget.spare(settings)) {
                Next::Done => return Ok(Some(reader.finish())),
                Next::NoRoom => return Ok(None),
                Next::Page(request) => match apart(self.page(&request)).await {
                    Ok(page) => {
                        let taken = reader.take(request.list, &page.body, page.next, page.date);
                        taken.map_err(|error| SweepError::Page(request.list, error))?;
                    }
                    Err(error) if request.list == List::Gap && matches!(error.status(), Some(400 | 404 | 422)) => reader.gap_refused(),
                    Err(error) => return Err(error.into()),
                },
            }
        }
    }

    /// One page; tried once more if GitHub or the network failed and a call is left for it above those that are kept
    /// back, and another for the page behind it.
    async fn page(&self, request: &PageRequest) -> Result<Page, GitHubError> {
        match self.api.page(request).await {
            Err(error) if error.is_transient() && self.world.budget.spare(&self.config.settings) > 1 => self.api.page(request).await,
            page => page,
        }
    }

    pub(super) fn report_reading(&mut self, reading: &Reading) {
        let reach = |reach: &Reach| ListReach {
            pages: reach.pages,
            reached: reach.oldest.map(|oldest| Stamp(oldest.at)),
            complete: reach.complete,
        };
        self.report.failures_list = reach(&reading.failures);
        self.report.deliveries_list = reach(&reading.list);
        self.report.gap_pages = reading.gap_pages;
        self.report.second_look_complete = reading.second_look_complete;
        self.report.deliveries = reading.deliveries;
        if let Some(date) = reading.github_date.filter(|date| self.now.since(*date) > CLOCK_IS_WRONG) {
            self.report.warnings.push(format!("this tick is far ahead of GitHub's clock ({date}), which is taken instead"));
        }
    }
}
