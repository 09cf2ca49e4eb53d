//! What can go wrong in a call to GitHub, and what class of failure that is (spec section 9).

use std::time::Duration;

use crate::failure::FailureClass;
use crate::policy::time::{Time, hours};
use crate::ports::{Answer, NetworkError, SignError};

/// Longest wait that is believed, whoever names it.
pub const LONGEST_WAIT: Duration = hours(6);

/// A call to GitHub failed. The texts hold no body, no URL and no token.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GitHubError {
    /// GitHub refused the call, or failed.
    #[error("GitHub answered {status} to {step}")]
    Status {
        /// What was being done, such as `reading the failures list`.
        step: &'static str,
        /// HTTP status.
        status: u16,
        /// Whether it is a sign of a rate limit.
        rate_limited: bool,
        /// The wait that GitHub names, six hours at most.
        wait: Option<Duration>,
    },
    /// No answer.
    #[error("no answer from GitHub to {step}")]
    Network {
        /// What was being done.
        step: &'static str,
        /// Why there is none.
        #[source]
        source: NetworkError,
    },
    /// The answer is not of GitHub's shape.
    #[error("GitHub's answer to {step} cannot be read: {reason}")]
    Unreadable {
        /// What was being done.
        step: &'static str,
        /// What is wrong with it, without any of it.
        reason: String,
    },
    /// The App could not sign in.
    #[error("the App cannot sign in")]
    SignIn(#[from] SignError),
}

impl GitHubError {
    /// The error of an answer that is no success.
    #[must_use]
    pub fn of(step: &'static str, answer: &Answer) -> Self {
        let headers = &answer.headers;
        let nothing_left = headers.rate_limit_remaining.as_deref() == Some("0");
        let says_so = || String::from_utf8_lossy(&answer.body).to_ascii_lowercase().contains("rate limit");
        let rate_limited = match answer.status {
            429 => true,
            403 => headers.retry_after.is_some() || nothing_left || says_so(),
            _ => false,
        };
        Self::Status { step, status: answer.status, rate_limited, wait: wait_named(answer) }
    }

    /// Its class.
    #[must_use]
    pub fn class(&self) -> FailureClass {
        match self {
            Self::Status { rate_limited: true, .. } => FailureClass::RateLimited,
            Self::Status { status: 401 | 403, .. } | Self::SignIn(_) => FailureClass::Auth,
            Self::Status { status, .. } if is_server_error(*status) => FailureClass::ServerError,
            // A redirect, 404 and the like: the settings name another server or App.
            Self::Status { .. } => FailureClass::Config,
            Self::Network { source: NetworkError::TooLarge, .. } | Self::Unreadable { .. } => FailureClass::Decode,
            Self::Network { .. } => FailureClass::Transport,
        }
    }

    /// Whether the same call may well succeed at once.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        match self {
            Self::Status { status, .. } => is_server_error(*status),
            Self::Network { source, .. } => matches!(source, NetworkError::Failed | NetworkError::TimedOut),
            Self::Unreadable { .. } | Self::SignIn(_) => false,
        }
    }

    /// The HTTP status, if there was an answer.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Status { status, .. } => Some(*status),
            _ => None,
        }
    }

    /// The wait that GitHub names.
    #[must_use]
    pub fn wait(&self) -> Option<Duration> {
        match self {
            Self::Status { wait, .. } => *wait,
            _ => None,
        }
    }
}

/// Whether it is the server's own fault.
pub(super) fn is_server_error(status: u16) -> bool {
    (500..=599).contains(&status)
}

/// `Retry-After`, else `X-RateLimit-Reset` when nothing remains. The reset is a time of GitHub's clock, so it is measured by
/// the `Date` of the same answer.
fn wait_named(answer: &Answer) -> Option<Duration> {
    let headers = &answer.headers;
    let date = headers.date.as_deref().and_then(Time::parse_http_date);
    let retry_after = headers.retry_after.as_deref().and_then(|text| match text.trim().parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => Some(Time::parse_http_date(text)?.since(date?)),
    });
    let reset = || {
        let nothing_left = headers.rate_limit_remaining.as_deref() == Some("0");
        let seconds: i64 = headers.rate_limit_reset.as_deref().filter(|_| nothing_left)?.trim().parse().ok()?;
        Some(Time::from_millis(seconds.checked_mul(1000)?).since(date?))
    };
    retry_after.or_else(reset).map(|wait| wait.min(LONGEST_WAIT))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::time::minutes;
    use crate::ports::AnswerHeaders;

    fn answer(status: u16, body: &str, headers: AnswerHeaders) -> Answer {
        Answer { status, headers, body: body.as_bytes().to_vec() }
    }

    #[allow(clippy::unnecessary_wraps, reason = "every header may be missing")]
    fn text(value: &str) -> Option<String> {
        Some(value.to_owned())
    }

    #[test]
    fn a_server_that_fails_may_answer_the_same_call_at_once_and_nobody_else() {
        for (status, expected) in [(200, false), (404, false), (499, false), (500, true), (502, true), (599, true), (600, false)] {
            let error = GitHubError::of("asking", &answer(status, "{}", AnswerHeaders::default()));
            assert_eq!((error.is_transient(), error.class() == FailureClass::ServerError), (expected, expected), "{status}");
        }
    }

    #[test]
    fn a_403_is_a_rate_limit_only_with_a_sign_of_one() {
        let class = |body, headers| GitHubError::of("asking", &answer(403, body, headers)).class();
        assert_eq!(class("{}", AnswerHeaders::default()), FailureClass::Auth);
        assert_eq!(class("{}", AnswerHeaders { retry_after: text("60"), ..AnswerHeaders::default() }), FailureClass::RateLimited);
        assert_eq!(class("{}", AnswerHeaders { rate_limit_remaining: text("0"), ..AnswerHeaders::default() }), FailureClass::RateLimited);
        assert_eq!(class("{}", AnswerHeaders { rate_limit_remaining: text("7"), ..AnswerHeaders::default() }), FailureClass::Auth);
        let message = r#"{"message":"You have exceeded a secondary rate limit."}"#;
        assert_eq!(class(message, AnswerHeaders::default()), FailureClass::RateLimited);
    }

    #[test]
    fn waits_are_read_from_both_headers_and_end_at_six_hours() {
        let wait = |headers| GitHubError::of("asking", &answer(429, "", headers)).wait();
        let date = text("Tue, 01 Dec 2026 00:00:00 GMT");
        assert_eq!(wait(AnswerHeaders { retry_after: text("60"), ..AnswerHeaders::default() }), Some(minutes(1)));
        assert_eq!(wait(AnswerHeaders { retry_after: text("999999999"), ..AnswerHeaders::default() }), Some(LONGEST_WAIT));
        assert_eq!(wait(AnswerHeaders { retry_after: text("soon"), ..AnswerHeaders::default() }), None);
        let reset = |remaining| AnswerHeaders {
            date: date.clone(),
            rate_limit_remaining: text(remaining),
            rate_limit_reset: text("1796083260"),
            ..AnswerHeaders::default()
        };
        assert_eq!(wait(reset("0")), Some(minutes(1)));
        assert_eq!(wait(reset("1")), None);
        let at = AnswerHeaders { date: date.clone(), retry_after: text("Tue, 01 Dec 2026 00:01:00 GMT"), ..AnswerHeaders::default() };
        assert_eq!(wait(at), Some(minutes(1)));
    }

    #[test]
    fn every_status_has_its_class() {
        let class = |status| GitHubError::of("reading", &answer(status, "", AnswerHeaders::default())).class();
        assert_eq!(
            [class(401), class(429), class(500), class(503)],
            [FailureClass::Auth, FailureClass::RateLimited, FailureClass::ServerError, FailureClass::ServerError]
        );
        assert_eq!([class(301), class(404), class(422)], [FailureClass::Config; 3]);
    }
}
