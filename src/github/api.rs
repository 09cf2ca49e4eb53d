//! Calls to GitHub, signed in as the App or as its installation.

use std::cell::RefCell;

use super::error::GitHubError;
use super::jwt::{self, Jwt};
use crate::apart::apart;
use crate::ports::{Answer, Call, Clock, Method, Network, Signer};

/// GitHub rejects calls without one.
const USER_AGENT: &str = concat!("github-app-redeliver/", env!("CARGO_PKG_VERSION"));

/// The version of the API that this code was written for: supported until 2028 at least, and by Enterprise Server.
const API_VERSION: &str = "2022-11-28";

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
}

impl<'a, N: Network, S: Signer, C: Clock> Api<'a, N, S, C> {
    /// Calls `base_url` (without a slash at its end) as the App `issuer`, an App id or client id.
    pub fn new(network: &'a N, signer: &'a S, clock: &'a C, base_url: &'a str, issuer: &'a str) -> Self {
        Self { network, signer, clock, base_url, issuer, jwt: RefCell::new(None) }
    }

    /// Where the API is.
    #[must_use]
    pub fn base_url(&self) -> &'a str {
        self.base_url
    }

    /// Reads `path`. If GitHub or the way to it failed, and `may_repeat` still allows a call more, it is tried once more.
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
            Ok(answer) => answer.status >= 500 && GitHubError::of(step, answer).is_transient(),
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

    /// The App's JWT; signed anew if the sweep outlives it.
    async fn jwt(&self) -> Result<String, GitHubError> {
        let now = self.clock.now();
        if let Some(jwt) = self.jwt.borrow().as_ref().filter(|jwt| jwt.is_good_at(now)) {
            return Ok(jwt.token.clone());
        }
        let jwt = apart(jwt::sign(self.signer, self.issuer, now)).await?;
        let token = jwt.token.clone();
        self.jwt.replace(Some(jwt));
        Ok(token)
    }
}
