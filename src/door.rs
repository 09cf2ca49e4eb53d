//! The door of the HTTP side: lets in whoever shows `ADMIN_TOKEN`, and passes the request on to the Durable Object of the App.
//!
//! Everybody else gets the same 404 for every path, as if there was nothing here. Where there are several Apps, a path names one
//! (`/apps/1234567/plan`); what is asked of all of them is put together here of what their objects answer.

use futures_util::future::join_all;
use worker::{Env, Headers, Request, Response};

use crate::config::{self, Apps};
use crate::http::RuntimeClock;
use crate::json;
use crate::ports::{Clock, Method};
use crate::recovery::{Bindings, HTTP_PATH, call_object};
use crate::status::auth::{authorized, is_from_here, is_login_path};
use crate::status::metrics;
use crate::status::reply::Reply;
use crate::status::route::{Place, Route, home_of, wants_page};
use crate::status::several::{Overview, Summary};

/// Answers a request from outside.
///
/// # Errors
/// If the runtime cannot make a response.
pub async fn answer(request: &Request, env: &Env) -> worker::Result<Response> {
    let Some(token) = config::admin_token(&Bindings(env)) else { return closed() };
    let url = request.url()?;
    let header = |name: &str| request.headers().get(name).ok().flatten();
    let scheme = authorized(header("authorization").as_deref(), token.expose());
    if is_login_path(url.path(), token.expose()) {
        return respond(if scheme.is_some() { Reply::see("/") } else { Reply::challenge() });
    }
    let (Some(scheme), Some(place)) = (scheme, Place::of(url.path())) else { return closed() };
    let route = place.route;
    let accept = header("accept");
    let for_browser = wants_page(accept.as_deref());
    let method = request.inner().method();
    if !route.takes(&method) {
        let sentence = format!("This path takes {} only.", route.allows());
        return respond(Reply::sentence(405, &sentence, for_browser).with("allow", route.allows()));
    }
    let (site, origin) = (header("sec-fetch-site"), header("origin"));
    if route.changes() && !is_from_here(scheme, site.as_deref(), origin.as_deref(), &url.origin().ascii_serialization()) {
        return respond(Reply::sentence(403, "Another site may not do this: use the status page, or a bearer token.", for_browser));
    }
    let apps = Apps::read(&Bindings(env));
    let answer = match chosen(&apps, &place) {
        Chosen::One(app) => pass_on(env, app, route, url.query(), accept.as_deref()).await?,
        Chosen::All => respond(of_all(env, &apps, route, for_browser).await)?,
        Chosen::Unknown(app) => respond(Reply::sentence(404, &format!("The settings have no App {app}."), for_browser))?,
        Chosen::Nobody => respond(without_app(env))?,
    };
    if method == "HEAD" {
        return Ok(Response::empty()?.with_status(answer.status_code()).with_headers(answer.headers().clone()));
    }
    Ok(answer)
}

/// Whom a request is about.
enum Chosen<'a> {
    One(&'a str),
    All,
    /// The path names an App that the settings do not.
    Unknown(&'a str),
    /// The settings name none.
    Nobody,
}

fn chosen<'a>(apps: &'a Apps, place: &Place<'a>) -> Chosen<'a> {
    match place.app {
        _ if apps.ids.is_empty() => Chosen::Nobody,
        Some(app) if apps.ids.iter().any(|known| known == app) => Chosen::One(app),
        Some(app) => Chosen::Unknown(app),
        None if place.route == Route::Apps => Chosen::All,
        None => apps.only().map_or(Chosen::All, Chosen::One),
    }
}

/// Has the object of the App answer.
async fn pass_on(env: &Env, app: &str, route: Route, query: Option<&str>, accept: Option<&str>) -> worker::Result<Response> {
    let method = if route.changes() { Method::Post } else { Method::Get };
    let query = query.map(|query| format!("?{query}")).unwrap_or_default();
    call_object(env, Some(app), method, &format!("https://recovery{HTTP_PATH}{}{query}", route.path()), Some(accept.unwrap_or_default()))
        .await
}

/// What is asked of all Apps, or cannot be.
async fn of_all(env: &Env, apps: &Apps, route: Route, for_browser: bool) -> Reply {
    let ask = |route| join_all(apps.ids.iter().map(move |app| text_of(env, app, route)));
    if route == Route::Metrics {
        let answers: Vec<(&str, Option<String>)> = apps.ids.iter().map(String::as_str).zip(ask(route).await).collect();
        return Reply::text(200, metrics::of_several(&answers));
    }
    if !matches!(route, Route::Page | Route::Apps | Route::Health) {
        let example = format!("{}{}", home_of(&apps.ids[0]), route.path().trim_start_matches('/'));
        let sentence = format!("This Worker has several Apps: choose one, as in {example}. They are {}.", apps.ids.join(", "));
        return Reply::sentence(400, &sentence, for_browser);
    }
    let summary = |(app, text): (&String, Option<String>)| {
        text.and_then(|text| json::read(text.as_bytes()).ok()).unwrap_or_else(|| Summary::silent(app))
    };
    let overview = Overview::of(apps.ids.iter().zip(ask(Route::Apps).await).map(summary).collect());
    match route {
        Route::Page => Reply::page(200, overview.page(RuntimeClock.now())),
        Route::Health => Reply::text(if overview.is_healthy() { 200 } else { 503 }, overview.health()),
        _ => Reply::json(200, &overview),
    }
}

/// What one object answers; `None` if it does not.
async fn text_of(env: &Env, app: &str, route: Route) -> Option<String> {
    let mut answer = pass_on(env, app, route, None, None).await.ok().filter(|answer| answer.status_code() == 200)?;
    answer.text().await.ok()
}

/// Without an App there is no object to ask; the settings are read to name every problem.
fn without_app(env: &Env) -> Reply {
    let problems = config::read(&Bindings(env), None).err().map(|unusable| unusable.to_string()).unwrap_or_default();
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
