//! A point in time, to the millisecond, as GitHub and the schedule tell it.
//!
//! It cannot be asked for the present: whoever needs that hands it in.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

use chrono::{DateTime, SecondsFormat, Utc};
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970-01-01T00:00:00Z.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Time(i64);

/// How finely a time was written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `2026-07-18T20:28:24Z`, as GitHub wrote until 2026.
    Seconds,
    /// `2026-07-18T20:28:24.082Z`.
    Milliseconds,
}

impl Time {
    /// The time `millis` milliseconds after the epoch.
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the epoch.
    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    /// Whole seconds since the epoch, as a JWT has them.
    #[must_use]
    pub const fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// The same time without its milliseconds.
    #[must_use]
    pub const fn whole_seconds(self) -> Self {
        Self(self.seconds() * 1000)
    }

    /// How long after `earlier` this is; zero if it is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Reads RFC 3339, as GitHub's JSON has it; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Self, Precision)> {
        let time = DateTime::parse_from_rfc3339(text).ok()?;
        let precision = if text.as_bytes().get(19) == Some(&b'.') { Precision::Milliseconds } else { Precision::Seconds };
        Some((Self(time.timestamp_millis()), precision))
    }

    /// Reads a `Date` header, such as `Tue, 01 Dec 2026 01:11:14 GMT`; `None` for anything else.
    #[must_use]
    pub fn parse_http_date(text: &str) -> Option<Self> {
        DateTime::parse_from_rfc2822(text).ok().map(|time| Self(time.timestamp_millis()))
    }

    /// `2026-11-30 14:05 UTC`, for people. A time that no calendar has (a broken clock) is shown as its milliseconds.
    #[must_use]
    pub fn for_people(self) -> String {
        self.date_time().map_or_else(|| self.0.to_string(), |time| time.format("%Y-%m-%d %H:%M UTC").to_string())
    }

    fn date_time(self) -> Option<DateTime<Utc>> {
        DateTime::from_timestamp_millis(self.0)
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, span: Duration) -> Self {
        Self(self.0.saturating_sub(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }
}

/// RFC 3339 with milliseconds, for logs.
impl fmt::Display for Time {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.date_time() {
            Some(time) => out.write_str(&time.to_rfc3339_opts(SecondsFormat::Millis, true)),
            None => write!(out, "{}", self.0),
        }
    }
}

/// So many minutes.
#[must_use]
pub const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count * 60)
}

/// So many hours.
#[must_use]
pub const fn hours(count: u64) -> Duration {
    minutes(count * 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_precisions_of_github_and_an_offset() {
        let second = Time::parse("2024-07-25T11:50:32Z");
        assert_eq!(second, Some((Time::from_millis(1_721_908_232_000), Precision::Seconds)));
        let milli = Time::parse("2024-07-25T11:50:32.082Z");
        assert_eq!(milli, Some((Time::from_millis(1_721_908_232_082), Precision::Milliseconds)));
        assert_eq!(Time::parse("2024-07-25T13:50:32+02:00"), second);
        assert_eq!(Time::parse("yesterday"), None);
        assert_eq!(Time::parse(""), None);
    }

    #[test]
    fn reads_the_date_header() {
        assert_eq!(Time::parse_http_date("Thu, 25 Jul 2024 11:50:32 GMT"), Some(Time::from_millis(1_721_908_232_000)));
        assert_eq!(Time::parse_http_date("soon"), None);
    }

    #[test]
    fn never_overflows() {
        let end = Time::from_millis(i64::MAX);
        assert_eq!(end + hours(72), end);
        assert_eq!(Time::from_millis(i64::MIN) - hours(72), Time::from_millis(i64::MIN));
        assert_eq!(Time::from_millis(0).since(end), Duration::ZERO);
        assert_eq!(end.to_string(), i64::MAX.to_string());
    }
}
