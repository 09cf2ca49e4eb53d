//! The alarm as one issue of the control repository: what is to be done to the issue is decided first, then done.
//!
//! The issue is written by the App's own installation there, with a token that reaches into that repository and writes issues,
//! no more. It is asked for each time the alarm changes and never stored.
//! Source: GitHub's REST pages on Apps and issues; facts-github.md B.

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::shown::LastShown;
use super::text::issue as text;
use super::text::issue::Issue;
use super::{Alarm, ChannelError};
use crate::github::api::Api;
use crate::github::error::GitHubError;
use crate::policy::time::Time;
use crate::ports::{Answer, Clock, Method, Network, Signer};

/// Characters of GitHub's own words that an error repeats.
const REASON: usize = 200;

const FIND_INSTALLATION: &str = "failed to find the App's installation in the control repository";
const TAKE_TOKEN: &str = "failed to get a token for the control repository";
const FIND_ISSUE: &str = "failed to look for the issue in the control repository";
const CREATE_ISSUE: &str = "failed to create the issue of the control repository";
const EDIT_ISSUE: &str = "failed to edit the issue of the control repository";

/// The issue that stands in the repository. Part of the stored state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The repository, as the settings named it.
    repo: String,
    /// The issue, in this repository.
    number: u64,
    /// What it says.
    last: LastShown,
    /// An issue in another repository that this one took the place of, and that is not closed yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    old: Option<Place>,
}

/// Where an issue is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    repo: String,
    number: u64,
}

impl Shown {
    /// Takes every time later than `now` as `now`.
    pub fn move_to(&mut self, now: Time) {
        self.last.move_to(now);
    }
}

/// What is to be done to the issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Todo {
    /// It says what is so.
    Nothing,
    /// There is none that is open: one of ours is looked for, and created if there is none.
    Create,
    /// As before; the one in the repository that the settings named before is closed.
    CreateAndMove,
    /// It is brought up to date.
    Edit,
    /// An entry that left less than an hour ago is back: it is opened again.
    Reopen,
    /// It is closed.
    Close,
}

/// Decides what is to be done so that the repository `repo` shows `alarm`.
#[must_use]
pub fn what_to_do(shown: Option<&Shown>, alarm: &Alarm, repo: &str, now: Time) -> Todo {
    let entries = &alarm.entries;
    match shown {
        None if entries.is_empty() => Todo::Nothing,
        None => Todo::Create,
        Some(shown) => match (shown.last.is_closed(), entries.is_empty()) {
            (true, true) => Todo::Nothing,
            (false, true) => Todo::Close,
            (true, false) if shown.repo != repo || shown.last.lacks_one_of(entries, now) => Todo::Create,
            (true, false) => Todo::Reopen,
            (false, false) if shown.repo != repo => Todo::CreateAndMove,
            (false, false) if shown.last.is(text::issue(alarm).digest(), entries) => Todo::Nothing,
            (false, false) => Todo::Edit,
        },
    }
}

/// The channel, for one sweep.
pub struct ControlRepo<'a, N, S, C> {
    api: &'a Api<'a, N, S, C>,
    repo: &'a str,
}

impl<'a, N: Network, S: Signer, C: Clock> ControlRepo<'a, N, S, C> {
    /// Writes into the repository `repo`, as `owner/name`, already checked for characters that no name has.
    pub fn new(api: &'a Api<'a, N, S, C>, repo: &'a str) -> Self {
        Self { api, repo }
    }

    /// Whether the repository shows `alarm` already, so that there is nothing to call for.
    #[must_use]
    pub fn is_current(&self, shown: Option<&Shown>, alarm: &Alarm, now: Time) -> bool {
        shown.is_none_or(|shown| shown.old.is_none()) && what_to_do(shown, alarm, self.repo, now) == Todo::Nothing
    }

    /// Makes the repository show `alarm`. Returns what is to be remembered after what worked, whether or not all of it did.
    pub async fn show(&self, shown: Option<Shown>, alarm: &Alarm, now: Time) -> (Option<Shown>, Result<(), ChannelError>) {
        let mut shown = shown;
        let mut result = self.bring_up_to_date(&mut shown, alarm, now).await;
        if let (Ok(()), Some(shown)) = (&result, &mut shown) {
            result = self.close_old(shown).await;
        }
        (shown, result)
    }

    async fn bring_up_to_date(&self, shown: &mut Option<Shown>, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        let todo = what_to_do(shown.as_ref(), alarm, self.repo, now);
        match (todo, &mut *shown) {
            (Todo::Nothing, _) => Ok(()),
            (Todo::Edit | Todo::Reopen, Some(stands)) => {
                let issue = text::issue(alarm);
                let state = if todo == Todo::Reopen { State::Reopened } else { State::AsItIs };
                match self.enter(&stands.repo).await?.edit(stands.number, &issue, state).await? {
                    // Later: an issue that a maintainer closed is seen here, in the state that GitHub answers.
                    Edited::Yes => stands.last = LastShown::new(issue.digest(), &alarm.entries, Some(&stands.last), now),
                    // Deleted or transferred: the next sweep looks for one of ours, or creates one.
                    Edited::Gone(status) => {
                        *shown = None;
                        return Err(ChannelError::Refused { step: EDIT_ISSUE, status, reason: "the issue is gone".to_owned() });
                    }
                }
                Ok(())
            }
            (Todo::Close, Some(stands)) => {
                let issue = text::closed(stands.last.recovered(&alarm.passed));
                // An issue that is gone shows no entries either.
                self.enter(&stands.repo).await?.edit(stands.number, &issue, State::Closed).await?;
                stands.last = LastShown::new(issue.digest(), &[], Some(&stands.last), now);
                Ok(())
            }
            (Todo::CreateAndMove, Some(stands)) => {
                let place = Place { repo: stands.repo.clone(), number: stands.number };
                self.create(shown, alarm, now).await?;
                if let Some(stands) = shown {
                    stands.old = Some(place);
                }
                Ok(())
            }
            (Todo::Create, _) | (Todo::Edit | Todo::Reopen | Todo::Close | Todo::CreateAndMove, None) => {
                self.create(shown, alarm, now).await
            }
        }
    }

    /// Goes on in an open issue of ours, or creates one: a lost answer or a lost state is to leave no second open one.
    async fn create(&self, shown: &mut Option<Shown>, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        let issue = text::issue(alarm);
        let entered = self.enter(self.repo).await?;
        let number = match entered.find().await? {
            Some(number) => match entered.edit(number, &issue, State::AsItIs).await? {
                Edited::Yes => number,
                Edited::Gone(status) => {
                    return Err(ChannelError::Refused { step: EDIT_ISSUE, status, reason: "the issue is gone".to_owned() });
                }
            },
            None => entered.create(&issue).await?,
        };
        let before = shown.take();
        *shown = Some(Shown {
            repo: self.repo.to_owned(),
            number,
            last: LastShown::new(issue.digest(), &alarm.entries, before.as_ref().map(|before| &before.last), now),
            old: before.and_then(|before| before.old),
        });
        Ok(())
    }

    /// Closes the issue in the repository that the settings named before. What GitHub refuses is not tried again.
    async fn close_old(&self, shown: &mut Shown) -> Result<(), ChannelError> {
        let Some(place) = shown.old.take() else { return Ok(()) };
        let result = match self.enter(&place.repo).await {
            Ok(entered) => entered.edit(place.number, &text::moved(), State::Closed).await.map(drop),
            Err(error) => Err(error),
        };
        if matches!(result, Err(ChannelError::Network { .. })) {
            shown.old = Some(place);
        }
        result
    }

    /// Finds the App's installation in `repo`, and takes a token for issues of this repository alone.
    async fn enter<'r>(&'r self, repo: &'r str) -> Result<Entered<'r, N, S, C>, ChannelError> {
        let answer = self.api.as_app(FIND_INSTALLATION, Method::Get, &format!("/repos/{repo}/installation"), None).await;
        let installation: Installation = read(FIND_INSTALLATION, answer, 200)?;
        let name = repo.rsplit('/').next().unwrap_or(repo);
        let body = json!({ "repositories": [name], "permissions": { "issues": "write" } });
        let path = format!("/app/installations/{}/access_tokens", installation.id);
        let answer = self.api.as_app(TAKE_TOKEN, Method::Post, &path, Some(body.to_string())).await;
        let access: AccessToken = read(TAKE_TOKEN, answer, 201)?;
        Ok(Entered { api: self.api, issues: format!("/repos/{repo}/issues"), installation, token: access.token })
    }
}

/// A repository, with a token for its issues.
struct Entered<'a, N, S, C> {
    api: &'a Api<'a, N, S, C>,
    /// The path of its issues.
    issues: String,
    installation: Installation,
    token: String,
}

impl<N: Network, S: Signer, C: Clock> Entered<'_, N, S, C> {
    /// The oldest open issue of ours: the App is its author, and our marker is in its body. Anybody can copy the marker, and
    /// the App may well write other issues.
    async fn find(&self) -> Result<Option<u64>, ChannelError> {
        // One page: ours is among the newest hundred unless people open a hundred while one stands and the state is lost.
        let path = format!("{}?state=open&sort=created&direction=desc&per_page=100", self.issues);
        let answer = self.api.with_token(FIND_ISSUE, &self.token, Method::Get, &path, None).await;
        let issues: Vec<Listed> = read(FIND_ISSUE, answer, 200)?;
        let marker = text::marker(self.installation.app_id);
        let is_ours = |issue: &&Listed| {
            let has_marker = issue.body.as_deref().is_some_and(|body| body.contains(&marker));
            has_marker && issue.pull_request.is_none() && issue.is_by(&self.installation)
        };
        // Later: others of ours are closed with a pointer to the oldest.
        Ok(issues.iter().filter(is_ours).map(|issue| issue.number).min())
    }

    async fn create(&self, issue: &Issue) -> Result<u64, ChannelError> {
        let body = json!({ "title": issue.title, "body": self.marked(issue) });
        let answer = self.api.with_token(CREATE_ISSUE, &self.token, Method::Post, &self.issues, Some(body.to_string())).await;
        Ok(read::<Created>(CREATE_ISSUE, answer, 201)?.number)
    }

    async fn edit(&self, number: u64, issue: &Issue, state: State) -> Result<Edited, ChannelError> {
        let mut body = json!({ "title": issue.title, "body": self.marked(issue) });
        match state {
            // Left alone, so that an edit never opens what a maintainer closed.
            State::AsItIs => {}
            State::Closed => {
                body["state"] = "closed".into();
                body["state_reason"] = "completed".into();
            }
            State::Reopened => {
                body["state"] = "open".into();
                body["state_reason"] = "reopened".into();
            }
        }
        let path = format!("{}/{number}", self.issues);
        let answer = self.api.with_token(EDIT_ISSUE, &self.token, Method::Patch, &path, Some(body.to_string())).await;
        let answer = answer.map_err(|error| channel_error(EDIT_ISSUE, error))?;
        match answer.status {
            200 => Ok(Edited::Yes),
            status @ (301 | 404 | 410) => Ok(Edited::Gone(status)),
            _ => Err(refused(EDIT_ISSUE, &answer)),
        }
    }

    fn marked(&self, issue: &Issue) -> String {
        format!("{}\n{}\n", issue.body, text::marker(self.installation.app_id))
    }
}

/// What an edit does to the state of an issue.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    AsItIs,
    Closed,
    Reopened,
}

/// What became of an edit.
enum Edited {
    Yes,
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
}

#[derive(Deserialize)]
struct Created {
    number: u64,
}

/// An issue as the list has it; pull requests are listed among them.
#[derive(Deserialize)]
struct Listed {
    number: u64,
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

/// The body of an answer, if it has the status of success.
fn read<T: for<'de> Deserialize<'de>>(
    step: &'static str,
    answer: Result<Answer, GitHubError>,
    success: u16,
) -> Result<T, ChannelError> {
    let answer = answer.map_err(|error| channel_error(step, error))?;
    if answer.status != success {
        return Err(refused(step, &answer));
    }
    serde_json::from_slice(&answer.body).map_err(|_| ChannelError::Unreadable { step })
}

fn channel_error(step: &'static str, error: GitHubError) -> ChannelError {
    match error {
        GitHubError::Network { source, .. } => ChannelError::Network { step, source },
        GitHubError::SignIn(source) => ChannelError::SignIn { step, source },
        GitHubError::Status { status, .. } => ChannelError::Refused { step, status, reason: String::new() },
        GitHubError::Unreadable { .. } => ChannelError::Unreadable { step },
    }
}

/// GitHub's own words are kept: "Issues has been disabled in this repository" helps more than 410.
fn refused(step: &'static str, answer: &Answer) -> ChannelError {
    #[derive(Deserialize)]
    struct Refusal {
        message: String,
    }
    let message = serde_json::from_slice(&answer.body).map(|Refusal { message }| message).unwrap_or_default();
    let reason = message.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(REASON).collect();
    ChannelError::Refused { step, status: answer.status, reason }
}
