//! A sweep that is only rehearsed, when an isolate starts.
//!
//! V8 compiles a function of the module when it first runs, and most ticks meet an isolate that has run none: that was half of what such a
//! sweep cost. The start of an isolate has a second of its own, an invocation on the Free plan has ten milliseconds. So the start plays a
//! sweep that reads, decides, asks and tells, and the first real one finds all of it compiled.
//!
//! It runs the very functions of a sweep, over the same ports, whose answers are made up here: no call goes out, nothing is stored,
//! signed or logged, and whatever comes of it is thrown away. `npm test` holds how much of the first sweep it leaves.
//!
//! Source of both limits: Cloudflare's page "Limits", under "Worker startup time" and "CPU time".

use std::iter;
use std::pin::pin;
use std::task::{Context, Waker};

use base64ct::{Base64, Encoding};
use js_sys::{Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use worker::Env;

use super::{Bindings, ObjectStorage, RuntimeSigner};
use crate::config::{self, Config};
use crate::http::{Http, RuntimeClock, Said};
use crate::policy::budget::Budget;
use crate::policy::time::Time;
use crate::ports::{Call, Method};
use crate::sweep::{World, sweep};

/// 2026-01-01T00:15:00Z.
const TICK: Time = Time::from_millis(1_767_226_500_000);

/// As `http.js` gives them: date and link.
const HEADERS: &str = "Thu, 01 Jan 2026 00:15:00 GMT\n";
const HEADERS_OF_MORE: &str =
    "Thu, 01 Jan 2026 00:15:00 GMT\n<https://api.github.com/app/hook/deliveries?per_page=100&cursor=v1_1>; rel=\"next\"";

/// One delivery, as GitHub lists it.
macro_rules! delivery {
    ($number:literal of $event:literal $kind:literal, $redelivery:literal, $code:literal) => {
        concat!(
            r#"{"id":900000000000000000"#,
            $number,
            r#","guid":"00000000-0000-0000-0000-00000000000"#,
            $event,
            r#"","delivered_at":"2026-01-01T00:14:00.00"#,
            $number,
            r#"Z","redelivery":"#,
            $redelivery,
            r#","duration":0.1,"status":"?","status_code":"#,
            $code,
            r#","event":""#,
            $kind,
            r#"","action":"created","installation_id":1,"repository_id":1,"url":"","throttled_at":null}"#
        )
    };
}

/// One event was refused, one is asked for again, and one gives up, by the newest of its attempts and the older ones.
macro_rules! failed {
    () => {
        concat!(
            delivery!(6 of 3 "issues", false, 404),
            ",",
            delivery!(5 of 2 "check_run", false, 500),
            ",",
            delivery!(4 of 1 "workflow_run", true, 500)
        )
    };
}
macro_rules! failed_before {
    () => {
        concat!(delivery!(3 of 1 "workflow_run", true, 502), ",", delivery!(2 of 1 "workflow_run", false, 500))
    };
}

/// The failures list, and the deliveries list in two pages: there one event more passed.
const FAILURES: &str = concat!("[", failed!(), ",", failed_before!(), "]");
const NEWER: &str = concat!("[", delivery!(7 of 4 "push", false, 200), ",", failed!(), "]");
const OLDER: &str = concat!("[", failed_before!(), "]");

/// Plays one.
pub(crate) fn rehearse() {
    let config = settings();
    let budget = Budget::new(config.settings.subrequest_limit);
    let network = Http::rehearsing(&budget, said);
    let (signer, storage) = (RuntimeSigner::Rehearsing, ObjectStorage::Rehearsing);
    let world = World { network: &network, signer: &signer, clock: &RuntimeClock, storage: &storage, budget: &budget };
    // Nothing in it waits, so it is over at once. If it were not, the rest of it would not be rehearsed, and nothing else be wrong.
    let _ = pin!(sweep(&world, &config, TICK)).poll(&mut Context::from_waker(Waker::noop()));
}

fn settings() -> Config {
    let variables = Object::new();
    for (name, value) in [
        ("GITHUB_APP_ID", "1"),
        ("GITHUB_APP_PRIVATE_KEY", no_key().as_str()),
        ("TELEGRAM_BOT_TOKEN", "1:A"),
        ("TELEGRAM_CHAT_ID", "1"),
        ("CONTROL_REPO", "o/r"),
    ] {
        let _ = Reflect::set(&variables, &JsValue::from_str(name), &JsValue::from_str(value));
    }
    let variables: Env = variables.unchecked_into();
    config::read(&Bindings(&variables), Some("1")).unwrap_or_else(|unusable| unusable.right)
}

/// A file in the form of a key that is none: its modulus is all ones, every other number 1.
fn no_key() -> String {
    let mut numbers = vec![0x02, 0x01, 0x00, 0x02, 0x82, 0x01, 0x01, 0x00];
    numbers.extend([0xff; 256]);
    numbers.extend([0x02, 0x01, 0x01].repeat(7));
    let mut der = vec![0x30, 0x82];
    der.extend(u16::try_from(numbers.len()).unwrap_or_default().to_be_bytes());
    der.extend(numbers);
    let base64 = Base64::encode_string(&der);
    let body = base64.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap_or_default());
    let lines: Vec<&str> = iter::once("-----BEGIN RSA PRIVATE KEY-----").chain(body).chain(["-----END RSA PRIVATE KEY-----"]).collect();
    lines.join("\n")
}

/// What GitHub and Telegram would say.
fn said(call: &Call<'_>) -> Said {
    let has_more = call.url.contains("/deliveries?") && !call.url.contains("status=failure") && !call.url.contains("cursor=");
    let (status, body) = match (call.method, call.url) {
        (_, url) if url.contains("status=failure") => (200, FAILURES),
        (_, url) if url.contains("/deliveries?") => (200, if has_more { NEWER } else { OLDER }),
        (_, url) if url.ends_with("/attempts") => (202, "{}"),
        (_, url) if url.ends_with("/app") => {
            (200, r#"{"id":1,"slug":"a","html_url":"https://github.com/apps/a","owner":{"login":"o","type":"User"}}"#)
        }
        (_, url) if url.ends_with("/installation") => (200, r#"{"id":1,"app_id":1,"app_slug":"a"}"#),
        (_, url) if url.ends_with("/access_tokens") => (201, r#"{"token":"t","repositories":[{"id":1}]}"#),
        (Method::Get, url) if url.contains("/issues?") => (200, "[]"),
        (_, url) if url.ends_with("/issues") => {
            (201, r#"{"number":1,"state":"open","html_url":"https://github.com/o/r/issues/1","updated_at":"2026-01-01T00:15:00Z"}"#)
        }
        _ => (200, r#"{"ok":true,"result":{"message_id":1}}"#),
    };
    let headers = if has_more { HEADERS_OF_MORE } else { HEADERS };
    (status, headers.to_owned(), body.as_bytes().to_vec())
}
