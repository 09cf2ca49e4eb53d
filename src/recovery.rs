//! The Durable Object `Recovery`: one for each App, so that each has a budget of calls and a state of its own.
//!
//! It runs the sweep, and answers requests (`answering`). An object does not serialize work that awaits an outside `fetch`, hence the
//! lease (`policy::lease`).
#![allow(missing_docs, reason = "the macro of the Durable Object adds functions without any")]

mod answering;
mod calling;
pub(crate) mod rehearsal;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;

use futures_util::future::join_all;
use js_sys::{Array, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{CryptoKey, SubtleCrypto, WorkerGlobalScope};
use worker::worker_sys::DurableObjectState;
use worker::{DurableObject, Env, Request, Response, State, durable_object, wasm_bindgen};

use crate::apart::apart;
use crate::config::{self, Apps, Config, Unusable, Variables};
use crate::github::key::AppKey;
use crate::http::{Http, RuntimeClock};
use crate::json;
use crate::policy::budget::Budget;
use crate::policy::own::{self, Others, Write};
use crate::policy::time::Time;
use crate::ports::{Key, Method, SignError, Signer, Storage, StorageError};
use crate::sweep::report::{Ending, Line, Report};
use crate::sweep::{Caller, World, settle, sweep, sweep_by_hand, sweep_without_settings};
use calling::APP;
pub use calling::call_object;

/// The address under which the scheduled handler calls the object, up to the tick's time in milliseconds since the epoch. Nothing from
/// outside reaches it, and the host is never looked up: the call stays within the runtime.
pub const SWEEP_AT: &str = "https://recovery/sweep?at=";

/// The address under which it calls the object without an App, once the settings name one.
pub const SETTLE_AT: &str = "https://recovery/settle?at=";

/// The address under which one App's object tells the others of its writes into the control repository.
const WROTE_AT: &str = "https://recovery/wrote?writes=";

/// Before the path of a request from outside.
pub const HTTP_PATH: &str = "/http";

/// One App's recovery.
#[durable_object]
pub struct Recovery {
    storage: ObjectStorage,
    env: Env,
    /// The settings, once they could be used: they are the same as long as the object lives.
    config: RefCell<Option<Rc<Config>>>,
    signer: RuntimeSigner,
    /// Whether a sweep is under way in this very object. The lease has ended by itself when a tick comes too late.
    running: Cell<bool>,
}

impl fmt::Debug for Recovery {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Recovery")
    }
}

impl DurableObject for Recovery {
    fn new(state: State, env: Env) -> Self {
        Self {
            storage: ObjectStorage::Runtime(state._inner()),
            env,
            config: RefCell::default(),
            signer: RuntimeSigner::Runtime(RefCell::default()),
            running: Cell::new(false),
        }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        crate::logging::start();
        let app = request.headers().get(APP)?;
        let app = app.as_deref();
        let url = request.inner().url();
        let at = |address| url.strip_prefix(address).and_then(|at| at.parse().ok()).map(Time::from_millis);
        if let Some(now) = at(SWEEP_AT) {
            let report = self.sweep(app, now, Caller::Schedule).await;
            let status = if report.is_failure() { 500 } else { 200 };
            // The log has the report; whoever fired the tick wants to know only whether it failed.
            return Ok(Response::empty()?.with_status(status));
        }
        if let Some(writes) = url.strip_prefix(WROTE_AT) {
            self.hear(&own::parse(writes)).await.map_err(|error| worker::Error::RustError(error.to_string()))?;
            return Response::empty();
        }
        let Some(now) = at(SETTLE_AT) else { return apart(self.answer(app, &request)).await };
        let is_settled = self.settle(now).await;
        Ok(Response::empty()?.with_status(if is_settled { 200 } else { 202 }))
    }
}

impl Recovery {
    async fn sweep(&self, app: Option<&str>, now: Time, caller: Caller) -> Report {
        let report = self.sweep_alone(app, now, caller).await;
        if let Some(app) = app.filter(|_| !report.writes.is_empty()) {
            apart(self.tell_others(app, &report.writes)).await;
        }
        report
    }

    async fn sweep_alone(&self, app: Option<&str>, now: Time, caller: Caller) -> Report {
        let read = apart(self.config(app)).await;
        let config = match &read {
            Ok(config) => config,
            Err(unusable) => &unusable.right,
        };
        let Some(_running) = Running::start(&self.running) else { return held(config, now) };
        let budget = Budget::new(config.settings.subrequest_limit);
        let network = Http::new(&budget);
        let world = World { network: &network, signer: &self.signer, clock: &RuntimeClock, storage: &self.storage, budget: &budget };
        match &read {
            Ok(config) if caller == Caller::Person => apart(sweep_by_hand(&world, config, now)).await,
            Ok(config) => apart(sweep(&world, config, now)).await,
            Err(unusable) => apart(sweep_without_settings(&world, unusable, now)).await,
        }
    }

    /// The settings, the key among them: the runtime checks it when it imports it, once in the object's life.
    async fn config(&self, app: Option<&str>) -> Result<Rc<Config>, Box<Unusable>> {
        let known = self.config.borrow().clone();
        if let Some(config) = known {
            return Ok(config);
        }
        let mut read = config::read(&Bindings(&self.env), app);
        // With other settings wrong the key is looked at all the same: every problem is told at once. Once the runtime has it, it is wiped.
        let key = read.as_mut().map_or_else(|unusable| unusable.right.key.take(), |config| config.key.take());
        let is_damaged = match key {
            Some(key) => self.signer.import(&key).await.is_err(),
            None => false,
        };
        if is_damaged {
            return Err(config::with_damaged_key(read));
        }
        let config = Rc::new(read?);
        self.config.replace(Some(config.clone()));
        Ok(config)
    }

    /// Returns whether nothing is left to settle.
    async fn settle(&self, now: Time) -> bool {
        if self.is_empty().await {
            // Nearly always, and it must cost nothing: the settings were never without an App.
            return true;
        }
        let config = config::read(&Bindings(&self.env), None).unwrap_or_else(|unusable| unusable.right);
        let Some(_running) = Running::start(&self.running) else { return false };
        let budget = Budget::new(config.settings.subrequest_limit);
        let network = Http::new(&budget);
        let world = World { network: &network, signer: &self.signer, clock: &RuntimeClock, storage: &self.storage, budget: &budget };
        apart(settle(&world, &config, now)).await;
        self.is_empty().await
    }

    /// GitHub tells every App of the repository of what one of them writes there. If an object cannot be told, its App takes those
    /// events for anybody's.
    async fn tell_others(&self, app: &str, writes: &[Write]) {
        let apps = Apps::read(&Bindings(&self.env));
        let address = format!("{WROTE_AT}{}", own::written(writes));
        // Repositories are numbered by each server for itself.
        let server = |app: &str| config::api_url(&Bindings(&self.env), app);
        let ours = server(app);
        let others = apps.ids.iter().filter(|other| *other != app && server(other) == ours);
        let told = join_all(others.map(|other| call_object(&self.env, Some(other), Method::Get, &address, None))).await;
        let has_heard = |answer: &worker::Result<Response>| answer.as_ref().is_ok_and(|answer| answer.status_code() == 200);
        for _ in told.iter().filter(|answer| !has_heard(answer)) {
            log::warn!(
                "{}",
                Line::Failure { app, class: None, error: "another App could not be told of a write of ours".to_owned() }.json()
            );
        }
    }

    /// Another App of this Worker wrote into its control repository. The next sweep of this one takes note of it.
    async fn hear(&self, writes: &[Write]) -> Result<(), StorageError> {
        // Nothing but the storage is awaited, so nothing comes in between.
        let mut others = Others::read(self.storage.read(Key::Others).await?.as_deref());
        others.add(writes);
        let text = others.write().map_err(|_| StorageError("write"))?;
        self.storage.write(&[(Key::Others, Some(&text))]).await
    }

    async fn is_empty(&self) -> bool {
        matches!(self.storage.read(Key::State).await, Ok(None))
    }
}

/// Ends with the sweep, however that ends.
struct Running<'a>(&'a Cell<bool>);

impl<'a> Running<'a> {
    /// `None` if another sweep is under way.
    fn start(running: &'a Cell<bool>) -> Option<Self> {
        (!running.replace(true)).then_some(Self(running))
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// The report of a tick that came while another sweep of the same object was under way, which is logged here.
fn held(config: &Config, now: Time) -> Report {
    let mut report = Report::new(&config.app_id, now, config.settings.subrequest_limit);
    report.ending = Ending::Held;
    report.warnings.push("another sweep is under way".to_owned());
    log::info!("{}", json::write(&report));
    report
}

/// The variables and secrets of the runtime, which keeps both alike.
#[derive(Clone, Copy, Debug)]
pub struct Bindings<'a>(pub &'a Env);

impl Variables for Bindings<'_> {
    /// A number or a truth value, as TOML has them without quotes, is read as its text, and an array as `[1234567,7654321]`; anything else
    /// as a text that no setting takes, so that it is named as a problem.
    fn value(&self, name: &str) -> Option<String> {
        let value = Reflect::get(self.0, &JsValue::from_str(name)).ok().filter(|value| !value.is_undefined() && !value.is_null())?;
        let text = value.as_string().or_else(|| value.as_bool().map(|value| value.to_string()));
        // Written out by the runtime: Rust's way to write a fraction is 14 kB of code.
        let written = || String::from(value.unchecked_ref::<Object>().to_string());
        let text = text.or_else(|| value.as_f64().map(|_| written())).or_else(|| value.is_array().then(|| format!("[{}]", written())));
        Some(text.unwrap_or_else(|| "<neither a text nor a number>".to_owned()))
    }

    fn names(&self) -> Vec<String> {
        Object::keys(self.0.unchecked_ref::<Object>()).iter().filter_map(|name| name.as_string()).collect()
    }
}

/// The runtime's own storage: the crate's reads any value there is, which is a tenth of what a Worker this small needs.
enum ObjectStorage {
    /// The object's.
    Runtime(DurableObjectState),
    /// Empty, and keeps nothing.
    Rehearsing,
}

impl Storage for ObjectStorage {
    async fn read(&self, key: Key) -> Result<Option<String>, StorageError> {
        let Self::Runtime(state) = self else { return Ok(None) };
        let value = async { JsFuture::from(state.storage()?.get(key.as_str())?).await };
        match value.await {
            Ok(value) if value.is_undefined() => Ok(None),
            Ok(value) => value.as_string().map(Some).ok_or(StorageError("read")),
            Err(_) => Err(StorageError("read")),
        }
    }

    async fn write(&self, values: &[(Key, Option<&str>)]) -> Result<(), StorageError> {
        self.try_write(values).await.map_err(|_| StorageError("write"))
    }
}

impl ObjectStorage {
    async fn try_write(&self, values: &[(Key, Option<&str>)]) -> Result<(), JsValue> {
        let Self::Runtime(state) = self else { return Ok(()) };
        let storage = state.storage()?;
        let puts = Object::new();
        let mut deletes = Vec::new();
        for (key, value) in values {
            let key = JsValue::from_str(key.as_str());
            match value {
                Some(text) => {
                    Reflect::set(&puts, &key, &JsValue::from_str(text))?;
                }
                None => deletes.push(key),
            }
        }
        // Both are started before either is awaited, and the runtime makes such writes one.
        let put = storage.put_multiple(puts.into())?;
        let delete = if deletes.is_empty() { Promise::resolve(&JsValue::UNDEFINED) } else { storage.delete_multiple(deletes)? };
        JsFuture::from(Promise::all(&Array::of2(&put, &delete))).await.map(|_| ())
    }
}

/// Signs by `crypto.subtle`. The imported key lives as long as the object does.
enum RuntimeSigner {
    /// With the key, once it was imported.
    Runtime(RefCell<Option<CryptoKey>>),
    /// Signs with nothing.
    Rehearsing,
}

impl Signer for RuntimeSigner {
    async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        // The runtime's own text is dropped: it could say something of the key.
        self.try_sign(message).await.map_err(|_| SignError)
    }
}

impl RuntimeSigner {
    async fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, JsValue> {
        let Self::Runtime(key) = self else { return Ok(vec![0; 256]) };
        let key = key.borrow().clone().ok_or(JsValue::NULL)?;
        let signature = subtle()?.sign_with_str_and_u8_array("RSASSA-PKCS1-v1_5", &key, message)?;
        Ok(Uint8Array::new(&JsFuture::from(signature).await?).to_vec())
    }

    /// Has the runtime take the key; it refuses one whose numbers do not belong together.
    async fn import(&self, key: &AppKey) -> Result<(), JsValue> {
        let Self::Runtime(imported) = self else { return Ok(()) };
        let algorithm = Object::new();
        Reflect::set(&algorithm, &"name".into(), &"RSASSA-PKCS1-v1_5".into())?;
        Reflect::set(&algorithm, &"hash".into(), &"SHA-256".into())?;
        let bytes = Uint8Array::from(key.pkcs8());
        let import = subtle()?.import_key_with_object("pkcs8", &bytes, &algorithm, false, &Array::of1(&"sign".into()))?;
        let key = JsFuture::from(import).await;
        bytes.fill(0, 0, bytes.length());
        imported.replace(Some(key?.unchecked_into()));
        Ok(())
    }
}

fn subtle() -> Result<SubtleCrypto, JsValue> {
    Ok(js_sys::global().unchecked_into::<WorkerGlobalScope>().crypto()?.subtle())
}
