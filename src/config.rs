//! Every setting: its name, default and meaning. Whatever is wrong is told at once (spec sections 9 and 11).

mod apps;

use std::fmt;
use std::time::Duration;

use url::{Host, Url};

pub use self::apps::Apps;
use self::apps::Strays;

use crate::alarm::summary::TimeOfDay;
use crate::alarm::telegram::TelegramSettings;
use crate::github::key::{AppKey, KeyError};
use crate::policy::budget::least_limit;
use crate::policy::settings::{ENTERPRISE_SERVER_RETENTION, RETENTION, Settings};
use crate::policy::time::hours;
use crate::status::route::{Route, home_of};

/// The setting with the App's private key.
pub const KEY: &str = "GITHUB_APP_PRIVATE_KEY";

/// The word for a list that is empty, or for something that one of several Apps is to be without.
const NONE: &str = "none";

const STATUS_WITHOUT_TOKEN: &str =
    "STATUS_URL is set without ADMIN_TOKEN, so there is no status page that a button could lead to; set ADMIN_TOKEN as a secret";

/// The variables and secrets of the Worker, which the runtime keeps alike.
pub trait Variables {
    /// The value of one.
    fn value(&self, name: &str) -> Option<String>;

    /// The names of all.
    fn names(&self) -> Vec<String>;
}

/// Knows no names, so that nothing is found in the wrong place.
impl<L: Fn(&str) -> Option<String>> Variables for L {
    fn value(&self, name: &str) -> Option<String> {
        self(name)
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A value without the blanks around it; an empty one is as good as none.
fn text_of(variables: &impl Variables, name: &str) -> Option<String> {
    variables.value(name).map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

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
    /// The App of `GITHUB_APP_ID` (App id or client id), or one of `APPS`. Empty only where the settings cannot be used.
    pub app_id: String,
    /// Whether the Worker has other Apps too.
    pub is_one_of_several: bool,
    /// Settings that no App has, in sentences, as far as that does no harm.
    pub warnings: Vec<String>,
    /// What the setting with the key is called.
    key_setting: String,
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
    /// `STATUS_URL`, of one of several Apps with the path of its page. `None` also without `ADMIN_TOKEN`: then there is no page.
    pub status_url: Option<String>,
    /// `DAILY_SUMMARY`: when a silent message says what the day came to.
    pub daily_summary: Option<TimeOfDay>,
    /// What the policy decides by.
    pub settings: Settings,
}

/// One setting that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Its name.
    pub setting: String,
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
    fn new(setting: impl Into<String>, expected: impl Into<String>) -> Self {
        Self { setting: setting.into(), expected: expected.into() }
    }

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

/// Reads all settings of `app`, or of the only one.
///
/// # Errors
/// Names every setting that is missing, wrong or half given.
#[inline(never)]
pub fn read(variables: &impl Variables, app: Option<&str>) -> Result<Config, Box<Unusable>> {
    let mut apps = Apps::read(variables);
    let app_id = app.or(apps.only()).unwrap_or_default().to_owned();
    let mut problems = std::mem::take(&mut apps.problems);
    let Strays { wrong, harmless } = apps.strays(variables);
    problems.extend(wrong);
    let is_one_of_several = apps.are_several() && app.is_some();
    let mut reader = SettingsReader { variables, apps, app: app_id, problems };
    // Without an App nobody can say whose key is missing, unless there can be one only.
    let key = if reader.app.is_empty() && reader.apps.are_listed { None } else { reader.key() };
    let api_url = reader.url("GITHUB_API_URL", "https://api.github.com");
    let telegram = reader.telegram();
    let control_repo = reader.control_repo();
    let heartbeat_url = reader.heartbeat_url();
    let settings = reader.settings(&api_url, heartbeat_url.is_some());
    // Whoever answers a request reads it; here it is only checked.
    let opens = reader.admin_token().is_some();
    let page = reader.status_url();
    let daily_summary = reader.daily_summary();
    let key_setting = reader.name(KEY);
    let SettingsReader { app: app_id, mut problems, .. } = reader;
    let mut warnings = Problems(harmless.clone()).texts();
    if page.is_some() && !opens {
        warnings.push(STATUS_WITHOUT_TOKEN.to_owned());
    }
    let home = if is_one_of_several { home_of(&app_id) } else { Route::Page.path().to_owned() };
    let status_url = page.filter(|_| opens).map(|page| page + &home);
    let config = Config {
        app_id,
        is_one_of_several,
        warnings,
        key_setting,
        key,
        api_url,
        telegram,
        control_repo,
        heartbeat_url,
        status_url,
        daily_summary,
        settings,
    };
    if problems.is_empty() {
        return Ok(config);
    }
    // One of them may be what is missing, under a mistyped name.
    problems.extend(harmless);
    Err(Box::new(Unusable { problems: Problems(problems), right: config }))
}

/// What was read, once the runtime found the key to be damaged.
#[must_use]
pub fn with_damaged_key(read: Result<Config, Box<Unusable>>) -> Box<Unusable> {
    let mut unusable = read.map_or_else(|unusable| unusable, |right| Box::new(Unusable { problems: Problems(Vec::new()), right }));
    unusable.right.key = None;
    unusable.problems.0.push(Problem::new(unusable.right.key_setting.as_str(), KeyError::Broken.to_string()));
    unusable
}

/// Letters of `ADMIN_TOKEN` at least: a shorter one could be guessed.
const ADMIN_TOKEN_LENGTH: usize = 16;

/// `ADMIN_TOKEN`, which opens the HTTP side: `None` if it is not set, or too short to be used.
pub fn admin_token(variables: &impl Variables) -> Option<Secret> {
    SettingsReader { variables, apps: Apps::default(), app: String::new(), problems: Vec::new() }.admin_token()
}

struct SettingsReader<'v, V> {
    variables: &'v V,
    apps: Apps,
    /// Whose settings are read.
    app: String,
    problems: Vec<Problem>,
}

impl<V: Variables> SettingsReader<'_, V> {
    /// What a setting of this App is called.
    fn name(&self, setting: &'static str) -> String {
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
            Some(url) if is_bare(&url) => url.as_str().trim_end_matches('/').to_owned(),
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

    fn control_repo(&mut self) -> Option<String> {
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

    fn heartbeat_url(&mut self) -> Option<Secret> {
        let text = self.text_unless_none("HEARTBEAT_URL")?;
        if parse_url(&text).is_none() {
            self.problem("HEARTBEAT_URL", "is no https address (http only for this machine)");
            return None;
        }
        Some(Secret(text))
    }

    /// Without a path: the Worker has its pages at fixed ones, and whoever pastes one with a token in it is to be told.
    fn status_url(&mut self) -> Option<String> {
        let url = parse_url(&self.text("STATUS_URL")?).filter(|url| is_bare(url) && url.path() == "/");
        if url.is_none() {
            let expected = "is no address such as https://github-app-redeliver.me.workers.dev (https, without a path or a query; http only \
                            for this machine)";
            self.problem("STATUS_URL", expected);
        }
        Some(url?.as_str().trim_end_matches('/').to_owned())
    }

    fn daily_summary(&mut self) -> Option<TimeOfDay> {
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

    fn settings(&mut self, api_url: &str, heartbeat: bool) -> Settings {
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

/// The items of an array, as TOML and JSON write one; or the list itself.
fn without_brackets(list: &str) -> &str {
    list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list)
}

fn without_quotes(item: &str) -> &str {
    item.trim().trim_matches(['"', '\''])
}

fn in_hours(span: Duration) -> u64 {
    span.as_secs() / 3_600
}

/// Whether this is the API of a GitHub Enterprise Server, which is always at this path; github.com and ghe.com have a host for it.
pub(crate) fn is_enterprise_server(api_url: &str) -> bool {
    api_url.ends_with("/api/v3")
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

#[cfg(test)]
mod tests;
