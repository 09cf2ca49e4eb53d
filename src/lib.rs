//! A Cloudflare Worker that brings back the webhook deliveries of a GitHub App that its own endpoint failed to take.
//!
//! GitHub keeps a record of every delivery for three days and redelivers one when it is asked, but never asks itself. A
//! scheduled handler reads that record every 15 minutes, asks for what failed, and tells a person what cannot be brought
//! back.
//!
//! # Layout
//!
//! One direction: the entry points below call the Durable Object ([`recovery`]), that runs the [`sweep`], and that asks
//! the [`policy`] and the [`alarm`] what to do.
//!
//! - [`policy`]: pure. What a delivery is, which events are asked for again, what is kept between sweeps.
//! - [`alarm`]: what a person is told, and the two channels that tell it.
//! - [`sweep`]: one sweep over the [`ports`], and its report.
//! - [`status`]: pure. What a person or a program is told over HTTP.
//! - [`github`]: GitHub's API, signed in as the App.
//! - [`config`]: every setting. [`failure`]: the classes of failure.
//! - [`door`], [`http`], [`recovery`], [`logging`]: the only files that know the runtime.
//! - [`apart`]: keeps the parts of a sweep apart in the compiled code.
//!
//! # Words
//!
//! A *delivery* or *attempt* is one try to deliver one *event*; all attempts of an event share its *guid*. A *sweep* is one pass of the
//! Worker. The *cursor* is ours, the newest delivery that was read; a *page cursor* is GitHub's. A *gap* is a stretch of the list that no
//! sweep has read. An *alarm* is what a person is told, never an alarm of a Durable Object. docs/design.md says why it is so.

pub mod alarm;
pub mod apart;
pub mod config;
pub mod door;
pub mod failure;
pub mod github;
pub mod http;
pub mod logging;
pub mod policy;
pub mod ports;
pub mod recovery;
pub mod status;
pub mod sweep;
#[cfg(test)]
mod testing;

use std::cell::Cell;

use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{Context, Env, Request, Response, event};

use policy::time::Time;
use recovery::{NO_APP, SETTLE_AT, SWEEP_AT};

/// The binding of the Durable Object.
pub(crate) const RECOVERY: &str = "RECOVERY";

/// One tick of the schedule. A sweep that failed fails the cron run, so that it shows in Cloudflare's list of past events.
///
/// An export of its own, since `#[event(scheduled)]` throws an `Err` away.
///
/// # Errors
/// If the sweep failed. The log says why.
#[wasm_bindgen(js_name = scheduled)]
pub async fn scheduled(event: worker::worker_sys::ScheduledEvent, env: Env, _context: JsValue) -> Result<(), JsValue> {
    logging::start();
    // Whole milliseconds, far below 2^53.
    #[allow(clippy::cast_possible_truncation, reason = "whole milliseconds, far below 2^53")]
    let now = Time::from_millis(event.scheduled_time()? as i64);
    tick(&env, now).await.map_err(|error| JsValue::from_str(&error))
}

thread_local! {
    /// Whether nothing is left of the time when the settings named no App, as far as this isolate knows.
    static SETTLED: Cell<bool> = const { Cell::new(false) };
}

async fn tick(env: &Env, now: Time) -> Result<(), String> {
    let app = config::app_id(|name| recovery::variable(env, name));
    let failed = |error| format!("the Durable Object failed: {error}");
    let status = call_object(env, app.as_deref().unwrap_or(NO_APP), SWEEP_AT, now).await.map_err(failed)?;
    // Other settings come with another deployment, and so with another isolate.
    if app.is_some() && !SETTLED.get() {
        let settled = call_object(env, NO_APP, SETTLE_AT, now).await.map_err(failed)?;
        SETTLED.set(settled == 200);
    }
    if status == 200 { Ok(()) } else { Err("the sweep failed; the log says why".to_owned()) }
}

async fn call_object(env: &Env, name: &str, address: &str, now: Time) -> worker::Result<u16> {
    let stub = env.durable_object(RECOVERY)?.id_from_name(name)?.get_stub()?;
    let response = stub.fetch_with_str(&format!("{address}{}", now.millis())).await?;
    Ok(response.status_code())
}

/// The HTTP side, for whoever shows `ADMIN_TOKEN`: without it every path answers 404.
///
/// # Errors
/// Never in practice: only if the runtime cannot make a response.
#[event(fetch)]
pub async fn fetch(request: Request, env: Env, _context: Context) -> worker::Result<Response> {
    logging::start();
    door::answer(&request, &env).await
}
