//! What is stored stays bounded, whatever is read (spec section 10).

use std::fmt::Write;

use super::{Case, Fault, World, time};
use crate::policy::event::Fate;
use crate::policy::ledger::{Ledger, NoRoom};
use crate::policy::plan::{Verdict, Wait};
use crate::policy::settings::RETENTION;
use crate::policy::time::minutes;

/// `count` events of `kind`, one a second from `from` on.
fn many(prefix: &str, kind: &str, from: &str, count: usize, attempts: &[&str]) -> String {
    let mut history = String::new();
    for index in 0..count {
        let at = super::clock(time(from) + std::time::Duration::from_secs(index as u64));
        let attempts: Vec<String> = attempts.iter().map(|code| format!("{at} {code}")).collect();
        writeln!(history, "{prefix}{index:05} {kind}: {} | off", attempts.join(", ")).unwrap();
    }
    history
}

/// A paid plan, where one sweep reads it all.
fn paid(history: &str) -> Case {
    Case::new(history).page_of(100).set(|settings| {
        settings.subrequest_limit = 10_000;
        settings.failure_pages = 1000;
        settings.delivery_pages = 1000;
        settings.window = minutes(72 * 60);
    })
}

fn of(ledger: &Ledger, prefix: &str) -> usize {
    ledger.events.values().filter(|event| event.guid.to_string().starts_with(prefix)).count()
}

fn left_behind(world: &World) -> u64 {
    world.ledger().left_behind.iter().map(|loss| loss.count).sum()
}

#[test]
fn what_72_hours_can_ask_for_waits_and_no_more() {
    let history = many("o", "issues", "02:00", 200, &["500"]) + &many("p", "push", "01:00", 200, &["500"]);
    let mut case = paid(&history).set(|settings| settings.max_redeliveries = 1);
    let swept = case.world.sweep(time("10:15"), Fault::None).unwrap();
    let ledger = case.world.ledger();
    assert_eq!((of(&ledger, "o"), of(&ledger, "p")), (88, 200), "288 wait; those that can be overtaken are left behind first");
    assert!(ledger.events.keys().all(|guid| guid.to_string().as_str() >= "o00112"), "and of those the oldest");
    assert_eq!(left_behind(&case.world), 112);
    let verdicts = |verdict: Verdict| swept.plan.judged.iter().filter(|judged| judged.verdict == verdict).count();
    assert_eq!((verdicts(Verdict::LeftBehind), verdicts(Verdict::Waiting(Wait::Turn)), verdicts(Verdict::Redeliver)), (112, 287, 1));
    let tally = swept.plan.tally;
    assert_eq!((tally.left_behind, tally.waiting, tally.redelivered), (112, 288, 0), "each is counted once");
    // The same list once more: none is taken up again, none is told twice.
    case.world.sweep(time("10:30"), Fault::None).unwrap();
    assert_eq!((of(&case.world.ledger(), "o"), left_behind(&case.world)), (88, 112));
}

#[test]
fn what_there_was_no_room_for_while_it_waited_waits_no_longer() {
    // Their asks are out when others take their room.
    let mut case = paid(&many("a", "push", "01:00", 10, &["500"]).replace("off", "lost")).set(|settings| settings.max_redeliveries = 10);
    case.world.sweep(time("10:15"), Fault::None).unwrap();
    case = case.add(&many("b", "push", "02:00", 290, &["500"])).set(|settings| settings.max_redeliveries = 1);
    let tally = case.world.sweep(time("10:30"), Fault::None).unwrap().plan.tally;
    assert_eq!((tally.left_behind, tally.waiting, tally.redelivered), (12, 288, 0), "each is counted once");
}

#[test]
fn a_dry_run_leaves_no_mark_of_what_it_had_no_room_for() {
    let mut case = paid(&many("p", "push", "01:00", 300, &["500"])).set(|settings| {
        settings.max_redeliveries = 1;
        settings.dry_run = true;
    });
    let swept = case.world.sweep(time("10:15"), Fault::None).unwrap();
    assert_eq!(swept.plan.judged.iter().filter(|judged| judged.verdict == Verdict::LeftBehind).count(), 12);
    case = case.set(|settings| {
        settings.max_redeliveries = 10;
        settings.dry_run = false;
    });
    let tally = case.world.sweep(time("10:30"), Fault::None).unwrap().plan.tally;
    assert_eq!((tally.left_behind, tally.waiting, tally.redelivered), (0, 300, 0), "they are taken up");
}

#[test]
fn as_many_as_may_wait_are_remembered_when_they_pass() {
    let mut case =
        paid(&many("p", "push", "01:00", 4_000, &["500"]).replace("off", "200")).set(|settings| settings.max_redeliveries = 1000);
    for tick in ["10:15", "10:30", "10:45", "11:00", "11:15", "11:30"] {
        case.world.sweep(time(tick), Fault::None).unwrap();
    }
    let ledger = case.world.ledger();
    assert_eq!(ledger.events.values().filter(|event| event.fate == Fate::Passed).count(), 4_000);
    assert_eq!(ledger.no_room, NoRoom::default(), "no event of the night is shut out");
}

#[test]
fn no_more_than_ten_thousand_wait_whatever_the_settings() {
    let mut case = paid(&many("p", "push", "01:00", 10_050, &["500"])).set(|settings| settings.max_redeliveries = 1000);
    let swept = case.world.sweep(time("10:15"), Fault::None).unwrap();
    let ledger = case.world.ledger();
    // The thousand that are asked for need room for their asks.
    assert!((8_500..=10_000).contains(&ledger.events.len()), "{}", ledger.events.len());
    assert_eq!(left_behind(&case.world), 10_050 - ledger.events.len() as u64);
    assert!(case.world.saved.len() < 1_900_000, "{}", case.world.saved.len());
    assert_eq!(swept.asked.len(), 1000);
    assert!(swept.asked.iter().all(|guid| ledger.events.keys().any(|kept| kept.to_string() == *guid)), "what is asked for is kept");
    case.world.sweep(time("10:30"), Fault::None).unwrap();
    assert_eq!(case.world.ledger().events.len() as u64 + left_behind(&case.world), 10_050, "none is taken up again or told twice");
}

#[test]
fn a_thousand_entries_by_guid_stay_and_what_exceeds_them_is_left_behind_once() {
    let history = many("o", "issues", "02:00", 20, &["500"; 3]) + &many("p", "push", "01:00", 1010, &["500"; 3]);
    let mut case = paid(&history);
    for quarter in 0..3 {
        case.world.sweep(time("10:15") + minutes(15 * quarter), Fault::None).unwrap();
        let ledger = case.world.ledger();
        assert_eq!((of(&ledger, "o"), of(&ledger, "p")), (0, 1000));
        assert!(ledger.events.values().all(|event| event.fate == Fate::GaveUp));
        assert_eq!(left_behind(&case.world), 30, "sweep {quarter}");
    }
}

#[test]
fn what_came_to_rest_stays_bounded_and_is_not_asked_for_again() {
    // The failures list shows the failures of old passes for ever.
    let mut case = paid(&many("p", "push", "01:00", 3100, &["500", "200"]));
    for quarter in 0..3 {
        let swept = case.world.sweep(time("10:15") + minutes(15 * quarter), Fault::None).unwrap();
        assert_eq!(swept.asked.len(), 0);
        assert_eq!((case.world.ledger().events.len(), left_behind(&case.world)), (3000, 0));
    }
}

#[test]
fn a_pass_that_was_forgotten_for_want_of_room_is_not_asked_for_again() {
    let traffic = |case: Case| case.traffic("09:00", "10:14", 200);
    let mut case = traffic(paid(&many("p", "push", "01:00", 3100, &["500", "200"]))).tick("10:15");
    case.world.settings.delivery_pages = 1;
    let swept = case.world.sweep(time("10:30"), Fault::None).unwrap();
    assert!(swept.pages[0] > 30 && swept.pages[1] == 1, "the failures are read, the passes are not");
    assert_eq!((swept.asked.len(), left_behind(&case.world)), (0, 0));
}

#[test]
fn the_size_goes_before_the_numbers() {
    let name = "\u{1}".repeat(255);
    let mut case = paid(&many("p", "push", "01:00", 2800, &["500"])).set(|settings| settings.max_redeliveries = 100);
    let mut items: Vec<_> = case.world.github.record().cloned().collect();
    for item in &mut items {
        item.guid = format!("{:\u{2}>255}", item.guid);
        (item.event, item.action) = (name.clone(), Some(name.clone()));
    }
    case.world.github.clear();
    for item in items {
        case.world.github.insert(item);
    }
    for quarter in 0..3 {
        case.world.sweep(time("10:15") + minutes(15 * quarter), Fault::None).unwrap();
        assert!(case.world.saved.len() < 1_900_000, "{}", case.world.saved.len());
        assert_eq!(case.world.ledger().events.len() as u64 + left_behind(&case.world), 2800, "sweep {quarter}");
    }
}

#[test]
fn losses_and_gaps_leave_no_room_for_as_many_events() {
    use crate::policy::ground::{Gap, PageCursor};
    use crate::policy::ledger::add_loss;

    let mut case = paid(&many("p", "push", "01:00", 10_000, &["500"])).set(|settings| settings.max_redeliveries = 1000).tick("00:30");
    let mut ledger = case.world.ledger();
    for hour in 0..70 {
        let made_at = time("10:15") - minutes(61 * (70 - hour));
        for kind in 0..30 {
            let name = format!("kind_{kind:_>40}").into();
            add_loss(&mut ledger.left_behind, (made_at, made_at), Some(&name), made_at, None);
        }
        add_loss(&mut ledger.left_behind, (made_at, made_at), Some(&"\u{1}".repeat(255).into()), made_at, None);
        add_loss(&mut ledger.gaps_lost, (made_at, made_at), None, made_at, None);
    }
    assert!(ledger.left_behind.iter().all(|loss| loss.kinds.len() == 21 && loss.kinds.contains_key("others")));
    for gap in 0..280 {
        let end = event("", gap, 0).attempts[1].position;
        ledger.ground.gaps.push(Gap { newer_end: end, older_end: end, next: PageCursor("x".repeat(4096).into()), first_sweep: false });
    }
    case.world.save(&ledger);
    assert!(case.world.saved.len() > 1_200_000);
    case.world.github.takes_old_cursors = false;
    case.world.settings.subrequest_limit = 1000 + 12 + 400;
    case.world.settings.delivery_pages = 101;
    case.world.sweep(time("10:15"), Fault::None).unwrap();
    assert!(case.world.ledger().ground.gaps.len() > 150, "most gaps are still there");
    assert!(case.world.saved.len() < 1_900_000, "{}", case.world.saved.len());
}

#[test]
fn the_estimate_of_an_events_bytes_is_never_too_low() {
    let texts = ["", "push", "\u{1}\u{1f}\"\\", "ü€😀", "</script>\u{2028}"];
    for text in texts {
        for (fate, asks) in [(Fate::Open, 0), (Fate::NotRedeliverable(Some(u16::MAX)), 3), (Fate::NotRedeliverable(None), 1)] {
            let mut event = event(text, u64::MAX, asks);
            event.fate = fate;
            let bytes = serde_json::to_vec(&event).unwrap().len() + 1;
            assert!(event.stored_bytes() >= bytes, "{} < {bytes}: {event:?}", event.stored_bytes());
            let plain = crate::policy::delivery::Guid::from("38ee792a-82e7-11f1-959e-7ce606dfe5da");
            event.guid = plain;
            assert!(event.stored_bytes() > serde_json::to_vec(&event).unwrap().len());
        }
    }
}

fn event(text: &str, id: u64, asks: usize) -> crate::policy::event::Event {
    use crate::policy::delivery::{DeliveryId, Outcome, Position};
    use crate::policy::event::{Ask, Attempt, Event};
    use crate::policy::evidence::Counting;
    use crate::policy::time::Time;

    // The last moment of year 9999, and the first of year 0: all that RFC 3339 can say.
    let late = Time::from_millis(253_402_300_799_999);
    let early = Time::from_millis(-62_167_219_200_000);
    let at = |at| Position { at, id: DeliveryId(id) };
    let attempt = |position| Attempt {
        position,
        status_code: i32::MIN,
        outcome: Outcome::Unanswered,
        redelivery: true,
        counting: Counting::IntoOutage,
    };
    let ask = Ask { at: late, after: early, on: at(early), taken: false };
    Event {
        guid: text.into(),
        event: text.into(),
        action: Some(text.into()),
        repository_id: Some(u64::MAX),
        attempts: vec![attempt(at(early)), attempt(at(late))],
        asks: vec![ask; asks],
        fate: Fate::Open,
    }
}

#[test]
fn the_estimate_of_the_overtakers_bytes_is_never_too_low() {
    use crate::policy::superseded::Overtakers;

    let names = ["push", "\u{1}\"\\", "ü€"];
    let mut settings = crate::policy::settings::Settings { superseded_events: names.map(str::to_owned).to_vec(), ..Default::default() };
    let mut overtakers = Overtakers::default();
    overtakers.apply(&settings, time("00:00"), true);
    settings.superseded_events.push("later".into());
    overtakers.apply(&settings, time("00:00"), false);
    let empty = serde_json::to_vec(&Overtakers::default()).unwrap().len();
    let position = event("", u64::MAX, 0).attempts[1].position;
    for repository in [1, u64::MAX] {
        for name in names {
            overtakers.passed(&name.into(), Some(repository), position);
        }
    }
    assert!(overtakers.stored_bytes() + empty >= serde_json::to_vec(&overtakers).unwrap().len());
}

#[test]
fn overtakers_stay_bounded_and_the_newest_stay() {
    use crate::policy::superseded::Overtakers;

    let mut overtakers = Overtakers::default();
    overtakers.apply(&crate::policy::settings::Settings::default(), time("00:00"), true);
    for repository in 0..5000 {
        let mut first = event("", 1, 0).attempts[1].position;
        first.at = time("00:00") + std::time::Duration::from_secs(repository);
        overtakers.passed(&"issues".into(), Some(repository), first);
    }
    overtakers.prune(RETENTION, time("02:00"));
    let position = |repository| overtakers.overtaking(&"issues".into(), Some(repository), crate::policy::delivery::Position::default());
    assert!(position(999).is_none() && position(1000).is_some() && position(4999).is_some());
    assert!(overtakers.stored_bytes() < 400_000);
}
