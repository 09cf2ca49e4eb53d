//! The settings of one App, one by one. What is wrong is noted, and the setting has its default, or is not set.

use url::{Host, Url};
use zeroize::Zeroizing;

use super::apps::Apps;
use super::{KEY, NONE, Problem, Secret, Variables, is_enterprise_server, text_of, without_brackets, without_quotes};
use crate::alarm::summary::TimeOfDay;
use crate::alarm::telegram::TelegramSettings;
use crate::github::key::AppKey;
use crate::policy::budget::least_limit;
use crate::policy::settings::{ENTERPRISE_SERVER_RETENTION, RETENTION, Settings};
use crate::policy::time::{hours, in_hours};

/// Letters of `ADMIN_TOKEN` at least: a shorter one could be guessed.
const ADMIN_TOKEN_LENGTH: usize = 16;

/// Reads them, and notes what is wrong.
pub(super) struct SettingsReader<'v, V> {
    pub(super) variables: &'v V,
    pub(super) apps: Apps,
    /// Whose settings are read.
    pub(super) app: String,
    pub(super) problems: Vec<Problem>,
}

impl<V: Variables> SettingsReader<'_, V> {
    /// What a setting of this App is called.
    pub(super) fn name(&self, setting: &'static str) -> String {
        self.apps.name_of(setting, &self.app, self.variables)
    }

    fn text(&self, setting: &'static str) -> Option<String> {
        text_of(self.variables, &self.name(setting))
    }

    /// The same, where one of several Apps may be without what the others have.
    fn text_unless_none(&self, setting: &'static str) -> Option<String> {
        self.text(setting).filter(|_| !self.is_none(setting))
    }

    fn is_none(&self, setting: &'static str) -> bool {
        self.name(setting) != setting && self.text(setting).is_some_and(|text| text.eq_ignore_ascii_case(NONE))
    }

    fn problem(&mut self, setting: &'static str, expected: impl Into<String>) {
        self.problems.push(Problem::new(self.name(setting), expected));
    }

    pub(super) fn key(&mut self) -> Option<AppKey> {
        let Some(pem) = self.text(KEY) else {
            self.problem(KEY, "is missing; give the PEM file that GitHub let you download, as a secret");
            return None;
        };
        let pem = Zeroizing::new(pem);
        AppKey::read(&pem).map_err(|error| self.problem(KEY, error.to_string())).ok()
    }

    pub(super) fn api_url(&mut self) -> String {
        self.url("GITHUB_API_URL", "https://api.github.com")
    }

    /// An https address, or http of this very machine; without a slash at its end.
    fn url(&mut self, setting: &'static str, default: &str) -> String {
        let Some(text) = self.text(setting) else { return default.to_owned() };
        match parse_url(&text) {
            Some(url) if is_bare(&url) => url.as_str().trim_end_matches('/').to_owned(),
            _ => {
                self.problem(setting, format!("is no address such as {default} (https, without a query; http only for this machine)"));
                default.to_owned()
            }
        }
    }

    /// `None` also if any part of it is wrong: half of a channel is none.
    pub(super) fn telegram(&mut self) -> Option<TelegramSettings> {
        let problems = self.problems.len();
        let telegram = self.telegram_as_given();
        telegram.filter(|_| self.problems.len() == problems)
    }

    fn telegram_as_given(&mut self) -> Option<TelegramSettings> {
        let api_url = self.url("TELEGRAM_API_URL", "https://api.telegram.org");
        if self.is_none("TELEGRAM_CHAT_ID") {
            return None;
        }
        let token = self.text("TELEGRAM_BOT_TOKEN");
        let chat = self.text("TELEGRAM_CHAT_ID");
        let thread = self.text_unless_none("TELEGRAM_THREAD_ID");
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
                let name = self.name("TELEGRAM_BOT_TOKEN");
                let own = if self.apps.are_several() {
                    format!(" (TELEGRAM_CHAT_ID_{} for this App alone, or none)", self.app)
                } else {
                    String::new()
                };
                self.problem("TELEGRAM_CHAT_ID", format!("is missing, though {name} is set; give the chat that the bot writes to{own}"));
                None
            }
            (None, Some(_)) => {
                let name = self.name("TELEGRAM_CHAT_ID");
                self.problem("TELEGRAM_BOT_TOKEN", format!("is missing, though {name} is set; give the bot's token as a secret"));
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

    pub(super) fn control_repo(&mut self) -> Option<String> {
        let repo = self.text_unless_none("CONTROL_REPO")?;
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

    pub(super) fn heartbeat_url(&mut self) -> Option<Secret> {
        let text = self.text_unless_none("HEARTBEAT_URL")?;
        if parse_url(&text).is_none() {
            self.problem("HEARTBEAT_URL", "is no https address (http only for this machine)");
            return None;
        }
        Some(Secret(text))
    }

    /// Without a path: the Worker has its pages at fixed ones, and whoever pastes one with a token in it is to be told.
    pub(super) fn status_url(&mut self) -> Option<String> {
        let url = parse_url(&self.text("STATUS_URL")?).filter(|url| is_bare(url) && url.path() == "/");
        if url.is_none() {
            let expected = "is no address such as https://github-app-redeliver.me.workers.dev (https, without a path or a query; http only \
                            for this machine)";
            self.problem("STATUS_URL", expected);
        }
        Some(url?.as_str().trim_end_matches('/').to_owned())
    }

    pub(super) fn daily_summary(&mut self) -> Option<TimeOfDay> {
        const NAME: &str = "DAILY_SUMMARY";
        let at = TimeOfDay::parse(&self.text_unless_none(NAME)?);
        if at.is_none() {
            self.problem(NAME, "is no time of day in UTC such as 07:00");
        }
        let has_no_chat = self.is_none("TELEGRAM_CHAT_ID");
        if has_no_chat && self.name(NAME) == NAME {
            // What is set for all is not meant for the App that is to be without Telegram.
            return None;
        }
        if has_no_chat || self.text("TELEGRAM_BOT_TOKEN").is_none() && self.text("TELEGRAM_CHAT_ID").is_none() {
            self.problem(NAME, "is sent by Telegram, which is not set; set TELEGRAM_BOT_TOKEN and TELEGRAM_CHAT_ID, or take it out");
            return None;
        }
        at
    }

    pub(super) fn admin_token(&mut self) -> Option<Secret> {
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

    pub(super) fn settings(&mut self, api_url: &str, heartbeat: bool) -> Settings {
        let default = Settings::default();
        let of_server = if is_enterprise_server(api_url) { ENTERPRISE_SERVER_RETENTION } else { RETENTION };
        let kept = self.number("RETENTION_HOURS", in_hours(of_server), 24, 168);
        let settings = Settings {
            window: hours(self.number("WINDOW_HOURS", 3, 1, kept)),
            retention: hours(kept),
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

    /// Names with commas between them, or an array of them; `none` for an empty list.
    fn events(&mut self, setting: &'static str) -> Option<Vec<String>> {
        let text = self.text(setting)?;
        if text.eq_ignore_ascii_case(NONE) {
            return Some(Vec::new());
        }
        let names = without_brackets(&text).split(',').map(without_quotes);
        let names: Vec<String> = names.filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let is_name = |name: &String| {
            name.len() <= 100 && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
        };
        if names.is_empty() || !names.iter().all(is_name) {
            self.problem(setting, "is no list of event names such as workflow_run,check_run, nor none");
        }
        Some(names)
    }

    fn codes(&mut self) -> Vec<u16> {
        let Some(text) = self.text("RETRY_STATUS").filter(|text| !text.eq_ignore_ascii_case(NONE)) else { return Vec::new() };
        let codes: Option<Vec<u16>> = without_brackets(&text)
            .split(',')
            .map(|code| without_quotes(code).parse().ok().filter(|code| (300..=499).contains(code)))
            .collect();
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

/// Whether it has nothing in it but a host and a path.
fn is_bare(url: &Url) -> bool {
    url.query().is_none() && url.fragment().is_none() && url.username().is_empty() && url.password().is_none()
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
