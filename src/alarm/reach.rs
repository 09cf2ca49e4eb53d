//! Whether a channel can be reached (spec section 8): one that cannot is told of in the other.

use serde::{Deserialize, Serialize};

use super::ChannelError;
use crate::policy::time::Time;

/// So many sweeps in a row that cannot reach a channel make it lost; fewer may be a bad quarter of an hour.
const LOST_AFTER: u32 = 3;

/// Characters of what the channel said that are kept.
const SAID: usize = 200;

/// What a channel came to in one sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Contact {
    /// It was not called, or only for a place that the settings no longer name.
    #[default]
    None,
    /// It answered as it should.
    Reached,
    /// It could not be reached.
    Failed,
}

/// How well a channel can be reached. Part of the stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reach {
    /// Sweeps in a row that could not reach it.
    #[serde(default)]
    failed: u32,
    /// Since when it counts as lost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Lost>,
}

/// A channel that cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// The sweep that found it so.
    pub since: Time,
    /// What it said then: a later word would change the text of the entry each time.
    pub said: String,
}

impl Reach {
    /// Notes what became of a channel in the sweep at `now`.
    pub fn note(&mut self, contact: Contact, error: Option<&ChannelError>, now: Time) {
        match (contact, error) {
            (Contact::None, _) => {}
            (Contact::Reached, _) => *self = Self::default(),
            (Contact::Failed, Some(error)) if error.was_not_made() => {}
            (Contact::Failed, error) => {
                self.failed = self.failed.saturating_add(1);
                let for_good = error.is_some_and(ChannelError::is_for_good);
                if self.lost.is_none() && (for_good || self.failed >= LOST_AFTER) {
                    let said = error.map(ChannelError::said).unwrap_or_default();
                    self.lost = Some(Lost { since: now, said: said.chars().take(SAID).collect() });
                }
            }
        }
    }

    /// The loss, if it is lost.
    #[must_use]
    pub fn lost(&self) -> Option<&Lost> {
        self.lost.as_ref()
    }

    /// Takes every time later than `now` as `now`.
    pub fn move_to(&mut self, now: Time) {
        if let Some(lost) = &mut self.lost {
            lost.since = lost.since.min(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::sample::time;
    use crate::ports::NetworkError;

    #[test]
    fn the_third_sweep_in_a_row_or_a_word_for_good_makes_it_lost() {
        let failed = |source| ChannelError::Network { step: "failed", source };
        let mut reach = Reach::default();
        let mut note = |contact, error: Option<ChannelError>, minute| {
            reach.note(contact, error.as_ref(), time(minute));
            reach.lost().map(|lost| (lost.since, lost.said.clone()))
        };
        assert_eq!(note(Contact::Failed, Some(failed(NetworkError::Failed)), 0), None);
        assert_eq!(note(Contact::Failed, Some(failed(NetworkError::TimedOut)), 15), None);
        assert_eq!(note(Contact::Failed, Some(failed(NetworkError::NoCallLeft)), 30), None, "nobody called it");
        assert_eq!(note(Contact::None, None, 30), None);
        let lost = Some((time(45), "no answer within ten seconds".to_owned()));
        assert_eq!(note(Contact::Failed, Some(failed(NetworkError::TimedOut)), 45), lost);
        assert_eq!(note(Contact::Failed, Some(failed(NetworkError::Failed)), 60), lost, "it says the same as before");
        assert_eq!(note(Contact::Reached, None, 75), None);
        let refused = ChannelError::OutOfReach { step: "failed", status: 403, reason: "kicked".to_owned() };
        assert_eq!(note(Contact::Failed, Some(refused), 90), Some((time(90), "kicked (status 403)".to_owned())));
    }
}
