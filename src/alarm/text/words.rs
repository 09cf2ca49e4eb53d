//! An entry in plain words, for the status page and its JSON. Whoever writes HTML escapes them.

use super::outside::visible;
use super::{GUID, NAME, SAID, advice, attempts, codes, events, how_long, kinds, link, name_of, stretch, waiting, why, why_it_fails};
use crate::alarm::Alarm;
use crate::alarm::entry::{Entry, EntryKind, Undelivered};

/// An entry, as a headline and what there is to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What is wrong, such as `workflow_run.completed gave up after 3 attempts`.
    pub what: String,
    /// More of it, such as the codes of the attempts.
    pub more: String,
}

/// Says what an entry says.
#[must_use]
pub fn words(entry: &Entry) -> Words {
    let kind = &entry.kind;
    match kind {
        EntryKind::Failing(failing) => Words { what: "the recovery itself fails".to_owned(), more: why_it_fails(failing).to_owned() },
        EntryKind::Outage(outage) => Words { what: "the endpoint does not answer".to_owned(), more: waiting(outage.waiting, "") },
        EntryKind::ChannelLost { channel, said, .. } => {
            Words { what: format!("{} cannot be reached", name_of(*channel)), more: format!("it said: {}", visible(said, SAID)) }
        }
        EntryKind::Refusing(refusing) => {
            Words { what: "the endpoint refuses everything".to_owned(), more: format!("with {}", codes(refusing)) }
        }
        EntryKind::LeftBehind(loss) => {
            let (named, others) = kinds(loss);
            let mut parts: Vec<String> = named.iter().map(|(name, count)| format!("{count} {}", visible(name, NAME))).collect();
            parts.extend((others > 0).then(|| format!("{others} of other kinds")));
            Words { what: format!("{} left behind", events(loss.count, "")), more: format!("{}: {}", stretch(loss), parts.join(", ")) }
        }
        EntryKind::GapLost(loss) => Words { what: "part of GitHub's list of deliveries was not read".to_owned(), more: stretch(loss) },
        EntryKind::GaveUp(event) | EntryKind::NotRedeliverable { event, .. } => {
            let name = event_name(&event.event, event.action.as_deref());
            let colon = if matches!(kind, EntryKind::GaveUp(_)) { "" } else { ":" };
            Words { what: format!("{name}{colon} {}", why(kind)), more: attempts_of(event) }
        }
    }
}

/// What to do about all that is open, in sentences.
#[must_use]
pub fn to_do(alarm: &Alarm) -> Vec<String> {
    advice(alarm).into_iter().map(|(about, what)| [about, ": ", &what].concat()).chain(how_long(alarm)).collect()
}

/// `workflow_run.completed`, with nothing in it that hides or breaks a line.
#[must_use]
pub fn event_name(event: &str, action: Option<&str>) -> String {
    let event = visible(event, NAME);
    action.map_or_else(|| event.clone(), |action| format!("{event}.{}", visible(action, NAME)))
}

/// `1 event waits` or `12 events wait`.
#[must_use]
pub fn events_wait(count: u64) -> String {
    waiting(count, "")
}

/// A name, with nothing in it that hides or breaks a line.
#[must_use]
pub fn name_text(name: &str) -> String {
    visible(name, NAME)
}

/// A guid, with nothing in it that hides or breaks a line.
#[must_use]
pub fn guid_text(guid: &str) -> String {
    visible(guid, GUID)
}

/// An address that may stand in a page: http or https, and nothing in it that could end an attribute.
#[must_use]
pub fn address(url: Option<&str>) -> Option<String> {
    link(url).map(Into::into)
}

fn attempts_of(event: &Undelivered) -> String {
    format!("attempts: {}", attempts(event))
}
