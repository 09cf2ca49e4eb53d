//! This Worker: its real sweep, with all that it reads, keeps, asks and tells, on ports that lead into the played week. So its
//! budget of calls is kept by the same code as in the Worker, and its alarm goes to a Telegram that counts sounds.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use allocation_counter::{measure, opt_out};
use chrono::DateTime;
use futures_util::FutureExt;
use github_app_redeliver::alarm::entry::{Entry, EntryKind, entries};
use github_app_redeliver::config::{self, Config};
use github_app_redeliver::policy::budget::Budget;
use github_app_redeliver::policy::delivery::Guid;
use github_app_redeliver::policy::time::{Time, minutes};
use github_app_redeliver::ports::{
    Answer, AnswerHeaders, Call, Clock, Key, Method, Network, NetworkError, SignError, Signer, Storage, StorageError,
};
use github_app_redeliver::sweep::state::State;
use github_app_redeliver::sweep::{World, sweep};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rsa::RsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey, LineEnding};

mod control;

use self::control::Control;
use crate::github::{Item, List};
use crate::policy::{Calls, Down, Policy};
use crate::score::News;

const API: &str = "https://api.github.com";
const DELIVERIES: &str = "/app/hook/deliveries";

/// This Worker with some settings.
pub(crate) struct Ours {
    config: Config,
    stored: RefCell<BTreeMap<Key, String>>,
    control: RefCell<Control>,
    /// Keys of the entries that were told.
    told: BTreeSet<String>,
    /// By key, what entries told by number: from when to when, and how many. They stay told when the entry has left.
    losses: BTreeMap<String, (Time, Time, u64)>,
    /// Of the last sweep.
    pub(crate) cost: Cost,
}

/// What a sweep cost, apart from GitHub's and Telegram's part in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// By the clock of this machine.
    pub(crate) took: Duration,
    /// Allocations.
    pub(crate) allocations: u64,
    /// Values that were written or deleted: Cloudflare counts each as a row.
    pub(crate) rows: u64,
}

impl Ours {
    /// With the default settings but for these.
    pub(crate) fn new(settings: &'static [(&'static str, &'static str)]) -> Self {
        let given = |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        let config = config::read(
            &|name: &str| match name {
                "GITHUB_APP_ID" => Some("123456".to_owned()),
                "GITHUB_APP_PRIVATE_KEY" => Some(key().to_owned()),
                "TELEGRAM_BOT_TOKEN" => Some("7000000001:AAtokenOfNobody".to_owned()),
                "TELEGRAM_CHAT_ID" => Some("-1001".to_owned()),
                _ => given(name),
            },
            None,
        );
        Self {
            config: config.expect("the settings can be used"),
            stored: RefCell::default(),
            control: RefCell::default(),
            told: BTreeSet::new(),
            losses: BTreeMap::new(),
            cost: Cost::default(),
        }
    }

    /// What is stored under a key.
    pub(crate) fn stored(&self, key: Key) -> String {
        self.stored.borrow().get(&key).cloned().unwrap_or_default()
    }

    /// What the alarm says after a sweep.
    fn entries(&self) -> Vec<Entry> {
        let stored = self.stored.borrow();
        let state = stored.get(&Key::State).and_then(|text| State::read(text).ok());
        state.map(|state| entries(&state.ledger)).unwrap_or_default()
    }

    /// Notes who was told what.
    fn tell(&mut self, calls: &mut Calls<'_, '_>, sounds: u32, wrote: bool) {
        if !wrote {
            return;
        }
        let now = calls.clock();
        let all = self.entries();
        let mut news = News::default();
        for entry in &all {
            let is_new = self.told.insert(entry.key.clone());
            let loss = match &entry.kind {
                EntryKind::LeftBehind(loss) => Some((loss.from, loss.to, loss.count)),
                // How many events a stretch held that was not read, nobody knows.
                EntryKind::GapLost(loss) => Some((loss.from, loss.to, u64::MAX)),
                _ => None,
            };
            self.losses.extend(loss.map(|loss| (entry.key.clone(), loss)));
            match entry.kind.event().map(|event| &event.guid) {
                _ if !is_new => {}
                Some(Guid::Uuid(guid)) => news.events.push(event_of(*guid)),
                Some(Guid::Text(_)) => {}
                None => news.itself = Some(news.itself.unwrap_or(false) || is_true(&entry.key, calls, now)),
            }
        }
        calls.score.told_by_number(self.losses.values().copied().collect());
        calls.score.told(&news.events);
        if sounds > 0 {
            if news.events.is_empty() && news.itself.is_none() {
                // It speaks of the recovery itself, of which the ledger knows nothing.
                news.itself = Some(calls.github.week.api_down.holds(now));
            }
            calls.page_person(news);
        }
    }
}

/// Whether an entry that is about no single event says what is so.
fn is_true(key: &str, calls: &Calls<'_, '_>, now: Time) -> bool {
    if key.starts_with("outage") { calls.github.week.is_down(now) } else { true }
}

impl Policy for Ours {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let budget = Budget::new(self.config.settings.subrequest_limit);
        let line = Line {
            calls: RefCell::new(&mut *calls),
            control: &self.control,
            budget: &budget,
            written: RefCell::default(),
            waited: Cell::default(),
        };
        let storage = Stored { values: &self.stored, rows: Cell::default() };
        let world = World { network: &line, signer: &NoSigner, clock: &Still(now), storage: &storage, budget: &budget };
        let (started, mut report) = (Instant::now(), None);
        let counted = measure(|| report = sweep(&world, &self.config, now).now_or_never());
        let took = started.elapsed().saturating_sub(line.waited.get());
        let report = report.expect("nothing waits");
        self.cost = Cost { took, allocations: counted.count_total, rows: storage.rows.get() };
        let (sounds, edits) = line.written.into_inner();
        self.tell(calls, sounds, sounds + edits > 0);
        if report.is_failure() { Err(Down) } else { Ok(()) }
    }

    fn interval(&self) -> Duration {
        minutes(15)
    }
}

/// A key of nobody's App, made once.
fn key() -> &'static str {
    static KEY: OnceLock<String> = OnceLock::new();
    KEY.get_or_init(|| {
        let key = RsaPrivateKey::new(&mut StdRng::seed_from_u64(7), 2048).expect("a key can be made");
        key.to_pkcs8_pem(LineEnding::LF).expect("a key can be written").to_string()
    })
}

/// The network: GitHub's API, and Telegram's.
struct Line<'a, 'c, 'w> {
    calls: RefCell<&'a mut Calls<'c, 'w>>,
    control: &'a RefCell<Control>,
    budget: &'a Budget,
    /// Messages sent, and edited.
    written: RefCell<(u32, u32)>,
    /// How long the others took to answer.
    waited: Cell<Duration>,
}

impl Network for Line<'_, '_, '_> {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        if !self.budget.take() {
            return Err(NetworkError::NoCallLeft);
        }
        let (started, mut answer) = (Instant::now(), Answer::default());
        // What the others need for their answer is not this Worker's.
        opt_out(|| answer = self.answer(&call));
        self.waited.set(self.waited.get() + started.elapsed());
        Ok(answer)
    }
}

impl Line<'_, '_, '_> {
    fn answer(&self, call: &Call<'_>) -> Answer {
        let mut calls = self.calls.borrow_mut();
        let Some(path) = call.url.strip_prefix(API) else {
            calls.elsewhere();
            let mut written = self.written.borrow_mut();
            let count = if call.url.ends_with("/sendMessage") { &mut written.0 } else { &mut written.1 };
            *count += 1;
            return answer(200, r#"{"ok":true,"result":{"message_id":1,"chat":{"id":-1001}}}"#);
        };
        let mut answer = match path.strip_prefix(DELIVERIES) {
            Some(rest) if call.method == Method::Post => ask(&mut calls, rest),
            Some(rest) => page(&mut calls, rest),
            None if path == "/app" => {
                calls.other().map(|()| answer(200, r#"{"id":123456,"slug":"app","html_url":"https://github.com/apps/app"}"#))
            }
            None => calls.other().map(|()| self.control.borrow_mut().answer(call, path, calls.clock())),
        }
        .unwrap_or_else(|Down| answer(502, "{}"));
        answer.headers.date = Some(http_date(calls.clock()));
        answer
    }
}

fn answer(status: u16, body: &str) -> Answer {
    Answer { status, headers: AnswerHeaders::default(), body: body.as_bytes().to_vec() }
}

fn http_date(time: Time) -> String {
    let date = DateTime::from_timestamp_millis(time.millis()).expect("a time of the week");
    date.format("%a, %d %b %Y %H:%M:%S GMT").to_string()
}

fn ask(calls: &mut Calls<'_, '_>, rest: &str) -> Result<Answer, Down> {
    let id = rest.trim_start_matches('/').trim_end_matches("/attempts").parse().expect("an ask names a delivery");
    calls.ask(id).map(|kept| answer(if kept { 202 } else { 404 }, "{}"))
}

fn page(calls: &mut Calls<'_, '_>, query: &str) -> Result<Answer, Down> {
    let (list, filter) = if query.contains("status=failure") { (List::Failures, "&status=failure") } else { (List::All, "") };
    let before = query.split_once("cursor=v1_").map(|(_, cursor)| {
        let digits = cursor.split('&').next().unwrap_or_default();
        digits.parse().expect("the page cursor is GitHub's")
    });
    let page = calls.page(list, before, 100)?;
    let link = page.next.map(|next| format!("<{API}{DELIVERIES}?per_page=100{filter}&cursor=v1_{next}>; rel=\"next\""));
    let mut body = String::with_capacity(page.items.len() * 320);
    for item in &page.items {
        body.push(if body.is_empty() { '[' } else { ',' });
        write_item(&mut body, item, calls);
    }
    body.push_str(if body.is_empty() { "[]" } else { "]" });
    let headers = AnswerHeaders { link, ..AnswerHeaders::default() };
    Ok(Answer { status: 200, headers, body: body.into_bytes() })
}

fn write_item(body: &mut String, item: &Item, calls: &Calls<'_, '_>) {
    let event = &calls.github.week.events[item.event as usize];
    let action = if event.action.is_empty() { "null".to_owned() } else { format!("\"{}\"", event.action) };
    let status = if item.is_ok() { "OK" } else { "failed" };
    // To write into a text never fails.
    let _ = write!(
        body,
        r#"{{"id":{},"guid":"{}","delivered_at":"{}","redelivery":{},"duration":0.27,"status":"{status}","status_code":{},"event":"{}","action":{action},"installation_id":1,"repository_id":{},"throttled_at":null}}"#,
        item.id,
        Guid::Uuid(guid_of(item.event)),
        item.at,
        item.redelivery,
        item.code,
        event.name,
        479_544_328 + u64::from(event.repository),
    );
}

/// A guid that looks like one, and from which the event is read back.
fn guid_of(event: u32) -> u128 {
    u128::from(u64::from(event).wrapping_mul(0x9E37_79B9_7F4A_7C15)) << 64 | u128::from(event)
}

fn event_of(guid: u128) -> u32 {
    u32::try_from(guid & u128::from(u32::MAX)).expect("32 bits")
}

struct NoSigner;

impl Signer for NoSigner {
    async fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(vec![0; 256])
    }
}

struct Still(Time);

impl Clock for Still {
    fn now(&self) -> Time {
        self.0
    }

    async fn sleep(&self, _: Duration) {}
}

struct Stored<'a> {
    values: &'a RefCell<BTreeMap<Key, String>>,
    rows: Cell<u64>,
}

impl Storage for Stored<'_> {
    async fn read(&self, key: Key) -> Result<Option<String>, StorageError> {
        Ok(self.values.borrow().get(&key).cloned())
    }

    async fn write(&self, values: &[(Key, Option<&str>)]) -> Result<(), StorageError> {
        let mut stored = self.values.borrow_mut();
        self.rows.set(self.rows.get() + values.len() as u64);
        for (key, value) in values {
            match value {
                Some(text) => stored.insert(*key, (*text).to_owned()),
                None => stored.remove(key),
            };
        }
        Ok(())
    }
}
