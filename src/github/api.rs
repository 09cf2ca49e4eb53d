//! Calls to GitHub, signed in as the App or as its installation.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use super::error::{GitHubError, is_server_error};
use super::jwt::{self, Jwt};
use crate::apart::apart;
use crate::policy::reading::CLOCK_IS_WRONG;
use crate::policy::time::Time;
use crate::ports::{Answer, Call, Clock, Method, Network, Signer};

/// GitHub rejects calls without one.
const USER_AGENT: &str = concat!("github-app-redeliver/", env!("CARGO_PKG_VERSION"));

/// The version of the API that this code was written for: supported until 2028 at least, and by Enterprise Server.
const API_VERSION: &str = "2022-11-28";

/// A JWT is issued a minute back, so clocks that differ by less than this are not why GitHub refuses it.
const CLOCKS_AGREE: Duration = Duration::from_secs(30);

/// Who makes a call.
#[derive(Clone, Copy)]
pub enum Caller<'a> {
    /// The App, by a JWT.
    App,
    /// An installation, by its token.
    Installation(&'a str),
}

/// The API, for one App and one sweep.
#[derive(Debug)]
pub struct Api<'a, N, S, C> {
    network: &'a N,
    signer: &'a S,
    clock: &'a C,
    base_url: &'a str,
    issuer: &'a str,
    jwt: RefCell<Option<Jwt>>,
    /// How far GitHub's clock is ahead of ours, milliseconds, as far as that matters.
    ahead: Cell<i64>,
}

impl<'a, N: Network, S: Signer, C: Clock> Api<'a, N, S, C> {
    /// Calls `base_url` (without a slash at its end) as the App `issuer`, an App id or client id.
    pub fn new(network: &'a N, signer: &'a S, clock: &'a C, base_url: &'a str, issuer: &'a str) -> Self {
        Self { network, signer, clock, base_url, issuer, jwt: RefCell::new(None), ahead: Cell::new(0) }
    }

    /// Where the API is.
    #[must_use]
    pub fn base_url(&self) -> &'a str {
        self.base_url
    }

    /// Reads `path`. If GitHub or the way to it failed, or refused the App for its clock, and `may_repeat` still allows a call more, it is
    /// tried once more.
    ///
    /// # Errors
    /// If there is no answer, or the App cannot sign in. An answer of any status is `Ok`.
    pub async fn get(
        &self,
        step: &'static str,
        caller: Caller<'_>,
        path: &str,
        may_repeat: impl Fn() -> bool,
    ) -> Result<Answer, GitHubError> {
        let first = self.call(step, caller, Method::Get, path, None).await;
        let failed = match &first {
            Ok(answer) if answer.status == 401 => matches!(caller, Caller::App) && self.goes_by_their_clock(answer),
            Ok(answer) => is_server_error(answer.status),
            Err(error) => error.is_transient(),
        };
        if !failed || !may_repeat() {
            return first;
        }
        match self.call(step, caller, Method::Get, path, None).await {
            // It was not made, so the first one is what is known.
            Err(GitHubError::Network { source, .. }) if source.was_not_made() => first,
            second => second,
        }
    }

    /// Writes to `path`: never twice, since the first call may have done it. `step` says what for, such as `asking for a redelivery`.
    ///
    /// # Errors
    /// If there is no answer, or the App cannot sign in. An answer of any status is `Ok`.
    pub async fn write(
        &self,
        step: &'static str,
        caller: Caller<'_>,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, GitHubError> {
        self.call(step, caller, method, path, body).await
    }

    async fn call(
        &self,
        step: &'static str,
        caller: Caller<'_>,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Result<Answer, GitHubError> {
        let token = match caller {
            Caller::App => self.jwt().await?,
            Caller::Installation(token) => token.to_owned(),
        };
        let url = format!("{}{path}", self.base_url);
        let authorization = format!("Bearer {token}");
        let headers = [
            ("accept", "application/vnd.github+json"),
            ("authorization", authorization.as_str()),
            ("user-agent", USER_AGENT),
            ("x-github-api-version", API_VERSION),
            ("content-type", "application/json"),
        ];
        let headers = if body.is_some() { &headers[..] } else { &headers[..4] };
        let answer = self.network.call(Call { method, url: &url, headers, body }).await;
        answer.map_err(|source| GitHubError::Network { step, source })
    }

    /// Whether the JWT that was refused may have been signed at a time that is none by GitHub's clock. The next one is signed by that.
    fn goes_by_their_clock(&self, refusal: &Answer) -> bool {
        let Some(theirs) = refusal.headers.date.as_deref().and_then(Time::parse_http_date) else { return false };
        let ours = self.now();
        let off = theirs.since(ours).max(ours.since(theirs));
        if off < CLOCKS_AGREE || off > CLOCK_IS_WRONG {
            return false;
        }
        self.ahead.set(theirs.millis() - self.clock.now().millis());
        self.jwt.replace(None);
        true
    }

    /// The present by GitHub's clock, as far as that matters.
    fn now(&self) -> Time {
        Time::from_millis(self.clock.now().millis().saturating_add(self.ahead.get()))
    }

    /// The App's JWT; signed anew if the sweep outlives it.
    async fn jwt(&self) -> Result<String, GitHubError> {
        let now = self.now();
        if let Some(jwt) = self.jwt.borrow().as_ref().filter(|jwt| jwt.is_good_at(now)) {
            return Ok(jwt.token.clone());
        }
        let jwt = apart(jwt::sign(self.signer, self.issuer, now)).await?;
        let token = jwt.token.clone();
        self.jwt.replace(Some(jwt));
        Ok(token)
    }
}

#[cfg(test)]
mod tests;
