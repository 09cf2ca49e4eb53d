//! The stored value: one JSON text with a version. Its form is pinned by a test and described in docs/state.md.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::failures::Failures;
use crate::alarm::Memory;
use crate::json;
use crate::policy::ledger::Ledger;
use crate::policy::own::{Others, Own};
use crate::policy::time::Time;

/// The version that this code writes. It reads all before it too: version 1 (0.1.0) has every event as an object.
pub const VERSION: u32 = 2;

/// All that is kept between sweeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    /// Always [`VERSION`] once read.
    pub version: u32,
    /// The policy's part.
    pub ledger: Ledger,
    /// What the channels last showed.
    #[serde(default)]
    pub alarm: Memory,
    /// Sweeps that failed.
    #[serde(default)]
    pub failures: Failures,
    /// How many writes of the Worker's other Apps are in the ledger.
    #[serde(default, skip_serializing_if = "is_none")]
    pub heard: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(heard: &u64) -> bool {
    *heard == 0
}

/// What is kept apart while the state can not be read or written: else nobody would ever be told of that. The first state
/// that is saved takes it in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stopgap {
    /// Sweeps that failed, up to now.
    pub failures: Failures,
    /// What the channels show since.
    #[serde(default)]
    pub alarm: Memory,
    /// Our own writes of the issue: their events are nobody's, whatever the state that they are missing in says.
    #[serde(default)]
    pub own: Own,
    /// How many writes of other Apps are among them.
    #[serde(default, skip_serializing_if = "is_none")]
    pub heard: u64,
}

/// A stored value that is not to be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It was written by a newer version of this Worker. It stays as it is.
    #[error("the stored state has version {0}, newer than this Worker's; deploy the newer Worker again")]
    Newer(u32),
    /// It is put aside, and the sweep starts as a first one.
    #[error("the stored state cannot be read")]
    Unreadable,
}

impl Default for State {
    fn default() -> Self {
        Self { version: VERSION, ledger: Ledger::default(), alarm: Memory::default(), failures: Failures::default(), heard: 0 }
    }
}

impl State {
    /// Reads a stored value.
    ///
    /// # Errors
    /// If it is of a newer version, or cannot be read.
    #[inline(never)]
    pub fn read(text: &str) -> Result<Self, StateError> {
        #[derive(Deserialize)]
        struct Version {
            version: u32,
        }
        match json::read::<Self>(text.as_bytes()) {
            Ok(state) if (1..=VERSION).contains(&state.version) => Ok(Self { version: VERSION, ..state }),
            // Another form altogether may still say that it is newer.
            _ => match json::read::<Version>(text.as_bytes()) {
                Ok(Version { version }) if version > VERSION => Err(StateError::Newer(version)),
                _ => Err(StateError::Unreadable),
            },
        }
    }

    /// Goes on from what was kept while this state could not be read or written.
    pub fn take_in(&mut self, stopgap: Stopgap, now: Time) {
        self.failures = stopgap.failures;
        self.alarm = std::mem::take(&mut self.alarm).followed_by(stopgap.alarm, now);
        self.ledger.own.take_in(stopgap.own);
        self.heard = self.heard.max(stopgap.heard);
    }

    /// Takes note of what other Apps wrote, as far as that is new.
    pub fn hear(&mut self, others: &Others) {
        others.after(self.heard).for_each(|write| self.ledger.own.wrote(write));
        self.heard = others.count();
    }

    /// Takes every stored time later than `now` as `now`, so that one wrong clock cannot stop everything.
    pub fn move_to(&mut self, now: Time) {
        self.ledger.move_to(now);
        self.alarm.move_to(now);
        self.failures.move_to(now);
    }

    /// The value to store.
    ///
    /// # Errors
    /// Never for a value that [`State::read`] or a sweep made: it has no map with keys that are no text.
    #[inline(never)]
    pub fn write(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self).map(only_ascii)
    }
}

/// The runtime stores a text with one other letter as two bytes for each, which would double the size of the value.
fn only_ascii(json: String) -> String {
    if json.is_ascii() {
        return json;
    }
    let mut text = String::with_capacity(json.len() * 2);
    let mut units = [0; 2];
    for letter in json.chars() {
        if letter.is_ascii() {
            text.push(letter);
        } else {
            // Only inside of strings, where JSON takes either form.
            for unit in letter.encode_utf16(&mut units) {
                // To write into a text never fails.
                let _ = write!(text, "\\u{unit:04x}");
            }
        }
    }
    text
}

#[cfg(test)]
mod tests;
