//! The Apps of the Worker, and what the settings of one of several are called.
//!
//! Without `APPS` there is one, `GITHUB_APP_ID`, and no setting has a suffix. docs/several-apps.md has the same as a table.

use super::{KEY, Problem, Variables, text_of, without_brackets, without_quotes};

/// The list of Apps.
const APPS: &str = "APPS";

/// The only App, or the one of several whom `GITHUB_APP_PRIVATE_KEY` without a suffix belongs to.
const APP_ID: &str = "GITHUB_APP_ID";

/// The longest name of a setting that is repeated: any of ours with the id of an App is shorter.
const LONGEST_NAME: usize = 64;

/// Apps at most: each has its own key, and a Worker on the paid plan has 128 variables.
const MOST: usize = 100;

/// Whose a setting is, where there are several Apps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// All Apps have the same: with a suffix it is a mistake.
    Shared,
    /// An App has the one with its id, or else the one without a suffix.
    Each,
    /// Without a suffix it is that of one App only.
    One,
}

/// Every setting, and whose it is.
const SETTINGS: [(&str, Scope); 24] = [
    (APPS, Scope::Shared),
    (APP_ID, Scope::Shared),
    (KEY, Scope::One),
    ("GITHUB_API_URL", Scope::Each),
    ("TELEGRAM_BOT_TOKEN", Scope::Each),
    ("TELEGRAM_CHAT_ID", Scope::Each),
    ("TELEGRAM_THREAD_ID", Scope::Each),
    ("TELEGRAM_API_URL", Scope::Shared),
    ("CONTROL_REPO", Scope::Each),
    ("WINDOW_HOURS", Scope::Each),
    ("RETENTION_HOURS", Scope::Each),
    ("MAX_ATTEMPTS", Scope::Each),
    ("MAX_REDELIVERIES", Scope::Each),
    // Of the plan of the account.
    ("SUBREQUEST_LIMIT", Scope::Shared),
    ("FAILURE_PAGES", Scope::Each),
    ("DELIVERY_PAGES", Scope::Each),
    ("SUPERSEDED_EVENTS", Scope::Each),
    ("IGNORED_EVENTS", Scope::Each),
    ("RETRY_STATUS", Scope::Each),
    ("DRY_RUN", Scope::Each),
    ("ADMIN_TOKEN", Scope::Shared),
    ("STATUS_URL", Scope::Shared),
    ("DAILY_SUMMARY", Scope::Each),
    // One switch for several Apps would hold as long as one of them sweeps.
    ("HEARTBEAT_URL", Scope::One),
];

fn scope(setting: &str) -> Option<Scope> {
    SETTINGS.iter().find(|(name, _)| *name == setting).map(|(_, scope)| *scope)
}

/// The Apps of the Worker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Apps {
    /// Their ids, each once, in the order of `APPS`. Empty if the settings name none that can be used.
    pub ids: Vec<String>,
    /// Whether `APPS` is set.
    pub are_listed: bool,
    /// What is wrong with the list.
    pub(super) problems: Vec<Problem>,
    /// The App of `GITHUB_APP_ID`, or the only one.
    owner: Option<String>,
}

impl Apps {
    /// Reads which Apps there are.
    #[must_use]
    pub fn read(variables: &impl Variables) -> Self {
        let mut problems = Vec::new();
        let app_id = text_of(variables, APP_ID);
        let Some(list) = text_of(variables, APPS) else {
            let id = app_id_alone(app_id, &mut problems);
            return Self { ids: id.iter().cloned().collect(), are_listed: false, problems, owner: id };
        };
        let ids = ids(&list, &mut problems);
        if app_id.as_ref().is_some_and(|id| !ids.contains(id)) {
            problems
                .push(Problem::new(APP_ID, "is not in APPS, which has the numbers of all Apps; add it there, or take GITHUB_APP_ID out"));
        }
        let owner = app_id.or_else(|| ids.first().filter(|_| ids.len() == 1).cloned());
        Self { ids, are_listed: true, problems, owner }
    }

    /// Whether there is more than one.
    #[must_use]
    pub fn are_several(&self) -> bool {
        self.ids.len() > 1
    }

    /// The only one.
    #[must_use]
    pub fn only(&self) -> Option<&str> {
        self.ids.first().filter(|_| !self.are_several()).map(String::as_str)
    }

    /// What the setting of this App is called: with the App's id behind it if it is set so, or has to be.
    pub(super) fn name_of(&self, setting: &'static str, app: &str, variables: &impl Variables) -> String {
        let own = format!("{setting}_{app}");
        let has_own = |setting: &str| text_of(variables, &format!("{setting}_{app}")).is_some();
        let is_own = self.are_listed
            && match scope(setting) {
                // A topic is one of its chat.
                Some(Scope::Each) if setting == "TELEGRAM_THREAD_ID" => has_own(setting) || has_own("TELEGRAM_CHAT_ID"),
                Some(Scope::Each) => has_own(setting),
                Some(Scope::One) => has_own(setting) || self.owner.as_deref() != Some(app),
                Some(Scope::Shared) | None => false,
            };
        if is_own { own } else { setting.to_owned() }
    }

    /// Settings that no App has: for an App that is not in `APPS`, or under a name that means nothing.
    pub(super) fn strays(&self, variables: &impl Variables) -> Strays {
        let mut names: Vec<String> = variables.names().into_iter().filter(|name| text_of(variables, name).is_some()).collect();
        names.sort_unstable();
        let strays = names.iter().filter_map(|name| Some(Problem::new(shown(name), self.why_stray(name)?)));
        let (harmless, wrong) = strays.partition(|stray| is_secret(&stray.setting));
        Strays { wrong, harmless }
    }

    fn why_stray(&self, name: &str) -> Option<String> {
        if self.are_listed && self.owner.is_none() && scope(name) == Some(Scope::One) {
            return Some(format!("belongs to one App, and there are several: name it {name}_ID, or set GITHUB_APP_ID to its App"));
        }
        let (setting, id) = name.rsplit_once('_')?;
        let is_id = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
        let is_known = self.are_listed && self.ids.iter().any(|known| known == id);
        match scope(setting).filter(|_| is_id) {
            Some(_) if !self.are_listed => {
                Some("is a setting of one of several Apps, and APPS is not set; give APPS the ids of all".to_owned())
            }
            Some(Scope::Shared) => Some(format!("is not taken: {setting} is the same for all Apps")),
            Some(_) if !is_known => {
                Some("is for an App that is not in APPS; add it there, correct the name, or take this setting out".to_owned())
            }
            None if is_known => Some("is no setting: look whether its name is right".to_owned()),
            _ => None,
        }
    }
}

/// The name of a setting that means nothing, as far as it looks like the name of one: whoever pastes a secret as a name must not find it in
/// the log.
fn shown(name: &str) -> String {
    let is_plain = name.len() <= LONGEST_NAME && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if is_plain && (name == name.to_ascii_uppercase() || name == name.to_ascii_lowercase()) {
        return name.to_owned();
    }
    let id = name.rsplit_once('_').map_or("", |(_, id)| id);
    format!("a name that ends in _{id}")
}

/// Settings that no App has.
pub(super) struct Strays {
    /// Nobody can say whom they are meant for.
    pub(super) wrong: Vec<Problem>,
    /// Secrets. They are deployed at once when they are put in, before the list that names their App, and no deployment takes one out. The
    /// App that misses one says so itself.
    pub(super) harmless: Vec<Problem>,
}

fn is_secret(name: &str) -> bool {
    let setting = name.rsplit_once('_').filter(|(_, id)| id.bytes().all(|byte| byte.is_ascii_digit())).map_or(name, |(setting, _)| setting);
    matches!(setting, KEY | "TELEGRAM_BOT_TOKEN" | "HEARTBEAT_URL")
}

/// `GITHUB_APP_ID` without `APPS`: a client id will do.
fn app_id_alone(id: Option<String>, problems: &mut Vec<Problem>) -> Option<String> {
    let Some(id) = id else {
        problems.push(Problem::new(APP_ID, "is missing; give the App id or the client id from the App's settings"));
        return None;
    };
    if id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'.') {
        problems.push(Problem::new(APP_ID, "is no App id (a number) or client id (such as Iv23abc)"));
        return None;
    }
    Some(id)
}

/// Ids with commas or spaces between them, or an array of them.
fn ids(list: &str, problems: &mut Vec<Problem>) -> Vec<String> {
    let words = without_brackets(list).split(|letter: char| letter == ',' || letter.is_whitespace()).map(without_quotes);
    let mut ids: Vec<String> = Vec::new();
    for (place, word) in words.filter(|word| !word.is_empty()).enumerate() {
        let is_id = word.parse::<u64>().is_ok_and(|id| id > 0 && id.to_string() == word);
        if !is_id {
            let expected =
                format!("is no list of App ids such as 1234567,7654321: number {} of it is no App id (a client id is none)", place + 1);
            problems.push(Problem::new(APPS, expected));
        } else if ids.iter().any(|known| known == word) {
            problems.push(Problem::new(APPS, format!("names {word} twice")));
        } else {
            ids.push(word.to_owned());
        }
    }
    if ids.len() > MOST {
        problems.push(Problem::new(APPS, format!("names more than {MOST} Apps; deploy another Worker for the others")));
        ids.truncate(MOST);
    }
    if ids.is_empty() && problems.is_empty() {
        problems.push(Problem::new(APPS, "names no App; give their ids, such as 1234567,7654321"));
    }
    ids
}

#[cfg(test)]
mod tests;
