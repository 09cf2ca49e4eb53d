//! What is counted. docs/compare.md has the definitions for a reader.

use std::collections::BTreeSet;
use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours};
use serde::{Deserialize, Serialize};

use crate::github::{GitHub, Standing};
use crate::traffic::DAYS;
use crate::week::{Nature, Week};

/// What a page says that is new.
#[derive(Debug, Default)]
pub(crate) struct News {
    /// Events that it names.
    pub(crate) events: Vec<u32>,
    /// Whether it says something else as well (an outage, events left behind, the recovery itself failing), and if so whether that
    /// was true at that time.
    pub(crate) itself: Option<bool>,
}

/// A page, kept until it is known what became of its events.
#[derive(Debug)]
struct PageMade {
    at: Time,
    news: News,
    /// Events of it that a newer one had overtaken, as far as GitHub listed it.
    overtaken: Vec<u32>,
}

/// What one system did in one week, while it is counted.
#[derive(Debug, Default)]
pub(crate) struct Score {
    counts: Counts,
    pages: Vec<PageMade>,
    told: BTreeSet<u32>,
    /// Events that were told by their number only: from when to when, and how many.
    told_by_number: Vec<(Time, Time, u64)>,
}

/// What one system did in one week.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Events that failed at first and could have been recovered.
    pub(crate) recoverable: u64,
    /// Of those, never handled, and no newer event of the kind passed.
    pub(crate) lost: u64,
    /// Of the lost ones, those of the night.
    pub(crate) lost_at_night: u64,
    /// Of the lost ones, those of the 40 minutes of 500s.
    pub(crate) lost_to_500s: u64,
    /// Of the lost and of the poisoned events, without anybody being told.
    pub(crate) silent: u64,
    /// Events refused by a deploy: all of them.
    pub(crate) refused_by_deploy: u64,
    /// Of those, never handled, and no newer event of the kind passed.
    pub(crate) lost_to_deploy: u64,
    /// Asks for an event of which GitHub listed a pass.
    pub(crate) asked_though_passed: u64,
    /// Asks for an event that a newer one had overtaken.
    pub(crate) asked_though_overtaken: u64,
    /// Asks for a poisoned event.
    pub(crate) asked_poison: u64,
    /// Asks for an event whose newest attempt was refused.
    pub(crate) asked_refused: u64,
    /// Asks of which one of the four is true.
    pub(crate) asked_for_nothing: u64,
    /// All asks.
    pub(crate) asks: u64,
    /// Work that the endpoint did again.
    pub(crate) handled_again: u64,
    /// All calls.
    pub(crate) calls: u64,
    /// Most calls of one run.
    pub(crate) most_calls: u64,
    /// Minutes from the failure to the recovery: the median of the events that were recovered.
    pub(crate) median_minutes: u64,
    /// The longest.
    pub(crate) worst_minutes: u64,
    /// Messages with a sound.
    pub(crate) pages: u64,
    /// Of those, about nothing that needed anybody.
    pub(crate) false_pages: u64,
}

impl Score {
    /// A run made so many calls.
    pub(crate) fn ran(&mut self, calls: u32) {
        self.counts.calls += u64::from(calls);
        self.counts.most_calls = self.counts.most_calls.max(u64::from(calls));
    }

    /// An event was asked for. What GitHub listed when the run began counts, since no system can know more.
    pub(crate) fn asked(&mut self, github: &GitHub<'_>, event: u32) {
        let standing = github.standing(event);
        let is_poison = matches!(github.week.natures[event as usize], Nature::Poison(_));
        let is_refused = (400..500).contains(&standing.newest_code);
        let reasons = [standing.pass_is_listed, github.is_overtaken(event), is_poison, is_refused];
        let counts = &mut self.counts;
        counts.asks += 1;
        counts.asked_though_passed += u64::from(reasons[0]);
        counts.asked_though_overtaken += u64::from(reasons[1]);
        counts.asked_poison += u64::from(reasons[2]);
        counts.asked_refused += u64::from(reasons[3]);
        counts.asked_for_nothing += u64::from(reasons.contains(&true));
    }

    /// Somebody was told of these, with or without a sound.
    pub(crate) fn told(&mut self, events: &[u32]) {
        self.told.extend(events);
    }

    /// Somebody was told that so many events of this time were left behind.
    pub(crate) fn told_by_number(&mut self, losses: Vec<(Time, Time, u64)>) {
        self.told_by_number = losses;
    }

    /// A message made a sound.
    pub(crate) fn paged(&mut self, github: &GitHub<'_>, at: Time, news: News) {
        self.told(&news.events);
        let overtaken = news.events.iter().copied().filter(|event| github.is_overtaken(*event)).collect();
        self.pages.push(PageMade { at, news, overtaken });
    }

    /// Ends the count: what became of each event, and of each page.
    pub(crate) fn finish(mut self, github: &mut GitHub<'_>, end: Time) -> Counts {
        github.advance(end);
        // What was made and is not listed yet is known to us.
        github.note_listed(end + hours(1));
        let mut numbers = std::mem::take(&mut self.told_by_number);
        let week = github.week;
        let mut recovered = Vec::new();
        for event in week.indexes() {
            let standing = github.standing(event);
            self.counts.handled_again += u64::from(standing.handled.saturating_sub(1));
            if !week.counts(event) {
                continue;
            }
            let open = standing.handled == 0 && !github.is_overtaken(event);
            let at = week.events[event as usize].at;
            match Fault::of(week, event, at) {
                Fault::None => continue,
                Fault::Deploy => {
                    self.counts.refused_by_deploy += 1;
                    self.counts.lost_to_deploy += u64::from(open);
                    continue;
                }
                Fault::Poison => {}
                Fault::Recoverable => {
                    self.counts.recoverable += 1;
                    self.counts.lost += u64::from(open);
                    self.counts.lost_at_night += u64::from(open && week.night.holds(at));
                    self.counts.lost_to_500s += u64::from(open && week.broken.holds(at));
                    recovered.extend(standing.handled_at.map(|handled| handled.since(at)));
                }
            }
            let told = open && (self.told.contains(&event) || is_told_by_number(&mut numbers, at));
            self.counts.silent += u64::from(open && !told);
        }
        recovered.sort_unstable();
        let in_minutes = |span: Option<&Duration>| span.map_or(0, |span| span.as_secs().div_ceil(60));
        self.counts.median_minutes = in_minutes(recovered.get(recovered.len() / 2));
        self.counts.worst_minutes = in_minutes(recovered.last());
        self.counts.pages = self.pages.len() as u64;
        self.counts.false_pages = self.pages.iter().filter(|page| is_false(page, github)).count() as u64;
        self.counts
    }
}

/// Why an event did not pass at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// It did, or was done though the answer came too late, or is refused for good.
    None,
    /// A deploy refused it.
    Deploy,
    /// It never passes.
    Poison,
    /// It would pass later.
    Recoverable,
}

impl Fault {
    fn of(week: &Week, event: u32, at: Time) -> Self {
        let first = week.outcome(event, 0, at);
        match week.natures[event as usize] {
            Nature::Poison(_) => Self::Poison,
            Nature::Refused(_) => Self::None,
            Nature::Plain if first.handled => Self::None,
            Nature::Plain if first.code == 404 => Self::Deploy,
            Nature::Plain => Self::Recoverable,
        }
    }
}

/// An entry that says how many events of a time were left behind tells of so many and no more.
fn is_told_by_number(losses: &mut [(Time, Time, u64)], at: Time) -> bool {
    let found = losses.iter_mut().find(|(from, to, left)| *left > 0 && *from <= at && at <= *to);
    found.is_some_and(|(_, _, left)| {
        *left -= 1;
        true
    })
}

/// Whether nothing that a page newly said needed anybody.
fn is_false(page: &PageMade, github: &GitHub<'_>) -> bool {
    let fine = |event: &u32| {
        let standing: &Standing = github.standing(*event);
        let is_poison = matches!(github.week.natures[*event as usize], Nature::Poison(_));
        let done = standing.handled_at.is_some_and(|handled| handled <= page.at || !standing.by_hand);
        done || page.overtaken.contains(event) && !is_poison
    };
    page.news.itself != Some(true) && page.news.events.iter().all(fine)
}

/// The days that calls are divided by: all that are played.
pub(crate) const DAYS_PLAYED: u64 = DAYS + 1;
