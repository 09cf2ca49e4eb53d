//! What else can be seen: several kinds at once, people and their settings, and values from outside.

use super::Scene;
use super::kinds::{A, B, C, COMMENT, FORGOTTEN, REVIEW, RUN, failed, failing, kinds_of};
use crate::alarm::Memory;
use crate::alarm::channels::Ways;
use crate::alarm::entry::Failing;
use crate::alarm::fakes::Fault;
use crate::alarm::sample::{attempt, loss, time};
use crate::alarm::summary::Day;
use crate::config;
use crate::failure::FailureClass;
use crate::policy::delivery::{DeliveryId, Outcome, Position};
use crate::policy::event::{Event, Fate};
use crate::policy::ledger::Loss;

pub(super) fn several(scene: &mut Scene) {
    let refused = (0..12).map(|number| attempt(number * 3, 401, Outcome::Refused));
    scene.ledger.refusals.take(None, refused);
    let (count, kinds) = kinds_of(&[("push", 2)]);
    scene.ledger.left_behind = vec![Loss { from: time(0), to: time(9), count, kinds, ..loss(40) }];
    scene.ledger.gaps_lost = vec![Loss { from: time(10), to: time(21), ..loss(40) }];
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.put(Event { fate: Fate::NotRedeliverable(Some(404)), ..failed(B, COMMENT, 5, &[502]) });
    scene.case("Raised", "A bad half hour, seen by one sweep.", 40, &[]);
    scene.ledger.refusals.take(Some(Position { at: time(60), id: DeliveryId(u64::MAX) }), []);
    scene.case("Changed", "The endpoint was repaired, and one of the events passed.", 70, &[A]);
    scene.forget();
    scene.case("Cleared", "72 hours passed.", FORGOTTEN, &[]);
}

pub(super) fn daily(scene: &mut Scene) {
    let quiet = Day { sweeps: 96, deliveries: 2_880, ..Day::default() };
    scene.summary("A quiet day", "Nothing happened. It makes no sound.", 0, &quiet);
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.sweep(40, &[]);
    let (failed, asked, recovered) = (31, 33, 29);
    let busy = Day { failed_sweeps: 2, failed, asked, recovered, gave_up: 1, under_way: 1, ..quiet };
    scene.summary("Another day", "Most came back; one gave up, and the last one was just asked for.", 60, &busy);
    let first = Day { since: Some(time(0)), pause: Some((time(600), time(840))), sweeps: 44, deliveries: 1_320, ..busy };
    scene.summary("Not a whole day", "The record begins in it, and no sweep ran for four hours.", 1_100, &first);
}

pub(super) fn many(scene: &mut Scene) {
    let guids: Vec<String> =
        (0..18).map(|number| format!("{:08x}-82e8-11f1-a0d9-c47b25e83f06", 0xb2f8_6e15_u32 + number * 0x0101)).collect();
    let guids: Vec<&str> = guids.iter().map(String::as_str).collect();
    for ((minute, guid), kind) in (0..).zip(&guids).zip([RUN, COMMENT, REVIEW].into_iter().cycle()) {
        scene.put(failed(guid, kind, minute, &[500, 503, 503]));
    }
    scene.case("Raised", "An outage: 18 events gave up.", 70, &[]);
    scene.case("Cleared", "Somebody pressed Redeliver for each, and all passed.", 100, &guids);
}

pub(super) fn closed_by_a_person(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.sweep(40, &[]);
    scene.issues.person_sets(false);
    scene.put(failed(B, COMMENT, 60, &[502, 502, 502]));
    scene.case("A new entry", "What the person has seen stays closed: the new issue has only what is new.", 115, &[]);
    scene.case("Cleared for the issue", "The new event passed; the one that the person has seen is open still.", 130, &[B]);
}

pub(super) fn moved(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.sweep(40, &[]);
    // A chat of two people has no addresses.
    let telegram = scene.config.telegram.as_mut().expect("it is set");
    "4102233".clone_into(&mut telegram.chat_id);
    scene.config.control_repo = Some("acme/alarms".to_owned());
    scene.case("The settings name others", "The alarm goes on there, and what stood before says so.", 55, &[]);
    scene.put(failed(B, COMMENT, 90, &[502, 502, 502]));
    scene.case("A pointer without a link", "A new message in a chat whose messages have no address.", 145, &[]);
}

pub(super) fn lost(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.sweep(40, &[]);
    scene.issues.person_sets(false);
    scene.memory = Memory::default();
    scene.sweep(55, &[]);
    scene.issues.person_sets(true);
    scene.memory = Memory::default();
    scene.case("Two open issues", "The older one goes on; the other points to it. Telegram cannot be asked what was sent.", 70, &[]);
    scene.memory = Memory::default();
    scene.forget();
    scene.case("Nothing is known", "The state was lost, and GitHub lists no failure that is too old.", 85, &[]);
}

pub(super) fn less(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    (0..2).for_each(|_| scene.issues.line.fail("GET /app", Fault::Status(500)));
    scene.case("The App's page is not known", "GET /app failed: the App has no name, and no link leads to its page.", 40, &[]);
    scene.sweep(55, &[A]);
    scene.telegram.takes_no.set(Some("markup"));
    scene.put(failed(C, REVIEW, 60, &[500, 503, 504]));
    scene.case("Telegram refused the markup", "The message is sent again as plain text.", 115, &[]);
}

pub(super) fn outside(scene: &mut Scene) {
    let hostile = [
        ("<b>x</b>&lt;", "<img src=x onerror=alert(1)>", "@all #1 `](https://evil.example)"),
        ("a | b", "<!-- c -->", "<script>alert(2)</script>"),
        ("\u{202e}evil\n# x", "**d** @mona", "https://evil.example/?a=1&b=\"2\""),
    ];
    for (minute, (name, action, guid)) in (0..).zip(hostile) {
        scene.put(failed(guid, (name, action), minute, &[500, 503, 504]));
    }
    scene.case("Raised", "Names and guids that nobody would choose.", 40, &[]);
}

pub(super) fn why_it_fails(scene: &mut Scene) {
    let fails = |scene: &mut Scene, failing, title, about, minute| {
        scene.failing = Some(failing);
        scene.case(title, about, minute, &[]);
    };
    scene.ways = Ways::WithoutGitHub;
    let problems = config::read(&|_: &str| None, None).expect_err("the App and its key are missing").problems.texts();
    fails(scene, Failing { problems, ..failing(FailureClass::Config) }, "The settings", "Two of them are missing.", 15);
    fails(scene, failing(FailureClass::Auth), "The key", "It was revoked: GitHub answers 401.", 30);
    fails(scene, failing(FailureClass::Config), "The App", "GitHub answers 404.", 45);
    fails(scene, failing(FailureClass::RateLimited), "A rate limit", "GitHub answers 429 and names a wait.", 60);
    fails(scene, failing(FailureClass::Decode), "Something in between", "It answers with a page of HTML.", 75);
    scene.ways = Ways::All;
    fails(
        scene,
        failing(FailureClass::State),
        "The state",
        "A newer version of the Worker wrote it. GitHub works, so both channels show it.",
        90,
    );
    fails(scene, failing(FailureClass::Killed), "The limit of CPU time", "Two sweeps in a row were ended before they were done.", 105);
    scene.failing = None;
    scene.case("A success", "The entry leaves both channels.", 120, &[]);
}
