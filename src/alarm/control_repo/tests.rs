mod people;

use pollster::block_on;
use serde_json::json;

use super::*;
use crate::alarm::fakes::issues::{APP_ID, BOT, FakeIssues};
use crate::alarm::fakes::{AnySigner, Fault, StillClock, answer};
use crate::alarm::sample::{alarm, gave_up, time};
use crate::ports::{Answer, Call, Method, NetworkError};

/// A control repository, and what the channel remembers of it.
struct Repository {
    server: FakeIssues,
    name: &'static str,
    shown: Option<Shown>,
    contact: Contact,
    writes: Vec<Write>,
    stood: Vec<Write>,
}

impl Repository {
    fn new() -> Self {
        let (writes, stood) = (Vec::new(), Vec::new());
        Self { server: FakeIssues::default(), name: "acme/control", shown: None, contact: Contact::None, writes, stood }
    }

    /// Shows these entries so many minutes after the first, and says how many calls that took. What is remembered goes through
    /// its stored form.
    fn show(&mut self, minute: u64, guids: &[&str]) -> Result<usize, ChannelError> {
        let alarm = alarm(guids.iter().map(|guid| gave_up(guid, 0)).collect());
        let api = Api::new(&self.server, &AnySigner, &StillClock, "https://api.github.example", "123456");
        let channel = ControlRepo::new(&api, self.name);
        let was_current = channel.is_current(self.shown.as_ref(), &alarm, time(minute));
        let Outcome { shown, contact, mut errors } = block_on(channel.show(self.shown.take(), &alarm, time(minute)));
        self.contact = contact;
        self.writes.extend(channel.take_writes());
        self.stood.extend(channel.take_stood());
        let result = errors.pop().map_or(Ok(()), Err);
        if result.is_ok() {
            assert!(channel.is_current(shown.as_ref(), &alarm, time(minute)), "what was shown is current");
        }
        let calls = self.server.line.new_calls();
        assert_eq!(was_current, calls == 0, "only what is current costs no call");
        let json = serde_json::to_string(&shown).expect("it is stored");
        self.shown = serde_json::from_str(&json).expect("it is read back");
        assert_eq!(self.shown, shown);
        result.map(|()| calls)
    }

    /// Number and whether it is open, of every issue.
    fn issues(&self) -> Vec<(u64, bool)> {
        self.server.issues.borrow().iter().map(|issue| (issue.number, issue.is_open)).collect()
    }
}

const ONE: &str = "deploy-bot: 1 webhook event not delivered (since 2026-11-30 14:05 UTC)";
const TWO: &str = "deploy-bot: 2 webhook events not delivered (since 2026-11-30 14:05 UTC)";

#[test]
fn the_issue_is_created_edited_and_closed() {
    let mut repo = Repository::new();
    assert_eq!(repo.show(0, &[]), Ok(3), "it is looked for once");
    assert_eq!(repo.show(0, &[]), Ok(0));
    assert_eq!(repo.show(0, &["a"]), Ok(4));
    assert_eq!(repo.server.open_titles(), [ONE]);
    assert_eq!(repo.show(15, &["a"]), Ok(0));
    assert_eq!(repo.show(500, &["a", "b"]), Ok(3));
    assert_eq!(repo.server.open_titles(), [TWO]);
    assert_eq!(repo.show(515, &[]), Ok(3));
    assert_eq!(repo.issues(), [(1, false)]);
    assert_eq!(repo.show(530, &[]), Ok(0));
    assert_eq!(repo.show(1000, &["c"]), Ok(4));
    assert_eq!(repo.issues(), [(1, false), (2, true)]);
    assert!(repo.server.issues.borrow()[1].body.ends_with(&format!("\n{}\n", text::marker(APP_ID))));
}

#[test]
fn an_entry_that_left_less_than_an_hour_ago_opens_the_issue_again() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.show(15, &[]).expect("shown");
    assert_eq!(repo.show(30, &["a"]), Ok(3));
    assert_eq!((repo.issues(), repo.server.open_titles()), (vec![(1, true)], vec![ONE.to_owned()]));
}

#[test]
fn a_create_whose_answer_was_lost_leaves_one_open_issue() {
    let mut repo = Repository::new();
    repo.server.line.fail("POST /repos", Fault::AnswerLost);
    repo.show(0, &["a"]).expect_err("no answer");
    repo.show(15, &["a", "b"]).expect("it is found");
    assert_eq!((repo.issues(), repo.server.open_titles()), (vec![(1, true)], vec![TWO.to_owned()]));
}

#[test]
fn only_an_open_issue_by_the_app_with_the_marker_is_ours() {
    let mut repo = Repository::new();
    let marker = text::marker(APP_ID);
    repo.server.person_opens("mallory", &marker, false);
    repo.server.person_opens(BOT, "another use of the App", false);
    repo.server.person_opens(BOT, &marker, true);
    repo.server.person_opens(BOT, &text::marker(APP_ID * 10 + 1), false);
    repo.server.person_opens(BOT, &format!("Hello {marker}"), false);
    repo.server.person_opens(BOT, &marker, false);
    repo.show(0, &["a"]).expect("shown");
    let changed: Vec<u64> = repo.server.issues.borrow().iter().filter(|issue| issue.title == ONE).map(|issue| issue.number).collect();
    assert_eq!(changed, [5], "the oldest of ours goes on");
}

#[test]
fn a_failure_at_any_step_waits_for_the_next_sweep() {
    for step in ["GET /repos/acme/control/installation", "POST /app", "GET /repos/acme/control/issues", "POST /repos"] {
        for fault in [Fault::NoAnswer, Fault::Status(403), Fault::Status(410), Fault::Status(500), Fault::AnswerLost] {
            let mut repo = Repository::new();
            repo.server.line.fail(step, fault);
            if step.starts_with("GET") && !matches!(fault, Fault::Status(403 | 410)) {
                // What may pass is read once more at once.
                repo.server.line.fail(step, fault);
            }
            repo.show(0, &["a"]).expect_err("it failed");
            assert_eq!(repo.shown, None);
            repo.show(15, &["a"]).expect("shown");
            assert_eq!(repo.server.open_titles(), [ONE], "{step} {fault:?}");
        }
    }
}

/// Refuses this method at the issues, and repeats what the call was signed in with.
struct Repeats(Method, FakeIssues);

impl Network for Repeats {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        if call.method != self.0 || !call.url.contains("/issues") {
            return self.1.call(call).await;
        }
        let signed_in = call.headers.iter().find(|(name, _)| *name == "authorization").map_or("", |(_, value)| *value);
        Ok(answer(403, &json!({ "message": format!("refused: {signed_in}") })))
    }
}

#[test]
fn a_refusal_that_repeats_the_token_is_told_without_it_however_short_it_is() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    for (method, shown) in [(Method::Get, None), (Method::Post, None), (Method::Patch, repo.shown)] {
        let server = Repeats(method, FakeIssues::default());
        let api = Api::new(&server, &AnySigner, &StillClock, "https://api.github.example", "123456");
        let channel = ControlRepo::new(&api, "acme/control");
        let outcome = block_on(channel.show(shown, &alarm(vec![gave_up("b", 0)]), time(15)));
        let said: Vec<String> = outcome.errors.iter().map(ChannelError::said).collect();
        assert_eq!(said, ["refused: Bearer … (status 403)"], "{method:?}");
    }
}

#[test]
fn an_edit_that_failed_is_made_by_the_next_sweep() {
    for guids in [&["a", "b"][..], &[]] {
        let mut repo = Repository::new();
        repo.show(0, &["a"]).expect("shown");
        repo.server.line.fail("PATCH", Fault::Status(503));
        repo.show(15, guids).expect_err("it failed");
        assert_eq!(repo.server.open_titles(), [ONE]);
        repo.show(30, guids).expect("shown");
        assert_eq!(repo.server.open_titles().len(), guids.len().min(1));
    }
}

#[test]
fn another_repository_in_the_settings_closes_the_old_issue() {
    let mut repo = Repository::new();
    repo.show(0, &["a"]).expect("shown");
    repo.name = "acme/other";
    assert_eq!(repo.show(15, &["a"]), Ok(7));
    assert_eq!(repo.issues(), [(1, false), (2, true)]);
    assert_eq!(repo.server.issues.borrow()[1].repo, "acme/other");
    repo.name = "acme/elsewhere";
    let error = repo.show(30, &["a"]).expect_err("not installed there");
    let expected = "failed to find the App's installation in the control repository: status 404: Not Found";
    assert_eq!(error.to_string(), expected);
    repo.show(45, &[]).expect("closed where it stands");
    assert_eq!(repo.issues(), [(1, false), (2, false)]);
}

#[test]
fn the_stored_form_is_pinned() {
    let mut repo = Repository::new();
    repo.show(0, &["a", "b"]).expect("shown");
    repo.show(15, &["a"]).expect("shown");
    let json = serde_json::to_string(&repo.shown).expect("it is stored");
    expect_test::expect![[r#"{"repo":"acme/control","issue":{"number":1,"url":"https://github.com/acme/control/issues/1"},"last":{"text":"e97338d1ac537729","keys":["98685858b28d5377"],"left":[["98685958b28d552a",1796048400000]],"gone":{"passed":0,"all":1},"since":1796047500000}}"#]].assert_eq(&json);
}
