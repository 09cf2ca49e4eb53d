//! The alarm as messages of Telegram, in its HTML.
//!
//! Values from outside stand in `code`, where Telegram makes no mention, tag, command or link of them.
//! Source: the Bot API, "HTML style" and `sendMessage`.

use std::borrow::Cow;

use url::Url;

use super::outside::{html, visible};
use super::{
    ADVANCED_PAGE, CONTROL_ISSUE, GUID, NAME, PROBLEM, SAID, STATUS_PAGE, advice, app_name, attempts, capitalized, fits_a_button, headline,
    how_long, kinds, link, nothing_open, order, problems, statement, why,
};
use crate::alarm::Alarm;
use crate::alarm::entry::{Entry, EntryKind, Failing, Undelivered};
use crate::alarm::shown::{Digest, Ended};
use crate::policy::ledger::Loss;

/// UTF-16 units of a message at most. Telegram takes 4,096 after parsing; how it counts is not written down for every
/// character, hence the distance.
const MAX_UNITS: usize = 3_900;

/// Entries shown at most. Each has up to six pieces of markup, and Telegram drops the markup of a message beyond a hundred.
const MAX_ENTRIES: usize = 15;

/// Kept free for "and 1,000 more…".
const MORE_UNITS: usize = 60;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its text.
    pub html: String,
    /// The same without markup, should Telegram refuse that.
    pub plain: String,
    /// The buttons below it.
    pub buttons: Vec<Button>,
}

/// A button that opens a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    /// What it says.
    pub text: &'static str,
    /// What it opens.
    pub url: String,
}

impl Message {
    pub(super) fn of(html: Markup, buttons: Vec<Button>) -> Self {
        Self { html: html.html, plain: html.plain, buttons }
    }

    /// Stands for the whole message.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let urls: Vec<&str> = self.buttons.iter().map(|button| button.url.as_str()).collect();
        Digest::of(&format!("{}\n{}", urls.join(" "), self.html))
    }
}

/// The open entries.
#[must_use]
pub fn message(alarm: &Alarm) -> Message {
    let url = link(alarm.advanced_url.as_deref());
    let mut top = Markup::default();
    top.text("🔴 ").bold(&headline(alarm));
    if let Some(order) = order(&alarm.entries) {
        top.text(&format!("\n{}.", capitalized(order)));
    }
    let (bottom, room) = bottom_below_one_entry(alarm, url.as_ref(), MAX_UNITS.saturating_sub(top.units + MORE_UNITS));
    let mut shown = 0;
    let mut units = 0;
    for entry in alarm.entries.iter().take(MAX_ENTRIES) {
        let paragraph = paragraph(entry);
        if units + paragraph.units > room {
            break;
        }
        shown += 1;
        units += paragraph.units;
        top.push(&paragraph);
    }
    if let left_out @ 1.. = alarm.entries.len() - shown {
        top.text(&format!("\n\n… and {left_out} more that do not fit here."));
    }
    top.push(&bottom);
    Message::of(top, buttons(alarm))
}

/// To the pages that are known, where Telegram takes a button to them.
pub(super) fn buttons(alarm: &Alarm) -> Vec<Button> {
    let pages = [(ADVANCED_PAGE, &alarm.advanced_url), (CONTROL_ISSUE, &alarm.issue_url), (STATUS_PAGE, &alarm.status_url)];
    let button = |(text, url): (&'static str, &Option<String>)| {
        link(url.as_deref()).filter(fits_a_button).map(|url| Button { text, url: url.into() })
    };
    pages.into_iter().filter_map(button).collect()
}

/// What is left when the last entry left. A chat may have messages of several Apps, so that the name stays.
#[must_use]
pub fn closed(alarm: &Alarm, ended: Ended) -> Message {
    let mut out = Markup::default();
    out.text("🟢 ");
    if let Some(name) = app_name(alarm).filter(|_| alarm.one_of_several.is_some()) {
        out.text(&format!("{name}: "));
    }
    out.text(&nothing_open(ended));
    Message::of(out, Vec::new())
}

/// What is left of a message that a newer one in the same chat took the place of.
#[must_use]
pub fn pointer(newer: Option<&str>) -> Message {
    let mut out = Markup::default();
    out.text("⬇️ This alarm goes on in a ");
    match link(newer) {
        Some(url) => out.link(&url, "newer message"),
        None => out.text("newer message below"),
    };
    out.text(".");
    Message::of(out, Vec::new())
}

/// What is left of a message when the settings name another chat.
#[must_use]
pub fn moved() -> Message {
    let mut out = Markup::default();
    out.text("➡️ This alarm goes on in another chat.");
    Message::of(out, Vec::new())
}

/// The end of a message, and the room that it leaves for entries. There is no advice that the first entry would have to make way for:
/// the settings can have many problems.
fn bottom_below_one_entry(alarm: &Alarm, url: Option<&Url>, room: usize) -> (Markup, usize) {
    let advice = advice(alarm);
    let first = alarm.entries.first().map_or(0, |entry| paragraph(entry).units);
    let mut given = advice.len();
    loop {
        let bottom = bottom(&advice[..given], alarm, url);
        let left = room.saturating_sub(bottom.units);
        if left >= first || given == 0 {
            return (bottom, left);
        }
        given -= 1;
    }
}

/// What to do, and where.
fn bottom(advice: &[(&str, Cow<'_, str>)], alarm: &Alarm, url: Option<&Url>) -> Markup {
    let mut out = Markup::default();
    out.text("\n\n").bold("What to do");
    for (name, what) in advice {
        out.text("\n").bold(name).text(": ").text(what);
    }
    if let Some(how_long) = how_long(alarm) {
        out.text("\n").text(&how_long);
    }
    if let Some(url) = url {
        out.text("\n").link(url, ADVANCED_PAGE);
    }
    out
}

fn paragraph(entry: &Entry) -> Markup {
    let mut out = Markup::default();
    out.text("\n\n");
    if let Some((name, sentence)) = statement(&entry.kind) {
        out.bold(name).text(": ").text(&sentence);
    }
    match &entry.kind {
        EntryKind::Failing(failing) => add_problems(&mut out, failing),
        EntryKind::ChannelLost { said, .. } => {
            out.text(" It said ").code(&visible(said, SAID)).text(".");
        }
        EntryKind::LeftBehind(loss) => add_kinds(&mut out, loss),
        EntryKind::Outage(_) | EntryKind::Refusing(_) | EntryKind::GapLost(_) => {}
        EntryKind::GaveUp(event) | EntryKind::NotRedeliverable { event, .. } => add_event(&mut out, event, &why(&entry.kind)),
    }
    out
}

fn add_problems(out: &mut Markup, failing: &Failing) {
    let (shown, others) = problems(failing);
    for problem in shown {
        out.text("\n• ").text(&visible(problem, PROBLEM));
    }
    if others > 0 {
        out.text(&format!("\n… and {others} more, in the log."));
    }
}

fn add_event(out: &mut Markup, event: &Undelivered, why: &str) {
    out.code(&visible(&event.event, NAME));
    if let Some(action) = &event.action {
        out.text(" · ").code(&visible(action, NAME));
    }
    out.text(&format!(" — {why}\nFirst delivery: {}\n", event.first.at.for_people()));
    out.text(&format!("Attempts: {}\nguid ", attempts(event))).code(&visible(&event.guid.to_string(), GUID));
}

fn add_kinds(out: &mut Markup, loss: &Loss) {
    let (kinds, others) = kinds(loss);
    for (index, (name, count)) in kinds.iter().enumerate() {
        out.text(if index == 0 { "\n" } else { ", " }).text(&format!("{count} × ")).code(&visible(name, NAME));
    }
    if others > 0 {
        out.text(&format!(", {others} of other kinds"));
    }
}

/// HTML under construction, and how long it is once parsed.
#[derive(Default)]
pub(super) struct Markup {
    html: String,
    plain: String,
    units: usize,
}

impl Markup {
    pub(super) fn text(&mut self, text: &str) -> &mut Self {
        self.html.push_str(&html(text));
        self.plain.push_str(text);
        self.units += text.encode_utf16().count();
        self
    }

    pub(super) fn bold(&mut self, text: &str) -> &mut Self {
        self.tagged("<b>", text, "</b>")
    }

    fn code(&mut self, text: &str) -> &mut Self {
        self.tagged("<code>", text, "</code>")
    }

    fn link(&mut self, url: &Url, text: &str) -> &mut Self {
        self.tagged(&format!("<a href=\"{}\">", html(url.as_str())), text, "</a>")
    }

    fn tagged(&mut self, start: &str, text: &str, end: &str) -> &mut Self {
        self.html.push_str(start);
        self.text(text);
        self.html.push_str(end);
        self
    }

    fn push(&mut self, other: &Self) {
        self.html.push_str(&other.html);
        self.plain.push_str(&other.plain);
        self.units += other.units;
    }
}
