//! What Telegram refuses, and what is done about it at once or in the next sweep.

use super::*;

fn calls(chat: &Chat) -> Vec<String> {
    std::mem::take(&mut *chat.server.line.calls.borrow_mut())
}

/// Shows and says how many calls that took.
fn show(chat: &mut Chat, minute: u64, guids: &[&str]) -> (Result<(), ChannelError>, usize) {
    let before = chat.server.line.calls.borrow().len();
    let result = chat.show(minute, guids);
    (result, chat.server.line.calls.borrow().len() - before)
}

#[test]
fn a_wait_of_three_seconds_is_waited_for_once() {
    for (seconds, wants, slept) in [(0, 2, 0), (1, 2, 1), (3, 2, 3), (4, 1, 0), (60, 1, 0)] {
        for (method, guids) in [("sendMessage", &["a"][..]), ("editMessageText", &["a", "b"])] {
            let mut chat = Chat::new();
            if method == "editMessageText" {
                chat.show(0, &["a"]).expect("shown");
            }
            chat.server.line.fail(method, Fault::Flood(seconds));
            let (result, calls) = show(&mut chat, 15, guids);
            assert_eq!((result.is_ok(), calls, chat.slept.get()), (wants == 2, wants, slept), "{method} {seconds}");
            chat.show(30, guids).expect("the next sweep shows it");
        }
    }
}

#[test]
fn a_second_429_is_left_to_the_next_sweep() {
    let mut chat = Chat::new();
    chat.server.line.fail("sendMessage", Fault::Flood(2));
    chat.server.line.fail("sendMessage", Fault::Flood(2));
    let (result, calls) = show(&mut chat, 0, &["a"]);
    assert_eq!((calls, chat.slept.get(), chat.contact), (2, 2, Contact::Failed));
    assert!(!result.expect_err("refused twice").is_for_good());
    chat.show(15, &["a"]).expect("shown");
    assert_eq!(chat.sounds(), 1);
}

#[test]
fn a_429_without_a_number_is_left_to_the_next_sweep() {
    let mut chat = Chat::new();
    chat.server.line.fail("sendMessage", Fault::Status(429));
    assert_eq!(show(&mut chat, 0, &["a"]).1, 1);
}

#[test]
fn a_group_that_became_a_supergroup_is_followed_and_remembered() {
    let mut chat = Chat::new();
    chat.settings = settings("-5");
    chat.server.migrated.set(Some((-5, -1_007)));
    assert_eq!(show(&mut chat, 0, &["a"]), (Ok(()), 2));
    assert_eq!(chat.server.messages.borrow()[0].chat, json!(-1_007));
    assert_eq!(show(&mut chat, 15, &["a", "b"]), (Ok(()), 1), "the new number is known");
    assert_eq!(show(&mut chat, 80, &["a", "b", "c"]), (Ok(()), 2));
    assert_eq!(chat.server.first_lines()[0], "⬇️ This alarm goes on in a newer message.");
    chat.show(95, &[]).expect("closed");
    assert_eq!(show(&mut chat, 500, &["d"]), (Ok(()), 1), "the next alarm goes there at once");
    chat.settings = settings("-1007");
    assert_eq!(show(&mut chat, 515, &["d"]), (Ok(()), 0), "the settings name the new number: it is the same chat");
}

#[test]
fn a_message_in_a_group_that_became_a_supergroup_is_sent_anew() {
    for guids in [&["a", "b"][..], &[]] {
        let mut chat = Chat::new();
        chat.settings = settings("-5");
        chat.show(0, &["a"]).expect("shown");
        chat.server.migrated.set(Some((-5, -1_007)));
        chat.show(15, guids).expect("followed");
        assert_eq!(chat.server.messages.borrow().len(), 1 + guids.len().min(1));
        assert_eq!(show(&mut chat, 100, &["c"]).0, Ok(()));
        assert_eq!(chat.server.messages.borrow().last().expect("sent").chat, json!(-1_007));
    }
}

#[test]
fn a_topic_that_is_gone_leaves_the_message_to_the_group() {
    let mut chat = Chat::new();
    chat.settings.thread_id = Some(7);
    assert_eq!(show(&mut chat, 0, &["a"]), (Ok(()), 2));
    assert_eq!(chat.server.messages.borrow()[0].thread, None);
    assert_eq!(show(&mut chat, 15, &["a"]), (Ok(()), 0));
    assert_eq!(show(&mut chat, 30, &["a", "b"]), (Ok(()), 1));
}

#[test]
fn markup_that_the_server_refuses_is_left_out() {
    let mut chat = Chat::new();
    chat.server.takes_no.set(Some("markup"));
    assert_eq!(show(&mut chat, 0, &["a"]), (Ok(()), 2));
    let text = chat.server.texts()[0].clone();
    assert!(text.starts_with(ONE) && text.contains("guid a") && !text.contains("<b>"), "{text}");
    assert!(chat.server.messages.borrow()[0].plain);
    assert_eq!(show(&mut chat, 15, &["a"]), (Ok(()), 0));
    assert_eq!(show(&mut chat, 30, &["a", "b"]), (Ok(()), 2));
    assert_eq!(chat.server.first_lines(), [TWO]);
}

#[test]
fn buttons_that_the_server_refuses_are_left_out() {
    let mut chat = Chat::new();
    chat.server.takes_no.set(Some("buttons"));
    assert_eq!(show(&mut chat, 0, &["a"]), (Ok(()), 2));
    assert_eq!(chat.server.first_lines(), [ONE]);
}

#[test]
fn all_of_it_at_once_still_ends() {
    let mut chat = Chat::new();
    chat.settings = TelegramSettings { thread_id: Some(7), ..settings("-5") };
    chat.server.migrated.set(Some((-5, -1_007)));
    chat.server.takes_no.set(Some("buttons"));
    chat.server.line.fail("sendMessage", Fault::Flood(1));
    assert_eq!(show(&mut chat, 0, &["a"]), (Ok(()), 5));
}

#[test]
fn what_a_person_has_to_mend_is_told_apart_at_once() {
    for (status, reason, for_good) in [
        (403, "Forbidden: bot was blocked by the user", true),
        (403, "Forbidden: bot was kicked from the supergroup chat", true),
        (403, "Forbidden: the group chat was deleted", true),
        (401, "Unauthorized", true),
        (404, "Not Found", true),
        (400, "Bad Request: chat not found", true),
        (400, "Bad Request: chat_id is empty", true),
        (400, "Bad Request: not enough rights to send text messages to the chat", true),
        (400, "Bad Request: something new", false),
        (500, "Internal Server Error", false),
        (502, "Bad Gateway", false),
    ] {
        let mut chat = Chat::new();
        chat.server.shut.set(Some((status, reason)));
        let (result, calls) = show(&mut chat, 0, &["a"]);
        let error = result.expect_err("refused");
        assert_eq!((error.is_for_good(), calls, chat.contact), (for_good, 1, Contact::Failed), "{reason}");
        assert_eq!(error.said(), format!("{reason} (status {status})"));
        chat.server.shut.set(None);
        chat.show(15, &["a"]).expect("shown");
        assert_eq!((chat.contact, chat.server.first_lines()), (Contact::Reached, vec![ONE.to_owned()]));
    }
}

#[test]
fn the_old_chat_says_nothing_of_the_new_one() {
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.settings = settings("5");
    chat.server.line.fail("editMessageText", Fault::Status(403));
    chat.show(15, &["a"]).expect_err("the pointer in the old chat failed");
    assert_eq!((chat.contact, chat.server.first_lines()), (Contact::Reached, vec![ONE.to_owned(), ONE.to_owned()]));
    let mut chat = Chat::new();
    chat.show(0, &["a"]).expect("shown");
    chat.settings = settings("5");
    chat.server.line.fail("editMessageText", Fault::Status(403));
    chat.show(15, &[]).expect_err("it cannot be closed there");
    assert_eq!(chat.contact, Contact::None);
}

#[test]
fn a_probe_makes_no_sound_and_tells_whether_the_bot_may_write() {
    let chat = Chat::new();
    let clock = SleepClock { slept: &chat.slept };
    let channel = Telegram::new(&chat.server, &clock, chat.settings.clone());
    assert_eq!(block_on(channel.probe(None)), Ok(()));
    chat.server.shut.set(Some((403, "Forbidden: bot was kicked from the group chat")));
    assert!(block_on(channel.probe(None)).expect_err("kicked").is_for_good());
    assert_eq!((calls(&chat), chat.sounds()), (vec!["sendChatAction".to_owned(); 2], 0));
}

#[test]
fn how_many_recovered_is_said_of_all_since_the_first_came() {
    let mut chat = Chat::new();
    chat.show(0, &["a", "b", "c"]).expect("shown");
    let passed =
        |guid: &str, rest: &[&str]| Alarm { passed: vec![guid.into()], ..alarm(rest.iter().map(|guid| gave_up(guid, 0)).collect()) };
    chat.show_alarm(15, &passed("a", &["b", "c"])).expect("shown");
    chat.show(30, &["c"]).expect("shown");
    chat.show_alarm(45, &passed("c", &[])).expect("shown");
    assert_eq!(
        chat.server.texts(),
        ["🟢 Nothing is open any more, after 45 minutes. Recovered: 2 of 3 entries; their events were delivered."]
    );
}

#[test]
fn there_are_buttons_to_the_issue_and_to_the_status_page_too() {
    let mut chat = Chat::new();
    let issue_url = Some("https://github.com/acme/control/issues/12".to_owned());
    let status_url = Some("https://redeliver.acme.workers.dev/".to_owned());
    let with_issue = Alarm { issue_url: issue_url.clone(), ..alarm(vec![gave_up("a", 0)]) };
    let buttons = |chat: &Chat| {
        let buttons = chat.server.messages.borrow()[0].buttons.clone();
        buttons.iter().map(|button| button["url"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    chat.show_alarm(0, &with_issue).expect("shown");
    assert_eq!(buttons(&chat), [with_issue.advanced_url.clone(), issue_url.clone()]);
    // The settings name it since: the message that stands gets it without a sound.
    chat.show_alarm(5, &Alarm { status_url: status_url.clone(), ..with_issue.clone() }).expect("shown");
    assert_eq!(buttons(&chat), [with_issue.advanced_url, issue_url, status_url]);
    assert_eq!(chat.server.sounds.get(), 1);
}
