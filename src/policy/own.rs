//! Our own events (spec section 8): writing the issue of the control repository makes GitHub deliver an `issues` event of that
//! repository to the App itself. Taken for anybody's, such an event would be asked for again, become an entry, and so
//! make the next write: the alarm would feed itself.
//!
//! Each write is kept with the event that is nearest to it in time, one to one. A nearer one that is read later takes its place, and
//! the other is anybody's again.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::delivery::{Guid, Position};
use super::event::stored::json_bytes;
use super::order::{self, oldest_first};
use super::time::{Time, minutes};
use crate::json;

/// The event that a write of an issue makes.
pub const EVENT: &str = "issues";

/// Longest time between a write and the first delivery of its event.
const NEAR: Duration = minutes(2);

/// Writes kept at most: one a sweep for the seven days of Enterprise Server is 672. The newest stay.
const WRITES: usize = 700;

/// Something that we wrote, which makes one event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// The control repository's number.
    pub repository_id: u64,
    /// When GitHub took it, by GitHub's clock.
    pub at: Time,
}

/// An event that may be ours: of this kind, first delivered near a write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Its identity.
    pub guid: Guid,
    /// Of which repository.
    pub repository_id: u64,
    /// Its first delivery.
    pub first: Position,
    /// Whether that passed.
    pub passed: bool,
}

/// Our writes, each with its event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<Wire>", into = "Vec<Wire>")]
pub struct Own(Vec<(Write, Option<Candidate>)>);

impl Own {
    /// We wrote.
    pub fn wrote(&mut self, write: Write) {
        self.0.push((write, None));
        let excess = self.0.len().saturating_sub(WRITES);
        self.0.drain(..excess);
    }

    /// Which writes that an edit found `stood` already are of the sweep that was killed last, before it could save them. Any other is
    /// known, or a person's, and to count it would take another event for ours.
    #[must_use]
    pub fn forgotten(&self, mut stood: Vec<Write>, killed_at: Option<Time>) -> Vec<Write> {
        let is_of_killed = |write: &Write| killed_at.is_some_and(|killed_at| distance(killed_at, write.at) <= NEAR);
        let is_known = |write: &Write| self.0.iter().any(|(known, _)| known == write);
        stood.retain(|write| is_of_killed(write) && !is_known(write));
        stood
    }

    /// Takes in the writes of a copy that went on from this one, or from none.
    pub fn take_in(&mut self, later: Self) {
        let mut known: Vec<Write> = self.0.iter().map(|(write, _)| *write).collect();
        for (write, _) in later.0 {
            // One edit may count as two writes, so each is matched with one.
            match known.iter().position(|known| *known == write) {
                Some(place) => drop(known.swap_remove(place)),
                None => self.wrote(write),
            }
        }
    }

    /// Whether an event first delivered then could be of one of our writes.
    #[must_use]
    pub fn may_be(&self, event: &str, repository_id: Option<u64>, at: Time) -> bool {
        event == EVENT && self.0.iter().any(|(write, _)| Some(write.repository_id) == repository_id && distance(write.at, at) <= NEAR)
    }

    /// Whether the event is ours.
    #[must_use]
    pub fn has(&self, guid: &Guid) -> bool {
        self.0.iter().any(|(_, event)| event.as_ref().is_some_and(|event| event.guid == *guid))
    }

    /// Gives each write its event, among those known and those `read`. Returns those that are anybody's.
    pub fn claim(&mut self, read: Vec<Candidate>) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = self.0.iter_mut().filter_map(|(_, event)| event.take()).collect();
        for new in read {
            match candidates.iter_mut().find(|known| known.guid == new.guid) {
                Some(known) => {
                    known.first = known.first.min(new.first);
                    known.passed |= new.passed;
                }
                None => candidates.push(new),
            }
        }
        let writes = self.0.iter().enumerate();
        let mut pairs: Vec<(i64, Position, usize, usize)> = writes
            .flat_map(|(place, (write, _))| {
                let same = move |(_, event): &(usize, &Candidate)| event.repository_id == write.repository_id;
                candidates
                    .iter()
                    .enumerate()
                    .filter(same)
                    .map(move |(index, event)| (distance(write.at, event.first.at), event.first, place, index))
            })
            .filter(|(distance, ..)| *distance <= NEAR)
            .map(|(distance, first, place, index)| (i64::try_from(distance.as_millis()).unwrap_or(i64::MAX), first, place, index))
            .collect();
        // The nearest pair first, then the next of what is left: no pair is left that would both rather have each other.
        order::sort(&mut pairs, |(distance, first, ..)| oldest_first(*distance, *first));
        let mut left: Vec<Option<Candidate>> = candidates.into_iter().map(Some).collect();
        for (_, _, place, index) in pairs {
            if self.0[place].1.is_none() {
                self.0[place].1 = left[index].take();
            }
        }
        left.into_iter().flatten().collect()
    }

    /// Forgets writes whose events GitHub no longer keeps.
    pub fn prune(&mut self, retention: Duration, now: Time) {
        self.0.retain(|(write, _)| write.at + retention + NEAR + NEAR >= now);
    }

    /// Takes a stored time later than `now` as `now`.
    pub fn not_later_than(&mut self, now: Time) {
        for (write, event) in &mut self.0 {
            write.at = write.at.min(now);
            if let Some(event) = event {
                event.first.at = event.first.at.min(now);
            }
        }
    }

    /// Bytes of the stored form at most.
    #[must_use]
    pub fn stored_bytes(&self) -> usize {
        let event = |event: &Option<Candidate>| {
            event.as_ref().map_or(0, |event| if let Guid::Text(text) = &event.guid { json_bytes(text) } else { 36 })
        };
        self.0.iter().map(|(_, known)| 100 + event(known)).sum()
    }
}

/// What the other Apps of the Worker wrote, in the order in which they told it. GitHub tells an App of what another one writes into
/// the same repository, and two alarms would feed each other.
///
/// It is kept apart from the state, which a sweep that is under way would write over. A sweep takes up what it has not heard yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Others {
    /// How many there ever were.
    count: u64,
    /// The newest.
    writes: Vec<(u64, Time)>,
}

impl Others {
    /// Reads a stored value: one that cannot be read is as good as none.
    #[must_use]
    pub fn read(text: Option<&str>) -> Self {
        text.and_then(|text| json::read(text.as_bytes()).ok()).unwrap_or_default()
    }

    /// The value to store.
    ///
    /// # Errors
    /// Never: it is plain data.
    pub fn write(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(self)
    }

    /// Another App wrote.
    pub fn add(&mut self, writes: &[Write]) {
        self.count = self.count.saturating_add(writes.len() as u64);
        self.writes.extend(writes.iter().map(|write| (write.repository_id, write.at)));
        let excess = self.writes.len().saturating_sub(WRITES);
        self.writes.drain(..excess);
    }

    /// How many there ever were.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// What came after the first `heard`. More than there ever were: then the record was lost since, and all of it is new.
    pub fn after(&self, heard: u64) -> impl Iterator<Item = Write> {
        let new = self.count.checked_sub(heard).unwrap_or(self.count);
        let known = self.writes.len().saturating_sub(usize::try_from(new).unwrap_or(usize::MAX));
        self.writes.iter().skip(known).map(|(repository_id, at)| Write { repository_id: *repository_id, at: *at })
    }
}

/// Writes as one App's object tells them to another's: `REPOSITORY-MILLISECONDS`, with commas between them.
#[must_use]
pub fn written(writes: &[Write]) -> String {
    let texts: Vec<String> = writes.iter().map(|write| format!("{}-{}", write.repository_id, write.at.millis())).collect();
    texts.join(",")
}

/// The same read back; what is no write is left out.
#[must_use]
pub fn parse(text: &str) -> Vec<Write> {
    let write = |text: &str| {
        let (repository_id, at) = text.split_once('-')?;
        Some(Write { repository_id: repository_id.parse().ok()?, at: Time::from_millis(at.parse().ok()?) })
    };
    text.split(',').filter_map(write).collect()
}

fn distance(one: Time, other: Time) -> Duration {
    one.since(other).max(other.since(one))
}

/// `[repository, time]`, then of its event `guid, [time, id], passed`.
#[derive(Serialize, Deserialize)]
struct Wire(u64, Time, Option<(Guid, Position, u8)>);

impl From<Wire> for (Write, Option<Candidate>) {
    fn from(Wire(repository_id, at, event): Wire) -> Self {
        let event = event.map(|(guid, first, passed)| Candidate { guid, repository_id, first, passed: passed != 0 });
        (Write { repository_id, at }, event)
    }
}

impl From<Vec<Wire>> for Own {
    fn from(wire: Vec<Wire>) -> Self {
        Self(wire.into_iter().map(Into::into).collect())
    }
}

impl From<Own> for Vec<Wire> {
    fn from(Own(writes): Own) -> Self {
        let wire = |(write, event): (Write, Option<Candidate>)| {
            Wire(write.repository_id, write.at, event.map(|event| (event.guid, event.first, u8::from(event.passed))))
        };
        writes.into_iter().map(wire).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::delivery::DeliveryId;
    use crate::policy::settings::RETENTION;

    fn at(second: i64) -> Time {
        Time::from_millis(1_796_047_500_000 + second * 1000)
    }

    fn event(guid: &str, second: i64) -> Candidate {
        let id = DeliveryId(u64::try_from(second + 1_000).expect("positive"));
        Candidate { guid: guid.into(), repository_id: 7, first: Position { at: at(second), id }, passed: false }
    }

    /// Writes at these seconds, then what sweep after sweep reads: `a5 b10` in each. Returns which are ours in the end.
    fn check(writes: &[i64], sweeps: &[&[(&str, i64)]], ours: &[&str]) {
        for reversed in [false, true] {
            let mut own = Own::default();
            for second in writes {
                own.wrote(Write { repository_id: 7, at: at(*second) });
            }
            let mut all = Vec::new();
            for sweep in sweeps {
                let mut read: Vec<Candidate> = sweep.iter().map(|(guid, second)| event(guid, *second)).collect();
                if reversed {
                    read.reverse();
                }
                all.extend(read.iter().map(|event| event.guid.clone()));
                own.claim(read);
            }
            let mut claimed: Vec<String> = all.iter().filter(|guid| own.has(guid)).map(ToString::to_string).collect();
            claimed.sort();
            claimed.dedup();
            assert_eq!(claimed, ours, "{writes:?} {sweeps:?}");
            let json = serde_json::to_string(&own).expect("it is stored");
            assert!(own.stored_bytes() >= json.len() - 2, "{json}");
            assert_eq!(serde_json::from_str::<Own>(&json).expect("it is read back"), own);
        }
    }

    #[test]
    fn each_write_has_one_event_the_nearest_in_time() {
        check(&[0], &[&[("a", 1)]], &["a"]);
        check(&[0], &[&[("a", 120)]], &["a"]);
        check(&[0], &[&[("a", 121)]], &[]);
        check(&[0], &[&[("a", -120), ("b", 5)]], &["b"]);
        check(&[0], &[&[("a", 3), ("b", 2), ("c", 4)]], &["b"]);
        check(&[0, 0], &[&[("a", 3), ("b", 2), ("c", 4)]], &["a", "b"]);
        check(&[0, 60], &[&[("a", 3), ("b", 61), ("c", 62)]], &["a", "b"]);
        check(&[0, 60], &[&[("a", 58), ("b", 59)]], &["a", "b"]);
        check(&[], &[&[("a", 0)]], &[]);
    }

    #[test]
    fn one_that_is_read_later_and_is_nearer_takes_the_place() {
        check(&[0], &[&[("a", 30)], &[("b", 1)]], &["b"]);
        check(&[0], &[&[("a", 1)], &[("b", 30)]], &["a"]);
        check(&[0], &[&[("a", 1)], &[("a", 1)], &[]], &["a"]);
        check(&[0, 60], &[&[("a", 20), ("b", 70)], &[("c", 1)]], &["b", "c"]);
    }

    #[test]
    fn the_one_whose_place_was_taken_is_given_back() {
        let mut own = Own::default();
        own.wrote(Write { repository_id: 7, at: at(0) });
        assert_eq!(own.claim(vec![event("a", 30)]), []);
        assert_eq!(own.claim(vec![event("b", 1), event("c", 90)]), [event("a", 30), event("c", 90)]);
    }

    #[test]
    fn another_repository_and_another_event_are_not_ours() {
        let mut own = Own::default();
        own.wrote(Write { repository_id: 7, at: at(0) });
        assert!(own.may_be("issues", Some(7), at(0)));
        assert!(!own.may_be("issues", Some(8), at(0)) && !own.may_be("issues", None, at(0)));
        assert!(!own.may_be("issue_comment", Some(7), at(0)) && !own.may_be("issues", Some(7), at(121)));
        own.claim(vec![Candidate { repository_id: 8, ..event("a", 0) }]);
        assert!(!own.has(&"a".into()));
    }

    #[test]
    fn what_an_edit_found_counts_only_if_a_killed_sweep_wrote_it() {
        let write = |second| Write { repository_id: 7, at: at(second) };
        let mut own = Own::default();
        own.wrote(write(0));
        let check = |stood, killed_at: Option<i64>, forgotten: &[Write]| {
            assert_eq!(own.forgotten(vec![write(stood); 2], killed_at.map(at)), forgotten, "{stood} {killed_at:?}");
        };
        check(900, Some(890), &[write(900); 2]);
        check(900, Some(1020), &[write(900); 2]);
        // A person's, then ours that is known.
        check(900, None, &[]);
        check(900, Some(1800), &[]);
        check(0, Some(0), &[]);
        // Another App wrote at about that time, as all of them sweep at once.
        check(5, Some(0), &[write(5); 2]);
        assert_eq!(own.forgotten(vec![Write { repository_id: 8, ..write(0) }], Some(at(0))).len(), 1);
    }

    #[test]
    fn writes_are_forgotten_with_their_events_and_stay_bounded() {
        let mut own = Own::default();
        (0..1000).for_each(|second| own.wrote(Write { repository_id: 7, at: at(second) }));
        assert!(own.0.len() == WRITES && own.may_be("issues", Some(7), at(999)) && own.stored_bytes() < 100_000);
        own.prune(RETENTION, at(300) + RETENTION);
        assert!(!own.0.is_empty());
        own.prune(RETENTION, at(1000) + RETENTION + minutes(5));
        assert_eq!(own, Own::default());
    }

    #[test]
    fn what_others_wrote_is_heard_once_each_whatever_is_lost() {
        let write = |second| Write { repository_id: 7, at: at(second) };
        let heard = |others: &Others, heard| others.after(heard).collect::<Vec<_>>();
        let mut others = Others::default();
        others.add(&[write(1), write(1)]);
        assert_eq!(heard(&others, 0), [write(1), write(1)]);
        assert_eq!(heard(&others, others.count()), []);
        others.add(&[write(2)]);
        assert_eq!(heard(&others, 2), [write(2)]);
        assert_eq!(Others::read(Some(&others.write().expect("it is plain data"))), others);
        // The record was lost and begun anew, so that the count is one of before.
        assert_eq!(heard(&others, 90), [write(1), write(1), write(2)]);
        for text in [None, Some(""), Some("{}"), Some("[1]")] {
            assert_eq!(Others::read(text), Others::default());
        }
        others.add(&vec![write(3); 10_000]);
        assert_eq!((heard(&others, 0).len(), heard(&others, 10_002).len()), (WRITES, 1));
    }

    #[test]
    fn a_write_is_told_as_text_and_what_is_none_is_left_out() {
        let writes = [Write { repository_id: 820_000_000, at: at(0) }, Write { repository_id: u64::MAX, at: at(5) }];
        assert_eq!(written(&writes), "820000000-1796047500000,18446744073709551615-1796047505000");
        assert_eq!(parse(&written(&writes)), writes);
        for text in ["", ",", "1", "1-", "-1", "a-1", "1-a", "1-1-1"] {
            assert_eq!(parse(text), [], "{text}");
        }
    }
}
