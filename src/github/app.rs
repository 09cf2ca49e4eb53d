//! The App itself, as far as the alarm speaks of it: above all the link to its Advanced page, where a maintainer redelivers
//! by hand.
//!
//! Source: schema `integration` of GitHub's `OpenAPI` description, and GitHub's page "Redelivering webhooks".

use serde::Deserialize;
use url::Url;

use super::api::{Api, Caller};
use super::error::GitHubError;
use super::is_short;
use crate::json;
use crate::ports::{Clock, Network, Signer};

const STEP: &str = "reading the App";

/// The App.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct App {
    /// Its number.
    pub id: u64,
    /// Its name in addresses; an old server leaves it out, and what is no name is left out here.
    pub slug: Option<String>,
    /// Its Advanced page, or its public page where nobody knows the address of the other; none of absurd length.
    pub advanced_url: Option<String>,
}

/// Reads the App.
///
/// # Errors
/// If there is no answer, or not of GitHub's shape.
pub async fn read<N: Network, S: Signer, C: Clock>(api: &Api<'_, N, S, C>) -> Result<App, GitHubError> {
    let answer = api.get(STEP, Caller::App, "/app", || true).await?;
    if answer.status != 200 {
        return Err(GitHubError::of(STEP, &answer));
    }
    parse(&answer.body)
}

/// Takes the body of `GET /app`.
///
/// # Errors
/// If it is not of GitHub's shape.
pub fn parse(body: &[u8]) -> Result<App, GitHubError> {
    let read: Integration = json::read(body).map_err(|_| GitHubError::Unreadable { step: STEP, reason: "it is no App".to_owned() })?;
    // Both are kept in the state, which no answer may make too large to be saved.
    let advanced_url = advanced_url(&read).filter(|url| is_short(url));
    Ok(App { id: read.id, advanced_url, slug: read.slug.filter(|slug| is_name(slug)) })
}

/// A GitHub name: what is not of these characters is not put into an address.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= 100 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

/// The page's address has no API; these are the forms of a user's and of an organization's App, on the host of the public
/// page so that Enterprise Server has its own.
fn advanced_url(app: &Integration) -> Option<String> {
    let public = Url::parse(&app.html_url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    let slug = app.slug.as_deref().or_else(|| public.path().strip_prefix("/apps/")).filter(|slug| is_name(slug));
    let owner = app.owner.as_ref();
    let login = owner.and_then(|owner| owner.login.as_deref()).filter(|login| is_name(login));
    let path = match (owner.and_then(|owner| owner.kind.as_deref()), login, slug) {
        (Some("User"), _, Some(slug)) => format!("/settings/apps/{slug}/advanced"),
        (Some("Organization"), Some(login), Some(slug)) => format!("/organizations/{login}/settings/apps/{slug}/advanced"),
        _ => return Some(public.into()),
    };
    public.join(&path).ok().map(Into::into)
}

#[derive(Deserialize)]
struct Integration {
    id: u64,
    #[serde(default)]
    slug: Option<String>,
    html_url: String,
    #[serde(default)]
    owner: Option<Owner>,
}

/// A user or an organization, or an enterprise, which has neither of these.
#[derive(Deserialize)]
struct Owner {
    #[serde(default)]
    login: Option<String>,
    #[serde(rename = "type", default)]
    kind: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The link, or nothing.
    fn advanced(owner: &str, slug: &str, html_url: &str) -> String {
        let body = format!(r#"{{"id":7,"slug":{slug},"html_url":{html_url:?},"owner":{owner},"new":1}}"#);
        parse(body.as_bytes()).expect("an App is read").advanced_url.unwrap_or_default()
    }

    const USER: &str = r#"{"login":"octocat","type":"User"}"#;
    const ORGANIZATION: &str = r#"{"login":"acme","type":"Organization"}"#;
    const PAGE: &str = "https://github.com/apps/deploy-bot";

    #[test]
    fn each_owner_has_its_own_form() {
        assert_eq!(advanced(USER, r#""deploy-bot""#, PAGE), "https://github.com/settings/apps/deploy-bot/advanced");
        let organization = "https://github.com/organizations/acme/settings/apps/deploy-bot/advanced";
        assert_eq!(advanced(ORGANIZATION, r#""deploy-bot""#, PAGE), organization);
        assert_eq!(advanced(r#"{"slug":"acme","name":"Acme"}"#, r#""deploy-bot""#, PAGE), PAGE);
        assert_eq!(advanced("null", r#""deploy-bot""#, PAGE), PAGE);
    }

    #[test]
    fn the_host_is_that_of_the_public_page() {
        let page = "https://ghe.example:8443/apps/deploy-bot";
        assert_eq!(advanced(USER, r#""deploy-bot""#, page), "https://ghe.example:8443/settings/apps/deploy-bot/advanced");
    }

    #[test]
    fn a_missing_slug_is_that_of_the_public_page() {
        assert_eq!(advanced(USER, "null", PAGE), "https://github.com/settings/apps/deploy-bot/advanced");
    }

    #[test]
    fn what_is_no_name_gets_into_no_address() {
        assert_eq!(advanced(USER, r#""../evil""#, PAGE), PAGE);
        assert_eq!(advanced(r#"{"login":"a/b","type":"Organization"}"#, r#""deploy-bot""#, PAGE), PAGE);
        assert_eq!(advanced(USER, r#""deploy-bot""#, "javascript:alert(1)"), "");
        assert_eq!(advanced(USER, r#""deploy-bot""#, "nowhere"), "");
    }

    #[test]
    fn a_name_or_an_address_of_absurd_length_is_not_kept() {
        let long = "a".repeat(1_000);
        assert_eq!(advanced("null", r#""deploy-bot""#, &format!("https://github.com/apps/{long}")), "");
        assert_eq!(advanced(USER, r#""deploy-bot""#, &format!("https://{long}.example/apps/a")), "");
        let slug = |slug: &str| parse(format!(r#"{{"id":7,"slug":"{slug}","html_url":"{PAGE}"}}"#).as_bytes()).expect("an App").slug;
        assert_eq!([slug("deploy-bot"), slug(&long), slug("../evil")], [Some("deploy-bot".to_owned()), None, None]);
    }

    #[test]
    fn anything_else_is_no_app() {
        for body in ["", "null", "[]", "{}", r#"{"id":"7","html_url":"x"}"#] {
            assert!(matches!(parse(body.as_bytes()), Err(GitHubError::Unreadable { .. })), "{body}");
        }
    }
}
