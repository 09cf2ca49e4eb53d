//! An answer as a value, and what every answer has in common: nobody keeps it, nobody frames it, and a page may load nothing.

use base64ct::{Base64, Encoding};
use serde::Serialize;
use sha2::{Digest, Sha256};

use super::page::{SCRIPT, STYLE, document, with_times};
use crate::json;

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// Its text.
    pub body: String,
}

/// Of every answer to somebody who showed the token.
const HEADERS: [(&str, &str); 5] = [
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
    // With `no-referrer` a browser would send `Origin: null` with our own forms.
    ("referrer-policy", "same-origin"),
    ("permissions-policy", "camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Nothing is loaded from anywhere. A page's own style and script are named by their digests.
fn policy() -> String {
    let digest = |text: &str| Base64::encode_string(&Sha256::digest(text));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; img-src data:; form-action 'self'; base-uri 'none'; \
         frame-ancestors 'none'",
        digest(STYLE),
        digest(SCRIPT)
    )
}

impl Reply {
    fn new(status: u16, content_type: &str, body: String) -> Self {
        let mut headers: Vec<(&'static str, String)> = HEADERS.map(|(name, value)| (name, value.to_owned())).into();
        headers.push(("content-type", content_type.to_owned()));
        headers.push(("content-security-policy", policy()));
        Self { status, headers, body }
    }

    /// A page.
    #[must_use]
    pub fn page(status: u16, body: String) -> Self {
        Self::new(status, "text/html; charset=utf-8", body)
    }

    /// A value, for programs.
    #[must_use]
    pub fn json<T: Serialize>(status: u16, value: &T) -> Self {
        // Plain data: nothing in it can fail to be written.
        Self::new(status, "application/json", json::write(value))
    }

    /// Plain text, in Prometheus' form or in none.
    #[must_use]
    pub fn text(status: u16, body: String) -> Self {
        Self::new(status, "text/plain; version=0.0.4; charset=utf-8", body)
    }

    /// A sentence for whoever asked for something that cannot be: a page for a browser, JSON for a program.
    #[must_use]
    pub fn sentence(status: u16, sentence: &str, for_browser: bool) -> Self {
        #[derive(Serialize)]
        struct Error<'a> {
            error: &'a str,
        }
        if for_browser {
            let body = format!("<h1>That did not work</h1><p>{}</p><p><a href=\"/\">Back to the status page</a></p>", with_times(sentence));
            return Self::page(status, document("That did not work", &body));
        }
        Self::json(status, &Error { error: sentence })
    }

    /// To another page of ours, after a form was sent.
    #[must_use]
    pub fn see(path: &str) -> Self {
        Self::new(303, "text/plain; charset=utf-8", String::new()).with("location", path)
    }

    /// With one more header.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Asks a browser for the token.
    #[must_use]
    pub fn challenge() -> Self {
        let challenge = r#"Basic realm="github-app-redeliver", charset="UTF-8""#;
        Self::new(401, "text/plain; charset=utf-8", "Unauthorized".to_owned()).with("www-authenticate", challenge)
    }
}
