//! All Apps of the Worker at a glance: what each object says of its App, as one page, one document, and one word.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::page::{class, document, time, with_times, word};
use super::route::home_of;
use super::status::{Status, Word};
use crate::alarm::text::outside::html;
use crate::alarm::text::words::name_text;
use crate::policy::time::Time;

/// One App in a few words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// Its id.
    pub app: String,
    /// Its name in addresses, if it is known.
    pub app_name: Option<String>,
    /// The path of its page; its other paths are below it.
    pub path: String,
    /// Whether all is well.
    pub ok: bool,
    /// Whether a sweep succeeded within the last hour.
    pub healthy: bool,
    /// How things stand.
    pub word: Word,
    /// Why not all is well, in sentences.
    pub reasons: Vec<String>,
    /// The last sweep that did not fail.
    pub last_sweep: Option<String>,
}

impl Summary {
    /// Of a status.
    #[must_use]
    pub fn of(status: &Status) -> Self {
        Self {
            app: status.app.clone(),
            app_name: status.app_name.clone(),
            path: home_of(&status.app),
            ok: status.ok,
            healthy: status.is_healthy(),
            word: status.word,
            reasons: status.reasons.clone(),
            last_sweep: status.last_sweep.map(|at| at.0.to_string()),
        }
    }

    /// What is said of an App whose object does not answer.
    #[must_use]
    pub fn silent(app: &str) -> Self {
        Self {
            app: app.to_owned(),
            app_name: None,
            path: home_of(app),
            ok: false,
            healthy: false,
            word: Word::Failing,
            reasons: vec!["Its Durable Object does not answer.".to_owned()],
            last_sweep: None,
        }
    }

    fn name(&self) -> String {
        self.app_name.as_deref().map_or_else(|| format!("App {}", self.app), name_text)
    }
}

/// All Apps, as a document for programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Overview {
    /// Of this form. A field may be added to it; none is taken away or changes its meaning.
    pub version: u32,
    /// Whether all is well with all of them.
    pub ok: bool,
    /// Each of them, in the order of the settings.
    pub apps: Vec<Summary>,
}

impl Overview {
    /// Of what is said of each.
    #[must_use]
    pub fn of(apps: Vec<Summary>) -> Self {
        Self { version: 1, ok: apps.iter().all(|app| app.ok), apps }
    }

    /// Whether each had a good sweep within the last hour.
    #[must_use]
    pub fn is_healthy(&self) -> bool {
        self.apps.iter().all(|app| app.healthy)
    }

    /// The answer to a health check: `ok`, or which Apps are not.
    #[must_use]
    pub fn health(&self) -> String {
        if self.is_healthy() {
            return "ok\n".to_owned();
        }
        let unhealthy = self.apps.iter().filter(|app| !app.healthy);
        let line = |app: &Summary| format!("App {}: no sweep has succeeded within the last hour", app.app);
        unhealthy.map(line).collect::<Vec<_>>().join("\n") + "\n"
    }

    /// The page.
    #[must_use]
    pub fn page(&self, now: Time) -> String {
        let (title, worst) = self.in_a_word();
        let mut body =
            format!("<header><p class=\"app\">{} Apps</p><div class=\"banner {}\"><h1>{title}</h1>", self.apps.len(), class(worst));
        for app in self.apps.iter().filter(|app| !app.ok) {
            let _ = write!(body, "<p>{}: {}.</p>", html(&app.name()), lowercased(word(app.word)));
        }
        body.push_str("</div></header><section aria-labelledby=\"apps\"><h2 id=\"apps\">Apps</h2><ul class=\"entries\">");
        self.apps.iter().for_each(|app| body.push_str(&item(app)));
        let _ = write!(body, "</ul></section><footer><p>As of {}. The same as <a href=\"/apps.json\">JSON</a>.</p></footer>", time(now));
        document(&format!("{title}: {} Apps", self.apps.len()), &body)
    }

    /// How it stands with all of them, and with the one that is worst off.
    fn in_a_word(&self) -> (String, Word) {
        let rank = |word: &Word| match word {
            Word::AllWell => 0,
            Word::Starting => 1,
            Word::Attention => 2,
            Word::Outage => 3,
            Word::Failing => 4,
        };
        let worst = self.apps.iter().map(|app| app.word).max_by_key(rank).unwrap_or(Word::AllWell);
        match self.apps.iter().filter(|app| !app.ok).count() {
            0 => (word(Word::AllWell).to_owned(), worst),
            count => (format!("Not all is well with {count} of {} Apps", self.apps.len()), worst),
        }
    }
}

fn item(app: &Summary) -> String {
    let id = app.app_name.as_ref().map(|_| format!(" (App {})", html(&app.app))).unwrap_or_default();
    let mut out = format!("<li><p><strong><a href=\"{}\">{}</a></strong>{id}</p>", html(&app.path), html(&app.name()));
    let _ = write!(out, "<p>{}</p>", word(app.word));
    for reason in &app.reasons {
        let _ = write!(out, "<p>{}</p>", with_times(reason));
    }
    let last = app.last_sweep.as_deref().and_then(Time::parse).map_or_else(|| "none yet".to_owned(), |(at, _)| time(at));
    let _ = write!(out, "<p>Last good sweep: {last}</p></li>");
    out
}

fn lowercased(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_ascii_lowercase()).into_iter().chain(letters).collect()
}
