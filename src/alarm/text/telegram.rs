//! The alarm as messages of Telegram, in its HTML.
//!
//! Values from outside stand in `code`, where Telegram makes no mention, tag, command or link of them.
//! Source: the Bot API, "HTML style" and `sendMessage`.

use url::Url;

use super::outside::{html, visible};
use super::{ADVANCED_PAGE, HOW_LONG, advice, attempts, events, fits_a_button, headline, kinds, link, nothing_open, stretch, why};
use crate::alarm::Alarm;
use crate::alarm::entry::{Entry, EntryKind, Undelivered};
use crate::alarm::shown::{Digest, Recovered};
use crate::policy::ledger::Loss;

/// UTF-16 units of a message at most. Telegram takes 4,096 after parsing; how it counts is not written down for every
/// character, hence the distance.
const MAX_UNITS: usize = 3_900;

/// Entries shown at most. Each has up to six pieces of markup, and Telegram drops the markup of a message beyond a hundred.
const MAX_ENTRIES: usize = 15;

/// Kept free for "and 1,000 more…".
const MORE_UNITS: usize = 60;

/// Characters of an event name or action: GitHub's longest has 40.
const NAME: usize = 48;

/// Characters of a guid: a UUID has 36.
const GUID: usize = 64;

/// One message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// Its text.
    pub html: String,
    /// The button below it.
    pub button: Option<Button>,
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
    /// Stands for the whole message.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let url = self.button.as_ref().map_or("", |button| &button.url);
        Digest::of(&format!("{url}\n{}", self.html))
    }
}

/// The open entries.
#[must_use]
pub fn message(alarm: &Alarm) -> Message {
    let url = link(alarm.advanced_url.as_deref());
    let mut top = Html::default();
    top.text("🔴 ").bold(&headline(&alarm.entries));
    let bottom = bottom(&alarm.entries, url.as_ref());

    let room = MAX_UNITS.saturating_sub(top.units + bottom.units + MORE_UNITS);
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
    let button = url.filter(fits_a_button).map(|url| Button { text: ADVANCED_PAGE, url: url.into() });
    Message { html: top.html, button }
}

/// What is left when the last entry left.
#[must_use]
pub fn closed(recovered: Recovered) -> Message {
    let mut out = Html::default();
    out.text("🟢 ").text(&nothing_open(recovered));
    Message { html: out.html, button: None }
}

/// What is left of a message that a newer one in the same chat took the place of.
#[must_use]
pub fn pointer(newer: Option<&str>) -> Message {
    let mut out = Html::default();
    out.text("⬇️ This alarm goes on in a ");
    match link(newer) {
        Some(url) => out.link(&url, "newer message"),
        None => out.text("newer message below"),
    };
    out.text(".");
    Message { html: out.html, button: None }
}

/// What is left of a message when the settings name another chat.
#[must_use]
pub fn moved() -> Message {
    Message { html: "➡️ This alarm goes on in another chat.".to_owned(), button: None }
}

/// What to do, and where.
fn bottom(entries: &[Entry], url: Option<&Url>) -> Html {
    let mut out = Html::default();
    out.text("\n\n").bold("What to do").text("\n");
    for (name, what) in advice(entries) {
        out.bold(name).text(": ").text(what).text("\n");
    }
    out.text(HOW_LONG);
    if let Some(url) = url {
        out.text("\n").link(url, ADVANCED_PAGE);
    }
    out
}

fn paragraph(entry: &Entry) -> Html {
    let mut out = Html::default();
    out.text("\n\n");
    match &entry.kind {
        EntryKind::LeftBehind(loss) => {
            out.bold("Left behind").text(&format!(": {}, first delivered {}.", events(loss.count), stretch(loss)));
            add_kinds(&mut out, loss);
        }
        EntryKind::GapLost(loss) => {
            out.bold("Not read").text(&format!(": GitHub's list of deliveries {}.", stretch(loss)));
        }
        EntryKind::GaveUp(event) | EntryKind::NotRedeliverable { event, .. } => add_event(&mut out, event, &why(&entry.kind)),
    }
    out
}

fn add_event(out: &mut Html, event: &Undelivered, why: &str) {
    out.code(&visible(&event.event, NAME));
    if let Some(action) = &event.action {
        out.text(" · ").code(&visible(action, NAME));
    }
    out.text(&format!(" — {why}\nFirst delivery: {}\n", event.first.at.for_people()));
    out.text(&format!("Attempts: {}\nguid ", attempts(event))).code(&visible(&event.guid.to_string(), GUID));
}

fn add_kinds(out: &mut Html, loss: &Loss) {
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
struct Html {
    html: String,
    units: usize,
}

impl Html {
    fn text(&mut self, text: &str) -> &mut Self {
        self.html.push_str(&html(text));
        self.units += text.encode_utf16().count();
        self
    }

    fn bold(&mut self, text: &str) -> &mut Self {
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
        self.units += other.units;
    }
}
