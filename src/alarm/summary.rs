//! The daily summary: when it is due, and what it is made of. The sweep sends it, [`super::text::summary`] says it.

use std::time::Duration;

use crate::policy::time::{Time, hours, minutes};

/// What a summary is of.
pub const SPAN: Duration = hours(24);

/// A summary that could not be sent by midnight is sent so long after its time at most. Without it a time after the last sweep of a
/// day, such as 23:50, would never come.
const LATE: Duration = hours(6);

/// A time of day, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeOfDay {
    /// After midnight.
    since_midnight: Duration,
}

impl TimeOfDay {
    /// Reads `07:00`; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let [h1, h2, b':', m1, m2] = text.as_bytes() else { return None };
        let number =
            |digits: [u8; 2]| digits.iter().try_fold(0, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + u64::from(byte - b'0')));
        let (hour, minute) = (number([*h1, *h2])?, number([*m1, *m2])?);
        (hour < 24 && minute < 60).then(|| Self { since_midnight: minutes(hour * 60 + minute) })
    }

    /// When it last was, `now` included.
    fn last(self, now: Time) -> Time {
        let today = now.midnight() + self.since_midnight;
        if today <= now { today } else { today - SPAN }
    }
}

/// For which time a summary is due in a sweep at `now`, if one is: the day of the `last` one has had its own, whatever time was set then.
#[must_use]
pub fn due(at: TimeOfDay, last: Option<Time>, now: Time) -> Option<Time> {
    let due = at.last(now);
    let is_over = due.day() != now.day() && now.since(due) >= LATE;
    let is_done = last.is_some_and(|last| last.day() >= due.day());
    (!is_over && !is_done).then_some(due)
}

/// What 24 hours came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Day {
    /// Since when the sweeps are known, if that is not the whole day.
    pub since: Option<Time>,
    /// The longest time without a sweep, from one to the next, if it was long.
    pub pause: Option<(Time, Time)>,
    /// Sweeps.
    pub sweeps: u64,
    /// Of them, those that failed.
    pub failed_sweeps: u64,
    /// Deliveries on all pages.
    pub deliveries: u64,
    /// Of them, those on new ground that failed or went unanswered.
    pub failed: u64,
    /// Asks.
    pub asked: u64,
    /// Events that failed at first, and passed since.
    pub recovered: u64,
    /// Events that gave up.
    pub gave_up: u64,
    /// Events that GitHub will not redeliver.
    pub not_redeliverable: u64,
    /// Events left behind.
    pub left_behind: u64,
    /// Events that wait, or were just asked for, after the last sweep.
    pub under_way: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(clock: &str) -> TimeOfDay {
        TimeOfDay::parse(clock).expect("a time of day")
    }

    /// Of the first, second, … day of the month.
    fn at(day: u64, clock: &str) -> Time {
        Time::from_millis(1_793_491_200_000) + hours(24 * (day - 1)) + of(clock).since_midnight
    }

    /// The sweeps that have a summary, of one each quarter of an hour.
    fn sent(of: TimeOfDay, from: Time, to: Time) -> Vec<Time> {
        let mut last = None;
        let mut sent = Vec::new();
        let mut now = from;
        while now <= to {
            if let Some(due) = due(of, last, now) {
                last = Some(due);
                sent.push(now);
            }
            now = now + minutes(15);
        }
        sent
    }

    #[test]
    fn hours_and_minutes_of_a_day_are_read_and_nothing_else() {
        assert_eq!(of("07:05").since_midnight, minutes(425));
        assert_eq!((of("00:00").since_midnight, of("23:59").since_midnight), (minutes(0), minutes(1439)));
        for text in ["", "7:00", "24:00", "07:60", "07.00", "07:00:00", "0700", "+7:00", "7am", "true", "07:00Z", "à7:00"] {
            assert_eq!(TimeOfDay::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_first_sweep_at_or_after_its_time_has_it_and_no_other_of_that_day() {
        assert_eq!(sent(of("07:00"), at(1, "00:00"), at(3, "23:45")), [at(1, "07:00"), at(2, "07:00"), at(3, "07:00")]);
        assert_eq!(sent(of("07:01"), at(1, "00:00"), at(2, "23:45")), [at(1, "07:15"), at(2, "07:15")]);
        assert_eq!(sent(of("00:00"), at(1, "00:00"), at(2, "23:45")), [at(1, "00:00"), at(2, "00:00")]);
        assert_eq!(sent(of("07:00"), at(1, "09:20"), at(2, "12:00")), [at(1, "09:20"), at(2, "07:05")], "set later than its time");
    }

    #[test]
    fn a_time_after_the_last_sweep_of_a_day_comes_with_the_first_of_the_next() {
        assert_eq!(sent(of("23:50"), at(1, "00:00"), at(3, "12:00")), [at(1, "00:00"), at(2, "00:00"), at(3, "00:00")]);
        assert_eq!(due(of("23:50"), None, at(2, "05:49")), Some(at(1, "23:50")));
        assert_eq!(due(of("23:50"), None, at(2, "05:50")), None, "that day is over");
        assert_eq!(due(of("07:00"), None, at(2, "00:00")), None, "that of yesterday is not made up for at night");
    }

    #[test]
    fn a_day_that_had_its_summary_has_no_other_at_another_time() {
        let last = Some(at(1, "07:00"));
        assert_eq!(due(of("12:00"), last, at(1, "12:00")), None);
        assert_eq!(due(of("06:00"), last, at(2, "05:45")), None);
        assert_eq!(due(of("06:00"), last, at(2, "06:00")), Some(at(2, "06:00")));
        assert_eq!(due(of("07:00"), Some(at(9, "07:00")), at(2, "07:00")), None, "a wrong clock's, until it is taken for the present");
    }
}
