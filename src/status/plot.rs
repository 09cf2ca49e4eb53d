//! The last two days, hour by hour, as bars.
//!
//! One small picture for each measure, each with its own scale. They stretch to the width of the page, so all text stands beside them.
//! A table says the same to whoever cannot see them.

use std::fmt::Write as _;

use super::history::{History, Row};
use super::page::{number, time};
use crate::policy::time::Time;

/// Hours shown, the one that is under way included.
const HOURS: i64 = 48;

/// One hour of sweeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hour {
    /// When it began.
    pub start: Time,
    /// Sweeps in it.
    pub sweeps: u64,
    /// Of them, those that failed.
    pub failed_sweeps: u64,
    /// Whether the endpoint was in an outage during any of them.
    pub outage: bool,
    /// Deliveries read, failures among them, asks, and events that were recovered.
    pub measures: [u64; 4],
}

/// What the bars show, in the order of [`Hour::measures`].
const MEASURES: [&str; 4] = ["Deliveries read", "Failures", "Asked for again", "Recovered"];

/// The hours up to `now`, the oldest first.
#[must_use]
pub fn by_hour(history: &History, now: Time) -> Vec<Hour> {
    const HOUR: i64 = 3_600_000;
    let end = now.millis().div_euclid(HOUR) + 1;
    let first = end - HOURS;
    let mut all: Vec<Hour> = (first..end).map(|hour| Hour { start: Time::from_millis(hour * HOUR), ..Hour::default() }).collect();
    for row in &history.rows {
        let place = usize::try_from(row.at.millis().div_euclid(HOUR) - first).ok();
        if let Some(hour) = place.and_then(|place| all.get_mut(place)) {
            hour.add(row);
        }
    }
    all
}

impl Hour {
    fn add(&mut self, row: &Row) {
        self.sweeps += 1;
        self.failed_sweeps += u64::from(row.failure.is_some());
        self.outage |= row.outage;
        let more = [row.deliveries, row.failed, row.asked(), row.recovered()];
        self.measures.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
    }

    fn is_empty(&self) -> bool {
        self.sweeps == 0
    }
}

/// The section of the page.
#[must_use]
pub fn plot(history: &History, now: Time) -> String {
    let all = by_hour(history, now);
    let mut out = String::from("<section aria-labelledby=\"plot\"><h2 id=\"plot\">The last two days</h2>");
    if all.iter().all(Hour::is_empty) {
        out.push_str("<p>No sweep yet.</p></section>");
        return out;
    }
    for (place, name) in MEASURES.iter().enumerate() {
        out.push_str(&bars(&all, place, name));
    }
    let middle = all[all.len() / 2].start;
    let _ = write!(out, "<p class=\"axis\">{}{}{}</p>", time(all[0].start), time(middle), time(now));
    if all.iter().any(|hour| hour.outage) {
        out.push_str("<p class=\"key\"><span class=\"swatch down\"></span> the endpoint did not answer</p>");
    }
    if all.iter().any(|hour| hour.failed_sweeps > 0) {
        out.push_str("<p class=\"key\"><span class=\"swatch broken\"></span> a sweep failed</p>");
    }
    out.push_str(&table(&all));
    out.push_str("</section>");
    out
}

fn bars(all: &[Hour], place: usize, name: &str) -> String {
    let most = all.iter().map(|hour| hour.measures[place]).max().unwrap_or_default();
    let sum: u64 = all.iter().map(|hour| hour.measures[place]).sum();
    let mut out = format!(
        "<figure><figcaption><strong>{name}</strong> <span>{} in all, {} in the busiest hour</span></figcaption>\
         <svg viewBox=\"0 0 {HOURS} 100\" preserveAspectRatio=\"none\" role=\"img\" aria-labelledby=\"t{place} d{place}\">\
         <title id=\"t{place}\">{name} by the hour</title>\
         <desc id=\"d{place}\">{} in the last two days, {} in the busiest hour. The table below has every hour.</desc>",
        number(sum),
        number(most),
        number(sum),
        number(most),
    );
    for (x, hour) in all.iter().enumerate() {
        let shade = if hour.outage { "down" } else { "broken" };
        if hour.outage || hour.failed_sweeps > 0 {
            let _ = write!(out, "<rect class=\"{shade}\" x=\"{x}\" y=\"0\" width=\"1\" height=\"100\"/>");
        }
        let value = hour.measures[place];
        if value > 0 {
            // At least a line, so that one failure among thousands is seen.
            let height = (value * 100 / most).max(3);
            let _ = write!(
                out,
                "<rect class=\"bar m{place}\" x=\"{x}.1\" y=\"{}\" width=\"0.8\" height=\"{height}\" data-value=\"{value}\"><title>{}: {}</title></rect>",
                100 - height,
                hour.start.for_people(),
                number(value),
            );
        }
    }
    out.push_str("</svg></figure>");
    out
}

fn table(all: &[Hour]) -> String {
    let mut out = String::from(
        "<details><summary>As a table</summary><div class=\"scroll\" role=\"region\" aria-label=\"The last two days by the hour\" \
         tabindex=\"0\"><table><thead><tr><th scope=\"col\">Hour</th><th scope=\"col\">Sweeps</th><th scope=\"col\">Failed sweeps</th>",
    );
    for name in MEASURES {
        let _ = write!(out, "<th scope=\"col\">{name}</th>");
    }
    out.push_str("<th scope=\"col\">Endpoint</th></tr></thead><tbody>");
    for hour in all.iter().rev().filter(|hour| !hour.is_empty()) {
        let _ = write!(out, "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td>", time(hour.start), hour.sweeps, hour.failed_sweeps);
        for value in hour.measures {
            let _ = write!(out, "<td>{}</td>", number(value));
        }
        let _ = write!(out, "<td>{}</td></tr>", if hour.outage { "did not answer" } else { "answered" });
    }
    out.push_str("</tbody></table></div></details>");
    out
}
