//! The decision itself: what was read is added to what was known, each event is judged, and some are chosen.

use std::collections::BTreeMap;
use std::time::Duration;

use super::choice::Candidate;
use super::{Judged, Tally, Verdict, Wait};
use crate::policy::delivery::{Guid, Outcome, Position};
use crate::policy::event::{Ask, AskStanding, Attempt, Event, Fate, LOST_AFTER, github_never_delivers};
use crate::policy::ledger::{Ledger, add_loss};
use crate::policy::lost_time::{follow_outage, waits_until};
use crate::policy::outage::{Count, Outage, counted};
use crate::policy::reading::Item;
use crate::policy::settings::Settings;
use crate::policy::superseded::Overtakers;
use crate::policy::time::{Time, minutes};

/// An event is not asked for again sooner than this after the last ask.
const ASK_AGAIN_AFTER: Duration = minutes(10);

/// A wait for a gap ends this long before the event would leave the window.
const LAST_CHANCE: Duration = minutes(30);

/// How an event stood before this sweep, for those that the reading touched.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "four facts that do not depend on each other")]
pub(super) struct Before {
    known: bool,
    refused: bool,
    fresh: bool,
    /// Whether an attempt inside the window was listed: an older one brings no event up again, and where it is listed at all is only
    /// how far a page reaches.
    pub(super) in_window: bool,
}

pub(super) struct Decision<'a> {
    pub(super) ledger: Ledger,
    pub(super) settings: &'a Settings,
    pub(super) now: Time,
    pub(super) sweep_before: Option<Time>,
    pub(super) explain: bool,
    pub(super) gave_up: Vec<Guid>,
    pub(super) recovered: Vec<Guid>,
    pub(super) tally: Tally,
    pub(super) judged: Vec<Judged>,
}

impl Decision<'_> {
    /// Adds what was read to the events.
    pub(super) fn merge(
        &mut self,
        items: Vec<Item>,
        passed_at_once: &[Guid],
        place: impl Fn(Position) -> Position,
    ) -> BTreeMap<Guid, Before> {
        let mut touched = BTreeMap::new();
        for item in items {
            let attempt = Attempt { position: place(item.attempt.position), ..item.attempt };
            let start = self.ledger.ground.window_start;
            let known = self.ledger.events.get_mut(&item.guid);
            // An event of before the window is left alone: read again, it may have come to rest and been forgotten. On
            // ground that no sweep had read it is new, and is left behind unless it passed.
            let placed = item.fresh || known.as_ref().is_some_and(|event| event.first().is_some());
            if attempt.position.at < start && !placed {
                continue;
            }
            let has_first = known.as_ref().is_some_and(|event| event.first().is_some());
            if !item.fresh && !has_first && self.ledger.ground.is_hidden(attempt.position) {
                continue;
            }
            let refused = known.as_ref().is_some_and(|event| event.is_refused());
            let before = Before { known: known.is_some(), refused, fresh: false, in_window: false };
            let before = touched.entry(item.guid.clone()).or_insert(before);
            before.fresh |= item.fresh;
            before.in_window |= attempt.position.at >= start;
            match known {
                Some(event) if event.fate.is_closed() => {
                    // A closed event keeps only its time. That is learnt late where a gap held its first delivery.
                    let fate = if attempt.outcome == Outcome::Passed { Fate::Passed } else { event.fate.clone() };
                    event.add(attempt);
                    event.settle(fate);
                    if event.fate == Fate::Passed && !self.ledger.own.has(&event.guid) {
                        note_late_pass(event, &mut self.ledger.overtakers);
                    }
                }
                Some(event) => {
                    event.add(attempt);
                }
                None => {
                    let Item { guid, event, action, repository_id, .. } = item;
                    let event = Event {
                        guid: guid.clone(),
                        event,
                        action,
                        repository_id,
                        attempts: vec![attempt],
                        asks: Vec::new(),
                        fate: Fate::Open,
                    };
                    self.ledger.events.insert(guid, event);
                }
            }
        }
        for guid in passed_at_once {
            // Somebody had it delivered again although it had passed: what came of that changes nothing.
            if let Some(event) = self.ledger.events.get_mut(guid) {
                event.settle(Fate::Passed);
            }
        }
        touched
    }

    /// An event that was taken for one of our own, and is not, is open again.
    pub(super) fn release(&mut self, others: &[Guid]) {
        for guid in others {
            if let Some(event) = self.ledger.events.get_mut(guid).filter(|event| event.fate == Fate::Own) {
                event.fate = Fate::Open;
            }
        }
    }

    /// A pass, whoever asked for it, settles the event for good.
    pub(super) fn settle_passed(&mut self) {
        for event in self.ledger.events.values_mut() {
            if event.fate != Fate::Passed && event.passed() {
                if !self.ledger.own.has(&event.guid) {
                    note_late_pass(event, &mut self.ledger.overtakers);
                }
                if event.first().is_some() {
                    self.tally.recovered += 1;
                    self.recovered.push(event.guid.clone());
                }
                if self.explain {
                    self.judged.push(Judged { event: event.clone(), verdict: Verdict::Passed });
                }
                event.settle(Fate::Passed);
            }
        }
    }

    /// Judges every event, and returns those that may be asked for.
    pub(super) fn judge_all(&mut self, touched: &BTreeMap<Guid, Before>) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let guids: Vec<Guid> = self.ledger.events.keys().cloned().collect();
        for guid in guids {
            let Some(event) = self.ledger.events.get(&guid) else { continue };
            let before = touched.get(&guid).copied();
            let (verdict, count) = self.judge(event, before);
            self.tally.attempts_not_counted += count.not_counted;
            match verdict {
                Verdict::Redeliver => candidates.push(Candidate { attempts: count.counted, first: event.standing(), guid }),
                verdict => self.rest(&guid, verdict, before),
            }
        }
        candidates
    }

    fn judge(&self, event: &Event, before: Option<Before>) -> (Verdict, Count) {
        let none = Count::default();
        let first = event.first();
        if event.fate == Fate::Passed {
            return (Verdict::Passed, none);
        }
        if self.ledger.own.has(&event.guid) {
            return (Verdict::Own, none);
        }
        if self.ledger.ignores(&event.event, event.standing()) {
            return (Verdict::Ignored, none);
        }
        match event.fate {
            Fate::GaveUp => return (Verdict::GaveUp, none),
            Fate::NotRedeliverable(_) => return (Verdict::NotRedeliverable, none),
            Fate::Superseded => return (Verdict::Superseded(event.standing()), none),
            Fate::Ignored => return (Verdict::Ignored, none),
            Fate::LeftBehind => return (Verdict::LeftBehind, none),
            Fate::Forgotten => return (Verdict::Forgotten, none),
            // Its write is forgotten, or is not saved yet.
            Fate::Own => return (Verdict::Own, none),
            Fate::Open | Fate::Passed => {}
        }
        let Some(first) = first else { return (Verdict::Uncountable, none) };
        if event.is_refused() {
            return (Verdict::Refused, none);
        }
        let overtakable = self.ledger.overtakers.covers(&event.event, event.repository_id);
        let overtaking = self.ledger.overtakers.overtaking(&event.event, event.repository_id, first);
        if let Some(before) = before.filter(|before| !before.known)
            && self.ledger.has_no_room(overtakable, first)
        {
            // Not even as an entry: one that there was no room for would be told anew by each sweep.
            return (overtaking.filter(|_| before.fresh).map_or(Verdict::LeftBehind, Verdict::Superseded), none);
        }
        let waits_for_gap = self.waits_for_gap(first);
        let standings = event.ask_standings(|ask| self.now.since(ask.at) < LOST_AFTER || waits_for_gap && self.gap_could_hold(ask));
        let count = counted(event, &standings);
        if count.counted >= self.settings.max_attempts {
            return (Verdict::GaveUp, count);
        }
        if github_never_delivers(&standings) {
            return (Verdict::NotRedeliverable, count);
        }
        if let Some(newer) = overtaking {
            return (Verdict::Superseded(newer), count);
        }
        let pending = standings.contains(&AskStanding::Pending);
        let verdict = if first.at < self.ledger.ground.window_start && !pending {
            Verdict::LeftBehind
        } else if pending {
            Verdict::Waiting(Wait::Asked)
        } else if event.asks.last().is_some_and(|ask| self.now.since(ask.at) < ASK_AGAIN_AFTER) {
            Verdict::Waiting(Wait::TooSoon)
        } else if waits_for_gap && overtakable {
            Verdict::Waiting(Wait::Gap)
        } else {
            Verdict::Redeliver
        };
        (verdict, count)
    }

    /// Whether an unread gap could hold something newer than the event, and there is time to wait for it.
    fn waits_for_gap(&self, first: Position) -> bool {
        let ground = &self.ledger.ground;
        let has_time = waits_until(ground.lost_time, first.at, self.settings, LAST_CHANCE)
            .map_or_else(|| first.at.since(ground.window_start) > LAST_CHANCE, |until| self.now < until);
        has_time && ground.gaps.iter().any(|gap| first < gap.newer_end)
    }

    fn gap_could_hold(&self, ask: &Ask) -> bool {
        self.ledger.ground.gaps.iter().any(|gap| ask.on < gap.newer_end)
    }

    /// Notes what became of an event that is not asked for.
    fn rest(&mut self, guid: &Guid, verdict: Verdict, before: Option<Before>) {
        let Some(event) = self.ledger.events.get_mut(guid) else { return };
        let was = event.fate.clone();
        if self.explain && was == Fate::Open {
            self.judged.push(Judged { event: event.clone(), verdict });
        }
        let tally = &mut self.tally;
        match verdict {
            Verdict::Waiting(_) => tally.waiting += 1,
            Verdict::Refused => tally.refused += usize::from(before.is_some_and(|before| !before.refused)),
            Verdict::Uncountable => tally.uncountable += usize::from(before.is_some_and(|before| !before.known)),
            Verdict::Superseded(_) if was == Fate::Open => {
                tally.superseded += 1;
                event.settle(Fate::Superseded);
            }
            Verdict::Ignored if was != Fate::Ignored => {
                tally.ignored += 1;
                event.settle(Fate::Ignored);
            }
            Verdict::Own if was != Fate::Own => {
                tally.own += 1;
                event.settle(Fate::Own);
            }
            Verdict::GaveUp if was == Fate::Open => {
                tally.gave_up += 1;
                self.gave_up.push(guid.clone());
                event.settle(Fate::GaveUp);
            }
            Verdict::NotRedeliverable if was == Fate::Open => {
                tally.not_redeliverable += 1;
                event.settle(Fate::NotRedeliverable(None));
            }
            Verdict::LeftBehind if was == Fate::LeftBehind => {}
            Verdict::LeftBehind if self.ledger.ground.is_unread(event.standing()) => {
                let told = event.clone();
                event.settle(Fate::LeftBehind);
                self.leave_behind(&told);
            }
            Verdict::LeftBehind => {
                // What was passed over for want of room, and is read again, was told when its ground was fresh.
                let told = before.is_some_and(|before| !before.known && !before.fresh);
                if let (Some(event), false) = (self.ledger.events.remove(guid), told) {
                    self.leave_behind(&event);
                }
            }
            Verdict::Redeliver
            | Verdict::Passed
            | Verdict::Superseded(_)
            | Verdict::Ignored
            | Verdict::Own
            | Verdict::Forgotten
            | Verdict::GaveUp
            | Verdict::NotRedeliverable => {}
        }
    }

    fn leave_behind(&mut self, event: &Event) {
        self.tally.left_behind += 1;
        if self.settings.dry_run {
            // A maintainer who asks for nothing has lost nothing by it.
            return;
        }
        let at = event.standing().at;
        add_loss(&mut self.ledger.left_behind, (at, at), Some(&event.event), self.now, self.sweep_before);
    }

    /// Whether the endpoint is in an outage that a person is told of, now that it is known what waits.
    pub(super) fn tell_outage(&mut self) {
        let ledger = &mut self.ledger;
        let entry = |since| Outage::entry(ledger.outage, since, ledger.events.values(), self.now);
        ledger.outage = ledger.endpoint.down_since().and_then(entry);
        follow_outage(&mut ledger.ground.lost_time, ledger.outage.is_some(), self.now);
    }

    /// Leaves behind what there is no room for. It waits no longer, and is no candidate.
    pub(super) fn leave_no_room(&mut self, candidates: &mut Vec<Candidate>) {
        let no_room = self.ledger.no_room;
        let dropped = self.ledger.fit(self.settings);
        let before = candidates.len();
        candidates.retain(|candidate| self.ledger.events.contains_key(&candidate.guid));
        let were_candidates = before - candidates.len();
        self.tally.waiting -= dropped.iter().filter(|event| event.is_waiting()).count() - were_candidates;
        if self.settings.dry_run {
            // What is read again then is no event that was told as left behind.
            self.ledger.no_room = no_room;
        }
        let events = &self.ledger.events;
        self.judged.retain(|judged| !matches!(judged.verdict, Verdict::Waiting(_)) || events.contains_key(&judged.event.guid));
        for event in dropped {
            self.leave_behind(&event);
            if self.explain {
                self.judged.push(Judged { event, verdict: Verdict::LeftBehind });
            }
        }
    }
}

/// A redelivery that passed: what may be overtaken by it is older than its *first* delivery.
fn note_late_pass(event: &Event, overtakers: &mut Overtakers) {
    if let Some(first) = event.first() {
        overtakers.passed(&event.event, event.repository_id, first);
    }
}
