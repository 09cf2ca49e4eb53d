//! The alarm: what a person is told (spec section 8).
//!
//! [`entry`] says what is wrong, [`text`] every sentence that a person reads; both are pure. [`telegram`] and
//! [`control_repo`] are the two channels: each remembers what it last showed ([`shown`]), so that one that failed, or ran
//! out of calls, goes on in the next sweep, and neither holds up the other.

pub mod channels;
pub mod control_repo;
pub mod entry;
pub mod reach;
mod said;
pub mod shown;
pub mod summary;
pub mod telegram;
pub mod text;

#[cfg(test)]
pub(crate) mod fakes;
#[cfg(test)]
mod sample;

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::delivery::Guid;
use crate::policy::settings::RETENTION;
use crate::policy::time::Time;
use crate::ports::NetworkError;
use entry::Entry;
use reach::Contact;

/// What is to be shown now, the same for every channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alarm {
    /// What is wrong; empty if nothing is.
    pub entries: Vec<Entry>,
    /// Events that passed in this sweep: only of their entries it is said that they recovered.
    pub passed: Vec<Guid>,
    /// The App's name in addresses, if it is known.
    pub slug: Option<String>,
    /// The App's Advanced page, if it is known.
    pub advanced_url: Option<String>,
    /// The issue of the control repository, if there is one: the message has a button to it.
    pub issue_url: Option<String>,
    /// The App's status page, if the settings name it: both channels lead there.
    pub status_url: Option<String>,
    /// The App's id, if the Worker has several: it stands for a name that is not known.
    pub one_of_several: Option<String>,
    /// How long GitHub keeps a delivery.
    pub retention: Duration,
}

impl Default for Alarm {
    fn default() -> Self {
        Self {
            entries: Vec::new(),
            passed: Vec::new(),
            slug: None,
            advanced_url: None,
            issue_url: None,
            status_url: None,
            one_of_several: None,
            retention: RETENTION,
        }
    }
}

/// What the alarm says of the App itself, and when it was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppPage {
    /// Its name in addresses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// Its Advanced page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advanced_url: Option<String>,
    /// When `GET /app` said so.
    pub read_at: Time,
}

/// What the channels last showed. Part of the stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The message.
    #[serde(default)]
    pub telegram: Option<telegram::Shown>,
    /// Whether the chat can be reached.
    #[serde(default)]
    pub telegram_reach: reach::Reach,
    /// The issue; `None` until one was looked for.
    #[serde(default)]
    pub control_repo: Option<control_repo::Shown>,
    /// Whether the repository can be reached.
    #[serde(default)]
    pub control_repo_reach: reach::Reach,
    /// The App, read once and refreshed daily.
    #[serde(default)]
    pub app: Option<AppPage>,
    /// The time of day that the last daily summary was for, be it sent or lost on its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary_of: Option<Time>,
}

impl Memory {
    /// Takes every stored time later than `now` as `now`, so that one wrong clock silences nothing.
    pub fn move_to(&mut self, now: Time) {
        if let Some(shown) = &mut self.telegram {
            shown.move_to(now);
        }
        if let Some(shown) = &mut self.control_repo {
            shown.move_to(now);
        }
        self.telegram_reach.move_to(now);
        self.control_repo_reach.move_to(now);
        if let Some(app) = &mut self.app {
            app.read_at = app.read_at.min(now);
        }
        self.summary_of = self.summary_of.map(|of| of.min(now));
    }

    /// Goes on in what the channels showed `later`, while this could not be read or written.
    #[must_use]
    pub fn followed_by(self, later: Self, now: Time) -> Self {
        Self {
            telegram: match (self.telegram, later.telegram) {
                (Some(before), Some(later)) => Some(before.followed_by(later, now)),
                (before, later) => later.or(before),
            },
            control_repo: match (self.control_repo, later.control_repo) {
                (Some(before), Some(later)) => Some(before.followed_by(later, now)),
                (before, later) => later.or(before),
            },
            telegram_reach: later.telegram_reach,
            control_repo_reach: later.control_repo_reach,
            app: later.app.or(self.app),
            summary_of: later.summary_of.max(self.summary_of),
        }
    }

    /// A sweep was killed: what it changed last may not have been saved. `entries` are those that it had to show, if it came so far.
    pub fn doubt(&mut self, entries: Option<&[Entry]>) {
        if let Some(shown) = &mut self.telegram {
            shown.doubt();
        }
        if let Some(shown) = &mut self.control_repo {
            shown.doubt(entries);
        }
    }
}

/// A channel could not show the alarm. The other one is not concerned, and the next sweep tries again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChannelError {
    /// No answer, or no call left.
    #[error("{step}")]
    Network {
        /// What was being done, such as `failed to send the Telegram message`.
        step: &'static str,
        /// Why it failed.
        #[source]
        source: NetworkError,
    },
    /// The other side refused, and will until a person mends something.
    #[error("{step}: status {status}: {reason}")]
    OutOfReach {
        /// What was being done.
        step: &'static str,
        /// HTTP status.
        status: u16,
        /// What it says, shortened, without anything secret.
        reason: String,
    },
    /// The other side refused.
    #[error("{step}: status {status}: {reason}")]
    Refused {
        /// What was being done.
        step: &'static str,
        /// HTTP status.
        status: u16,
        /// What it says, shortened, without anything secret.
        reason: String,
    },
    /// The answer is not of the expected shape.
    #[error("{step}: the answer cannot be read")]
    Unreadable {
        /// What was being done.
        step: &'static str,
    },
    /// The App could not sign in.
    #[error("{step}")]
    SignIn {
        /// What was being done.
        step: &'static str,
        /// Why.
        #[source]
        source: crate::ports::SignError,
    },
}

impl ChannelError {
    /// Whether only a person can mend it.
    #[must_use]
    pub fn is_for_good(&self) -> bool {
        matches!(self, Self::OutOfReach { .. })
    }

    /// Whether the call was never made, so that nothing is known of the other side.
    #[must_use]
    pub fn was_not_made(&self) -> bool {
        matches!(self, Self::Network { source, .. } if source.was_not_made())
    }

    /// Whether the same call may succeed in a later sweep. What cannot is not tried again for a message or an issue that only
    /// has to be cut down or closed.
    #[must_use]
    pub fn may_work_later(&self) -> bool {
        match self {
            Self::Network { source, .. } => *source != NetworkError::TooLarge,
            Self::Refused { status, .. } => matches!(status, 401 | 403 | 429) || *status >= 500,
            Self::OutOfReach { .. } | Self::Unreadable { .. } | Self::SignIn { .. } => false,
        }
    }

    /// Whether the other side may have done it all the same.
    #[must_use]
    pub fn may_have_worked(&self) -> bool {
        match self {
            Self::Network { source, .. } => !source.was_not_made(),
            Self::Refused { status, .. } => *status >= 500,
            Self::Unreadable { .. } => true,
            Self::OutOfReach { .. } | Self::SignIn { .. } => false,
        }
    }

    /// What the other side said, for a person.
    #[must_use]
    pub fn said(&self) -> String {
        match self {
            Self::Network { source, .. } => source.to_string(),
            Self::OutOfReach { status, reason, .. } | Self::Refused { status, reason, .. } => format!("{reason} (status {status})"),
            Self::Unreadable { .. } => "an answer that cannot be read".to_owned(),
            Self::SignIn { source, .. } => source.to_string(),
        }
    }
}

/// What one channel came to in a sweep, and what it shows now.
#[derive(Debug)]
pub struct Outcome<S> {
    /// What is to be remembered, whether or not all of it worked.
    pub shown: Option<S>,
    /// Whether the channel was reached.
    pub contact: Contact,
    /// What did not work; whoever failed last comes last.
    pub errors: Vec<ChannelError>,
}
