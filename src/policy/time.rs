//! A point in time, to the millisecond, as GitHub and the schedule tell it.
//!
//! It cannot be asked for the present: whoever needs that hands it in. The three forms in which a time is written here are
//! read and written by hand: a crate for dates knows all the others too, and was a twelfth of the whole Worker.

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

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

    /// Whole days since the epoch: those of UTC, which begin at midnight.
    #[must_use]
    pub const fn day(self) -> i64 {
        self.0.div_euclid(DAY_MILLIS)
    }

    /// When its day began.
    #[must_use]
    pub const fn midnight(self) -> Self {
        Self(self.day() * DAY_MILLIS)
    }

    /// How long after `earlier` this is; zero if it is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Reads RFC 3339, as GitHub's JSON has it; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Self, Precision)> {
        let (date_time, rest) = text.as_bytes().split_at_checked(19)?;
        let [year @ .., b'-', m1, m2, b'-', d1, d2, b'T' | b't' | b' ', h1, h2, b':', n1, n2, b':', s1, s2] = date_time else {
            return None;
        };
        let date = Date { year: digits(year)?, month: digits(&[*m1, *m2])?, day: digits(&[*d1, *d2])? };
        let seconds = date.seconds(digits(&[*h1, *h2])?, digits(&[*n1, *n2])?, digits(&[*s1, *s2])?)?;
        let (millis, zone, precision) = match rest {
            [b'.', rest @ ..] => {
                let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let (fraction, zone) = rest.split_at(length);
                let digit = |place: usize| fraction.get(place).map_or(0, |digit| i64::from(digit - b'0'));
                (!fraction.is_empty()).then_some((digit(0) * 100 + digit(1) * 10 + digit(2), zone, Precision::Milliseconds))?
            }
            zone => (0, zone, Precision::Seconds),
        };
        Some((Self((seconds - offset(zone)?) * 1000 + millis), precision))
    }

    /// Reads a `Date` header, such as `Tue, 01 Dec 2026 01:11:14 GMT`; `None` for anything else.
    #[must_use]
    pub fn parse_http_date(text: &str) -> Option<Self> {
        let [
            _,
            _,
            _,
            b',',
            b' ',
            d1,
            d2,
            b' ',
            month @ ..,
            b' ',
            y1,
            y2,
            y3,
            y4,
            b' ',
            h1,
            h2,
            b':',
            n1,
            n2,
            b':',
            s1,
            s2,
            b' ',
            b'G',
            b'M',
            b'T',
        ] = text.as_bytes()
        else {
            return None;
        };
        let month = (1..).zip(MONTHS).find(|(_, name)| name.as_bytes() == month)?.0;
        let date = Date { year: digits(&[*y1, *y2, *y3, *y4])?, month, day: digits(&[*d1, *d2])? };
        Some(Self(date.seconds(digits(&[*h1, *h2])?, digits(&[*n1, *n2])?, digits(&[*s1, *s2])?)? * 1000))
    }

    /// `2026-11-30 14:05 UTC`, for people. A time that no calendar has (a broken clock) is shown as its milliseconds.
    #[must_use]
    pub fn for_people(self) -> String {
        let Some(text) = self.rfc3339() else { return self.0.to_string() };
        let [date, time] = [&text[..10], &text[11..16]];
        [date, time, "UTC"].join(" ")
    }

    /// With milliseconds; `None` for a time before the year 0 or after the year 9999.
    fn rfc3339(self) -> Option<String> {
        let date = Date::of(self.day())?;
        let millis = self.0.rem_euclid(DAY_MILLIS);
        let mut text = String::with_capacity(24);
        let mut put = |number: i64, width: u32, end: char| {
            for place in (0..width).rev() {
                let digit = u8::try_from(number / 10_i64.pow(place) % 10).unwrap_or_default();
                text.push(char::from(b'0' + digit));
            }
            text.push(end);
        };
        put(date.year, 4, '-');
        put(date.month, 2, '-');
        put(date.day, 2, 'T');
        put(millis / 3_600_000, 2, ':');
        put(millis / 60_000 % 60, 2, ':');
        put(millis / 1000 % 60, 2, '.');
        put(millis % 1000, 3, 'Z');
        Some(text)
    }
}

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const DAY_MILLIS: i64 = 86_400_000;

/// A day of the Gregorian calendar, from the year 0 to the year 9999.
struct Date {
    year: i64,
    month: i64,
    day: i64,
}

impl Date {
    /// The day so many days after 1970-01-01. Counts in years that begin in March, so that a leap day ends one
    /// (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms").
    fn of(days: i64) -> Option<Self> {
        let days = days.checked_add(719_468)?;
        let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        let year = era * 400 + year_of_era + i64::from(month <= 2);
        let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
        (0..=9999).contains(&year).then_some(Self { year, month, day })
    }

    /// Days since 1970-01-01.
    fn days(&self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
        let day_of_year = (153 * ((self.month + 9) % 12) + 2) / 5 + self.day - 1;
        era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
    }

    /// Seconds since the epoch at this time of the day; `None` if the calendar has no such day, or a day no such time. A leap
    /// second is the first of the next minute.
    fn seconds(&self, hour: i64, minute: i64, second: i64) -> Option<i64> {
        let exists =
            (1..=12).contains(&self.month) && Self::of(self.days()).is_some_and(|real| real.month == self.month && real.day == self.day);
        (exists && hour < 24 && minute < 60 && second <= 60).then(|| self.days() * 86_400 + hour * 3600 + minute * 60 + second)
    }
}

/// A number of two or four digits.
fn digits(text: &[u8]) -> Option<i64> {
    let is_number = matches!(text.len(), 2 | 4) && text.iter().all(u8::is_ascii_digit);
    is_number.then(|| text.iter().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
}

/// Seconds east of Greenwich: `Z`, `+02:00`.
fn offset(zone: &[u8]) -> Option<i64> {
    match zone {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (digits(&[*h1, *h2])?, digits(&[*m1, *m2])?);
            let east = if *sign == b'+' { 1 } else { -1 };
            (hours < 24 && minutes < 60).then_some(east * (hours * 3600 + minutes * 60))
        }
        _ => None,
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
        match self.rfc3339() {
            Some(text) => out.write_str(&text),
            None => self.0.fmt(out),
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

/// Whole hours.
#[must_use]
pub const fn in_hours(span: Duration) -> u64 {
    span.as_secs() / 3_600
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
        assert_eq!(Time::parse("2024-07-25T06:20:32-05:30"), second);
        let micros = Time::parse("2024-07-25T11:50:32.08299Z");
        assert_eq!(micros, milli);
        assert_eq!(Time::parse("2024-07-25T11:50:32.5Z").map(|(time, _)| time.millis()), Some(1_721_908_232_500));
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "yesterday",
            "",
            "2024-07-25",
            "2024-07-25T11:50:32",
            "2024-07-25T11:50:32.Z",
            "2024-07-25T11:50:32.082",
            "2024-07-25T11:50:32+0200",
            "2024-07-25T11:50:32Z ",
            "2024-07-25T24:00:00Z",
            "2024-07-25T11:60:00Z",
            "2024-07-25T11:50:61Z",
            "2024-13-01T00:00:00Z",
            "2024-00-01T00:00:00Z",
            "2024-01-00T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "2024-04-31T00:00:00Z",
            "2024-07-25T1x:50:32Z",
            "2024-07-25T11:50:32+25:00",
            "2024-07-25T11:50:3é",
        ] {
            assert_eq!(Time::parse(text), None, "{text}");
        }
    }

    /// Against a crate that knows calendars: each day of four centuries and more, and times with any fraction.
    #[test]
    fn agrees_with_another_reading_of_the_calendar() {
        for day in -200_000..400_000_i64 {
            let time = Time(day * DAY_MILLIS + day.rem_euclid(86_399) * 1000 + day.rem_euclid(1000));
            let theirs = chrono::DateTime::from_timestamp_millis(time.0).expect("a time of the calendar");
            let text = theirs.to_rfc3339_opts(chrono::SecondsFormat::Millis, true);
            assert_eq!(time.to_string(), text);
            assert_eq!(Time::parse(&text), Some((time, Precision::Milliseconds)));
            assert_eq!(time.for_people(), theirs.format("%Y-%m-%d %H:%M UTC").to_string());
            let header = theirs.format("%a, %d %b %Y %H:%M:%S GMT").to_string();
            assert_eq!(Time::parse_http_date(&header), Some(time.whole_seconds()), "{header}");
        }
    }

    #[test]
    fn reads_the_date_header() {
        assert_eq!(Time::parse_http_date("Thu, 25 Jul 2024 11:50:32 GMT"), Some(Time::from_millis(1_721_908_232_000)));
        for text in ["soon", "", "Thu, 25 Jul 2024 11:50:32 CET", "Thu, 25 Jux 2024 11:50:32 GMT", "Thu, 31 Jun 2024 11:50:32 GMT"] {
            assert_eq!(Time::parse_http_date(text), None, "{text}");
        }
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
