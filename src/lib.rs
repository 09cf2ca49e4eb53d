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
//! - [`door`], [`http`], [`recovery`], [`logging`]: the only files that know the runtime. `recovery::rehearsal`: why the first sweep of an
//!   isolate is no slower than it must be.
//! - [`json`]: reads it. [`apart`]: keeps the parts of a sweep apart in the compiled code.
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
pub mod json;
pub mod logging;
pub mod policy;
pub mod ports;
pub mod recovery;
pub mod status;
pub mod sweep;
#[cfg(test)]
mod testing;

use std::cell::Cell;

use futures_util::future::join_all;
use wasm_bindgen::JsValue;
use wasm_bindgen::prelude::wasm_bindgen;
use worker::{Context, Env, Request, Response, event};

use config::Apps;
use policy::time::Time;
use ports::Method;
use recovery::{Bindings, SETTLE_AT, SWEEP_AT, call_object};

/// One tick of the schedule: a sweep of each App, side by side, so that none waits for another. One that failed fails the cron run, so
/// that it shows in Cloudflare's list of past events.
///
/// An export of its own, since `#[event(scheduled)]` throws an `Err` away.
///
/// # Errors
/// If a sweep failed, after all have ended. The log says why.
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
    let apps = Apps::read(&Bindings(env));
    // Without an App there is an object all the same, which keeps and tells that there is none.
    let named: Vec<Option<&str>> = if apps.ids.is_empty() { vec![None] } else { apps.ids.iter().map(|app| Some(app.as_str())).collect() };
    let swept = join_all(named.iter().map(|app| call_at(env, *app, SWEEP_AT, now))).await;
    let mut failed = failures(&named, swept);
    // Other settings come with another deployment, and so with another isolate.
    if !apps.ids.is_empty() && !SETTLED.get() {
        match call_at(env, None, SETTLE_AT, now).await {
            Ok(status) => SETTLED.set(status == 200),
            Err(error) => failed.push(error),
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
}

/// What is said of each App whose sweep failed; which App it was, where there are several.
fn failures(apps: &[Option<&str>], swept: Vec<Result<u16, String>>) -> Vec<String> {
    let why = |status: Result<u16, String>| match status {
        Ok(200) => None,
        Ok(_) => Some("the sweep failed; the log says why".to_owned()),
        Err(error) => Some(error),
    };
    let of = |app: Option<&str>| app.filter(|_| apps.len() > 1).map(|app| format!("App {app}: ")).unwrap_or_default();
    apps.iter().zip(swept).filter_map(|(app, status)| Some(of(*app) + &why(status)?)).collect()
}

async fn call_at(env: &Env, app: Option<&str>, address: &str, now: Time) -> Result<u16, String> {
    let answer = call_object(env, app, Method::Get, &format!("{address}{}", now.millis()), None).await;
    answer.map(|answer| answer.status_code()).map_err(|error| format!("the Durable Object failed: {error}"))
}

/// An isolate starts: what its first sweep runs is compiled now, on the time of the start.
#[wasm_bindgen(start, private)]
fn start() {
    recovery::rehearsal::rehearse();
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

#[cfg(test)]
mod tests {
    use super::failures;

    #[test]
    fn a_failed_run_says_which_apps_failed_and_one_alone_needs_no_name() {
        let broken = || Err("the Durable Object failed: it threw".to_owned());
        assert_eq!(failures(&[Some("1"), Some("2")], vec![Ok(200), Ok(200)]), [""; 0]);
        assert_eq!(
            failures(&[Some("1"), Some("2"), Some("3")], vec![Ok(500), Ok(200), broken()]),
            ["App 1: the sweep failed; the log says why", "App 3: the Durable Object failed: it threw"]
        );
        assert_eq!(failures(&[Some("1")], vec![Ok(500)]), ["the sweep failed; the log says why"]);
        assert_eq!(failures(&[None], vec![broken()]), ["the Durable Object failed: it threw"]);
    }
}
