//! Every sentence that a person reads, and how it is written for each channel.
//!
//! Here is what both channels say, with the advice in `advice`; [`telegram`] writes it as Telegram's HTML, [`issue`] as GitHub's Markdown,
//! [`words`] in plain words for the status page, [`summary`] says what a day came to, and `outside` makes values from outside harmless.
//! The same alarm gives the same text:
//! nothing here knows the present.

mod advice;
pub mod issue;
pub(crate) mod outside;
pub mod summary;
pub mod telegram;
pub mod words;

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write as _;
use std::time::Duration;

use url::{Host, Url};

use self::advice::advice;
use super::Alarm;
use super::entry::{Channel, Entry, EntryKind, Failing, Undelivered};
use super::shown::{Ended, Recovered};
use crate::failure::FailureClass;
use crate::policy::delivery::Outcome;
use crate::policy::ledger::Loss;
use crate::policy::order::{self, by_number};
use crate::policy::refusing::Refusing;
use crate::policy::time::{Time, in_hours};

/// On the button and the link to the Advanced page.
const ADVANCED_PAGE: &str = "Open the App's Advanced page";

/// On the button to the issue of the control repository.
const CONTROL_ISSUE: &str = "Open the issue";

/// On the button and the link to the status page.
const STATUS_PAGE: &str = "Open the status page";

/// Attempts whose codes are shown: the first, and the newest. A maintainer who clicks all day makes many.
const ATTEMPTS_SHOWN: usize = 10;

/// Kinds of event named in an entry about many.
const KINDS_SHOWN: usize = 5;

/// Codes named in an entry about refusals.
const CODES_SHOWN: usize = 5;

/// Characters of the first line, without the App's name and since when: GitHub takes 256 as a title.
const LONGEST_HEADLINE: usize = 150;

/// Settings named that cannot be used: the log has all of them.
const PROBLEMS_SHOWN: usize = 8;

/// Characters of what is said of one of them.
const PROBLEM: usize = 250;

/// Characters of an event name, an action or the App's name: GitHub's longest has 40.
const NAME: usize = 48;

/// Characters of a guid: a UUID has 36.
const GUID: usize = 64;

/// Characters of what a channel said.
const SAID: usize = 200;

/// A longer address is no page of an App.
const LONGEST_URL: usize = 500;

/// What is wrong, how many, since when, in one line: a phone shows no more of it. The App is named, since a person may have several.
fn headline(alarm: &Alarm) -> String {
    let entries = &alarm.entries;
    let has = |which: fn(&EntryKind) -> bool| entries.iter().any(|entry| which(&entry.kind));
    let undelivered = entries.iter().filter(|entry| entry.kind.event().is_some()).count() as u64;
    let left_behind = |entry: &Entry| if let EntryKind::LeftBehind(loss) = &entry.kind { loss.count } else { 0 };
    let left_behind = entries.iter().map(left_behind).fold(0, u64::saturating_add);
    let mut parts = Vec::new();
    if has(|kind| matches!(kind, EntryKind::Failing(_))) {
        parts.push("the recovery itself fails".to_owned());
    }
    let outage = |entry: &Entry| if let EntryKind::Outage(outage) = &entry.kind { Some(*outage) } else { None };
    if let Some(outage) = entries.iter().find_map(outage) {
        parts.push(format!("the endpoint does not answer, {}", waiting(outage.waiting, "webhook ")));
    }
    if has(|kind| matches!(kind, EntryKind::Refusing(_))) {
        parts.push("the endpoint refuses everything".to_owned());
    }
    if undelivered > 0 {
        parts.push(format!("{} not delivered", events(undelivered, "webhook ")));
    }
    match (left_behind, undelivered) {
        (0, _) => {}
        (_, 0) => parts.push(format!("{} left behind", events(left_behind, "webhook "))),
        _ => parts.push(format!("{left_behind} left behind")),
    }
    if has(|kind| matches!(kind, EntryKind::GapLost(_))) {
        parts.push("part of GitHub's list of deliveries not read".to_owned());
    }
    for channel in [Channel::Telegram, Channel::ControlRepo] {
        if entries.iter().any(|entry| matches!(entry.kind, EntryKind::ChannelLost { channel: lost, .. } if lost == channel)) {
            parts.push(format!("{} cannot be reached", name_of(channel)));
        }
    }
    let since = entries.iter().map(|entry| entry.kind.since()).min().map(Time::for_people).unwrap_or_default();
    let line = format!("{} (since {since})", in_one_line(&parts));
    match app_name(alarm) {
        Some(name) => format!("{name}: {line}"),
        None => capitalized(&line),
    }
}

/// As many as fit; the first one always does.
fn in_one_line(parts: &[String]) -> String {
    let mut line = String::new();
    for part in parts {
        if !line.is_empty() && line.len() + part.len() > LONGEST_HEADLINE {
            return line + " and more";
        }
        line.push_str(if line.is_empty() { "" } else { ", " });
        line.push_str(part);
    }
    line
}

/// The App's name in addresses: letters, digits and hyphens, or it is not shown. Of several Apps one without a name has its id.
fn app_name(alarm: &Alarm) -> Option<Cow<'_, str>> {
    let is_name =
        |slug: &&str| slug.len() <= NAME && !slug.is_empty() && slug.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
    let id = || alarm.one_of_several.as_ref().map(|id| format!("App {id}").into());
    alarm.slug.as_deref().filter(is_name).map(Cow::from).or_else(id)
}

/// How long GitHub keeps a delivery: `72 hours`.
fn hours_of(alarm: &Alarm) -> String {
    format!("{} hours", in_hours(alarm.retention))
}

/// With a capital letter at its start.
pub(crate) fn capitalized(line: &str) -> String {
    let mut letters = line.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

/// As the alarm and the log name a channel.
pub(crate) fn name_of(channel: Channel) -> &'static str {
    match channel {
        Channel::Telegram => "Telegram",
        Channel::ControlRepo => "the control repository",
    }
}

/// How long there is time, and when the entries leave by themselves.
fn how_long(alarm: &Alarm) -> Option<String> {
    let entries = &alarm.entries;
    let events = entries.iter().filter_map(|entry| entry.kind.event());
    let (oldest, count) = events.fold((None, 0), |(oldest, count), event| {
        let at = event.first.at;
        (Some(oldest.map_or(at, |oldest: Time| oldest.min(at))), count + 1)
    });
    if let Some(oldest) = oldest {
        let until = (oldest + alarm.retention).for_people();
        return Some(if count == 1 {
            format!("Can be redelivered until {until}; then GitHub forgets it, and the entry leaves.")
        } else {
            format!("Can be redelivered until {until}; then GitHub forgets the oldest, and its entry leaves.")
        });
    }
    let is_loss = |entry: &Entry| matches!(entry.kind, EntryKind::LeftBehind(_) | EntryKind::GapLost(_));
    entries.iter().any(is_loss).then(|| format!("GitHub keeps a delivery for {}; after that the entry leaves.", hours_of(alarm)))
}

/// Said where more than one event is listed.
fn order(entries: &[Entry]) -> Option<&'static str> {
    (entries.iter().filter(|entry| entry.kind.event().is_some()).nth(1).is_some()).then_some("newest first")
}

/// Why an event is not asked for again, as the end of a sentence that names it.
fn why(kind: &EntryKind) -> String {
    match kind {
        EntryKind::GaveUp(event) => match event.attempts.len() + event.lost_asks {
            1 => "gave up after 1 attempt".to_owned(),
            attempts => format!("gave up after {attempts} attempts"),
        },
        EntryKind::NotRedeliverable { answer: Some(status), .. } => format!("GitHub refused to redeliver it ({status})"),
        EntryKind::NotRedeliverable { answer: None, .. } => "GitHub took the last requests to redeliver it and made no attempt".to_owned(),
        EntryKind::Failing(_)
        | EntryKind::Outage(_)
        | EntryKind::ChannelLost { .. }
        | EntryKind::Refusing(_)
        | EntryKind::LeftBehind(_)
        | EntryKind::GapLost(_) => String::new(),
    }
}

/// An entry that is about no single event: its name, and a sentence that both channels say of it.
fn statement(kind: &EntryKind) -> Option<(&'static str, String)> {
    Some(match kind {
        EntryKind::Failing(failing) => ("Recovery fails", format!("{} since {}.", why_it_fails(failing), failing.since.for_people())),
        EntryKind::Outage(outage) => {
            let since = outage.since.for_people();
            ("Outage", format!("the endpoint does not answer since {since}. {}.", waiting(outage.waiting, "")))
        }
        EntryKind::ChannelLost { channel, since, .. } => {
            ("Cannot be reached", format!("{} since {}.", name_of(*channel), since.for_people()))
        }
        EntryKind::Refusing(refusing) => {
            let since = refusing.since.for_people();
            ("Refuses everything", format!("the endpoint answers with {} since {since}.", codes(refusing)))
        }
        EntryKind::LeftBehind(loss) => ("Left behind", format!("{}, first delivered {}.", events(loss.count, ""), stretch(loss))),
        EntryKind::GapLost(loss) => ("Not read", format!("GitHub's list of deliveries {}.", stretch(loss))),
        EntryKind::GaveUp(_) | EntryKind::NotRedeliverable { .. } => return None,
    })
}

/// `401 and 403`: how an endpoint refuses.
fn codes(refusing: &Refusing) -> String {
    let codes: Vec<String> = refusing.codes.iter().take(CODES_SHOWN).map(ToString::to_string).collect();
    match codes.as_slice() {
        all if refusing.codes.len() > CODES_SHOWN => format!("{} and others", all.join(", ")),
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.join(", "),
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
            Outcome::Unanswered => write!(text, "no answer ({code})"),
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
    // Those that are as frequent stay in the order of their names.
    order::sort(&mut kinds, |(_, count)| by_number(!count));
    let rest = kinds.split_off(kinds.len().min(KINDS_SHOWN)).iter().map(|(_, count)| count).sum();
    (kinds, rest)
}

/// `1 webhook event waits` or `12 events wait`.
fn waiting(count: u64, adjective: &str) -> String {
    format!("{} {}", events(count, adjective), if count == 1 { "waits" } else { "wait" })
}

/// Why the recovery fails.
fn why_it_fails(failing: &Failing) -> &'static str {
    match failing.class {
        FailureClass::Config if !failing.problems.is_empty() => "settings of the Worker cannot be used",
        FailureClass::Config => "GitHub does not know this App, or is not at this address",
        FailureClass::Auth => "GitHub does not accept the App's sign-in",
        FailureClass::RateLimited => "GitHub asks the App to wait, since it made too many requests",
        FailureClass::ServerError => "GitHub answers with errors",
        FailureClass::Transport => "GitHub does not answer",
        FailureClass::Decode => "GitHub's answer cannot be read",
        FailureClass::State => "what is kept between sweeps cannot be read or written",
        FailureClass::Killed => "Cloudflare ends each sweep before it is done",
    }
}

/// The settings that are named, and how many are not.
fn problems(failing: &Failing) -> (&[String], usize) {
    let shown = failing.problems.len().min(PROBLEMS_SHOWN);
    (&failing.problems[..shown], failing.problems.len() - shown)
}

/// `1 webhook event` or `12 events`.
fn events(count: u64, adjective: &str) -> String {
    if count == 1 { format!("1 {adjective}event") } else { format!("{count} {adjective}events") }
}

/// What is said when the last entry left. "Recovered" is said only of what passed.
fn nothing_open(ended: Ended) -> String {
    let Recovered { passed, all } = ended.recovered;
    let after = |comma: &str| ended.took.map(|took| format!("{comma} after {}", span(took))).unwrap_or_default();
    match (passed, all) {
        (0, _) => "Nothing is open any more.".to_owned(),
        (1, 1) => format!("Recovered{}: the event was delivered. Nothing is open any more.", after("")),
        _ if passed == all => format!("Recovered{}: all {all} events were delivered. Nothing is open any more.", after("")),
        (1, _) => format!("Nothing is open any more{}. Recovered: 1 of {all} entries; its event was delivered.", after(",")),
        _ => format!("Nothing is open any more{}. Recovered: {passed} of {all} entries; their events were delivered.", after(",")),
    }
}

/// `45 minutes`, `2 h 15 min` or `3 days`.
fn span(span: Duration) -> String {
    let minutes = span.as_secs().div_ceil(60).max(1);
    match (minutes / 60, minutes % 60) {
        (0, 1) => "a minute".to_owned(),
        (0, minutes) => format!("{minutes} minutes"),
        (1, 0) => "an hour".to_owned(),
        (hours @ 48.., _) => format!("{} days", hours / 24),
        (hours, 0) => format!("{hours} hours"),
        (hours, minutes) => format!("{hours} h {minutes} min"),
    }
}

/// The address as a person's browser takes it: http or https only, with nothing left in it that could end an attribute,
/// a link or a cell of a table.
fn link(url: Option<&str>) -> Option<Url> {
    let url = Url::parse(url?).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    // There nothing can be encoded: a quote or a parenthesis in the name of a host stays one.
    let is_of_a_host = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_');
    if !url.host_str()?.chars().all(is_of_a_host) {
        return None;
    }
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
