//! What lay before an attempt: whether the endpoint lived when it was made (spec section 5).
//!
//! Only stretches of the deliveries list that were read without a hole say so: the failures list leaves deliveries out.

use std::time::Duration;

use super::delivery::{Outcome, Position};
use super::event::{Attempt, Event};
use super::ground::GapEnd;
use super::order::{self, oldest_first};
use super::time::{Time, minutes};

/// A sweep asks for several events at once, so redeliveries so close before an attempt say nothing of the endpoint that was
/// not said by what came before them.
const ASKED_AT_ONCE: Duration = minutes(5);

/// Whether an attempt counts against `MAX_ATTEMPTS`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// The endpoint answered it, or was alive just before, or it is the first delivery.
    #[default]
    Counts,
    /// It went unanswered, and so did the one before it.
    IntoOutage,
    /// It went unanswered, and what lay before it was never read: it counts until that is.
    Unread,
}

/// One attempt, as far as it is evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its place in the list.
    pub position: Position,
    /// Whether the endpoint answered it.
    pub answered: bool,
    /// Whether somebody asked for it.
    pub redelivery: bool,
}

/// A stretch of the deliveries list that was read without a hole, in any order, an item perhaps more than once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stretch {
    /// Where it goes on from ground that an earlier sweep read: the oldest delivery of that. `None` for the newest stretch.
    pub newer_end: Option<Position>,
    /// What was read of it.
    pub seen: Vec<Seen>,
}

/// All stretches that one sweep read, in the order of the list, and the gaps below them.
#[derive(Debug)]
pub struct Evidence {
    stretches: Vec<Stretch>,
    gaps: Vec<Below>,
}

/// A gap, after the reading.
#[derive(Debug)]
struct Below {
    newer_end: Position,
    older_end: Position,
    /// Whether something in it was not read.
    is_hole: bool,
    /// Whether a later sweep reads it.
    will_be_read: bool,
}

impl Evidence {
    /// Puts the stretches in order. `gaps` is what became of the gaps, `place` says how positions are compared.
    #[must_use]
    pub fn new(mut stretches: Vec<Stretch>, gaps: &[GapEnd], place: impl Fn(Position) -> Position) -> Self {
        let below = |end: &GapEnd| {
            let (gap, is_hole, will_be_read) = match end {
                GapEnd::Left(gap) => (gap, true, true),
                GapEnd::Refused(gap) => (gap, true, false),
                GapEnd::Read { was, .. } => (was, false, false),
            };
            Below { newer_end: place(gap.newer_end), older_end: place(gap.older_end), is_hole, will_be_read }
        };
        let gaps = gaps.iter().map(below).collect();
        for stretch in &mut stretches {
            stretch.newer_end = stretch.newer_end.map(&place);
            for seen in &mut stretch.seen {
                seen.position = place(seen.position);
            }
            order::sort(&mut stretch.seen, |seen| oldest_first(0, seen.position));
        }
        Self { stretches, gaps }
    }

    /// Weighs every redelivery of `event` that went unanswered, as far as these stretches say anything of it.
    pub fn weigh(&self, event: &mut Event) {
        let unanswered = |attempt: &&mut Attempt| attempt.redelivery && attempt.outcome == Outcome::Unanswered;
        for attempt in event.attempts.iter_mut().filter(unanswered) {
            match self.answered_before(attempt.position, attempt.counting) {
                Some(true) => attempt.counting = Counting::Counts,
                Some(false) => attempt.counting = Counting::IntoOutage,
                // For good: else an older gap, read later, would be taken for what lay just before it.
                None if attempt.counting == Counting::Unread && !self.will_be_read(attempt.position) => {
                    attempt.counting = Counting::Counts;
                }
                None => {}
            }
        }
    }

    /// Whether the attempt just before that place was answered; `None` if these stretches do not tell.
    fn answered_before(&self, position: Position, known: Counting) -> Option<bool> {
        let holds = |stretch: &&Stretch| stretch.seen.binary_search_by_key(&position, |seen| seen.position).is_ok();
        let answered = self.stretches.iter().find(holds).and_then(|stretch| stretch.answered_before(position));
        if answered.is_some() || known != Counting::Unread || self.hole_around(position).is_some() {
            return answered;
        }
        // Where a sweep stopped short of what lay before it, the gap below goes on: the next one, and no other.
        let below = self.stretches.iter().filter(|stretch| stretch.newer_end.is_some_and(|end| lies_below(end, position)));
        let next = below.max_by_key(|stretch| stretch.newer_end)?;
        let is_nearer = |gap: &&Below| gap.is_hole && Some(gap.newer_end) > next.newer_end;
        if self.gaps_below(position).any(|gap| is_nearer(&gap)) { None } else { next.answered_before(position) }
    }

    /// Whether what lay before that place is in a gap that a later sweep reads.
    fn will_be_read(&self, position: Position) -> bool {
        let next = || self.gaps_below(position).max_by_key(|gap| gap.newer_end);
        self.hole_around(position).or_else(next).is_some_and(|gap| gap.will_be_read)
    }

    /// The gap that was not read and holds the place: then nothing below it tells what lay just before.
    fn hole_around(&self, position: Position) -> Option<&Below> {
        self.gaps.iter().find(|gap| gap.is_hole && gap.older_end < position && position < gap.newer_end)
    }

    /// The gaps that may begin just below the place, redeliveries passed over.
    fn gaps_below(&self, position: Position) -> impl Iterator<Item = &Below> {
        self.gaps.iter().filter(move |gap| lies_below(gap.newer_end, position))
    }

    /// The oldest attempt of the run of unanswered ones that the first delivery from `start` on lies in, if it does: how far back
    /// an outage goes of which a first sweep finds the end.
    #[must_use]
    pub fn outage_across(&self, start: Time) -> Option<Position> {
        let seen = &self.stretches.first()?.seen;
        let inside = seen.partition_point(|seen| seen.position.at < start);
        if seen.get(inside)?.answered {
            return None;
        }
        seen[..inside].iter().rev().take_while(|seen| !seen.answered).last().map(|seen| seen.position)
    }
}

/// Whether a gap with this newer end may begin just below the place, redeliveries passed over.
fn lies_below(newer_end: Position, position: Position) -> bool {
    newer_end <= position && (newer_end == position || asked_at_once(newer_end.at, position.at))
}

/// Whether two redeliveries may be of one sweep. By whole seconds always, so that a server which leaves out the milliseconds of one delivery
/// changes nothing of what was weighed before; and less than the second look reads back, so that nothing beyond it has a say.
fn asked_at_once(older: Time, newer: Time) -> bool {
    newer.whole_seconds().since(older.whole_seconds()) < ASKED_AT_ONCE
}

impl Stretch {
    fn answered_before(&self, position: Position) -> Option<bool> {
        let before = self.seen.partition_point(|seen| seen.position < position);
        let passed_over = |seen: &&Seen| seen.redelivery && asked_at_once(seen.position.at, position.at);
        self.seen[..before].iter().rev().find(|seen| !passed_over(seen)).map(|seen| seen.answered)
    }
}

/// The stored form of [`Counting`], beside whether the attempt was a redelivery: thousands of these are stored.
#[must_use]
pub(super) fn flags(counting: Counting, redelivery: bool) -> u8 {
    let counting = match counting {
        Counting::Counts => 0,
        Counting::IntoOutage => 2,
        Counting::Unread => 4,
    };
    counting | u8::from(redelivery)
}

/// Reads that form.
#[must_use]
pub(super) fn from_flags(flags: u8) -> (Counting, bool) {
    let counting = match flags & 6 {
        0 => Counting::Counts,
        2 => Counting::IntoOutage,
        _ => Counting::Unread,
    };
    (counting, flags & 1 == 1)
}
