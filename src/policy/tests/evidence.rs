//! The rules of outages and lost time at their edges, part by part: [`super::outages`] has them in whole sweeps.

use std::collections::BTreeMap;
use std::time::Duration;

use super::time;
use crate::policy::delivery::{DeliveryId, Outcome, Position};
use crate::policy::event::{Ask, AskStanding, Attempt, Event, Fate};
use crate::policy::evidence::{Counting, Evidence, Seen, Stretch};
use crate::policy::ground::{Gap, GapEnd, PageCursor};
use crate::policy::ledger::Ledger;
use crate::policy::lost_time::{LostTime, move_window, waits_until, window_start_before_reading};
use crate::policy::outage::{Endpoint, Outage};
use crate::policy::reading::{List, Next, Reader};
use crate::policy::settings::Settings;
use crate::policy::time::minutes;

fn at(text: &str) -> Position {
    Position { at: time(text), id: DeliveryId(7) }
}

/// `10:00 a, 10:05 U`: answered or unanswered, a redelivery if the letter is large.
fn stretch(newer_end: Option<&str>, text: &str) -> Stretch {
    let seen = text.split(", ").map(|part| {
        let (clock, letter) = part.split_once(' ').unwrap();
        Seen { position: at(clock), answered: letter.eq_ignore_ascii_case("a"), redelivery: letter.to_uppercase() == letter }
    });
    Stretch { newer_end: newer_end.map(at), seen: seen.collect() }
}

/// An event with these attempts that went unanswered; all but the first are redeliveries.
fn unanswered(attempts: &[&str]) -> Event {
    let attempt = |(index, clock): (usize, &&str)| Attempt {
        position: at(clock),
        status_code: 504,
        outcome: Outcome::Unanswered,
        redelivery: index > 0,
        counting: if index > 0 { Counting::Unread } else { Counting::Counts },
    };
    Event {
        guid: attempts[0].into(),
        event: "push".into(),
        action: None,
        repository_id: None,
        attempts: attempts.iter().enumerate().map(attempt).collect(),
        asks: Vec::new(),
        fate: Fate::Open,
    }
}

/// How an attempt at that time counts that was `known` to count so.
fn weighed(clock: &str, known: Counting, stretches: &[Stretch], place: fn(Position) -> Position) -> Counting {
    let mut event = unanswered(&["09:00", clock]);
    event.attempts[1].position = place(event.attempts[1].position);
    event.attempts[1].counting = known;
    Evidence::new(stretches.to_vec(), &[], place).weigh(&mut event);
    event.attempts[1].counting
}

fn gap(newer_end: &str) -> Gap {
    Gap { newer_end: at(newer_end), older_end: at("09:00"), next: PageCursor("x".into()), first_sweep: false }
}

fn unread(clock: &str, stretches: &[Stretch]) -> Counting {
    weighed(clock, Counting::Unread, stretches, |position| position)
}

#[test]
fn redeliveries_are_passed_over_for_five_minutes_by_whole_seconds_and_no_longer() {
    for (before, counting) in [("10:05:01", Counting::Counts), ("10:05:00.999", Counting::IntoOutage)] {
        assert_eq!(unread("10:10", &[stretch(None, &format!("10:00 a, {before} U, 10:10 U"))]), counting, "{before}");
    }
}

#[test]
fn a_gap_that_is_read_goes_on_where_the_list_stopped_short() {
    let gap = |end: &str| stretch(Some(end), "10:00 u");
    for (end, counting) in [
        ("10:10", Counting::IntoOutage),
        ("10:05:01", Counting::IntoOutage),
        // Other deliveries than those of one sweep may lie between.
        ("10:05:00.999", Counting::Counts),
        // It holds the place, and yet the attempt was not among what was read.
        ("10:12", Counting::Counts),
    ] {
        assert_eq!(unread("10:10", &[stretch(None, "10:10 U"), gap(end)]), counting, "{end}");
    }
    let nearest = [stretch(None, "10:10 U"), gap("10:09"), stretch(Some("10:07"), "10:00 a")];
    assert_eq!(unread("10:10", &nearest), Counting::IntoOutage);
    let known = [stretch(Some("10:09"), "10:00 a")];
    assert_eq!(weighed("10:10", Counting::IntoOutage, &known, |position| position), Counting::IntoOutage, "it was weighed before");
}

#[test]
fn of_several_gaps_only_the_next_one_goes_on() {
    let list = stretch(None, "10:09 U, 10:10 U");
    let further = stretch(Some("10:07"), "10:00 u");
    let weighed = |known, stretches: &[&Stretch], gaps: &[GapEnd]| {
        let mut event = unanswered(&["09:00", "10:10"]);
        event.attempts[1].counting = known;
        Evidence::new(stretches.iter().copied().cloned().collect(), gaps, |position| position).weigh(&mut event);
        event.attempts[1].counting
    };
    let next = GapEnd::Left(gap("10:09"));
    let was_read = GapEnd::Read { was: gap("10:07"), reached: time("09:00") };
    assert_eq!(weighed(Counting::Unread, &[&list, &further], &[next.clone(), was_read.clone()]), Counting::Unread, "it is unread still");
    let second = stretch(Some("10:09"), "10:08 U");
    let second_read = GapEnd::Read { was: gap("10:09"), reached: time("10:08") };
    let left = GapEnd::Left(gap("10:07"));
    assert_eq!(weighed(Counting::Unread, &[&second], &[second_read, left.clone()]), Counting::Counts, "nothing more is read of it");
    assert_eq!(weighed(Counting::Unread, &[], &[GapEnd::Refused(gap("10:09")), left]), Counting::Counts, "nor of this one");
    assert_eq!(weighed(Counting::Counts, &[&further], std::slice::from_ref(&was_read)), Counting::Counts, "and that is for good");
    // It lies inside a gap itself, of which a page ended just there.
    let inside = [GapEnd::Left(gap("12:00"))];
    assert_eq!(weighed(Counting::Unread, &[], &inside), Counting::Unread, "what lay before it will be read");
    assert_eq!(weighed(Counting::Unread, &[&further], &inside), Counting::Unread, "a gap below that one says nothing");
    let nearer = [GapEnd::Refused(gap("10:09")), was_read.clone()];
    assert_eq!(weighed(Counting::Unread, &[&further], &nearer), Counting::Counts, "the nearer one is lost, the further one says nothing");
    // One that is read page by page goes on further down.
    let rest = [GapEnd::Left(Gap { newer_end: at("10:08"), ..gap("10:09") })];
    assert_eq!(weighed(Counting::Unread, &[&second], &rest), Counting::Unread);
}

#[test]
fn by_whole_seconds_an_attempt_is_found_where_it_lies() {
    let place = Position::whole_seconds;
    let list = [stretch(None, "10:00:00.300 u, 10:10:00.700 U")];
    assert_eq!(weighed("10:10:00.700", Counting::Unread, &list, place), Counting::IntoOutage);
    let gap = [stretch(None, "10:10:00.700 U"), stretch(Some("10:10:00.700"), "10:00 u")];
    assert_eq!(weighed("10:10:00.700", Counting::Unread, &gap, place), Counting::IntoOutage);
}

#[test]
fn an_outage_lies_across_the_start_of_the_window_only_if_the_first_delivery_inside_went_unanswered() {
    let across =
        |list: &str| Evidence::new(vec![stretch(None, list)], &[], |position| position).outage_across(time("10:00")).map(|since| since.at);
    assert_eq!(across("09:00 a, 09:10 u, 09:50 u, 10:00 u"), Some(time("09:10")));
    assert_eq!(across("09:00 a, 09:10 u, 10:00 a, 10:01 u"), None);
    assert_eq!(across("09:59 a, 10:00 u, 10:01 u"), None);
    assert_eq!(across("09:59 u"), None);
}

#[test]
fn the_endpoint_is_down_since_the_first_silence_after_its_newest_answer() {
    let mut endpoint = Endpoint::default();
    assert!(!endpoint.take(None, [at("10:30"), at("10:05")].into_iter()));
    assert!(!endpoint.take(None, std::iter::empty()));
    assert_eq!(endpoint.down_since(), Some(at("10:05")), "what is not read again is remembered");
    assert!(endpoint.take(Some(at("10:20")), [at("10:30")].into_iter()), "it ended, and another began");
    assert_eq!(endpoint.down_since(), Some(at("10:30")));
    assert!(endpoint.take(Some(at("10:40")), std::iter::empty()));
    assert!(!endpoint.take(Some(at("10:10")), [at("10:35")].into_iter()), "an older answer is not the newest");
    assert_eq!(endpoint.down_since(), None);
}

#[test]
fn the_endpoints_times_are_corrected_like_all_others() {
    let mut endpoint = Endpoint::default();
    endpoint.take(None, [at("10:30:00.500")].into_iter());
    endpoint.whole_seconds();
    assert_eq!(endpoint.down_since(), Some(at("10:30")));
    endpoint.not_later_than(time("10:15"));
    assert_eq!(endpoint.down_since(), Some(at("10:15")));
    let mut outage = Outage { since: time("10:00"), waiting: 1, counted_at: time("20:00") };
    outage.not_later_than(time("10:15"));
    assert_eq!(outage, Outage { since: time("10:00"), waiting: 1, counted_at: time("10:15") });
}

#[test]
fn an_outage_is_an_entry_once_it_has_lasted_and_is_proved() {
    let entry = |events: &[Event], now: &str| Outage::entry(None, at("10:00"), events.iter(), time(now)).map(|outage| outage.waiting);
    let two = [unanswered(&["10:00"]), unanswered(&["10:01"])];
    assert_eq!(entry(&two, "10:29:59.999"), None);
    assert_eq!(entry(&two, "10:30"), Some(2));
    assert_eq!(entry(&[unanswered(&["10:00", "10:29:59.999"])], "11:00"), None);
    assert_eq!(entry(&[unanswered(&["10:00", "10:30"])], "11:00"), Some(1));
    assert_eq!(entry(&[unanswered(&["10:00"]), unanswered(&["09:50"])], "11:00"), None, "it came before");
    let mut answered = unanswered(&["10:01"]);
    answered.attempts[0].outcome = Outcome::Failed;
    assert_eq!(entry(&[unanswered(&["10:00"]), answered], "11:00"), None);
    let mut clicked = unanswered(&["10:01"]);
    clicked.attempts[0].redelivery = true;
    assert_eq!(entry(&[unanswered(&["10:00"]), clicked], "11:00"), None, "its first delivery was not read");
}

#[test]
fn a_probe_is_due_in_each_sweep_of_three_hours_and_then_once_an_hour() {
    let due = |now: &str, last_ask: Option<&str>| {
        Outage { since: time("10:00"), waiting: 1, counted_at: time("10:30") }.is_probe_due(last_ask.map(time), time(now))
    };
    assert!(due("12:59:59.999", Some("12:45")));
    assert!(!due("13:00", Some("12:45")) && !due("13:00", Some("12:00:00.001")));
    assert!(due("13:00", Some("12:00")) && due("13:00", None));
}

const GOES_ON: Option<LostTime> = Some(LostTime { ended: None });

fn ended(clock: &str) -> LostTime {
    LostTime { ended: Some(time(clock)) }
}

/// A ledger whose window started at 07:00, after a sweep at that time.
fn ledger(swept_at: &str, lost_time: Option<LostTime>, events: Vec<Event>) -> Ledger {
    let mut ledger = Ledger { swept_at: Some(time(swept_at)), ..Ledger::default() };
    ledger.ground.window_start = time("07:00");
    ledger.ground.lost_time = lost_time;
    ledger.events = events.into_iter().map(|event| (event.guid.clone(), event)).collect::<BTreeMap<_, _>>();
    ledger
}

/// Whether the window of a sweep at 20:00 starts at 07:00 still.
fn stands_still(lost_time: Option<LostTime>, events: Vec<Event>) -> bool {
    let mut ledger = ledger("19:45", lost_time, events);
    move_window(&mut ledger, &Settings::default(), time("20:00"));
    assert_eq!(ledger.ground.lost_time.is_some(), ledger.ground.window_start == time("07:00"));
    ledger.ground.lost_time.is_some()
}

#[test]
fn the_window_stands_still_for_one_window_and_for_what_waited_then_or_has_waited_since() {
    assert!(!stands_still(None, vec![unanswered(&["08:00"])]));
    assert!(stands_still(Some(ended("17:00:00.001")), vec![]));
    assert!(!stands_still(Some(ended("17:00")), vec![]));
    let asked = |first: &str| {
        let asks = vec![Ask { at: time("19:00"), after: time("19:00"), on: at(first), taken: true }];
        Event { asks, ..unanswered(&[first]) }
    };
    assert!(stands_still(Some(ended("12:00")), vec![asked("12:00")]));
    assert!(!stands_still(Some(ended("12:00")), vec![Event { fate: Fate::Passed, ..asked("12:00") }]));
    // One of later holds it only if it was never asked for, and would be left behind.
    assert!(!stands_still(Some(ended("12:00")), vec![asked("12:01")]));
    assert!(stands_still(Some(ended("12:00")), vec![unanswered(&["16:59:59.999"])]));
    assert!(!stands_still(Some(ended("12:00")), vec![unanswered(&["17:00"])]));
}

#[test]
fn time_is_lost_when_no_sweep_succeeded_for_more_than_twenty_minutes() {
    for (now, lost) in [("10:20", None), ("10:20:00.001", Some(ended("10:20:00.001")))] {
        let mut ledger = ledger("10:00", None, vec![]);
        let before_reading = window_start_before_reading(&ledger, &Settings::default(), time(now));
        move_window(&mut ledger, &Settings::default(), time(now));
        assert_eq!(ledger.ground.lost_time, lost, "{now}");
        assert_eq!(ledger.ground.window_start, before_reading, "{now}");
    }
    let after = |lost| {
        let mut ledger = ledger("10:00", lost, vec![]);
        move_window(&mut ledger, &Settings::default(), time("12:00"));
        ledger.ground.lost_time
    };
    assert_eq!(after(GOES_ON), GOES_ON, "an outage goes on");
    assert_eq!(after(Some(ended("09:30"))), Some(ended("12:00")), "it is lost once more");
}

#[test]
fn the_reading_reaches_back_to_where_the_window_stands_still() {
    assert_eq!(window_start_before_reading(&ledger("11:45", None, vec![]), &Settings::default(), time("12:00")), time("09:00"));
    assert_eq!(window_start_before_reading(&ledger("11:45", GOES_ON, vec![]), &Settings::default(), time("12:00")), time("07:00"));
    assert_eq!(window_start_before_reading(&ledger("11:30", None, vec![]), &Settings::default(), time("12:00")), time("07:00"));
    assert_eq!(window_start_before_reading(&ledger("79:45", GOES_ON, vec![]), &Settings::default(), time("80:00")), time("08:00"));
}

#[test]
fn a_wait_for_a_gap_ends_one_window_after_lost_time_or_before_github_forgets_the_event() {
    let until = |lost, first: &str| waits_until(lost, time(first), &Settings::default(), minutes(30));
    assert_eq!(until(None, "10:00"), None);
    assert_eq!(until(GOES_ON, "10:00"), Some(time("81:30")));
    assert_eq!(until(Some(ended("12:00")), "10:00"), Some(time("15:00")));
    assert_eq!(until(Some(ended("80:00")), "10:00"), Some(time("81:30")));
    assert_eq!(until(Some(ended("12:00")), "17:00"), Some(time("19:30")), "one of later has its own window");
}

#[test]
fn a_ledger_corrects_the_times_of_outages_and_lost_time() {
    let mut ledger = ledger("10:00", Some(ended("20:00")), vec![]);
    ledger.succeeded_at = Some(time("20:00"));
    ledger.endpoint.take(None, [at("20:00:00.500")].into_iter());
    ledger.outage = Some(Outage { since: time("09:00"), waiting: 1, counted_at: time("20:00") });
    ledger.whole_seconds();
    assert_eq!(ledger.endpoint.down_since(), Some(at("20:00")));
    ledger.move_to(time("10:15"));
    assert_eq!((ledger.ground.lost_time, ledger.succeeded_at), (Some(ended("10:15")), Some(time("10:15"))));
    assert_eq!(ledger.endpoint.down_since(), Some(at("10:15")));
    assert_eq!(ledger.outage, Some(Outage { since: time("09:00"), waiting: 1, counted_at: time("10:15") }));
}

#[test]
fn of_many_attempts_the_oldest_that_was_made_into_an_outage_is_forgotten_with_its_ask() {
    let attempt = |minute: u64| Attempt {
        position: Position { at: time("10:00") + minutes(minute), id: DeliveryId(100 + minute) },
        redelivery: true,
        counting: if minute == 1 { Counting::Counts } else { Counting::IntoOutage },
        ..unanswered(&["10:00"]).attempts[0]
    };
    let mut event = unanswered(&["10:00"]);
    for minute in 1..40 {
        let on = event.attempts.last().expect("its first delivery").position;
        event.asks.push(Ask { at: on.at, after: on.at, on, taken: true });
        assert!(event.add(attempt(minute)));
    }
    let kept: Vec<Duration> = event.attempts.iter().map(|attempt| attempt.position.at.since(time("10:00"))).collect();
    let expected: Vec<Duration> = [0, 1].into_iter().chain(10..40).map(minutes).collect();
    assert_eq!(kept, expected, "the first, what counts, and the newest");
    assert_eq!(event.asks.len(), kept.len() - 1);
    assert!(event.ask_standings(|_| false).iter().all(|standing| *standing == AskStanding::Shown));
}

#[test]
fn a_gap_is_a_stretch_of_its_own() {
    let mut ledger = ledger("10:30", None, vec![]);
    ledger.ground.cursor = Some(at("10:30"));
    let gap = Gap { newer_end: at("10:20"), older_end: at("10:00"), next: PageCursor("older".into()), first_sweep: false };
    ledger.ground.gaps = vec![gap];
    let settings = Settings::default();
    let mut reader = Reader::new(&ledger, &settings, time("10:45"), false);
    let page = |id: u64, clock: &str| {
        format!(
            r#"[{{"id":{id},"guid":"g","delivered_at":"2026-12-01T{clock}:00.000Z","redelivery":true,"status_code":0,"event":"push"}}]"#
        )
    };
    for (list, body) in [(List::Failures, "[]".to_owned()), (List::Deliveries, page(9, "10:24")), (List::Gap, page(8, "10:19"))] {
        let Next::Page(request) = reader.next(20) else { panic!("there is more to read") };
        assert_eq!(request.list, list);
        reader.take(list, body.as_bytes(), None, Some(time("10:45"))).expect("it is a page");
    }
    let ends: Vec<_> = reader.finish().stretches.into_iter().map(|stretch| (stretch.newer_end, stretch.seen.len())).collect();
    assert_eq!(ends, [(None, 1), (Some(at("10:20")), 1)]);
}
