//! What the HTTP side is asked.

use base64ct::{Base64, Encoding};
use github_app_redeliver::policy::time::Time;
use github_app_redeliver::status::auth::{Scheme, authorized, is_from_here, is_login_path, login_path};
use github_app_redeliver::status::query::{only, retry_after, since};
use github_app_redeliver::status::route::{Place, Route, home_of, wants_page};
use url::Url;

use super::lines;

const TOKEN: &str = "correct:horse-battery-staple";

/// Path, query, `Authorization`, `Accept`, `Sec-Fetch-Site`, `Origin`, a line each.
pub(super) fn request(bytes: &[u8]) {
    let mut lines = lines(bytes);
    let mut line = || lines.next().unwrap_or_default();
    let (path, query, authorization, accept, site, origin) = (line(), line(), line(), line(), line(), line());
    place(&path);
    let scheme = authorized(Some(&authorization), TOKEN);
    assert!(scheme.is_none() || shows_token(&authorization), "{authorization}");
    for method in ["GET", "HEAD", "POST", &accept] {
        let takes = Route::of(&path).is_some_and(|route| route.takes(method));
        assert!(!takes || ["GET", "HEAD", "POST"].contains(&method), "{method}");
    }
    assert!(!wants_page(Some(&accept)) || accept.contains("text/html"));
    let own = "https://redeliver.example";
    let here = is_from_here(Scheme::Basic, Some(&site), Some(&origin), own);
    assert_eq!(here, site == "same-origin" || site == "none");
    assert_eq!(is_from_here(Scheme::Basic, None, Some(&origin), own), origin == own);
    assert_eq!(is_login_path(&path, TOKEN), path == login_path(TOKEN));
    asks(&query);
}

fn place(path: &str) {
    let Some(place) = Place::of(path) else { return };
    assert_eq!(place.app.is_some(), path.starts_with("/apps/"));
    let below = place.route.path();
    match place.app {
        None => assert_eq!(below, path),
        Some(app) => {
            assert!(!app.is_empty() && !app.contains('/'));
            let home = home_of(app);
            let whole = format!("{}{below}", home.trim_end_matches('/'));
            assert!(path == whole || format!("{path}/") == home, "{path} is {whole}");
        }
    }
}

/// Whether the header has the token, as another reader of it finds.
fn shows_token(header: &str) -> bool {
    let word = header.split_whitespace().last().unwrap_or_default();
    let decoded = Base64::decode_vec(word).unwrap_or_default();
    word == TOKEN || decoded.ends_with(format!(":{TOKEN}").as_bytes())
}

fn asks(query: &str) {
    let mut url = Url::parse("https://redeliver.example/recover").expect("it is an address");
    url.set_query(Some(query));
    for name in ["guid", "since"] {
        let given: Vec<String> = url.query_pairs().filter(|(given, _)| given == name).map(|(_, value)| value.into_owned()).collect();
        assert_eq!(only(&url, name).as_ref(), given.first().filter(|_| given.len() == 1));
    }
    for text in [query, only(&url, "since").as_deref().unwrap_or_default()] {
        let Some(time) = since(text) else { continue };
        assert_eq!(since(&time.to_string()), Some(time), "a time is read as it is written");
        let now = Time::from_millis(1_796_083_200_000);
        assert_eq!(retry_after(time, now).is_some(), now < time);
    }
}
