//! One play for each kind of entry: raised, changed and cleared.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::{Scene, section_of};
use crate::alarm::channels::Ways;
use crate::alarm::entry::Failing;
use crate::alarm::fakes::issues::Shut;
use crate::alarm::sample::{attempt, event, loss, time};
use crate::failure::FailureClass;
use crate::policy::delivery::{DeliveryId, Outcome, Position};
use crate::policy::event::{Ask, Attempt, Event, Fate};
use crate::policy::ledger::Loss;
use crate::policy::outage::Outage;

pub(super) const A: &str = "38ee792a-82e7-11f1-959e-7ce606dfe5da";
pub(super) const B: &str = "5d0c7a3e-82e7-11f1-9c41-6ad1f0e2b793";
pub(super) const C: &str = "b2f86e15-82e8-11f1-a0d9-c47b25e83f06";

/// When GitHub has forgotten what was delivered in the first hours.
pub(super) const FORGOTTEN: u64 = 72 * 60 + 240;

/// One that came then, with an attempt each quarter of an hour.
pub(super) fn failed(guid: &str, (name, action): (&str, &str), minute: u64, codes: &[i32]) -> Event {
    let of = |(at, code): (u64, &i32)| {
        let outcome = if matches!(code, 504 | 0) { Outcome::Unanswered } else { Outcome::Failed };
        Attempt { redelivery: at > minute, ..attempt(at, *code, outcome) }
    };
    let attempts = (0..).map(|number| minute + number * 15).zip(codes).map(of).collect();
    Event { event: name.into(), action: Some(action.into()), attempts, fate: Fate::GaveUp, ..event(guid, minute) }
}

pub(super) const RUN: (&str, &str) = ("workflow_run", "completed");
pub(super) const COMMENT: (&str, &str) = ("issue_comment", "created");
pub(super) const REVIEW: (&str, &str) = ("pull_request_review", "submitted");

fn is_about(scene: &Scene, id: &str) {
    assert!(scene.entries().iter().any(|entry| section_of(&entry.kind) == id), "{id}");
}

/// Two sweeps in a row failed like this.
pub(super) fn failing(class: FailureClass) -> Failing {
    Failing { since: time(0), class, problems: Vec::new() }
}

pub(super) fn recovery_fails(scene: &mut Scene) {
    scene.ways = Ways::WithoutGitHub;
    scene.failing = Some(failing(FailureClass::ServerError));
    is_about(scene, "recovery-fails");
    scene.case("Raised", "GitHub answered the second sweep in a row with 500. The control repository waits for GitHub.", 15, &[]);
    scene.failing = Some(failing(FailureClass::Transport));
    scene.case("Changed", "Now it does not answer at all.", 45, &[]);
    scene.ways = Ways::All;
    scene.failing = None;
    scene.case("Cleared", "A sweep succeeded. The control repository never had to show it.", 105, &[]);
}

pub(super) fn outage(scene: &mut Scene) {
    let outage = |waiting, minute| Some(Outage { since: time(0), waiting, counted_at: time(minute) });
    scene.ledger.outage = outage(42, 40);
    is_about(scene, "outage");
    scene.case("Raised", "The endpoint has not answered for half an hour.", 40, &[]);
    scene.ledger.outage = outage(117, 100);
    scene.case("Changed", "An hour later more events wait.", 100, &[]);
    scene.ledger.outage = None;
    scene.case("Cleared", "The endpoint answered. What waited is asked for again.", 130, &[]);
}

pub(super) fn gave_up(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    is_about(scene, "gave-up");
    scene.case("Raised", "The third attempt failed.", 40, &[]);
    scene.put(failed(A, RUN, 0, &[500, 503, 504, 502]));
    scene.case("Changed", "Somebody pressed Redeliver too early: a fourth attempt failed.", 55, &[]);
    scene.case("Cleared", "An attempt passed.", 85, &[A]);
}

pub(super) fn github_refused(scene: &mut Scene) {
    let refused = |event| Event { fate: Fate::NotRedeliverable(Some(404)), ..event };
    scene.put(refused(failed(A, RUN, 0, &[500])));
    is_about(scene, "github-refused");
    scene.case("Raised", "GitHub answered the request to redeliver with 404.", 25, &[]);
    scene.put(Event { repository_id: Some(512_870_946), ..refused(failed(B, COMMENT, 20, &[502])) });
    scene.case("Changed", "Another event, within the hour.", 40, &[]);
    scene.sweep(100, &[B]);
    scene.forget();
    scene.case("Cleared", "One was redelivered by hand; GitHub forgot the other after 72 hours.", FORGOTTEN, &[]);
}

pub(super) fn no_attempt(scene: &mut Scene) {
    let lost = |event: Event| {
        let on = event.attempts[0].position;
        let ask = |minute| Ask { at: time(minute), after: time(minute), on, taken: true };
        Event { asks: vec![ask(10), ask(55), ask(100)], fate: Fate::NotRedeliverable(None), ..event }
    };
    scene.put(lost(failed(A, RUN, 0, &[500])));
    is_about(scene, "no-attempt");
    scene.case("Raised", "GitHub accepted three requests to redeliver and made no attempt.", 130, &[]);
    scene.put(lost(failed(B, REVIEW, 70, &[502])));
    scene.case("Changed", "Another event, more than an hour later: a new message, since an edit wakes nobody.", 205, &[]);
    scene.forget();
    scene.case("Cleared", "72 hours passed, and GitHub forgot both.", FORGOTTEN, &[]);
}

pub(super) fn refuses_everything(scene: &mut Scene) {
    let refused = |minute, code| attempt(minute, code, Outcome::Refused);
    scene.ledger.refusals.take(None, (0..12).map(|number| refused(number * 3, 401)));
    is_about(scene, "refuses-everything");
    scene.case("Raised", "Every attempt of half an hour was refused, ten or more.", 40, &[]);
    scene.ledger.refusals.take(None, [refused(45, 403)]);
    scene.case("Changed", "It answered with another code.", 55, &[]);
    scene.ledger.refusals.take(Some(Position { at: time(60), id: DeliveryId(u64::MAX) }), []);
    scene.case("Cleared", "An attempt passed.", 70, &[]);
}

pub(super) fn kinds_of(counts: &[(&str, u64)]) -> (u64, BTreeMap<Rc<str>, u64>) {
    (counts.iter().map(|(_, count)| count).sum(), counts.iter().map(|(name, count)| ((*name).into(), *count)).collect())
}

pub(super) fn left_behind(scene: &mut Scene) {
    let (count, kinds) = kinds_of(&[("check_run", 31), ("push", 9), ("issue_comment", 2)]);
    scene.ledger.left_behind = vec![Loss { from: time(0), to: time(9), count, kinds, ..loss(190) }];
    is_about(scene, "left-behind");
    scene.case("Raised", "More failed than could be asked for again within three hours.", 190, &[]);
    let (count, kinds) = kinds_of(&[("check_run", 58), ("push", 17), ("issue_comment", 6), ("release", 1), ("star", 3), ("watch", 2)]);
    scene.ledger.left_behind = vec![Loss { from: time(0), to: time(24), count, kinds, ..loss(190) }];
    scene.case("Changed", "The next sweep left more behind.", 205, &[]);
    scene.forget();
    scene.case("Cleared", "72 hours passed.", FORGOTTEN, &[]);
}

pub(super) fn not_read(scene: &mut Scene) {
    scene.ledger.gaps_lost = vec![Loss { from: time(0), to: time(9), ..loss(190) }];
    is_about(scene, "not-read");
    scene.case("Raised", "Part of GitHub's list was too long to be read in time.", 190, &[]);
    scene.ledger.gaps_lost = vec![Loss { from: time(0), to: time(24), ..loss(190) }];
    scene.case("Changed", "The next sweep had to leave out more.", 205, &[]);
    scene.forget();
    scene.case("Cleared", "72 hours passed.", FORGOTTEN, &[]);
}

pub(super) fn telegram_lost(scene: &mut Scene) {
    scene.telegram.shut.set(Some((403, "Forbidden: bot was kicked from the supergroup chat")));
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.case("Raised", "An event gave up, and the bot is not in the chat any more.", 40, &[]);
    scene.case("Changed", "The event passed; the chat is out of reach still.", 55, &[A]);
    scene.telegram.shut.set(None);
    scene.case("Cleared", "The bot was added again. What came and went meanwhile is not sent.", 70, &[]);
}

pub(super) fn control_repository_lost(scene: &mut Scene) {
    scene.issues.shut.set(Some(Shut::NoPermission));
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.case("Raised", "An event gave up, and the App may not write issues.", 40, &[]);
    scene.case("Changed", "The event passed; the repository is out of reach still.", 55, &[A]);
    scene.issues.shut.set(None);
    scene.case("Cleared", "The permission was granted. For what came and went meanwhile no issue is created.", 70, &[]);
}
