//! What the last two days of sweeps came to: a ring of rows, one for each sweep, for the status page and the metrics.
//!
//! Nothing is decided by it, so a ring that is lost or cannot be read starts anew. It has its own key in the storage, and is
//! written with the last write of a sweep. The stored form is pinned by a test.

use std::collections::VecDeque;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::alarm::summary::{Day, SPAN};
use crate::failure::FailureClass;
use crate::json;
use crate::policy::time::{Time, hours, minutes};
use crate::sweep::report::{Report, VERDICTS};

/// Rows are kept for so long.
const KEPT: Duration = hours(48);

/// Rows at most: two days of a sweep each quarter of an hour are 192, and somebody may sweep by hand.
const ROWS: usize = 240;

/// A longer time without a sweep is told. A failure waits for an hour at most, and then for the next tick.
const PAUSE: Duration = minutes(75);

/// Events by verdict, in the order of [`VERDICTS`].
pub type Counts = [u64; VERDICTS.len()];

/// One sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RowWire", into = "RowWire")]
pub struct Row {
    /// `now` of the sweep.
    pub at: Time,
    /// Why it failed, if it did.
    pub failure: Option<FailureClass>,
    /// Whether the endpoint was in an outage.
    pub outage: bool,
    /// Deliveries on all pages.
    pub deliveries: u64,
    /// Of them, those on new ground that failed or went unanswered.
    pub failed: u64,
    /// Calls made.
    pub calls: u64,
    /// Events by verdict.
    pub events: Counts,
}

/// `[at, failure, outage, deliveries, failed, calls, [events]]`: 240 of these are stored.
#[derive(Serialize, Deserialize)]
struct RowWire(Time, Option<FailureClass>, u8, u64, u64, u64, Vec<u64>);

impl From<Row> for RowWire {
    fn from(row: Row) -> Self {
        Self(row.at, row.failure, u8::from(row.outage), row.deliveries, row.failed, row.calls, row.events.to_vec())
    }
}

impl From<RowWire> for Row {
    fn from(RowWire(at, failure, outage, deliveries, failed, calls, counted): RowWire) -> Self {
        let mut events = Counts::default();
        // A later version may count more verdicts than this one, or fewer.
        for (place, count) in events.iter_mut().zip(counted) {
            *place = count;
        }
        Self { at, failure, outage: outage != 0, deliveries, failed, calls, events }
    }
}

impl Row {
    /// Events that were asked for again.
    #[must_use]
    pub fn asked(&self) -> u64 {
        self.count("redelivered")
    }

    /// Events that failed at first, and passed since.
    #[must_use]
    pub fn recovered(&self) -> u64 {
        self.count("recovered")
    }

    fn count(&self, verdict: &str) -> u64 {
        VERDICTS.iter().position(|name| *name == verdict).map_or(0, |place| self.events[place])
    }

    /// The row of a sweep that is about to end. The report does not know yet how many calls it took.
    #[must_use]
    pub fn of(report: &Report, failure: Option<FailureClass>, outage: bool, calls: u32) -> Self {
        Self {
            at: report.scheduled.0,
            failure,
            outage,
            deliveries: report.deliveries as u64,
            failed: report.failed as u64,
            calls: calls.into(),
            events: report.events.counts().map(|count| count as u64),
        }
    }
}

/// The ring, and what all sweeps so far add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct History {
    /// The oldest first.
    pub rows: VecDeque<Row>,
    /// Over all sweeps since this history began.
    pub totals: Totals,
}

/// Sums that only grow, as a counter of Prometheus wants them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Sweeps.
    pub sweeps: u64,
    /// Of them, those that failed.
    pub failed_sweeps: u64,
    /// Deliveries on all pages.
    pub deliveries: u64,
    /// Of them, those on new ground that failed or went unanswered.
    pub failed: u64,
    /// Calls made.
    pub calls: u64,
    /// Events by verdict.
    pub events: Counts,
}

impl History {
    /// Reads a stored value; one that cannot be read starts anew.
    #[must_use]
    pub fn read(text: Option<&str>) -> Self {
        text.and_then(|text| json::read(text.as_bytes()).ok()).unwrap_or_default()
    }

    /// The value to store.
    ///
    /// # Errors
    /// Never: it is numbers alone.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Adds a sweep, and drops what is too old. A row of the future was a wrong clock's.
    pub fn push(&mut self, row: Row) {
        self.rows.retain(|kept| kept.at < row.at && row.at.since(kept.at) < KEPT);
        self.rows.push_back(row);
        let excess = self.rows.len().saturating_sub(ROWS);
        self.rows.drain(..excess);
        let totals = &mut self.totals;
        totals.sweeps += 1;
        totals.failed_sweeps += u64::from(row.failure.is_some());
        for (sum, more) in [(&mut totals.deliveries, row.deliveries), (&mut totals.failed, row.failed), (&mut totals.calls, row.calls)]
            .into_iter()
            .chain(totals.events.iter_mut().zip(row.events))
        {
            *sum = sum.saturating_add(more);
        }
    }

    /// The last sweep.
    #[must_use]
    pub fn last(&self) -> Option<&Row> {
        self.rows.back()
    }

    /// The last sweep that did not fail.
    #[must_use]
    pub fn last_good(&self) -> Option<Time> {
        self.rows.iter().rev().find(|row| row.failure.is_none()).map(|row| row.at)
    }

    /// What the 24 hours up to `now` came to.
    #[must_use]
    pub fn last_day(&self, now: Time) -> Day {
        let start = now - SPAN;
        let count = self.rows.partition_point(|row| row.at <= start);
        let mut day = Day::default();
        let mut before = self.rows.range(..count).next_back().map(|row| row.at.max(start));
        if before.is_none() {
            day.since = self.rows.front().map(|row| row.at);
        }
        let mut longest = PAUSE;
        for row in self.rows.range(count..).filter(|row| row.at <= now) {
            if let Some(before) = before.filter(|before| row.at.since(*before) > longest) {
                longest = row.at.since(before);
                day.pause = Some((before, row.at));
            }
            before = Some(row.at);
            day.sweeps += 1;
            day.failed_sweeps += u64::from(row.failure.is_some());
            day.under_way = row.count("waiting") + row.asked();
            for (sum, more) in [
                (&mut day.deliveries, row.deliveries),
                (&mut day.failed, row.failed),
                (&mut day.asked, row.asked()),
                (&mut day.recovered, row.recovered()),
                (&mut day.gave_up, row.count("gave_up")),
                (&mut day.not_redeliverable, row.count("not_redeliverable")),
                (&mut day.left_behind, row.count("left_behind")),
            ] {
                *sum = sum.saturating_add(more);
            }
        }
        day
    }

    /// Events by verdict, over all rows.
    #[must_use]
    pub fn events(&self) -> Counts {
        let mut sums = Counts::default();
        for row in &self.rows {
            sums.iter_mut().zip(row.events).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        }
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_stored_history_add_up_without_end() {
        let row = format!("[0,null,0,0,0,0,[{}]]", u64::MAX);
        let history = History::read(Some(&format!(
            r#"{{"rows":[{row},{row}],"totals":{{"sweeps":2,"failed_sweeps":0,"deliveries":0,"failed":0,"calls":0,"events":[0,0,0,0,0,0,0,0,0,0,0]}}}}"#
        )));
        assert_eq!((history.rows.len(), history.events()[0]), (2, u64::MAX));
    }

    fn row(quarter: u64) -> Row {
        let at = Time::from_millis(1_796_047_500_000) + minutes(15 * quarter);
        Row { at, deliveries: 3000, failed: 12, calls: 44, events: [1; VERDICTS.len()], ..Row::default() }
    }

    #[test]
    fn two_days_are_kept_and_the_totals_for_good() {
        let mut history = History::default();
        (0..1000).for_each(|quarter| history.push(row(quarter)));
        assert_eq!((history.rows.len(), history.rows[0].at, history.last().copied()), (192, row(808).at, Some(row(999))));
        assert_eq!((history.totals.sweeps, history.totals.deliveries, history.events()[0]), (1000, 3_000_000, 192));
    }

    #[test]
    fn it_stays_small_however_often_somebody_sweeps_by_hand() {
        let mut history = History::default();
        for second in 0..1000 {
            history.push(Row { at: row(0).at + Duration::from_secs(second), failure: Some(FailureClass::ServerError), ..row(0) });
        }
        assert_eq!(history.rows.len(), ROWS);
        assert!(history.write().expect("it is numbers").len() < 30_000);
        assert_eq!(history.last_good(), None);
    }

    #[test]
    fn a_day_is_its_last_24_hours() {
        let mut history = History::default();
        (0..150).for_each(|quarter| history.push(row(quarter)));
        let day = history.last_day(row(149).at);
        assert_eq!((day.since, day.pause, day.sweeps, day.failed_sweeps), (None, None, 96, 0));
        assert_eq!((day.deliveries, day.failed, day.asked, day.recovered), (96 * 3000, 96 * 12, 96, 96));
        assert_eq!((day.gave_up, day.not_redeliverable, day.left_behind, day.under_way), (96, 96, 96, 2), "what is open is so now");
    }

    #[test]
    fn a_day_says_since_when_it_is_known_and_where_no_sweep_was() {
        let mut history = History::default();
        (0..95).for_each(|quarter| history.push(row(quarter)));
        assert_eq!((history.last_day(row(95).at).since, history.last_day(row(96).at).since), (Some(row(0).at), None));
        let pause = |quarters: &[u64], now: u64| {
            let mut history = History::default();
            for quarter in quarters {
                history.push(row(*quarter));
            }
            history.last_day(row(now).at).pause
        };
        let between = |from, to| Some((row(from).at, row(to).at));
        assert_eq!(pause(&[0, 4, 9], 9), None, "a failure may wait for an hour, and a tick may come late");
        assert_eq!(pause(&[0, 6, 10], 10), between(0, 6));
        assert_eq!(pause(&[0, 6, 20, 27], 27), between(6, 20), "the longest");
        assert_eq!(pause(&[0, 10, 14, 106], 106), between(14, 106));
        assert_eq!(pause(&[0, 10, 106], 106), between(10, 106), "a sweep at its very beginning is of the day before");
        assert_eq!(pause(&[0, 100], 100), between(4, 100), "of the day before it is said nothing");
    }

    #[test]
    fn a_row_of_the_future_goes_with_the_next_sweep() {
        let mut history = History::default();
        history.push(row(500));
        history.push(row(1));
        assert_eq!(history.rows, [row(1)]);
    }

    #[test]
    fn the_stored_form_is_pinned() {
        let mut history = History::default();
        history.push(Row { failure: Some(FailureClass::Transport), outage: true, ..row(0) });
        let text = history.write().expect("it is numbers");
        assert_eq!(
            text,
            r#"{"rows":[[1796047500000,"transport",1,3000,12,44,[1,1,1,1,1,1,1,1,1,1,1]]],"totals":{"sweeps":1,"failed_sweeps":1,"deliveries":3000,"failed":12,"calls":44,"events":[1,1,1,1,1,1,1,1,1,1,1]}}"#
        );
        assert_eq!(History::read(Some(&text)), history);
        assert_eq!(History::read(Some("{}")), History::default());
    }
}
