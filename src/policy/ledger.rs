//! What is kept between sweeps, and for how long (spec section 10).
//!
//! GitHub's list is the truth about what was delivered. Kept is only what a later sweep cannot read again: how far the
//! list was read, events that still wait, what settled those that failed once, and what the alarm says of.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::delivery::{Guid, Position};
use super::event::stored::{self, ASK_BYTES, OBJECT_BYTES, json_bytes};
use super::event::{Ask, AskStanding, Event, Fate, LOST_AFTER};
use super::ground::Ground;
use super::order::{self, oldest_first};
use super::outage::{Endpoint, Outage};
use super::own::Own;
use super::refusing::Refusals;
use super::settings::Settings;
use super::superseded::Overtakers;
use super::time::{Time, hours, in_hours};

/// Events that wait at most, whatever the settings.
const WAITING: usize = 10_000;

/// Sweeps in an hour: what may wait is what all sweeps can ask for while GitHub keeps a delivery.
const SWEEPS_AN_HOUR: u64 = 4;

/// Entries of the alarm by guid at most: nobody reads more.
const ENTRIES: usize = 1_000;

/// Events at rest kept at least, so that they are not taken up again; more if more may wait, since all of those may pass.
const RESTING: usize = 3_000;

/// Bytes of all events in the stored value.
const EVENT_BYTES: usize = 1_400_000;

/// Bytes of the ledger. The stored value may have 1.9 MB, and the alarm needs some.
const LEDGER_BYTES: usize = 1_750_000;

/// Losses kept of one sort. A new one a sweep for 72 hours would be 288; they extend each other long before.
const LOSSES: usize = 100;

/// Kinds named in one loss.
const LOSS_KINDS: usize = 20;

/// Bytes of the name of such a kind. GitHub's longest has about 35.
const LOSS_KIND_BYTES: usize = 64;

/// Losses within this time are one entry.
const LOSS_ENTRY: Duration = hours(1);

/// Whether nothing will be done about it as things stand, and nobody is told.
fn is_resting(event: &Event) -> bool {
    !event.fate.is_entry() && !event.is_waiting()
}

/// Events left behind, or stretches of the list lost, as one entry of the alarm.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loss {
    /// When the entry was made; with the sort of loss it is the entry's key.
    pub made_at: Time,
    /// The last sweep that added to it.
    pub last_at: Time,
    /// The oldest event lost, or the older end of the stretch.
    pub from: Time,
    /// The newest, or the newer end.
    pub to: Time,
    /// How many.
    pub count: u64,
    /// How many of which event name. Empty for stretches.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<Rc<str>, u64>,
}

impl Loss {
    /// Bytes of the stored form at most.
    fn stored_bytes(&self) -> usize {
        200 + self.kinds.keys().map(|name| json_bytes(name) + 26).sum::<usize>()
    }
}

/// Up to where events are not taken up, because there was no room: of the kinds that can be overtaken, and of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoRoom {
    /// Of kinds that can be overtaken.
    pub overtakable: Option<Position>,
    /// Of every kind.
    pub any: Option<Position>,
}

/// The policy's part of the stored state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// `now` of the last finished sweep.
    pub swept_at: Option<Time>,
    /// The last sweep that succeeded, while those after it did not: GitHub turned their asks away, or they were killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub succeeded_at: Option<Time>,
    /// How far the deliveries list is known.
    pub ground: Ground,
    /// What may overtake.
    pub overtakers: Overtakers,
    /// `IGNORED_EVENTS` as last seen, each with the time since which it is no longer ignored.
    pub ignored: BTreeMap<Rc<str>, Option<Time>>,
    /// Up to where there was no room.
    #[serde(default)]
    pub no_room: NoRoom,
    /// Events by guid, as a list in the stored form.
    #[serde(with = "stored")]
    pub events: BTreeMap<Guid, Event>,
    /// Events that were left behind.
    pub left_behind: Vec<Loss>,
    /// Stretches of the list that were lost.
    pub gaps_lost: Vec<Loss>,
    /// What the endpoint refused since it last took something.
    #[serde(default)]
    pub refusals: Refusals,
    /// Whether the endpoint answers.
    #[serde(default)]
    pub endpoint: Endpoint,
    /// The outage that is an entry of the alarm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage: Option<Outage>,
    /// What we wrote ourselves, and its events.
    #[serde(default)]
    pub own: Own,
}

impl Ledger {
    /// Whether no sweep has read the deliveries list yet.
    #[must_use]
    pub fn is_new(&self) -> bool {
        self.ground.cursor.is_none()
    }

    /// The last sweep that succeeded.
    #[must_use]
    pub fn last_success(&self) -> Option<Time> {
        self.succeeded_at.or(self.swept_at)
    }

    /// The sweep of `swept_at` is done with its asks.
    pub fn succeed(&mut self) {
        self.succeeded_at = None;
    }

    /// Takes every stored time later than `now` as `now`, so that one wrong clock cannot stop everything.
    pub fn move_to(&mut self, now: Time) {
        self.ground.move_to(now);
        for at in self.swept_at.iter_mut().chain(&mut self.succeeded_at) {
            *at = (*at).min(now);
        }
        for event in self.events.values_mut() {
            event.not_later_than(now);
        }
        self.overtakers.not_later_than(now);
        self.refusals.not_later_than(now);
        self.endpoint.not_later_than(now);
        self.outage.iter_mut().for_each(|outage| outage.not_later_than(now));
        self.own.not_later_than(now);
        for ended in self.ignored.values_mut().flatten() {
            *ended = (*ended).min(now);
        }
        for mark in [&mut self.no_room.overtakable, &mut self.no_room.any].into_iter().flatten() {
            mark.at = mark.at.min(now);
        }
        for loss in self.left_behind.iter_mut().chain(&mut self.gaps_lost) {
            loss.made_at = loss.made_at.min(now);
            loss.last_at = loss.last_at.min(now);
        }
    }

    /// Takes the names of the settings. A changed setting applies to what is decided after it and reopens nothing.
    pub fn apply(&mut self, settings: &Settings, now: Time) {
        self.overtakers.apply(settings, now, self.is_new());
        let names = &settings.ignored_events;
        for (name, ended) in &mut self.ignored {
            match (names.iter().any(|wanted| **wanted == **name), &ended) {
                (true, _) => *ended = None,
                (false, None) => *ended = Some(now),
                (false, Some(_)) => {}
            }
        }
        for name in names {
            self.ignored.entry(name.as_str().into()).or_insert(None);
        }
        let start = self.ground.window_start;
        self.ignored.retain(|_, ended| ended.is_none_or(|ended| ended >= start));
    }

    /// Whether an event of this name, first delivered then, is ignored: by the settings, or by those of its time.
    #[must_use]
    pub fn ignores(&self, event: &str, first: Position) -> bool {
        self.ignored.get(event).is_some_and(|ended| ended.is_none_or(|ended| first.at <= ended))
    }

    /// The time (GitHub's) of the oldest ask that no attempt shows. One that is about to be lost is included, one that
    /// was lost to an earlier sweep is not: reading back to it each time would leave no pages for gaps.
    #[must_use]
    pub fn oldest_ask(&self) -> Option<Time> {
        let open = self.events.values().filter(|event| event.fate == Fate::Open && !event.asks.is_empty());
        let of_interest = |ask: &Ask| self.swept_at.is_none_or(|swept_at| swept_at.since(ask.at) < LOST_AFTER);
        open.flat_map(|event| event.asks.iter().zip(event.ask_standings(of_interest)))
            .filter(|(_, standing)| *standing == AskStanding::Pending)
            .map(|(ask, _)| ask.after)
            .min()
    }

    /// Compares all times by whole seconds from now on.
    pub fn whole_seconds(&mut self) {
        self.ground.whole_seconds();
        self.overtakers.whole_seconds();
        self.refusals.whole_seconds();
        self.endpoint.whole_seconds();
        for event in self.events.values_mut() {
            event.whole_seconds();
        }
    }

    /// Whether an event that is not in the ledger is to be passed over, since there was no room for events of its age.
    #[must_use]
    pub fn has_no_room(&self, overtakable: bool, first: Position) -> bool {
        self.no_room.any.is_some_and(|mark| first <= mark) || overtakable && self.no_room.overtakable.is_some_and(|mark| first <= mark)
    }

    /// Forgets what no later sweep needs. An event at rest is kept for as long as the lists show an attempt of it
    /// inside the window.
    pub fn prune(&mut self, settings: &Settings, now: Time, was_read: impl Fn(&Guid) -> bool) {
        let retention = settings.retention;
        let start = self.ground.window_start;
        self.events.retain(|guid, event| match event.fate {
            Fate::GaveUp | Fate::NotRedeliverable(_) | Fate::Forgotten => event.standing().at + retention > now,
            // Outside the window it waits for an ask that may still show up: what else waited there is left behind.
            Fate::Open if event.is_waiting() => true,
            Fate::Open if event.first().is_none() => event.newest().is_some_and(|newest| newest.position.at >= start),
            // Refused: how far a page reaches beyond the window keeps none.
            Fate::Open => event.newest().is_some_and(|newest| newest.position.at >= start) || self.ground.is_unread(event.standing()),
            // What an unread gap will show once more is not taken for new then.
            _ => event.standing().at >= start || self.ground.is_unread(event.standing()) || was_read(guid),
        });
        self.overtakers.prune(retention, now);
        self.own.prune(retention, now);
        for losses in [&mut self.left_behind, &mut self.gaps_lost] {
            losses.retain(|loss| loss.made_at + retention > now);
            let excess = losses.len().saturating_sub(LOSSES);
            losses.drain(..excess);
        }
        let old = |mark: Option<Position>| mark.filter(|mark| mark.at >= start);
        self.no_room = NoRoom { overtakable: old(self.no_room.overtakable), any: old(self.no_room.any) };
        if self.ground.whole_seconds_at.is_some_and(|at| at + retention < now) {
            self.ground.whole_seconds_at = None;
        }
    }

    /// Keeps the ledger within its bounds, and returns the events that there was no room for: those that can be
    /// overtaken first, the oldest first.
    #[must_use]
    pub fn fit(&mut self, settings: &Settings) -> Vec<Event> {
        let sweeps = usize::try_from(in_hours(settings.retention) * SWEEPS_AN_HOUR).unwrap_or(usize::MAX);
        let waiting = WAITING.min(sweeps.saturating_mul(settings.max_redeliveries));
        let mut left_behind = self.drop_oldest(|event| event.fate.is_entry(), ENTRIES);
        left_behind.extend(self.drop_oldest(Event::is_waiting, waiting));
        self.drop_oldest(is_resting, RESTING.max(waiting));
        let room = EVENT_BYTES.min(LEDGER_BYTES.saturating_sub(self.other_bytes(settings)));
        // The estimate is quick and high; only when it is too high is every event written out to be measured.
        if self.events.values().map(Event::stored_bytes).sum::<usize>() > room {
            left_behind.extend(self.drop_to(room));
        }
        left_behind
    }

    /// Takes out events until the others have `room` bytes at most: those at rest first, entries last.
    fn drop_to(&mut self, room: usize) -> Vec<Event> {
        let rank = |event: &Event| match event.fate {
            Fate::Passed => 2,
            _ if event.fate.is_entry() => 3,
            _ if event.is_waiting() => 1,
            _ => 0,
        };
        let mut bytes = 0;
        let mut order: Vec<(u8, &Event, usize)> = Vec::with_capacity(self.events.len());
        for event in self.events.values() {
            let size = event.measured_bytes();
            bytes += size;
            order.push((rank(event), event, size));
        }
        order::sort(&mut order, |(rank, event, _)| {
            oldest_first(2 * i64::from(*rank) + i64::from(!self.overtakers.covers(&event.event, event.repository_id)), event.standing())
        });
        let order: Vec<(u8, Guid, usize)> = order.into_iter().map(|(rank, event, size)| (rank, event.guid.clone(), size)).collect();
        let mut left_behind = Vec::new();
        for (rank, guid, size) in order {
            if bytes <= room {
                break;
            }
            bytes -= size;
            left_behind.extend(self.drop(&guid).filter(|_| rank % 2 == 1));
        }
        left_behind
    }

    /// Bytes of the stored form but for the events, the asks that are yet to be made included, at most.
    fn other_bytes(&self, settings: &Settings) -> usize {
        let asks = settings.max_redeliveries.saturating_mul(ASK_BYTES + OBJECT_BYTES);
        let ignored: usize = self.ignored.keys().map(|name| json_bytes(name) + 24).sum();
        let losses: usize = self.left_behind.iter().chain(&self.gaps_lost).map(Loss::stored_bytes).sum();
        let gaps: usize = self.ground.gaps.iter().map(|gap| json_bytes(&gap.next.0) + 200).sum();
        1_500 + asks + ignored + losses + gaps + self.overtakers.stored_bytes() + self.own.stored_bytes()
    }

    /// Takes out all but `keep` of such events: of overtakable kinds first, then the oldest.
    fn drop_oldest(&mut self, which: impl Fn(&Event) -> bool, keep: usize) -> Vec<Event> {
        let mut found: Vec<&Event> = self.events.values().filter(|event| which(event)).collect();
        if found.len() <= keep {
            return Vec::new();
        }
        order::sort(&mut found, |event| {
            oldest_first(i64::from(!self.overtakers.covers(&event.event, event.repository_id)), event.standing())
        });
        found.truncate(found.len() - keep);
        let found: Vec<Guid> = found.into_iter().map(|event| event.guid.clone()).collect();
        found.iter().filter_map(|guid| self.drop(guid)).collect()
    }

    /// Takes out an event for which there is no room. Refused, superseded and the like would come to the same verdict when
    /// they are read again. What waited would be told again, and what passed be asked for again, so that is ruled out.
    fn drop(&mut self, guid: &Guid) -> Option<Event> {
        let event = self.events.remove(guid)?;
        if event.fate.is_entry() || event.is_waiting() || event.fate == Fate::Passed {
            self.close_room_for(&event);
        }
        Some(event)
    }

    fn close_room_for(&mut self, event: &Event) {
        let overtakable = self.overtakers.covers(&event.event, event.repository_id);
        let mark = if overtakable { &mut self.no_room.overtakable } else { &mut self.no_room.any };
        *mark = (*mark).max(Some(event.standing()));
    }
}

/// Adds to the entry of the same hour, or to the one that the sweep before added to; else it is a new one.
pub fn add_loss(losses: &mut Vec<Loss>, (from, to): (Time, Time), name: Option<&Rc<str>>, now: Time, sweep_before: Option<Time>) {
    let goes_on = |loss: &Loss| loss.last_at == now || now.since(loss.made_at) < LOSS_ENTRY || Some(loss.last_at) == sweep_before;
    if !losses.last().is_some_and(goes_on) {
        losses.push(Loss { made_at: now, last_at: now, from, to, count: 0, kinds: BTreeMap::new() });
    }
    let Some(loss) = losses.last_mut() else { return };
    loss.last_at = now;
    loss.from = loss.from.min(from);
    loss.to = loss.to.max(to);
    loss.count += 1;
    if let Some(name) = name {
        let fits = loss.kinds.len() < LOSS_KINDS && json_bytes(name) <= LOSS_KIND_BYTES;
        *loss.kinds.entry(if fits || loss.kinds.contains_key(name) { name.clone() } else { "others".into() }).or_insert(0) += 1;
    }
}
