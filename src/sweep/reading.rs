//! Reads both lists, as far as the policy wants them and the budget allows.

use super::report::{ListReach, Stamp};
use super::{Run, SweepError};
use crate::apart::apart;
use crate::config::is_enterprise_server;
use crate::github::deliveries::Page;
use crate::github::error::GitHubError;
use crate::policy::budget::kept_back;
use crate::policy::ledger::Ledger;
use crate::policy::reading::{CLOCK_IS_WRONG, Filter, List, Next, PageRequest, Reach, Reader, Reading};
use crate::ports::{Clock, Network, Signer, Storage};

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// Reads the failures, then the deliveries, so that a pass that arrives meanwhile is seen. `None` if no page of the
    /// deliveries list fits the budget.
    ///
    /// A gap whose page fails stays unread, and so does every other: what they could settle waits. That is no half picture, and a
    /// page that fails for good must not end every sweep for as long as the window stands still.
    pub(super) async fn read(&mut self, ledger: &Ledger, killed: bool) -> Result<Option<Reading>, SweepError> {
        apart(self.read_lists(ledger, killed)).await
    }

    async fn read_lists(&mut self, ledger: &Ledger, killed: bool) -> Result<Option<Reading>, SweepError> {
        let settings = &self.config.settings;
        let mut reader = Reader::new(ledger, settings, self.now, killed);
        loop {
            match reader.next(self.spare()) {
                Next::Done => return Ok(Some(reader.finish())),
                Next::NoRoom => return Ok(None),
                Next::Page(request) => match apart(self.take_page(&mut reader, &request)).await {
                    Err(SweepError::GitHub(error)) if request.list == List::Gap && matches!(error.status(), Some(400 | 404 | 422)) => {
                        self.warn(&error);
                        reader.gap_refused();
                    }
                    Err(SweepError::GitHub(error))
                        if request.list == List::Failures
                            && request.from.is_none()
                            && error.status() == Some(422)
                            && is_enterprise_server(&self.config.api_url) =>
                    {
                        self.warn(&error);
                        reader.failures_refused();
                    }
                    Err(error) if request.list == List::Gap && error.class().is_of_the_moment() => {
                        self.report.warnings.push("a gap stays unread: a page of it could not be read".to_owned());
                        self.warn(&error);
                        reader.leave_gaps();
                    }
                    taken => taken?,
                },
            }
        }
    }

    async fn take_page(&self, reader: &mut Reader<'_>, request: &PageRequest) -> Result<(), SweepError> {
        let page = self.page(request).await?;
        reader.take(request.list, &page.body, page.next, page.date).map_err(|error| SweepError::Page(request.list, error))
    }

    /// One page; tried once more if a call is left for it above those that are kept back, and another for the page behind it.
    async fn page(&self, request: &PageRequest) -> Result<Page, GitHubError> {
        self.api.page(request, || self.spare() > 1).await
    }

    /// Calls that pages may take. What the alarm has used already is not kept back a second time.
    fn spare(&self) -> u32 {
        let kept_back = kept_back(&self.config.settings).saturating_sub(self.channels.used());
        self.world.budget.left().saturating_sub(kept_back)
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
        if reading.filter == Filter::Unknown {
            let warning =
                "this server does not know the filter of the failures list: for a day the failures come out of the deliveries list";
            self.report.warnings.push(warning.to_owned());
        }
        if let Some(date) = reading.github_date.filter(|date| self.now.since(*date) > CLOCK_IS_WRONG) {
            self.report.warnings.push(format!("this tick is far ahead of GitHub's clock ({date}), which is taken instead"));
        }
    }
}
