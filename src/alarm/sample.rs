//! Events, losses and alarms for the tests of the alarm.

use std::collections::BTreeMap;

use super::Alarm;
use super::entry::{Entry, EntryKind, Undelivered};
use crate::policy::delivery::{DeliveryId, Outcome, Position};
use crate::policy::event::{Attempt, Event, Fate};
use crate::policy::evidence::Counting;
use crate::policy::ledger::Loss;
use crate::policy::time::{Time, minutes};

pub(super) const ADVANCED: &str = "https://github.com/organizations/acme/settings/apps/deploy-bot/advanced";

/// So many minutes after 2026-11-30 14:05 UTC.
pub(super) fn time(minute: u64) -> Time {
    Time::from_millis(1_796_047_500_000) + minutes(minute)
}

pub(super) fn attempt(minute: u64, status_code: i32, outcome: Outcome) -> Attempt {
    let position = Position { at: time(minute), id: DeliveryId(3_846_290_009_938_198_000 + minute) };
    Attempt { position, status_code, outcome, redelivery: false, counting: Counting::Counts }
}

/// One that failed once.
pub(super) fn event(guid: &str, minute: u64) -> Event {
    Event {
        guid: guid.into(),
        event: "workflow_run".into(),
        action: Some("completed".into()),
        repository_id: Some(479_544_328),
        attempts: vec![attempt(minute, 500, Outcome::Failed)],
        asks: Vec::new(),
        fate: Fate::Open,
    }
}

/// One that failed three times.
pub(super) fn undelivered(guid: &str, minute: u64) -> Undelivered {
    let mut event = event(guid, minute);
    event.attempts.push(Attempt { redelivery: true, ..attempt(minute + 15, 503, Outcome::Failed) });
    event.attempts.push(Attempt { redelivery: true, ..attempt(minute + 30, 504, Outcome::Unanswered) });
    Undelivered::of(&event)
}

pub(super) fn gave_up(guid: &str, minute: u64) -> Entry {
    Entry { key: format!("gave-up:{guid}"), kind: EntryKind::GaveUp(undelivered(guid, minute)) }
}

/// Made then, of events of the quarter hour before.
pub(super) fn loss(minute: u64) -> Loss {
    let made_at = time(minute);
    Loss { made_at, last_at: made_at, from: made_at - minutes(15), to: made_at, count: 1, kinds: BTreeMap::new() }
}

pub(super) fn alarm(entries: Vec<Entry>) -> Alarm {
    Alarm { entries, slug: Some("deploy-bot".to_owned()), advanced_url: Some(ADVANCED.to_owned()), ..Alarm::default() }
}
