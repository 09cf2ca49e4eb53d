//! The status page: one document, for a phone, in the dark, for a screen reader.
//!
//! It loads nothing. Its style and its script are constants, which the policy of the answer names by their digests, so that nothing else
//! can run. Every value from outside goes through `html`.

use std::fmt::Write as _;

use super::history::History;
use super::plot::plot;
use super::status::{EntryView, RecoveringView, Status, Word, name_of};
use crate::alarm::text::outside::html;
use crate::alarm::text::words::{guid_text, name_text};
use crate::policy::time::Time;
use crate::sweep::report::{Stamp, VERDICTS};

/// Letters and areas have a contrast of 4.5 to 1 at least, by day and by night.
pub const STYLE: &str = include_str!("page.css");

/// Shows each time in the reader's zone; without it they stand in UTC.
pub const SCRIPT: &str = include_str!("page.js");

/// Entries shown: nobody reads more on a page, and the JSON has all.
const ENTRIES: usize = 200;

/// Gaps named.
const GAPS: usize = 5;

/// What the verdicts are called, in the order of [`VERDICTS`].
const VERDICT_NAMES: [&str; VERDICTS.len()] = [
    "asked for again",
    "waiting",
    "recovered",
    "superseded by a newer one",
    "gave up",
    "not redeliverable",
    "refused by the endpoint",
    "first delivery not read",
    "ignored",
    "made by our own issue",
    "left behind",
];

/// A whole document. `title` is escaped, `body` is HTML.
#[must_use]
pub fn document(title: &str, body: &str) -> String {
    format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\"><meta name=\"robots\" content=\"noindex\"><link rel=\"icon\" \
         href=\"data:,\"><title>{}</title><style>{STYLE}</style></head><body><main>{body}</main><script>{SCRIPT}</script></body></html>",
        html(title)
    )
}

/// A time as people read it, in UTC until the script shows it in the reader's zone.
#[must_use]
pub fn time(at: Time) -> String {
    format!("<time datetime=\"{at}\">{}</time>", at.for_people())
}

/// A sentence, escaped, with each time in it (`2026-11-30 14:05 UTC`) as one of the reader's.
#[must_use]
pub fn with_times(sentence: &str) -> String {
    let mut out = String::new();
    let mut rest = sentence;
    while let Some((before, after)) = rest.split_once(" UTC") {
        let parts = before.len().checked_sub("2026-11-30 14:05".len()).and_then(|start| before.split_at_checked(start));
        match parts.and_then(|(head, text)| Some((head, Time::parse(&[text, ":00Z"].concat())?.0))) {
            Some((head, at)) => out.extend([html(head), time(at)]),
            None => out.extend([html(before), " UTC".to_owned()]),
        }
        rest = after;
    }
    out + &html(rest)
}

/// `12,345`.
#[must_use]
pub fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The page. `home` is its path: that of one of several Apps is below the page of all.
#[must_use]
pub fn page(status: &Status, history: &History, home: &str) -> String {
    let name = status.app_name.as_deref().map_or_else(|| format!("App {}", status.app), name_text);
    let mut body = String::new();
    let _ = write!(body, "<header><p class=\"app\">{}</p>{}</header>", html(&name), banner(status));
    body.push_str("<nav aria-label=\"Pages\">");
    body.push_str(all_apps(home));
    let _ = write!(body, "<a href=\"{home}\" aria-current=\"page\">Status</a> <a href=\"{home}plan\">What comes next</a>");
    for (url, text) in [(&status.advanced_url, "Advanced page"), (&status.issue_url, "Issue")] {
        if let Some(url) = url {
            let _ = write!(body, " <a href=\"{}\" rel=\"noreferrer\">{text}</a>", html(url));
        }
    }
    body.push_str("</nav>");
    body.push_str(&entries(status, home));
    if let Some(recovering) = &status.recovering {
        body.push_str(&recovery(recovering));
    }
    body.push_str(&sweeps(status, home));
    body.push_str(&plot(history, status.now.0));
    body.push_str(&events(status));
    body.push_str(&reading(status));
    let _ = write!(body, "<footer><p>As of {}. The same as <a href=\"{home}status.json\">JSON</a>.</p></footer>", time(status.now.0));
    document(&format!("{}: {name}", word(status.word)), &body)
}

/// The way back from the page of one of several Apps. Any other page is at the root.
pub(super) fn all_apps(home: &str) -> &'static str {
    if home == "/" { "" } else { "<a href=\"/\">All Apps</a> " }
}

pub(super) fn word(word: Word) -> &'static str {
    match word {
        Word::AllWell => "All is well",
        Word::Starting => "Starting",
        Word::Attention => "Needs attention",
        Word::Outage => "The endpoint is down",
        Word::Failing => "The recovery fails",
    }
}

pub(super) fn class(word: Word) -> &'static str {
    match word {
        Word::AllWell => "well",
        Word::Starting => "starting",
        Word::Attention => "attention",
        Word::Outage | Word::Failing => "bad",
    }
}

fn banner(status: &Status) -> String {
    let mut out = format!("<div class=\"banner {}\"><h1>{}</h1>", class(status.word), word(status.word));
    let well = "Nothing is open, and the sweeps succeed.".to_owned();
    let sentences: Vec<&String> = status.reasons.iter().chain((status.ok && status.reasons.is_empty()).then_some(&well)).collect();
    for sentence in sentences.into_iter().chain(&status.notes) {
        let _ = write!(out, "<p>{}</p>", with_times(sentence));
    }
    out.push_str("</div>");
    out
}

fn entries(status: &Status, home: &str) -> String {
    let mut out = String::from("<section aria-labelledby=\"open\"><h2 id=\"open\">Open entries</h2>");
    if status.entries.is_empty() {
        out.push_str("<p>None.</p></section>");
        return out;
    }
    // Above them, since there may be a hundred, and shut, since they come first.
    out.push_str("<details class=\"advice\"><summary>What to do</summary>");
    status.advice.iter().for_each(|sentence| {
        let _ = write!(out, "<p>{}</p>", with_times(sentence));
    });
    out.push_str("</details>");
    out.push_str("<ul class=\"entries\">");
    status.entries.iter().take(ENTRIES).for_each(|view| out.push_str(&entry(view, status.advanced_url.as_deref(), home)));
    out.push_str("</ul>");
    if let left_out @ 1.. = status.entries.len().saturating_sub(ENTRIES) {
        let _ = write!(out, "<p>… and {left_out} more, in <a href=\"{home}status.json\">the JSON</a>.</p>");
    }
    if status.entries.iter().any(|entry| entry.guid.is_some()) {
        out.push_str("<p class=\"hint\">Take an event out only if you have dealt with it in another way.</p>");
    }
    out.push_str("</section>");
    out
}

/// `advanced` is where GitHub has its attempts.
fn entry(view: &EntryView, advanced: Option<&str>, home: &str) -> String {
    let (what, more) = (html(&view.what), with_times(&view.more));
    let mut out = format!("<li><p><strong>{what}</strong></p><p>{more}</p><p>since {}", time(view.since.0));
    let Some(guid) = &view.guid else { return out + "</p></li>" };
    let shown = html(&guid_text(guid));
    let code = format!("<code>{shown}</code>");
    let linked = |url| format!("<a href=\"{}\" rel=\"noreferrer\">{code}</a>", html(url));
    let _ = write!(out, ", guid {}", advanced.map_or_else(|| code.clone(), linked));
    if let Some(repository) = view.repository_id {
        let _ = write!(out, ", repository {repository}");
    }
    let encoded: String = url::form_urlencoded::byte_serialize(guid.as_bytes()).collect();
    let _ = write!(
        out,
        "</p><form method=\"post\" action=\"{home}forget?guid={encoded}\"><button aria-label=\"Take out {shown}\">Take out</button></form></li>"
    );
    out
}

fn recovery(view: &RecoveringView) -> String {
    let left = match view.gaps {
        None => "The next sweep begins to read it.".to_owned(),
        Some(0) => "All of it is read.".to_owned(),
        Some(1) => "1 stretch of it is still to be read.".to_owned(),
        Some(gaps) => format!("{gaps} stretches of it are still to be read."),
    };
    let waiting =
        if view.waiting == 1 { "1 event of that time waits.".to_owned() } else { format!("{} events of that time wait.", view.waiting) };
    format!(
        "<section aria-labelledby=\"recovery\"><h2 id=\"recovery\">Recovery by hand</h2><p>Back to {}, asked for at {}. {left} {waiting}</p>\
         <p class=\"hint\">What gave up stays so. The window moves on when all of it is worked off.</p></section>",
        time(view.since.0),
        time(view.asked_at.0)
    )
}

fn sweeps(status: &Status, home: &str) -> String {
    let mut list = List::default();
    list.add("Last good sweep", &stamp(status.last_sweep, "none yet"));
    match status.sweeping_since {
        Some(since) => list.add("Now", &format!("sweeping since {}", time(since.0))),
        None => list.add("Next sweep", &time(status.next_sweep.0)),
    }
    list.add("Failures in a row", &status.failures_in_a_row.to_string());
    let failure = status.last_failure.as_ref().map(|failure| format!("{}, {}", name_of(failure.class), time(failure.at.0)));
    list.add("Last failure", failure.as_deref().unwrap_or("none"));
    if let (Some(used), Some(limit)) = (status.calls.used, status.calls.limit) {
        list.add("Calls of the last sweep", &format!("{used} of {limit}"));
    }
    format!(
        "<section aria-labelledby=\"sweeps\"><h2 id=\"sweeps\">Sweeps</h2>{}<form method=\"post\" action=\"{home}sweep\"><button>Sweep now</button>\
         </form></section>",
        list.end()
    )
}

fn events(status: &Status) -> String {
    let mut out = String::from(
        "<section aria-labelledby=\"events\"><h2 id=\"events\">Events by verdict</h2><table><thead><tr><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Last sweep</th><th scope=\"col\">Two days</th></tr></thead><tbody>",
    );
    for (place, name) in VERDICT_NAMES.iter().enumerate() {
        // Each sweep counts what waits: a sum of that would mean nothing.
        let two_days = if VERDICTS[place] == "waiting" { "–".to_owned() } else { number(status.events.two_days[place]) };
        let _ =
            write!(out, "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{two_days}</td></tr>", number(status.events.last_sweep[place]));
    }
    out.push_str("</tbody></table></section>");
    out
}

fn reading(status: &Status) -> String {
    let mut list = List::default();
    let stands_still = if status.window.stands_still { ", stands still" } else { "" };
    list.add("Window since", &format!("{}{stands_still}", stamp(status.window.start, "the first sweep")));
    list.add("Watched since", &stamp(status.watched_since, "the first sweep"));
    list.add("Events that wait", &number(status.waiting as u64));
    if let Some(outage) = &status.outage {
        list.add("No answer since", &time(outage.since.0));
    }
    let gaps = match status.gaps.len() {
        0 => "none".to_owned(),
        count => {
            let named: Vec<String> =
                status.gaps.iter().take(GAPS).map(|gap| format!("{} to {}", time(gap.from.0), time(gap.to.0))).collect();
            format!("{count}: {}{}", named.join("; "), if count > GAPS { " and more" } else { "" })
        }
    };
    list.add("Not read yet", &gaps);
    format!("<section aria-labelledby=\"reading\"><h2 id=\"reading\">GitHub's list</h2>{}</section>", list.end())
}

fn stamp(at: Option<Stamp>, none: &str) -> String {
    at.map_or_else(|| none.to_owned(), |Stamp(at)| time(at))
}

/// Names with what they stand for. What is added is HTML.
#[derive(Default)]
struct List(String);

impl List {
    fn add(&mut self, name: &str, value: &str) {
        let _ = write!(self.0, "<div><dt>{name}</dt><dd>{value}</dd></div>");
    }

    fn end(self) -> String {
        format!("<dl>{}</dl>", self.0)
    }
}
