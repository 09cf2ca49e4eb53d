//! Random histories of entries, faults and people (spec section 13.8).

use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::alarm::entry::EntryKind;
use crate::alarm::sample::loss;
use crate::policy::refusing::Refusing;
use crate::policy::tests::properties::config;

/// What happens before a sweep.
#[derive(Clone, Debug)]
enum Happening {
    /// So many events become entries, and the oldest so many leave.
    Change {
        come: usize,
        leave: usize,
    },
    /// The endpoint refuses everything, or no more.
    Refuses(bool),
    /// Events are left behind.
    LeftBehind,
    /// Calls of the sweep go wrong.
    Faults(Vec<(usize, Fault)>),
    Kicked(Option<(u16, &'static str)>),
    Shut(Option<Shut>),
    MessageDeleted,
    Migrated,
    TakesNo(Option<&'static str>),
    PersonCloses,
    PersonReopens,
    IssueGone(u16),
    StateLost,
    HoursPass,
}

fn fault() -> impl Strategy<Value = Fault> {
    prop_oneof![
        3 => Just(Fault::NoAnswer),
        3 => Just(Fault::AnswerLost),
        1 => Just(Fault::Flood(1)),
        3 => select(&[400_u16, 401, 403, 404, 422, 429, 500, 502][..]).prop_map(Fault::Status),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    let shut = [None, Some(Shut::NotInstalled), Some(Shut::Moved), Some(Shut::NoPermission), Some(Shut::NoIssues)];
    let kicked = [None, None, KICKED, Some((401, "Unauthorized")), Some((400, "Bad Request: chat not found")), Some((502, "Bad Gateway"))];
    prop_oneof![
        8 => (0_usize..4, 0_usize..4).prop_map(|(come, leave)| Happening::Change { come, leave }),
        1 => any::<bool>().prop_map(Happening::Refuses),
        1 => Just(Happening::LeftBehind),
        6 => vec((0_usize..12, fault()), 1..4).prop_map(Happening::Faults),
        2 => select(kicked.to_vec()).prop_map(Happening::Kicked),
        2 => select(shut.to_vec()).prop_map(Happening::Shut),
        1 => Just(Happening::MessageDeleted),
        1 => Just(Happening::Migrated),
        1 => select(vec![None, Some("markup"), Some("buttons")]).prop_map(Happening::TakesNo),
        2 => Just(Happening::PersonCloses),
        1 => Just(Happening::PersonReopens),
        1 => select(vec![410_u16, 404, 301]).prop_map(Happening::IssueGone),
        1 => Just(Happening::StateLost),
        1 => Just(Happening::HoursPass),
    ]
}

/// The world, and what a person knows of it.
struct Story {
    outside: Outside,
    minute: u64,
    entries: Vec<Entry>,
    made: usize,
    /// Keys of entries that a person has seen in an issue that they closed, and of those of which that is not sure.
    seen: BTreeSet<String>,
    maybe_seen: BTreeSet<String>,
    /// Whether a person ever opened one again.
    reopened: bool,
}

/// The keys of entries that a text shows.
fn shown_in(text: &str, entries: &[Entry]) -> BTreeSet<String> {
    let shows = |entry: &&Entry| match &entry.kind {
        EntryKind::GaveUp(event) => text.contains(&event.guid.to_string()),
        // Two of them differ by their time alone.
        EntryKind::Refusing(refusing) => text.contains(&format!("answers with 401 since {}.", refusing.since.for_people())),
        EntryKind::LeftBehind(loss) => text.contains(&format!("to {}.", loss.to.for_people())),
        _ => panic!("no such entry is made here"),
    };
    entries.iter().filter(shows).map(|entry| entry.key.clone()).collect()
}

/// All events that a text names, open or not.
fn guids_in(text: &str) -> usize {
    text.matches("guid-").count()
}

/// How many entries a message counts for which it has no room. It has room for ten at least.
fn left_out_of(text: &str) -> usize {
    let Some((shown, counted)) = text.split_once("… and ") else { return 0 };
    assert!(guids_in(shown) >= 10, "{text}");
    counted.split_once(' ').and_then(|(count, _)| count.parse().ok()).expect("it is a count")
}

impl Story {
    fn happen(&mut self, happening: Happening) {
        if matches!(happening, Happening::MessageDeleted | Happening::Migrated | Happening::IssueGone(_)) {
            // What people do is noticed at the next change.
            self.come(1);
        }
        let outside = &mut self.outside;
        match happening {
            Happening::Change { come, leave } => {
                let leave = leave.min(self.entries.len());
                self.entries.drain(..leave);
                self.come(come);
            }
            Happening::Refuses(refuses) => {
                self.entries.retain(|entry| !matches!(entry.kind, EntryKind::Refusing(_)));
                if refuses {
                    let since = time(self.minute);
                    let kind = EntryKind::Refusing(Refusing { since, codes: vec![401] });
                    self.entries.push(Entry { key: format!("refusing:{}", since.millis()), kind });
                }
            }
            Happening::LeftBehind => {
                self.entries.push(Entry { key: format!("left-behind:{}", self.minute), kind: EntryKind::LeftBehind(loss(self.minute)) });
            }
            Happening::Faults(faults) => {
                outside.faults.replace(faults);
            }
            Happening::Kicked(kicked) => outside.telegram.shut.set(kicked),
            Happening::Shut(shut) => outside.issues.shut.set(shut),
            Happening::MessageDeleted => {
                outside.telegram.messages.borrow_mut().pop();
            }
            Happening::Migrated => {
                outside.telegram.migrated.set(Some((-1001, -1002)));
                let mut messages = outside.telegram.messages.borrow_mut();
                messages.retain(|message| message.chat == -1002);
            }
            Happening::TakesNo(what) => outside.telegram.takes_no.set(what),
            Happening::PersonCloses => {
                // A close of an issue that is not known goes unnoticed.
                let unsure = outside.unsure.get() || outside.memory.control_repo.is_none();
                for issue in outside.issues.open_issues() {
                    let shown = shown_in(&issue.body, &self.entries);
                    if unsure { self.maybe_seen.extend(shown) } else { self.seen.extend(shown) }
                }
                outside.issues.person_sets(false);
            }
            Happening::PersonReopens => {
                let mut issues = outside.issues.issues.borrow_mut();
                let none_is_open = issues.iter().all(|issue| !issue.is_open || issue.gone.is_some());
                if let Some(issue) = issues.last_mut().filter(|issue| none_is_open && issue.gone.is_none()) {
                    issue.is_open = true;
                    self.reopened = true;
                    self.maybe_seen.append(&mut self.seen);
                }
            }
            Happening::IssueGone(status) => {
                outside.issues.issues.borrow_mut().iter_mut().for_each(|issue| issue.gone = issue.gone.or(Some(status)));
                // Closed and deleted before anybody noticed: that it was closed is not known.
                self.maybe_seen.append(&mut self.seen);
            }
            Happening::StateLost => {
                outside.memory = Memory::default();
                outside.orphans.borrow_mut().extend(outside.telegram.messages.borrow().iter().map(|message| message.id));
                self.maybe_seen.append(&mut self.seen);
            }
            Happening::HoursPass => self.minute += 120,
        }
        let open: BTreeSet<&String> = self.entries.iter().map(|entry| &entry.key).collect();
        self.seen.retain(|key| open.contains(key));
        self.maybe_seen.retain(|key| open.contains(key));
    }

    fn come(&mut self, count: usize) {
        for _ in 0..count {
            self.made += 1;
            self.entries.push(gave_up(&format!("guid-{:03}", self.made), 0));
        }
    }

    fn sweep(&mut self) -> usize {
        self.minute += 15;
        let told = self.outside.sweep(self.minute, &self.entries);
        if told.errors.is_empty() {
            self.outside.unsure.set(false);
        } else if told.errors.iter().any(|error| matches!(error, ChannelError::Refused { status: 404, .. })) {
            // GitHub said of an issue that it is not there.
            self.maybe_seen.append(&mut self.seen);
        }
        self.outside.calls()
    }

    /// Everything answers again.
    fn calm(&mut self) {
        self.outside.telegram.shut.set(None);
        self.outside.issues.shut.set(None);
        self.outside.faults.borrow_mut().clear();
    }

    /// What section 13.8 says.
    fn check(&self) {
        let all: BTreeSet<String> = self.entries.iter().map(|entry| entry.key.clone()).collect();
        let orphans = self.outside.orphans.borrow();
        let messages = self.outside.telegram.messages.borrow();
        let newest =
            messages.iter().rev().find(|message| !orphans.contains(&message.id)).map(super::super::super::fakes::telegram::Message::text);
        let text = newest.clone().unwrap_or_default();
        let events = |keys: &BTreeSet<String>| keys.iter().filter(|key| key.contains("guid-")).count();
        let told = shown_in(&text, &self.entries);
        assert_eq!(told.len() + left_out_of(&text), all.len(), "Telegram shows or counts every open entry: {text}");
        assert_eq!(guids_in(&text), events(&told), "and no other: {text}");
        assert!(!text.contains("cannot be reached"), "{text}");
        assert_eq!(text.starts_with('🔴'), !all.is_empty(), "{text}");

        let open = self.outside.issues.open_issues();
        assert!(open.len() <= 1, "{} open issues", open.len());
        let body = open.first().map(|issue| issue.body.clone()).unwrap_or_default();
        let shown = shown_in(&body, &self.entries);
        let unseen: BTreeSet<String> = all.difference(&self.seen).cloned().collect();
        let surely: BTreeSet<String> = unseen.difference(&self.maybe_seen).cloned().collect();
        assert!(shown.is_superset(&surely), "the issue shows every entry that nobody has seen: {surely:?} {body}");
        if self.reopened {
            // Noticed at the next change, which may not have come.
            return;
        }
        assert!(shown.is_subset(&unseen), "and none that somebody has: {:?} {body}", self.seen);
        assert!(guids_in(&body) == events(&shown) && !body.contains("be reached"), "and no other: {body}");
        assert_eq!(open.is_empty(), shown.is_empty(), "{body}");
    }
}

proptest! {
    #![proptest_config(config(2))]

    #[test]
    fn one_sweep_after_both_answer_again_both_show_what_is_open(happenings in vec(vec(happening(), 0..3), 1..14), calm_between in any::<bool>()) {
        let mut story = Story {
            outside: Outside::new(),
            minute: 0,
            entries: Vec::new(),
            made: 0,
            seen: BTreeSet::new(),
            maybe_seen: BTreeSet::new(),
            reopened: false,
        };
        for (index, happening) in happenings.into_iter().enumerate() {
            for happening in happening {
                story.happen(happening);
            }
            story.sweep();
            if calm_between && index % 3 == 2 {
                story.calm();
                story.sweep();
                story.check();
            }
        }
        story.calm();
        story.sweep();
        story.check();
        // What is left are pointers, two a sweep; then an unchanged alarm costs no call and no write.
        let quiet = (0..8).any(|_| story.sweep() == 0);
        prop_assert!(quiet, "it comes to rest: {:?}", story.outside.calls.borrow());
        story.check();
    }
}
