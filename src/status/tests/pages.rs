//! The page: what stands on it, and that nothing from outside can be more than text.

use super::{NOW, Stored};
use crate::failure::FailureClass;
use crate::policy::lease::Lease;
use crate::policy::ledger::Loss;
use crate::policy::time::minutes;
use crate::status::history::Row;
use crate::status::page::{SCRIPT, STYLE, number, with_times};
use crate::status::plan_page::{PlanEvent, PlanView, plan_page};
use crate::status::plot::by_hour;
use crate::status::reply::Reply;
use crate::sweep::report::Stamp;

const HOSTILE: &str = "</title><script>alert(1)</script><img src=x onerror=\"alert(2)\">&\u{202e}'";

#[test]
fn hostile_values_stay_text_wherever_they_stand() {
    let mut stored = Stored::swept().gave_up(HOSTILE, HOSTILE);
    let app = stored.state.alarm.app.as_mut().expect("it is known");
    app.slug = Some(HOSTILE.to_owned());
    app.advanced_url = Some(format!("javascript:alert(3)//{HOSTILE}"));
    let mut view = PlanView {
        version: 1,
        app: "12345".to_owned(),
        now: Stamp(NOW),
        could_read: true,
        calls: 2,
        deliveries: 1,
        failures_list_complete: true,
        deliveries_list_complete: true,
        warnings: vec![HOSTILE.to_owned()],
        events: Vec::new(),
    };
    view.events.push(PlanEvent {
        guid: HOSTILE.to_owned(),
        event: HOSTILE.to_owned(),
        repository_id: None,
        first: None,
        attempts: vec![500],
        redeliver: true,
        verdict: HOSTILE.to_owned(),
    });
    for html in [stored.page(), plan_page(&view, "/"), Reply::sentence(400, HOSTILE, true).body] {
        assert!(!html.contains("<script>alert") && !html.contains("<img") && !html.contains("javascript:"), "{html}");
        assert_eq!(html.matches("<script").count(), 1);
        assert!(html.contains("&lt;script&gt;alert(1)"));
    }
    assert!(!stored.page().contains('\u{202e}'));
}

#[test]
fn a_page_shows_what_is_open_and_how_to_take_it_out() {
    let mut stored = Stored::swept().gave_up("0a1b-c/d&e", "workflow_run");
    stored.lease = Some(Lease { taken_at: NOW, until: NOW + minutes(14), killed_in_a_row: 0 });
    let html = stored.page();
    for part in [
        "<h1>Needs attention</h1>",
        "workflow_run.completed gave up after 1 attempt",
        "attempts: 500",
        "<code>0a1b-c/d&amp;e</code>",
        "action=\"/forget?guid=0a1b-c%2Fd%26e\"",
        "href=\"https://github.com/settings/apps/deploy-bot/advanced\"",
        "sweeping since <time datetime=\"2026-11-30T14:05:00.000Z\">2026-11-30 14:05 UTC</time>",
        "5 of 50",
    ] {
        assert!(html.contains(part), "{part} in {html}");
    }
    assert!(!html.contains("style=") && !html.contains("onclick"), "the policy forbids both");
}

#[test]
fn no_more_entries_are_shown_than_anybody_reads_and_the_rest_is_counted() {
    let stored = (0..250).fold(Stored::swept(), |stored, index| stored.gave_up(&format!("guid-{index}"), "push"));
    let html = stored.page();
    assert_eq!(html.matches("<li>").count(), 200);
    assert!(html.contains("… and 50 more"));
    assert_eq!(stored.status().entries.len(), 250);
}

#[test]
fn what_to_do_stands_above_the_entries_and_each_event_leads_to_where_it_is_done() {
    let mut stored = Stored::swept().gave_up("a", "push").gave_up("b", "push").outage();
    let html = stored.page();
    let place = |part: &str| html.find(part).unwrap_or_else(|| panic!("{part} in {html}"));
    let gave_up = place("<p>Gave up: every attempt failed, so it is not asked for again. Repair the endpoint");
    let outage = place("<p>Outage: repair the endpoint.");
    let until = place("<p>Can be redelivered until <time datetime=\"2026-12-03T13:15:00.000Z\">");
    assert!(
        place("<summary>What to do</summary>") < outage && outage < gave_up && gave_up < until && until < place("<ul class=\"entries\">")
    );
    assert_eq!(html.matches("Gave up: ").count(), 1, "each sort once");
    let advanced = "guid <a href=\"https://github.com/settings/apps/deploy-bot/advanced\" rel=\"noreferrer\"><code>a</code></a>";
    assert!(html.contains(advanced), "{html}");
    stored.state.alarm.app = None;
    assert!(stored.page().contains("guid <code>a</code>"));
    assert!(!Stored::swept().page().contains("class=\"advice\""));
}

#[test]
fn each_time_of_a_sentence_is_one_of_the_readers() {
    let shown = "<time datetime=\"2026-11-30T14:05:00.000Z\">2026-11-30 14:05 UTC</time>";
    for (sentence, html) in [
        ("until 2026-11-30 14:05 UTC; <then>", format!("until {shown}; &lt;then&gt;")),
        ("2026-11-30 14:05 UTC to 2026-11-30 14:05 UTC", format!("{shown} to {shown}")),
        ("é UTC, 2026-11-30 24:05 UTC, UTC", "é UTC, 2026-11-30 24:05 UTC, UTC".to_owned()),
        ("", String::new()),
    ] {
        assert_eq!(with_times(sentence), html);
    }
    assert!(Reply::sentence(429, "until 2026-11-30 14:05 UTC", true).body.contains(shown));
    let mut stored = Stored::swept();
    let loss = Loss { made_at: NOW, last_at: NOW, from: NOW, to: NOW + minutes(9), count: 1, kinds: std::collections::BTreeMap::new() };
    stored.state.ledger.left_behind.push(loss);
    assert!(stored.page().contains(&format!("<p>from {shown} to ")), "{}", stored.page());
}

#[test]
fn each_hour_has_its_bars_and_an_outage_is_shaded() {
    let mut stored = Stored::new();
    for quarter in (0..16_u64).rev() {
        let outage = (4..8).contains(&quarter);
        let failure = (quarter == 15).then_some(FailureClass::Transport);
        let events = [u64::from(outage), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        stored.history.push(Row {
            at: NOW - minutes(5 + 15 * quarter),
            deliveries: 100 * (quarter + 1),
            failure,
            outage,
            events,
            ..Row::default()
        });
    }
    let hours = by_hour(&stored.history, NOW);
    let told = |place: usize| (hours[place].sweeps, hours[place].outage, hours[place].measures);
    assert_eq!((hours.len(), hours[47].start), (48, NOW - minutes(5)));
    assert_eq!((told(47), told(46)), ((1, false, [100, 0, 0, 0]), (4, true, [1400, 0, 1, 0])));
    assert_eq!((told(45), told(43).0, told(42).0), ((4, true, [3000, 0, 3, 0]), 3, 0));
    let html = stored.page();
    assert_eq!(html.matches("class=\"down\"").count(), 8, "two hours in four pictures");
    assert_eq!(html.matches("class=\"broken\"").count(), 4);
    assert_eq!(html.matches("class=\"bar m0\"").count(), 5);
    assert!(html.contains("y=\"0\" width=\"0.8\" height=\"100\" data-value=\"4600\""), "{html}");
}

#[test]
fn numbers_are_grouped() {
    assert_eq!([0, 999, 1000, 12_345, 1_234_567].map(number), ["0", "999", "1,000", "12,345", "1,234,567"]);
}

#[test]
fn every_answer_forbids_to_keep_frame_or_load_anything() {
    for reply in [Reply::json(200, &1), Reply::text(200, String::new()), Reply::page(200, String::new()), Reply::sentence(404, "x", true)] {
        let header =
            |name: &str| reply.headers.iter().find(|(known, _)| *known == name).map(|(_, value)| value.clone()).unwrap_or_default();
        assert_eq!((header("cache-control"), header("referrer-policy")), ("no-store".to_owned(), "same-origin".to_owned()));
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-") && policy.ends_with("frame-ancestors 'none'"));
        assert!(!policy.contains("unsafe"));
    }
    assert!(!STYLE.contains("</") && !SCRIPT.contains("</"), "either would end its element");
}
