//! The status in Prometheus' text form. docs/status.md lists the names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::history::History;
use super::status::Status;
use crate::policy::time::Time;
use crate::sweep::report::VERDICTS;

/// Writes the metrics.
#[must_use]
pub fn metrics(status: &Status, history: &History) -> String {
    let mut out = Metrics::default();
    let totals = &history.totals;
    out.gauge("healthy", "Whether a sweep succeeded within the last hour.", u64::from(status.is_healthy()));
    out.gauge("ok", "Whether all is well.", u64::from(status.ok));
    out.seconds("last_sweep_timestamp_seconds", "The last sweep that did not fail.", status.last_sweep.map(|at| at.0));
    out.gauge("failures_in_a_row", "Sweeps in a row that failed.", status.failures_in_a_row.into());
    out.gauge("waiting_events", "Events that wait to be delivered.", status.waiting as u64);
    out.gauge("outage", "Whether the endpoint does not answer.", u64::from(status.outage.is_some()));
    out.seconds("outage_start_timestamp_seconds", "Since when it does not.", status.outage.as_ref().map(|outage| outage.since.0));
    out.seconds("window_start_timestamp_seconds", "The start of the window.", status.window.start.map(|at| at.0));
    out.gauge("gaps", "Stretches of the list that no sweep has read yet.", status.gaps.len() as u64);
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    status.entries.iter().for_each(|entry| *kinds.entry(&entry.kind).or_default() += 1);
    out.head("alarm_entries", "gauge", "Open entries of the alarm.");
    for (kind, count) in kinds {
        out.value("alarm_entries", &format!("{{kind=\"{kind}\"}}"), count);
    }
    if let Some(limit) = status.calls.limit {
        out.gauge("call_limit", "Calls that a sweep may make.", limit.into());
    }
    if let Some(used) = status.calls.used {
        out.gauge("last_sweep_calls", "Calls of the last sweep.", used);
    }
    out.counter("sweeps_total", "Sweeps.", totals.sweeps);
    out.counter("failed_sweeps_total", "Sweeps that failed.", totals.failed_sweeps);
    out.counter("deliveries_read_total", "Deliveries on all pages that were read.", totals.deliveries);
    out.counter("failed_deliveries_total", "Deliveries that failed or went unanswered.", totals.failed);
    out.counter("calls_total", "Calls made.", totals.calls);
    out.head("events_total", "counter", "Events by verdict.");
    for (verdict, count) in VERDICTS.iter().zip(totals.events).filter(|(verdict, _)| **verdict != "waiting") {
        out.value("events_total", &format!("{{verdict=\"{verdict}\"}}"), count);
    }
    out.0
}

/// Each metric with its help and its type.
#[derive(Default)]
struct Metrics(String);

impl Metrics {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.0, "# HELP redeliver_{name} {help}\n# TYPE redeliver_{name} {kind}\n");
    }

    fn value(&mut self, name: &str, labels: &str, value: u64) {
        let _ = writeln!(self.0, "redeliver_{name}{labels} {value}");
    }

    fn gauge(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "gauge", help);
        self.value(name, "", value);
    }

    fn counter(&mut self, name: &str, help: &str, value: u64) {
        self.head(name, "counter", help);
        self.value(name, "", value);
    }

    /// A time, if there is one.
    fn seconds(&mut self, name: &str, help: &str, at: Option<Time>) {
        if let Some(at) = at {
            self.gauge(name, help, u64::try_from(at.seconds()).unwrap_or_default());
        }
    }
}
