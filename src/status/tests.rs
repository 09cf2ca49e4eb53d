//! What is shown of each state: the word, the JSON and the metrics; [`pages`] has what stands on a page.

#![allow(clippy::needless_raw_string_hashes)]

mod pages;

use expect_test::{expect, expect_file};

use super::history::{History, Row};
use super::metrics::{metrics, of_several};
use super::page::page;
use super::several::{Overview, Summary};
use super::status::{Facts, Status, Word};
use crate::alarm::AppPage;
use crate::config::{self, Config};
use crate::failure::FailureClass;
use crate::policy::delivery::{DeliveryId, Outcome, Position};
use crate::policy::event::{Attempt, Event, Fate};
use crate::policy::evidence::Counting;
use crate::policy::ground::{Gap, PageCursor};
use crate::policy::lease::Lease;
use crate::policy::outage::Outage;
use crate::policy::recovering::recover;
use crate::policy::time::{Time, hours, minutes};
use crate::sweep::report::Stamp;
use crate::sweep::state::State;
use crate::testing::app_key_pem;

/// 2026-11-30 14:05 UTC.
const NOW: Time = Time::from_millis(1_796_047_500_000);

fn config() -> Config {
    let key = app_key_pem();
    let lookup = |name: &str| match name {
        "GITHUB_APP_ID" => Some("12345".to_owned()),
        "GITHUB_APP_PRIVATE_KEY" => Some(key.clone()),
        _ => None,
    };
    config::read(&lookup, None).expect("the settings can be used")
}

/// An installation as it is stored, at [`NOW`].
struct Stored {
    state: State,
    history: History,
    lease: Option<Lease>,
}

impl Stored {
    fn new() -> Self {
        Self { state: State::default(), history: History::default(), lease: None }
    }

    /// One that swept five minutes ago.
    fn swept() -> Self {
        let mut stored = Self::new();
        let swept_at = NOW - minutes(5);
        stored.state.ledger.swept_at = Some(swept_at);
        stored.state.ledger.ground.window_start = NOW - hours(3);
        stored.state.ledger.ground.watched_since = Some(NOW - hours(30));
        stored.state.ledger.ground.cursor = Some(Position { at: swept_at, id: DeliveryId(7) });
        stored.state.alarm.app = Some(AppPage {
            slug: Some("deploy-bot".to_owned()),
            advanced_url: Some("https://github.com/settings/apps/deploy-bot/advanced".to_owned()),
            read_at: swept_at,
        });
        let events = [2, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0];
        stored.history.push(Row { at: swept_at, deliveries: 120, failed: 4, calls: 5, events, ..Row::default() });
        stored
    }

    fn gave_up(mut self, guid: &str, name: &str) -> Self {
        let position = Position { at: NOW - minutes(50), id: DeliveryId(3_846_290_009_938_198_000) };
        let attempt = Attempt { position, status_code: 500, outcome: Outcome::Failed, redelivery: false, counting: Counting::Counts };
        let event = Event {
            guid: guid.into(),
            event: name.into(),
            action: Some("completed".into()),
            repository_id: Some(479_544_328),
            attempts: vec![attempt],
            asks: Vec::new(),
            fate: Fate::GaveUp,
        };
        self.state.ledger.events.insert(event.guid.clone(), event);
        self
    }

    fn outage(mut self) -> Self {
        self.state.ledger.outage = Some(Outage { since: NOW - minutes(40), waiting: 3, counted_at: NOW });
        self
    }

    fn status(&self) -> Status {
        self.status_at(NOW)
    }

    fn status_at(&self, now: Time) -> Status {
        let right = &config();
        let facts = Facts { right, config: Ok(right), state: Ok(&self.state), history: &self.history, lease: self.lease, now };
        Status::of(&facts, "/login-x".to_owned())
    }

    fn page(&self) -> String {
        page(&self.status(), &self.history, "/")
    }
}

#[test]
fn a_word_says_how_things_stand_and_sentences_say_why() {
    let failed = |in_a_row: u32| {
        let mut stored = Stored::swept();
        (0..in_a_row).for_each(|_| stored.state.failures.note(NOW, FailureClass::ServerError, None));
        stored.status()
    };
    let said = |status: &Status| (status.word, status.ok, status.reasons.join(" "));
    assert_eq!(said(&Stored::swept().status()), (Word::AllWell, true, String::new()));
    assert_eq!(failed(1).notes, ["The last sweep failed with server_error; the next one tries again."]);
    assert_eq!(said(&failed(1)), (Word::AllWell, true, String::new()));
    for (status, word, reasons) in [
        (Stored::new().status(), Word::Starting, "No sweep has finished yet: the schedule fires every quarter of an hour."),
        (Stored::swept().gave_up("a", "push").status(), Word::Attention, "1 entry of the alarm is open."),
        (Stored::swept().outage().status(), Word::Outage, "The endpoint does not answer, and 3 events wait for it."),
        (failed(2), Word::Failing, "2 sweeps in a row failed, the last one with server_error."),
        (Stored::swept().status_at(NOW + hours(2)), Word::Failing, "No sweep has succeeded for more than an hour."),
    ] {
        assert_eq!(said(&status), (word, false, reasons.to_owned()));
    }
}

#[test]
fn what_cannot_be_used_is_named() {
    let history = History::default();
    let facts = Facts {
        right: &config(),
        config: Err(vec!["MAX_ATTEMPTS is no whole number from 2 to 10".to_owned()]),
        state: Err("the stored state has version 9".to_owned()),
        history: &history,
        lease: None,
        now: NOW,
    };
    let status = Status::of(&facts, String::new());
    assert_eq!((status.word, status.is_healthy()), (Word::Failing, false));
    assert_eq!(
        status.reasons,
        [
            "The settings cannot be used: MAX_ATTEMPTS is no whole number from 2 to 10.",
            "No sweep can go on: the stored state has version 9."
        ]
    );
}

#[test]
fn an_entry_of_settings_that_cannot_be_used_does_not_blame_the_app() {
    let mut stored = Stored::swept();
    (0..2).for_each(|_| stored.state.failures.note(NOW, FailureClass::Config, None));
    let wrong = Err(vec!["MAX_ATTEMPTS is no whole number from 2 to 10".to_owned()]);
    let right = &config();
    let facts = Facts { right, config: wrong, state: Ok(&stored.state), history: &stored.history, lease: None, now: NOW };
    let said = |status: Status| status.entries[0].more.clone();
    assert_eq!(said(Status::of(&facts, String::new())), "settings of the Worker cannot be used");
    assert_eq!(said(stored.status()), "GitHub does not know this App, or is not at this address");
}

#[test]
fn it_is_healthy_for_an_hour_after_a_good_sweep() {
    let mut stored = Stored::swept();
    let swept_at = NOW - minutes(5);
    assert!(!Stored::new().status().is_healthy());
    assert!(stored.status_at(swept_at + hours(1)).is_healthy());
    assert!(!stored.status_at(swept_at + hours(1) + minutes(1)).is_healthy());
    // One that read both lists and failed while it asked is no good one.
    stored.state.failures.note(NOW, FailureClass::RateLimited, None);
    stored.state.ledger.swept_at = Some(NOW);
    stored.history.push(Row { at: NOW, failure: Some(FailureClass::RateLimited), ..Row::default() });
    assert_eq!(stored.status().last_sweep, Some(Stamp(swept_at)));
    stored.history = History::default();
    assert_eq!(stored.status().last_sweep, None);
}

#[test]
fn the_json_form_is_pinned() {
    let mut stored = Stored::swept().gave_up("0a1b", "workflow_run").outage();
    recover(&mut stored.state.ledger, NOW - hours(12), hours(72), NOW - minutes(1)).expect("it is within reach");
    let end = |minute: u64| Position { at: NOW - minutes(minute), id: DeliveryId(minute) };
    let next = PageCursor("https://api.github.com/?cursor=v1".into());
    stored.state.ledger.ground.gaps = vec![Gap { newer_end: end(10), older_end: end(700), next, first_sweep: false }];
    stored.state.failures.note(NOW - hours(9), FailureClass::Auth, None);
    stored.state.failures = stored.state.failures.after_success();
    stored.lease = Some(Lease { taken_at: NOW, until: NOW + minutes(14), killed_in_a_row: 0 });
    let json = serde_json::to_string_pretty(&stored.status()).expect("it is plain data");
    expect_file!["status.json"].assert_eq(&json);
}

#[test]
fn the_metrics_are_pinned() {
    let stored = Stored::swept().gave_up("a", "push").gave_up("b", "push").outage();
    expect![[r##"
        # HELP redeliver_healthy Whether a sweep succeeded within the last hour.
        # TYPE redeliver_healthy gauge
        redeliver_healthy 1
        # HELP redeliver_ok Whether all is well.
        # TYPE redeliver_ok gauge
        redeliver_ok 0
        # HELP redeliver_last_sweep_timestamp_seconds The last sweep that did not fail.
        # TYPE redeliver_last_sweep_timestamp_seconds gauge
        redeliver_last_sweep_timestamp_seconds 1796047200
        # HELP redeliver_failures_in_a_row Sweeps in a row that failed.
        # TYPE redeliver_failures_in_a_row gauge
        redeliver_failures_in_a_row 0
        # HELP redeliver_waiting_events Events that wait to be delivered.
        # TYPE redeliver_waiting_events gauge
        redeliver_waiting_events 0
        # HELP redeliver_outage Whether the endpoint does not answer.
        # TYPE redeliver_outage gauge
        redeliver_outage 1
        # HELP redeliver_outage_start_timestamp_seconds Since when it does not.
        # TYPE redeliver_outage_start_timestamp_seconds gauge
        redeliver_outage_start_timestamp_seconds 1796045100
        # HELP redeliver_window_start_timestamp_seconds The start of the window.
        # TYPE redeliver_window_start_timestamp_seconds gauge
        redeliver_window_start_timestamp_seconds 1796036700
        # HELP redeliver_gaps Stretches of the list that no sweep has read yet.
        # TYPE redeliver_gaps gauge
        redeliver_gaps 0
        # HELP redeliver_alarm_entries Open entries of the alarm.
        # TYPE redeliver_alarm_entries gauge
        redeliver_alarm_entries{kind="gave_up"} 2
        redeliver_alarm_entries{kind="outage"} 1
        # HELP redeliver_call_limit Calls that a sweep may make.
        # TYPE redeliver_call_limit gauge
        redeliver_call_limit 50
        # HELP redeliver_last_sweep_calls Calls of the last sweep.
        # TYPE redeliver_last_sweep_calls gauge
        redeliver_last_sweep_calls 5
        # HELP redeliver_sweeps_total Sweeps.
        # TYPE redeliver_sweeps_total counter
        redeliver_sweeps_total 1
        # HELP redeliver_failed_sweeps_total Sweeps that failed.
        # TYPE redeliver_failed_sweeps_total counter
        redeliver_failed_sweeps_total 0
        # HELP redeliver_deliveries_read_total Deliveries on all pages that were read.
        # TYPE redeliver_deliveries_read_total counter
        redeliver_deliveries_read_total 120
        # HELP redeliver_failed_deliveries_total Deliveries that failed or went unanswered.
        # TYPE redeliver_failed_deliveries_total counter
        redeliver_failed_deliveries_total 4
        # HELP redeliver_calls_total Calls made.
        # TYPE redeliver_calls_total counter
        redeliver_calls_total 5
        # HELP redeliver_events_total Events by verdict.
        # TYPE redeliver_events_total counter
        redeliver_events_total{verdict="redelivered"} 2
        redeliver_events_total{verdict="recovered"} 1
        redeliver_events_total{verdict="superseded"} 0
        redeliver_events_total{verdict="gave_up"} 0
        redeliver_events_total{verdict="not_redeliverable"} 0
        redeliver_events_total{verdict="refused"} 0
        redeliver_events_total{verdict="uncountable"} 0
        redeliver_events_total{verdict="ignored"} 0
        redeliver_events_total{verdict="own"} 0
        redeliver_events_total{verdict="left_behind"} 0
    "##]]
    .assert_eq(&metrics(&stored.status(), &stored.history, false));
}

/// Invariant: what is shown is pure. It knows no runtime, no storage and no clock.
#[test]
fn what_is_shown_is_pure() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/status");
    let mut read = 0;
    for file in std::fs::read_dir(folder).expect("the folder is there") {
        let path = file.expect("it can be read").path();
        if path.ends_with("tests.rs") || path.extension().is_none_or(|ending| ending != "rs") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file is text");
        read += 1;
        for word in
            ["worker::", "js_sys", "web_sys", "wasm_bindgen", "SystemTime", "Utc::now", "async fn", ".await", "log::", "crate::http"]
        {
            assert!(!text.contains(word), "{} mentions {word}", path.display());
        }
    }
    assert!(read >= 9, "only {read} files were found");
}

#[test]
fn the_metrics_of_several_apps_are_one_document_with_each_metric_once() {
    let stored = Stored::swept().gave_up("a", "push");
    let mut other = stored.status();
    other.app = "67890".to_owned();
    let texts = [metrics(&stored.status(), &stored.history, true), metrics(&other, &stored.history, true)];
    let all = of_several(&[("12345", Some(texts[0].clone())), ("67890", Some(texts[1].clone())), ("999", None)]);
    for kind in ["# HELP ", "# TYPE "] {
        let names: Vec<&str> = all.lines().filter_map(|line| line.strip_prefix(kind)?.split(' ').next()).collect();
        let mut once = names.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!((names.len(), names.len()), (once.len(), texts[0].matches(kind).count()));
    }
    let values = |name: &str| all.lines().filter(|line| line.starts_with(name)).collect::<Vec<_>>();
    assert_eq!(
        values("redeliver_healthy"),
        [r#"redeliver_healthy{app="12345"} 1"#, r#"redeliver_healthy{app="67890"} 1"#, r#"redeliver_healthy{app="999"} 0"#]
    );
    assert_eq!(
        values("redeliver_alarm_entries"),
        [r#"redeliver_alarm_entries{app="12345",kind="gave_up"} 1"#, r#"redeliver_alarm_entries{app="67890",kind="gave_up"} 1"#]
    );
    // What belongs to a metric stands right below its type.
    let samples = |text: &str| text.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(samples(&all), samples(&texts[0]) + samples(&texts[1]) + 1);
    let mut name = "";
    for line in all.lines() {
        match line.strip_prefix("# TYPE ") {
            Some(head) => name = head.split(' ').next().unwrap_or_default(),
            None if line.starts_with('#') => {}
            None => assert_eq!(line.split(['{', ' ']).next(), Some(name), "{line}"),
        }
    }
    assert!(of_several(&[("999", None)]).starts_with("# HELP redeliver_healthy "));
}

#[test]
fn several_apps_are_shown_at_a_glance() {
    let mut ill = Stored::swept().outage().status();
    (ill.app, ill.app_name) = ("22".to_owned(), None);
    let all = Overview::of(vec![Summary::of(&Stored::swept().status()), Summary::of(&ill), Summary::silent("33")]);
    assert_eq!((all.ok, all.is_healthy()), (false, false));
    assert_eq!(all.health(), "App 33: no sweep has succeeded within the last hour\n");
    let html = all.page(NOW);
    for part in [
        "<title>Not all is well with 2 of 3 Apps: 3 Apps</title>",
        "<div class=\"banner bad\"><h1>Not all is well with 2 of 3 Apps</h1>",
        "<p>App 22: the endpoint is down.</p>",
        "<a href=\"/apps/12345/\">deploy-bot</a></strong> (App 12345)</p><p>All is well</p>",
        "<a href=\"/apps/22/\">App 22</a>",
        "<p>The endpoint does not answer, and 3 events wait for it.</p>",
        "<p>Its Durable Object does not answer.</p><p>Last good sweep: none yet</p>",
        "<a href=\"/apps.json\">",
    ] {
        assert!(html.contains(part), "{part} is missing in {html}");
    }
    let well = Overview::of(vec![Summary::of(&Stored::swept().status()); 2]);
    assert_eq!((well.ok, well.health().as_str()), (true, "ok\n"));
    assert!(well.page(NOW).contains("<div class=\"banner well\"><h1>All is well</h1></div>"));
    let read: Summary = serde_json::from_str(&serde_json::to_string(&all.apps[0]).expect("it is plain data")).expect("it is read back");
    assert_eq!(read, all.apps[0]);
    expect![[r#"{"version":1,"ok":false,"apps":[{"app":"22","app_name":null,"path":"/apps/22/","ok":false,"healthy":true,"word":"outage","reasons":["The endpoint does not answer, and 3 events wait for it."],"last_sweep":"2026-11-30T14:00:00.000Z"}]}"#]]
    .assert_eq(&serde_json::to_string(&Overview::of(vec![Summary::of(&ill)])).expect("it is plain data"));
}

#[test]
fn every_address_on_the_page_of_one_of_several_apps_is_below_it() {
    let stored = Stored::swept().gave_up("a", "push");
    let html = page(&stored.status(), &stored.history, "/apps/12345/");
    let addresses = |html: &str| -> Vec<String> {
        let own = html.split(['"']).filter(|text| text.starts_with('/') && !text.starts_with("//"));
        own.map(str::to_owned).collect()
    };
    assert_eq!(
        addresses(&html),
        ["/", "/apps/12345/", "/apps/12345/plan", "/apps/12345/forget?guid=a", "/apps/12345/sweep", "/apps/12345/status.json"]
    );
    assert_eq!(addresses(&stored.page()), ["/", "/plan", "/forget?guid=a", "/sweep", "/status.json"]);
}
