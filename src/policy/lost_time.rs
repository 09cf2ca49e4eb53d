//! Lost time does not use up the window (spec section 5): while the endpoint is down, or no sweep succeeds, its start stands
//! still, so that a night of downtime is recovered in the morning, however many events it takes.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::event::Event;
use super::ledger::Ledger;
use super::settings::Settings;
use super::time::{Time, minutes};

/// No sweep succeeded for longer than this: one tick may come late.
const NO_SWEEP: Duration = minutes(20);

/// Time in which nothing could be recovered, and the time after it in which that is made up for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LostTime {
    /// The sweep that found it over; `None` while it goes on.
    pub ended: Option<Time>,
}

impl LostTime {
    /// Whether something may still be made up for: at least one window after the end, and while an event of that time waits.
    ///
    /// So does one that was never asked for since those of that time came first: it would leave the window in its turn. A dry run
    /// asks for none, so that none would ever be worked off.
    fn goes_on<'a>(self, mut events: impl Iterator<Item = &'a Event>, now: Time, settings: &Settings) -> bool {
        let window = settings.window;
        let Some(ended) = self.ended else { return true };
        let of_that_time = |event: &Event| {
            let Some(first) = event.first().filter(|_| event.is_waiting()) else { return false };
            first.at <= ended || event.asks.is_empty() && first.at + window < now
        };
        now.since(ended) < window || !settings.dry_run && events.any(of_that_time)
    }
}

/// Where the window starts for a sweep at `now` that has yet to read: not later than where it will.
#[must_use]
pub fn window_start_before_reading(ledger: &Ledger, settings: &Settings, now: Time) -> Time {
    let stands_still = ledger.ground.lost_time.is_some() || no_sweep_succeeded(ledger.last_success(), now);
    ledger.ground.window_start_at(now, settings, stands_still)
}

/// Moves the start of the window, or lets it stand still. A sweep at `now` has read both lists.
pub fn move_window(ledger: &mut Ledger, settings: &Settings, now: Time) {
    if no_sweep_succeeded(ledger.last_success(), now) && ledger.ground.lost_time != Some(LostTime { ended: None }) {
        ledger.ground.lost_time = Some(LostTime { ended: Some(now) });
    }
    let reads_again = ledger.ground.gaps_read_again().next().is_some();
    let lost_time = ledger.ground.lost_time.filter(|lost| reads_again || lost.goes_on(ledger.events.values(), now, settings));
    if lost_time.is_none() {
        ledger.ground.recovering = None;
    }
    ledger.ground.window_start = ledger.ground.window_start_at(now, settings, lost_time.is_some());
    ledger.ground.lost_time = lost_time;
}

/// An outage is an entry of the alarm, or is not any more.
pub fn follow_outage(lost_time: &mut Option<LostTime>, is_entry: bool, now: Time) {
    match lost_time {
        _ if is_entry => *lost_time = Some(LostTime { ended: None }),
        Some(LostTime { ended: ended @ None }) => *ended = Some(now),
        _ => {}
    }
}

/// Until when a wait for an unread gap may last, where lost time decides that: one window after it ended, or for an event of later
/// as long as without it, and before GitHub forgets the event. `None` where the window alone does.
#[must_use]
pub fn waits_until(lost_time: Option<LostTime>, first: Time, settings: &Settings, last_chance: Duration) -> Option<Time> {
    let window = settings.window;
    let forgotten = first + settings.retention - last_chance;
    let own_window = first + window - last_chance;
    Some(lost_time?.ended.map_or(forgotten, |ended| forgotten.min(own_window.max(ended + window))))
}

fn no_sweep_succeeded(last_success: Option<Time>, now: Time) -> bool {
    last_success.is_some_and(|before| now.since(before) > NO_SWEEP)
}
