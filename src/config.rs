//! Every setting: its name, default and meaning. Whatever is wrong is told at once (spec sections 9 and 11).

use std::fmt;

use url::{Host, Url};

use crate::alarm::telegram::TelegramSettings;
use crate::github::key::{AppKey, KeyError};
use crate::policy::budget::least_limit;
use crate::policy::settings::Settings;
use crate::policy::time::hours;

/// The setting with the App's private key.
pub const KEY: &str = "GITHUB_APP_PRIVATE_KEY";

/// Text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Secret")
    }
}

/// All settings of one App.
#[derive(Clone, Debug)]
pub struct Config {
    /// `GITHUB_APP_ID`, required: App id or client id. Empty only where the settings cannot be used.
    pub app_id: String,
    /// `GITHUB_APP_PRIVATE_KEY`, required. `None` only where the settings cannot be used.
    pub key: Option<AppKey>,
    /// `GITHUB_API_URL`, default `https://api.github.com`; without a slash at its end.
    pub api_url: String,
    /// `TELEGRAM_BOT_TOKEN`, `TELEGRAM_CHAT_ID`, `TELEGRAM_THREAD_ID` and `TELEGRAM_API_URL`.
    pub telegram: Option<TelegramSettings>,
    /// `CONTROL_REPO`, as `owner/name`.
    pub control_repo: Option<String>,
    /// `HEARTBEAT_URL`: one GET after each sweep that read both lists.
    pub heartbeat_url: Option<Secret>,
    /// What the policy decides by.
    pub settings: Settings,
}

/// One setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub setting: &'static str,
    /// What is wrong, and what is expected. Never its value, which may be a secret in the wrong place.
    pub expected: String,
}

/// All settings that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Problems(pub Vec<Problem>);

impl fmt::Display for Problems {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("the settings cannot be used: ")?;
        out.write_str(&self.texts().join("; "))
    }
}

/// Settings with which no sweep can run.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{problems}")]
pub struct Unusable {
    /// What is wrong with them.
    pub problems: Problems,
    /// Those that are right: by them a person is told. Each that is wrong has its default, or is not set.
    pub right: Config,
}

impl Problem {
    /// As a person reads it.
    fn text(&self) -> String {
        format!("{} {}", self.setting, self.expected)
    }
}

impl Problems {
    /// Each as a person reads it.
    #[must_use]
    pub fn texts(&self) -> Vec<String> {
        self.0.iter().map(Problem::text).collect()
    }
}

/// `GITHUB_APP_ID`, if it can be used.
pub fn app_id(lookup: impl Fn(&str) -> Option<String>) -> Option<String> {
    SettingsReader { lookup, problems: Vec::new() }.app_id()
}

/// Reads all settings. `lookup` gives a variable or a secret by its name; an empty one is as good as none.
///
/// # Errors
/// Names every setting that is missing, wrong or half given.
#[inline(never)]
pub fn read(lookup: impl Fn(&str) -> Option<String>) -> Result<Config, Box<Unusable>> {
    let mut reader = SettingsReader { lookup, problems: Vec::new() };
    let app_id = reader.app_id().unwrap_or_default();
    let key = reader.key();
    let api_url = reader.url("GITHUB_API_URL", "https://api.github.com");
    let telegram = reader.telegram();
    let control_repo = reader.control_repo();
    let heartbeat_url = reader.heartbeat_url();
    let settings = reader.settings(heartbeat_url.is_some());
    // Whoever answers a request reads it; here it is only checked.
    reader.admin_token();
    let config = Config { app_id, key, api_url, telegram, control_repo, heartbeat_url, settings };
    if reader.problems.is_empty() { Ok(config) } else { Err(Box::new(Unusable { problems: Problems(reader.problems), right: config })) }
}

/// What was read, once the runtime found the key to be damaged.
#[must_use]
pub fn with_damaged_key(read: Result<Config, Box<Unusable>>) -> Box<Unusable> {
    let mut unusable = read.map_or_else(|unusable| unusable, |right| Box::new(Unusable { problems: Problems(Vec::new()), right }));
    unusable.right.key = None;
    unusable.problems.0.push(Problem { setting: KEY, expected: KeyError::Broken.to_string() });
    unusable
}

/// Letters of `ADMIN_TOKEN` at least: a shorter one could be guessed.
const ADMIN_TOKEN_LENGTH: usize = 16;

/// `ADMIN_TOKEN`, which opens the HTTP side: `None` if it is not set, or too short to be used.
pub fn admin_token(lookup: impl Fn(&str) -> Option<String>) -> Option<Secret> {
    SettingsReader { lookup, problems: Vec::new() }.admin_token()
}

struct SettingsReader<L> {
    lookup: L,
    problems: Vec<Problem>,
}

impl<L: Fn(&str) -> Option<String>> SettingsReader<L> {
    fn text(&self, setting: &'static str) -> Option<String> {
        (self.lookup)(setting).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
    }

    fn problem(&mut self, setting: &'static str, expected: impl Into<String>) {
        self.problems.push(Problem { setting, expected: expected.into() });
    }

    fn app_id(&mut self) -> Option<String> {
        let Some(id) = self.text("GITHUB_APP_ID") else {
            self.problem("GITHUB_APP_ID", "is missing; give the App id or the client id from the App's settings");
            return None;
        };
        if id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') {
            self.problem("GITHUB_APP_ID", "is no App id (a number) or client id (such as Iv23abc)");
            return None;
        }
        Some(id)
    }

    fn key(&mut self) -> Option<AppKey> {
        let Some(pem) = self.text(KEY) else {
            self.problem(KEY, "is missing; give the PEM file that GitHub let you download, as a secret");
            return None;
        };
        AppKey::read(&pem).map_err(|error| self.problem(KEY, error.to_string())).ok()
    }

    /// An https address, or http of this very machine; without a slash at its end.
    fn url(&mut self, setting: &'static str, default: &str) -> String {
        let Some(text) = self.text(setting) else { return default.to_owned() };
        match parse_url(&text) {
            Some(url) if url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none() => {
                url.as_str().trim_end_matches('/').to_owned()
            }
            _ => {
                self.problem(setting, format!("is no address such as {default} (https, without a query; http only for this machine)"));
                default.to_owned()
            }
        }
    }

    /// `None` also if any part of it is wrong: half of a channel is none.
    fn telegram(&mut self) -> Option<TelegramSettings> {
        let problems = self.problems.len();
        let telegram = self.telegram_as_given();
        telegram.filter(|_| self.problems.len() == problems)
    }

    fn telegram_as_given(&mut self) -> Option<TelegramSettings> {
        let token = self.text("TELEGRAM_BOT_TOKEN");
        let chat = self.text("TELEGRAM_CHAT_ID");
        let thread = self.text("TELEGRAM_THREAD_ID");
        let api_url = self.url("TELEGRAM_API_URL", "https://api.telegram.org");
        if token.as_deref().is_some_and(|token| !is_bot_token(token)) {
            self.problem("TELEGRAM_BOT_TOKEN", "is no bot token (a number, a colon, and letters, digits, - or _); ask @BotFather for it");
        }
        if chat.as_deref().is_some_and(|chat| !is_chat(chat)) {
            self.problem("TELEGRAM_CHAT_ID", "is no chat id (a number, negative for groups) and no @name of a channel");
        }
        let thread_id = thread.as_deref().and_then(|thread| thread.parse().ok().filter(|id: &i64| *id > 0));
        if thread.is_some() && thread_id.is_none() {
            self.problem("TELEGRAM_THREAD_ID", "is no topic of a group (a positive number)");
        }
        match (token, chat) {
            (Some(bot_token), Some(chat_id)) => Some(TelegramSettings { api_url, bot_token, chat_id, thread_id }),
            (Some(_), None) => {
                self.problem("TELEGRAM_CHAT_ID", "is missing, though TELEGRAM_BOT_TOKEN is set; give the chat that the bot writes to");
                None
            }
            (None, Some(_)) => {
                self.problem("TELEGRAM_BOT_TOKEN", "is missing, though TELEGRAM_CHAT_ID is set; give the bot's token as a secret");
                None
            }
            (None, None) => {
                if thread_id.is_some() {
                    self.problem("TELEGRAM_THREAD_ID", "is set without TELEGRAM_BOT_TOKEN and TELEGRAM_CHAT_ID; give all or none");
                }
                None
            }
        }
    }

    fn control_repo(&mut self) -> Option<String> {
        let repo = self.text("CONTROL_REPO")?;
        let part = |text: &str| {
            let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
            !text.is_empty() && text.len() <= 100 && text != "." && text != ".." && text.bytes().all(allowed)
        };
        if repo.split_once('/').is_some_and(|(owner, name)| part(owner) && part(name)) {
            return Some(repo);
        }
        self.problem("CONTROL_REPO", "is no repository as owner/name");
        None
    }

    fn heartbeat_url(&mut self) -> Option<Secret> {
        let text = self.text("HEARTBEAT_URL")?;
        if parse_url(&text).is_none() {
            self.problem("HEARTBEAT_URL", "is no https address (http only for this machine)");
        }
        Some(Secret(text))
    }

    fn admin_token(&mut self) -> Option<Secret> {
        let text = self.text("ADMIN_TOKEN")?;
        if text.chars().count() < ADMIN_TOKEN_LENGTH {
            self.problem(
                "ADMIN_TOKEN",
                format!("has fewer than {ADMIN_TOKEN_LENGTH} characters; a random one is best: openssl rand -hex 32"),
            );
            return None;
        }
        Some(Secret(text))
    }

    fn settings(&mut self, heartbeat: bool) -> Settings {
        let default = Settings::default();
        let settings = Settings {
            window: hours(self.number("WINDOW_HOURS", 3, 1, 72)),
            max_attempts: narrow(self.number("MAX_ATTEMPTS", default.max_attempts as u64, 2, 10)),
            max_redeliveries: narrow(self.number("MAX_REDELIVERIES", default.max_redeliveries as u64, 1, 1_000)),
            subrequest_limit: narrow(self.number("SUBREQUEST_LIMIT", default.subrequest_limit.into(), 1, 10_000_000)),
            failure_pages: narrow(self.number("FAILURE_PAGES", default.failure_pages.into(), 1, 1_000)),
            delivery_pages: narrow(self.number("DELIVERY_PAGES", default.delivery_pages.into(), 1, 1_000)),
            superseded_events: self.events("SUPERSEDED_EVENTS").unwrap_or(default.superseded_events),
            ignored_events: self.events("IGNORED_EVENTS").unwrap_or_default(),
            retry_status: self.codes(),
            heartbeat,
            dry_run: self.flag("DRY_RUN"),
        };
        let least = least_limit(&settings);
        if settings.subrequest_limit < least {
            let expected = format!(
                "is below {least}, the calls that a sweep needs (FAILURE_PAGES, one page of all deliveries, MAX_REDELIVERIES, 12 for the alarm{}); \
                 lower FAILURE_PAGES or MAX_REDELIVERIES, or set it to 10000 on the paid plan",
                if heartbeat { ", one for the heartbeat" } else { "" }
            );
            self.problem("SUBREQUEST_LIMIT", expected);
        }
        settings
    }

    fn number(&mut self, setting: &'static str, default: u64, least: u64, most: u64) -> u64 {
        let Some(text) = self.text(setting) else { return default };
        match text.parse() {
            Ok(number) if (least..=most).contains(&number) => number,
            _ => {
                self.problem(setting, format!("is no whole number from {least} to {most}"));
                default
            }
        }
    }

    /// Names with commas between them; `none` for an empty list.
    fn events(&mut self, setting: &'static str) -> Option<Vec<String>> {
        let text = self.text(setting)?;
        if text.eq_ignore_ascii_case("none") {
            return Some(Vec::new());
        }
        let names: Vec<String> = text.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect();
        let is_name = |name: &String| {
            name.len() <= 100 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        if names.is_empty() || !names.iter().all(is_name) {
            self.problem(setting, "is no list of event names such as workflow_run,check_run, nor none");
        }
        Some(names)
    }

    fn codes(&mut self) -> Vec<u16> {
        let Some(text) = self.text("RETRY_STATUS").filter(|text| !text.eq_ignore_ascii_case("none")) else { return Vec::new() };
        let codes: Option<Vec<u16>> =
            text.split(',').map(|code| code.trim().parse().ok().filter(|code| (300..=499).contains(code))).collect();
        codes.unwrap_or_else(|| {
            self.problem("RETRY_STATUS", "is no list of codes from 300 to 499 such as 408,429");
            Vec::new()
        })
    }

    fn flag(&mut self, setting: &'static str) -> bool {
        match self.text(setting).map(|text| text.to_ascii_lowercase()).as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(_) => {
                self.problem(setting, "is neither true nor false");
                false
            }
        }
    }
}

fn narrow<T: TryFrom<u64> + Default>(number: u64) -> T {
    // The bounds that were just checked are far below.
    T::try_from(number).unwrap_or_default()
}

/// An https address with a host, or http of this very machine: anything else would send a secret in the clear.
fn parse_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    let loopback = match url.host()? {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(ip) => ip.is_loopback(),
        Host::Ipv6(ip) => ip.is_loopback(),
    };
    (url.scheme() == "https" || url.scheme() == "http" && loopback).then_some(url)
}

fn is_bot_token(text: &str) -> bool {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.split_once(':').is_some_and(|(id, rest)| {
        !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit()) && !rest.is_empty() && rest.bytes().all(word)
    })
}

fn is_chat(text: &str) -> bool {
    let name = |name: &str| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    text.strip_prefix('@').map_or_else(|| text.parse::<i64>().is_ok(), name)
}

#[cfg(test)]
mod tests;
