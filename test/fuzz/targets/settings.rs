//! The settings, and the App's key among them.

use std::collections::BTreeMap;

use base64ct::{Base64, Encoding};
use github_app_redeliver::config::{Apps, Config, Secret, admin_token, read};
use github_app_redeliver::github::key::{AppKey, KeyError};
use url::{Host, Url};

/// A key in any form: it is refused without a word of it, or taken, and then its PKCS#8 is taken as the same.
pub(super) fn key(bytes: &[u8]) {
    let setting = String::from_utf8_lossy(bytes);
    match AppKey::read(&setting) {
        Ok(key) => {
            assert_eq!(format!("{key:?}"), "AppKey");
            let body = Base64::encode_string(key.pkcs8());
            let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap_or_default()).collect();
            let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", lines.join("\n"));
            let again = AppKey::read(&pem).expect("its own form is read");
            assert_eq!(again.pkcs8(), key.pkcs8());
        }
        Err(KeyError::TooShort(bits)) => assert!(bits < 2048),
        // The others say nothing that is not written in them.
        Err(KeyError::NotPem | KeyError::NotPrivate | KeyError::Encrypted | KeyError::Broken) => {}
    }
}

/// What the environment has.
type Given = BTreeMap<String, String>;

/// Shorter values are found in any text.
const LEAST: usize = 12;

/// `NAME=value` a line. What can be used lies within its bounds, and nothing that is said holds a secret.
pub(super) fn settings(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let given: Given = text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name.into(), value.into())).collect();
    let apps = Apps::read(&given);
    // Of several Apps the settings of none are read, other than of each.
    let only = (!apps.are_several()).then_some(None);
    for app in only.into_iter().chain(apps.ids.iter().take(4).map(|id| Some(id.as_str()))) {
        let (said, config) = said_of(&given, app);
        within_bounds(&config);
        assert_no_secret(&given, app, &said);
    }
    assert!(admin_token(&given).is_none_or(|token| token.expose().chars().count() >= 16));
}

/// All that is said of the settings, and what of them can be used.
fn said_of(given: &Given, app: Option<&str>) -> (String, Config) {
    let (said, config) = match read(given, app) {
        Ok(config) => {
            assert!(config.key.is_some() && !config.app_id.is_empty());
            (String::new(), config)
        }
        Err(unusable) => {
            assert!(!unusable.problems.0.is_empty());
            assert!(unusable.problems.texts().iter().all(|text| text.len() < 2_000), "{}", unusable.problems);
            (format!("{unusable} {unusable:?}"), unusable.right)
        }
    };
    (format!("{said} {} {config:?}", config.warnings.join(" ")), config)
}

fn within_bounds(config: &Config) {
    let settings = &config.settings;
    let hours = |span: std::time::Duration| span.as_secs() / 3_600;
    assert!((1..=168).contains(&hours(settings.window)) && settings.window <= settings.retention);
    assert!((2..=10).contains(&settings.max_attempts));
    assert!((1..=1_000).contains(&settings.max_redeliveries));
    assert!((1..=1_000).contains(&settings.failure_pages) && (1..=1_000).contains(&settings.delivery_pages));
    assert!(settings.retry_status.iter().all(|code| (300..=499).contains(code)));
    let telegram = config.telegram.as_ref().map(|telegram| telegram.api_url.as_str());
    for url in [Some(config.api_url.as_str()), telegram, config.heartbeat_url.as_ref().map(Secret::expose)].into_iter().flatten() {
        let url = Url::parse(url).expect("it was read as an address");
        let is_loopback = match url.host() {
            Some(Host::Ipv4(host)) => host.is_loopback(),
            Some(Host::Ipv6(host)) => host.is_loopback(),
            Some(Host::Domain(host)) => host == "localhost" || host.ends_with(".localhost"),
            None => false,
        };
        assert!(url.scheme() == "https" || url.scheme() == "http" && is_loopback, "{url}");
    }
}

/// `said` has no value of a setting that is a secret, under whatever name it has for one of several Apps.
fn assert_no_secret(given: &Given, app: Option<&str>, said: &str) {
    let is_secret = |name: &str| ["GITHUB_APP_PRIVATE_KEY", "TELEGRAM_BOT_TOKEN", "ADMIN_TOKEN", "HEARTBEAT_URL"].contains(&name);
    let public: Vec<String> = given.iter().filter(|(name, _)| !is_secret(name)).map(|(name, value)| format!("{name}={value}")).collect();
    for (name, value) in given.iter().filter(|(name, _)| is_secret(name)) {
        let value = value.trim();
        // One that stands elsewhere in the open is none.
        if value.len() < LEAST || public.iter().any(|text| text.contains(value)) || !said.contains(value) {
            continue;
        }
        // Nor is one of our own words, which is said as well where the setting has another value.
        let mut other = given.clone();
        other.insert(name.clone(), value.chars().rev().collect());
        assert!(said_of(&other, app).0.contains(value), "{name} in: {said}");
    }
}
