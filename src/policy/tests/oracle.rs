//! Invariants 1 to 4 of spec section 13, told by what was served and asked alone: it knows nothing of the ledger.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::model::Listed;
use crate::policy::delivery::Guid;
use crate::policy::event::LOST_AFTER;
use crate::policy::plan::{AskAnswer, Plan};
use crate::policy::reading::List;
use crate::policy::settings::Settings;
use crate::policy::time::{Time, minutes};

#[derive(Clone, Copy, Debug)]
struct Asked {
    at: Time,
    /// The newest delivery that was seen by then.
    after: Time,
    /// The event's newest attempt by then.
    on: u64,
    answer: AskAnswer,
}

/// What sweeps have seen and done so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Oracle {
    /// By guid, in the order of the list.
    seen: BTreeMap<String, BTreeMap<(Time, u64), Rc<Listed>>>,
    /// What the list of every outcome showed, gaps included.
    ground: BTreeMap<(Time, u64), Rc<Listed>>,
    plain: bool,
    /// The newest delivery that was seen.
    newest: Option<Time>,
    /// Asks that GitHub took, and those of which nobody knows.
    asks: BTreeMap<String, Vec<Asked>>,
    /// A test that changes settings knows itself what is overtaken.
    pub(super) settings_changed: bool,
}

impl Oracle {
    /// Items that a page showed.
    pub(super) fn saw(&mut self, list: List, items: &[Rc<Listed>]) {
        for item in items {
            if list != List::Failures {
                self.ground.insert((item.at, item.id), item.clone());
            }
            self.plain |= item.plain;
            self.newest = self.newest.max(Some(item.at));
            if !self.seen.contains_key(&item.guid) {
                self.seen.insert(item.guid.clone(), BTreeMap::new());
            }
            let attempts = self.seen.get_mut(&item.guid).expect("it is there now");
            attempts.entry((item.at, item.id)).or_insert_with(|| item.clone());
        }
    }

    /// An ask was made.
    pub(super) fn asked(&mut self, guid: &Guid, now: Time, answer: AskAnswer) {
        let guid = guid.to_string();
        let on = self.attempts(&guid).last().map_or(0, |item| item.id);
        self.asks.entry(guid).or_default().push(Asked { at: now, after: self.newest.unwrap_or(now), on, answer });
    }

    /// The events asked for at `now`, but for those with this answer.
    pub(super) fn asked_at(&self, now: Time, but: AskAnswer) -> BTreeSet<String> {
        let asked = |asks: &[Asked]| asks.iter().any(|ask| ask.at == now && ask.answer != but);
        self.asks.iter().filter(|(_, asks)| asked(asks)).map(|(guid, _)| guid.clone()).collect()
    }

    /// What the state had forgotten when the window went back: asks that GitHub took and never made are nowhere else.
    pub(super) fn forgot_all_but(&mut self, knows: impl Fn(&str) -> bool) {
        self.asks.retain(|guid, _| knows(guid));
    }

    fn attempts(&self, guid: &str) -> Vec<&Listed> {
        self.seen.get(guid).into_iter().flat_map(BTreeMap::values).map(|item| &**item).collect()
    }

    /// Checks the asks of a plan.
    pub(super) fn check(&self, plan: &Plan, settings: &Settings, now: Time) {
        assert!(plan.asks.len() <= settings.max_redeliveries, "invariant 4: too many asks");
        assert!(!settings.dry_run || plan.asks.is_empty(), "a dry run asks for nothing");
        let names: BTreeSet<String> = plan.asks.iter().map(|ask| ask.guid.to_string()).collect();
        assert_eq!(names.len(), plan.asks.len(), "an event is asked for twice in a sweep");
        for ask in &plan.asks {
            let guid = ask.guid.to_string();
            let attempts = self.attempts(&guid);
            let newest = attempts.last().expect("invariant: an ask is for an event that was read");
            assert_eq!(newest.id, ask.delivery.0, "{guid}: an ask is for the newest attempt");
            assert!(!attempts.iter().any(|item| (200..300).contains(&item.code)), "invariant 2: {guid} passed");
            let first = attempts.iter().find(|item| !item.redelivery).expect("its first delivery was read");
            assert!(now.since(first.at) <= settings.retention, "{guid}: GitHub keeps it no longer");
            assert!(plan.ledger.events.contains_key(&ask.guid), "{guid}: its ask is not saved");
            if !self.settings_changed {
                assert!(!self.is_overtaken(first, settings), "invariant 3: {guid} is overtaken");
            }
            let lost = self.unshown(&guid, &attempts, now);
            let counted = attempts.iter().filter(|item| !self.was_made_into_an_outage(item)).count();
            assert!(counted + lost < settings.max_attempts, "invariant 1: {guid} has {counted} counted attempts, {lost} lost");
        }
    }

    /// Section 5: a redelivery that went unanswered, after another attempt that did, redeliveries of five minutes passed over.
    fn was_made_into_an_outage(&self, item: &Listed) -> bool {
        let unanswered = |code: i64| !(200..600).contains(&code) || matches!(code, 502 | 504 | 520..=527 | 530);
        if !item.redelivery || !unanswered(item.code) {
            return false;
        }
        let place = |item: &Listed| (if self.plain { item.at.whole_seconds() } else { item.at }, item.id);
        let mine = place(item);
        let counts = |other: &Listed| !other.redelivery || mine.0.whole_seconds().since(place(other).0.whole_seconds()) >= minutes(5);
        let before = self.ground.values().filter(|other| place(other) < mine && counts(other)).max_by_key(|other| place(other));
        before.is_some_and(|before| unanswered(before.code))
    }

    /// Asks that GitHub took, that no attempt has shown for so long that none will. Fails if an ask may still show up.
    fn unshown(&self, guid: &str, attempts: &[&Listed], now: Time) -> usize {
        let mut later = attempts.iter().peekable();
        let mut lost = 0;
        let asks = self.asks.get(guid).map_or(&[][..], Vec::as_slice);
        for (index, ask) in asks.iter().enumerate() {
            let after = attempts.iter().position(|item| item.id == ask.on).map_or(0, |place| place + 1);
            while later.next_if(|item| attempts.iter().position(|other| other.id == item.id) < Some(after)).is_some() {}
            // A struck ask takes no attempt from the one that followed it.
            let until = asks.get(index + 1).filter(|_| ask.answer == AskAnswer::Unknown).map(|following| following.after);
            if ask.answer != AskAnswer::Withdrawn && later.next_if(|item| until.is_none_or(|until| item.at <= until)).is_some() {
                continue;
            }
            match ask.answer {
                AskAnswer::Taken | AskAnswer::Unknown => {
                    assert!(now.since(ask.at) >= LOST_AFTER, "{guid} is asked for while an ask for it may show up");
                    lost += usize::from(ask.answer == AskAnswer::Taken);
                }
                AskAnswer::NotRedeliverable(_) => panic!("{guid} is asked for though GitHub will not redeliver it"),
                AskAnswer::Withdrawn => {}
            }
        }
        lost
    }

    fn is_overtaken(&self, first: &Listed, settings: &Settings) -> bool {
        if first.repository_id.is_none() || !settings.superseded_events.contains(&first.event) {
            return false;
        }
        let place = |item: &Listed| (if self.plain { item.at.whole_seconds() } else { item.at }, item.id);
        let overtakes = |attempts: &BTreeMap<(Time, u64), Rc<Listed>>| {
            let newer = |item: &Listed| {
                let same_kind = item.event == first.event && item.repository_id == first.repository_id;
                same_kind && !item.redelivery && place(item) > place(first)
            };
            attempts.values().any(|item| newer(item)) && attempts.values().any(|item| (200..300).contains(&item.code))
        };
        self.seen.values().any(overtakes)
    }
}
