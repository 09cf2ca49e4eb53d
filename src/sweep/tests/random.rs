//! Whole sweeps over random nights: any call refused, any answer lost, a crash between any two steps, ticks that never come or
//! come twice (spec section 13). The policy's own properties know neither calls nor channels.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::world::{Crash, Outside, Upset};
use crate::policy::event::Fate;
use crate::policy::tests::history::{clock, parse, time};
use crate::policy::tests::model::{GitHub, Listed};
use crate::policy::tests::properties::config;
use crate::policy::time::{Time, minutes};
use crate::ports::Key;
use crate::sweep::state::State;

const START: &str = "10:00";

/// Ticks after which nothing goes wrong any more: a wait after failures, a probe, an ask that is lost, and all the asks.
const CALM: u64 = 32;

#[derive(Clone, Debug, Default)]
struct Tick {
    never_comes: bool,
    comes_twice: bool,
    crash: Option<(usize, bool)>,
    upsets: BTreeMap<usize, Upset>,
}

#[derive(Clone, Debug)]
struct Night {
    events: Vec<(&'static str, u64, &'static str)>,
    down: Option<(u64, u64)>,
    ticks: Vec<Tick>,
}

fn tick() -> impl Strategy<Value = Tick> {
    let upset = select(vec![
        Upset::NoAnswer,
        Upset::NoAnswer,
        Upset::AnswerLost,
        Upset::AnswerLost,
        Upset::Status(401),
        Upset::Status(403),
        Upset::Status(429),
        Upset::Status(500),
        Upset::Status(502),
        Upset::Garbage,
    ]);
    let crash = (0_usize..24, any::<bool>());
    (prop::bool::weighted(0.1), prop::bool::weighted(0.1), option::weighted(0.1, crash), btree_map(0_usize..16, upset, 0..3), 0_u8..3)
        .prop_map(|(never_comes, comes_twice, crash, upsets, calm)| {
            // Most sweeps are undisturbed, or nothing would ever come of one.
            if calm > 0 { Tick::default() } else { Tick { never_comes, comes_twice, crash, upsets } }
        })
}

fn night() -> impl Strategy<Value = Night> {
    let kinds = select(vec!["issues @2", "pull_request", "push", "push @null", "issue_comment.created"]);
    let event = (kinds, 0_u64..600, select(vec!["200", "500", "200 lost", "404"]));
    (vec(event, 1..9), option::of((0_u64..300, select(vec![20_u64, 90, 300]))), vec(tick(), 8..44))
        .prop_map(|(events, down, ticks)| Night { events, down, ticks })
}

impl Night {
    fn outside(&self) -> Outside {
        let mut outside = Outside::new("");
        let github = outside.github.get_mut();
        github.down = self.down.iter().map(|(from, length)| (time(START) + minutes(*from), time(START) + minutes(from + length))).collect();
        let mut history = String::new();
        for (index, (kind, minute, code)) in self.events.iter().enumerate() {
            let at = clock(time("09:30") + minutes(*minute));
            // The first delivery fails, what is asked for comes to `code`.
            let (first, ask) = match *code {
                "200 lost" => ("500", "lost, 200"),
                "404" => ("500", "404"),
                code => ("503", code),
            };
            let _ = writeln!(history, "e{index} {kind}: {at} {first} | {ask}");
        }
        github.add(parse(&history));
        outside
    }
}

fn guids_in(text: &str, all: usize) -> BTreeSet<String> {
    let word = |guid: &String| text.split(|letter: char| !letter.is_alphanumeric()).any(|word| word == guid);
    (0..all).map(|index| format!("e{index}")).filter(word).collect()
}

fn overtaken(github: &GitHub, first: &Listed) -> bool {
    let is_newer = |item: &Listed| {
        (&item.event, item.repository_id) == (&first.event, first.repository_id)
            && (item.at, item.id) > (first.at, first.id)
            && !item.redelivery
    };
    let passed = |guid: &str| github.record().any(|item| item.guid == guid && item.code == 200);
    matches!(&*first.event, "issues" | "pull_request") && github.record().any(|item| is_newer(item) && passed(&item.guid))
}

fn state(outside: &Outside) -> State {
    State::read(&outside.stored.borrow()[&Key::State]).expect("it was written by a sweep")
}

fn play(night: &Night) -> (Outside, Time) {
    let outside = night.outside();
    let mut now = time(START);
    for tick in &night.ticks {
        if !tick.never_comes {
            outside.upsets.replace(tick.upsets.clone());
            outside.crash.set(tick.crash.map(|(step, done)| Crash { step, done }));
            outside.tick_at(now);
            outside.crash.set(None);
            outside.upsets.borrow_mut().clear();
            if tick.comes_twice {
                outside.tick_at(now);
            }
            assert!(outside.issues.open_issues().len() <= 1, "two open issues");
        }
        now = now + minutes(15);
    }
    (outside, now)
}

proptest! {
    #![proptest_config(config(2))]

    #[test]
    fn whatever_goes_wrong_in_a_night_nothing_is_lost_and_both_channels_show_the_end_of_it(night in night()) {
        let (outside, morning) = play(&night);
        // No event comes later than that.
        let now = morning.max(time("19:30")) + minutes(15 * CALM);
        outside.ticks(morning, now - minutes(15));
        let all = night.events.len();
        let state = state(&outside);
        assert!(!outside.stored.borrow().contains_key(&Key::Lease), "a lease was left behind");
        assert_eq!(state.failures.in_a_row, 0);

        let github = outside.github.borrow();
        let mut entries = BTreeSet::new();
        for index in 0..all {
            let guid = format!("e{index}");
            let attempts: Vec<_> = github.record().filter(|item| item.guid == guid).collect();
            let known = state.ledger.events.values().find(|event| event.guid.to_string() == guid);
            let fate = known.map(|event| event.fate.clone());
            let last = attempts.last().expect("its first delivery");
            let settled = match &fate {
                Some(fate) if fate.is_entry() => entries.insert(guid.clone()),
                Some(Fate::Open) => last.code == 404,
                Some(Fate::Passed) => attempts.iter().any(|item| item.code == 200),
                Some(_) => true,
                // Forgotten since it lies before the window.
                None => attempts.iter().any(|item| matches!(item.code, 200 | 404)) || overtaken(&github, attempts[0]) || !state.ledger.left_behind.is_empty(),
            };
            assert!(settled, "{guid}: {fate:?} {attempts:?}");
            let answered = attempts.iter().filter(|item| item.code >= 500 && item.code < 502 || item.code == 503).count();
            assert!(answered <= 3, "{guid} was tried {answered} times: {attempts:?}");
            let asks = outside.asks_for(&guid);
            assert!(asks.windows(2).all(|pair| pair[1].since(pair[0]) >= minutes(10)), "{guid} was asked for twice at once: {asks:?}");
        }

        let message = outside.known_text().unwrap_or_default();
        let issues = outside.issues.open_issues();
        let body = issues.first().map(|issue| issue.body.clone()).unwrap_or_default();
        let open = message.starts_with('🔴');
        assert_eq!((guids_in(if open { &message } else { "" }, all), guids_in(&body, all)), (entries.clone(), entries.clone()), "{message}\n{body}");
        assert!(!message.contains("cannot be reached") && !body.contains("cannot be reached"), "{message}\n{body}");
        drop(github);

        outside.tick_at(now);
        assert_eq!((outside.calls.borrow().len(), outside.writes.get()), (2, 2), "nothing new: two lists, the lease and the state");
    }
}
