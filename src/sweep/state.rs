//! The stored value: one JSON text with a version. Its form is pinned by a test and described in docs/state.md.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::alarm::Memory;
use crate::github::error::FailureClass;
use crate::policy::ledger::Ledger;
use crate::policy::time::Time;

/// The version that this code reads and writes.
pub const VERSION: u32 = 1;

/// The last failure of a sweep; it stays after later successes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// `now` of that sweep.
    pub at: Time,
    /// What kind of failure.
    pub class: FailureClass,
}

/// Sweeps that failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failures {
    /// The last one, ever.
    pub last: Option<Failure>,
    /// In a row, up to now.
    pub in_a_row: u32,
}

impl Failures {
    /// A sweep failed.
    pub fn note(&mut self, at: Time, class: FailureClass) {
        self.last = Some(Failure { at, class });
        self.in_a_row = self.in_a_row.saturating_add(1);
    }
}

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
        Self { version: VERSION, ledger: Ledger::default(), alarm: Memory::default(), failures: Failures::default() }
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
        match serde_json::from_slice::<Self>(text.as_bytes()) {
            Ok(state) if state.version == VERSION => Ok(state),
            // Another form altogether may still say that it is newer.
            _ => match serde_json::from_slice::<Version>(text.as_bytes()) {
                Ok(Version { version }) if version > VERSION => Err(StateError::Newer(version)),
                _ => Err(StateError::Unreadable),
            },
        }
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
