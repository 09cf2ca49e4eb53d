//! What people see, from the first message to the last: each kind of entry raised, changed and cleared, and what else there is.
//!
//! Both channels run as they are, against the fakes; test/fixtures/gallery.json holds what then stood in the chat and in the
//! repository. `npm run gallery` draws it. `UPDATE_EXPECT=1 cargo test --lib gallery` writes it anew.

mod kinds;
mod others;

use std::collections::BTreeMap;

use expect_test::expect_file;
use pollster::block_on;
use serde::Serialize;

use self::kinds::{
    control_repository_lost, gave_up, github_refused, left_behind, no_attempt, not_read, outage, recovery_fails, refuses_everything,
    telegram_lost,
};
use self::others::{closed_by_a_person, daily, less, lost, many, moved, outside, several, why_it_fails};
use crate::alarm::channels::{Channels, Ways};
use crate::alarm::entry::{Channel, Entry, EntryKind, Failing, entries, with_failing};
use crate::alarm::fakes::issues::{FakeIssues, Issue};
use crate::alarm::fakes::telegram::{FakeTelegram, Message, TOKEN};
use crate::alarm::fakes::{AnySigner, StillClock};
use crate::alarm::sample::time;
use crate::alarm::summary::Day;
use crate::alarm::{Alarm, Memory};
use crate::config::{self, Config};
use crate::github::api::Api;
use crate::policy::budget::Budget;
use crate::policy::delivery::Guid;
use crate::policy::event::{Event, Fate};
use crate::policy::ledger::Ledger;
use crate::ports::{Answer, Call, Network, NetworkError};
use crate::testing::app_key_pem;

#[test]
fn the_gallery_shows_what_people_see() {
    let gallery = serde_json::to_string_pretty(&all(&config())).expect("JSON");
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/test/fixtures/gallery.json")].assert_eq(&(gallery + "\n"));
}

/// Cases that belong together.
#[derive(Serialize)]
struct Section {
    /// Its address on the page.
    id: &'static str,
    title: &'static str,
    /// Whether it is about one kind of entry.
    is_kind: bool,
    cases: Vec<Case>,
}

/// What one sweep wrote.
#[derive(Serialize)]
struct Case {
    title: &'static str,
    /// What had happened.
    about: &'static str,
    at: String,
    telegram: Place<InChat>,
    control_repo: Place<InRepo>,
}

#[derive(Serialize)]
struct Place<T> {
    can_be_reached: bool,
    /// In the order of what was written first.
    wrote: Vec<T>,
}

#[derive(Serialize)]
struct InChat {
    what: &'static str,
    sound: bool,
    chat: String,
    id: i64,
    sent_at: String,
    is_html: bool,
    text: String,
    buttons: Vec<serde_json::Value>,
}

#[derive(Serialize)]
struct InRepo {
    what: &'static str,
    repo: String,
    number: u64,
    is_open: bool,
    opened_at: String,
    title: String,
    body: String,
}

/// Both servers, and one installation of the Worker.
struct Scene {
    telegram: FakeTelegram,
    issues: FakeIssues,
    config: Config,
    ledger: Ledger,
    /// Two sweeps in a row failed.
    failing: Option<Failing>,
    /// Which channels a sweep may call.
    ways: Ways,
    memory: Memory,
    /// When each message and each issue was made.
    sent_at: BTreeMap<i64, String>,
    opened_at: BTreeMap<u64, String>,
    cases: Vec<Case>,
}

/// The way to both servers.
struct Wire<'a> {
    scene: &'a Scene,
    budget: &'a Budget,
}

impl Network for Wire<'_> {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        if !self.budget.take() {
            return Err(NetworkError::NoCallLeft);
        }
        if call.url.starts_with("https://telegram.example") {
            self.scene.telegram.call(call).await
        } else {
            self.scene.issues.call(call).await
        }
    }
}

impl Scene {
    fn new(config: &Config) -> Self {
        Self {
            telegram: FakeTelegram::default(),
            issues: FakeIssues::default(),
            config: config.clone(),
            ledger: Ledger::default(),
            failing: None,
            ways: Ways::All,
            memory: Memory::default(),
            sent_at: BTreeMap::new(),
            opened_at: BTreeMap::new(),
            cases: Vec::new(),
        }
    }

    fn put(&mut self, event: Event) {
        self.ledger.events.insert(event.guid.clone(), event);
    }

    /// These events passed, so that they are no entries any more.
    fn pass(&mut self, guids: &[&str]) -> Vec<Guid> {
        let passed: Vec<Guid> = guids.iter().map(|guid| Guid::from(*guid)).collect();
        for guid in &passed {
            self.ledger.events.get_mut(guid).expect("it is there").fate = Fate::Passed;
        }
        passed
    }

    /// GitHub keeps no record of anything any more.
    fn forget(&mut self) {
        self.ledger = Ledger::default();
    }

    fn entries(&self) -> Vec<Entry> {
        let entries = entries(&self.ledger);
        match &self.failing {
            Some(failing) => with_failing(entries, failing.clone()),
            None => entries,
        }
    }

    fn alarm(&self) -> Alarm {
        Alarm { entries: self.entries(), status_url: self.config.status_url.clone(), ..Alarm::default() }
    }

    /// A sweep that nobody needs to see.
    fn sweep(&mut self, minute: u64, passed: &[&str]) {
        let passed = self.pass(passed);
        let alarm = Alarm { passed, ..self.alarm() };
        self.issues.now.set(time(minute));
        let budget = Budget::new(50);
        let wire = Wire { scene: self, budget: &budget };
        let api = Api::new(&wire, &AnySigner, &StillClock, &self.config.api_url, &self.config.app_id);
        let channels = Channels::new(&wire, &StillClock, &api, &budget, &self.config);
        let told = block_on(channels.show(self.memory.clone(), &alarm, time(minute), self.ways));
        self.memory = told.memory;
        for message in self.telegram.messages.borrow().iter() {
            self.sent_at.entry(message.id).or_insert_with(|| time(minute).to_string());
        }
        for issue in self.issues.issues.borrow().iter() {
            self.opened_at.entry(issue.number).or_insert_with(|| time(minute).to_string());
        }
    }

    /// The summary that the last sweep sent.
    fn summary(&mut self, title: &'static str, about: &'static str, minute: u64, day: &Day) {
        let before = self.telegram.messages.borrow().clone();
        let budget = Budget::new(50);
        let wire = Wire { scene: self, budget: &budget };
        let api = Api::new(&wire, &AnySigner, &StillClock, &self.config.api_url, &self.config.app_id);
        let channels = Channels::new(&wire, &StillClock, &api, &budget, &self.config);
        let mut memory = self.memory.clone();
        block_on(channels.summarize(&mut memory, &self.alarm(), day, time(minute))).expect("the fake takes it");
        let sent = self.telegram.messages.borrow().last().map(|message| message.id).expect("it was sent");
        self.sent_at.insert(sent, time(minute).to_string());
        let wrote = self.changed_messages(&before).into_iter().map(|message| InChat { sound: false, ..message }).collect();
        self.cases.push(Case {
            title,
            about,
            at: time(minute).to_string(),
            telegram: Place { can_be_reached: true, wrote },
            control_repo: Place { can_be_reached: true, wrote: Vec::new() },
        });
    }

    /// A sweep, and what it wrote.
    fn case(&mut self, title: &'static str, about: &'static str, minute: u64, passed: &[&str]) {
        let messages = self.telegram.messages.borrow().clone();
        let issues = self.issues.issues.borrow().clone();
        let sounds = self.telegram.sounds.get();
        self.sweep(minute, passed);
        let in_chat = self.changed_messages(&messages);
        assert_eq!(in_chat.iter().filter(|message| message.sound).count(), self.telegram.sounds.get() - sounds);
        self.cases.push(Case {
            title,
            about,
            at: time(minute).to_string(),
            telegram: Place { can_be_reached: self.memory.telegram_reach.lost().is_none(), wrote: in_chat },
            control_repo: Place { can_be_reached: self.memory.control_repo_reach.lost().is_none(), wrote: self.changed_issues(&issues) },
        });
    }

    fn changed_messages(&self, before: &[Message]) -> Vec<InChat> {
        let seen = |message: &Message| {
            let before = before.iter().find(|before| before.id == message.id);
            let same = |before: &Message| (&before.html, before.plain, &before.buttons) == (&message.html, message.plain, &message.buttons);
            if before.is_some_and(same) {
                return None;
            }
            Some(InChat {
                what: if before.is_none() { "sent" } else { "edited" },
                sound: before.is_none(),
                chat: message.chat.to_string(),
                id: message.id,
                sent_at: self.sent_at[&message.id].clone(),
                is_html: !message.plain,
                text: message.html.clone(),
                buttons: message.buttons.clone(),
            })
        };
        self.telegram.messages.borrow().iter().filter_map(seen).collect()
    }

    fn changed_issues(&self, before: &[Issue]) -> Vec<InRepo> {
        let seen = |issue: &Issue| {
            let before = before.iter().find(|before| before.number == issue.number);
            let what = match before {
                None => "created",
                // What was given back at once nobody saw.
                Some(before) if *before == (Issue { updated_at: before.updated_at, ..issue.clone() }) => return None,
                Some(before) if before.is_open && !issue.is_open => "closed",
                Some(before) if !before.is_open && issue.is_open => "reopened",
                Some(_) => "edited",
            };
            Some(InRepo {
                what,
                repo: issue.repo.clone(),
                number: issue.number,
                is_open: issue.is_open,
                opened_at: self.opened_at[&issue.number].clone(),
                title: issue.title.clone(),
                body: issue.body.clone(),
            })
        };
        self.issues.issues.borrow().iter().filter_map(seen).collect()
    }
}

/// The settings that every scene starts with.
fn config() -> Config {
    let key = app_key_pem();
    config::read(
        &|name: &str| match name {
            "GITHUB_APP_ID" => Some("123456".to_owned()),
            "GITHUB_APP_PRIVATE_KEY" => Some(key.clone()),
            "GITHUB_API_URL" => Some("https://api.github.example".to_owned()),
            "TELEGRAM_API_URL" => Some("https://telegram.example".to_owned()),
            "TELEGRAM_BOT_TOKEN" => Some(TOKEN.to_owned()),
            "TELEGRAM_CHAT_ID" => Some("-1001234567890".to_owned()),
            "CONTROL_REPO" => Some("acme/control".to_owned()),
            "STATUS_URL" => Some("https://github-app-redeliver.acme.workers.dev".to_owned()),
            "ADMIN_TOKEN" => Some("a-token-that-nobody-guesses".to_owned()),
            _ => None,
        },
        None,
    )
    .expect("the settings can be used")
}

/// The section of a kind. A new kind does not compile here: it needs a section of its own below.
fn section_of(kind: &EntryKind) -> &'static str {
    match kind {
        EntryKind::Failing(_) => "recovery-fails",
        EntryKind::Outage(_) => "outage",
        EntryKind::GaveUp(_) => "gave-up",
        EntryKind::NotRedeliverable { answer: Some(_), .. } => "github-refused",
        EntryKind::NotRedeliverable { answer: None, .. } => "no-attempt",
        EntryKind::Refusing(_) => "refuses-everything",
        EntryKind::LeftBehind(_) => "left-behind",
        EntryKind::GapLost(_) => "not-read",
        EntryKind::ChannelLost { channel: Channel::Telegram, .. } => "telegram",
        EntryKind::ChannelLost { channel: Channel::ControlRepo, .. } => "control-repository",
    }
}

/// What happens in a section.
type Play = fn(&mut Scene);

fn all(config: &Config) -> Vec<Section> {
    let kinds: [(&str, &str, Play); 10] = [
        ("outage", "The endpoint does not answer", outage),
        ("recovery-fails", "The recovery itself fails", recovery_fails),
        ("gave-up", "An event gave up", gave_up),
        ("github-refused", "GitHub refused to redeliver", github_refused),
        ("no-attempt", "GitHub made no attempt", no_attempt),
        ("refuses-everything", "The endpoint refuses everything", refuses_everything),
        ("left-behind", "Events left behind", left_behind),
        ("not-read", "Part of GitHub's list not read", not_read),
        ("telegram", "Telegram cannot be reached", telegram_lost),
        ("control-repository", "The control repository cannot be reached", control_repository_lost),
    ];
    let others: [(&str, &str, Play); 9] = [
        ("daily", "The daily summary", daily),
        ("why-it-fails", "Why the recovery fails", why_it_fails),
        ("several", "Several kinds at once", several),
        ("many", "More than fit", many),
        ("closed-by-a-person", "A person closes the issue", closed_by_a_person),
        ("moved", "Another chat and repository", moved),
        ("lost", "The record was lost", lost),
        ("less", "With less to go on", less),
        ("outside", "Values from outside stay text", outside),
    ];
    let of = |is_kind| {
        move |(id, title, play): (&'static str, &'static str, Play)| {
            let mut scene = Scene::new(config);
            play(&mut scene);
            if is_kind {
                let titles: Vec<&str> = scene.cases.iter().map(|case| case.title).collect();
                assert_eq!(titles, ["Raised", "Changed", "Cleared"], "{id}");
            }
            Section { id, title, is_kind, cases: scene.cases }
        }
    };
    kinds.into_iter().map(of(true)).chain(others.into_iter().map(of(false))).collect()
}
