//! The door of the HTTP side: lets in whoever shows `ADMIN_TOKEN`, and passes the request on to the Durable Object.
//!
//! Everybody else gets the same 404 for every path, as if there was nothing here.

use worker::{Env, Headers, Method, Request, RequestInit, Response};

use crate::RECOVERY;
use crate::config;
use crate::recovery::{HTTP_PATH, variable};
use crate::status::auth::{authorized, is_from_here, is_login_path};
use crate::status::reply::Reply;
use crate::status::route::{Route, wants_page};

/// Answers a request from outside.
///
/// # Errors
/// If the runtime cannot make a response.
pub async fn answer(request: &Request, env: &Env) -> worker::Result<Response> {
    let Some(token) = config::admin_token(|name| variable(env, name)) else { return closed() };
    let url = request.url()?;
    let header = |name: &str| request.headers().get(name).ok().flatten();
    let scheme = authorized(header("authorization").as_deref(), token.expose());
    if is_login_path(url.path(), token.expose()) {
        return respond(if scheme.is_some() { Reply::see("/") } else { Reply::challenge() });
    }
    let (Some(scheme), Some(route)) = (scheme, Route::of(url.path())) else { return closed() };
    let for_browser = wants_page(header("accept").as_deref());
    let method = request.inner().method();
    if !route.takes(&method) {
        let sentence = format!("This path takes {} only.", route.allows());
        return respond(Reply::sentence(405, &sentence, for_browser).with("allow", route.allows()));
    }
    let (site, origin) = (header("sec-fetch-site"), header("origin"));
    if route.changes() && !is_from_here(scheme, site.as_deref(), origin.as_deref(), &url.origin().ascii_serialization()) {
        return respond(Reply::sentence(403, "Another site may not do this: use the status page, or a bearer token.", for_browser));
    }
    let Some(app) = config::app_id(|name| variable(env, name)) else {
        return respond(without_app(env));
    };
    let method_of_object = if route.changes() { Method::Post } else { Method::Get };
    let mut address = format!("https://recovery{HTTP_PATH}{}", url.path());
    if let Some(query) = url.query() {
        address = format!("{address}?{query}");
    }
    let headers = Headers::new();
    headers.set("accept", &header("accept").unwrap_or_default())?;
    let mut init = RequestInit::new();
    init.with_method(method_of_object).with_headers(headers);
    let passed_on = Request::new_with_init(&address, &init)?;
    let answer = env.durable_object(RECOVERY)?.id_from_name(&app)?.get_stub()?.fetch_with_request(passed_on).await?;
    if method == "HEAD" {
        return Ok(Response::empty()?.with_status(answer.status_code()).with_headers(answer.headers().clone()));
    }
    Ok(answer)
}

/// Without an App there is no object to ask; the settings are read to name every problem.
fn without_app(env: &Env) -> Reply {
    let problems = config::read(|name| variable(env, name)).err().map(|unusable| unusable.to_string()).unwrap_or_default();
    Reply::text(503, format!("{problems}\n"))
}

/// What everybody gets who is not let in.
fn closed() -> worker::Result<Response> {
    Response::error("Not Found", 404)
}

/// Hands an answer to the runtime.
///
/// # Errors
/// If the runtime cannot make a response.
pub fn respond(reply: Reply) -> worker::Result<Response> {
    let headers = Headers::new();
    for (name, value) in &reply.headers {
        headers.set(name, value)?;
    }
    Ok(Response::ok(reply.body)?.with_status(reply.status).with_headers(headers))
}
