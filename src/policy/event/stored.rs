//! The stored form of events: the state holds thousands, is read once in a sweep and written up to twice.
//!
//! One with a single attempt and no ask, as nearly all are, is one text of words; any other is an object with short keys, as all
//! were in the first version of the state. docs/state.md describes both.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Serialize, Serializer};

use super::{Attempt, Event, Fate};
use crate::policy::delivery::{DeliveryId, Guid, Outcome, Position};
use crate::policy::evidence::{flags, from_flags};
use crate::policy::names::Names;
use crate::policy::time::Time;

/// Bytes of the stored form of an ask at most: its keys, three times and an id.
pub const ASK_BYTES: usize = 112;

/// Bytes that an event takes more as an object than as words, at most: with its first ask it becomes one.
pub const OBJECT_BYTES: usize = 48;

/// What stands for no action and for no repository.
const NONE: &str = "-";

/// The last word of an event that has come to rest, as in [`Fate`]'s own stored form. One that is an entry stays an object.
const FATES: [(Fate, &str); 6] = [
    (Fate::Passed, "passed"),
    (Fate::Superseded, "superseded"),
    (Fate::Ignored, "ignored"),
    (Fate::LeftBehind, "left_behind"),
    (Fate::Own, "own"),
    (Fate::Forgotten, "forgotten"),
];

/// `[time, id, code, outcome, flags]`.
#[derive(Serialize, Deserialize)]
pub(super) struct AttemptWire(Time, DeliveryId, i32, char, u8);

impl From<Attempt> for AttemptWire {
    fn from(attempt: Attempt) -> Self {
        let outcome = match attempt.outcome {
            Outcome::Passed => 'p',
            Outcome::Refused => 'r',
            Outcome::Failed => 'f',
            Outcome::Unanswered => 'u',
        };
        Self(attempt.position.at, attempt.position.id, attempt.status_code, outcome, flags(attempt.counting, attempt.redelivery))
    }
}

impl From<AttemptWire> for Attempt {
    fn from(AttemptWire(at, id, status_code, outcome, flags): AttemptWire) -> Self {
        let (counting, redelivery) = from_flags(flags);
        let outcome = match outcome {
            'p' => Outcome::Passed,
            'r' => Outcome::Refused,
            'f' => Outcome::Failed,
            _ => Outcome::Unanswered,
        };
        Self { position: Position { at, id }, status_code, outcome, redelivery, counting }
    }
}

/// Writes all events, in the order of their guids.
///
/// # Errors
/// The serializer's.
pub fn serialize<S: Serializer>(events: &BTreeMap<Guid, Event>, serializer: S) -> Result<S::Ok, S::Error> {
    let line = RefCell::new(String::with_capacity(256));
    serializer.collect_seq(events.values().map(|event| Stored { event, line: &line }))
}

/// Reads what [`serialize`] wrote, now or in the first version.
///
/// # Errors
/// If one of them is neither a text of such words nor such an object.
pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeMap<Guid, Event>, D::Error> {
    deserializer.deserialize_seq(AllEvents)
}

/// An event to be written; all of them write their lines in one place, one after the other.
struct Stored<'a> {
    event: &'a Event,
    line: &'a RefCell<String>,
}

impl Serialize for Stored<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut line = self.line.borrow_mut();
        match write(self.event, &mut line) {
            Some(()) => serializer.serialize_str(&line),
            None => self.event.serialize(serializer),
        }
    }
}

/// Writes the event as words into `line`; `None` if it has more to it, or would not be read back as the same.
fn write(event: &Event, line: &mut String) -> Option<()> {
    let ([attempt], []) = (&event.attempts[..], &event.asks[..]) else { return None };
    let AttemptWire(at, id, code, outcome, flags) = (*attempt).into();
    let fate = match &event.fate {
        Fate::Open => None,
        fate => Some(FATES.iter().find(|(known, _)| known == fate)?.1),
    };
    let action = match event.action.as_deref() {
        Some(NONE) => return None,
        action => action.unwrap_or(NONE),
    };
    line.clear();
    if matches!(&event.guid, Guid::Text(text) if !is_word(text)) || !is_word(&event.event) || !is_word(action) {
        return None;
    }
    let mut room = itoa::Buffer::new();
    event.guid.with_text(|guid| line.push_str(guid));
    push(line, &event.event);
    push(line, action);
    push(line, event.repository_id.map_or(NONE, |id| room.format(id)));
    push(line, room.format(at.millis()));
    push(line, room.format(id.0));
    push(line, room.format(i64::from(code)));
    line.push(' ');
    line.push(outcome);
    line.push_str(room.format(u64::from(flags)));
    if let Some(fate) = fate {
        push(line, fate);
    }
    Some(())
}

/// Whether it is one word, and needs no escape in JSON.
fn is_word(text: &str) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\');
    !text.is_empty() && text.as_bytes().iter().all(is_plain)
}

fn push(line: &mut String, word: &str) {
    line.push(' ');
    line.push_str(word);
}

/// Reads an event that was written as words; `None` if it was not.
fn read(line: &str, names: &mut Names) -> Option<Event> {
    let mut words = line.split(' ');
    let mut word = || words.next();
    let guid = Guid::from(word()?);
    let event = names.shared(word()?);
    let mut unless_none = || word().map(|word| Some(word).filter(|word| *word != NONE));
    let action = unless_none()?.map(|action| names.shared(action));
    let repository_id = unless_none()?.map(str::parse).transpose().ok()?;
    let at = Time::from_millis(word()?.parse().ok()?);
    let id = DeliveryId(word()?.parse().ok()?);
    let status_code = word()?.parse().ok()?;
    let mut judged = word()?.chars();
    let outcome = judged.next()?;
    let flags = judged.as_str().parse().ok()?;
    let fate = match word() {
        None => Fate::Open,
        Some(word) => FATES.iter().find(|(_, known)| *known == word)?.0.clone(),
    };
    let attempts = vec![AttemptWire(at, id, status_code, outcome, flags).into()];
    words.next().is_none().then_some(Event { guid, event, action, repository_id, attempts, asks: Vec::new(), fate })
}

struct AllEvents;

impl<'de> Visitor<'de> for AllEvents {
    type Value = BTreeMap<Guid, Event>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of events")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut names = Names::default();
        let mut events = Vec::new();
        while let Some(event) = items.next_element_seed(OneEvent(&mut names))? {
            events.push((event.guid.clone(), event));
        }
        Ok(events.into_iter().collect())
    }
}

struct OneEvent<'n>(&'n mut Names);

impl<'de> DeserializeSeed<'de> for OneEvent<'_> {
    type Value = Event;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Event, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for OneEvent<'_> {
    type Value = Event;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an event")
    }

    fn visit_str<E: Error>(self, line: &str) -> Result<Event, E> {
        read(line, self.0).ok_or_else(|| E::invalid_value(Unexpected::Str(line), &"an event"))
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Event, A::Error> {
        Event::deserialize(MapAccessDeserializer::new(fields))
    }
}

impl Event {
    /// Bytes of the stored form at most.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let guid = match &self.guid {
            Guid::Uuid(_) => 36,
            Guid::Text(text) => json_bytes(text),
        };
        let action = self.action.as_deref().map_or(0, |action| json_bytes(action) + 7);
        // As an object, which is longer: the keys, a repository and the longest fate;
        // `[1764547200123,"18446744073709551615",-2147483648,"f",0],`.
        100 + guid + json_bytes(&self.event) + action + self.attempts.len() * 62 + self.asks.len() * ASK_BYTES
    }

    /// Bytes of the stored form. Slower than [`Event::stored_bytes`], and exact for all that is ASCII.
    #[must_use]
    pub fn measured_bytes(&self) -> usize {
        let line = RefCell::new(String::new());
        match serde_json::to_string(&Stored { event: self, line: &line }) {
            // And the comma behind it.
            Ok(json) if json.is_ascii() => json.len() + 1,
            _ => self.stored_bytes(),
        }
    }
}

/// Bytes of a text in JSON, without its quotes, at most. Other letters than ASCII are stored as `\u` and four digits.
#[must_use]
pub fn json_bytes(text: &str) -> usize {
    let escaped = |byte: &u8| !byte.is_ascii() || *byte < b' ' || matches!(byte, b'"' | b'\\');
    text.len() + 5 * text.as_bytes().iter().filter(|byte| escaped(byte)).count()
}
