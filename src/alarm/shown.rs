//! What a channel last showed, as far as the next sweep needs it to tell what changed.
//!
//! Text and keys are kept as digests: a thousand entries are to fit into the state twice.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::entry::{Entry, keys_of_event};
use crate::policy::delivery::Guid;
use crate::policy::order::{self, by_number};
use crate::policy::time::{Time, hours};

/// An entry that left less than this ago comes back without a sound: it came and went, and was told once.
const COMES_BACK_SILENTLY: Duration = hours(1);

/// Entries that left, kept at most: as many as there can be entries by guid.
const LEFT_KEPT: usize = 1_000;

/// 64 bits that stand for a text. No defence against someone who looks for a collision, and nobody gains by one: it
/// would leave a text as it was.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest(u64);

impl Digest {
    /// FNV-1a. Source: draft-eastlake-fnv.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:016x}", self.0)
    }
}

/// Text, since 64 bits exceed what a JavaScript number holds.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{self:?}"))
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        u64::from_str_radix(&text, 16).map(Self).map_err(serde::de::Error::custom)
    }
}

/// What was last shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LastShown {
    /// The text.
    text: Digest,
    /// The entries, sorted. None: it was shown that nothing is open any more.
    keys: Vec<Digest>,
    /// Entries that left within the last hour, and when.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    left: Vec<(Digest, Time)>,
    /// Whether the channel may show something else: the answer to the last change was lost.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    doubtful: bool,
    /// Of those that left since the first one came: whose event passed, and all.
    #[serde(default, skip_serializing_if = "is_none")]
    gone: Recovered,
    /// Since when something is open: the first entry came then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    since: Option<Time>,
}

fn is_none(gone: &Recovered) -> bool {
    *gone == Recovered::default()
}

impl LastShown {
    /// What is remembered once `text` shows `entries`, after what was shown `before`. Of the events that left, these `passed`.
    #[must_use]
    pub fn new(text: Digest, entries: &[Entry], before: Option<&Self>, passed: &[Guid], now: Time) -> Self {
        let keys = keys(entries);
        let mut gone = Recovered::default();
        let mut left: Vec<(Digest, Time)> = Vec::new();
        if let Some(before) = before {
            let is_gone = |key: &&Digest| keys.binary_search(key).is_err();
            left.extend(before.left.iter().filter(|(key, at)| is_gone(&key) && is_recent(*at, now)));
            left.extend(before.keys.iter().filter(is_gone).map(|key| (*key, now)));
            if !keys.is_empty() {
                gone = before.gone.and(before.keys.iter().filter(is_gone), passed);
            }
        }
        let excess = left.len().saturating_sub(LEFT_KEPT);
        left.drain(..excess);
        let was_open = before.filter(|before| !before.is_closed());
        let since = if keys.is_empty() { None } else { was_open.map_or(Some(now), |before| before.since) };
        Self { text, keys, left, doubtful: false, gone, since }
    }

    /// Whether it was shown that nothing is open any more.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.keys.is_empty()
    }

    /// Whether this is what was shown. The text alone would not tell: entries that do not fit are only counted in it.
    #[must_use]
    pub fn is(&self, text: Digest, entries: &[Entry]) -> bool {
        !self.doubtful && self.text == text && self.keys == keys(entries)
    }

    /// The channel may show something else: then the next sweep writes it again, whatever it is.
    pub fn doubt(&mut self) {
        self.doubtful = true;
    }

    /// Whether the channel may show something else.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Whether an entry was added: one that was neither shown nor left within the last hour.
    #[must_use]
    pub fn lacks_one_of(&self, entries: &[Entry], now: Time) -> bool {
        let comes_back = |key: &Digest| self.left.iter().any(|(left, at)| left == key && is_recent(*at, now));
        keys(entries).iter().any(|key| self.keys.binary_search(key).is_err() && !comes_back(key))
    }

    /// How many entries there were since the first one came, how many of those were about events that passed, and how long it took,
    /// when the last ones leave now.
    #[must_use]
    pub fn ended(&self, passed: &[Guid], now: Time) -> Ended {
        Ended { recovered: self.gone.and(self.keys.iter(), passed), took: self.since.map(|since| now.since(since)) }
    }

    /// Another text, which this one takes the place of, showed these entries: they come back without a sound.
    pub fn take_in(&mut self, other: &Self, now: Time) {
        self.left.extend(other.keys.iter().map(|key| (*key, now)).chain(other.left.iter().copied()));
        self.left.retain(|(key, _)| self.keys.binary_search(key).is_err());
        let excess = self.left.len().saturating_sub(LEFT_KEPT);
        self.left.drain(..excess);
    }

    /// The keys of the entries.
    #[must_use]
    pub fn keys(&self) -> &[Digest] {
        &self.keys
    }

    /// Takes every time later than `now` as `now`.
    pub fn move_to(&mut self, now: Time) {
        self.since = self.since.map(|since| since.min(now));
        for (_, at) in &mut self.left {
            *at = now.min(*at);
        }
    }
}

/// What is said when the last entry left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Of all that left since the first one came.
    pub recovered: Recovered,
    /// How long something was open, if that is known.
    pub took: Option<Duration>,
}

/// Of the entries that left, how many did so because their event passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovered {
    /// Whose event passed.
    pub passed: usize,
    /// All that left.
    pub all: usize,
}

impl Recovered {
    fn and<'a>(self, left: impl Iterator<Item = &'a Digest>, passed: &[Guid]) -> Self {
        let passed = sorted(passed.iter().flat_map(keys_of_event).map(|key| Digest::of(&key)));
        left.fold(self, |sum, key| Self { passed: sum.passed + usize::from(passed.binary_search(key).is_ok()), all: sum.all + 1 })
    }
}

fn keys(entries: &[Entry]) -> Vec<Digest> {
    sorted(entries.iter().map(|entry| Digest::of(&entry.key)))
}

fn sorted(keys: impl Iterator<Item = Digest>) -> Vec<Digest> {
    let mut keys: Vec<Digest> = keys.collect();
    order::sort(&mut keys, |key| by_number(key.0));
    keys
}

fn is_recent(at: Time, now: Time) -> bool {
    now.since(at) < COMES_BACK_SILENTLY
}
