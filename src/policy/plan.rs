//! The decision of a sweep: which events are asked for again, and why the others are not (spec section 4).
//!
//! [`decide`] takes what was known and what was read, and returns a [`Plan`]: a value that can be printed, stored or
//! thrown away. [`Plan::answered`] takes in what GitHub said to each ask.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::delivery::{DeliveryId, Guid, Outcome, Position};
use super::event::{Ask, AskStanding, Attempt, Event, Fate, LOST_AFTER, github_never_delivers};
use super::ground::Ground;
use super::ledger::{Ledger, add_loss};
use super::outage::{Count, counted};
use super::own;
use super::reading::{Item, Reading, believed};
use super::settings::Settings;
use super::time::{Time, minutes};

/// An event is not asked for again sooner than this after the last ask.
const ASK_AGAIN_AFTER: Duration = minutes(10);

/// A wait for a gap ends this long before the event would leave the window.
const LAST_CHANCE: Duration = minutes(30);

/// Why an undelivered event is not asked for now, though it will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// An ask for it has not shown up yet.
    Asked,
    /// The last ask for it is less than ten minutes old.
    TooSoon,
    /// An unread gap could hold what settles it.
    Gap,
    /// Others come first.
    Turn,
}

/// What becomes of an event in this sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is asked for again.
    Redeliver,
    /// It waits.
    Waiting(Wait),
    /// An attempt of it passed.
    Passed,
    /// The endpoint would refuse it again.
    Refused,
    /// A newer event of its kind passed: the first delivery of that one.
    Superseded(Position),
    /// Its last counted attempt failed.
    GaveUp,
    /// GitHub will not redeliver it.
    NotRedeliverable,
    /// Its first delivery was not read, so its attempts cannot be counted.
    Uncountable,
    /// Its name is in `IGNORED_EVENTS`.
    Ignored,
    /// Our own write of the issue made it.
    Own,
    /// It left the window, or there was no room for it, while it still waited.
    LeftBehind,
}

/// For people: why.
impl fmt::Display for Verdict {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Redeliver => out.write_str("asked for again"),
            Self::Waiting(Wait::Asked) => out.write_str("waits: asked for, not listed yet"),
            Self::Waiting(Wait::TooSoon) => out.write_str("waits: asked for less than ten minutes ago"),
            Self::Waiting(Wait::Gap) => out.write_str("waits: an unread gap could hold what settles it"),
            Self::Waiting(Wait::Turn) => out.write_str("waits: others come first"),
            Self::Passed => out.write_str("delivered"),
            Self::Refused => out.write_str("refused: the endpoint would refuse it again"),
            Self::Superseded(newer) => write!(out, "superseded: a newer event of its kind passed ({})", newer.at),
            Self::GaveUp => out.write_str("gave up: its last attempt failed"),
            Self::NotRedeliverable => out.write_str("GitHub will not redeliver it"),
            Self::Uncountable => out.write_str("left alone: its first delivery was not read"),
            Self::Ignored => out.write_str("ignored by IGNORED_EVENTS"),
            Self::Own => out.write_str("left alone: our own write of the issue made it"),
            Self::LeftBehind => out.write_str("left behind: it still waited when its time was over"),
        }
    }
}

/// Events by verdict. Those that rest are counted by the sweep in which they came to rest, those that wait by each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Asked for again.
    pub redelivered: usize,
    /// Waiting.
    pub waiting: usize,
    /// Failed at first, and passed since.
    pub recovered: usize,
    /// Overtaken.
    pub superseded: usize,
    /// Gave up.
    pub gave_up: usize,
    /// GitHub will not redeliver them.
    pub not_redeliverable: usize,
    /// Refused.
    pub refused: usize,
    /// First delivery not read.
    pub uncountable: usize,
    /// Ignored.
    pub ignored: usize,
    /// Made by our own writes.
    pub own: usize,
    /// Left behind.
    pub left_behind: usize,
    /// Attempts of all these that were made into an outage.
    pub attempts_not_counted: usize,
}

/// One event's verdict, with what a person wants to see of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The event as the sweep saw it.
    pub event: Event,
    /// What becomes of it.
    pub verdict: Verdict,
}

/// One ask to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedAsk {
    /// Of which event.
    pub guid: Guid,
    /// Its newest attempt.
    pub delivery: DeliveryId,
    /// Counted attempts so far.
    pub attempts: usize,
}

/// What GitHub answered to an ask, as far as the policy tells it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskAnswer {
    /// 202.
    Taken,
    /// 5xx, a time-out, a broken answer: it may have been taken.
    Unknown,
    /// It will not redeliver this event, with this code.
    NotRedeliverable(u16),
    /// It was not made, or GitHub turned all asks away: struck.
    Withdrawn,
}

/// The decision of one sweep.
#[derive(Debug)]
pub struct Plan {
    /// The ledger as it is to be saved, the asks in it.
    pub ledger: Ledger,
    /// The asks to make, in order.
    pub asks: Vec<PlannedAsk>,
    /// Every event that was looked at. Empty unless asked for: a sweep that nobody watches need not copy them.
    pub judged: Vec<Judged>,
    /// The events that gave up in this sweep.
    pub gave_up: Vec<Guid>,
    /// The events that failed before and passed in this sweep.
    pub recovered: Vec<Guid>,
    /// Events by verdict.
    pub tally: Tally,
    now: Time,
}

/// Decides. `ledger` has been moved to `now` and has taken the settings; `explain` fills [`Plan::judged`].
#[must_use]
pub fn decide(mut ledger: Ledger, reading: Reading, settings: &Settings, now: Time, explain: bool) -> Plan {
    let sweep_before = ledger.swept_at;
    let tick = now;
    let now = believed(tick, reading.github_date);
    ledger.ground.window_start = ledger.ground.window_start_at(now, settings.window);
    ledger.ground.whole_seconds_at = ledger.ground.whole_seconds_at.max(reading.whole_seconds_at);
    let whole_seconds = ledger.ground.whole_seconds_at.is_some();
    let place = |position: Position| if whole_seconds { position.whole_seconds() } else { position };
    if whole_seconds {
        ledger.whole_seconds();
    }
    let newest_listed = take_ground(&mut ledger, &reading, now, sweep_before);
    for ((event, repository), newest) in &reading.overtaking {
        ledger.overtakers.passed(event, Some(*repository), newest.place(whole_seconds));
    }
    let released = take_own(&mut ledger, &reading, place);
    take_refusals(&mut ledger, &reading, whole_seconds);
    let mut decision = Decision {
        ledger,
        settings,
        now,
        sweep_before,
        explain,
        gave_up: Vec::new(),
        recovered: Vec::new(),
        tally: Tally::default(),
        judged: Vec::new(),
    };
    decision.release(&released);
    let touched = decision.merge(reading.items, &reading.passed_at_once, place);
    decision.settle_passed();
    let candidates = decision.judge_all(&touched);
    decision.leave_no_room();
    let asks = decision.choose(candidates, newest_listed);
    decision.ledger.prune(now);
    decision.ledger.swept_at = Some(tick);
    Plan {
        ledger: decision.ledger,
        asks,
        judged: decision.judged,
        gave_up: decision.gave_up,
        recovered: decision.recovered,
        tally: decision.tally,
        now,
    }
}

/// Takes how far the lists were read, and returns the time (GitHub's) of the newest delivery that was listed.
fn take_ground(ledger: &mut Ledger, reading: &Reading, now: Time, sweep_before: Option<Time>) -> Time {
    if ledger.ground.watched_since.is_none() {
        let start = ledger.ground.window_start;
        let reached = reading.list.oldest.filter(|_| !reading.list.complete).map(|oldest| oldest.at);
        ledger.ground.watched_since = Some(reached.map_or(start, |reached| reached.max(start)));
    }
    for lost in ledger.ground.take_gaps(reading.gaps.clone()) {
        add_loss(&mut ledger.gaps_lost, (lost.from, lost.to), None, now, sweep_before);
    }
    let ground: &mut Ground = &mut ledger.ground;
    // Never later than GitHub's clock: a delivery from the future must not hide those that follow.
    let newest = reading.newest.map(|newest| Position { at: newest.at.min(reading.github_date.unwrap_or(now)), ..newest });
    // Where nothing is listed, what comes later is new all the same.
    let nothing = Position { at: reading.github_date.unwrap_or(now), ..Position::default() };
    let cursor = ground.cursor.max(newest).unwrap_or(nothing);
    ground.cursor = Some(cursor);
    cursor.at
}

/// Tells our own events from anybody's, and returns those that are not ours after all. What passed of them overtakes.
fn take_own(ledger: &mut Ledger, reading: &Reading, place: impl Fn(Position) -> Position) -> Vec<Guid> {
    let others = ledger.own.claim(reading.maybe_own.clone());
    for event in others.iter().filter(|event| event.passed) {
        ledger.overtakers.passed(&own::EVENT.into(), Some(event.repository_id), place(event.first));
    }
    others.into_iter().map(|event| event.guid).collect()
}

/// Counts what was refused on new ground. The deliveries list may move while it is read, so that an item comes twice.
fn take_refusals(ledger: &mut Ledger, reading: &Reading, whole_seconds: bool) {
    let refused = reading.items.iter().filter(|item| item.fresh && item.attempt.outcome == Outcome::Refused);
    let by_id: BTreeMap<DeliveryId, Attempt> = refused.map(|item| (item.attempt.position.id, item.attempt)).collect();
    let place = |position: Position| if whole_seconds { position.whole_seconds() } else { position };
    let attempts = by_id.into_values().map(|attempt| Attempt { position: place(attempt.position), ..attempt });
    ledger.refusals.take(reading.newest_pass.map(|newest| newest.place(whole_seconds)), attempts);
}

/// How an event stood before this sweep, for those that the reading touched.
#[derive(Clone, Copy, Debug)]
struct Before {
    known: bool,
    refused: bool,
    fresh: bool,
}

struct Decision<'a> {
    ledger: Ledger,
    settings: &'a Settings,
    now: Time,
    sweep_before: Option<Time>,
    explain: bool,
    gave_up: Vec<Guid>,
    recovered: Vec<Guid>,
    tally: Tally,
    judged: Vec<Judged>,
}

impl Decision<'_> {
    /// Adds what was read to the events.
    fn merge(&mut self, items: Vec<Item>, passed_at_once: &[Guid], place: impl Fn(Position) -> Position) -> BTreeMap<Guid, Before> {
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
            let before = Before { known: known.is_some(), refused: known.as_ref().is_some_and(|event| event.is_refused()), fresh: false };
            touched.entry(item.guid.clone()).or_insert(before).fresh |= item.fresh;
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
    fn release(&mut self, others: &[Guid]) {
        for guid in others {
            if let Some(event) = self.ledger.events.get_mut(guid).filter(|event| event.fate == Fate::Own) {
                event.fate = Fate::Open;
            }
        }
    }

    /// A pass, whoever asked for it, settles the event for good.
    fn settle_passed(&mut self) {
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
    fn judge_all(&mut self, touched: &BTreeMap<Guid, Before>) -> Vec<Candidate> {
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
        let has_time = first.at.since(self.ledger.ground.window_start) > LAST_CHANCE;
        has_time && self.ledger.ground.gaps.iter().any(|gap| first < gap.newer_end)
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

    /// The fewest attempts first, then the oldest event.
    fn choose(&mut self, mut candidates: Vec<Candidate>, after: Time) -> Vec<PlannedAsk> {
        candidates.sort_unstable_by_key(|candidate| (candidate.attempts, candidate.first));
        let mut asks = Vec::new();
        for Candidate { attempts, guid, .. } in candidates {
            let Some(event) = self.ledger.events.get_mut(&guid) else { continue };
            let Some(newest) = event.newest().copied() else { continue };
            let verdict = if asks.len() < self.settings.max_redeliveries && !self.settings.dry_run {
                event.asks.push(Ask { at: self.now, after, on: newest.position, taken: false });
                asks.push(PlannedAsk { guid, delivery: newest.position.id, attempts });
                self.tally.redelivered += 1;
                Verdict::Redeliver
            } else if self.settings.dry_run && self.tally.redelivered < self.settings.max_redeliveries {
                self.tally.redelivered += 1;
                Verdict::Redeliver
            } else {
                self.tally.waiting += 1;
                Verdict::Waiting(Wait::Turn)
            };
            if self.explain {
                self.judged.push(Judged { event: event.clone(), verdict });
            }
        }
        asks
    }

    fn leave_no_room(&mut self) {
        for event in self.ledger.fit(self.settings) {
            self.leave_behind(&event);
        }
    }
}

struct Candidate {
    attempts: usize,
    first: Position,
    guid: Guid,
}

/// A redelivery that passed: what may be overtaken by it is older than its *first* delivery.
fn note_late_pass(event: &Event, overtakers: &mut super::superseded::Overtakers) {
    if let Some(first) = event.first() {
        overtakers.passed(&event.event, event.repository_id, first);
    }
}

impl Plan {
    /// Takes in GitHub's answer to an ask.
    pub fn answered(&mut self, guid: &Guid, answer: AskAnswer) {
        let now = self.now;
        let Some(event) = self.ledger.events.get_mut(guid) else { return };
        let ours = |ask: &Ask| ask.at == now;
        match answer {
            AskAnswer::Taken => event.asks.iter_mut().filter(|ask| ours(ask)).for_each(|ask| ask.taken = true),
            AskAnswer::Unknown => {}
            AskAnswer::NotRedeliverable(code) => {
                event.asks.retain(|ask| !ours(ask));
                event.settle(Fate::NotRedeliverable(Some(code)));
                self.tally.redelivered -= 1;
                self.tally.not_redeliverable += 1;
            }
            AskAnswer::Withdrawn => {
                event.asks.retain(|ask| !ours(ask));
                self.tally.redelivered -= 1;
                self.tally.waiting += 1;
            }
        }
    }
}
