//! What GitHub answers: pages of deliveries, where a list goes on, refusals.

use github_app_redeliver::failure::FailureClass;
use github_app_redeliver::github::deliveries::PATH;
use github_app_redeliver::github::error::{GitHubError, LONGEST_WAIT};
use github_app_redeliver::github::link::{next, resume};
use github_app_redeliver::policy::ground::{NextLink, PageCursor};
use github_app_redeliver::policy::ledger::Ledger;
use github_app_redeliver::policy::reading::{Next, Reader};
use github_app_redeliver::policy::settings::Settings;
use github_app_redeliver::policy::time::Time;
use github_app_redeliver::ports::{Answer, AnswerHeaders};
use url::Url;

use super::lines;
use super::stored::{NOW, decides};

/// Pages, one a line, in the order in which a first sweep asks for them; the next sweep reads them once more on what that one left.
pub(super) fn page(bytes: &[u8]) {
    let settings = Settings::default();
    let mut ledger = Ledger::default();
    for sweep in 0..2 {
        let now = Time::from_millis(NOW + sweep * 900_000);
        let mut reader = Reader::new(&ledger, &settings, now, false);
        let mut pages = bytes.split(|byte| *byte == b'\n').take(16);
        let mut read = 0;
        while let Next::Page(request) = reader.next(20 - read) {
            read += 1;
            let Some(body) = pages.next() else { break };
            let link = NextLink::To(PageCursor(format!("{PATH}?cursor={read}").into()));
            if let Err(error) = reader.take(request.list, body, link, None) {
                assert!(error.to_string().len() < 300, "{error}");
                return;
            }
        }
        let reading = reader.finish();
        assert!(reading.failed(|_| true) <= reading.items.len());
        ledger = decides(ledger, reading, &settings, now);
    }
}

/// The base of the API and a `Link`: whatever is followed stays at that origin and path.
pub(super) fn link(bytes: &[u8]) {
    let mut lines = lines(bytes);
    let (base, header) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    // As the settings leave an address: what is none they do not take.
    let is_bare = |base: &Url| base.query().or(base.fragment()).or(base.password()).is_none() && base.username().is_empty();
    let base = Url::parse(&base).ok().filter(is_bare);
    let base = base.map(|base| base.as_str().trim_end_matches('/').to_owned());
    for base in base.as_deref().into_iter().chain(["https://api.github.com", "https://ghe.example/api/v3"]) {
        let Ok(Some(cursor)) = next(Some(&header), base, PATH) else { continue };
        assert_eq!(resume(&cursor, PATH), Ok(cursor.as_str()));
        let (list, followed) = (Url::parse(&format!("{base}{PATH}")), Url::parse(&format!("{base}{cursor}")));
        let (list, followed) = (list.expect("it was read before"), followed.expect("it can be followed"));
        assert_eq!((followed.origin(), followed.path()), (list.origin(), list.path()), "{cursor}");
        assert_eq!((followed.username(), followed.password()), (list.username(), list.password()), "{cursor}");
        assert!(!cursor.contains(|letter: char| letter.is_control()), "{cursor:?}");
        let kept = next(Some(&format!("<{base}{cursor}>; rel=\"next\"")), base, PATH);
        assert_eq!(kept, Ok(Some(cursor)), "what is kept leads to the same page");
    }
}

/// A status, the headers and the body of a refusal.
pub(super) fn refusal(bytes: &[u8]) {
    let mut lines = lines(bytes);
    let mut header = || lines.next().filter(|line| !line.is_empty());
    let status = header().and_then(|line| line.trim().parse().ok()).unwrap_or(403);
    let (retry_after, rate_limit_remaining, rate_limit_reset, date) = (header(), header(), header(), header());
    let headers = AnswerHeaders { link: None, date, retry_after, rate_limit_remaining, rate_limit_reset };
    let answer = Answer { status, headers, body: bytes.to_vec() };
    let error = GitHubError::of("asking", &answer);
    assert!(error.wait().is_none_or(|wait| wait <= LONGEST_WAIT));
    assert_eq!((error.status(), error.to_string()), (Some(status), format!("GitHub answered {status} to asking")));
    assert_eq!(error.is_transient(), (500..600).contains(&status));
    let limited = error.class() == FailureClass::RateLimited;
    assert!(!limited || matches!(status, 403 | 429), "{status}");
    assert!(limited || status != 429);
}
