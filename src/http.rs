//! Outgoing calls through the runtime's `fetch`: with `http.js`, the only file that makes them.
//!
//! It counts each call against the budget before making it, ends it after ten seconds, follows no redirect and takes no body over
//! 4 MiB. The body comes as one array and one copy into wasm: read chunk by chunk from here, a page costs three times what it
//! costs a JavaScript Worker.

use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};

use crate::policy::budget::Budget;
use crate::policy::time::{Time, minutes};
use crate::ports::{Answer, AnswerHeaders, Call, Clock, Network, NetworkError};

/// Longest time of one call, its body included.
const CALL_MILLIS: u32 = 10_000;

/// Longest time of one sweep.
const SWEEP: std::time::Duration = minutes(5);

/// Largest body. A page of 100 deliveries has 30 kB.
const BODY_BYTES: u32 = 4 * 1024 * 1024;

#[wasm_bindgen(module = "/src/http.js")]
extern "C" {
    /// What came of a call: numbers below 100 stand for the failures of [`failure`].
    type Reply;

    #[wasm_bindgen(method, getter)]
    fn status(this: &Reply) -> u16;

    #[wasm_bindgen(method, getter)]
    fn headers(this: &Reply) -> String;

    #[wasm_bindgen(method, getter)]
    fn length(this: &Reply) -> usize;

    #[wasm_bindgen(js_name = copyBody)]
    fn copy_body(reply: &Reply, place: &mut [u8]);

    async fn call(method: &str, url: &str, headers: &str, body: Option<&str>, millis: u32, most_bytes: u32) -> JsValue;
}

/// The runtime's clock. It stands still between two calls.
#[derive(Clone, Copy, Debug)]
pub struct RuntimeClock;

impl Clock for RuntimeClock {
    fn now(&self) -> Time {
        // Whole milliseconds, far below 2^53.
        #[allow(clippy::cast_possible_truncation, reason = "whole milliseconds, far below 2^53")]
        Time::from_millis(js_sys::Date::now() as i64)
    }

    async fn sleep(&self, span: std::time::Duration) {
        worker::Delay::from(span).await;
    }
}

/// What came of a call: the status, the headers as `http.js` gives them, and the body.
pub(crate) type Said = (u16, String, Vec<u8>);

/// The network of one sweep.
#[derive(Debug)]
pub struct Http<'a> {
    budget: &'a Budget,
    started: Time,
    /// Says what would be answered, where a sweep is only rehearsed.
    answers: Option<fn(&Call<'_>) -> Said>,
}

impl<'a> Http<'a> {
    /// Calls from now on, counted against `budget`.
    #[must_use]
    pub fn new(budget: &'a Budget) -> Self {
        Self { budget, started: RuntimeClock.now(), answers: None }
    }

    /// Makes no call: `answers` says what comes of each.
    pub(crate) fn rehearsing(budget: &'a Budget, answers: fn(&Call<'_>) -> Said) -> Self {
        Self { answers: Some(answers), ..Self::new(budget) }
    }
}

impl Network for Http<'_> {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        if RuntimeClock.now().since(self.started) > SWEEP {
            return Err(NetworkError::SweepOver);
        }
        if !self.budget.take() {
            return Err(NetworkError::NoCallLeft);
        }
        // The runtime would refuse a header of two lines.
        let lines = lines(call.headers.iter().copied()).ok_or(NetworkError::Failed)?;
        let (status, headers, body) = match self.answers {
            Some(answers) => answers(&call),
            None => said(&call, &lines).await?,
        };
        Ok(Answer { status, headers: answered(&headers, status), body })
    }
}

async fn said(call: &Call<'_>, lines: &str) -> Result<Said, NetworkError> {
    let body = call.body.as_deref();
    let reply = self::call(call.method.as_str(), call.url, lines, body, CALL_MILLIS, BODY_BYTES).await;
    let reply: Reply = reply.unchecked_into();
    let status = reply.status();
    if let Some(failure) = failure(status) {
        return Err(failure);
    }
    let mut body = vec![0; reply.length()];
    copy_body(&reply, &mut body);
    Ok((status, reply.headers(), body))
}

/// The headers as `http.js` takes them: name and value in turn, one a line. `None` if one has two lines, which would be taken for another.
pub(crate) fn lines<'h>(headers: impl Iterator<Item = (&'static str, &'h str)>) -> Option<String> {
    let mut lines = String::with_capacity(1024);
    for (name, value) in headers {
        if value.contains('\n') {
            return None;
        }
        for part in [name, "\n", value, "\n"] {
            lines.push_str(part);
        }
    }
    Some(lines)
}

/// The headers as `http.js` gives them: other ones of a success than of anything else.
fn answered(lines: &str, status: u16) -> AnswerHeaders {
    let mut values = lines.split('\n').map(|value| Some(value.to_owned()).filter(|value| !value.is_empty()));
    let mut value = || values.next().flatten();
    let date = value();
    if status < 300 {
        return AnswerHeaders { date, link: value(), ..AnswerHeaders::default() };
    }
    AnswerHeaders { date, link: None, retry_after: value(), rate_limit_remaining: value(), rate_limit_reset: value() }
}

/// In place of a status, as `http.js` gives it.
fn failure(status: u16) -> Option<NetworkError> {
    match status {
        1 => Some(NetworkError::TimedOut),
        2 => Some(NetworkError::Failed),
        3 => Some(NetworkError::TooLarge),
        _ => None,
    }
}
