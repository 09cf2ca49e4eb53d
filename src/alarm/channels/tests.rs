//! Both channels together: which is told of the loss of the other, in what order, and with how many calls.

mod random;

use std::cell::{Cell, RefCell};

use pollster::block_on;

use super::*;
use crate::alarm::entry::Entry;
use crate::alarm::fakes::issues::{FakeIssues, Shut};
use crate::alarm::fakes::telegram::{FakeTelegram, TOKEN};
use crate::alarm::fakes::{AnySigner, Fault, StillClock};
use crate::alarm::sample::{gave_up, time};
use crate::alarm::telegram::TelegramSettings;
use crate::ports::{Answer, Call, NetworkError};

/// Both servers, and what the alarm remembers of them.
#[derive(Default)]
struct Outside {
    telegram: FakeTelegram,
    issues: FakeIssues,
    memory: Memory,
    without_telegram: bool,
    without_control_repo: bool,
    /// What goes wrong with the calls of the next sweep, by their number.
    faults: RefCell<Vec<(usize, Fault)>>,
    /// Method and last part of the path, of the last sweep.
    calls: RefCell<Vec<String>>,
    /// Messages of which nobody knows, since the answer was lost.
    orphans: RefCell<Vec<i64>>,
    /// Whether the answer to a write of an issue was lost.
    unsure: Cell<bool>,
}

/// The way to both, counted.
struct Wire<'a> {
    outside: &'a Outside,
    budget: &'a Budget,
}

impl Network for Wire<'_> {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        if !self.budget.take() {
            return Err(NetworkError::NoCallLeft);
        }
        let Outside { telegram, issues, faults, calls, orphans, unsure, .. } = self.outside;
        let name = call.url.rsplit('/').next().unwrap_or_default();
        let line = format!("{} {}", call.method.as_str(), name.split('?').next().unwrap_or_default());
        let is_telegram = call.url.starts_with("https://telegram.example");
        let number = calls.borrow().len();
        calls.borrow_mut().push(line.clone());
        let fault = faults.borrow().iter().find(|(at, _)| *at == number).map(|(_, fault)| *fault);
        let refused = |status: u16| Answer {
            status,
            body: b"{\"ok\":false,\"message\":\"no\",\"description\":\"no\"}".to_vec(),
            ..Answer::default()
        };
        match fault {
            Some(Fault::NoAnswer) => return Err(NetworkError::Failed),
            Some(Fault::Status(status)) => return Ok(refused(status)),
            Some(Fault::Flood(_)) => return Ok(refused(429)),
            Some(Fault::AnswerLost) | None => {}
        }
        let answer = if is_telegram { telegram.call(call).await } else { issues.call(call).await };
        if fault == Some(Fault::AnswerLost) {
            if line.ends_with("sendMessage") {
                orphans.borrow_mut().extend(telegram.messages.borrow().last().map(|message| message.id));
            }
            unsure.set(unsure.get() || !is_telegram && !line.starts_with("GET"));
            return Err(NetworkError::TimedOut);
        }
        answer
    }
}

impl Outside {
    fn new() -> Self {
        Self::default()
    }

    /// One sweep's alarm. What is remembered goes through its stored form.
    fn sweep(&mut self, minute: u64, entries: &[Entry]) -> Told {
        self.calls.borrow_mut().clear();
        self.issues.now.set(time(minute));
        let budget = Budget::new(1_000);
        let wire = Wire { outside: self, budget: &budget };
        let api = Api::new(&wire, &AnySigner, &StillClock, "https://api.github.example", "123456");
        let settings = TelegramSettings {
            api_url: "https://telegram.example".to_owned(),
            bot_token: TOKEN.to_owned(),
            chat_id: "-1001".to_owned(),
            thread_id: None,
        };
        let channels = Channels {
            api: &api,
            budget: &budget,
            telegram: (!self.without_telegram).then(|| Telegram::new(&wire, &StillClock, settings)),
            control_repo: (!self.without_control_repo).then(|| ControlRepo::new(&api, "acme/control")),
            used: Cell::new(0),
        };
        let alarm = Alarm { entries: entries.to_vec(), ..Alarm::default() };
        let was_current = channels.are_current(&self.memory, &alarm, time(minute), Ways::All);
        let told = block_on(channels.show(self.memory.clone(), &alarm, time(minute), Ways::All));
        let calls = self.calls.borrow().len();
        assert!(calls <= 12, "{calls} calls: {:?}", self.calls.borrow());
        assert_eq!(was_current, calls == 0, "only what is current costs no call");
        if was_current {
            assert_eq!(told.memory, self.memory, "and it changes nothing");
        }
        let json = serde_json::to_string(&told.memory).expect("it is stored");
        self.memory = serde_json::from_str(&json).expect("it is read back");
        assert_eq!(self.memory, told.memory);
        self.faults.borrow_mut().clear();
        told
    }

    fn show(&mut self, minute: u64, guids: &[&str]) -> Told {
        let entries: Vec<Entry> = guids.iter().map(|guid| gave_up(guid, 0)).collect();
        self.sweep(minute, &entries)
    }

    fn calls(&self) -> usize {
        self.calls.borrow().len()
    }

    /// First lines of the newest message and of the open issues.
    fn lines(&self) -> (String, Vec<String>) {
        (self.telegram.first_lines().pop().unwrap_or_default(), self.issues.open_titles())
    }

    fn are_all_lost(&self, told: &Told) -> bool {
        let lost = [&told.memory.telegram_reach, &told.memory.control_repo_reach].map(|reach| reach.lost().is_some());
        (self.without_telegram || lost[0]) && (self.without_control_repo || lost[1])
    }
}

const KICKED: Option<(u16, &str)> = Some((403, "Forbidden: bot was kicked from the group chat"));
const ONE: &str = "deploy-bot: 1 webhook event not delivered (since 2026-11-30 14:05 UTC)";

#[test]
fn the_calls_of_each_change() {
    let mut outside = Outside::new();
    let mut count = |minute, guids: &[&str]| {
        outside.show(minute, guids);
        outside.calls()
    };
    assert_eq!(count(0, &[]), 3, "a first sweep looks for an issue");
    assert_eq!(count(0, &["a"]), 6, "the App, four for the issue, one message");
    assert_eq!(count(15, &["a"]), 0);
    assert_eq!(count(30, &["a", "b"]), 4);
    assert_eq!(count(100, &["a", "b", "c"]), 5, "a new message and a pointer");
    assert_eq!(count(115, &[]), 4);
    assert_eq!(count(2000, &["d"]), 6, "the App is read again once a day");
}

#[test]
fn the_message_has_a_button_to_the_issue_from_the_start() {
    let mut outside = Outside::new();
    outside.show(0, &["a"]);
    let buttons = outside.telegram.messages.borrow()[0].buttons.clone();
    assert_eq!(buttons.last().map(|button| button["url"].clone()), Some("https://github.com/acme/control/issues/1".into()));
    assert_eq!(
        *outside.calls.borrow(),
        ["GET app", "GET installation", "POST access_tokens", "GET issues", "POST issues", "POST sendMessage"]
    );
}

#[test]
fn a_bot_that_was_kicked_is_told_of_in_the_issue_at_once_until_it_is_back() {
    let mut outside = Outside::new();
    outside.show(0, &["a"]);
    outside.telegram.shut.set(KICKED);
    let told = outside.show(15, &["a", "b"]);
    assert!(!outside.are_all_lost(&told));
    let lost = "deploy-bot: 2 webhook events not delivered, Telegram cannot be reached (since 2026-11-30 14:05 UTC)";
    assert_eq!(outside.issues.open_titles(), [lost]);
    assert!(outside.issues.issues.borrow()[0].body.contains("`Forbidden: bot was kicked from the group chat (status 403)`"));
    assert_eq!(outside.calls.borrow().iter().filter(|call| call.contains("edit")).count(), 1, "it is not tried again within the sweep");
    // Each sweep tries once more; the issue is left alone.
    outside.show(30, &["a", "b"]);
    assert_eq!(*outside.calls.borrow(), ["POST editMessageText"]);
    outside.telegram.shut.set(None);
    outside.show(45, &["a", "b"]);
    let two = ONE.replace("1 webhook event", "2 webhook events");
    assert_eq!(outside.lines(), (format!("🔴 {two}"), vec![two]));
    outside.show(60, &["a", "b"]);
    assert_eq!(outside.calls(), 0);
}

#[test]
fn a_lost_channel_with_nothing_to_show_is_probed_until_it_is_back() {
    let mut outside = Outside::new();
    outside.show(0, &[]);
    outside.telegram.shut.set(KICKED);
    outside.show(15, &["a"]);
    outside.show(30, &[]);
    assert_eq!(outside.issues.open_titles(), ["deploy-bot: Telegram cannot be reached (since 2026-11-30 14:20 UTC)"]);
    outside.show(45, &[]);
    assert_eq!(*outside.calls.borrow(), ["POST sendChatAction"]);
    outside.telegram.shut.set(None);
    outside.show(60, &[]);
    assert_eq!((outside.issues.open_titles(), outside.telegram.texts()), (vec![], vec![]));
    outside.show(75, &[]);
    assert_eq!(outside.calls(), 0);
}

#[test]
fn the_third_sweep_in_a_row_that_cannot_reach_a_channel_tells_the_other() {
    let mut outside = Outside::new();
    outside.show(0, &["a"]);
    for (minute, expected) in [(15, false), (30, false), (45, true), (60, true)] {
        outside.telegram.line.fail("editMessageText", Fault::NoAnswer);
        outside.show(minute, &["a", "b"]);
        assert_eq!(outside.issues.open_titles()[0].contains("Telegram cannot be reached"), expected, "{minute}");
    }
    outside.show(75, &["a", "b"]);
    assert!(!outside.issues.open_titles()[0].contains("Telegram"));
}

#[test]
fn a_control_repository_that_is_lost_is_told_of_in_telegram() {
    for shut in [Shut::NotInstalled, Shut::Moved, Shut::NoPermission, Shut::NoIssues] {
        let mut outside = Outside::new();
        outside.issues.shut.set(Some(shut));
        outside.show(0, &[]);
        let first = "🔴 deploy-bot: the control repository cannot be reached (since 2026-11-30 14:05 UTC)";
        // The App is read when there is something to show: the entry came up after that.
        assert!(outside.lines().0.to_lowercase().ends_with(&first["🔴 deploy-bot: ".len()..].to_lowercase()), "{:?}", outside.lines());
        outside.show(15, &["a"]);
        assert!(outside.lines().0.contains("1 webhook event not delivered, the control repository cannot be reached"));
        outside.issues.shut.set(None);
        outside.show(30, &["a"]);
        assert_eq!(outside.lines(), (format!("🔴 {ONE}"), vec![ONE.to_owned()]), "{shut:?}");
        outside.show(45, &["a"]);
        assert_eq!(outside.calls(), 0);
    }
}

#[test]
fn when_no_channel_is_left_that_is_known() {
    for (without_telegram, without_control_repo) in [(false, false), (true, false), (false, true)] {
        let mut outside = Outside { without_telegram, without_control_repo, ..Outside::new() };
        outside.telegram.shut.set(KICKED);
        outside.issues.shut.set(Some(Shut::NotInstalled));
        let told = outside.show(0, &["a"]);
        assert!(outside.are_all_lost(&told));
        let told = outside.show(15, &[]);
        assert!(outside.are_all_lost(&told), "and it stays so while there is nothing to show");
        outside.telegram.shut.set(None);
        outside.issues.shut.set(None);
        let told = outside.show(30, &["a"]);
        assert!(!outside.are_all_lost(&told));
        assert_eq!(outside.telegram.texts().len(), usize::from(!without_telegram));
        assert_eq!(outside.issues.open_titles().len(), usize::from(!without_control_repo));
        assert!(!outside.lines().0.contains("cannot be reached"));
    }
}

#[test]
fn a_channel_that_left_the_settings_is_no_entry_any_more() {
    let mut outside = Outside::new();
    outside.telegram.shut.set(KICKED);
    outside.show(0, &["a"]);
    assert!(outside.issues.open_titles()[0].contains("Telegram"));
    outside.without_telegram = true;
    outside.show(15, &["a"]);
    assert_eq!(outside.issues.open_titles(), [ONE]);
}

#[test]
fn the_app_is_named_once_it_can_be_read() {
    let mut outside = Outside::new();
    outside.faults.replace(vec![(0, Fault::Status(500)), (1, Fault::Status(500))]);
    let told = outside.show(0, &["a"]);
    assert!(told.app_error.is_some());
    assert_eq!(outside.issues.open_titles(), ["1 webhook event not delivered (since 2026-11-30 14:05 UTC)"]);
    outside.show(15, &["a"]);
    assert_eq!(outside.calls(), 0, "that alone is no change");
    outside.show(30, &["b"]);
    assert_eq!(outside.issues.open_titles(), [ONE]);
}

#[test]
fn the_worst_change_keeps_to_twelve_calls_and_the_next_sweep_goes_on() {
    let mut outside = Outside::new();
    outside.show(0, &["a"]);
    outside.issues.issues.borrow_mut()[0].gone = Some(410);
    for _ in 0..9 {
        outside.issues.person_opens(crate::alarm::fakes::issues::BOT, &crate::alarm::text::issue::marker(123_456), false);
    }
    outside.telegram.takes_no.set(Some("markup"));
    outside.telegram.messages.borrow_mut().clear();
    outside.show(2000, &["a", "b"]);
    assert_eq!(outside.calls(), 12);
    assert_eq!(outside.telegram.first_lines().len(), 1, "there is room for the message");
    outside.show(2015, &["a", "b"]);
    outside.show(2030, &["a", "b"]);
    assert_eq!(outside.calls(), 0);
    assert_eq!(outside.issues.open_titles().len(), 1);
}
