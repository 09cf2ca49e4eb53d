//! Recovery by hand: once, the window reaches back to a known outage (`POST /recover`).
//!
//! GitHub's list is the truth, so ground that was read and forgotten is simply read again: the cursor goes back, and what the
//! pages of one sweep do not reach becomes a gap that later sweeps read. Two things keep this safe:
//!
//! - Ground is read from the newest delivery to the oldest. So when the first delivery of an event is read, all its later attempts
//!   are known, and it is counted, settled and overtaken as ever.
//! - The failures list shows first deliveries of ground that is still unread, without the pass that may have followed. They are
//!   passed over ([`Ground::is_hidden`](super::ground::Ground::is_hidden)) until the list of every outcome shows them.
//!
//! What gave up stays so, as do events that a person took out: both are kept for as long as GitHub keeps the delivery.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::delivery::Position;
use super::ledger::{Ledger, NoRoom};
use super::lost_time::LostTime;
use super::time::{Time, in_hours};

/// A recovery by hand that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recovering {
    /// How far back it reaches.
    pub since: Time,
    /// When a person asked for it.
    pub asked_at: Time,
    /// The cursor of that time: what is older was read before, and is read again.
    pub read_up_to: Position,
    /// Ground up to here will never be read again: the window left it behind, or GitHub no longer takes its page cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_up_to: Option<Time>,
}

/// A time to which no window can reach back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OutOfReach {
    /// It is not in the past.
    #[error("since lies in the future")]
    Future,
    /// GitHub keeps no delivery of that time.
    #[error("since lies more than {0} hours back, and GitHub keeps no delivery for longer")]
    TooOld(u64),
}

/// Has the window reach back to `since` until what waited then is worked off. GitHub keeps a delivery for `retention`.
///
/// # Errors
/// If GitHub keeps no delivery of that time.
pub fn recover(ledger: &mut Ledger, since: Time, retention: Duration, now: Time) -> Result<(), OutOfReach> {
    if since >= now {
        return Err(OutOfReach::Future);
    }
    if now.since(since) > retention {
        return Err(OutOfReach::TooOld(in_hours(retention)));
    }
    ledger.move_to(now);
    let is_new = ledger.is_new();
    let ground = &mut ledger.ground;
    // A first sweep reads back to the start of its window anyway.
    ground.window_start = if is_new { since } else { ground.window_start.min(since) };
    if let Some(LostTime { ended: Some(ended) }) = &mut ground.lost_time {
        *ended = now;
    }
    ground.lost_time.get_or_insert(LostTime { ended: Some(now) });
    let read_up_to = ground.cursor.unwrap_or_default().max(ground.recovering.map(|before| before.read_up_to).unwrap_or_default());
    ground.recovering = Some(Recovering { since, asked_at: now, read_up_to, lost_up_to: None });
    if let Some(cursor) = &mut ground.cursor {
        // Gaps of that time are read with everything else. One that reaches further back is read to its older end.
        let (covered, older): (Vec<_>, Vec<_>) = ground.gaps.drain(..).partition(|gap| gap.newer_end.at >= since);
        ground.gaps = older;
        let from_there = Position { at: since, ..Position::default() };
        *cursor = covered.iter().map(|gap| gap.older_end).fold(from_there.min(*cursor), Position::min);
        ground.watched_since = ground.watched_since.map(|known| known.min(since));
    }
    ledger.no_room = NoRoom::default();
    Ok(())
}

/// How far a recovery by hand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What was asked for.
    pub recovering: Recovering,
    /// Stretches that are still to be read; `None` while no sweep has begun.
    pub gaps: Option<usize>,
    /// Events of that time that wait.
    pub waiting: usize,
}

/// How far the recovery by hand is, if one is under way.
#[must_use]
pub fn progress(ledger: &Ledger) -> Option<Progress> {
    let ground = &ledger.ground;
    let recovering = ground.recovering?;
    let is_of_that_time = |at: Time| recovering.since <= at && at <= recovering.asked_at;
    let waiting = ledger.events.values().filter(|event| event.is_waiting() && is_of_that_time(event.standing().at)).count();
    let has_begun = ledger.swept_at.is_some_and(|swept_at| swept_at > recovering.asked_at);
    Some(Progress { recovering, gaps: has_begun.then(|| ground.gaps_read_again().count()), waiting })
}
