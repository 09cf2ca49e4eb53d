mod refused;

use std::cell::Cell;

use pollster::block_on;
use serde_json::json;

use super::*;
use crate::alarm::fakes::Fault;
use crate::alarm::fakes::telegram::{FakeTelegram, TOKEN};
use crate::alarm::sample::{alarm, gave_up, time};

fn settings(chat_id: &str) -> TelegramSettings {
    TelegramSettings {
        api_url: "https://telegram.example/".to_owned(),
        bot_token: TOKEN.to_owned(),
        chat_id: chat_id.to_owned(),
        thread_id: None,
    }
}

/// A chat, and what the channel remembers of it.
struct Chat {
    server: FakeTelegram,
    settings: TelegramSettings,
    shown: Option<Shown>,
    contact: Contact,
    slept: Cell<u64>,
}

/// Counts the seconds that it was asked to wait.
struct SleepClock<'a> {
    slept: &'a Cell<u64>,
}

impl Clock for SleepClock<'_> {
    fn now(&self) -> Time {
        time(0)
    }

    async fn sleep(&self, span: Duration) {
        self.slept.set(self.slept.get() + span.as_secs());
    }
}

impl Chat {
    fn new() -> Self {
        Self {
            server: FakeTelegram::default(),
            settings: settings("-1001234567890"),
            shown: None,
            contact: Contact::None,
            slept: Cell::new(0),
        }
    }

    /// Shows these entries so many minutes after the first. What is remembered goes through its stored form.
    fn show(&mut self, minute: u64, guids: &[&str]) -> Result<(), ChannelError> {
        self.show_alarm(minute, &alarm(guids.iter().map(|guid| gave_up(guid, 0)).collect()))
    }

    fn show_alarm(&mut self, minute: u64, alarm: &Alarm) -> Result<(), ChannelError> {
        let clock = SleepClock { slept: &self.slept };
        let channel = Telegram::new(&self.server, &clock, self.settings.clone());
        let was_current = channel.is_current(self.shown.as_ref(), alarm, time(minute));
        let Outcome { shown, contact, mut errors } = block_on(channel.show(self.shown.take(), alarm, time(minute)));
        self.contact = contact;
        let result = errors.pop().map_or(Ok(()), Err);
        if result.is_ok() {
            assert!(channel.is_current(shown.as_ref(), alarm, time(minute)), "what was shown is current");
        }
        assert_eq!(was_current, self.server.line.new_calls() == 0, "only what is current costs no call");
        let json = serde_json::to_string(&shown).expect("it is stored");
        self.shown = serde_json::from_str(&json).expect("it is read back");
        assert_eq!(self.shown, shown);
        result
    }

    fn sounds(&self) -> usize {
        self.server.sounds.get()
    }
}

const ONE: &str = "🔴 deploy-bot: 1 webhook event not delivered (since 2026-11-30 14:05 UTC)";
const TWO: &str = "🔴 deploy-bot: 2 webhook events not delivered (since 2026-11-30 14:05 UTC)";

#[test]
fn a_new_alarm_is_a_new_message_with_a_sound_and_a_button() {
    let mut chat = Chat::new();
    chat.settings.thread_id = Some(7);
    chat.server.topics.replace(vec![7]);
    chat.show(0, &["a"]).expect("shown");
    assert_eq!(chat.server.first_lines(), [ONE]);
    assert_eq!(chat.sounds(), 1);
    let message = chat.server.messages.borrow()[0].clone();
    assert_eq!((message.chat, message.thread), (json!(-1_001_234_567_890_i64), Some(7)));
    assert_eq!(message.buttons.iter().map(|button| button["url"].clone()).collect::<Vec<_>>(), [json!(crate::alarm::sample::ADVANCED)]);
}

#[test]
fn nothing_open_and_nothing_changed_cost_no_call() {
    let mut chat = Chat::new();
    chat.show(0, &[]).expect("nothing to show");
    assert_eq!(chat.server.line.calls.borrow().len(), 0);
    chat.show(0, &["a"]).expect("shown");
    for minute in [15, 90, 3000] {
        chat.show(minute, &["a"]).expect("nothing to show");
    }
    assert_eq!(*chat.server.line.calls.borrow(), ["sendMessage"]);
}

#[test]
fn a_change_within_the_hour_and_an_entry_that_leaves_are_edits() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.show(60, &["a", "b"]).expect("shown");
    assert_eq!(chat.server.first_lines(), [TWO]);
    chat.show(500, &["b"]).expect("shown");
    assert_eq!(chat.server.first_lines(), [ONE]);
    assert_eq!(chat.sounds(), 1);
}

#[test]
fn an_entry_added_after_the_hour_is_a_new_message_and_the_old_one_points_to_it() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.show(61, &["a", "b"]).expect("shown");
    assert_eq!(chat.server.first_lines(), ["⬇️ This alarm goes on in a newer message.", TWO]);
    assert!(chat.server.messages.borrow()[0].html.contains("href=\"https://t.me/c/1234567890/2\""));
    assert_eq!(chat.sounds(), 2);
    chat.show(80, &["a", "b", "c"]).expect("shown");
    assert_eq!(chat.sounds(), 2, "the newer message is young again");
}

#[test]
fn an_entry_that_left_less_than_an_hour_ago_comes_back_without_a_sound() {
    let mut chat = Chat::new();
    chat.show(0, &["a", "b"]).expect("shown");
    chat.show(120, &["a"]).expect("shown");
    chat.show(179, &["a", "b"]).expect("shown");
    assert_eq!((chat.server.first_lines(), chat.sounds()), (vec![TWO.to_owned()], 1));
    chat.show(200, &["a"]).expect("shown");
    chat.show(260, &["a", "b"]).expect("shown");
    assert_eq!(chat.sounds(), 2, "an hour is over");
}

#[test]
fn a_change_in_between_does_not_let_an_entry_that_left_be_forgotten() {
    let mut chat = Chat::new();
    chat.show(0, &["a", "b", "c"]).expect("shown");
    chat.show(120, &["a", "c"]).expect("shown");
    chat.show(135, &["a"]).expect("shown");
    chat.show(150, &["a", "b"]).expect("shown");
    assert_eq!((chat.server.first_lines(), chat.sounds()), (vec![TWO.to_owned()], 1));
}

#[test]
fn an_entry_that_only_takes_the_place_of_a_counted_one_wakes_somebody_too() {
    let many = |last: &str| {
        let mut entries: Vec<_> = (0..100).map(|number| gave_up(&format!("a{number}"), 0)).collect();
        entries.push(gave_up(last, 0));
        alarm(entries)
    };
    assert_eq!(text::message(&many("b")), text::message(&many("c")), "the text does not tell");
    let mut chat = Chat::new();
    chat.show_alarm(0, &many("b")).expect("shown");
    chat.show_alarm(61, &many("c")).expect("shown");
    assert_eq!(chat.sounds(), 2);
}

#[test]
fn the_last_entry_that_leaves_closes_and_the_next_one_starts_anew() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.show(15, &[]).expect("shown");
    assert_eq!(chat.server.texts(), ["🟢 Nothing is open any more."]);
    assert!(chat.server.messages.borrow()[0].buttons.is_empty());
    chat.show(30, &["a"]).expect("shown");
    assert_eq!((chat.server.first_lines(), chat.sounds()), (vec![ONE.to_owned()], 1));
    chat.show(45, &[]).expect("shown");
    chat.show(60, &["a", "b"]).expect("shown");
    assert_eq!(chat.server.first_lines(), ["🟢 Nothing is open any more.", TWO]);
    assert_eq!(chat.sounds(), 2);
}

#[test]
fn recovered_is_said_only_of_what_passed() {
    for (passed, expected) in [
        (vec!["a", "b", "x"], "🟢 Recovered after 15 minutes: all 2 events were delivered. Nothing is open any more."),
        (vec!["b"], "🟢 Nothing is open any more, after 15 minutes. Recovered: 1 of 2 entries; its event was delivered."),
        (vec!["x"], "🟢 Nothing is open any more."),
    ] {
        let mut chat = Chat::new();
        chat.show(0, &["a", "b"]).expect("shown");
        let passed = passed.into_iter().map(Into::into).collect();
        chat.show_alarm(15, &Alarm { passed, ..alarm(Vec::new()) }).expect("shown");
        assert_eq!(chat.server.texts(), [expected]);
    }
}

#[test]
fn a_deleted_message_is_sent_anew() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.server.messages.borrow_mut().clear();
    chat.show(15, &["a", "b"]).expect("shown");
    assert_eq!(chat.server.first_lines(), [TWO]);
    chat.server.messages.borrow_mut().clear();
    chat.show(30, &[]).expect("nothing is left to close");
    assert_eq!(chat.server.texts().len(), 0);
}

#[test]
fn an_edit_whose_answer_was_lost_is_not_modified_the_next_time() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.server.line.fail("editMessageText", Fault::AnswerLost);
    chat.show(15, &["a", "b"]).expect_err("no answer");
    chat.show(30, &["a", "b"]).expect("not modified is success");
    assert_eq!(chat.server.first_lines(), [TWO]);
}

#[test]
fn an_edit_whose_answer_was_lost_is_undone_when_its_entry_left_again() {
    for (then, expected) in [(&["a"][..], ONE), (&[], "🟢 Nothing is open any more.")] {
        let mut chat = Chat::new();
        chat.show(0, &["a"]).expect("shown");
        chat.server.line.fail("editMessageText", Fault::AnswerLost);
        chat.show(15, &["a", "b"]).expect_err("no answer");
        chat.show(30, then).expect("shown");
        assert_eq!(chat.server.first_lines(), [expected]);
    }
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.show(15, &[]).expect("closed");
    chat.server.line.fail("editMessageText", Fault::AnswerLost);
    chat.show(30, &["a"]).expect_err("no answer");
    chat.show(45, &[]).expect("closed again");
    assert_eq!(chat.server.texts(), ["🟢 Nothing is open any more."]);
}

#[test]
fn a_pointer_that_did_not_get_through_is_made_by_a_later_sweep() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.server.line.fail("editMessageText", Fault::NoAnswer);
    chat.show(61, &["a", "b"]).expect_err("the pointer failed");
    assert_eq!(chat.server.first_lines(), [ONE, TWO]);
    chat.show(75, &["a", "b"]).expect("shown");
    assert_eq!(chat.server.first_lines(), ["⬇️ This alarm goes on in a newer message.", TWO]);
    assert_eq!(chat.sounds(), 2);
}

#[test]
fn pointers_that_are_late_take_no_more_than_two_calls_of_a_sweep() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    for (minute, guids) in [(61, &["a", "b"][..]), (122, &["a", "b", "c"]), (183, &["a", "b", "c", "d"])] {
        chat.server.line.fail("editMessageText", Fault::NoAnswer);
        chat.show(minute, guids).expect_err("the pointer failed");
    }
    let before = chat.server.line.calls.borrow().len();
    let clock = SleepClock { slept: &chat.slept };
    let channel = Telegram::new(&chat.server, &clock, chat.settings.clone());
    let alarm = alarm(["a", "b", "c", "d"].iter().map(|guid| gave_up(guid, 0)).collect());
    for calls in [2, 3, 3] {
        let Outcome { shown, errors, .. } = block_on(channel.show(chat.shown.take(), &alarm, time(200)));
        chat.shown = shown;
        assert_eq!((errors, chat.server.line.calls.borrow().len() - before), (Vec::new(), calls));
    }
    assert!(chat.server.first_lines()[..3].iter().all(|line| line == "⬇️ This alarm goes on in a newer message."));
}

#[test]
fn a_pointer_that_telegram_refuses_is_tried_once() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.server.line.fail("editMessageText", Fault::Status(403));
    chat.show(61, &["a", "b"]).expect_err("the pointer failed");
    chat.show(75, &["a", "b"]).expect("nothing to do");
}

#[test]
fn a_failure_leaves_what_was_shown_for_the_next_sweep() {
    let mut chat = Chat::new();
    for fault in [Fault::NoAnswer, Fault::Status(429), Fault::Status(500), Fault::Status(403)] {
        chat.server.line.fail("sendMessage", fault);
        chat.show(0, &["a"]).expect_err("it failed");
        assert_eq!(chat.shown, None);
    }
    chat.show(15, &["a"]).expect("shown");
    chat.server.line.fail("editMessageText", Fault::Status(429));
    chat.show(30, &[]).expect_err("it failed");
    assert_eq!(chat.server.first_lines(), [ONE]);
    chat.show(45, &[]).expect("shown");
    assert_eq!(chat.server.texts(), ["🟢 Nothing is open any more."]);
}

#[test]
fn another_chat_in_the_settings_starts_a_new_message_there() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.settings = settings("@alarms");
    chat.show(15, &["a"]).expect("shown");
    assert_eq!(chat.server.first_lines(), ["➡️ This alarm goes on in another chat.", ONE]);
    assert_eq!(chat.server.messages.borrow()[1].chat, json!("@alarms"));
    chat.settings = settings("5");
    chat.show(30, &[]).expect("shown");
    assert_eq!(chat.server.texts()[1], "🟢 Nothing is open any more.");
    chat.show(31, &["a"]).expect("shown");
    assert_eq!(chat.server.messages.borrow()[2].chat, json!(5));
}

#[test]
fn an_alarm_in_a_chat_that_is_out_of_reach_is_forgotten_after_one_try() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.settings = settings("5");
    chat.server.line.fail("editMessageText", Fault::Status(403));
    chat.show(15, &[]).expect_err("the bot was kicked");
    assert_eq!(chat.shown, None);
}

#[test]
fn entries_that_came_and_went_while_telegram_was_down_are_not_sent() {
    let mut chat = Chat::new();
    chat.server.line.fail("sendMessage", Fault::NoAnswer);
    chat.show(0, &["a"]).expect_err("it is down");
    chat.show(15, &[]).expect("nothing to show");
    assert_eq!(chat.server.texts().len(), 0);
}

#[test]
fn no_text_holds_the_token() {
    let mut chat = Chat::new();
    chat.server.line.fail("sendMessage", Fault::Status(401));
    let error = chat.show(0, &["a"]).expect_err("refused");
    assert_eq!(error.to_string(), "failed to send the Telegram message: status 401: Refused …");
    assert!(!format!("{error:?} {:?}", chat.settings).contains(TOKEN));
}

#[test]
fn a_wrong_clock_of_the_past_does_not_silence_an_entry() {
    let mut chat = Chat::new();
    chat.show(100_000, &["a"]).expect("shown");
    chat.shown.as_mut().expect("it stands").move_to(time(0));
    chat.show(61, &["a", "b"]).expect("shown");
    assert_eq!(chat.sounds(), 2);
}

#[test]
fn the_stored_form_is_pinned() {
    let mut chat = Chat::new();
    chat.show(0, &["a", "b"]).expect("shown");
    chat.show(15, &["a"]).expect("shown");
    let json = serde_json::to_string(&chat.shown).expect("it is stored");
    expect_test::expect![[r#"{"chat":"-1001234567890","message_id":1,"sent_at":1796047500000,"last":{"text":"f84acc9b6ba09c86","keys":["98685858b28d5377"],"left":[["98685958b28d552a",1796048400000]],"gone":{"passed":0,"all":1},"since":1796047500000}}"#]].assert_eq(&json);
}
