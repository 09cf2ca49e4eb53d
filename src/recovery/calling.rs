//! How the handlers call the object of an App, and one object another.

use js_sys::Reflect;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use worker::{Env, Error, Response};

use crate::http::lines;
use crate::ports::Method;

/// The binding of the Durable Object.
const RECOVERY: &str = "RECOVERY";

/// The header that names the App to its object, which does not know its own name. Nothing from outside reaches it.
pub(super) const APP: &str = "x-recovery-app";

/// The name of the object that keeps and tells, while the settings name no App, that they cannot be used. No App id has a space.
const NO_APP: &str = "no App";

#[wasm_bindgen(module = "/src/http.js")]
extern "C" {
    #[wasm_bindgen(catch, js_name = callObject)]
    async fn call_by_name(namespace: &JsValue, name: &str, method: &str, url: &str, headers: &str) -> Result<JsValue, JsValue>;
}

/// Calls the object of an App, or the one that there is without any. `accept` is what a browser said of itself.
///
/// # Errors
/// If the object fails.
pub async fn call_object(env: &Env, app: Option<&str>, method: Method, address: &str, accept: Option<&str>) -> worker::Result<Response> {
    let namespace = Reflect::get(env, &JsValue::from_str(RECOVERY))?;
    if namespace.is_undefined() {
        return Err(Error::BindingError(RECOVERY.to_owned()));
    }
    let headers = app.map(|app| (APP, app)).into_iter().chain(accept.map(|accept| ("accept", accept)));
    let headers = lines(headers).ok_or_else(|| Error::RustError("a header of two lines".to_owned()))?;
    let answer = call_by_name(&namespace, app.unwrap_or(NO_APP), method.as_str(), address, &headers).await?;
    Ok(Response::from(answer.unchecked_into::<web_sys::Response>()))
}
