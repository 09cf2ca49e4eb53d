//! Who may use the HTTP side: whoever shows `ADMIN_TOKEN`, as a bearer token or as the password of Basic.
//!
//! What is compared are digests of one length, in constant time, so that an answer's time says nothing of the token.

use base64ct::{Base64, Encoding};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

/// How a request showed the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// A program. No browser sends it by itself, so no other site can make one do so.
    Bearer,
    /// A browser, perhaps, which sends it with every request to this site, whoever made it do so.
    Basic,
}

/// Reads an `Authorization` header. `None` unless it shows the very token.
#[must_use]
pub fn authorized(header: Option<&str>, token: &str) -> Option<Scheme> {
    let (scheme, credentials) = header?.trim().split_once(' ')?;
    let credentials = credentials.trim();
    if scheme.eq_ignore_ascii_case("bearer") {
        return is_same(credentials.as_bytes(), token.as_bytes()).then_some(Scheme::Bearer);
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let pair = Base64::decode_vec(credentials).ok()?;
    // Any name will do; a password may hold a colon, a name may not.
    let colon = pair.iter().position(|byte| *byte == b':')?;
    is_same(&pair[colon + 1..], token.as_bytes()).then_some(Scheme::Basic)
}

fn is_same(given: &[u8], wanted: &[u8]) -> bool {
    Sha256::digest(given).ct_eq(&Sha256::digest(wanted)).into()
}

/// The path that asks a browser for the token, and answers 404 to whoever does not know it already: half of a digest of the token.
///
/// A browser sends Basic credentials only to a site that asked for them, and every other path answers 404.
#[must_use]
pub fn login_path(token: &str) -> String {
    let digest = Sha256::digest(format!("login:{token}"));
    digest.iter().take(12).fold("/login-".to_owned(), |path, byte| format!("{path}{byte:02x}"))
}

/// Whether this is the [`login_path`].
#[must_use]
pub fn is_login_path(path: &str, token: &str) -> bool {
    is_same(path.as_bytes(), login_path(token).as_bytes())
}

/// Whether a request that changes something comes from our own page, or from no page at all. A browser says so; what is no browser
/// sends neither header.
#[must_use]
pub fn is_from_here(scheme: Scheme, fetch_site: Option<&str>, origin: Option<&str>, own_origin: &str) -> bool {
    match (scheme, fetch_site, origin) {
        (Scheme::Basic, Some(site), _) => matches!(site, "same-origin" | "none"),
        (Scheme::Basic, None, Some(origin)) => origin == own_origin,
        (Scheme::Bearer, ..) | (Scheme::Basic, None, None) => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "correct:horse-battery-staple";

    fn basic(pair: &str) -> String {
        format!("Basic {}", Base64::encode_string(pair.as_bytes()))
    }

    #[test]
    fn the_very_token_opens_as_bearer_and_as_basic_with_any_name() {
        for (header, scheme) in [
            (format!("Bearer {TOKEN}"), Scheme::Bearer),
            (format!("bearer  {TOKEN} "), Scheme::Bearer),
            (basic(&format!("admin:{TOKEN}")), Scheme::Basic),
            (basic(&format!(":{TOKEN}")).replace("Basic", "bAsIc"), Scheme::Basic),
        ] {
            assert_eq!(authorized(Some(&header), TOKEN), Some(scheme), "{header}");
        }
    }

    #[test]
    fn nothing_else_does() {
        let mut headers: Vec<String> =
            ["", " ", "Bearer", "Bearer ", "Basic", "Basic ", "Basic !!!", "Digest x", TOKEN, "Bearer  "].map(str::to_owned).into();
        headers.extend([&TOKEN[1..], &TOKEN[..TOKEN.len() - 1], "x", &format!("{TOKEN}x")].map(|wrong| format!("Bearer {wrong}")));
        headers.extend([TOKEN, &format!("admin{TOKEN}"), "admin:", "admin", ""].map(|pair| basic(&pair.replace("correct:", "admin "))));
        for header in headers {
            assert_eq!(authorized(Some(&header), TOKEN), None, "{header}");
        }
        assert_eq!(authorized(None, TOKEN), None);
    }

    #[test]
    fn the_login_path_is_told_by_the_token_alone() {
        // docs/status.md has the command.
        assert_eq!(login_path(TOKEN), "/login-a67ddd6b3dd52d09b4a760b6");
        assert!(is_login_path(&login_path(TOKEN), TOKEN));
        for path in ["/", "/login", "/login-", &login_path("another"), &format!("{}/", login_path(TOKEN))] {
            assert!(!is_login_path(path, TOKEN), "{path}");
        }
    }

    #[test]
    fn another_site_cannot_make_a_browser_change_anything() {
        let own = "https://redeliver.example";
        for (fetch_site, origin, expected) in [
            (Some("same-origin"), Some(own), true),
            (Some("none"), None, true),
            (Some("cross-site"), Some("https://evil.example"), false),
            (Some("same-site"), Some("https://other.redeliver.example"), false),
            (Some("cross-site"), Some(own), false),
            (None, Some(own), true),
            (None, Some("https://evil.example"), false),
            (None, Some("null"), false),
            (None, None, true),
        ] {
            assert_eq!(is_from_here(Scheme::Basic, fetch_site, origin, own), expected, "{fetch_site:?} {origin:?}");
            assert!(is_from_here(Scheme::Bearer, fetch_site, origin, own));
        }
    }
}
