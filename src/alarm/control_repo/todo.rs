//! What stands in the control repository, and what is to be done to it. Pure: nothing here calls.

use serde::{Deserialize, Serialize};

use super::repository::Issue;
use crate::alarm::Alarm;
use crate::alarm::entry::Entry;
use crate::alarm::shown::{Digest, LastShown};
use crate::alarm::text::issue as text;
use crate::policy::time::Time;

/// Issues that wait to be closed with a pointer: more than two would take a row of lost answers.
const OLD_KEPT: usize = 20;

/// What stands in the repository. Part of the stored state; there is none until an issue was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The repository, as the settings named it.
    pub(super) repo: String,
    /// The issue, in this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) issue: Option<Issue>,
    /// What it says.
    pub(super) last: LastShown,
    /// Whether one of ours may be open of which the number is not known, since an answer was lost.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) look: bool,
    /// Whether it may be closed, by us, since an answer was lost or the sweep was killed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) maybe_closed: bool,
    /// Whether a person closed it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(super) closed_by_person: bool,
    /// Entries that are still open, and that stood in an issue which a person closed: those are seen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) seen: Vec<Digest>,
    /// Issues that this one took the place of, and that are not closed yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) old: Vec<Place>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

/// Where an issue is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Place {
    pub(super) repo: String,
    pub(super) number: u64,
}

impl Shown {
    /// Nothing stands in `repo`.
    pub(super) fn nothing(repo: &str) -> Self {
        let last = LastShown::new(Digest::of(""), &[], None, &[], Time::default());
        Self {
            repo: repo.to_owned(),
            issue: None,
            last,
            look: false,
            maybe_closed: false,
            closed_by_person: false,
            seen: Vec::new(),
            old: Vec::new(),
        }
    }

    /// The issue may say something else, or one may have been created. If these `entries` were to be shown, and a person has seen each of
    /// them, it may be closed.
    pub fn doubt(&mut self, entries: Option<&[Entry]>) {
        self.last.doubt();
        let closing = entries.is_some_and(|entries| entries.iter().all(|entry| self.seen.contains(&Digest::of(&entry.key))));
        self.maybe_closed |= closing && self.issue.is_some() && !self.last.is_closed();
        self.look |= self.issue.is_none() || self.last.is_closed();
    }

    /// Goes on in `later`, which was written while this record could not be read.
    #[must_use]
    pub fn followed_by(mut self, mut later: Self, now: Time) -> Self {
        let Some(number) = later.issue.as_ref().map(|issue| issue.number) else {
            self.look |= later.look;
            return self;
        };
        let place = self.issue.as_ref().map(|issue| Place { repo: self.repo.clone(), number: issue.number });
        if place.as_ref() == Some(&Place { repo: later.repo.clone(), number }) {
            // The same one, which says something else by now.
            self.doubt(None);
            self.look |= later.look;
            return self;
        }
        later.last.take_in(&self.last, now);
        later.seen.append(&mut self.seen);
        later.supersede(self.old.into_iter().chain(place.filter(|_| !self.last.is_closed())));
        later
    }

    /// Takes every time later than `now` as `now`.
    pub fn move_to(&mut self, now: Time) {
        self.last.move_to(now);
    }

    /// Where a person finds the issue, while it is open.
    #[must_use]
    pub fn open_url(&self) -> Option<&str> {
        self.issue.as_ref().filter(|_| !self.last.is_closed())?.url.as_deref()
    }

    /// What is to stand in the issue: an entry that a person has seen does not open it again.
    pub(super) fn unseen(&self, alarm: &Alarm) -> Alarm {
        let mut alarm = alarm.clone();
        alarm.entries.retain(|entry| !self.seen.contains(&Digest::of(&entry.key)));
        alarm
    }

    /// Forgets what was seen and is not open any more.
    pub(super) fn forget_seen(&mut self, alarm: &Alarm) {
        let open: Vec<Digest> = alarm.entries.iter().map(|entry| Digest::of(&entry.key)).collect();
        self.seen.retain(|key| open.contains(key));
    }

    pub(super) fn supersede(&mut self, places: impl IntoIterator<Item = Place>) {
        self.old.extend(places);
        let excess = self.old.len().saturating_sub(OLD_KEPT);
        self.old.drain(..excess);
    }
}

/// What is to be done to the issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Todo {
    /// It says what is so.
    Nothing,
    /// Nothing is remembered, be it that the App is new or that the state was lost, or an answer was lost: one of ours is looked
    /// for, once.
    Look,
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
    let Some(shown) = shown.filter(|shown| !shown.look) else { return Todo::Look };
    let alarm = shown.unseen(alarm);
    let entries = &alarm.entries;
    match (shown.issue.is_none() || shown.last.is_closed(), entries.is_empty()) {
        (true, true) if shown.issue.is_some() && shown.last.is_doubtful() => Todo::Close,
        (true, true) => Todo::Nothing,
        (false, true) => Todo::Close,
        (true, false) if shown.repo != repo || shown.issue.is_none() || shown.closed_by_person => Todo::Create,
        (true, false) if shown.last.lacks_one_of(entries, now) => Todo::Create,
        (true, false) => Todo::Reopen,
        (false, false) if shown.repo != repo => Todo::CreateAndMove,
        (false, false) if shown.last.is(text::issue(&alarm).digest(), entries) => Todo::Nothing,
        (false, false) if shown.maybe_closed => Todo::Reopen,
        (false, false) => Todo::Edit,
    }
}
