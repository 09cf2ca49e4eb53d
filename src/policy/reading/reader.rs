//! The state machine that says which page comes next, and reads it.

use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use super::gaps::Gaps;
use super::{Filter, Item, List, Newest, Next, PageError, PageRequest, Reading, believed};
use crate::json;
use crate::policy::delivery::{Delivery, DeliveryId, Guid, Outcome, Position};
use crate::policy::event::Attempt;
use crate::policy::evidence::{Counting, Seen, Stretch};
use crate::policy::ground::{Gap, GapEnd, NextLink};
use crate::policy::ledger::Ledger;
use crate::policy::lost_time::window_start_before_reading;
use crate::policy::names::Names;
use crate::policy::own::Candidate;
use crate::policy::settings::Settings;
use crate::policy::time::{Precision, Time, hours, minutes};

/// GitHub lists some deliveries late, so this much of read ground is read once more.
const LISTED_LATE: Duration = minutes(5);

/// Bytes of a guid or an event name at most, and of what is kept of an action. GitHub's longest name has 36.
const TEXT_BYTES: usize = 255;

/// An old server that does not know the filter of the failures list is asked for it again after this: it may be a newer one by then.
const FILTER_TRIED_AGAIN: Duration = hours(24);

/// Bytes of a next link at most. GitHub's have about 100.
const LINK_BYTES: usize = 2048;

/// Decides which page comes next.
#[derive(Debug)]
pub struct Reader<'a> {
    settings: &'a Settings,
    tick: Time,
    ledger: &'a Ledger,
    window_start: Time,
    first_sweep: bool,
    /// Where new ground ends.
    known: Position,
    /// Where the second look ends.
    look_back_to: Time,
    /// Where the first sweep's search for an answer ends.
    retention_start: Time,
    failure_pages: u32,
    delivery_pages: u32,
    new_ground_read: bool,
    /// The oldest delivery within the window, and whether one at or before it was answered: for the first sweep only.
    oldest_in_window: Option<(Position, bool)>,
    answered_before_window: bool,
    gaps: Gaps,
    names: Names,
    /// The next links of the list, or the gap, that is being read.
    followed: Followed,
    reading: Reading,
}

#[derive(Debug, Default)]
struct Followed {
    list: Option<List>,
    gap: Option<usize>,
    links: HashSet<Rc<str>>,
}

impl<'a> Reader<'a> {
    /// A reading that starts at `now` on what `ledger` knows: its ground, and the asks that have not shown up. After a sweep
    /// that was `killed` a quarter of the pages is read, one at least.
    #[must_use]
    pub fn new(ledger: &'a Ledger, settings: &'a Settings, now: Time, killed: bool) -> Self {
        let (ground, oldest_ask) = (&ledger.ground, ledger.oldest_ask());
        let share = |pages: u32| if killed { (pages / 4).max(1) } else { pages };
        let is_unfiltered = ground.unfiltered_at.is_some_and(|at| now.since(at) < FILTER_TRIED_AGAIN);
        let window_start = window_start_before_reading(ledger, settings, now);
        let known = ground.cursor.unwrap_or(Position { at: window_start, ..Position::default() });
        let late = known.at - LISTED_LATE;
        Self {
            settings,
            tick: now,
            ledger,
            window_start,
            first_sweep: ground.cursor.is_none(),
            known,
            look_back_to: oldest_ask.map_or(late, |ask| ask.min(late)),
            retention_start: now - settings.retention,
            failure_pages: if is_unfiltered { 0 } else { share(settings.failure_pages) },
            delivery_pages: share(settings.delivery_pages),
            new_ground_read: false,
            oldest_in_window: None,
            answered_before_window: false,
            gaps: Gaps::new(&ground.gaps, share(settings.delivery_pages)),
            names: Names::default(),
            followed: Followed::default(),
            reading: Reading::default(),
        }
    }

    /// Which page comes next, when `spare` calls are left above those that are kept back.
    #[must_use]
    pub fn next(&self, spare: u32) -> Next {
        let page = |list, from| Next::Page(PageRequest { list, from });
        let failures = &self.reading.failures;
        // One page of the deliveries list is worth more than another of this one, which may end early.
        if !failures.complete && failures.pages < self.failure_pages && spare > 1 {
            return page(List::Failures, failures.next.cursor());
        }
        let list = &self.reading.list;
        if !list.complete && list.pages < self.delivery_pages {
            if spare > 0 {
                return page(List::Deliveries, list.next.cursor());
            }
            if list.pages == 0 {
                return Next::NoRoom;
            }
        }
        match self.gaps.next(self.window_start) {
            Some(from) if spare > 0 => page(List::Gap, Some(from)),
            _ => Next::Done,
        }
    }

    /// Takes the page that was asked for: its bytes, its next link and GitHub's clock.
    ///
    /// # Errors
    /// If the page is not a list of deliveries, or its next link leads nowhere new. Then nothing may be decided.
    #[inline(never)]
    pub fn take(&mut self, list: List, body: &[u8], next: impl Into<NextLink>, github_date: Option<Time>) -> Result<(), PageError> {
        let next = self.not_seen_before(list, next.into());
        let page: Vec<Delivery> = json::read(body).map_err(PageError::Shape)?;
        self.reading.github_date = self.reading.github_date.max(github_date);
        self.correct_clock();
        self.reading.deliveries += page.len();
        let mut oldest: Option<Position> = None;
        for delivery in &page {
            let position = self.item(list, delivery)?;
            oldest = Some(oldest.map_or(position, |known| known.min(position)));
        }
        match list {
            // Only what the filter is documented to leave out shows that there is none: a time-out may come as 0 in either list.
            List::Failures if page.iter().any(|delivery| (200..=399).contains(&delivery.status_code)) => {
                self.reading.failures.turn(oldest, next);
                self.leave_failures();
                Ok(())
            }
            List::Failures => self.failures_taken(oldest, next),
            List::Deliveries => self.deliveries_taken(oldest, next),
            List::Gap => {
                self.reading.gap_pages += 1;
                self.gaps.take(oldest, next, self.window_start)
            }
        }
    }

    /// A link that leads to where this list has been already would never end, and a gap keeps its link.
    fn not_seen_before(&mut self, list: List, next: NextLink) -> NextLink {
        let gap = if list == List::Gap { self.gaps.open(self.window_start) } else { None };
        if (self.followed.list, self.followed.gap) != (Some(list), gap) {
            self.followed = Followed { list: Some(list), gap, links: HashSet::new() };
        }
        match next {
            NextLink::To(cursor) if cursor.0.len() > LINK_BYTES => NextLink::Unusable("its next link has more than 2,048 bytes".to_owned()),
            NextLink::To(cursor) if !self.followed.links.insert(cursor.0.clone()) => {
                NextLink::Unusable("its next link repeats itself".to_owned())
            }
            next => next,
        }
    }

    fn correct_clock(&mut self) {
        let now = believed(self.tick, self.reading.github_date);
        self.window_start = window_start_before_reading(self.ledger, self.settings, now);
        self.retention_start = now - self.settings.retention;
        if self.first_sweep {
            self.known.at = self.window_start;
        }
    }

    /// GitHub refused the failures list, since it does not know its filter.
    pub fn failures_refused(&mut self) {
        self.reading.failures.pages += 1;
        self.leave_failures();
    }

    /// What comes next is the deliveries list, which has the failures too.
    fn leave_failures(&mut self) {
        self.failure_pages = 0;
        self.reading.filter = Filter::Unknown;
    }

    /// GitHub no longer takes the page cursor of the gap that was asked for.
    pub fn gap_refused(&mut self) {
        self.reading.gap_pages += 1;
        self.gaps.refuse(self.window_start);
    }

    /// A page of a gap could not be read: no further one is asked for in this sweep.
    pub fn leave_gaps(&mut self) {
        self.gaps.leave();
    }

    /// Ends the reading.
    #[must_use]
    pub fn finish(mut self) -> Reading {
        let mut ends = self.gaps.ends();
        let list = &self.reading.list;
        if let (false, NextLink::To(next), Some(newer_end)) = (self.new_ground_read, &list.next, list.oldest) {
            let first_sweep = self.first_sweep;
            ends.push(GapEnd::Left(Gap { newer_end, older_end: self.known, next: next.clone(), first_sweep }));
        }
        self.reading.second_look_complete = list.complete;
        self.reading.gaps = ends;
        self.reading
    }

    /// Takes one delivery, and returns its place.
    fn item(&mut self, list: List, delivery: &Delivery) -> Result<Position, PageError> {
        let id = DeliveryId(delivery.id);
        let (at, precision) = Time::parse(&delivery.delivered_at).ok_or(PageError::Time(id))?;
        if [&*delivery.guid, &*delivery.event].iter().any(|text| text.len() > TEXT_BYTES) {
            return Err(PageError::Long(id));
        }
        let position = Position { at, id };
        let outcome = Outcome::of(delivery.status_code, self.settings);
        if precision == Precision::Seconds {
            self.reading.whole_seconds_at = self.reading.whole_seconds_at.max(Some(at));
        }
        self.note(list, position, outcome);
        self.note_evidence(list, Seen { position, answered: outcome.is_answer(), redelivery: delivery.redelivery });
        self.note_oldest_in_window(list, position, outcome);
        self.keep(list, delivery, position, outcome);
        Ok(position)
    }

    /// Notes what any delivery says of the list and of the endpoint.
    fn note(&mut self, list: List, position: Position, outcome: Outcome) {
        let reading = &mut self.reading;
        if list != List::Failures {
            // The failures list leaves deliveries out, so what it shows says nothing of how far the record is known.
            reading.newest = reading.newest.max(Some(position));
        }
        // One from the future, listed above all others by each sweep, must not hide that nothing passes or is answered now.
        if position.at.whole_seconds() > reading.github_date.unwrap_or(self.tick) {
            return;
        }
        if outcome == Outcome::Passed && list != List::Failures {
            reading.newest_pass.get_or_insert(Newest::of(position)).take(position);
        }
        if outcome.is_answer() {
            reading.newest_answer.get_or_insert(Newest::of(position)).take(position);
        }
    }

    /// Keeps of a delivery what the decision needs: of one that passed at once its guid and what it may overtake, of another all.
    fn keep(&mut self, list: List, delivery: &Delivery, position: Position, outcome: Outcome) {
        let guid = Guid::from(&*delivery.guid);
        let event = self.names.shared(&delivery.event);
        let passed_at_once = outcome == Outcome::Passed && !delivery.redelivery;
        let maybe_own = !delivery.redelivery && self.ledger.own.may_be(&event, delivery.repository_id, position.at);
        if let (true, Some(repository_id)) = (maybe_own, delivery.repository_id) {
            self.reading.maybe_own.push(Candidate { guid: guid.clone(), repository_id, first: position, passed: passed_at_once });
        }
        if passed_at_once {
            self.reading.passed_at_once.push(guid);
            let overtakes = !maybe_own && self.settings.superseded_events.iter().any(|name| **name == *event);
            if let (true, Some(repository)) = (overtakes, delivery.repository_id) {
                self.reading.overtaking.entry((event, repository)).or_insert(Newest::of(position)).take(position);
            }
            return;
        }
        let action = delivery.action.as_ref().map(|action| self.names.shared(clip(&action.0)));
        let status_code = i32::try_from(delivery.status_code).unwrap_or(-1);
        let counting = if outcome.is_answer() || !delivery.redelivery { Counting::Counts } else { Counting::Unread };
        let attempt = Attempt { position, status_code, outcome, redelivery: delivery.redelivery, counting };
        let fresh = self.is_fresh(list, position);
        self.reading.items.push(Item { guid, event, action, repository_id: delivery.repository_id, attempt, fresh });
    }

    fn is_fresh(&self, list: List, position: Position) -> bool {
        match list {
            List::Failures => false,
            // How far back its window reaches is known when all is read.
            List::Deliveries if self.first_sweep => true,
            // To the very delivery, unlike the reading: what shares its second with the cursor is shown by each sweep.
            List::Deliveries => position > self.known,
            List::Gap => self.gaps.open_gap(self.window_start).is_some_and(|gap| {
                let watched = !gap.first_sweep || position.at >= self.window_start;
                watched && gap.older_end < position && position < gap.newer_end
            }),
        }
    }

    /// The pages of a list go on from each other. A gap's stretch begins where an earlier sweep ended.
    fn note_evidence(&mut self, list: List, seen: Seen) {
        let newer_end = match list {
            List::Failures => return,
            List::Deliveries => None,
            List::Gap => self.gaps.open_gap(self.window_start).map(|gap| gap.newer_end),
        };
        let stretches = &mut self.reading.stretches;
        if stretches.last().is_none_or(|last| last.newer_end != newer_end) {
            stretches.push(Stretch { newer_end, seen: Vec::new() });
        }
        if let Some(stretch) = stretches.last_mut() {
            stretch.seen.push(seen);
        }
    }

    fn note_oldest_in_window(&mut self, list: List, position: Position, outcome: Outcome) {
        if !self.first_sweep || list != List::Deliveries {
            return;
        }
        if position.at < self.window_start {
            self.answered_before_window |= outcome.is_answer();
        } else if self.oldest_in_window.is_none_or(|(oldest, _)| position < oldest) {
            self.oldest_in_window = Some((position, outcome.is_answer()));
        }
    }

    fn failures_taken(&mut self, oldest: Option<Position>, next: NextLink) -> Result<(), PageError> {
        self.reading.filter = Filter::Known;
        let reach = &mut self.reading.failures;
        reach.turn(oldest, next);
        reach.complete = reach.next == NextLink::End || reach.oldest.is_some_and(|oldest| oldest.at < self.window_start);
        let goes_on = !reach.complete && reach.pages < self.failure_pages;
        reach.check_link(goes_on)
    }

    fn deliveries_taken(&mut self, oldest: Option<Position>, next: NextLink) -> Result<(), PageError> {
        self.reading.list.turn(oldest, next);
        let ended = self.reading.list.next == NextLink::End;
        let oldest = self.reading.list.oldest;
        self.new_ground_read |= ended || oldest.is_some_and(|oldest| before(oldest, self.known));
        let look_back_to = self.look_back_to.max(self.retention_start);
        let looked_back = if self.first_sweep { self.found_an_answer() } else { oldest.is_some_and(|oldest| oldest.at < look_back_to) };
        let list = &mut self.reading.list;
        list.complete = ended || self.new_ground_read && looked_back;
        // Ground that this sweep does not reach becomes a gap, which keeps the link.
        let goes_on = !list.complete && (!self.new_ground_read || list.pages < self.delivery_pages);
        list.check_link(goes_on)
    }

    /// Whether the first sweep may stop: the oldest delivery of the window was answered, or one before it was, or GitHub
    /// keeps nothing older. Else the endpoint may be in an outage that began before the window.
    fn found_an_answer(&self) -> bool {
        let answered = self.oldest_in_window.is_none_or(|(_, answered)| answered);
        answered || self.answered_before_window || self.reading.list.oldest.is_some_and(|oldest| oldest.at < self.retention_start)
    }
}

/// Whether `position` lies on ground that is known from `mark` on. By whole seconds, unless it is the very delivery: a
/// list may mix times with and without milliseconds, and reading a second twice costs less than missing one.
pub(super) fn before(position: Position, mark: Position) -> bool {
    position.id == mark.id || position.at.whole_seconds() < mark.at.whole_seconds()
}

/// An action is for people. That of a `repository_dispatch` is whatever somebody wrote: it must fail no page.
fn clip(action: &str) -> &str {
    &action[..action.floor_char_boundary(TEXT_BYTES)]
}
