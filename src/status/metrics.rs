//! The status in Prometheus' text form. docs/status.md lists the names.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::history::History;
use super::status::Status;
use crate::policy::time::Time;
use crate::sweep::report::VERDICTS;

/// Writes the metrics; those of one of several Apps have its id as a label.
#[must_use]
pub fn metrics(status: &Status, history: &History, is_one_of_several: bool) -> String {
    let app = if is_one_of_several { format!("app=\"{}\"", status.app) } else { String::new() };
    let mut out = Metrics { text: String::new(), app };
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
        out.value("alarm_entries", &format!("kind=\"{kind}\""), count);
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
        out.value("events_total", &format!("verdict=\"{verdict}\""), count);
    }
    out.text
}

/// One answer of those of several Apps: each metric once, with the values of all below it. An App that did not answer is not healthy.
#[must_use]
pub fn of_several(answers: &[(&str, Option<String>)]) -> String {
    const HEALTHY: &str = "redeliver_healthy";
    let silent: Vec<String> = answers
        .iter()
        .filter(|(_, answer)| answer.is_none())
        .map(|(app, _)| format!("# HELP {HEALTHY} \n# TYPE {HEALTHY} gauge\n{HEALTHY}{{app=\"{app}\"}} 0\n"))
        .collect();
    let answers = answers.iter().filter_map(|(_, answer)| answer.as_deref()).chain(silent.iter().map(String::as_str));
    let mut metrics: Vec<(&str, String, String)> = Vec::new();
    for part in answers.flat_map(|answer| answer.split("# HELP ")).filter(|part| !part.is_empty()) {
        let mut lines = part.split_inclusive('\n');
        let (help, kind) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
        let name = help.split(' ').next().unwrap_or_default();
        let values: String = lines.collect();
        match metrics.iter_mut().find(|(known, ..)| *known == name) {
            Some((_, _, known)) => known.push_str(&values),
            None => metrics.push((name, format!("# HELP {help}{kind}"), values)),
        }
    }
    metrics.into_iter().map(|(_, head, values)| head + &values).collect()
}

/// Each metric with its help and its type.
struct Metrics {
    text: String,
    /// The label of the App, if there is one.
    app: String,
}

impl Metrics {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = write!(self.text, "# HELP redeliver_{name} {help}\n# TYPE redeliver_{name} {kind}\n");
    }

    fn value(&mut self, name: &str, label: &str, value: u64) {
        let labels: Vec<&str> = [self.app.as_str(), label].into_iter().filter(|label| !label.is_empty()).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.text, "redeliver_{name}{labels} {value}");
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
