//! What people see, from the first message to the last: each kind of entry raised, changed and cleared, and what else there is.
//!
//! Both channels run as they are, against the fakes; test/fixtures/gallery.json holds what then stood in the chat and in the
//! repository. `npm run gallery` draws it. `UPDATE_EXPECT=1 cargo test --lib gallery` writes it anew.

use std::collections::BTreeMap;
use std::rc::Rc;

use expect_test::expect_file;
use pollster::block_on;
use serde::Serialize;

use crate::alarm::channels::Channels;
use crate::alarm::entry::{Channel, EntryKind, entries};
use crate::alarm::fakes::issues::{FakeIssues, Issue, Shut};
use crate::alarm::fakes::telegram::{FakeTelegram, Message, TOKEN};
use crate::alarm::fakes::{AnySigner, Fault, StillClock};
use crate::alarm::sample::{attempt, event, loss, time};
use crate::alarm::{Alarm, Memory};
use crate::config::{self, Config};
use crate::github::api::Api;
use crate::policy::budget::Budget;
use crate::policy::delivery::{DeliveryId, Guid, Outcome, Position};
use crate::policy::event::{Ask, Attempt, Event, Fate};
use crate::policy::ledger::{Ledger, Loss};
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

    /// A sweep that nobody needs to see.
    fn sweep(&mut self, minute: u64, passed: &[&str]) {
        let passed = self.pass(passed);
        let alarm = Alarm { entries: entries(&self.ledger), passed, ..Alarm::default() };
        self.issues.now.set(time(minute));
        let budget = Budget::new(50);
        let wire = Wire { scene: self, budget: &budget };
        let api = Api::new(&wire, &AnySigner, &StillClock, &self.config.api_url, &self.config.app_id);
        let channels = Channels::new(&wire, &StillClock, &api, &budget, &self.config);
        let told = block_on(channels.show(self.memory.clone(), &alarm, time(minute)));
        self.memory = told.memory;
        for message in self.telegram.messages.borrow().iter() {
            self.sent_at.entry(message.id).or_insert_with(|| time(minute).to_string());
        }
        for issue in self.issues.issues.borrow().iter() {
            self.opened_at.entry(issue.number).or_insert_with(|| time(minute).to_string());
        }
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
                Some(before) if before == issue => return None,
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
    config::read(|name| match name {
        "GITHUB_APP_ID" => Some("123456".to_owned()),
        "GITHUB_APP_PRIVATE_KEY" => Some(key.clone()),
        "GITHUB_API_URL" => Some("https://api.github.example".to_owned()),
        "TELEGRAM_API_URL" => Some("https://telegram.example".to_owned()),
        "TELEGRAM_BOT_TOKEN" => Some(TOKEN.to_owned()),
        "TELEGRAM_CHAT_ID" => Some("-1001234567890".to_owned()),
        "CONTROL_REPO" => Some("acme/control".to_owned()),
        _ => None,
    })
    .expect("the settings can be used")
}

/// The section of a kind. A new kind does not compile here: it needs a section of its own below.
fn section_of(kind: &EntryKind) -> &'static str {
    match kind {
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
    let kinds: [(&str, &str, Play); 8] = [
        ("gave-up", "An event gave up", gave_up),
        ("github-refused", "GitHub refused to redeliver", github_refused),
        ("no-attempt", "GitHub made no attempt", no_attempt),
        ("refuses-everything", "The endpoint refuses everything", refuses_everything),
        ("left-behind", "Events left behind", left_behind),
        ("not-read", "Part of GitHub's list not read", not_read),
        ("telegram", "Telegram cannot be reached", telegram_lost),
        ("control-repository", "The control repository cannot be reached", control_repository_lost),
    ];
    let others: [(&str, &str, Play); 7] = [
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

const A: &str = "38ee792a-82e7-11f1-959e-7ce606dfe5da";
const B: &str = "5d0c7a3e-82e7-11f1-9c41-6ad1f0e2b793";
const C: &str = "b2f86e15-82e8-11f1-a0d9-c47b25e83f06";

/// When GitHub has forgotten what was delivered in the first hours.
const FORGOTTEN: u64 = 72 * 60 + 240;

/// One that came then, with an attempt each quarter of an hour.
fn failed(guid: &str, (name, action): (&str, &str), minute: u64, codes: &[i32]) -> Event {
    let of = |(at, code): (u64, &i32)| {
        let outcome = if matches!(code, 504 | 0) { Outcome::Unanswered } else { Outcome::Failed };
        Attempt { redelivery: at > minute, ..attempt(at, *code, outcome) }
    };
    let attempts = (0..).map(|number| minute + number * 15).zip(codes).map(of).collect();
    Event { event: name.into(), action: Some(action.into()), attempts, fate: Fate::GaveUp, ..event(guid, minute) }
}

const RUN: (&str, &str) = ("workflow_run", "completed");
const COMMENT: (&str, &str) = ("issue_comment", "created");
const REVIEW: (&str, &str) = ("pull_request_review", "submitted");

fn is_about(scene: &Scene, id: &str) {
    assert!(entries(&scene.ledger).iter().any(|entry| section_of(&entry.kind) == id), "{id}");
}

fn gave_up(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    is_about(scene, "gave-up");
    scene.case("Raised", "The third attempt failed.", 40, &[]);
    scene.put(failed(A, RUN, 0, &[500, 503, 504, 502]));
    scene.case("Changed", "Somebody pressed Redeliver too early: a fourth attempt failed.", 55, &[]);
    scene.case("Cleared", "An attempt passed.", 85, &[A]);
}

fn github_refused(scene: &mut Scene) {
    let refused = |event| Event { fate: Fate::NotRedeliverable(Some(404)), ..event };
    scene.put(refused(failed(A, RUN, 0, &[500])));
    is_about(scene, "github-refused");
    scene.case("Raised", "GitHub answered the request to redeliver with 404.", 25, &[]);
    scene.put(Event { repository_id: Some(512_870_946), ..refused(failed(B, COMMENT, 20, &[502])) });
    scene.case("Changed", "Another event, within the hour.", 40, &[]);
    scene.sweep(100, &[B]);
    scene.forget();
    scene.case("Cleared", "One was redelivered by hand; GitHub forgot the other after 72 hours.", FORGOTTEN, &[]);
}

fn no_attempt(scene: &mut Scene) {
    let lost = |event: Event| {
        let on = event.attempts[0].position;
        let ask = |minute| Ask { at: time(minute), after: time(minute), on, taken: true };
        Event { asks: vec![ask(10), ask(55), ask(100)], fate: Fate::NotRedeliverable(None), ..event }
    };
    scene.put(lost(failed(A, RUN, 0, &[500])));
    is_about(scene, "no-attempt");
    scene.case("Raised", "GitHub accepted three requests to redeliver and made no attempt.", 130, &[]);
    scene.put(lost(failed(B, REVIEW, 70, &[502])));
    scene.case("Changed", "Another event, more than an hour later: a new message, since an edit wakes nobody.", 205, &[]);
    scene.forget();
    scene.case("Cleared", "72 hours passed, and GitHub forgot both.", FORGOTTEN, &[]);
}

fn refuses_everything(scene: &mut Scene) {
    let refused = |minute, code| attempt(minute, code, Outcome::Refused);
    scene.ledger.refusals.take(None, (0..12).map(|number| refused(number * 3, 401)));
    is_about(scene, "refuses-everything");
    scene.case("Raised", "Every attempt of half an hour was refused, ten or more.", 40, &[]);
    scene.ledger.refusals.take(None, [refused(45, 403)]);
    scene.case("Changed", "It answered with another code.", 55, &[]);
    scene.ledger.refusals.take(Some(Position { at: time(60), id: DeliveryId(u64::MAX) }), []);
    scene.case("Cleared", "An attempt passed.", 70, &[]);
}

fn kinds_of(counts: &[(&str, u64)]) -> (u64, BTreeMap<Rc<str>, u64>) {
    (counts.iter().map(|(_, count)| count).sum(), counts.iter().map(|(name, count)| ((*name).into(), *count)).collect())
}

fn left_behind(scene: &mut Scene) {
    let (count, kinds) = kinds_of(&[("check_run", 31), ("push", 9), ("issue_comment", 2)]);
    scene.ledger.left_behind = vec![Loss { from: time(0), to: time(9), count, kinds, ..loss(190) }];
    is_about(scene, "left-behind");
    scene.case("Raised", "More failed than could be asked for again within three hours.", 190, &[]);
    let (count, kinds) = kinds_of(&[("check_run", 58), ("push", 17), ("issue_comment", 6), ("release", 1), ("star", 3), ("watch", 2)]);
    scene.ledger.left_behind = vec![Loss { from: time(0), to: time(24), count, kinds, ..loss(190) }];
    scene.case("Changed", "The next sweep left more behind.", 205, &[]);
    scene.forget();
    scene.case("Cleared", "72 hours passed.", FORGOTTEN, &[]);
}

fn not_read(scene: &mut Scene) {
    scene.ledger.gaps_lost = vec![Loss { from: time(0), to: time(9), ..loss(190) }];
    is_about(scene, "not-read");
    scene.case("Raised", "Part of GitHub's list was too long to be read in time.", 190, &[]);
    scene.ledger.gaps_lost = vec![Loss { from: time(0), to: time(24), ..loss(190) }];
    scene.case("Changed", "The next sweep had to leave out more.", 205, &[]);
    scene.forget();
    scene.case("Cleared", "72 hours passed.", FORGOTTEN, &[]);
}

fn telegram_lost(scene: &mut Scene) {
    scene.telegram.shut.set(Some((403, "Forbidden: bot was kicked from the supergroup chat")));
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.case("Raised", "An event gave up, and the bot is not in the chat any more.", 40, &[]);
    scene.case("Changed", "The event passed; the chat is out of reach still.", 55, &[A]);
    scene.telegram.shut.set(None);
    scene.case("Cleared", "The bot was added again. What came and went meanwhile is not sent.", 70, &[]);
}

fn control_repository_lost(scene: &mut Scene) {
    scene.issues.shut.set(Some(Shut::NoPermission));
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.case("Raised", "An event gave up, and the App may not write issues.", 40, &[]);
    scene.case("Changed", "The event passed; the repository is out of reach still.", 55, &[A]);
    scene.issues.shut.set(None);
    scene.case("Cleared", "The permission was granted. For what came and went meanwhile no issue is created.", 70, &[]);
}

fn several(scene: &mut Scene) {
    let refused = (0..12).map(|number| attempt(number * 3, 401, Outcome::Refused));
    scene.ledger.refusals.take(None, refused);
    let (count, kinds) = kinds_of(&[("push", 2)]);
    scene.ledger.left_behind = vec![Loss { from: time(0), to: time(9), count, kinds, ..loss(40) }];
    scene.ledger.gaps_lost = vec![Loss { from: time(10), to: time(21), ..loss(40) }];
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.put(Event { fate: Fate::NotRedeliverable(Some(404)), ..failed(B, COMMENT, 5, &[502]) });
    scene.case("Raised", "A bad half hour, seen by one sweep.", 40, &[]);
    scene.ledger.refusals.take(Some(Position { at: time(60), id: DeliveryId(u64::MAX) }), []);
    scene.case("Changed", "The endpoint was repaired, and one of the events passed.", 70, &[A]);
    scene.forget();
    scene.case("Cleared", "72 hours passed.", FORGOTTEN, &[]);
}

fn many(scene: &mut Scene) {
    let guids: Vec<String> =
        (0..18).map(|number| format!("{:08x}-82e8-11f1-a0d9-c47b25e83f06", 0xb2f8_6e15_u32 + number * 0x0101)).collect();
    let guids: Vec<&str> = guids.iter().map(String::as_str).collect();
    for ((minute, guid), kind) in (0..).zip(&guids).zip([RUN, COMMENT, REVIEW].into_iter().cycle()) {
        scene.put(failed(guid, kind, minute, &[500, 503, 503]));
    }
    scene.case("Raised", "An outage: 18 events gave up.", 70, &[]);
    scene.case("Cleared", "Somebody pressed Redeliver for each, and all passed.", 100, &guids);
}

fn closed_by_a_person(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.sweep(40, &[]);
    scene.issues.person_sets(false);
    scene.put(failed(B, COMMENT, 60, &[502, 502, 502]));
    scene.case("A new entry", "What the person has seen stays closed: the new issue has only what is new.", 115, &[]);
    scene.case("Cleared for the issue", "The new event passed; the one that the person has seen is open still.", 130, &[B]);
}

fn moved(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.sweep(40, &[]);
    // A chat of two people has no addresses.
    let telegram = scene.config.telegram.as_mut().expect("it is set");
    "4102233".clone_into(&mut telegram.chat_id);
    scene.config.control_repo = Some("acme/alarms".to_owned());
    scene.case("The settings name others", "The alarm goes on there, and what stood before says so.", 55, &[]);
    scene.put(failed(B, COMMENT, 90, &[502, 502, 502]));
    scene.case("A pointer without a link", "A new message in a chat whose messages have no address.", 145, &[]);
}

fn lost(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.sweep(40, &[]);
    scene.issues.person_sets(false);
    scene.memory = Memory::default();
    scene.sweep(55, &[]);
    scene.issues.person_sets(true);
    scene.memory = Memory::default();
    scene.case("Two open issues", "The older one goes on; the other points to it. Telegram cannot be asked what was sent.", 70, &[]);
    scene.memory = Memory::default();
    scene.forget();
    scene.case("Nothing is known", "The state was lost, and GitHub lists no failure that is too old.", 85, &[]);
}

fn less(scene: &mut Scene) {
    scene.put(failed(A, RUN, 0, &[500, 503, 504]));
    scene.issues.line.fail("GET /app", Fault::Status(500));
    scene.case("The App's page is not known", "GET /app failed: the App has no name, and no link leads to its page.", 40, &[]);
    scene.sweep(55, &[A]);
    scene.telegram.takes_no.set(Some("markup"));
    scene.put(failed(C, REVIEW, 60, &[500, 503, 504]));
    scene.case("Telegram refused the markup", "The message is sent again as plain text.", 115, &[]);
}

fn outside(scene: &mut Scene) {
    let hostile = [
        ("<b>x</b>&lt;", "<img src=x onerror=alert(1)>", "@all #1 `](https://evil.example)"),
        ("a | b", "<!-- c -->", "<script>alert(2)</script>"),
        ("\u{202e}evil\n# x", "**d** @mona", "https://evil.example/?a=1&b=\"2\""),
    ];
    for (minute, (name, action, guid)) in (0..).zip(hostile) {
        scene.put(failed(guid, (name, action), minute, &[500, 503, 504]));
    }
    scene.case("Raised", "Names and guids that nobody would choose.", 40, &[]);
}
