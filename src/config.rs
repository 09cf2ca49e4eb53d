//! Every setting: its name, default and meaning. Whatever is wrong is told at once (spec sections 9 and 11).

mod apps;
mod reader;

use std::collections::BTreeMap;
use std::fmt;

pub use self::apps::Apps;
use self::apps::Strays;
use self::reader::SettingsReader;

use crate::alarm::summary::TimeOfDay;
use crate::alarm::telegram::TelegramSettings;
use crate::github::key::{AppKey, KeyError};
use crate::policy::settings::Settings;
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

/// As they are written down.
impl Variables for BTreeMap<String, String> {
    fn value(&self, name: &str) -> Option<String> {
        self.get(name).cloned()
    }

    fn names(&self) -> Vec<String> {
        self.keys().cloned().collect()
    }
}

/// A value without the blanks around it; an empty one is as good as none. It is cut in place, since it may be the key: no copy of it is
/// to stay behind.
fn text_of(variables: &impl Variables, name: &str) -> Option<String> {
    let mut value = variables.value(name)?;
    value.truncate(value.trim_end().len());
    value.drain(..value.len() - value.trim_start().len());
    Some(value).filter(|value| !value.is_empty())
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

impl Config {
    /// The path of the App's own page.
    #[must_use]
    pub fn home(&self) -> String {
        if self.is_one_of_several { home_of(&self.app_id) } else { Route::Page.path().to_owned() }
    }
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
    let api_url = reader.api_url();
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
    let mut config = Config {
        app_id,
        is_one_of_several,
        warnings,
        key_setting,
        key,
        api_url,
        telegram,
        control_repo,
        heartbeat_url,
        status_url: None,
        daily_summary,
        settings,
    };
    config.status_url = page.filter(|_| opens).map(|page| page + &config.home());
    if problems.is_empty() {
        return Ok(config);
    }
    // One of them may be what is missing, under a mistyped name.
    problems.extend(harmless);
    Err(Box::new(Unusable { problems: Problems(problems), right: config }))
}

/// `GITHUB_API_URL` of an App; that of github.com if it cannot be used.
pub fn api_url(variables: &impl Variables, app: &str) -> String {
    let apps = Apps::read(variables);
    SettingsReader { variables, apps, app: app.to_owned(), problems: Vec::new() }.api_url()
}

/// What was read, once the runtime found the key to be damaged.
#[must_use]
pub fn with_damaged_key(read: Result<Config, Box<Unusable>>) -> Box<Unusable> {
    let mut unusable = read.map_or_else(|unusable| unusable, |right| Box::new(Unusable { problems: Problems(Vec::new()), right }));
    unusable.right.key = None;
    unusable.problems.0.push(Problem::new(unusable.right.key_setting.as_str(), KeyError::Broken.to_string()));
    unusable
}

/// `ADMIN_TOKEN`, which opens the HTTP side: `None` if it is not set, or too short to be used.
pub fn admin_token(variables: &impl Variables) -> Option<Secret> {
    SettingsReader { variables, apps: Apps::default(), app: String::new(), problems: Vec::new() }.admin_token()
}

/// The items of an array, as TOML and JSON write one; or the list itself.
fn without_brackets(list: &str) -> &str {
    list.strip_prefix('[').and_then(|list| list.strip_suffix(']')).unwrap_or(list)
}

fn without_quotes(item: &str) -> &str {
    item.trim().trim_matches(['"', '\''])
}

/// Whether this is the API of a GitHub Enterprise Server, which is always at this path; github.com and ghe.com have a host for it.
pub(crate) fn is_enterprise_server(api_url: &str) -> bool {
    api_url.ends_with("/api/v3")
}

#[cfg(test)]
mod tests;
