//! Entries: what is wrong, as values with stable keys (spec section 8).
//!
//! An entry says nothing of how it is shown, and the same ledger gives the same entries in the same order. A key never comes
//! back for another occurrence, so that what a maintainer has seen hides nothing new.

use std::rc::Rc;

use crate::failure::FailureClass;
use crate::policy::delivery::{DeliveryId, Guid, Position};
use crate::policy::event::{AskStanding, Attempt, Event, Fate};
use crate::policy::ledger::{Ledger, Loss};
use crate::policy::order::{self, newest_first};
use crate::policy::outage::Outage;
use crate::policy::refusing::Refusing;
use crate::policy::time::Time;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What it is recognised by from sweep to sweep.
    pub key: String,
    /// What is wrong.
    pub kind: EntryKind,
}

/// A channel of the alarm, as an entry names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// The message.
    Telegram,
    /// The issue.
    ControlRepo,
}

/// A recovery that fails: two sweeps in a row did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failing {
    /// The first sweep of the row.
    pub since: Time,
    /// Why the last one failed.
    pub class: FailureClass,
    /// The settings that cannot be used, if that is why: each named, with what is expected, and never a value.
    pub problems: Vec<String>,
}

/// What can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// The recovery itself fails.
    Failing(Failing),
    /// The endpoint does not answer.
    Outage(Outage),
    /// The other channel cannot be reached.
    ChannelLost {
        /// Which one.
        channel: Channel,
        /// The sweep that found it so.
        since: Time,
        /// What it said, without anything secret.
        said: String,
    },
    /// The endpoint refuses everything.
    Refusing(Refusing),
    /// Events that waited until their time was over.
    LeftBehind(Loss),
    /// A stretch of the deliveries list that was never read.
    GapLost(Loss),
    /// An event whose last counted attempt failed.
    GaveUp(Undelivered),
    /// An event that GitHub will not redeliver.
    NotRedeliverable {
        /// The event.
        event: Undelivered,
        /// What GitHub answered; `None` if it made none of the redeliveries that it was asked for.
        answer: Option<u16>,
    },
}

impl EntryKind {
    /// The event, if the entry is about a single one.
    #[must_use]
    pub fn event(&self) -> Option<&Undelivered> {
        match self {
            Self::GaveUp(event) | Self::NotRedeliverable { event, .. } => Some(event),
            Self::Failing(_) | Self::Outage(_) | Self::ChannelLost { .. } | Self::Refusing(_) | Self::LeftBehind(_) | Self::GapLost(_) => {
                None
            }
        }
    }

    /// Since when it is wrong.
    #[must_use]
    pub fn since(&self) -> Time {
        match self {
            Self::Failing(failing) => failing.since,
            Self::Outage(outage) => outage.since,
            Self::ChannelLost { since, .. } => *since,
            Self::Refusing(refusing) => refusing.since,
            Self::LeftBehind(loss) | Self::GapLost(loss) => loss.from,
            Self::GaveUp(event) | Self::NotRedeliverable { event, .. } => event.first.at,
        }
    }

    /// The order of the sorts: those that are no events come first.
    fn rank(&self) -> u8 {
        match self {
            Self::Failing(_) => 0,
            Self::Outage(_) => 1,
            Self::Refusing(_) => 2,
            Self::ChannelLost { .. } => 3,
            Self::LeftBehind(_) => 4,
            Self::GapLost(_) => 5,
            Self::GaveUp(_) | Self::NotRedeliverable { .. } => 6,
        }
    }

    /// Where it stands among its sort, of which the newest comes first.
    fn standing(&self) -> Position {
        match self {
            Self::Failing(_) | Self::Outage(_) | Self::ChannelLost { .. } | Self::Refusing(_) => {
                Position { at: self.since(), id: DeliveryId(0) }
            }
            Self::LeftBehind(loss) | Self::GapLost(loss) => Position { at: loss.made_at, id: DeliveryId(0) },
            Self::GaveUp(event) | Self::NotRedeliverable { event, .. } => event.first,
        }
    }
}

/// An event that was not delivered, with what a person wants to know of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undelivered {
    /// Its identity.
    pub guid: Guid,
    /// Such as `workflow_run`.
    pub event: Rc<str>,
    /// Such as `completed`.
    pub action: Option<Rc<str>>,
    /// The repository it is about.
    pub repository_id: Option<u64>,
    /// Its first delivery.
    pub first: Position,
    /// All attempts, in the order of the list.
    pub attempts: Vec<Attempt>,
    /// Redeliveries that GitHub took on and never made.
    pub lost_asks: usize,
}

impl Undelivered {
    /// What the alarm says of `event`. No ask of an event at rest is pending: either an attempt shows it, or it is lost.
    #[must_use]
    pub fn of(event: &Event) -> Self {
        let standings = event.ask_standings(|_| false);
        Self {
            guid: event.guid.clone(),
            event: event.event.clone(),
            action: event.action.clone(),
            repository_id: event.repository_id,
            first: event.standing(),
            attempts: event.attempts.clone(),
            lost_asks: standings.iter().filter(|standing| **standing == AskStanding::Lost).count(),
        }
    }
}

/// Everything that is wrong, in the order in which it is shown: what is no event first, then events by their first
/// delivery; of each sort the newest first.
#[must_use]
pub fn entries(ledger: &Ledger) -> Vec<Entry> {
    let left_behind = ledger
        .left_behind
        .iter()
        .map(|loss| Entry { key: format!("left-behind:{}", loss.made_at.millis()), kind: EntryKind::LeftBehind(loss.clone()) });
    let gaps_lost = ledger
        .gaps_lost
        .iter()
        .map(|loss| Entry { key: format!("gap-lost:{}", loss.made_at.millis()), kind: EntryKind::GapLost(loss.clone()) });
    let refusing = ledger
        .refusals
        .refusing()
        .map(|refusing| Entry { key: format!("refusing:{}", refusing.since.millis()), kind: EntryKind::Refusing(refusing) });
    let outage = ledger.outage.map(|outage| Entry { key: format!("outage:{}", outage.since.millis()), kind: EntryKind::Outage(outage) });
    let of_events = ledger.events.values().filter_map(of_event);
    let mut entries: Vec<Entry> = outage.into_iter().chain(refusing).chain(left_behind).chain(gaps_lost).chain(of_events).collect();
    sort(&mut entries);
    entries
}

/// `entries` with one more: the recovery itself fails.
#[must_use]
pub fn with_failing(mut entries: Vec<Entry>, failing: Failing) -> Vec<Entry> {
    entries.push(Entry { key: format!("failing:{}", failing.since.millis()), kind: EntryKind::Failing(failing) });
    sort(&mut entries);
    entries
}

/// `entries` with one more: `channel` cannot be reached.
#[must_use]
pub fn with_lost_channel(mut entries: Vec<Entry>, channel: Channel, since: Time, said: &str) -> Vec<Entry> {
    let name = match channel {
        Channel::Telegram => "telegram",
        Channel::ControlRepo => "control-repo",
    };
    let kind = EntryKind::ChannelLost { channel, since, said: said.to_owned() };
    entries.push(Entry { key: format!("channel-lost:{name}:{}", since.millis()), kind });
    sort(&mut entries);
    entries
}

/// The keys that an event's entry can have: what a channel showed is recognised by them once the event passed.
#[must_use]
pub fn keys_of_event(guid: &Guid) -> [String; 2] {
    [gave_up(guid), not_redeliverable(guid)]
}

fn gave_up(guid: &Guid) -> String {
    format!("gave-up:{guid}")
}

fn not_redeliverable(guid: &Guid) -> String {
    format!("not-redeliverable:{guid}")
}

fn sort(entries: &mut Vec<Entry>) {
    order::sort(entries, |entry| newest_first(entry.kind.rank().into(), entry.kind.standing()));
}

fn of_event(event: &Event) -> Option<Entry> {
    // Thousands are no entry, so no key is made for them.
    match event.fate {
        Fate::GaveUp => Some(Entry { key: gave_up(&event.guid), kind: EntryKind::GaveUp(Undelivered::of(event)) }),
        Fate::NotRedeliverable(answer) => {
            let kind = EntryKind::NotRedeliverable { event: Undelivered::of(event), answer };
            Some(Entry { key: not_redeliverable(&event.guid), kind })
        }
        Fate::Open | Fate::Passed | Fate::Superseded | Fate::Ignored | Fate::Own | Fate::LeftBehind | Fate::Forgotten => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alarm::sample;

    #[test]
    fn what_is_no_event_comes_first_and_of_each_sort_the_newest() {
        let mut ledger = Ledger::default();
        for (guid, minute, fate) in [
            ("a", 0, Fate::GaveUp),
            ("b", 5, Fate::NotRedeliverable(Some(404))),
            ("c", 3, Fate::GaveUp),
            ("d", 9, Fate::Open),
            ("e", 9, Fate::Passed),
            ("f", 9, Fate::Superseded),
            ("g", 9, Fate::Ignored),
        ] {
            let event = Event { fate, ..sample::event(guid, minute) };
            ledger.events.insert(event.guid.clone(), event);
        }
        ledger.left_behind = vec![sample::loss(0), sample::loss(90)];
        ledger.gaps_lost = vec![sample::loss(100)];
        let keys: Vec<String> = entries(&ledger).into_iter().map(|entry| entry.key).collect();
        let base = sample::time(0).millis();
        let at = |minutes: i64| base + minutes * 60_000;
        assert_eq!(
            keys,
            [
                format!("left-behind:{}", at(90)),
                format!("left-behind:{}", at(0)),
                format!("gap-lost:{}", at(100)),
                "not-redeliverable:b".to_owned(),
                "gave-up:c".to_owned(),
                "gave-up:a".to_owned(),
            ]
        );
    }

    #[test]
    fn what_keeps_everything_from_coming_stands_first() {
        let mut ledger = Ledger { left_behind: vec![sample::loss(0)], ..Ledger::default() };
        ledger.outage = Some(Outage { since: sample::time(5), waiting: 3, counted_at: sample::time(40) });
        let failing = Failing { since: sample::time(9), class: FailureClass::Auth, problems: Vec::new() };
        let lost = with_lost_channel(with_failing(entries(&ledger), failing), Channel::Telegram, sample::time(1), "kicked");
        let keys: Vec<&str> = lost.iter().map(|entry| entry.key.split(':').next().unwrap_or_default()).collect();
        assert_eq!(keys, ["failing", "outage", "channel-lost", "left-behind"]);
        assert_eq!(lost[0].key, format!("failing:{}", sample::time(9).millis()));
        assert_eq!(lost[1].key, format!("outage:{}", sample::time(5).millis()));
    }

    #[test]
    fn an_ask_that_github_took_and_never_made_is_counted() {
        let mut event = sample::event("a", 0);
        let on = event.attempts[0].position;
        let ask = crate::policy::event::Ask { at: sample::time(15), after: sample::time(15), on, taken: true };
        event.asks = vec![ask, crate::policy::event::Ask { taken: false, ..ask }];
        assert_eq!(Undelivered::of(&event).lost_asks, 1);
        event.attempts.push(Attempt {
            position: Position { at: sample::time(16), id: DeliveryId(99) },
            redelivery: true,
            ..event.attempts[0]
        });
        assert_eq!(Undelivered::of(&event).lost_asks, 0);
    }
}
