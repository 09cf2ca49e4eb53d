//! One repository, as far as the alarm reaches into it: its issues.
//!
//! The App's own installation writes there, with a token for this repository and for issues, no more. The token is asked for
//! each time the alarm changes and never stored.
//! Source: GitHub's REST pages "Apps" and "Issues".

use std::cell::RefCell;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::alarm::ChannelError;
use crate::alarm::said::said;
use crate::alarm::text::issue as text;
use crate::alarm::text::issue::Issue as Text;
use crate::failure::FailureClass;
use crate::github::api::{Api, Caller};
use crate::github::error::GitHubError;
use crate::github::is_short;
use crate::json;
use crate::policy::order::{self, by_number};
use crate::policy::own::Write;
use crate::policy::time::Time;
use crate::ports::{Answer, Clock, Method, Network, Signer};

const FIND_INSTALLATION: &str = "failed to find the App's installation in the control repository";
const TAKE_TOKEN: &str = "failed to get a token for the control repository";
const FIND_ISSUE: &str = "failed to look for the issue in the control repository";
const CREATE_ISSUE: &str = "failed to create the issue of the control repository";
pub(super) const EDIT_ISSUE: &str = "failed to edit the issue of the control repository";

/// A repository, with a token for its issues.
pub(super) struct Repository<'a, N, S, C> {
    api: &'a Api<'a, N, S, C>,
    /// The path of its issues.
    issues: String,
    installation: Installation,
    /// The repository's number.
    id: Option<u64>,
    token: String,
    /// GitHub's clock when the token was given, a moment before anything is written.
    entered_at: Option<Time>,
    /// Writes whose answer was lost: each may have been made, and then GitHub tells the App of it.
    doubtful: RefCell<Vec<Write>>,
}

/// Without the token.
impl<N, S, C> fmt::Debug for Repository<'_, N, S, C> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Repository").field("issues", &self.issues).finish_non_exhaustive()
    }
}

/// An issue that is there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Issue {
    pub(super) number: u64,
    /// Where a person finds it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<String>,
}

impl<'a, N: Network, S: Signer, C: Clock> Repository<'a, N, S, C> {
    /// Whether this is the repository of that name.
    pub(super) fn is(&self, repo: &str) -> bool {
        self.issues.strip_prefix("/repos/").and_then(|rest| rest.strip_suffix("/issues")) == Some(repo)
    }

    /// Finds the App's installation in `repo`, and takes a token for issues of this repository alone.
    pub(super) async fn enter(api: &'a Api<'a, N, S, C>, repo: &str) -> Result<Self, ChannelError> {
        let answer = api.get(FIND_INSTALLATION, Caller::App, &format!("/repos/{repo}/installation"), || true).await;
        let installation: Installation = read(FIND_INSTALLATION, answer, 200, &[])?;
        let name = repo.rsplit('/').next().unwrap_or(repo);
        let body = json::write(&TokenWish { repositories: [name], permissions: Permissions { issues: "write" } });
        let path = format!("/app/installations/{}/access_tokens", installation.id);
        let answer = api.write(TAKE_TOKEN, Caller::App, Method::Post, &path, Some(body)).await;
        let entered_at = answer.as_ref().ok().and_then(|answer| Time::parse_http_date(answer.headers.date.as_deref()?));
        let access: AccessToken = read(TAKE_TOKEN, answer, 201, &[])?;
        let id = access.repositories.first().map(|repository| repository.id);
        let issues = format!("/repos/{repo}/issues");
        Ok(Self { api, issues, installation, id, token: access.token, entered_at, doubtful: RefCell::default() })
    }

    fn caller(&self) -> Caller<'_> {
        Caller::Installation(&self.token)
    }

    /// The open issues of ours, the oldest first: the App is their author, and our marker is in their body. Anybody can copy
    /// the marker, and the App may well write other issues.
    pub(super) async fn find(&self) -> Result<Vec<Issue>, ChannelError> {
        // One page: ours is among the newest hundred unless people open a hundred while one stands and the state is lost.
        let path = format!("{}?state=open&sort=created&direction=desc&per_page=100", self.issues);
        let answer = self.api.get(FIND_ISSUE, self.caller(), &path, || true).await;
        let issues: Vec<Listed> = read(FIND_ISSUE, answer, 200, &[&self.token])?;
        let marker = text::marker(self.installation.app_id);
        let is_ours = |issue: &Listed| {
            let has_marker = issue.body.as_deref().is_some_and(|body| body.contains(&marker));
            has_marker && issue.pull_request.is_none() && issue.is_by(&self.installation)
        };
        let ours = issues.into_iter().filter(is_ours).map(|issue| Issue { number: issue.number, url: kept(issue.html_url) });
        let mut ours: Vec<Issue> = ours.collect();
        order::sort(&mut ours, |issue| by_number(issue.number));
        Ok(ours)
    }

    pub(super) async fn create(&self, issue: &Text) -> Result<(Issue, Option<Write>), ChannelError> {
        let body = json::write(&IssueBody { title: &issue.title, body: self.marked(issue), state: None, state_reason: None });
        let answer = self.api.write(CREATE_ISSUE, self.caller(), Method::Post, &self.issues, Some(body)).await;
        let written: Written = read(CREATE_ISSUE, answer, 201, &[&self.token]).inspect_err(|error| self.doubt(error, 1))?;
        let write = self.write(&written);
        Ok((Issue { number: written.number, url: kept(written.html_url) }, write))
    }

    pub(super) async fn edit(&self, number: u64, issue: &Text, state: State) -> Result<Edited, ChannelError> {
        // Text and state make an event each.
        let events = if state == State::AsItIs { 1 } else { 2 };
        self.try_edit(number, issue, state).await.inspect_err(|error| self.doubt(error, events))
    }

    /// Writes that may have been made, since their answer was lost.
    pub(super) fn take_doubtful(&self) -> Vec<Write> {
        self.doubtful.take()
    }

    fn doubt(&self, error: &ChannelError, events: usize) {
        if let (true, Some(repository_id), Some(at)) = (error.may_have_worked(), self.id, self.entered_at) {
            self.doubtful.borrow_mut().extend(std::iter::repeat_n(Write { repository_id, at }, events));
        }
    }

    async fn try_edit(&self, number: u64, issue: &Text, state: State) -> Result<Edited, ChannelError> {
        let (state, state_reason) = match state {
            // Left alone, so that an edit never opens what a maintainer closed.
            State::AsItIs => (None, None),
            State::Closed => (Some("closed"), Some("completed")),
            State::Reopened => (Some("open"), Some("reopened")),
        };
        let body = json::write(&IssueBody { title: &issue.title, body: self.marked(issue), state, state_reason });
        let path = format!("{}/{number}", self.issues);
        let answer = self.api.write(EDIT_ISSUE, self.caller(), Method::Patch, &path, Some(body)).await;
        let answer = answer.map_err(|error| channel_error(EDIT_ISSUE, error))?;
        match answer.status {
            200 => {
                let written: Written = json::read(&answer.body).map_err(|_| ChannelError::Unreadable { step: EDIT_ISSUE })?;
                let write = self.write(&written);
                let is_new = write.zip(self.entered_at).is_none_or(|(write, entered_at)| write.at >= entered_at);
                Ok(Edited::Yes { is_open: written.state == "open", write, is_new })
            }
            status @ (301 | 404 | 410) if !says_issues_are_off(&answer) => Ok(Edited::Gone(status)),
            _ => Err(refused(EDIT_ISSUE, &answer, &[&self.token])),
        }
    }

    fn write(&self, written: &Written) -> Option<Write> {
        let (at, _) = Time::parse(written.updated_at.as_deref()?)?;
        Some(Write { repository_id: self.id?, at })
    }

    fn marked(&self, issue: &Text) -> String {
        format!("{}\n{}\n", issue.body, text::marker(self.installation.app_id))
    }
}

/// What an edit does to the state of an issue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    AsItIs,
    Closed,
    Reopened,
}

/// What became of an edit.
pub(super) enum Edited {
    Yes {
        /// Whether it is open after it.
        is_open: bool,
        /// The write, if GitHub said when it took it.
        write: Option<Write>,
        /// Whether it is that of this edit: one that changed nothing is answered with the time of the last one that did.
        is_new: bool,
    },
    /// The issue is not there any more, by this status.
    Gone(u16),
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
    app_id: u64,
    app_slug: String,
}

/// Its token is a secret, so it has no `Debug`.
#[derive(Deserialize)]
struct AccessToken {
    token: String,
    #[serde(default)]
    repositories: Vec<Reached>,
}

#[derive(Deserialize)]
struct Reached {
    id: u64,
}

/// An issue as the answer to a write has it.
#[derive(Deserialize)]
struct Written {
    number: u64,
    state: String,
    #[serde(default)]
    html_url: Option<String>,
    #[serde(default)]
    updated_at: Option<String>,
}

/// An issue as the list has it; pull requests are listed among them.
#[derive(Deserialize)]
struct Listed {
    number: u64,
    #[serde(default)]
    html_url: Option<String>,
    #[serde(default)]
    body: Option<String>,
    #[serde(default)]
    user: Option<User>,
    #[serde(default)]
    pull_request: Option<serde::de::IgnoredAny>,
    #[serde(default)]
    performed_via_github_app: Option<Via>,
}

#[derive(Deserialize)]
struct User {
    login: String,
}

#[derive(Deserialize)]
struct Via {
    id: u64,
}

impl Listed {
    /// Whether the App wrote it. A person may write through an App too, so the author decides; `[` is in no person's login.
    fn is_by(&self, installation: &Installation) -> bool {
        let by_bot = self.user.as_ref().is_some_and(|user| user.login == format!("{}[bot]", installation.app_slug));
        by_bot && self.performed_via_github_app.as_ref().is_none_or(|via| via.id == installation.app_id)
    }
}

/// What a token is wanted for.
#[derive(Serialize)]
struct TokenWish<'a> {
    repositories: [&'a str; 1],
    permissions: Permissions,
}

#[derive(Serialize)]
struct Permissions {
    issues: &'static str,
}

/// An issue as it is to be.
#[derive(Serialize)]
struct IssueBody<'a> {
    title: &'a str,
    body: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state_reason: Option<&'static str>,
}

/// The body of an answer, if it has the status of success. `secrets` are the token that the call was made with: one that is short would
/// pass for a word. The App's JWT never does.
fn read<T: for<'de> Deserialize<'de>>(
    step: &'static str,
    answer: Result<Answer, GitHubError>,
    success: u16,
    secrets: &[&str],
) -> Result<T, ChannelError> {
    let answer = answer.map_err(|error| channel_error(step, error))?;
    if answer.status != success {
        return Err(refused(step, &answer, secrets));
    }
    json::read(&answer.body).map_err(|_| ChannelError::Unreadable { step })
}

fn channel_error(step: &'static str, error: GitHubError) -> ChannelError {
    match error {
        GitHubError::Network { source, .. } => ChannelError::Network { step, source },
        GitHubError::SignIn(source) => ChannelError::SignIn { step, source },
        GitHubError::Status { status, .. } => ChannelError::Refused { step, status, reason: String::new() },
        GitHubError::Unreadable { .. } => ChannelError::Unreadable { step },
    }
}

fn kept(url: Option<String>) -> Option<String> {
    url.filter(|url| is_short(url))
}

/// GitHub answers 410 for an issue that was deleted and for a repository without issues.
fn says_issues_are_off(answer: &Answer) -> bool {
    message(answer).to_lowercase().contains("issues has been disabled")
}

fn message(answer: &Answer) -> String {
    #[derive(Deserialize)]
    struct Refusal {
        message: String,
    }
    json::read(&answer.body).map(|Refusal { message }| message).unwrap_or_default()
}

fn refused(step: &'static str, answer: &Answer, secrets: &[&str]) -> ChannelError {
    let reason = said(&message(answer), secrets);
    let status = answer.status;
    let rate_limited = GitHubError::of(step, answer).class() == FailureClass::RateLimited;
    // 401 is left out: GitHub may need some seconds to know a new token.
    if matches!(status, 301 | 403 | 404 | 410 | 422) && !rate_limited {
        ChannelError::OutOfReach { step, status, reason }
    } else {
        ChannelError::Refused { step, status, reason }
    }
}
