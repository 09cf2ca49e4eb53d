use std::collections::BTreeMap;

use super::*;
use crate::policy::time::hours;
use crate::testing::app_key_pem;

fn read_with(changes: &[(&str, &str)]) -> Result<Config, Box<Unusable>> {
    let key = app_key_pem();
    let mut values = BTreeMap::from([("GITHUB_APP_ID", "12345"), ("GITHUB_APP_PRIVATE_KEY", key.as_str())]);
    values.extend(changes.iter().copied());
    read(&|name: &str| values.get(name).map(|value| (*value).to_owned()), None)
}

fn problems(changes: &[(&str, &str)]) -> Vec<String> {
    read_with(changes).expect_err("the settings cannot be used").problems.0.into_iter().map(|problem| problem.setting).collect()
}

#[test]
fn only_the_app_and_its_key_are_required() {
    let config = read_with(&[]).expect("the settings can be used");
    assert_eq!(config.settings, Settings::default());
    assert_eq!(config.api_url, "https://api.github.com");
    assert_eq!((config.telegram.is_some(), config.control_repo), (false, None));
}

#[test]
fn an_empty_setting_has_its_default() {
    let empty = [
        "WINDOW_HOURS",
        "CONTROL_REPO",
        "TELEGRAM_BOT_TOKEN",
        "TELEGRAM_CHAT_ID",
        "DRY_RUN",
        "RETRY_STATUS",
        "HEARTBEAT_URL",
        "STATUS_URL",
        "DAILY_SUMMARY",
        "GITHUB_API_URL",
    ];
    let changes: Vec<(&str, &str)> = empty.iter().map(|name| (*name, "  ")).collect();
    assert_eq!(read_with(&changes).expect("the settings can be used").settings, Settings::default());
}

#[test]
fn a_heartbeat_that_is_no_address_is_not_among_what_is_right() {
    let unusable = read_with(&[("HEARTBEAT_URL", "http://hc.example/ping")]).expect_err("it would be sent in the open");
    assert_eq!(unusable.problems.texts(), ["HEARTBEAT_URL is no https address (http only for this machine)"]);
    assert_eq!(unusable.right.heartbeat_url, None);
}

#[test]
fn every_setting_is_read() {
    let config = read_with(&[
        ("GITHUB_API_URL", "https://ghe.example/api/v3/"),
        ("TELEGRAM_BOT_TOKEN", "123:abc_DEF-9"),
        ("TELEGRAM_CHAT_ID", "-1001234567890"),
        ("TELEGRAM_THREAD_ID", "7"),
        ("CONTROL_REPO", "octo-org/on.call_2"),
        ("WINDOW_HOURS", "72"),
        ("RETENTION_HOURS", "100"),
        ("MAX_ATTEMPTS", "10"),
        ("MAX_REDELIVERIES", "200"),
        ("SUBREQUEST_LIMIT", "10000"),
        ("FAILURE_PAGES", "5"),
        ("DELIVERY_PAGES", "100"),
        ("SUPERSEDED_EVENTS", "workflow_run, check_run"),
        ("IGNORED_EVENTS", "star"),
        ("RETRY_STATUS", "408, 429"),
        ("DRY_RUN", "TRUE"),
        ("HEARTBEAT_URL", "http://127.0.0.1:8080/ping?key=1"),
        ("ADMIN_TOKEN", "sixteen-letters-"),
        ("STATUS_URL", "https://redeliver.me.workers.dev/"),
        ("DAILY_SUMMARY", "07:00"),
    ])
    .expect("the settings can be used");
    let telegram = config.telegram.expect("Telegram is set");
    assert_eq!((telegram.chat_id.as_str(), telegram.thread_id), ("-1001234567890", Some(7)));
    assert_eq!(config.api_url, "https://ghe.example/api/v3");
    assert_eq!(config.control_repo.as_deref(), Some("octo-org/on.call_2"));
    assert_eq!(config.status_url.as_deref(), Some("https://redeliver.me.workers.dev/"));
    assert_eq!(config.daily_summary, TimeOfDay::parse("07:00"));
    let expected = Settings {
        window: hours(72),
        retention: hours(100),
        max_attempts: 10,
        max_redeliveries: 200,
        subrequest_limit: 10_000,
        failure_pages: 5,
        delivery_pages: 100,
        superseded_events: vec!["workflow_run".to_owned(), "check_run".to_owned()],
        ignored_events: vec!["star".to_owned()],
        retry_status: vec![408, 429],
        heartbeat: true,
        dry_run: true,
    };
    assert_eq!(config.settings, expected);
    let arrays = read_with(&[("SUPERSEDED_EVENTS", "[\"issues\", 'push']"), ("RETRY_STATUS", "[408,429]")]).expect("an array is a list");
    assert_eq!(
        (arrays.settings.superseded_events, arrays.settings.retry_status),
        (vec!["issues".to_owned(), "push".to_owned()], vec![408, 429])
    );
    let none = read_with(&[("SUPERSEDED_EVENTS", "none"), ("RETRY_STATUS", "none"), ("IGNORED_EVENTS", "None")]).expect("none is a list");
    assert_eq!((none.settings.superseded_events.len(), none.settings.ignored_events.len()), (0, 0));
}

#[test]
fn every_wrong_value_names_its_setting() {
    let table = [
        ("GITHUB_APP_ID", vec!["", "a b", "<b>", "12345678901234567890123456789012345678901234567890123456789012345"]),
        ("GITHUB_APP_PRIVATE_KEY", vec!["", "key"]),
        (
            "GITHUB_API_URL",
            vec![
                "api.github.com",
                "http://api.github.com",
                "ftp://x",
                "https://x/?q",
                "https://x/#f",
                "https://u:p@x/",
                "http://127.0.0.1.evil.example",
            ],
        ),
        ("TELEGRAM_API_URL", vec!["http://example.com", "x"]),
        ("TELEGRAM_THREAD_ID", vec!["0", "-1", "x", "1"]),
        ("CONTROL_REPO", vec!["x", "a/b/c", "/b", "a/", "a/..", "a b/c", "a/b?x"]),
        ("WINDOW_HOURS", vec!["0", "73", "3.5", "x", "-1"]),
        ("RETENTION_HOURS", vec!["23", "169", "x"]),
        ("MAX_ATTEMPTS", vec!["1", "11"]),
        ("MAX_REDELIVERIES", vec!["0", "1001"]),
        ("SUBREQUEST_LIMIT", vec!["0", "25", "x"]),
        ("FAILURE_PAGES", vec!["0", "1001"]),
        ("DELIVERY_PAGES", vec!["0", "1001"]),
        ("SUPERSEDED_EVENTS", vec![",", "Issues", "a b"]),
        ("IGNORED_EVENTS", vec!["<b>", ","]),
        ("RETRY_STATUS", vec!["200", "500", "408,", "x"]),
        ("DRY_RUN", vec!["yes", "1"]),
        ("HEARTBEAT_URL", vec!["http://example.com/", "x"]),
        (
            "STATUS_URL",
            vec![
                "x",
                "redeliver.me.workers.dev",
                "http://redeliver.me.workers.dev",
                "https://x.dev/status.json",
                "https://x.dev/apps/1/",
                "https://x.dev/?token=1",
                "https://x.dev/#token",
                "https://token@x.dev/",
                "https://:token@x.dev",
            ],
        ),
        ("DAILY_SUMMARY", vec!["7:00", "24:00", "07:00 UTC", "true", "none"]),
    ];
    for (setting, values) in table {
        for value in values {
            let telegram = [("TELEGRAM_BOT_TOKEN", "1:a"), ("TELEGRAM_CHAT_ID", "5")];
            let others = if setting == "DAILY_SUMMARY" { &telegram[..] } else { &[] };
            let changes = [others, &[(setting, value)]].concat();
            assert_eq!(problems(&changes), [setting], "{setting}={value}");
            let longest = read_with(&changes).expect_err("it cannot be used").problems.texts().into_iter().map(|text| text.len()).max();
            assert!(longest < Some(220), "the alarm shows several of them: {longest:?}");
        }
    }
}

#[test]
fn half_given_telegram_names_the_missing_half() {
    assert_eq!(problems(&[("TELEGRAM_BOT_TOKEN", "1:a")]), ["TELEGRAM_CHAT_ID"]);
    assert_eq!(problems(&[("TELEGRAM_CHAT_ID", "1")]), ["TELEGRAM_BOT_TOKEN"]);
    assert_eq!(problems(&[("TELEGRAM_BOT_TOKEN", "x"), ("TELEGRAM_CHAT_ID", "y z")]), ["TELEGRAM_BOT_TOKEN", "TELEGRAM_CHAT_ID"]);
}

#[test]
fn without_a_token_there_is_no_status_page_to_lead_to() {
    let read = |changes: &[(&str, &str)]| {
        let config = read_with(&[&[("STATUS_URL", "https://x.dev")], changes].concat()).expect("the settings can be used");
        (config.status_url, config.warnings)
    };
    assert_eq!(read(&[("ADMIN_TOKEN", "sixteen-letters-")]), (Some("https://x.dev/".to_owned()), Vec::new()));
    assert_eq!(read(&[]), (None, vec![STATUS_WITHOUT_TOKEN.to_owned()]));
    let local = read_with(&[("STATUS_URL", "http://localhost:8787"), ("ADMIN_TOKEN", "sixteen-letters-")]).expect("they can be used");
    assert_eq!(local.status_url.as_deref(), Some("http://localhost:8787/"));
}

#[test]
fn a_summary_without_telegram_is_a_problem_that_names_it() {
    assert_eq!(problems(&[("DAILY_SUMMARY", "07:00")]), ["DAILY_SUMMARY"]);
    assert_eq!(problems(&[("DAILY_SUMMARY", "07:00"), ("CONTROL_REPO", "a/b")]), ["DAILY_SUMMARY"]);
    assert_eq!(problems(&[("DAILY_SUMMARY", "07:00"), ("TELEGRAM_CHAT_ID", "1")]), ["TELEGRAM_BOT_TOKEN"], "that one is enough");
    let set = [("DAILY_SUMMARY", "07:00"), ("TELEGRAM_BOT_TOKEN", "1:a"), ("TELEGRAM_CHAT_ID", "5")];
    assert!(read_with(&set).expect("the settings can be used").daily_summary.is_some());
}

#[test]
fn a_limit_below_what_a_sweep_needs_is_a_problem() {
    assert!(read_with(&[("SUBREQUEST_LIMIT", "26")]).is_ok());
    assert_eq!(problems(&[("SUBREQUEST_LIMIT", "26"), ("HEARTBEAT_URL", "https://x/")]), ["SUBREQUEST_LIMIT"]);
    assert_eq!(problems(&[("MAX_REDELIVERIES", "35")]), ["SUBREQUEST_LIMIT"]);
}

#[test]
fn all_problems_stand_in_one_message_without_a_value() {
    let lookup = |name: &str| match name {
        "TELEGRAM_CHAT_ID" => Some("hunter2 hunter2".to_owned()),
        "MAX_ATTEMPTS" => Some("hunter2".to_owned()),
        _ => None,
    };
    let text = read(&lookup, None).expect_err("the settings cannot be used").to_string();
    for setting in ["GITHUB_APP_ID", "GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN", "TELEGRAM_CHAT_ID", "MAX_ATTEMPTS"] {
        assert!(text.contains(setting), "{setting} is missing in {text}");
    }
    assert!(!text.contains("hunter2"), "{text}");
}

#[test]
fn a_channel_is_right_only_if_all_of_it_is_whatever_else_is_wrong() {
    let telegram = [("TELEGRAM_BOT_TOKEN", "1:a"), ("TELEGRAM_CHAT_ID", "5")];
    let right = |changes: &[(&str, &str)]| {
        let changes: Vec<(&str, &str)> = telegram.iter().chain(changes).copied().collect();
        let right = read_with(&changes).expect_err("the settings cannot be used").right;
        (right.telegram.is_some(), right.control_repo.is_some(), right.app_id.is_empty())
    };
    assert_eq!(right(&[("GITHUB_APP_PRIVATE_KEY", "")]), (true, false, false));
    assert_eq!(right(&[("GITHUB_APP_ID", "a b"), ("CONTROL_REPO", "a/b")]), (true, true, true));
    assert_eq!(right(&[("MAX_ATTEMPTS", "0"), ("CONTROL_REPO", "a")]), (true, false, false));
    for part in ["TELEGRAM_BOT_TOKEN", "TELEGRAM_CHAT_ID", "TELEGRAM_THREAD_ID", "TELEGRAM_API_URL"] {
        assert_eq!(right(&[(part, "x y")]), (false, false, false), "{part}");
    }
}
