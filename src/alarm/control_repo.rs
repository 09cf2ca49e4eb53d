//! The alarm as one issue of the control repository: what is to be done to the issue is decided first, then done.

mod repository;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use self::repository::{EDIT_ISSUE, Edited, Repository, State};
use super::shown::LastShown;
use super::text::issue as text;
use super::{Alarm, ChannelError, may_work_later};
use crate::github::api::Api;
use crate::policy::time::Time;
use crate::ports::{Clock, Network, Signer};

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
#[derive(Debug)]
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
                match Repository::enter(self.api, &stands.repo).await?.edit(stands.number, &issue, state).await? {
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
                let result = match Repository::enter(self.api, &stands.repo).await {
                    Ok(repository) => repository.edit(stands.number, &issue, State::Closed).await,
                    Err(error) => Err(error),
                };
                match result {
                    // An issue that is gone shows no entries either.
                    Ok(Edited::Yes | Edited::Gone(_)) => {
                        stands.last = LastShown::new(issue.digest(), &[], Some(&stands.last), now);
                        Ok(())
                    }
                    // In a repository that the settings no longer name it is closed once, if that works.
                    Err(error) => {
                        if stands.repo != self.repo && !may_work_later(&error) {
                            *shown = None;
                        }
                        Err(error)
                    }
                }
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
        let repository = Repository::enter(self.api, self.repo).await?;
        let number = match repository.find().await? {
            Some(number) => match repository.edit(number, &issue, State::AsItIs).await? {
                Edited::Yes => number,
                Edited::Gone(status) => {
                    return Err(ChannelError::Refused { step: EDIT_ISSUE, status, reason: "the issue is gone".to_owned() });
                }
            },
            None => repository.create(&issue).await?,
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
        let result = match Repository::enter(self.api, &place.repo).await {
            Ok(repository) => repository.edit(place.number, &text::moved(), State::Closed).await.map(drop),
            Err(error) => Err(error),
        };
        if matches!(&result, Err(error) if may_work_later(error)) {
            shown.old = Some(place);
        }
        result
    }
}
