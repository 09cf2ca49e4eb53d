use base64ct::{Base64UrlUnpadded, Encoding};
use pollster::block_on;
use serde_json::Value;

use super::*;
use crate::alarm::fakes::AnySigner;
use crate::ports::{AnswerHeaders, NetworkError};
use crate::testing::{TestClock, http_date};

const OURS: Time = Time::from_millis(1_796_112_000_000);

/// GitHub by its own clock: it takes a JWT that is of no other time, unless it takes `none`.
struct GitHub {
    ahead_secs: i64,
    none: bool,
    has_date: bool,
    /// What it answered.
    statuses: RefCell<Vec<u16>>,
}

impl GitHub {
    fn new(ahead_secs: i64) -> Self {
        Self { ahead_secs, none: false, has_date: true, statuses: RefCell::default() }
    }

    fn that_takes_none(ahead_secs: i64) -> Self {
        Self { none: true, ..Self::new(ahead_secs) }
    }
}

impl Network for GitHub {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        let theirs = Time::from_millis(OURS.millis() + self.ahead_secs * 1000);
        let header = call.headers.iter().find(|(name, _)| *name == "authorization").map_or("", |(_, value)| *value);
        let is_good = header.split('.').nth(1).is_some_and(|claims| {
            let claims = Base64UrlUnpadded::decode_vec(claims).expect("a part of a JWT is base64url");
            let claims: Value = serde_json::from_slice(&claims).expect("the claims are JSON");
            let at = |name: &str| claims[name].as_i64().expect("a number");
            (at("iat")..at("exp")).contains(&theirs.seconds())
        });
        let status = if is_good && !self.none { 200 } else { 401 };
        self.statuses.borrow_mut().push(status);
        let date = self.has_date.then(|| http_date(theirs));
        Ok(Answer { status, headers: AnswerHeaders { date, ..AnswerHeaders::default() }, ..Answer::default() })
    }
}

/// Reads as `caller` while a call more is allowed or not, and says what was answered to each call.
fn statuses(github: &GitHub, caller: Caller<'_>, may_repeat: bool) -> Vec<u16> {
    let api = Api::new(github, &AnySigner, &TestClock(OURS), "https://ghe.example/api/v3", "1");
    block_on(api.get("reading", caller, "/app", || may_repeat)).expect("it is answered");
    github.statuses.take()
}

#[test]
fn a_jwt_that_github_refuses_for_its_time_goes_by_githubs_clock_from_then_on() {
    for (ahead_secs, expected) in [(0, vec![200]), (-59, vec![200]), (-300, vec![401, 200]), (360, vec![200]), (600, vec![401, 200])] {
        assert_eq!(statuses(&GitHub::new(ahead_secs), Caller::App, true), expected, "{ahead_secs}");
    }
    let github = GitHub::new(-300);
    let api = Api::new(&github, &AnySigner, &TestClock(OURS), "https://ghe.example/api/v3", "1");
    block_on(api.get("reading", Caller::App, "/app", || false)).expect("it is answered");
    block_on(api.write("asking", Caller::App, Method::Post, "/attempts", None)).expect("it is answered");
    assert_eq!(github.statuses.take(), [401, 200], "what may not be repeated is learned from all the same");
}

#[test]
fn a_refusal_for_anything_else_is_not_asked_for_twice() {
    for (ahead_secs, calls) in [(0, 1), (29, 1), (-29, 1), (30, 2), (-30, 2), (3_600, 2), (-3_600, 2), (3_601, 1), (-3_601, 1)] {
        assert_eq!(statuses(&GitHub::that_takes_none(ahead_secs), Caller::App, true).len(), calls, "{ahead_secs}");
    }
    let refuses = || GitHub::that_takes_none(-300);
    let github = refuses();
    let api = Api::new(&github, &AnySigner, &TestClock(OURS), "https://ghe.example/api/v3", "1");
    for calls in [2, 3] {
        block_on(api.get("reading", Caller::App, "/app", || true)).expect("it is answered");
        assert_eq!(github.statuses.borrow().len(), calls, "the time is not why, if it goes by theirs already");
    }
    assert_eq!(statuses(&refuses(), Caller::Installation("ghs_1"), true).len(), 1, "no clock is in a token");
    assert_eq!(statuses(&refuses(), Caller::App, false).len(), 1, "no call is left");
    assert_eq!(statuses(&GitHub { has_date: false, ..refuses() }, Caller::App, true).len(), 1, "nobody says the time");
}
