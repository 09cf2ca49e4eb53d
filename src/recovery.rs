//! The Durable Object `Recovery`: one for each App, so that each has a budget of calls and a state of its own.
//!
//! It runs the sweep, and answers requests (`answering`). An object does not serialize work that awaits an outside `fetch`, hence the lease (`policy::lease`).
#![allow(missing_docs, reason = "the macro of the Durable Object adds functions without any")]

mod answering;

use std::cell::{Cell, RefCell};
use std::fmt;

use futures_util::future::try_join;
use js_sys::{Array, Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{CryptoKey, SubtleCrypto, WorkerGlobalScope};
use worker::{DurableObject, Env, Request, Response, State, durable_object, wasm_bindgen};

use crate::config::{self, Config};
use crate::github::key::AppKey;
use crate::http::{Http, RuntimeClock};
use crate::policy::budget::Budget;
use crate::policy::time::Time;
use crate::ports::{Key, SignError, Signer, Storage, StorageError};
use crate::sweep::report::{Ending, Report};
use crate::sweep::{Caller, World, settle, sweep, sweep_by_hand, sweep_without_settings};

/// The path under which the scheduled handler calls the object. Nothing from outside reaches it.
pub const SWEEP_PATH: &str = "/sweep";

/// The path under which it calls the object of [`NO_APP`] once the settings name an App.
pub const SETTLE_PATH: &str = "/settle";

/// The name of the object that keeps and tells, while the settings name no App, that they cannot be used. No App id has a space.
pub const NO_APP: &str = "no App";

/// The query parameter with the tick's time, in milliseconds since the epoch.
pub const AT: &str = "at";

/// Before the path of a request from outside.
pub const HTTP_PATH: &str = "/http";

/// One App's recovery.
#[durable_object]
pub struct Recovery {
    state: State,
    env: Env,
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
        Self { state, env, signer: RuntimeSigner::default(), running: Cell::new(false) }
    }

    async fn fetch(&self, request: Request) -> worker::Result<Response> {
        crate::logging::start();
        let url = request.url()?;
        let at = url.query_pairs().find(|(name, _)| name == AT).and_then(|(_, at)| at.parse().ok());
        match (url.path(), at) {
            (SWEEP_PATH, Some(at)) => {
                let report = self.sweep(Time::from_millis(at), Caller::Schedule).await;
                let status = if report.is_failure() { 500 } else { 200 };
                // The log has the report; whoever fired the tick wants to know only whether it failed.
                Ok(Response::empty()?.with_status(status))
            }
            (SETTLE_PATH, Some(at)) => {
                self.settle(Time::from_millis(at)).await;
                Response::empty()
            }
            _ => self.answer(&request, &url).await,
        }
    }
}

impl Recovery {
    async fn sweep(&self, now: Time, caller: Caller) -> Report {
        let config = config::read(|name| variable(&self.env, name));
        let settings = config.as_ref().unwrap_or_else(|unusable| &unusable.right);
        let Some(_running) = Running::start(&self.running) else { return held(settings, now) };
        let budget = Budget::new(settings.settings.subrequest_limit);
        let network = Http::new(&budget);
        let storage = ObjectStorage(self.state.storage());
        let world = World { network: &network, signer: &self.signer, clock: &RuntimeClock, storage: &storage, budget: &budget };
        match &config {
            Ok(config) => {
                self.signer.key.replace(config.key.clone());
                match caller {
                    Caller::Schedule => sweep(&world, config, now).await,
                    Caller::Person => sweep_by_hand(&world, config, now).await,
                }
            }
            Err(unusable) => sweep_without_settings(&world, unusable, now).await,
        }
    }

    async fn settle(&self, now: Time) {
        let config = config::read(|name| variable(&self.env, name)).unwrap_or_else(|unusable| unusable.right);
        let Some(_running) = Running::start(&self.running) else { return };
        let budget = Budget::new(config.settings.subrequest_limit);
        let network = Http::new(&budget);
        let storage = ObjectStorage(self.state.storage());
        let world = World { network: &network, signer: &self.signer, clock: &RuntimeClock, storage: &storage, budget: &budget };
        settle(&world, &config, now).await;
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
    log::info!("{}", serde_json::to_string(&report).unwrap_or_default());
    report
}

/// A variable or a secret: the runtime keeps both alike. A number or a truth value, as TOML has them without quotes, is
/// read as its text; anything else as a text that no setting takes, so that it is named as a problem.
#[must_use]
pub fn variable(env: &Env, name: &str) -> Option<String> {
    let value = Reflect::get(env, &JsValue::from_str(name)).ok().filter(|value| !value.is_undefined() && !value.is_null())?;
    let text = value.as_string().or_else(|| value.as_bool().map(|value| value.to_string()));
    let text = text.or_else(|| value.as_f64().map(|value| value.to_string()));
    Some(text.unwrap_or_else(|| "<neither a text nor a number>".to_owned()))
}

struct ObjectStorage(worker::Storage);

impl Storage for ObjectStorage {
    async fn read(&self, key: Key) -> Result<Option<String>, StorageError> {
        self.0.get(key.as_str()).await.map_err(|_| StorageError("read"))
    }

    async fn write(&self, values: &[(Key, Option<&str>)]) -> Result<(), StorageError> {
        let failed = |_| StorageError("write");
        let puts = Object::new();
        let mut deletes = Vec::new();
        for (key, value) in values {
            match value {
                Some(text) => {
                    Reflect::set(&puts, &JsValue::from_str(key.as_str()), &JsValue::from_str(text)).map_err(|_| StorageError("write"))?;
                }
                None => deletes.push(key.as_str()),
            }
        }
        // Both are started before either is awaited, and the runtime makes such writes one.
        let put = self.0.put_multiple_raw(puts);
        if deletes.is_empty() {
            return put.await.map_err(failed);
        }
        try_join(put, self.0.delete_multiple(deletes)).await.map(|_| ()).map_err(failed)
    }
}

/// Signs by `crypto.subtle`. The imported key lives as long as the object does.
#[derive(Default)]
struct RuntimeSigner {
    key: RefCell<Option<AppKey>>,
    imported: RefCell<Option<CryptoKey>>,
}

impl Signer for RuntimeSigner {
    async fn sign(&self, message: &[u8]) -> Result<Vec<u8>, SignError> {
        // The runtime's own text is dropped: it could say something of the key.
        self.try_sign(message).await.map_err(|_| SignError)
    }
}

impl RuntimeSigner {
    async fn try_sign(&self, message: &[u8]) -> Result<Vec<u8>, JsValue> {
        let subtle = js_sys::global().unchecked_into::<WorkerGlobalScope>().crypto()?.subtle();
        let known = self.imported.borrow().clone();
        let key = match known {
            Some(key) => key,
            None => self.import(&subtle).await?,
        };
        let message = Uint8Array::from(message);
        let signature = subtle.sign_with_str_and_buffer_source("RSASSA-PKCS1-v1_5", &key, &message)?;
        Ok(Uint8Array::new(&JsFuture::from(signature).await?).to_vec())
    }

    async fn import(&self, subtle: &SubtleCrypto) -> Result<CryptoKey, JsValue> {
        let key = self.key.take().ok_or(JsValue::NULL)?;
        let algorithm = Object::new();
        Reflect::set(&algorithm, &"name".into(), &"RSASSA-PKCS1-v1_5".into())?;
        Reflect::set(&algorithm, &"hash".into(), &"SHA-256".into())?;
        let bytes = Uint8Array::from(key.pkcs8());
        let imported = subtle.import_key_with_object("pkcs8", &bytes, &algorithm, false, &Array::of1(&"sign".into()))?;
        let imported: CryptoKey = JsFuture::from(imported).await?.unchecked_into();
        self.imported.replace(Some(imported.clone()));
        Ok(imported)
    }
}
