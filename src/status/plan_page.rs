//! What the next sweep would do, event by event with the reason: as a page and as JSON.

use std::fmt::Write as _;

use serde::Serialize;

use super::page::{all_apps, document, number, time};
use crate::alarm::text::outside::html;
use crate::alarm::text::words::{event_name, guid_text};
use crate::policy::event::Attempt;
use crate::policy::order::{self, oldest_first};
use crate::policy::plan::{Judged, Verdict};
use crate::sweep::Planned;
use crate::sweep::report::{Report, Stamp};

/// Events shown on the page: the JSON has all.
const EVENTS: usize = 500;

/// What the next sweep would do.
#[derive(Clone, Debug, Serialize)]
pub struct PlanView {
    /// Of this form. A field may be added to it; none is taken away or changes its meaning.
    pub version: u32,
    /// The App's id.
    pub app: String,
    /// When the lists were read.
    pub now: Stamp,
    /// Whether a page of the deliveries list fitted the budget of calls. Without it a sweep asks for nothing.
    pub could_read: bool,
    /// Calls that reading took.
    pub calls: u32,
    /// Deliveries on all pages.
    pub deliveries: usize,
    /// Whether the failures list was read as far back as it had to be.
    pub failures_list_complete: bool,
    /// Whether the deliveries list was.
    pub deliveries_list_complete: bool,
    /// What whoever reads this should know, in sentences.
    pub warnings: Vec<String>,
    /// Every event that a sweep would look at: what is asked for first, then what waits.
    pub events: Vec<PlanEvent>,
}

/// One event.
#[derive(Clone, Debug, Serialize)]
pub struct PlanEvent {
    /// Its identity.
    pub guid: String,
    /// Its name and action.
    pub event: String,
    /// Its repository.
    pub repository_id: Option<u64>,
    /// Its first delivery, if it was read.
    pub first: Option<Stamp>,
    /// The codes of its attempts, in the order of the list.
    pub attempts: Vec<i32>,
    /// Whether it would be asked for again.
    pub redeliver: bool,
    /// What becomes of it, and why.
    pub verdict: String,
}

impl PlanView {
    /// What was planned, for people and programs.
    #[must_use]
    pub fn of(planned: &Planned) -> Self {
        let Report { app, scheduled, calls, deliveries, failures_list, deliveries_list, warnings, .. } = &planned.report;
        let mut judged: Vec<&Judged> = planned.plan.iter().flat_map(|plan| &plan.judged).collect();
        order::sort(&mut judged, |judged| oldest_first(rank(&judged.verdict).into(), judged.event.standing()));
        Self {
            version: 1,
            app: app.clone(),
            now: *scheduled,
            could_read: planned.plan.is_some(),
            calls: *calls,
            deliveries: *deliveries,
            failures_list_complete: failures_list.complete,
            deliveries_list_complete: deliveries_list.complete,
            warnings: warnings.clone(),
            events: judged.into_iter().map(plan_event).collect(),
        }
    }
}

fn rank(verdict: &Verdict) -> u8 {
    match verdict {
        Verdict::Redeliver => 0,
        Verdict::Waiting(_) => 1,
        Verdict::GaveUp | Verdict::NotRedeliverable | Verdict::LeftBehind => 2,
        _ => 3,
    }
}

fn plan_event(judged: &Judged) -> PlanEvent {
    let Judged { event, verdict } = judged;
    let code = |attempt: &Attempt| attempt.status_code;
    PlanEvent {
        guid: event.guid.to_string(),
        event: event_name(&event.event, event.action.as_deref()),
        repository_id: event.repository_id,
        first: event.first().map(|first| Stamp(first.at)),
        attempts: event.attempts.iter().map(code).collect(),
        redeliver: *verdict == Verdict::Redeliver,
        verdict: verdict.to_string(),
    }
}

/// The page. `home` is the path of the status page.
#[must_use]
pub fn plan_page(view: &PlanView, home: &str) -> String {
    let asked = view.events.iter().filter(|event| event.redeliver).count();
    let mut body = format!(
        "<header>{}<h1>What the next sweep would do</h1></header><nav aria-label=\"Pages\">{}<a href=\"{home}\">Status</a> \
         <a href=\"{home}plan\" aria-current=\"page\">What comes next</a></nav><section aria-labelledby=\"plan\"><h2 id=\"plan\">Plan</h2>",
        if home == "/" { String::new() } else { format!("<p class=\"app\">App {}</p>", html(&view.app)) },
        all_apps(home),
    );
    let events = view.events.len();
    let said = match (view.could_read, events, asked) {
        (false, ..) => "No page of the deliveries list fits the budget of calls: it would ask for nothing.".to_owned(),
        (_, 0, _) => "Nothing that failed is open: it would ask for nothing.".to_owned(),
        (_, 1, 1) => "It would ask for the one event that is open.".to_owned(),
        _ => format!("It would ask for {} of {} events.", number(asked as u64), number(events as u64)),
    };
    let _ = write!(body, "<p>{said}</p>");
    let _ = write!(
        body,
        "<p class=\"hint\">Read at {} with {} calls, {} deliveries. Nothing was asked for, saved or told.</p>",
        time(view.now.0),
        view.calls,
        number(view.deliveries as u64)
    );
    for warning in &view.warnings {
        let _ = write!(body, "<p>{}</p>", html(warning));
    }
    if events > 0 {
        body.push_str(&table(view, home));
    }
    let _ = write!(body, "</section><footer><p>The same as <a href=\"{home}plan.json\">JSON</a>.</p></footer>");
    document("What the next sweep would do", &body)
}

fn table(view: &PlanView, home: &str) -> String {
    let mut out = String::from(
        "<div class=\"scroll\" role=\"region\" aria-label=\"Events\" tabindex=\"0\"><table class=\"plan\"><thead><tr>\
         <th scope=\"col\">Event</th><th scope=\"col\">What becomes of it</th><th scope=\"col\">First delivery</th>\
         <th scope=\"col\">Attempts</th><th scope=\"col\">Guid</th></tr></thead><tbody>",
    );
    for event in view.events.iter().take(EVENTS) {
        let codes: Vec<String> = event.attempts.iter().map(ToString::to_string).collect();
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{}</td><td><code>{}</code></td></tr>",
            html(&event.event),
            html(&event.verdict),
            event.first.map_or_else(|| "not read".to_owned(), |first| time(first.0)),
            codes.join(", "),
            html(&guid_text(&event.guid))
        );
    }
    out.push_str("</tbody></table></div>");
    if let left_out @ 1.. = view.events.len().saturating_sub(EVENTS) {
        let _ = write!(out, "<p>… and {left_out} more, in <a href=\"{home}plan.json\">the JSON</a>.</p>");
    }
    out
}
