//! The deliveries of the App's webhook: what a sweep reads, and asks.

use super::api::{Api, Caller};
use super::error::GitHubError;
use super::link;
use crate::policy::delivery::DeliveryId;
use crate::policy::ground::{NextLink, PageCursor};
use crate::policy::plan::AskAnswer;
use crate::policy::reading::{List, PageRequest};
use crate::policy::time::Time;
use crate::ports::{Clock, Method, Network, Signer};

/// The list's path.
pub const PATH: &str = "/app/hook/deliveries";

/// One page, not read yet.
#[derive(Debug)]
pub struct Page {
    /// JSON.
    pub body: Vec<u8>,
    /// Where the list goes on.
    pub next: NextLink,
    /// GitHub's clock.
    pub date: Option<Time>,
}

/// What became of an ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Asked {
    /// For this event, as the policy tells it apart.
    Answered(AskAnswer),
    /// Any other 403: like a refusal of this event, but the second one in a sweep ends the asking.
    Forbidden,
    /// It may have been taken; the second one in a sweep ends the asking.
    Unknown(GitHubError),
    /// GitHub turns all asks away.
    TurnedAway(GitHubError),
    /// No call is left, or the sweep is over: it was not made.
    NotMade,
}

fn step(list: List) -> &'static str {
    match list {
        List::Failures => "reading the failures list",
        List::Deliveries => "reading the deliveries list",
        List::Gap => "reading a gap of the deliveries list",
    }
}

impl<N: Network, S: Signer, C: Clock> Api<'_, N, S, C> {
    /// Reads one page; once more if GitHub or the way to it failed and `may_repeat` allows it.
    ///
    /// # Errors
    /// If there is no answer, or it is no page.
    pub async fn page(&self, request: &PageRequest, may_repeat: impl Fn() -> bool) -> Result<Page, GitHubError> {
        let step = step(request.list);
        let unreadable = |error: link::LinkError| GitHubError::Unreadable { step, reason: error.to_string() };
        let path = match &request.from {
            Some(PageCursor(cursor)) => link::resume(cursor, PATH).map_err(unreadable)?.to_owned(),
            None if request.list == List::Failures => format!("{PATH}?per_page=100&status=failure"),
            None => format!("{PATH}?per_page=100"),
        };
        let answer = self.get(step, Caller::App, &path, may_repeat).await?;
        if answer.status != 200 {
            return Err(GitHubError::of(step, &answer));
        }
        let next = match link::next(answer.headers.link.as_deref(), self.base_url(), PATH) {
            Ok(None) => NextLink::End,
            Ok(Some(next)) => NextLink::To(PageCursor(next.into())),
            Err(error) => NextLink::Unusable(error.to_string()),
        };
        let date = answer.headers.date.as_deref().and_then(Time::parse_http_date);
        Ok(Page { body: answer.body, next, date })
    }

    /// Asks GitHub to redeliver the event of this attempt.
    pub async fn redeliver(&self, delivery: DeliveryId) -> Asked {
        let step = "asking for a redelivery";
        let path = format!("{PATH}/{delivery}/attempts");
        let answer = match self.write(step, Caller::App, Method::Post, &path, None).await {
            Ok(answer) => answer,
            Err(GitHubError::Network { source, .. }) if source.was_not_made() => return Asked::NotMade,
            // Without a signature the call was not made either, and no other will be.
            Err(error @ GitHubError::SignIn(_)) => return Asked::TurnedAway(error),
            Err(error) => return Asked::Unknown(error),
        };
        let error = GitHubError::of(step, &answer);
        match (answer.status, &error) {
            (202, _) => Asked::Answered(AskAnswer::Taken),
            (400 | 404 | 410 | 422, _) => Asked::Answered(AskAnswer::NotRedeliverable(answer.status)),
            (401, _) | (_, GitHubError::Status { rate_limited: true, .. }) => Asked::TurnedAway(error),
            (403, _) => Asked::Forbidden,
            _ => Asked::Unknown(error),
        }
    }
}
