//! The gaps during one reading: which of them is read, how far, and what becomes of each.

use super::PageError;
use super::reader::before;
use crate::policy::delivery::Position;
use crate::policy::ground::{Gap, GapEnd, NextLink, PageCursor};
use crate::policy::time::Time;

/// All gaps, the newest first.
#[derive(Debug)]
pub(super) struct Gaps {
    gaps: Vec<(Gap, State)>,
    pages_left: u32,
}

#[derive(Debug)]
enum State {
    Untouched,
    Reading { next: PageCursor, oldest: Position },
    Read { reached: Time },
    Refused,
}

impl Gaps {
    /// None of them is touched yet, and so many pages may be read.
    pub(super) fn new(gaps: &[Gap], pages: u32) -> Self {
        Self { gaps: gaps.iter().map(|gap| (gap.clone(), State::Untouched)).collect(), pages_left: pages }
    }

    /// The place of the newest gap that is not read to its end, and that a window from `start` on has not left behind.
    pub(super) fn open(&self, start: Time) -> Option<usize> {
        let is_open = |(gap, state): &(Gap, State)| match state {
            State::Untouched => gap.newer_end.at >= start,
            State::Reading { .. } => true,
            State::Read { .. } | State::Refused => false,
        };
        self.gaps.iter().position(is_open)
    }

    /// That gap, as it was before this reading.
    pub(super) fn open_gap(&self, start: Time) -> Option<&Gap> {
        self.open(start).map(|place| &self.gaps[place].0)
    }

    /// Where it goes on; `None` if there is none, or no page left.
    pub(super) fn next(&self, start: Time) -> Option<PageCursor> {
        let (gap, state) = &self.gaps[self.open(start).filter(|_| self.pages_left > 0)?];
        let next = if let State::Reading { next, .. } = state { next } else { &gap.next };
        Some(next.clone())
    }

    /// Takes a page of it: its oldest delivery and its next link.
    pub(super) fn take(&mut self, oldest: Option<Position>, next: NextLink, start: Time) -> Result<(), PageError> {
        self.pages_left = self.pages_left.saturating_sub(1);
        let Some(place) = self.open(start) else { return Ok(()) };
        let (gap, state) = &mut self.gaps[place];
        let reached = match (&*state, oldest) {
            (State::Reading { oldest: known, .. }, Some(oldest)) => oldest.min(*known),
            (State::Reading { oldest: known, .. }, None) => *known,
            (_, oldest) => oldest.map_or(gap.newer_end, |oldest| oldest.min(gap.newer_end)),
        };
        let goes_on = !before(reached, gap.older_end) && reached.at >= start;
        *state = match next {
            NextLink::To(next) if goes_on => State::Reading { next, oldest: reached },
            NextLink::Unusable(reason) if goes_on => return Err(PageError::Link(reason)),
            NextLink::To(_) | NextLink::Unusable(_) => State::Read { reached: reached.at },
            // The list ends here: GitHub keeps nothing older.
            NextLink::End => State::Read { reached: gap.older_end.at },
        };
        Ok(())
    }

    /// GitHub no longer takes its page cursor.
    pub(super) fn refuse(&mut self, start: Time) {
        self.pages_left = self.pages_left.saturating_sub(1);
        if let Some(place) = self.open(start) {
            self.gaps[place].1 = State::Refused;
        }
    }

    /// No further page is read.
    pub(super) fn leave(&mut self) {
        self.pages_left = 0;
    }

    /// What became of each.
    pub(super) fn ends(self) -> Vec<GapEnd> {
        let end = |(gap, state)| match state {
            State::Untouched => GapEnd::Left(gap),
            State::Reading { next, oldest } => GapEnd::Left(Gap { next, newer_end: oldest, ..gap }),
            State::Read { reached } => GapEnd::Read { was: gap, reached },
            State::Refused => GapEnd::Refused(gap),
        };
        self.gaps.into_iter().map(end).collect()
    }
}
