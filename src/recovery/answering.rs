//! What the Durable Object answers to whoever was let in.
//!
//! What changes something goes under the lease like a sweep: while one is under way the answer is 409. All of it is decided in
//! `status` and `policy`; here it is loaded, called and stored.

use std::rc::Rc;

use serde::Serialize;
use url::Url;
use worker::{Request, Response};

use super::{Bindings, HTTP_PATH, ObjectStorage, Recovery, Running};
use crate::alarm::text::capitalized;
use crate::apart::apart;
use crate::config::{self, Config, Unusable};
use crate::door::respond;
use crate::http::{Http, RuntimeClock};
use crate::policy::budget::Budget;
use crate::policy::delivery::Guid;
use crate::policy::forgetting::forget;
use crate::policy::lease::{self, Lease, Taking};
use crate::policy::recovering::recover;
use crate::policy::time::Time;
use crate::ports::{Clock, Key, Storage, StorageError};
use crate::status::auth::login_path;
use crate::status::history::History;
use crate::status::metrics::metrics;
use crate::status::page::page;
use crate::status::plan_page::{PlanView, plan_page};
use crate::status::query::{only, retry_after, since};
use crate::status::reply::Reply;
use crate::status::route::{Route, wants_page};
use crate::status::several::Summary;
use crate::status::status::{Facts, RecoveringView, Status};
use crate::sweep::report::{Ending, Stamp, chain};
use crate::sweep::state::State;
use crate::sweep::{Caller, World, plan};

/// An answer that says why not, and until when.
#[derive(Serialize)]
struct Until {
    error: String,
    until: Option<Stamp>,
}

/// Who asks, and of which App.
struct Asker<'a> {
    app: Option<&'a str>,
    config: &'a Result<Rc<Config>, Box<Unusable>>,
    for_browser: bool,
}

impl Asker<'_> {
    /// The settings; as far as they are right, if not all are.
    fn settings(&self) -> &Config {
        match self.config {
            Ok(config) => config,
            Err(unusable) => &unusable.right,
        }
    }
}

impl Recovery {
    /// Answers a request that the Worker passed on.
    pub(super) async fn answer(&self, app: Option<&str>, request: &Request) -> worker::Result<Response> {
        let url = request.url()?;
        let Some(route) = url.path().strip_prefix(HTTP_PATH).and_then(Route::of) else { return Response::error("not found", 404) };
        let config = apart(self.config(app)).await;
        let by = Asker { app, config: &config, for_browser: wants_page(request.headers().get("accept")?.as_deref()) };
        let reply = match route {
            Route::Page | Route::Status | Route::Apps | Route::Metrics | Route::Health => apart(self.status(&by, route)).await,
            Route::Plan { json } => apart(self.plan(&by, json)).await,
            Route::Sweep => apart(self.sweep_now(&by)).await,
            Route::Recover => apart(self.recover(&by, &url)).await,
            Route::Forget => apart(self.forget(&by, &url)).await,
        };
        let for_browser = by.for_browser;
        respond(reply.unwrap_or_else(|error| Reply::sentence(500, &format!("{error}."), for_browser)))
    }

    async fn status(&self, by: &Asker<'_>, route: Route) -> Result<Reply, StorageError> {
        let now = RuntimeClock.now();
        let storage = &self.storage;
        let stored = storage.read(Key::State).await?;
        let state = stored.as_deref().map_or_else(|| Ok(State::default()), State::read);
        let history = History::read(storage.read(Key::History).await?.as_deref());
        let facts = Facts {
            right: by.settings(),
            config: by.config.as_deref().map_err(|unusable| unusable.problems.texts()),
            state: state.as_ref().map_err(ToString::to_string),
            history: &history,
            lease: self.lease(storage).await?,
            now,
        };
        let token = config::admin_token(&Bindings(&self.env));
        let status = Status::of(&facts, token.map(|token| login_path(token.expose())).unwrap_or_default());
        Ok(match route {
            Route::Status => Reply::json(200, &status),
            // The answer to the door, which makes one of those of all Apps.
            Route::Apps => Reply::json(200, &Summary::of(&status)),
            Route::Metrics => Reply::text(200, metrics(&status, &history, by.settings().is_one_of_several)),
            Route::Health if status.is_healthy() => Reply::text(200, "ok\n".to_owned()),
            Route::Health => Reply::text(503, "no sweep has succeeded within the last hour\n".to_owned()),
            _ => Reply::page(200, page(&status, &history, &by.settings().home())),
        })
    }

    /// Reads both lists as the next sweep would, without its lease.
    async fn plan(&self, by: &Asker<'_>, json: bool) -> Result<Reply, StorageError> {
        let now = RuntimeClock.now();
        let for_browser = by.for_browser && !json;
        let config = match by.config {
            Ok(config) => config,
            Err(unusable) => return Ok(Reply::sentence(500, &sentence_of(&unusable.to_string()), for_browser)),
        };
        let storage = &self.storage;
        let stored = storage.read(Key::State).await?.and_then(|text| State::read(&text).ok());
        if let Some(wait) = stored.and_then(|state| state.failures.waiting_as_named(now)) {
            return Ok(asked_to_wait(wait.until, now, for_browser));
        }
        let budget = Budget::new(config.settings.subrequest_limit);
        let network = Http::new(&budget);
        let world = World { network: &network, signer: &self.signer, clock: &RuntimeClock, storage, budget: &budget };
        Ok(match plan(&world, config, now).await {
            Ok(planned) => {
                let view = PlanView::of(&planned);
                if for_browser { Reply::page(200, plan_page(&view, &by.settings().home())) } else { Reply::json(200, &view) }
            }
            Err(error) => Reply::sentence(502, &format!("The lists cannot be read: {}.", chain(&error)), for_browser),
        })
    }

    /// A sweep at the present, under the same lease and after the same waits as one of the schedule.
    async fn sweep_now(&self, by: &Asker<'_>) -> Result<Reply, StorageError> {
        let now = RuntimeClock.now();
        let for_browser = by.for_browser;
        let storage = &self.storage;
        if let Some(reply) = self.held(storage, now, for_browser).await? {
            return Ok(reply);
        }
        let report = self.sweep(by.app, now, Caller::Person).await;
        Ok(match (report.ending, report.wait_until) {
            (Ending::Waiting, Some(until)) => asked_to_wait(until.0, now, for_browser),
            // One that began while the settings were read.
            (Ending::Held, _) => under_way(self.lease(storage).await?.map(|lease| lease.until), for_browser),
            (Ending::NotLater, _) => Reply::sentence(409, "A sweep of a later time has ended already; the schedule goes on.", for_browser),
            // The page tells how it went.
            _ if for_browser => Reply::see(&by.settings().home()),
            _ if report.is_failure() => Reply::json(500, &report),
            _ => Reply::json(200, &report),
        })
    }

    async fn recover(&self, by: &Asker<'_>, url: &Url) -> Result<Reply, StorageError> {
        let now = RuntimeClock.now();
        let for_browser = by.for_browser;
        let retention = by.settings().settings.retention;
        let Some(from) = only(url, "since").and_then(|text| since(&text)) else {
            let sentence = "Say since when, once, as in /recover?since=2026-11-30T02:00Z.";
            return Ok(Reply::sentence(400, sentence, for_browser));
        };
        let changed = self.change(now, for_browser, |state| {
            recover(&mut state.ledger, from, retention, now)
                .map_err(|error| Reply::sentence(400, &sentence_of(&error.to_string()), for_browser))
        });
        Ok(match changed.await? {
            Err(reply) => reply,
            Ok(_) if for_browser => Reply::see(&by.settings().home()),
            Ok(state) => Reply::json(200, &RecoveringView::of(&state.ledger)),
        })
    }

    async fn forget(&self, by: &Asker<'_>, url: &Url) -> Result<Reply, StorageError> {
        #[derive(Serialize)]
        struct Forgotten<'a> {
            forgotten: &'a str,
        }
        let for_browser = by.for_browser;
        let Some(guid) = only(url, "guid").filter(|guid| !guid.is_empty()) else {
            return Ok(Reply::sentence(400, "Say which, once, as in /forget?guid=….", for_browser));
        };
        let changed = self.change(RuntimeClock.now(), for_browser, |state| {
            let sentence = "The alarm has no entry of an event with this guid.";
            forget(&mut state.ledger, &Guid::from(guid.as_str())).then_some(()).ok_or_else(|| Reply::sentence(404, sentence, for_browser))
        });
        Ok(match changed.await? {
            Err(reply) => reply,
            Ok(_) if for_browser => Reply::see(&by.settings().home()),
            Ok(_) => Reply::json(200, &Forgotten { forgotten: &guid }),
        })
    }

    /// Changes what is stored, unless a sweep is under way. Nothing but the storage is awaited, so nothing comes in between.
    async fn change(
        &self,
        now: Time,
        for_browser: bool,
        change: impl FnOnce(&mut State) -> Result<(), Reply>,
    ) -> Result<Result<State, Reply>, StorageError> {
        let storage = &self.storage;
        if let Some(reply) = self.held(storage, now, for_browser).await? {
            return Ok(Err(reply));
        }
        let Some(_running) = Running::start(&self.running) else { return Ok(Err(under_way(None, for_browser))) };
        let stored = storage.read(Key::State).await?;
        let mut state = match stored.as_deref().map_or_else(|| Ok(State::default()), State::read) {
            Ok(state) => state,
            Err(error) => return Ok(Err(Reply::sentence(500, &sentence_of(&error.to_string()), for_browser))),
        };
        if let Err(reply) = change(&mut state) {
            return Ok(Err(reply));
        }
        let text = state.write().map_err(|_| StorageError("write"))?;
        storage.write(&[(Key::State, Some(&text))]).await?;
        Ok(Ok(state))
    }

    /// The answer while a sweep is under way.
    async fn held(&self, storage: &ObjectStorage, now: Time, for_browser: bool) -> Result<Option<Reply>, StorageError> {
        let lease = self.lease(storage).await?;
        let holds = |lease: &Lease| matches!(lease::take(Some(*lease), now), Taking::Held(_));
        let until = lease.filter(|lease| self.running.get() || holds(lease)).map(|lease| lease.until);
        Ok((self.running.get() || until.is_some()).then(|| under_way(until, for_browser)))
    }

    async fn lease(&self, storage: &ObjectStorage) -> Result<Option<Lease>, StorageError> {
        Ok(Lease::read(storage.read(Key::Lease).await?.as_deref()))
    }
}

fn under_way(until: Option<Time>, for_browser: bool) -> Reply {
    let at_the_latest = until.map(|until| format!(", until {} at the latest", until.for_people())).unwrap_or_default();
    let error = format!("A sweep is under way{at_the_latest}; try again when it has ended.");
    if for_browser { Reply::sentence(409, &error, true) } else { Reply::json(409, &Until { error, until: until.map(Stamp) }) }
}

/// The answer while GitHub wants to be left alone.
fn asked_to_wait(until: Time, now: Time, for_browser: bool) -> Reply {
    let error = format!("GitHub asked to wait until {}; try again then.", until.for_people());
    let reply =
        if for_browser { Reply::sentence(429, &error, true) } else { Reply::json(429, &Until { error, until: Some(Stamp(until)) }) };
    reply.with("retry-after", retry_after(until, now).unwrap_or_default().to_string())
}

/// An error as a sentence.
fn sentence_of(error: &str) -> String {
    format!("{}.", capitalized(error))
}
