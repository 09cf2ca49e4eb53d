//! The alarm as an issue of the control repository, in GitHub's Markdown.
//!
//! Values from outside stand in code spans: GitHub makes no mention, reference or link of what is in one.

use std::fmt::Write as _;

use url::Url;

use super::outside::code_span;
use super::{
    ADVANCED_PAGE, GUID, NAME, PROBLEM, SAID, STATUS_PAGE, advice, attempts, headline, how_long, kinds, link, nothing_open, order,
    problems, statement, why,
};
use crate::alarm::Alarm;
use crate::alarm::entry::{Entry, EntryKind, Failing, Undelivered};
use crate::alarm::shown::{Digest, Ended};
use crate::policy::ledger::Loss;

/// Bytes of a body at most, without its marker. GitHub's limit is 65,536 characters; bytes are never fewer.
const MAX_BYTES: usize = 60_000;

/// Kept free for "and 1,000 more…".
const MORE_BYTES: usize = 80;

/// How the Worker names itself in the issue.
const WRITTEN_BY: &str = "github-app-redeliver keeps this issue: it edits it when an entry comes, changes or leaves, and closes it when \
                          nothing is open any more.";

/// An issue, without its marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Issue {
    /// One line.
    pub title: String,
    /// Markdown.
    pub body: String,
}

impl Issue {
    /// Stands for the whole issue.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(&format!("{}\n{}", self.title, self.body))
    }
}

/// A comment that nobody sees: by it, and by its author, an issue is known as ours.
#[must_use]
pub fn marker(app_id: u64) -> String {
    format!("<!-- github-app-redeliver:v1 app={app_id} -->")
}

/// The open entries.
#[must_use]
pub fn issue(alarm: &Alarm) -> Issue {
    let entries = &alarm.entries;
    let url = link(alarm.advanced_url.as_deref());
    let mut body = String::new();
    for (page, url) in [(ADVANCED_PAGE, &url), (STATUS_PAGE, &link(alarm.status_url.as_deref()))] {
        if let Some(url) = url {
            let _ = write!(body, "[{page}]({url})\n\n");
        }
    }
    body.push_str("### What to do\n\n");
    for (name, what) in advice(alarm) {
        let _ = writeln!(body, "- **{name}**: {what}");
    }
    if let Some(how_long) = how_long(alarm) {
        let _ = writeln!(body, "- {how_long}");
    }
    let end = format!("\n{WRITTEN_BY}\n");

    let room = MAX_BYTES.saturating_sub(end.len() + MORE_BYTES);
    let mut section = None;
    let mut left_out = entries.len();
    for entry in entries {
        let start = if section == Some(Section::of(entry)) { String::new() } else { Section::of(entry).start(order(entries)) };
        let line = line(entry, url.as_ref());
        if body.len() + start.len() + line.len() > room {
            break;
        }
        body.push_str(&start);
        body.push_str(&line);
        section = Some(Section::of(entry));
        left_out -= 1;
    }
    if left_out > 0 {
        let _ = writeln!(body, "\n… and {left_out} more that do not fit here.");
    }
    body.push_str(&end);
    Issue { title: headline(alarm), body }
}

const NOTHING_OPEN: &str = "Webhook deliveries: nothing is open any more";

/// What is left when the last entry left. `seen` entries are open still, and stood in an issue that a person closed.
#[must_use]
pub fn closed(ended: Ended, seen: usize) -> Issue {
    let (title, said) = (NOTHING_OPEN, nothing_open(ended));
    let (title, said) = match seen {
        0 => (title.to_owned(), said),
        // What a person closed is no longer asked of anybody, but it is not over.
        _ => (title.replace("nothing is", "nothing new is"), said.replace("Nothing is", "Nothing new is")),
    };
    let seen = match seen {
        0 => String::new(),
        1 => " Open still: 1 entry of an issue that a person closed.".to_owned(),
        _ => format!(" Open still: {seen} entries of an issue that a person closed."),
    };
    let body = format!("{said}{seen}\n\nWhat stood here is in the history of this text (\"edited\", above).\n");
    Issue { title, body }
}

/// What is left of an issue that was found open when the state was lost, and nothing is wrong as far as is known.
#[must_use]
pub fn record_lost() -> Issue {
    let body = "The record of this issue was lost, and nothing is open as far as is known now. What GitHub still lists as failed is \
                asked for again. The earlier text is in the history (\"edited\", above).\n"
        .to_owned();
    Issue { title: NOTHING_OPEN.to_owned(), body }
}

/// What is left of an issue when another one of the same repository goes on.
#[must_use]
pub fn pointer(number: u64) -> Issue {
    let body = format!("This alarm goes on in #{number}.\n");
    Issue { title: "Webhook deliveries: this alarm goes on in another issue".to_owned(), body }
}

/// What is left of an issue that goes on in another repository. Neither is named, so that nothing is linked across.
#[must_use]
pub fn moved() -> Issue {
    let body = "The settings name another control repository: this alarm goes on there.\n".to_owned();
    Issue { title: "Webhook deliveries: this alarm goes on in another repository".to_owned(), body }
}

/// The parts of the list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    Endpoint,
    Losses,
    Events,
}

impl Section {
    fn of(entry: &Entry) -> Self {
        match entry.kind {
            EntryKind::Failing(_) | EntryKind::Outage(_) | EntryKind::ChannelLost { .. } | EntryKind::Refusing(_) => Self::Endpoint,
            EntryKind::LeftBehind(_) | EntryKind::GapLost(_) => Self::Losses,
            EntryKind::GaveUp(_) | EntryKind::NotRedeliverable { .. } => Self::Events,
        }
    }

    fn start(self, order: Option<&str>) -> String {
        match self {
            Self::Endpoint => "\n### Not working\n\n".to_owned(),
            Self::Losses => "\n### Lost\n\n".to_owned(),
            Self::Events => format!(
                "\n### Events{}\n\n\
                 | event | first delivery | attempts | why it is not asked for again | guid | repository id |\n\
                 | --- | --- | --- | --- | --- | --- |\n",
                order.map(|order| format!(", {order}")).unwrap_or_default()
            ),
        }
    }
}

fn line(entry: &Entry, url: Option<&Url>) -> String {
    let said = statement(&entry.kind).map(|(name, sentence)| format!("- **{name}**: {sentence}")).unwrap_or_default();
    match &entry.kind {
        EntryKind::Failing(failing) => format!("{said}\n{}", list_of_problems(failing)),
        EntryKind::ChannelLost { said: reason, .. } => format!("{said} It said {}.\n", code_span(reason, SAID)),
        EntryKind::LeftBehind(loss) => format!("{said}{}\n", kinds_of(loss)),
        EntryKind::Outage(_) | EntryKind::Refusing(_) | EntryKind::GapLost(_) => format!("{said}\n"),
        EntryKind::GaveUp(event) | EntryKind::NotRedeliverable { event, .. } => row(event, &why(&entry.kind), url),
    }
}

fn row(event: &Undelivered, why: &str, url: Option<&Url>) -> String {
    let name = code_span(&event.event, NAME);
    let action = event.action.as_ref().map(|action| format!(" {}", code_span(action, NAME))).unwrap_or_default();
    let guid = code_span(&event.guid.to_string(), GUID);
    let guid = url.map_or_else(|| guid.clone(), |url| format!("[{guid}]({url})"));
    let repository = event.repository_id.map(|id| id.to_string()).unwrap_or_default();
    let first = event.first.at.for_people();
    format!("| {name}{action} | {first} | {} | {why} | {guid} | {repository} |\n", attempts(event))
}

/// In code spans: what is said of a setting may name a person, such as the one whom to ask for a bot.
fn list_of_problems(failing: &Failing) -> String {
    let (shown, others) = problems(failing);
    let mut list = String::new();
    for problem in shown {
        let _ = writeln!(list, "  - {}", code_span(problem, PROBLEM));
    }
    if others > 0 {
        let _ = writeln!(list, "  - … and {others} more, in the log.");
    }
    list
}

fn kinds_of(loss: &Loss) -> String {
    let (kinds, others) = kinds(loss);
    let mut parts: Vec<String> = kinds.iter().map(|(name, count)| format!("{count} × {}", code_span(name, NAME))).collect();
    if others > 0 {
        parts.push(format!("{others} of other kinds"));
    }
    if parts.is_empty() { String::new() } else { format!(" {}.", parts.join(", ")) }
}
