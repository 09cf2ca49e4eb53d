//! One item of GitHub's list: an attempt to deliver an event, and what its code says of the endpoint (spec section 2).

use std::borrow::Cow;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::settings::Settings;
use super::time::Time;

/// A delivery's own id: 19 digits, beyond 2^53. An integer here and in GitHub's JSON, text everywhere else.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeliveryId(pub u64);

impl fmt::Display for DeliveryId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl Serialize for DeliveryId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(itoa::Buffer::new().format(self.0))
    }
}

impl<'de> Deserialize<'de> for DeliveryId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(FromText { read: |text| text.parse().ok().map(Self), expected: "a whole number as a text" })
    }
}

/// Thousands of ids and guids are read and written in a busy sweep, so neither goes through a text of its own.
struct FromText<T> {
    read: fn(&str) -> Option<T>,
    expected: &'static str,
}

impl<T> Visitor<'_> for FromText<T> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expected)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Str(text), &self))
    }
}

/// Digits and hyphens.
fn ascii(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_default()
}

/// The identity of an event, shared by all its attempts.
///
/// Nearly always a UUID, kept in 16 bytes since a busy sweep reads thousands; whatever else GitHub may send stays as it came.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guid {
    /// A UUID in its usual form: lower case, four hyphens.
    Uuid(u128),
    /// Any other text.
    Text(Box<str>),
}

impl From<&str> for Guid {
    fn from(text: &str) -> Self {
        parse_uuid(text).map_or_else(|| Self::Text(text.into()), Self::Uuid)
    }
}

const HYPHENS: [usize; 4] = [8, 13, 18, 23];

/// `None` for any form that would not be printed as it was read.
fn parse_uuid(text: &str) -> Option<u128> {
    let text: &[u8; 36] = text.as_bytes().try_into().ok()?;
    let digit = |place: usize| match text[place] {
        digit @ b'0'..=b'9' => Some(digit - b'0'),
        digit @ b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    // Byte by byte: a shift of 128 bits is a call in wasm.
    let mut value = [0; 16];
    let mut place = 0;
    for byte in &mut value {
        if HYPHENS.contains(&place) {
            if text[place] != b'-' {
                return None;
            }
            place += 1;
        }
        *byte = digit(place)? << 4 | digit(place + 1)?;
        place += 2;
    }
    Some(u128::from_be_bytes(value))
}

/// The usual form.
fn uuid_text(value: u128) -> [u8; 36] {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let mut text = [b'-'; 36];
    let mut place = 0;
    for byte in value.to_be_bytes() {
        place += usize::from(HYPHENS.contains(&place));
        text[place] = HEX[usize::from(byte >> 4)];
        text[place + 1] = HEX[usize::from(byte & 15)];
        place += 2;
    }
    text
}

impl fmt::Display for Guid {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.with_text(|text| out.write_str(text))
    }
}

impl Guid {
    /// Its text, to `read`.
    pub(super) fn with_text<T>(&self, read: impl FnOnce(&str) -> T) -> T {
        match self {
            Self::Text(text) => read(text),
            Self::Uuid(value) => read(ascii(&uuid_text(*value))),
        }
    }
}

impl Serialize for Guid {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.with_text(|text| serializer.serialize_str(text))
    }
}

impl<'de> Deserialize<'de> for Guid {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(FromText { read: |text| Some(Self::from(text)), expected: "a text" })
    }
}

/// Where a delivery stands in the list: its time, then its id. "Before" and "newer" mean this, never a clock of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// `delivered_at`.
    pub at: Time,
    /// Breaks a tie.
    pub id: DeliveryId,
}

impl Position {
    /// The same place when all times are compared by whole seconds.
    #[must_use]
    pub fn whole_seconds(self) -> Self {
        Self { at: self.at.whole_seconds(), ..self }
    }
}

impl Serialize for Position {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.at, self.id).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Position {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let (at, id) = Deserialize::deserialize(deserializer)?;
        Ok(Self { at, id })
    }
}

/// What an attempt came to (spec section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// 200–299: delivered, for good.
    Passed,
    /// 300–499: the endpoint would refuse it again.
    Refused,
    /// 500–599 as the endpoint's own answer: asked for again.
    Failed,
    /// No answer of the endpoint: asked for again, and no evidence that it lives.
    Unanswered,
}

impl Outcome {
    /// Judges by the code; the `status` text is for people.
    ///
    /// Sources disagree whether a time-out is listed as 0 or 504, so both are unanswered. 520–527 and 530 are written
    /// by Cloudflare in front of an endpoint that did not answer.
    #[must_use]
    pub fn of(status_code: i64, settings: &Settings) -> Self {
        match status_code {
            200..=299 => Self::Passed,
            300..=499 if settings.retry_status.iter().any(|code| i64::from(*code) == status_code) => Self::Failed,
            300..=499 => Self::Refused,
            502 | 504 | 520..=527 | 530 => Self::Unanswered,
            500..=599 => Self::Failed,
            _ => Self::Unanswered,
        }
    }

    /// Whether the endpoint said anything at all.
    #[must_use]
    pub fn is_answer(self) -> bool {
        self != Self::Unanswered
    }

    /// Whether the event is to come again.
    #[must_use]
    pub fn is_failure(self) -> bool {
        matches!(self, Self::Failed | Self::Unanswered)
    }
}

/// Text that is borrowed from the page where JSON allows it.
#[derive(Debug, Deserialize)]
pub struct Text<'a>(#[serde(borrow)] pub Cow<'a, str>);

/// One item of `GET /app/hook/deliveries`, with GitHub's field names. Unknown fields are passed over.
///
/// Source: schema `hook-delivery-item` of GitHub's `OpenAPI` description.
#[derive(Debug, Deserialize)]
pub struct Delivery<'a> {
    /// Unique for an attempt.
    pub id: u64,
    /// Shared by all attempts of an event.
    #[serde(borrow)]
    pub guid: Cow<'a, str>,
    /// RFC 3339, with or without milliseconds.
    #[serde(borrow)]
    pub delivered_at: Cow<'a, str>,
    /// Whether somebody asked for this attempt.
    pub redelivery: bool,
    /// What the endpoint answered; 0 where nothing did.
    pub status_code: i64,
    /// Such as `workflow_run`.
    #[serde(borrow)]
    pub event: Cow<'a, str>,
    /// Such as `completed`; `null` for events without one.
    #[serde(borrow, default)]
    pub action: Option<Text<'a>>,
    /// `null` for events of an installation, say.
    #[serde(default)]
    pub repository_id: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_the_table_of_outcomes() {
        let settings = Settings { retry_status: vec![408, 429], ..Settings::default() };
        let table = [
            (Outcome::Passed, vec![200, 201, 202, 204, 299]),
            (Outcome::Refused, vec![300, 301, 302, 399, 400, 401, 404, 409, 410, 422, 499]),
            (Outcome::Failed, vec![408, 429, 500, 501, 503, 505, 519, 528, 529, 531, 599]),
            (Outcome::Unanswered, vec![0, 502, 504, 520, 521, 522, 523, 524, 525, 526, 527, 530, -1, 1, 100, 199, 600, 999]),
        ];
        for (outcome, codes) in table {
            for code in codes {
                assert_eq!(Outcome::of(code, &settings), outcome, "{code}");
            }
        }
        assert_eq!(Outcome::of(429, &Settings::default()), Outcome::Refused);
    }

    #[test]
    fn a_guid_is_printed_as_it_was_read() {
        for text in [
            "38ee792a-82e7-11f1-959e-7ce606dfe5da",
            "38EE792A-82E7-11F1-959E-7CE606DFE5DA",
            "",
            "x",
            "38ee792a82e711f1959e7ce606dfe5da----",
        ] {
            assert_eq!(Guid::from(text).to_string(), text);
        }
        assert!(matches!(Guid::from("00000000-0000-0000-0000-000000000000"), Guid::Uuid(0)));
    }

    #[test]
    fn ids_keep_their_last_digit() {
        let item: Delivery = serde_json::from_str(
            r#"{"id":9223372036854775807,"guid":"g","delivered_at":"2026-07-18T20:28:24.082Z","redelivery":false,"status_code":200,"event":"issues","new":[1]}"#,
        )
        .expect("a delivery without its optional fields is read");
        assert_eq!(DeliveryId(item.id).to_string(), "9223372036854775807");
        let json = serde_json::to_string(&DeliveryId(item.id)).expect("an id is text");
        assert_eq!(json, r#""9223372036854775807""#);
        assert_eq!(serde_json::from_str::<DeliveryId>(&json).expect("it is read back"), DeliveryId(item.id));
    }
}
