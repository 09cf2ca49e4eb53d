//! What of the deliveries list was read: the cursor, and the gaps that no sweep has read yet (spec sections 3.4 and 7).

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::delivery::Position;
use super::lost_time::LostTime;
use super::order::{self, newest_first};
use super::recovering::Recovering;
use super::settings::Settings;
use super::time::Time;

/// GitHub's `rel="next"` link, opaque and followed verbatim. Whoever follows it checks its origin and path first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PageCursor(pub Rc<str>);

/// How a page says where its list goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NextLink {
    /// It was the last page.
    End,
    /// There.
    To(PageCursor),
    /// Somewhere that is not to be followed, for this reason: it fails the reading only if the list has to go on.
    Unusable(String),
}

impl NextLink {
    /// Where it leads, if it is to be followed.
    #[must_use]
    pub fn cursor(&self) -> Option<PageCursor> {
        match self {
            Self::To(cursor) => Some(cursor.clone()),
            Self::End | Self::Unusable(_) => None,
        }
    }
}

impl From<Option<PageCursor>> for NextLink {
    fn from(next: Option<PageCursor>) -> Self {
        next.map_or(Self::End, Self::To)
    }
}

/// A stretch of the deliveries list that no sweep has read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The oldest delivery that was read on its newer side.
    pub newer_end: Position,
    /// Where read ground begins again.
    pub older_end: Position,
    /// Where reading goes on.
    pub next: PageCursor,
    /// Whether it is what the first sweep did not reach. Then losing it is no entry: the App was not watched before.
    #[serde(default)]
    pub first_sweep: bool,
}

/// How far the deliveries list is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ground {
    /// The newest delivery that an earlier sweep read.
    pub cursor: Option<Position>,
    /// The newest first.
    pub gaps: Vec<Gap>,
    /// Since when the App is watched: the oldest delivery that the first sweep, or a later one on its ground, reached.
    pub watched_since: Option<Time>,
    /// The start of the window. Only a recovery by hand moves it back: else what was settled and forgotten would be taken up again.
    pub window_start: Time,
    /// Why the start of the window stands still, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost_time: Option<LostTime>,
    /// A recovery by hand, while it is under way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovering: Option<Recovering>,
    /// The newest delivery without milliseconds. While GitHub keeps it, all times are compared by whole seconds.
    pub whole_seconds_at: Option<Time>,
    /// When GitHub last showed that it does not know the filter of the failures list, as an old Enterprise Server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfiltered_at: Option<Time>,
}

/// A stretch that the window left behind unread, or whose page cursor GitHub no longer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostGround {
    /// Older end.
    pub from: Time,
    /// Newer end.
    pub to: Time,
}

/// Where the reading of one gap ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GapEnd {
    /// Not touched, or not to its end: what is left of it.
    Left(Gap),
    /// Read to its older end, or to where the list ends.
    Read {
        /// The gap as it was before this sweep.
        was: Gap,
        /// How far back reading went.
        reached: Time,
    },
    /// GitHub no longer takes its page cursor.
    Refused(Gap),
}

impl Ground {
    /// Takes every stored time later than `now` as `now`.
    pub fn move_to(&mut self, now: Time) {
        self.window_start = self.window_start.min(now);
        if let Some(cursor) = &mut self.cursor {
            cursor.at = cursor.at.min(now);
        }
        for gap in &mut self.gaps {
            gap.newer_end.at = gap.newer_end.at.min(now);
            gap.older_end.at = gap.older_end.at.min(now);
        }
        self.watched_since = self.watched_since.map(|at| at.min(now));
        if let Some(ended) = self.lost_time.as_mut().and_then(|lost| lost.ended.as_mut()) {
            *ended = (*ended).min(now);
        }
        self.whole_seconds_at = self.whole_seconds_at.map(|at| at.min(now));
        self.unfiltered_at = self.unfiltered_at.map(|at| at.min(now));
        if let Some(recovering) = &mut self.recovering {
            recovering.asked_at = recovering.asked_at.min(now);
            recovering.read_up_to.at = recovering.read_up_to.at.min(now);
        }
    }

    /// Where the window of a sweep at `now` starts; if it `stands_still`, no longer ago than GitHub keeps a delivery.
    #[must_use]
    pub fn window_start_at(&self, now: Time, settings: &Settings, stands_still: bool) -> Time {
        self.window_start.max(now - if stands_still { settings.retention } else { settings.window })
    }

    /// Whether an unread gap holds the place, so that a later sweep will read what lies there.
    #[must_use]
    pub fn is_unread(&self, place: Position) -> bool {
        self.gaps.iter().any(|gap| gap.older_end < place && place < gap.newer_end)
    }

    /// Gaps of a recovery by hand: they were read once, and are to be read again.
    pub fn gaps_read_again(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.iter().filter(|gap| self.was_read_before(gap.older_end))
    }

    /// Whether the place was read before a recovery by hand.
    #[must_use]
    pub fn was_read_before(&self, place: Position) -> bool {
        self.recovering.is_some_and(|recovering| place <= recovering.read_up_to)
    }

    /// Whether a pass that was seen once and forgotten may lie behind this place of the failures list: it is on ground that a recovery
    /// by hand has not read again yet, or never will.
    #[must_use]
    pub fn is_hidden(&self, place: Position) -> bool {
        let is_lost = self.recovering.and_then(|recovering| recovering.lost_up_to).is_some_and(|lost| place.at <= lost);
        self.was_read_before(place) && (is_lost || self.is_unread(place))
    }

    /// Takes what became of the gaps in this sweep, and returns what was lost of them.
    pub fn take_gaps(&mut self, ends: Vec<GapEnd>) -> Vec<LostGround> {
        let mut lost = Vec::new();
        self.gaps.clear();
        for end in ends {
            match end {
                GapEnd::Left(gap) if gap.newer_end.at < self.window_start => lost.extend(gap.lost_to(gap.newer_end.at)),
                GapEnd::Left(gap) => {
                    self.watch(gap.first_sweep, gap.newer_end.at);
                    self.gaps.push(gap);
                }
                GapEnd::Read { was, reached } => {
                    self.watch(was.first_sweep, reached.max(was.older_end.at));
                    lost.extend(was.lost_to(reached.min(self.window_start)));
                }
                GapEnd::Refused(gap) => lost.extend(gap.lost_to(gap.newer_end.at)),
            }
        }
        order::sort(&mut self.gaps, |gap| newest_first(0, gap.newer_end));
        if let Some(recovering) = &mut self.recovering {
            let again = lost.iter().filter(|lost| lost.from < recovering.read_up_to.at).map(|lost| lost.to).max();
            recovering.lost_up_to = recovering.lost_up_to.max(again);
        }
        lost
    }

    fn watch(&mut self, first_sweep: bool, since: Time) {
        if first_sweep {
            self.watched_since = self.watched_since.map(|known| known.min(since));
        }
    }

    /// Compares all times by whole seconds from now on.
    pub fn whole_seconds(&mut self) {
        for gap in &mut self.gaps {
            gap.newer_end = gap.newer_end.whole_seconds();
            gap.older_end = gap.older_end.whole_seconds();
        }
        if let Some(recovering) = &mut self.recovering {
            recovering.read_up_to = recovering.read_up_to.whole_seconds();
        }
    }
}

impl Gap {
    /// What is lost of it when nothing older than `to` will be read.
    fn lost_to(&self, to: Time) -> Option<LostGround> {
        let from = self.older_end.at;
        (!self.first_sweep && from < to).then_some(LostGround { from, to })
    }
}
