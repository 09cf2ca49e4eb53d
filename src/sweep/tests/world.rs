//! GitHub, Telegram, a control repository and the storage in memory, behind the ports of a sweep.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::future::pending;
use std::rc::Rc;

use crate::alarm::fakes::AnySigner;
use crate::alarm::fakes::issues::FakeIssues;
use crate::alarm::fakes::telegram::{FakeTelegram, Message, TOKEN};
use crate::config::{self, Config, Unusable};
use crate::policy::budget::Budget;
use crate::policy::delivery::DeliveryId;
use crate::policy::ground::PageCursor;
use crate::policy::plan::AskAnswer;
use crate::policy::reading::{List, PageRequest};
use crate::policy::tests::history::{parse, time};
use crate::policy::tests::model::GitHub;
use crate::policy::time::{Time, minutes};
use crate::ports::{Answer, AnswerHeaders, Call, Key, Method, Network, NetworkError, Storage, StorageError};
use crate::sweep::report::Report;
use crate::sweep::{World, sweep, sweep_without_settings};
use crate::testing::{TestClock, app_key_pem, http_date};
use futures_util::FutureExt;

const API: &str = "https://api.github.example";

/// The settings, or why they cannot be used.
type Read = Result<Config, Box<Unusable>>;

/// Where a sweep ends: at which of its steps (calls, reads and writes), and whether that step is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Crash {
    pub(super) step: usize,
    pub(super) done: bool,
}

/// What is to go wrong with calls whose method and path contain a text.
pub(super) type Fault = (&'static str, fn() -> Result<Answer, NetworkError>);

/// What goes wrong with one call of a sweep, whichever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Upset {
    /// The other side never hears of it.
    NoAnswer,
    /// The other side does it, and its answer is lost.
    AnswerLost,
    /// The other side answers with this status, and does nothing.
    Status(u16),
    /// It answers with something else than it should.
    Garbage,
}

/// The outside world, and one installation of the Worker.
pub(super) struct Outside {
    pub(super) github: RefCell<GitHub>,
    pub(super) telegram: FakeTelegram,
    pub(super) issues: FakeIssues,
    pub(super) stored: RefCell<BTreeMap<Key, String>>,
    /// Settings beside those that every test has.
    pub(super) settings: BTreeMap<&'static str, String>,
    pub(super) crash: Cell<Option<Crash>>,
    /// Messages that no state knows, since the answer to them was lost or the sweep died first: nobody can edit them any more.
    pub(super) orphans: RefCell<BTreeSet<i64>>,
    pub(super) faults: RefCell<Vec<Fault>>,
    once: Cell<Option<Fault>>,
    /// What goes wrong with the calls of the next sweep, by their place.
    pub(super) upsets: RefCell<BTreeMap<usize, Upset>>,
    /// Method and path of each call of the last sweep.
    pub(super) calls: RefCell<Vec<String>>,
    /// Guid and time of each ask that reached GitHub.
    pub(super) asks: RefCell<Vec<(String, Time)>>,
    pub(super) writes: Cell<usize>,
    /// Calls of the budget that are gone before the sweep makes its first.
    pub(super) used_before: Cell<u32>,
    /// Whether a write that has the state in it fails, and writes nothing.
    pub(super) keeps_no_state: Cell<bool>,
    /// At which step the last sweep asked for a list first.
    pub(super) list_at: Cell<usize>,
    steps: Cell<usize>,
    now: Cell<Time>,
    budget: RefCell<Rc<Budget>>,
}

impl Outside {
    pub(super) fn new(history: &str) -> Self {
        let mut github = GitHub::default();
        github.add(parse(history));
        Self {
            github: RefCell::new(github),
            telegram: FakeTelegram::default(),
            issues: FakeIssues::default(),
            stored: RefCell::default(),
            settings: BTreeMap::new(),
            crash: Cell::new(None),
            orphans: RefCell::default(),
            faults: RefCell::default(),
            once: Cell::new(None),
            upsets: RefCell::default(),
            calls: RefCell::default(),
            asks: RefCell::default(),
            writes: Cell::new(0),
            used_before: Cell::new(0),
            keeps_no_state: Cell::new(false),
            list_at: Cell::new(0),
            steps: Cell::new(0),
            now: Cell::new(Time::default()),
            budget: RefCell::new(Rc::new(Budget::new(50))),
        }
    }

    /// Read once for the same settings: to read a key takes its time.
    fn config(&self) -> Read {
        thread_local! {
            static KNOWN: RefCell<Vec<(BTreeMap<&'static str, String>, Read)>> = RefCell::default();
        }
        let known =
            KNOWN.with_borrow(|known| known.iter().find(|(settings, _)| *settings == self.settings).map(|(_, config)| config.clone()));
        known.unwrap_or_else(|| {
            let config = self.read_config();
            KNOWN.with_borrow_mut(|known| known.push((self.settings.clone(), config.clone())));
            config
        })
    }

    fn read_config(&self) -> Read {
        let key = app_key_pem();
        config::read(
            &|name: &str| match name {
                _ if self.settings.contains_key(name) => self.settings.get(name).cloned(),
                "GITHUB_APP_ID" => Some("123456".to_owned()),
                "GITHUB_APP_PRIVATE_KEY" => Some(key.clone()),
                "GITHUB_API_URL" => Some(API.to_owned()),
                "TELEGRAM_API_URL" => Some("https://telegram.example".to_owned()),
                "TELEGRAM_BOT_TOKEN" => Some(TOKEN.to_owned()),
                "TELEGRAM_CHAT_ID" => Some("-1001".to_owned()),
                "CONTROL_REPO" => Some("acme/control".to_owned()),
                _ => None,
            },
            None,
        )
    }

    /// Sweeps at a time such as `10:15`. `None` if it was killed.
    pub(super) fn tick(&self, at: &str) -> Option<Report> {
        self.tick_at(time(at))
    }

    pub(super) fn tick_at(&self, now: Time) -> Option<Report> {
        self.tick_with_clock(now, now)
    }

    /// A sweep whose tick says `now`, when GitHub's clock says something else.
    pub(super) fn tick_with_clock(&self, now: Time, github: Time) -> Option<Report> {
        self.now.set(github);
        self.issues.now.set(github);
        self.steps.set(0);
        self.writes.set(0);
        self.calls.borrow_mut().clear();
        self.list_at.set(0);
        let config = self.config();
        let settings = &config.as_ref().unwrap_or_else(|unusable| &unusable.right).settings;
        let budget = Rc::new(Budget::new(settings.subrequest_limit));
        (0..self.used_before.get()).for_each(|_| assert!(budget.take()));
        self.budget.replace(budget.clone());
        let world = World { network: self, signer: &AnySigner, clock: &TestClock(now), storage: self, budget: &budget };
        let messages: BTreeSet<i64> = self.message_ids().collect();
        let report = match &config {
            Ok(config) => sweep(&world, config, now).now_or_never(),
            Err(unusable) => sweep_without_settings(&world, unusable, now).now_or_never(),
        };
        if report.is_none() {
            self.crash.set(None);
        }
        if config.is_ok() {
            let state = self.stored.borrow().get(&Key::State).cloned().unwrap_or_default();
            let is_saved = |id: &i64| state.contains(&format!("\"message_id\":{id},"));
            self.orphans.borrow_mut().extend(self.message_ids().filter(|id| !messages.contains(id) && !is_saved(id)));
        }
        report
    }

    /// Sweeps every quarter of an hour, the last time at `to`.
    pub(super) fn ticks(&self, from: Time, to: Time) -> Vec<Report> {
        let mut now = from;
        let mut reports = Vec::new();
        while now <= to {
            reports.extend(self.tick_at(now));
            now = now + minutes(15);
        }
        reports
    }

    fn message_ids(&self) -> impl Iterator<Item = i64> {
        let ids: Vec<i64> = self.telegram.messages.borrow().iter().map(|message| message.id).collect();
        ids.into_iter()
    }

    /// The newest message that the Worker knows of, as a person reads it.
    pub(super) fn known_text(&self) -> Option<String> {
        let orphans = self.orphans.borrow();
        let messages = self.telegram.messages.borrow();
        messages.iter().rev().find(|message| !orphans.contains(&message.id)).map(Message::text)
    }

    /// Steps of the last sweep.
    pub(super) fn steps(&self) -> usize {
        self.steps.get()
    }

    /// The next call that contains `which` goes wrong.
    pub(super) fn fail_once(&self, which: &'static str, how: fn() -> Result<Answer, NetworkError>) {
        self.once.set(Some((which, how)));
    }

    pub(super) fn asks_for(&self, guid: &str) -> Vec<Time> {
        self.asks.borrow().iter().filter(|(asked, _)| asked == guid).map(|(_, at)| *at).collect()
    }

    /// One step of a sweep: done, left undone, or done without anybody learning of it. What is under way beside a step that is left
    /// undone still gets through; beside one that is done it does not.
    async fn step<T>(&self, run: impl FnOnce() -> T) -> T {
        let step = self.steps.get();
        self.steps.set(step + 1);
        match self.crash.get() {
            Some(crash) if crash.step == step => {
                if crash.done {
                    run();
                } else {
                    self.crash.set(None);
                }
                pending().await
            }
            Some(crash) if crash.step < step => pending().await,
            _ => run(),
        }
    }

    fn fault_for(&self, line: &str) -> Option<fn() -> Result<Answer, NetworkError>> {
        let meant = |(which, _): &&Fault| line.contains(which);
        let once = self.once.get().filter(|fault| meant(&fault));
        if once.is_some() {
            self.once.set(None);
        }
        once.or_else(|| self.faults.borrow().iter().find(meant).copied()).map(|(_, fault)| fault)
    }

    fn serve(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        let Some(path) = call.url.strip_prefix(API) else {
            return self.telegram.call(call).now_or_never().expect("the fake never waits");
        };
        match path.strip_prefix("/app/hook/deliveries") {
            Some(rest) => Ok(self.deliveries(call.method, rest)),
            None => self.issues.call(call).now_or_never().expect("the fake never waits"),
        }
    }

    fn deliveries(&self, method: Method, rest: &str) -> Answer {
        let now = self.now.get() + std::time::Duration::from_secs(1);
        if method == Method::Post {
            let id = rest.trim_start_matches('/').trim_end_matches("/attempts").parse().expect("an ask names a delivery");
            let guid = self.github.borrow().record().find(|item| item.id == id).expect("it is of the record").guid.clone();
            self.asks.borrow_mut().push((guid, self.now.get()));
            let status = match self.github.borrow_mut().ask(DeliveryId(id), now) {
                AskAnswer::Taken => 202,
                AskAnswer::Unknown => 500,
                AskAnswer::NotRedeliverable(code) => code,
                AskAnswer::Withdrawn => 429,
            };
            return Answer { status, ..Answer::default() };
        }
        let list = if rest.contains("status=failure") { List::Failures } else { List::Deliveries };
        let from = rest.split_once("cursor=").map(|(_, cursor)| PageCursor(format!("?cursor={cursor}").into()));
        let page = self.github.borrow().page(&PageRequest { list, from }, now);
        let filter = if list == List::Failures { "&status=failure" } else { "" };
        let link = page.next.map(|PageCursor(next)| {
            let (_, cursor) = next.split_once("cursor=").expect("the model's cursor");
            format!("<{API}/app/hook/deliveries?per_page=100{filter}&cursor={cursor}>; rel=\"next\"")
        });
        Answer { status: 200, headers: AnswerHeaders { link, date: Some(http_date(now)), ..AnswerHeaders::default() }, body: page.body }
    }
}

impl Network for Outside {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        if !self.budget.borrow().take() {
            return Err(NetworkError::NoCallLeft);
        }
        let path = call.url.strip_prefix(API).unwrap_or_else(|| call.url.rsplit('/').next().unwrap_or_default());
        let line = format!("{} {path}", call.method.as_str());
        let fault = self.fault_for(&line);
        let upset = self.upsets.borrow_mut().remove(&self.calls.borrow().len());
        if self.list_at.get() == 0 && line.contains("status=failure") {
            self.list_at.set(self.steps.get());
        }
        self.calls.borrow_mut().push(line);
        self.step(|| match (fault, upset) {
            (Some(fault), _) => fault(),
            (None, None) => self.serve(call),
            (None, Some(Upset::NoAnswer)) => Err(NetworkError::TimedOut),
            (None, Some(Upset::AnswerLost)) => self.serve(call).and(Err(NetworkError::Failed)),
            (None, Some(Upset::Status(status))) => Ok(Answer { status, ..Answer::default() }),
            (None, Some(Upset::Garbage)) => Ok(Answer { status: 200, body: b"<html>".to_vec(), ..Answer::default() }),
        })
        .await
    }
}

impl Storage for Outside {
    async fn read(&self, key: Key) -> Result<Option<String>, StorageError> {
        self.step(|| Ok(self.stored.borrow().get(&key).cloned())).await
    }

    async fn write(&self, values: &[(Key, Option<&str>)]) -> Result<(), StorageError> {
        if self.keeps_no_state.get() && values.iter().any(|(key, value)| *key == Key::State && value.is_some()) {
            return Err(StorageError("write"));
        }
        self.step(|| {
            self.writes.set(self.writes.get() + 1);
            let mut stored = self.stored.borrow_mut();
            for (key, value) in values {
                match value {
                    Some(text) => stored.insert(*key, (*text).to_owned()),
                    None => stored.remove(key),
                };
            }
            Ok(())
        })
        .await
    }
}
