//! What the alarm's channels answer, and what they are given to show of values from outside.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use github_app_redeliver::alarm::entry::{Channel, Entry, EntryKind, Undelivered, with_lost_channel};
use github_app_redeliver::alarm::telegram::{Telegram, TelegramSettings};
use github_app_redeliver::alarm::text::{issue, telegram as text};
use github_app_redeliver::alarm::{Alarm, ChannelError};
use github_app_redeliver::policy::delivery::{DeliveryId, Outcome, Position};
use github_app_redeliver::policy::event::Attempt;
use github_app_redeliver::policy::evidence::Counting;
use github_app_redeliver::policy::time::Time;
use github_app_redeliver::ports::{Answer, Call, Clock, Network, NetworkError};
use serde_json::Value;

use super::lines;
use super::stored::NOW;
use crate::html;

/// In the place of a secret: no mutation makes it by chance.
const TOKEN: &str = "7000000001:AAtokenOfTheFuzzedTelegram0123";

/// Calls that one change of the alarm may take.
const CALLS: usize = 12;

/// Answers with the same bytes each time, and looks at what it is sent.
struct Said {
    status: u16,
    body: Vec<u8>,
    calls: Cell<usize>,
    slept: RefCell<Duration>,
}

impl Network for Said {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        self.calls.set(self.calls.get() + 1);
        assert!(self.calls.get() <= CALLS, "it asks without end");
        assert!(call.url.contains(TOKEN));
        let body: Value = serde_json::from_str(call.body.as_deref().unwrap_or_default()).expect("a call of the Bot API is JSON");
        assert!(body["text"].is_null() || body["parse_mode"].is_null() || html::parse(body["text"].as_str().unwrap_or_default()).is_ok());
        Ok(Answer { status: self.status, body: self.body.clone(), ..Answer::default() })
    }
}

impl Clock for Said {
    fn now(&self) -> Time {
        Time::from_millis(NOW)
    }

    async fn sleep(&self, span: Duration) {
        *self.slept.borrow_mut() += span;
    }
}

/// A status, and what Telegram says with it, over three sweeps. `TOKEN` in it is the bot's token.
pub(super) fn telegram(bytes: &[u8]) {
    let mut lines = lines(bytes);
    let status = lines.next().and_then(|line| line.trim().parse().ok()).unwrap_or(200);
    let body = lines.next().unwrap_or_default().replace("TOKEN", TOKEN).into_bytes();
    let mut shown = None;
    for (sweep, count) in [(0, 1), (1, 2), (2, 0)] {
        let said = Said { status, body: body.clone(), calls: Cell::default(), slept: RefCell::default() };
        let settings = TelegramSettings {
            api_url: "https://api.telegram.org".to_owned(),
            bot_token: TOKEN.to_owned(),
            chat_id: "-1001234567890".to_owned(),
            thread_id: Some(7),
        };
        let channel = Telegram::new(&said, &said, settings);
        let alarm = Alarm { entries: (0..count).map(|number| gave_up(&number.to_string(), "push", None)).collect(), ..Alarm::default() };
        let now = Time::from_millis(NOW + sweep * 7_200_000);
        let outcome = pollster::block_on(channel.show(shown, &alarm, now));
        let probed = pollster::block_on(channel.probe(outcome.shown.as_ref()));
        for error in outcome.errors.iter().chain(probed.as_ref().err()) {
            assert_says_little(error);
        }
        assert!(said.slept.borrow().as_secs() <= 9, "longer waits are left to the next sweep");
        if let Some(error) = outcome.errors.last() {
            let entries = with_lost_channel(Vec::new(), Channel::Telegram, now, &error.said());
            assert_shown(&Alarm { entries, ..Alarm::default() });
        }
        shown = outcome.shown;
    }
}

fn assert_says_little(error: &ChannelError) {
    let said = format!("{error} {} {error:?}", error.said());
    let (number, half) = TOKEN.split_once(':').unwrap_or_default();
    assert!(!said.contains(half), "{said}");
    assert!(error.said().chars().count() <= 220 && !error.to_string().contains('\n'), "{number}: {said}");
}

pub(super) fn gave_up(guid: &str, event: &str, action: Option<&str>) -> Entry {
    let position = Position { at: Time::from_millis(NOW), id: DeliveryId(1) };
    let attempt = Attempt { position, status_code: 500, outcome: Outcome::Failed, redelivery: false, counting: Counting::Counts };
    let event = Undelivered {
        guid: guid.into(),
        event: event.into(),
        action: action.map(Into::into),
        repository_id: Some(1),
        first: position,
        attempts: vec![attempt; 3],
        lost_asks: 0,
    };
    Entry { key: format!("gave-up:{guid}"), kind: EntryKind::GaveUp(event) }
}

/// The App's name and addresses, then three lines an event: guid, event name, action.
pub(super) fn alarm(bytes: &[u8]) {
    let mut lines = lines(bytes);
    let mut line = || lines.next().unwrap_or_default();
    let (slug, advanced_url, issue_url, said) = (line(), line(), line(), line());
    let count = bytes.split(|byte| *byte == b'\n').count().min(3 * 40) / 3;
    let entries = (0..count).map(|_| gave_up(&line(), &line(), Some(&line()))).collect();
    let entries = with_lost_channel(entries, Channel::ControlRepo, Time::from_millis(NOW), &said);
    let some = |text: String| Some(text).filter(|text| !text.is_empty());
    let alarm = Alarm { entries, slug: some(slug), advanced_url: some(advanced_url), issue_url: some(issue_url), ..Alarm::default() };
    assert_shown(&alarm);
    let pointer = text::pointer(alarm.issue_url.as_deref());
    html::parse(&pointer.html).expect("Telegram takes the pointer");
}

/// Both channels take what is written of `alarm`, and nothing from outside is more than text in it.
pub(super) fn assert_shown(alarm: &Alarm) {
    let message = text::message(alarm);
    let parsed = html::parse(&message.html).unwrap_or_else(|error| panic!("Telegram refuses {error}: {}", message.html));
    assert!(parsed.units() < 4_096 && message.plain.encode_utf16().count() < 4_096);
    assert!(parsed.marks.iter().all(|(tag, address, _)| *tag != "a" || address.as_deref().is_some_and(|url| url.starts_with("http"))));
    assert!(message.buttons.iter().all(|button| html::is_address(&button.url)), "{:?}", message.buttons);
    let issue = issue::issue(alarm);
    assert!(issue.title.chars().count() <= 256 && !issue.title.contains('\n'), "{}", issue.title);
    assert!(issue.body.len() <= 65_536 - 100);
    let outside_of_code: String = issue.body.split('`').step_by(2).collect();
    // Without where links lead to: no address there ends before its parenthesis does.
    let read = outside_of_code.split("](").map(|text| text.split_once(')').map_or(text, |(_, text)| text));
    let read: String = std::iter::once(outside_of_code.split("](").next().unwrap_or_default()).chain(read.skip(1)).collect();
    assert!(!outside_of_code.contains("<!--") && !read.contains('@'), "{}", issue.body);
    assert_eq!(issue.body.matches('`').count() % 2, 0, "no code span is left open: {}", issue.body);
}
