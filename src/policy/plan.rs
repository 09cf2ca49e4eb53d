//! The decision of a sweep: which events are asked for again, and why the others are not (spec section 4).
//!
//! [`decide`] takes what was known and what was read, and returns a [`Plan`]: a value that can be printed, stored or
//! thrown away. [`Plan::answered`] takes in what GitHub said to each ask.

mod choice;
mod decision;
mod verdict;

use self::decision::Decision;
pub use self::verdict::{Tally, Verdict, Wait};
use super::delivery::{DeliveryId, Guid, Outcome, Position};
use super::event::{Ask, Attempt, Event, Fate};
use super::evidence::Evidence;
use super::ground::Ground;
use super::ledger::{Ledger, add_loss};
use super::lost_time::{LostTime, move_window};
use super::order::{self, by_number};
use super::own;
use super::reading::{Filter, Item, Reading, believed};
use super::settings::Settings;
use super::time::Time;

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
#[inline(never)]
pub fn decide(mut ledger: Ledger, mut reading: Reading, settings: &Settings, now: Time, explain: bool) -> Plan {
    let sweep_before = ledger.swept_at;
    let tick = now;
    let now = believed(tick, reading.github_date);
    let first_sweep = ledger.is_new();
    ledger.ground.whole_seconds_at = ledger.ground.whole_seconds_at.max(reading.whole_seconds_at);
    let whole_seconds = ledger.ground.whole_seconds_at.is_some();
    let place = |position: Position| if whole_seconds { position.whole_seconds() } else { position };
    if whole_seconds {
        ledger.whole_seconds();
    }
    let evidence = Evidence::new(std::mem::take(&mut reading.stretches), &reading.gaps, place);
    // Of a tick that comes twice the second sweep leaves the window where it is: what the first one settled may have been the last to hold it,
    // and nobody has had a chance since then to ask for what it would leave behind.
    if sweep_before != Some(tick) {
        move_window(&mut ledger, settings, now);
    }
    // Until its asks are made this sweep is none that succeeded.
    ledger.succeeded_at = ledger.last_success();
    if first_sweep {
        begin_window(&mut ledger, &mut reading, &evidence, settings, now);
    }
    take_endpoint(&mut ledger, &reading, whole_seconds, place);
    let newest_listed = take_ground(&mut ledger, &reading, now, sweep_before);
    for ((event, repository), newest) in &reading.overtaking {
        ledger.overtakers.passed(event, Some(*repository), newest.place(whole_seconds));
    }
    let released = take_own(&mut ledger, &reading, place);
    take_refusals(&mut ledger, &reading, whole_seconds, place);
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
    decision.ledger.events.values_mut().filter(|event| event.fate == Fate::Open).for_each(|event| evidence.weigh(event));
    decision.settle_passed();
    let mut candidates = decision.judge_all(&touched);
    decision.leave_no_room(&mut candidates);
    decision.tell_outage();
    let asks = decision.choose(candidates, newest_listed);
    decision.ledger.prune(settings, now, |guid| touched.get(guid).is_some_and(|before| before.in_window));
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

/// A first sweep that finds an outage across the start of the window takes its events up too: a lost state loses none of them.
fn begin_window(ledger: &mut Ledger, reading: &mut Reading, evidence: &Evidence, settings: &Settings, now: Time) {
    let ground = &mut ledger.ground;
    if let Some(since) = evidence.outage_across(ground.window_start) {
        ground.window_start = since.at.max(now - settings.retention);
        ground.lost_time = Some(LostTime { ended: Some(now) });
    }
    for item in &mut reading.items {
        item.fresh &= item.attempt.position.at >= ground.window_start;
    }
}

/// Takes what was answered and what was not. The first answer ends an outage, and with it its entry.
fn take_endpoint(ledger: &mut Ledger, reading: &Reading, whole_seconds: bool, place: impl Fn(Position) -> Position) {
    let answered = reading.newest_answer.map(|newest| newest.place(whole_seconds));
    let known = ledger.events.values().flat_map(|event| &event.attempts);
    let attempts = known.map(|attempt| (attempt.outcome, attempt.position));
    let attempts = attempts.chain(reading.items.iter().map(|item| (item.attempt.outcome, place(item.attempt.position))));
    let unanswered = attempts.filter(|(outcome, _)| *outcome == Outcome::Unanswered).map(|(_, position)| position);
    if ledger.endpoint.take(answered, unanswered) {
        ledger.outage = None;
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
    ground.unfiltered_at = match reading.filter {
        Filter::Unknown => Some(now),
        Filter::Known => None,
        Filter::NotTried => ground.unfiltered_at,
    };
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
fn take_refusals(ledger: &mut Ledger, reading: &Reading, whole_seconds: bool, place: impl Fn(Position) -> Position) {
    // What is read again by hand was counted when it was read.
    let is_new = |item: &&Item| item.fresh && !ledger.ground.was_read_before(place(item.attempt.position));
    let refused = reading.items.iter().filter(is_new).filter(|item| item.attempt.outcome == Outcome::Refused);
    let mut attempts: Vec<Attempt> = refused.map(|item| item.attempt).collect();
    order::sort(&mut attempts, |attempt| by_number(attempt.position.id.0));
    attempts.dedup_by_key(|attempt| attempt.position.id);
    let attempts = attempts.into_iter().map(|attempt| Attempt { position: place(attempt.position), ..attempt });
    ledger.refusals.take(reading.newest_pass.map(|newest| newest.place(whole_seconds)), attempts);
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
                if !self.ledger.events.values().any(Event::is_waiting) {
                    // It was the last that waited for the end of an outage.
                    self.ledger.outage = None;
                }
            }
            AskAnswer::Withdrawn => {
                event.asks.retain(|ask| !ours(ask));
                self.tally.redelivered -= 1;
                self.tally.waiting += 1;
            }
        }
    }
}
