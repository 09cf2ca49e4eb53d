//! The alarm: what a person is told (spec section 8).
//!
//! [`entry`] says what is wrong, [`text`] every sentence that a person reads; both are pure. [`telegram`] and
//! [`control_repo`] are the two channels: each remembers what it last showed ([`shown`]), so that one that failed, or ran
//! out of calls, goes on in the next sweep, and neither holds up the other.

pub mod channels;
pub mod control_repo;
pub mod entry;
pub mod shown;
pub mod telegram;
pub mod text;

#[cfg(test)]
pub(crate) mod fakes;
#[cfg(test)]
mod sample;

use serde::{Deserialize, Serialize};

use crate::policy::delivery::Guid;
use crate::policy::time::Time;
use crate::ports::NetworkError;
use entry::Entry;

/// What is to be shown now, the same for every channel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    /// The issue.
    #[serde(default)]
    pub control_repo: Option<control_repo::Shown>,
    /// The App, read once and refreshed daily.
    #[serde(default)]
    pub app: Option<AppPage>,
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
        if let Some(app) = &mut self.app {
            app.read_at = app.read_at.min(now);
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

/// Whether the same call may succeed in a later sweep. What cannot is not tried again for a message or an issue that only
/// has to be cut down or closed.
fn may_work_later(error: &ChannelError) -> bool {
    match error {
        ChannelError::Network { source, .. } => *source != NetworkError::TooLarge,
        ChannelError::Refused { status, .. } => *status == 429 || *status >= 500,
        ChannelError::Unreadable { .. } | ChannelError::SignIn { .. } => false,
    }
}
