//! A busy App's list of deliveries as pages, and the part of a sweep that is measured: from the bytes of the pages to the plan.

use std::fmt::Write;

use github_app_redeliver::policy::ground::{NextLink, PageCursor};
use github_app_redeliver::policy::ledger::Ledger;
use github_app_redeliver::policy::plan::{Plan, decide};
use github_app_redeliver::policy::reading::{List, Next, Reader};
use github_app_redeliver::policy::settings::Settings;
use github_app_redeliver::policy::time::Time;

/// Deliveries on a page.
const PAGE: usize = 100;

/// 2026-11-02T08:00:00Z.
const NOW: Time = Time::from_millis(1_793_606_400_000);

/// The pages of the deliveries list, the newest delivery first: of a hundred events ten were refused and one failed, and the others
/// passed at once. All of them lie within the quarter of an hour before the sweep.
pub(crate) fn pages(deliveries: usize) -> Vec<String> {
    let places: Vec<usize> = (0..deliveries).collect();
    places
        .chunks(PAGE)
        .map(|page| format!("[{}]", page.iter().map(|place| item(*place, deliveries)).collect::<Vec<_>>().join(",")))
        .collect()
}

fn item(place: usize, deliveries: usize) -> String {
    let millis = u64::try_from(place * 840_000 / deliveries).unwrap_or_default();
    let at = NOW - std::time::Duration::from_millis(millis);
    let (code, status) = match place % 100 {
        3 | 13 | 23 | 33 | 43 | 53 | 63 | 73 | 83 | 93 => (404, "Invalid HTTP Response: 404"),
        50 => (500, "Invalid HTTP Response: 500"),
        _ => (200, "OK"),
    };
    let event = ["workflow_run", "check_run", "check_suite", "push"][place % 4];
    let id = 3_844_358_593_348_378_624_u64 - place as u64;
    let repository = 479_544_328 + place % 10;
    let mut json = String::new();
    // To write into a text never fails.
    let _ = write!(
        json,
        r#"{{"id":{id},"guid":"{place:08x}-82e7-11f1-959e-7ce606dfe5da","delivered_at":"{at}","redelivery":false,"duration":0.27,"#
    );
    let _ = write!(
        json,
        r#""status":"{status}","status_code":{code},"event":"{event}","action":"completed","installation_id":123,"repository_id":{repository},"throttled_at":null}}"#
    );
    json
}

/// A sweep that may read so many pages.
pub(crate) fn settings(pages: usize) -> Settings {
    Settings { delivery_pages: u32::try_from(pages).unwrap_or(u32::MAX), ..Settings::default() }
}

/// The ledger of an App that was swept a quarter of an hour before, so that all pages are new ground.
pub(crate) fn ledger(settings: &Settings) -> Ledger {
    let before = NOW - std::time::Duration::from_mins(15);
    let start = Ledger::default();
    let mut reader = Reader::new(&start, settings, before, false);
    while let Next::Page(request) = reader.next(u32::MAX) {
        reader.take(request.list, b"[]", NextLink::End, Some(before)).expect("an empty page is one");
    }
    let reading = reader.finish();
    let mut ledger = decide(start, reading, settings, before, false).ledger;
    ledger.move_to(NOW);
    ledger.apply(settings, NOW);
    ledger
}

/// Reads the pages and decides. Never inlined, so that what counts instructions finds it.
#[inline(never)]
pub(crate) fn sweep_over(pages: &[String], ledger: Ledger, settings: &Settings) -> Plan {
    let mut reader = Reader::new(&ledger, settings, NOW, false);
    let mut left = pages.iter();
    while let Next::Page(request) = reader.next(u32::MAX) {
        let page = if request.list == List::Deliveries { left.next() } else { None };
        let body = page.map_or("[]", String::as_str);
        let next = match (page, left.len()) {
            (None, _) | (_, 0) => NextLink::End,
            (_, count) => NextLink::To(PageCursor(format!("/app/hook/deliveries?cursor=v1_{count}").into())),
        };
        reader.take(request.list, body.as_bytes(), next, Some(NOW)).expect("the pages are GitHub's");
    }
    let reading = reader.finish();
    decide(ledger, reading, settings, NOW, false)
}
