//! Which pages are read, and of what they say (spec sections 3 and 7).

use expect_test::expect;

use super::{Case, Fault, check, lines, time};
use crate::policy::delivery::DeliveryId;
use crate::policy::ground::{Ground, PageCursor};
use crate::policy::ledger::Ledger;
use crate::policy::reading::{Filter, List, Next, PageError, Reader};
use crate::policy::settings::Settings;
use crate::policy::time::minutes;

/// Pages of the failures list, the deliveries list and gaps that a sweep reads.
fn pages(case: &mut Case, tick: &str, fault: Fault) -> [u32; 3] {
    case.world.sweep(time(tick), fault).expect("there is room to read").pages
}

#[test]
fn a_time_out_is_found_though_the_failures_list_hides_it() {
    check(
        "a: 10:00 0\nb: 10:01 302\nc: 10:02 600",
        "10:15",
        &expect![[r#"
        10:15 a: asked for again
        10:15 b: refused: the endpoint would refuse it again
        10:15 c: asked for again
    "#]],
    );
}

#[test]
fn the_failures_list_alone_brings_an_event_back() {
    // It was listed late, long after the second look had passed its place.
    let case = Case::new("a: 10:00 500 listed 11:20\nb: 10:00 0 listed 11:20").page_of(5).traffic("10:01", "11:10", 60);
    case.tick("10:15..11:30").check(&expect![[r#"
        11:30 a: asked for again
    "#]]);
}

#[test]
fn a_failures_list_longer_than_its_pages_loses_nothing_that_the_deliveries_list_has() {
    let history = lines(40, |index| format!("e{index:02}: 10:{index:02} 500 | lost"));
    let mut case = Case::new(&history).page_of(5).set(|settings| settings.max_redeliveries = 12);
    let swept = case.world.sweep(time("10:45"), Fault::None).unwrap();
    assert_eq!(swept.pages, [3, 8, 0]);
    let first_twelve: Vec<String> = (0..12).map(|index| format!("e{index:02}")).collect();
    assert_eq!(swept.asked, first_twelve, "the oldest come first, although the failures list shows the newest only");
}

#[test]
fn the_failures_list_ends_at_the_start_of_the_window() {
    let history = lines(20, |index| format!("e{index:02}: {:02}:00 500 | lost", 5 + index / 4));
    let mut case = Case::new(&history).page_of(2).set(|settings| settings.failure_pages = 100);
    assert_eq!(pages(&mut case, "10:00", Fault::None)[0], 7, "twelve of the last three hours and one page that goes beyond");
}

#[test]
fn a_pass_that_only_an_earlier_sweep_saw_is_remembered() {
    // The failures list shows the old failure for ever; the pass lies where later sweeps do not look.
    let mut case =
        Case::new("a: 10:00 500, 10:10 200").page_of(3).traffic("10:11", "10:14", 9).traffic("10:16", "12:50", 300).tick("10:15");
    for minute in (30..=165).step_by(15) {
        let swept = case.world.sweep(time("10:00") + minutes(minute), Fault::None).unwrap();
        assert_eq!((swept.asked.len(), swept.pages[0]), (0, 1), "it is shown, and not asked for");
    }
}

#[test]
fn the_second_look_goes_back_five_minutes() {
    let case = Case::new("a: 10:10:30 0 listed 10:16\nb: 10:07:30 0 listed 10:16").page_of(1).traffic("10:00", "10:15", 15);
    let case = case.traffic("10:16", "10:29", 2).tick("10:15 10:30 10:45");
    case.check(&expect![[r#"
        10:30 a: asked for again
        10:45 a: delivered
    "#]]);
}

#[test]
fn the_second_look_goes_back_to_the_oldest_ask_that_has_not_shown_up() {
    let mut case = Case::new("a: 10:00 500 | lost").page_of(5).traffic("10:00", "12:00", 120);
    let mut seen = Vec::new();
    for quarter in 0..5 {
        let swept = case.world.sweep(time("10:15") + minutes(15 * quarter), Fault::None).unwrap();
        assert!(swept.second_look_complete);
        seen.push((swept.asked.len(), swept.pages[1]));
    }
    // The first sweep reads 15 minutes; the next ones go back to the ask, the one that finds it lost included; so do
    // those after the second ask.
    assert_eq!(seen, [(1, 4), (0, 5), (1, 7), (0, 5), (0, 7)]);
}

#[test]
fn a_second_look_that_falls_short_says_so_and_nothing_else_follows() {
    let case = Case::new("a: 10:00 500 | lost").traffic("10:00", "10:30", 60).page_of(10).set(|settings| settings.delivery_pages = 3);
    let mut case = case.tick("10:15").set(|settings| settings.delivery_pages = 4);
    let swept = case.world.sweep(time("10:30"), Fault::None).unwrap();
    assert!(!swept.second_look_complete || swept.pages[1] < 4);
    assert!(swept.plan.ledger.ground.gaps.is_empty());
}

#[test]
fn the_first_sweep_reads_back_to_the_start_of_the_window() {
    let case = Case::new("").page_of(10).traffic("02:15", "10:15", 480).set(|settings| settings.delivery_pages = 100);
    let mut case = case.set(|settings| settings.subrequest_limit = 1000);
    assert_eq!(pages(&mut case, "10:15", Fault::None), [1, 19, 0], "180 of the last three hours, and one page that goes beyond");
}

#[test]
fn the_first_sweep_goes_on_to_the_first_answer_when_the_oldest_is_unanswered() {
    let history = lines(30, |index| format!("e{index:02}: {:02}:{:02} 0 | lost", 5 + index / 6, index % 6 * 10));
    let first = |history: &str, settings: fn(&mut Settings)| {
        let mut case = Case::new(history).page_of(2).set(settings);
        pages(&mut case, "10:00", Fault::None)[1]
    };
    // Eighteen deliveries of the window on nine pages.
    assert_eq!(first(&format!("{history}\nz: 04:00 0"), |_| {}), 16, "to the end of the list");
    assert_eq!(first(&format!("{history}\nz: 06:05 500\ny: 04:00 0"), |_| {}), 12, "to the first answer");
    assert_eq!(first(&history.replace("e12: 07:00 0", "e12: 07:00 500"), |_| {}), 10, "the oldest of the window was answered");
    assert_eq!(first(&history, |settings| settings.delivery_pages = 11), 11, "within its pages");
}

#[test]
fn the_first_sweep_goes_back_no_further_than_72_hours() {
    // One unanswered delivery an hour, from a GitHub that keeps them for longer.
    let ground = Ground { window_start: time("97:00"), ..Ground::default() };
    let settings = Settings { delivery_pages: 1000, ..Settings::default() };
    let ledger = Ledger { ground, ..Ledger::default() };
    let mut reader = Reader::new(&ledger, &settings, time("100:00"), false);
    let mut hour = 100;
    while let Next::Page(request) = reader.next(1000) {
        let next = PageCursor(format!("https://api.github.com/?cursor={hour}").into());
        if request.list == List::Failures {
            reader.take(request.list, b"[]", None, None).unwrap();
            continue;
        }
        hour -= 1;
        let at = time(&format!("{hour}:30"));
        let item = format!(r#"[{{"id":{hour},"guid":"e","delivered_at":"{at}","redelivery":false,"status_code":0,"event":"push"}}]"#);
        reader.take(request.list, item.as_bytes(), Some(next), None).unwrap();
    }
    assert_eq!(hour, 27, "it stops with the first delivery that is older than 28:00");
}

#[test]
fn a_sweep_after_a_killed_one_reads_a_quarter_of_the_pages() {
    let busy = |failures: u32, deliveries: u32| {
        let history = lines(50, |index| format!("e{index:02}: 10:{index:02} 500 | lost"));
        Case::new(&history).page_of(1).set(|settings| {
            settings.failure_pages = failures;
            settings.delivery_pages = deliveries;
        })
    };
    assert_eq!(pages(&mut busy(3, 20), "10:55", Fault::AfterKill), [1, 5, 0]);
    assert_eq!(pages(&mut busy(12, 3), "10:55", Fault::AfterKill), [3, 1, 0]);
}

#[test]
fn a_sweep_after_a_killed_one_reads_a_quarter_of_the_pages_of_gaps_as_well() {
    let mut case = Case::new("p: 09:59 200").page_of(1).tick("10:00").traffic("10:01", "10:14", 100).tick("10:15");
    let mut after_kill = case.world.clone();
    assert!(pages(&mut case, "10:30", Fault::None)[2] > 5, "the gap is longer than that");
    assert_eq!(after_kill.sweep(time("10:30"), Fault::AfterKill).expect("there is room to read").pages[2], 5);
}

#[test]
fn the_budget_keeps_back_what_the_rest_of_the_sweep_needs() {
    let mut case = Case::new("").page_of(1).traffic("10:00", "10:15", 60).set(|settings| settings.heartbeat = true);
    assert_eq!(pages(&mut case, "10:15", Fault::None), [1, 20, 0], "the default");
    let mut case = Case::new("").page_of(1).traffic("10:00", "10:15", 60).set(|settings| settings.subrequest_limit = 30);
    assert_eq!(pages(&mut case, "10:15", Fault::None), [1, 7, 0], "30 calls, 22 kept back");
}

#[test]
fn without_room_for_a_page_nothing_is_decided() {
    let case = Case::new("a: 10:00 500").set(|settings| settings.subrequest_limit = 22);
    case.tick("10:15").set(|settings| settings.subrequest_limit = 23).tick("10:30").check(&expect![[r#"
        10:15 nothing
        10:30 a: asked for again
    "#]]);
}

#[test]
fn the_last_call_above_those_kept_back_reads_the_deliveries_list() {
    let (ledger, settings) = (Ledger::default(), Settings::default());
    let reader = Reader::new(&ledger, &settings, time("10:15"), false);
    let list = |spare| match reader.next(spare) {
        Next::Page(request) => Some(request.list),
        _ => None,
    };
    assert_eq!([list(0), list(1), list(2)], [None, Some(List::Deliveries), Some(List::Failures)]);
}

#[test]
fn the_cursor_is_never_later_than_githubs_clock() {
    // A delivery from the future does not hide those that follow.
    Case::new("a: 10:00 500\nfuture: 99:00 200 listed 10:01").tick("10:15").ground().add("b: 10:20 500").tick("10:30").ground().check(
        &expect![[r#"
        10:15 a: asked for again
        ground: cursor 10:15:01, watched since 07:15, gaps []
        10:30 a: delivered
        10:30 b: asked for again
        ground: cursor 10:30:01, watched since 07:15, gaps []
    "#]],
    );
}

#[test]
fn a_delivery_from_the_future_is_taken_as_now_by_the_next_sweep() {
    // Its entry leaves 72 hours after the sweep that found it to be later than now.
    Case::new("f issues: 99:00 200 listed 10:01\ng issues: 98:00 500 listed 10:01, 98:01 500 listed 10:01, 98:02 500 listed 10:01\na issues: 10:20 500 listed 10:31")
        .tick("10:15 10:30 10:45 82:15 82:45")
        .check(&expect![[r#"
            10:15 g: gave up: its last attempt failed
            10:15 alarm: g gave up
            10:45 a: superseded: a newer event of its kind passed (2026-12-05T03:00:00.000Z)
            82:45 alarm: none
        "#]]);
}

#[test]
fn ids_near_the_end_of_64_bits_keep_their_last_digit() {
    let mut case = Case::new("a: 10:00 500");
    let mut item = case.world.github.record().next().unwrap().clone();
    (item.id, item.guid) = (u64::MAX, "largest".into());
    case.world.github.insert(item.clone());
    (item.id, item.guid) = (9_223_372_036_854_775_807, "signed".into());
    case.world.github.insert(item);
    let swept = case.world.sweep(time("10:15"), Fault::None).unwrap();
    let ids: Vec<String> = swept.plan.asks.iter().map(|ask| ask.delivery.to_string()).collect();
    assert!(ids.contains(&"9223372036854775807".to_owned()) && ids.contains(&"18446744073709551615".to_owned()), "{ids:?}");
    assert!(case.world.saved.contains(r#""18446744073709551615""#), "text in the state");
    assert_eq!(case.world.ledger().ground.cursor.unwrap().id, DeliveryId(u64::MAX));
}

#[test]
fn pages_that_are_empty_or_short_or_out_of_order_are_read_as_they_are() {
    let mut case = Case::new("a: 10:00 500\nb: 10:01 500, 10:02 200\nc: 10:03 500").traffic("10:04", "10:14", 10);
    case.world.github.page_sizes = vec![0, 3, 1, 0, 0, 2];
    case.world.github.shuffled = true;
    case.tick("10:15 10:30").check(&expect![[r#"
        10:15 a: asked for again
        10:15 b: delivered
        10:15 c: asked for again
        10:30 a: delivered
        10:30 c: delivered
    "#]]);
}

#[test]
fn a_page_that_is_no_list_of_deliveries_is_an_error() {
    let settings = Settings::default();
    let take = |body: &str, next: Option<&str>| {
        let ledger = Ledger::default();
        let mut reader = Reader::new(&ledger, &settings, time("10:00"), false);
        let next = next.map(|next| PageCursor(next.into()));
        reader.take(List::Deliveries, body.as_bytes(), next.clone(), None)?;
        reader.take(List::Deliveries, body.as_bytes(), next, None)
    };
    let item = |guid: &str, at: &str| {
        format!(r#"[{{"id":1,"guid":"{guid}","delivered_at":"{at}","redelivery":false,"status_code":500,"event":"push"}}]"#)
    };
    assert!(take(&item("a", "2026-12-01T10:00:00Z"), None).is_ok(), "optional fields may be missing");
    assert!(matches!(take("{}", None), Err(PageError::Shape(_))));
    assert!(matches!(take("[{}]", None), Err(PageError::Shape(_))));
    assert!(matches!(take("<html>", None), Err(PageError::Shape(_))));
    assert!(matches!(take(&item("a", "today"), None), Err(PageError::Time(DeliveryId(1)))));
    assert!(matches!(take(&item(&"a".repeat(256), "2026-12-01T10:00:00Z"), None), Err(PageError::Long(DeliveryId(1)))));
    assert!(take(&item(&"a".repeat(255), "2026-12-01T10:00:00Z"), None).is_ok());
    assert!(matches!(take("[]", Some("https://api.github.com/?cursor=1")), Err(PageError::Link(_))));
    assert!(matches!(take("[]", Some(&"a".repeat(2049))), Err(PageError::Link(_))));
}

#[test]
fn an_action_of_any_length_is_read_and_cut() {
    let action = "\u{1f7e2}".repeat(100);
    let case = Case::new(&format!("a repository_dispatch.{action}: 10:00 500")).tick("10:15");
    let ledger = case.world.ledger();
    let kept = ledger.events.values().next().unwrap().action.as_deref().unwrap();
    assert_eq!((kept.len(), action.starts_with(kept)), (252, true));
}

#[test]
fn where_the_filter_is_ignored_the_failures_come_out_of_the_deliveries_list() {
    let mut case = Case::new("a: 10:00 500\nb: 10:01 0\nc: 10:02 500, 10:03 200").page_of(5).traffic("10:04", "10:14", 10);
    case.world.github.ignores_the_filter = true;
    let swept = case.world.sweep(time("10:15"), Fault::None).unwrap();
    assert_eq!((swept.asked, swept.pages), (vec!["a".to_owned(), "b".to_owned()], [1, 3, 0]));
    assert_eq!(case.world.ledger().ground.unfiltered_at, Some(time("10:15")));
    // For a day it is not asked for again; then the server may be a newer one.
    assert_eq!(pages(&mut case, "10:30", Fault::None)[0], 0);
    assert_eq!(pages(&mut case, "34:00", Fault::None)[0], 0);
    case = case.traffic("34:01", "34:10", 1);
    assert_eq!((pages(&mut case, "34:15", Fault::None)[0], case.world.ledger().ground.unfiltered_at), (1, Some(time("34:15"))));
    case.world.github.ignores_the_filter = false;
    assert_eq!((pages(&mut case, "58:15", Fault::None)[0], case.world.ledger().ground.unfiltered_at), (1, None));
    assert_eq!(pages(&mut case, "58:30", Fault::None)[0], 1);
}

#[test]
fn a_list_of_failures_alone_is_taken_for_filtered_and_one_with_time_outs_too() {
    for history in ["a: 10:00 500\nb: 10:01 503", "a: 10:00 0\nb: 10:01 600", ""] {
        let mut case = Case::new(history);
        case.world.github.ignores_the_filter = true;
        case.world.sweep(time("10:15"), Fault::None).unwrap();
        assert_eq!(case.world.ledger().ground.unfiltered_at, None, "{history}");
    }
    let mut case = Case::new("a: 10:00 302");
    case.world.github.ignores_the_filter = true;
    case.world.sweep(time("10:15"), Fault::None).unwrap();
    assert!(case.world.ledger().ground.unfiltered_at.is_some());
}

#[test]
fn a_refused_filter_takes_a_call_and_no_list() {
    let (ledger, settings) = (Ledger::default(), Settings::default());
    let mut reader = Reader::new(&ledger, &settings, time("10:15"), false);
    assert!(matches!(reader.next(9), Next::Page(request) if request.list == List::Failures));
    reader.failures_refused();
    assert!(matches!(reader.next(9), Next::Page(request) if request.list == List::Deliveries));
    reader.take(List::Deliveries, b"[]", None, None).expect("an empty list is one");
    assert_eq!(reader.next(9), Next::Done);
    let reading = reader.finish();
    assert_eq!((reading.filter, reading.failures.pages, reading.failures.complete), (Filter::Unknown, 1, false));
}
