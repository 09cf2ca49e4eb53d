//! Every sentence that a person reads, and how it is written for each channel.
//!
//! Here is what both channels say; [`telegram`] writes it as Telegram's HTML, [`issue`] as GitHub's Markdown, and
//! `outside` makes values from outside harmless. The same alarm gives the same text: nothing here knows the present.

pub mod issue;
mod outside;
pub mod telegram;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use url::{Host, Url};

use super::entry::{Entry, EntryKind, Undelivered};
use super::shown::Recovered;
use crate::policy::delivery::Outcome;
use crate::policy::ledger::Loss;
use crate::policy::time::Time;

/// On the button and the link to the Advanced page.
const ADVANCED_PAGE: &str = "Open the App's Advanced page";

/// Attempts whose codes are shown: the first, and the newest. A maintainer who clicks all day makes many.
const ATTEMPTS_SHOWN: usize = 10;

/// Kinds of event named in an entry about many.
const KINDS_SHOWN: usize = 5;

/// A longer address is no page of an App.
const LONGEST_URL: usize = 500;

/// What is wrong, how many, since when, in one line: a phone shows no more of it.
fn headline(entries: &[Entry]) -> String {
    let events = entries.iter().filter(|entry| entry.kind.event().is_some()).count();
    let left_behind = |entry: &Entry| if let EntryKind::LeftBehind(loss) = &entry.kind { loss.count } else { 0 };
    let left_behind = entries.iter().map(left_behind).fold(0, u64::saturating_add);
    let mut parts = Vec::new();
    match events {
        0 => {}
        1 => parts.push("1 webhook event not delivered".to_owned()),
        _ => parts.push(format!("{events} webhook events not delivered")),
    }
    match (left_behind, events) {
        (0, _) => {}
        (1, 0) => parts.push("1 webhook event left behind".to_owned()),
        (_, 0) => parts.push(format!("{left_behind} webhook events left behind")),
        _ => parts.push(format!("{left_behind} left behind")),
    }
    if entries.iter().any(|entry| matches!(entry.kind, EntryKind::GapLost(_))) {
        parts.push(if parts.is_empty() { "Part" } else { "part" }.to_owned() + " of GitHub's list of deliveries not read");
    }
    let since = entries.iter().map(|entry| entry.kind.since()).min().map(Time::for_people);
    format!("{} (since {})", parts.join(", "), since.unwrap_or_default())
}

/// What each sort of entry that is there means for a maintainer: its name, and what to do.
fn advice(entries: &[Entry]) -> Vec<(&'static str, &'static str)> {
    let has = |which: fn(&EntryKind) -> bool| entries.iter().any(|entry| which(&entry.kind));
    let mut advice = Vec::new();
    if has(|kind| matches!(kind, EntryKind::LeftBehind(_))) {
        advice.push((
            "Left behind",
            "the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, \
             look for failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES \
             or WINDOW_HOURS.",
        ));
    }
    if has(|kind| matches!(kind, EntryKind::GapLost(_))) {
        advice.push((
            "Not read",
            "more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look \
             through that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.",
        ));
    }
    if has(|kind| matches!(kind, EntryKind::GaveUp(_))) {
        advice.push((
            "Gave up",
            "every attempt failed, so the event is not asked for again. Find out why the endpoint fails on it; once that is mended, \
             redeliver the guid on the Advanced page. The entry leaves when an attempt passes.",
        ));
    }
    if has(|kind| matches!(kind, EntryKind::NotRedeliverable { .. })) {
        advice.push((
            "Not redeliverable",
            "GitHub does not deliver the event again. Try it once on the Advanced page; if that fails too, do by hand what the event \
             would have done.",
        ));
    }
    advice
}

/// How long an entry stays that nobody can take out.
const HOW_LONG: &str = "GitHub keeps a delivery for 72 hours; after that an entry leaves by itself.";

/// Why an event is not asked for again, as the end of a sentence that names it.
fn why(kind: &EntryKind) -> String {
    match kind {
        EntryKind::GaveUp(event) => match event.attempts.len() + event.lost_asks {
            1 => "gave up after 1 attempt".to_owned(),
            attempts => format!("gave up after {attempts} attempts"),
        },
        EntryKind::NotRedeliverable { answer: Some(status), .. } => {
            format!("GitHub will not redeliver it: it answered {status}")
        }
        EntryKind::NotRedeliverable { answer: None, .. } => {
            "GitHub will not redeliver it: the last requests were followed by no attempt".to_owned()
        }
        EntryKind::LeftBehind(_) | EntryKind::GapLost(_) => String::new(),
    }
}

/// The codes of all attempts, in their order.
fn attempts(event: &Undelivered) -> String {
    let attempts = &event.attempts;
    let left_out = attempts.len().saturating_sub(ATTEMPTS_SHOWN);
    let mut text = String::new();
    for (index, attempt) in attempts.iter().enumerate() {
        if index > 0 && index <= left_out {
            continue;
        }
        if index > 0 {
            text.push_str(", ");
        }
        if index == left_out + 1 && left_out > 0 {
            let _ = write!(text, "{left_out} more, ");
        }
        let code = attempt.status_code;
        let _ = match attempt.outcome {
            Outcome::Unanswered => write!(text, "{code} (no answer)"),
            Outcome::Refused => write!(text, "{code} (refused)"),
            Outcome::Passed => write!(text, "{code} (passed)"),
            Outcome::Failed => write!(text, "{code}"),
        };
    }
    match event.lost_asks {
        0 => {}
        1 => text.push_str("; 1 more that GitHub accepted and never made"),
        lost => {
            let _ = write!(text, "; {lost} more that GitHub accepted and never made");
        }
    }
    text
}

/// `from 2026-11-30 14:05 UTC to 2026-11-30 15:20 UTC`.
fn stretch(loss: &Loss) -> String {
    format!("from {} to {}", loss.from.for_people(), loss.to.for_people())
}

/// The most frequent kinds of a loss with their numbers, and how many events are of other kinds.
fn kinds(loss: &Loss) -> (Vec<(&str, u64)>, u64) {
    let mut kinds: Vec<(&str, u64)> = loss.kinds.iter().map(|(name, count)| (&**name, *count)).collect();
    kinds.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    let rest = kinds.split_off(kinds.len().min(KINDS_SHOWN)).iter().map(|(_, count)| count).sum();
    (kinds, rest)
}

/// `1 event` or `12 events`.
fn events(count: u64) -> String {
    if count == 1 { "1 event".to_owned() } else { format!("{count} events") }
}

/// What is said when the last entry left. "Recovered" is said only of what passed.
fn nothing_open(recovered: Recovered) -> String {
    let Recovered { passed, all } = recovered;
    match (passed, all) {
        (0, _) => "Nothing is open any more.".to_owned(),
        (1, 1) => "Recovered: the event was delivered. Nothing is open any more.".to_owned(),
        _ if passed == all => format!("Recovered: all {all} events were delivered. Nothing is open any more."),
        _ => format!("Nothing is open any more. Recovered: {passed} of the last {all} entries; their events were delivered."),
    }
}

/// The address as a person's browser takes it: http or https only, with nothing left in it that could end an attribute,
/// a link or a cell of a table.
fn link(url: Option<&str>) -> Option<Url> {
    let url = Url::parse(url?).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let mut encoded = String::new();
    for letter in url.as_str().chars() {
        match letter {
            '"' | '\'' | '<' | '>' | '(' | ')' | '[' | ']' | '|' | '`' | '\\' | '*' | '{' | '}' | '^' => {
                let _ = write!(encoded, "%{:02X}", u32::from(letter));
            }
            _ => encoded.push(letter),
        }
    }
    Url::parse(&encoded).ok().filter(|url| url.as_str().len() <= LONGEST_URL && url.as_str().is_ascii())
}

/// Telegram refuses a message whose button leads to a host without a dot, such as `localhost`.
fn fits_a_button(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.trim_end_matches('.').contains('.'),
        Some(Host::Ipv4(_)) => true,
        Some(Host::Ipv6(_)) | None => false,
    }
}
