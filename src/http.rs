//! Outgoing calls through the runtime's `fetch`: the only file that makes them.
//!
//! It counts each call against the budget before making it, ends it after ten seconds, follows no redirect and takes no body over
//! 4 MiB. The body comes as one `arrayBuffer()` and one copy into wasm: read chunk by chunk through the stream reader, a page
//! costs three times what it costs a JavaScript Worker.

use js_sys::{Object, Reflect, Uint8Array};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, RequestInit, RequestRedirect, Response, WorkerGlobalScope};

use crate::policy::budget::Budget;
use crate::policy::time::{Time, minutes};
use crate::ports::{Answer, AnswerHeaders, Call, Clock, Network, NetworkError};

/// Longest time of one call, its body included.
const CALL_MILLIS: u32 = 10_000;

/// Longest time of one sweep.
const SWEEP: std::time::Duration = minutes(5);

/// Largest body. A page of 100 deliveries has 30 kB.
const BODY_BYTES: u32 = 4 * 1024 * 1024;

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

/// The network of one sweep.
#[derive(Debug)]
pub struct Http<'a> {
    budget: &'a Budget,
    started: Time,
}

impl<'a> Http<'a> {
    /// Calls from now on, counted against `budget`.
    #[must_use]
    pub fn new(budget: &'a Budget) -> Self {
        Self { budget, started: RuntimeClock.now() }
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
        fetch(call).await.map_err(|error| error.unwrap_or(NetworkError::Failed))
    }
}

/// The error is `None` for anything the runtime throws that is no time-out: its text may hold the URL.
async fn fetch(call: Call<'_>) -> Result<Answer, Option<NetworkError>> {
    let init = request(&call).map_err(|_| None)?;
    let scope: WorkerGlobalScope = js_sys::global().unchecked_into();
    let response: Response =
        JsFuture::from(scope.fetch_with_str_and_init(call.url, &init)).await.map_err(|error| timed_out(&error))?.unchecked_into();
    let status = response.status();
    let header = |name: &str| response.headers().get(name).ok().flatten();
    let mut headers = AnswerHeaders { date: header("date"), ..AnswerHeaders::default() };
    if status < 300 {
        headers.link = header("link");
    } else {
        headers.retry_after = header("retry-after");
        headers.rate_limit_remaining = header("x-ratelimit-remaining");
        headers.rate_limit_reset = header("x-ratelimit-reset");
    }
    if header("content-length").and_then(|length| length.parse().ok()).is_some_and(|length: u64| length > BODY_BYTES.into()) {
        if let Some(body) = response.body() {
            // Nobody waits for it: what matters is that it is not read.
            let _ = body.cancel();
        }
        return Err(Some(NetworkError::TooLarge));
    }
    let buffer = response.array_buffer().map_err(|_| None)?;
    let bytes = Uint8Array::new(&JsFuture::from(buffer).await.map_err(|error| timed_out(&error))?);
    if bytes.length() > BODY_BYTES {
        return Err(Some(NetworkError::TooLarge));
    }
    Ok(Answer { status, headers, body: bytes.to_vec() })
}

fn request(call: &Call<'_>) -> Result<RequestInit, JsValue> {
    let headers = Object::new();
    for (name, value) in call.headers {
        Reflect::set(&headers, &JsValue::from_str(name), &JsValue::from_str(value))?;
    }
    let init = RequestInit::new();
    init.set_method(call.method.as_str());
    init.set_headers(&headers);
    init.set_redirect(RequestRedirect::Manual);
    init.set_signal(Some(&AbortSignal::timeout_with_u32(CALL_MILLIS)));
    if let Some(body) = &call.body {
        init.set_body(&JsValue::from_str(body));
    }
    Ok(init)
}

fn timed_out(error: &JsValue) -> Option<NetworkError> {
    let name = Reflect::get(error, &JsValue::from_str("name")).ok()?.as_string()?;
    matches!(name.as_str(), "TimeoutError" | "AbortError").then_some(NetworkError::TimedOut)
}
