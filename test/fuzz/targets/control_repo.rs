//! What GitHub answers to the calls that the control repository makes, and the alarm with them.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use github_app_redeliver::alarm::channels::{Channels, Told, Ways};
use github_app_redeliver::alarm::{Alarm, ChannelError, Memory};
use github_app_redeliver::config::{Config, read};
use github_app_redeliver::github::api::Api;
use github_app_redeliver::github::error::{GitHubError, LONGEST_WAIT};
use github_app_redeliver::json;
use github_app_redeliver::policy::budget::{ALARM_CALLS, Budget};
use github_app_redeliver::policy::time::Time;
use github_app_redeliver::ports::{Answer, AnswerHeaders, Call, Clock, Method, Network, NetworkError, SignError, Signer};
use github_app_redeliver::sweep::state::State;
use serde::Deserialize;
use serde_json::Value;

use super::channels::{assert_shown, gave_up};
use super::stored::NOW;
use crate::html;

const API: &str = "https://api.github.example";
const REPO: &str = "/repos/acme/control";

/// Calls that are tried, be there one left or not: each that is refused ends what it was for.
const TRIES: usize = 24;

/// Bytes of a state with nothing else in it at most: no answer can make it too large to be saved.
const LARGEST: usize = 7_000;

/// What a token is made of.
const VISIBLE: std::ops::RangeInclusive<char> = '!'..='~';

/// Two lines an answer, in the order of the calls over three sweeps: the status with `Date`, `Retry-After`, and what is left of the rate
/// limit and until when, between bars; and the body. There is no answer where the status is no number. `JWT` and `TOKEN` in a body are those
/// that this sweep's calls were made with.
pub(super) fn control_repo(bytes: &[u8]) {
    sweeps(bytes);
}

/// The calls of each sweep.
pub(crate) fn sweeps(bytes: &[u8]) -> [Vec<String>; 3] {
    let config = config();
    let answers = RefCell::new(bytes.split(|byte| *byte == b'\n'));
    let mut memory = Memory::default();
    [(0, 1), (1, 2), (2, 0)].map(|(sweep, count)| {
        let now = Time::from_millis(NOW + sweep * 7_200_000);
        let budget = Budget::new(1_000);
        let github = GitHub { budget: &budget, answers: &answers, now, tried: Cell::default(), heard: RefCell::default() };
        let api = Api::new(&github, &github, &github, API, "123456");
        let channels = Channels::new(&github, &github, &api, &budget, &config);
        let alarm = Alarm { entries: (0..count).map(|number| gave_up(&number.to_string(), "push", None)).collect(), ..Alarm::default() };
        let was_current = channels.are_current(&memory, &alarm, now, Ways::All);
        let told = pollster::block_on(channels.show(std::mem::take(&mut memory), &alarm, now, Ways::All));
        let heard = github.heard.take();
        assert!(budget.used() <= ALARM_CALLS, "{:?}", heard.calls);
        assert_eq!(was_current, budget.used() == 0, "only what is current costs no call");
        holds(&told, &heard, &alarm);
        memory = told.memory;
        heard.calls
    })
}

fn config() -> Config {
    let settings = [
        ("GITHUB_APP_ID", "123456"),
        ("TELEGRAM_BOT_TOKEN", "7000000001:AAtokenOfTheFuzzedTelegram01234567"),
        ("TELEGRAM_CHAT_ID", "-1001234567890"),
        ("CONTROL_REPO", "acme/control"),
    ];
    let given: BTreeMap<String, String> = settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
    // Signing is not the key's here.
    let config = read(&given, None).expect_err("the key is missing").right;
    assert!(config.telegram.is_some() && config.control_repo.is_some());
    config
}

fn holds(told: &Told, heard: &Heard, alarm: &Alarm) {
    if let Some(error) = &told.app_error {
        assert!(error.wait().is_none_or(|wait| wait <= LONGEST_WAIT));
        // Nothing else in it can be of a body.
        assert!(!matches!(error, GitHubError::Unreadable { reason, .. } if reason != "it is no App"), "{error:?}");
    }
    told.errors.iter().for_each(|error| assert_says_little(error, heard));
    let own = told.writes.iter().chain(&told.stood);
    assert!(own.clone().all(|write| heard.named.contains(&write.repository_id)), "{told:?} {:?}", heard.named);
    assert!(own.count() <= 2 * heard.writes, "text and state make an event each: {told:?}");
    assert_kept(told);
    let app = told.memory.app.as_ref();
    let shown = Alarm {
        slug: app.and_then(|app| app.slug.clone()),
        advanced_url: app.and_then(|app| app.advanced_url.clone()),
        issue_url: told.memory.control_repo.as_ref().and_then(|shown| shown.open_url()).map(str::to_owned),
        ..alarm.clone()
    };
    assert_shown(&shown);
}

/// Of a body only the words of a refusal may be repeated, and neither what the calls were signed in with.
fn assert_says_little(error: &ChannelError, heard: &Heard) {
    let text = format!("{error} {error:?} {}", error.said());
    let signed = heard.jwt.split('.').skip(1).find(|part| text.contains(part));
    assert!(signed.is_none(), "{text}");
    assert!(error.said().chars().count() <= 220 && !error.to_string().contains(char::is_control), "{text}");
    let (ChannelError::OutOfReach { reason, .. } | ChannelError::Refused { reason, .. }) = error else { return };
    let is_token = !heard.token.is_empty() && heard.token.chars().all(|letter| VISIBLE.contains(&letter));
    assert!(!is_token || !reason.contains(&heard.token), "{text}: {}", heard.token);
    let ours = ["the issue was deleted", "the issue was moved to another repository"];
    let is_said = |word: &str| heard.messages.iter().any(|message| message.contains(word));
    assert!(
        ours.contains(&reason.as_str()) || reason.split([' ', '…']).all(|word| word.is_empty() || is_said(word)),
        "{text}: {:?}",
        heard.messages
    );
}

/// The state takes what is to be remembered, and gives it back.
fn assert_kept(told: &Told) {
    let mut state = State { alarm: told.memory.clone(), ..State::default() };
    told.writes.iter().chain(&told.stood).for_each(|write| state.ledger.own.wrote(*write));
    let written = state.write().expect("it is plain data");
    assert!(written.is_ascii() && written.len() < LARGEST, "{} bytes: {written}", written.len());
    assert_eq!(State::read(&written).as_ref(), Ok(&state));
}

/// What a sweep was made of.
#[derive(Default)]
struct Heard {
    calls: Vec<String>,
    /// Calls that write an issue.
    writes: usize,
    jwt: String,
    /// The token for the repository, and the repositories that it was given for.
    token: String,
    named: BTreeSet<u64>,
    /// What refusals said.
    messages: Vec<String>,
}

/// Answers with what the bytes say next, and looks at what it is sent. Telegram takes what it should.
struct GitHub<'a, A> {
    budget: &'a Budget,
    answers: &'a RefCell<A>,
    now: Time,
    tried: Cell<usize>,
    heard: RefCell<Heard>,
}

impl<'b, A: Iterator<Item = &'b [u8]>> GitHub<'_, A> {
    fn answer(&self, call: &Call<'_>, path: &str) -> Result<Answer, NetworkError> {
        let mut heard = self.heard.borrow_mut();
        heard.calls.push(format!("{} {}", call.method.as_str(), path.split('?').next().unwrap_or_default()));
        let signed_in = call.headers.iter().find(|(name, _)| *name == "authorization").map_or("", |(_, value)| value);
        let signed_in = signed_in.strip_prefix("Bearer ").expect("every call is signed in");
        if path.strip_prefix(REPO).is_some_and(|rest| rest.starts_with("/issues")) {
            assert_eq!(signed_in, heard.token, "{path}");
            heard.writes += usize::from(call.method != Method::Get);
        } else {
            assert!(is_of_the_app(path) && signed_in.ends_with(&signature()), "{path}");
            signed_in.clone_into(&mut heard.jwt);
        }
        if signed_in.contains(|letter: char| letter.is_control()) {
            // The runtime refuses such a header.
            return Err(NetworkError::Failed);
        }
        let mut answers = self.answers.borrow_mut();
        let line = String::from_utf8_lossy(answers.next().unwrap_or_default()).into_owned();
        let body = answers.next().unwrap_or_default();
        let body = std::str::from_utf8(body)
            .map_or_else(|_| body.to_vec(), |text| text.replace("JWT", &heard.jwt).replace("TOKEN", &heard.token).into_bytes());
        let mut fields = line.split('|').map(|field| Some(field).filter(|field| !field.is_empty()).map(str::to_owned));
        let status = fields.next().flatten().unwrap_or_default();
        let status = status.parse().map_err(|_| if status == "large" { NetworkError::TooLarge } else { NetworkError::TimedOut })?;
        let mut header = || fields.next().flatten();
        let (date, retry_after, rate_limit_remaining, rate_limit_reset) = (header(), header(), header(), header());
        let headers = AnswerHeaders { link: None, date, retry_after, rate_limit_remaining, rate_limit_reset };
        heard.hear(status, path, &body);
        Ok(Answer { status, headers, body })
    }
}

/// Whether the App itself may ask there.
fn is_of_the_app(path: &str) -> bool {
    let installation = path.strip_prefix("/app/installations/").and_then(|rest| rest.strip_suffix("/access_tokens"));
    path == "/app" || path.strip_prefix(REPO) == Some("/installation") || installation.is_some_and(|id| id.parse::<u64>().is_ok())
}

impl Heard {
    fn hear(&mut self, status: u16, path: &str, body: &[u8]) {
        #[derive(Deserialize)]
        struct Given {
            token: String,
            #[serde(default)]
            repositories: Vec<Named>,
        }
        #[derive(Deserialize)]
        struct Named {
            id: u64,
        }
        #[derive(Deserialize)]
        struct Refusal {
            message: String,
        }
        match json::read::<Given>(body) {
            Ok(given) if status == 201 && path.ends_with("/access_tokens") => {
                self.token = given.token;
                self.named = given.repositories.iter().map(|repository| repository.id).collect();
            }
            _ => self.messages.extend(json::read(body).map(|Refusal { message }| message)),
        }
    }
}

impl<'b, A: Iterator<Item = &'b [u8]>> Network for GitHub<'_, A> {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        self.tried.set(self.tried.get() + 1);
        assert!(self.tried.get() <= TRIES, "it tries without end");
        if !self.budget.take() {
            return Err(NetworkError::NoCallLeft);
        }
        let body: Value = call.body.as_deref().map(|body| serde_json::from_str(body).expect("it is JSON")).unwrap_or_default();
        if let Some(path) = call.url.strip_prefix(API) {
            assert!(body["title"].as_str().is_none_or(|title| title.chars().count() <= 256));
            return self.answer(&call, path);
        }
        assert!(call.url.starts_with("https://api.telegram.org/bot") && call.headers.iter().all(|(name, _)| *name != "authorization"));
        assert!(body["text"].as_str().is_none_or(|text| html::parse(text).is_ok()), "{body}");
        let rows = body["reply_markup"]["inline_keyboard"].as_array().into_iter().flatten();
        let mut buttons = rows.flat_map(|row| row.as_array().into_iter().flatten());
        assert!(buttons.all(|button| html::is_address(button["url"].as_str().unwrap_or_default())), "{body}");
        Ok(Answer { status: 200, body: br#"{"ok":true,"result":{"message_id":7}}"#.to_vec(), ..Answer::default() })
    }
}

impl<A> Clock for GitHub<'_, A> {
    fn now(&self) -> Time {
        self.now
    }

    async fn sleep(&self, span: Duration) {
        panic!("nothing of it is waited for within a sweep: {span:?}");
    }
}

/// In the place of a signature. No mutation makes it by chance.
const SIGNED: &str = "signed by nobody, and longer than any word of a refusal";

fn signature() -> String {
    use base64ct::{Base64UrlUnpadded, Encoding};
    Base64UrlUnpadded::encode_string(SIGNED.as_bytes())
}

impl<A> Signer for GitHub<'_, A> {
    async fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(SIGNED.as_bytes().to_vec())
    }
}
