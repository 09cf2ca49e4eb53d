//! The alarm as one issue of the control repository: what is to be done to the issue is decided first, then done.
//!
//! The issue is found again by its number. Where there is none, an open one of ours is looked for before one is created, so that
//! neither a lost answer nor a lost state leaves a second open one.

mod repository;
mod todo;

#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::rc::Rc;

use self::repository::{EDIT_ISSUE, Edited, Issue, Repository, State};
use self::todo::Place;
pub use self::todo::{Shown, Todo, what_to_do};
use super::entry::Entry;
use super::reach::Contact;
use super::shown::{Digest, LastShown};
use super::text::issue as text;
use super::{Alarm, ChannelError, Outcome};
use crate::github::api::Api;
use crate::policy::own::Write;
use crate::policy::time::Time;
use crate::ports::{Clock, Network, Signer};

/// The channel, for one sweep.
#[derive(Debug)]
pub struct ControlRepo<'a, N, S, C> {
    api: &'a Api<'a, N, S, C>,
    repo: &'a str,
    entered: RefCell<Option<Rc<Repository<'a, N, S, C>>>>,
    /// Why it could not be entered ahead: what comes next fails of that, without a call more.
    refused_ahead: RefCell<Option<ChannelError>>,
    writes: RefCell<Vec<Write>>,
    stood: RefCell<Vec<Write>>,
}

impl<'a, N: Network, S: Signer, C: Clock> ControlRepo<'a, N, S, C> {
    /// Writes into `repo`, such as `owner/name`.
    pub fn new(api: &'a Api<'a, N, S, C>, repo: &'a str) -> Self {
        Self {
            api,
            repo,
            entered: RefCell::new(None),
            refused_ahead: RefCell::new(None),
            writes: RefCell::default(),
            stood: RefCell::default(),
        }
    }

    /// Whether the repository shows `alarm` already, so that there is nothing to call for.
    #[must_use]
    pub fn is_current(&self, shown: Option<&Shown>, alarm: &Alarm, now: Time) -> bool {
        shown.is_some_and(|shown| shown.old.is_empty()) && what_to_do(shown, alarm, self.repo, now) == Todo::Nothing
    }

    /// Enters the repository in which `show` is going to write, while other calls are under way.
    pub async fn enter_ahead(&self, shown: Option<&Shown>) {
        if shown.is_none_or(|shown| shown.repo == self.repo) {
            self.refused_ahead.replace(self.enter(self.repo).await.err());
        }
    }

    /// What was written since this was last asked, or may have been.
    pub fn take_writes(&self) -> Vec<Write> {
        let mut writes = self.writes.take();
        writes.extend(self.entered.borrow().iter().flat_map(|repository| repository.take_doubtful()));
        writes
    }

    /// What an edit found written already since this was last asked, by whomever.
    pub fn take_stood(&self) -> Vec<Write> {
        self.stood.take()
    }

    /// Whether the repository can be written to again, when there is nothing to write.
    ///
    /// # Errors
    /// If it cannot.
    pub async fn probe(&self) -> Result<(), ChannelError> {
        self.enter(self.repo).await?.find().await.map(drop)
    }

    /// Makes the repository show `alarm`. Returns what is to be remembered after what worked, whether or not all of it did.
    pub async fn show(&self, shown: Option<Shown>, alarm: &Alarm, now: Time) -> Outcome<Shown> {
        let todo = what_to_do(shown.as_ref(), alarm, self.repo, now);
        let mut outcome = Outcome { shown, contact: Contact::None, errors: Vec::new() };
        let in_place = outcome.shown.as_ref().is_none_or(|shown| todo != Todo::Close || shown.repo == self.repo);
        let result = match (todo, &mut outcome.shown) {
            (Todo::Nothing, _) => Ok(()),
            (Todo::Look, _) | (_, None) => self.look(&mut outcome.shown, alarm, now).await,
            (_, Some(shown)) => {
                shown.forget_seen(alarm);
                self.carry_out(todo, shown, alarm, now, &mut outcome.errors).await
            }
        };
        match result {
            Ok(()) if todo == Todo::Nothing || !in_place => {}
            Ok(()) => outcome.contact = Contact::Reached,
            Err(error) => {
                if in_place {
                    outcome.contact = Contact::Failed;
                }
                // Where one of ours is to be looked for, it is that one that is in doubt.
                let stands = outcome.shown.as_mut().filter(|shown| error.may_have_worked() && !shown.look);
                if let Some(shown) = stands {
                    shown.last.doubt();
                    shown.maybe_closed |= todo == Todo::Close;
                    shown.look = shown.issue.is_none();
                }
                outcome.errors.push(error);
                return outcome;
            }
        }
        if let Some(shown) = &mut outcome.shown {
            outcome.errors.extend(self.close_old(shown).await.err());
        }
        outcome
    }

    /// Goes on in an issue that a lost state or a lost answer left open, or says in it that its record was lost.
    async fn look(&self, shown: &mut Option<Shown>, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        let mut found = shown.clone().unwrap_or_else(|| Shown::nothing(self.repo));
        found.forget_seen(alarm);
        if found.unseen(alarm).entries.is_empty() {
            let repository = self.enter(self.repo).await?;
            let mut ours = repository.find().await?.into_iter();
            if let Some(oldest) = ours.next() {
                let edited = repository.edit(oldest.number, &text::record_lost(), State::Closed).await?;
                self.wrote(&edited, 2, false);
            }
            found.look = false;
            found.supersede(ours.map(|issue| Place { repo: self.repo.to_owned(), number: issue.number }));
        } else {
            let before = found.issue.as_ref().map(|issue| Place { repo: found.repo.clone(), number: issue.number });
            let is_open = !found.last.is_closed();
            self.create(&mut found, alarm, now).await?;
            // It stood in another repository, and is to point here.
            found.supersede(before.filter(|before| is_open && before.repo != self.repo));
        }
        *shown = Some(found);
        Ok(())
    }

    async fn carry_out(
        &self,
        todo: Todo,
        shown: &mut Shown,
        alarm: &Alarm,
        now: Time,
        notes: &mut Vec<ChannelError>,
    ) -> Result<(), ChannelError> {
        let stands = shown.issue.as_ref().map(|issue| issue.number);
        match (todo, stands) {
            (Todo::Nothing, _) => Ok(()),
            (Todo::Edit | Todo::Reopen, Some(number)) => {
                let unseen = shown.unseen(alarm);
                let issue = text::issue(&unseen);
                let (state, events) = if todo == Todo::Reopen { (State::Reopened, 2) } else { (State::AsItIs, 1) };
                let edited = self.enter(&shown.repo).await?.edit(number, &issue, state).await?;
                self.wrote(&edited, events, shown.last.is_doubtful());
                match edited {
                    Edited::Yes { is_open: true, .. } => {
                        shown.last = LastShown::new(issue.digest(), &unseen.entries, Some(&shown.last), &alarm.passed, now);
                        shown.maybe_closed = false;
                        return Ok(());
                    }
                    // A person closed it and has seen what stood in it. What is new stands in a new issue.
                    Edited::Yes { is_open: false, .. } => {
                        self.give_back(number, shown, &unseen, now).await?;
                        shown.seen.extend_from_slice(shown.last.keys());
                        shown.forget_seen(alarm);
                        shown.closed_by_person = true;
                        shown.last = LastShown::new(issue.digest(), &[], Some(&shown.last), &alarm.passed, now);
                    }
                    Edited::Gone(status) => {
                        notes.push(gone(status));
                        shown.issue = None;
                    }
                }
                if shown.unseen(alarm).entries.is_empty() { Ok(()) } else { self.create(shown, alarm, now).await }
            }
            (Todo::Close, Some(number)) => {
                let issue = text::closed(shown.last.ended(&alarm.passed, now), shown.seen.len());
                let result = match self.enter(&shown.repo).await {
                    Ok(repository) => repository.edit(number, &issue, State::Closed).await,
                    Err(error) => Err(error),
                };
                match result {
                    // An issue that is gone shows no entries either.
                    Ok(edited) => {
                        self.wrote(&edited, 2, shown.last.is_doubtful());
                        shown.last = LastShown::new(issue.digest(), &[], Some(&shown.last), &alarm.passed, now);
                        shown.maybe_closed = false;
                        if let Edited::Gone(status) = edited {
                            notes.push(gone(status));
                            shown.issue = None;
                            // It may be there all the same: GitHub says 404 of many things, and a server in between the others.
                            shown.look = true;
                        }
                        Ok(())
                    }
                    // In a repository that the settings no longer name it is closed once, if that works.
                    Err(error) => {
                        if shown.repo != self.repo && !error.may_work_later() {
                            shown.issue = None;
                        }
                        Err(error)
                    }
                }
            }
            (Todo::CreateAndMove, Some(number)) => {
                let place = Place { repo: shown.repo.clone(), number };
                self.create(shown, alarm, now).await?;
                shown.supersede([place]);
                Ok(())
            }
            _ => self.create(shown, alarm, now).await,
        }
    }

    /// The edit that found an issue closed put into it what the person has not seen. It says again what they saw.
    async fn give_back(&self, number: u64, shown: &Shown, unseen: &Alarm, now: Time) -> Result<(), ChannelError> {
        let seen = |entry: &&Entry| shown.last.keys().contains(&Digest::of(&entry.key));
        let entries: Vec<Entry> = unseen.entries.iter().filter(seen).cloned().collect();
        if entries == unseen.entries {
            return Ok(());
        }
        let issue = if entries.is_empty() {
            text::closed(shown.last.ended(&unseen.passed, now), 0)
        } else {
            text::issue(&Alarm { entries, ..unseen.clone() })
        };
        let edited = self.enter(&shown.repo).await?.edit(number, &issue, State::AsItIs).await?;
        self.wrote(&edited, 1, false);
        Ok(())
    }

    /// Goes on in an open issue of ours, or creates one. `shown` is as it was if that fails, but for what is to be looked for.
    async fn create(&self, shown: &mut Shown, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        let repository = self.enter(self.repo).await?;
        let mut ours = repository.find().await?.into_iter();
        let oldest = ours.next();
        let is_reopened = |issue: &Issue| shown.repo == self.repo && shown.issue.as_ref().is_some_and(|known| known.number == issue.number);
        if shown.closed_by_person && oldest.as_ref().is_some_and(is_reopened) {
            // The person thought better of it.
            shown.seen.clear();
        }
        let unseen = shown.unseen(alarm);
        let issue = text::issue(&unseen);
        let goes_on = if let Some(oldest) = oldest {
            let edited = repository.edit(oldest.number, &issue, State::AsItIs).await?;
            self.wrote(&edited, 1, shown.look || shown.last.is_doubtful());
            if let Edited::Gone(status) = edited {
                return Err(gone(status));
            }
            oldest
        } else {
            // Whatever this was on the way of: if the answer is lost, one of ours may be open without a number.
            let created = repository.create(&issue).await.inspect_err(|error| shown.look |= error.may_have_worked());
            let (created, write) = created?;
            self.writes.borrow_mut().extend(write);
            created
        };
        let before = (shown.repo == self.repo).then_some(&shown.last);
        shown.last = LastShown::new(issue.digest(), &unseen.entries, before, &alarm.passed, now);
        self.repo.clone_into(&mut shown.repo);
        shown.issue = Some(goes_on);
        (shown.look, shown.maybe_closed, shown.closed_by_person) = (false, false, false);
        shown.supersede(ours.map(|issue| Place { repo: self.repo.to_owned(), number: issue.number }));
        Ok(())
    }

    /// Closes issues that this one took the place of. What GitHub refuses is not tried again.
    async fn close_old(&self, shown: &mut Shown) -> Result<(), ChannelError> {
        while let Some(place) = shown.old.first() {
            let goes_on_in = shown.issue.as_ref().filter(|_| place.repo == shown.repo).map(|issue| issue.number);
            let issue = match goes_on_in {
                Some(number) => text::pointer(number),
                None if place.repo == shown.repo => text::record_lost(),
                None => text::moved(),
            };
            let result = match self.enter(&place.repo).await {
                Ok(repository) => repository.edit(place.number, &issue, State::Closed).await,
                Err(error) => Err(error),
            };
            if let Ok(edited) = &result {
                self.wrote(edited, 2, false);
            }
            if !matches!(&result, Err(error) if error.may_work_later()) {
                shown.old.remove(0);
            }
            result?;
        }
        Ok(())
    }

    /// One edit of text and state makes two events, `edited` and `closed`: it counts as two writes. It may have changed nothing only where
    /// it was in doubt what stood there.
    fn wrote(&self, edited: &Edited, events: usize, is_doubtful: bool) {
        if let Edited::Yes { write: Some(write), is_new, .. } = edited {
            let writes = if *is_new || !is_doubtful { &self.writes } else { &self.stood };
            writes.borrow_mut().extend(std::iter::repeat_n(*write, events));
        }
    }

    /// The repository, entered once a sweep.
    async fn enter(&self, repo: &str) -> Result<Rc<Repository<'a, N, S, C>>, ChannelError> {
        let known = self.entered.borrow().clone().filter(|repository| repository.is(repo));
        if let Some(repository) = known {
            return Ok(repository);
        }
        if repo == self.repo
            && let Some(error) = self.refused_ahead.take()
        {
            return Err(error);
        }
        let repository = Rc::new(Repository::enter(self.api, repo).await?);
        self.entered.replace(Some(repository.clone()));
        Ok(repository)
    }
}

fn gone(status: u16) -> ChannelError {
    let reason = if status == 301 { "the issue was moved to another repository" } else { "the issue was deleted" };
    ChannelError::Refused { step: EDIT_ISSUE, status, reason: reason.to_owned() }
}
