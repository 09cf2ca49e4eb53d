//! The calls of one invocation (spec section 7).

use std::cell::Cell;

use super::settings::Settings;

/// Calls of one change of the alarm at most, whatever goes wrong. Without a fault a change takes seven: `GET /app`, the
/// installation, a token, finding and creating the issue, a message sent and the old one cut down.
pub const ALARM_CALLS: u32 = 12;

/// Counts every call where it is made. Shared by all that call, within one sweep.
#[derive(Debug)]
pub struct Budget {
    limit: u32,
    used: Cell<u32>,
    /// Calls that may have been made by the end of what is under way.
    ceiling: Cell<u32>,
}

impl Budget {
    /// A sweep that may make `limit` calls.
    #[must_use]
    pub fn new(limit: u32) -> Self {
        Self { limit, used: Cell::new(0), ceiling: Cell::new(limit) }
    }

    /// Takes one call. `false` if none is left, and then it must not be made.
    #[must_use]
    pub fn take(&self) -> bool {
        let may = self.used.get() < self.ceiling.get();
        if may {
            self.used.set(self.used.get() + 1);
        }
        may
    }

    /// Allows so many calls more, until the next word.
    pub fn allow(&self, calls: u32) {
        self.ceiling.set(self.used.get().saturating_add(calls).min(self.limit));
    }

    /// Allows all that are left.
    pub fn allow_all(&self) {
        self.ceiling.set(self.limit);
    }

    /// Calls made so far.
    #[must_use]
    pub fn used(&self) -> u32 {
        self.used.get()
    }

    /// Calls left.
    #[must_use]
    pub fn left(&self) -> u32 {
        self.limit - self.used.get()
    }

    /// Calls left above those that are kept back for the asks, the alarm and the heartbeat.
    #[must_use]
    pub fn spare(&self, settings: &Settings) -> u32 {
        self.left().saturating_sub(kept_back(settings))
    }
}

/// The calls that no page may take.
#[must_use]
pub fn kept_back(settings: &Settings) -> u32 {
    let asks = u32::try_from(settings.max_redeliveries).unwrap_or(u32::MAX);
    asks.saturating_add(ALARM_CALLS).saturating_add(u32::from(settings.heartbeat))
}

/// The least limit with which a sweep can do its work: all pages of the failures list, one of the deliveries list, and
/// what is kept back.
#[must_use]
pub fn least_limit(settings: &Settings) -> u32 {
    kept_back(settings).saturating_add(settings.failure_pages).saturating_add(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_fit_the_free_plan() {
        let settings = Settings { heartbeat: true, ..Settings::default() };
        assert_eq!(settings.failure_pages + settings.delivery_pages + kept_back(&settings), 46);
        assert_eq!(least_limit(&settings), 27);
    }

    #[test]
    fn never_more_calls_than_the_limit() {
        let budget = Budget::new(2);
        assert!(budget.take() && budget.take());
        assert!(!budget.take());
        assert_eq!((budget.used(), budget.left(), budget.spare(&Settings::default())), (2, 0, 0));
    }

    #[test]
    fn what_is_under_way_may_be_held_to_fewer() {
        let budget = Budget::new(4);
        budget.allow(1);
        assert!(budget.take() && !budget.take());
        budget.allow(100);
        assert_eq!((0..9).filter(|_| budget.take()).count(), 3);
        let budget = Budget::new(4);
        budget.allow(0);
        budget.allow_all();
        assert_eq!((0..9).filter(|_| budget.take()).count(), 4);
    }
}
