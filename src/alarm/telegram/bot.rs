//! The three methods of the Bot API that the alarm needs, and what can be done at once when one is refused.
//!
//! The bot's token is in each URL, so no error here holds one.
//! Source: the Bot API, `sendMessage` and `editMessageText`; its errors as the server's source has them (tdlib/telegram-bot-api).

use std::time::Duration;

use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};

use super::{Place, TelegramSettings};
use crate::alarm::ChannelError;
use crate::alarm::said::said;
use crate::alarm::text::telegram::{Button, Message};
use crate::json;
use crate::ports::{Answer, Call, Clock, Method, Network};

/// A longer wait is left to the next sweep.
const LONGEST_WAIT_SECS: u64 = 3;

const SEND: &str = "failed to send the Telegram message";
const EDIT: &str = "failed to edit the Telegram message";
const PROBE: &str = "failed to reach the Telegram chat";

/// One bot, writing as the settings say.
#[derive(Debug)]
pub(super) struct Bot<'a, N, C> {
    pub(super) network: &'a N,
    pub(super) clock: &'a C,
    pub(super) settings: TelegramSettings,
}

/// What became of an edit.
pub(super) enum Edited {
    /// The message says it.
    Yes,
    /// The message is not there any more.
    Gone,
    /// The chat is another one now, in which the message does not exist.
    Moved(i64),
}

/// A message that was sent.
pub(super) struct Sent {
    pub(super) message_id: i64,
    /// The chat's new number, if the group became a supergroup.
    pub(super) moved_to: Option<i64>,
}

/// Whether a message makes a sound.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sound {
    On,
    Off,
}

/// How a message is written; each refusal that names a part takes that part out, once.
struct Manner {
    markup: bool,
    buttons: bool,
    thread: Option<i64>,
    may_wait: bool,
}

impl<N: Network, C: Clock> Bot<'_, N, C> {
    /// Sends a message into `chat`.
    pub(super) async fn send(&self, chat: &str, message: &Message, sound: Sound) -> Result<Sent, ChannelError> {
        let mut manner = Manner { thread: self.settings.thread_id, ..Manner::new() };
        let mut moved_to: Option<i64> = None;
        loop {
            let chat = moved_to.map_or_else(|| ChatId::of(chat), ChatId::Number);
            let body = Body {
                message_thread_id: manner.thread,
                disable_notification: (sound == Sound::Off).then_some(true),
                ..Body::showing(chat, message, &manner)
            };
            let refusal = match self.call(SEND, "sendMessage", &body).await? {
                Reply::Done(Taken { message_id }) => return Ok(Sent { message_id, moved_to }),
                Reply::Refused(refusal) => refusal,
            };
            match refusal.migrate_to {
                Some(id) if moved_to.is_none() => moved_to = Some(id),
                _ if self.mend(&mut manner, &refusal).await => {}
                _ => return Err(refusal.into_error(SEND)),
            }
        }
    }

    /// Edits a message, without a sound.
    pub(super) async fn edit(&self, place: &Place, message: &Message) -> Result<Edited, ChannelError> {
        let mut manner = Manner::new();
        loop {
            let body = Body { message_id: Some(place.message_id), ..Body::showing(ChatId::of(&place.chat), message, &manner) };
            let refusal = match self.call(EDIT, "editMessageText", &body).await? {
                Reply::Done(IgnoredAny) => return Ok(Edited::Yes),
                Reply::Refused(refusal) => refusal,
            };
            match refusal.migrate_to {
                Some(id) => return Ok(Edited::Moved(id)),
                None if refusal.says(&["message is not modified"]) => return Ok(Edited::Yes),
                None if refusal.says(&GONE) => return Ok(Edited::Gone),
                None if self.mend(&mut manner, &refusal).await => {}
                None => return Err(refusal.into_error(EDIT)),
            }
        }
    }

    /// Whether the bot may write into `chat`: for some seconds it seems to type, and nobody's phone makes a sound.
    pub(super) async fn probe(&self, chat: &str) -> Result<(), ChannelError> {
        let body = Body { action: Some("typing"), ..Body::to(ChatId::of(chat)) };
        match self.call(PROBE, "sendChatAction", &body).await? {
            Reply::Done(IgnoredAny) | Reply::Refused(Refusal { migrate_to: Some(_), .. }) => Ok(()),
            Reply::Refused(refusal) => Err(refusal.into_error(PROBE)),
        }
    }

    /// Whether the same call can be made again at once, in another manner or after a short wait.
    async fn mend(&self, manner: &mut Manner, refusal: &Refusal) -> bool {
        match refusal.retry_after {
            Some(seconds) if manner.may_wait && seconds <= LONGEST_WAIT_SECS => {
                manner.may_wait = false;
                self.clock.sleep(Duration::from_secs(seconds)).await;
                true
            }
            None if refusal.says(&NO_TOPIC) => manner.thread.take().is_some(),
            None if refusal.says(&["can't parse entities"]) => std::mem::take(&mut manner.markup),
            None if refusal.says(&["button_url_invalid", "keyboard button"]) => std::mem::take(&mut manner.buttons),
            _ => false,
        }
    }

    async fn call<T: DeserializeOwned>(&self, step: &'static str, method: &str, body: &Body<'_>) -> Result<Reply<T>, ChannelError> {
        let TelegramSettings { api_url, bot_token, .. } = &self.settings;
        let url = format!("{}/bot{bot_token}/{method}", api_url.trim_end_matches('/'));
        let headers = [("content-type", "application/json")];
        let call = Call { method: Method::Post, url: &url, headers: &headers, body: Some(json::write(body)) };
        let answer = self.network.call(call).await.map_err(|source| ChannelError::Network { step, source })?;
        self.reply(step, &answer)
    }

    /// Takes the envelope off.
    fn reply<T: DeserializeOwned>(&self, step: &'static str, answer: &Answer) -> Result<Reply<T>, ChannelError> {
        match json::read(&answer.body) {
            Ok(Envelope { ok: true, result: Some(result), .. }) => Ok(Reply::Done(result)),
            Ok(Envelope { ok: false, description, parameters, .. }) => Ok(Reply::Refused(Refusal {
                status: answer.status,
                // Telegram does not repeat the token, but a server in its place could.
                reason: said(&description.unwrap_or_default(), &[&self.settings.bot_token]),
                retry_after: parameters.retry_after,
                migrate_to: parameters.migrate_to_chat_id,
            })),
            _ if answer.status == 200 => Err(ChannelError::Unreadable { step }),
            // Something between here and Telegram answered.
            _ => Err(ChannelError::Refused { step, status: answer.status, reason: "no answer of the Bot API".to_owned() }),
        }
    }
}

impl Manner {
    fn new() -> Self {
        Self { markup: true, buttons: true, thread: None, may_wait: true }
    }
}

// What Telegram says, in lower case. It says 400 of most things, so the words decide.

/// Of a message that can no longer be edited.
const GONE: [&str; 3] = ["message to edit not found", "message can't be edited", "message_id_invalid"];

/// Of a topic that is not there, or takes no messages.
const NO_TOPIC: [&str; 3] = ["message thread not found", "topic_closed", "topic_deleted"];

/// Of a chat that somebody has to let the bot into again.
const OUT_OF_REACH: [&str; 7] = [
    "chat not found",
    "chat_id is empty",
    "peer_id_invalid",
    "not enough rights",
    "have no rights",
    "chat_write_forbidden",
    "group chat was deactivated",
];

enum Reply<T> {
    Done(T),
    Refused(Refusal),
}

struct Refusal {
    status: u16,
    reason: String,
    retry_after: Option<u64>,
    migrate_to: Option<i64>,
}

impl Refusal {
    fn says(&self, words: &[&str]) -> bool {
        let reason = self.reason.to_lowercase();
        words.iter().any(|word| reason.contains(word))
    }

    fn into_error(self, step: &'static str) -> ChannelError {
        let Self { status, ref reason, .. } = self;
        let reason = reason.clone();
        if matches!(status, 401 | 403 | 404) || self.says(&OUT_OF_REACH) {
            ChannelError::OutOfReach { step, status, reason }
        } else {
            ChannelError::Refused { step, status, reason }
        }
    }
}

#[derive(Deserialize)]
struct Envelope<T> {
    ok: bool,
    result: Option<T>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    parameters: Parameters,
}

#[derive(Default, Deserialize)]
struct Parameters {
    #[serde(default)]
    retry_after: Option<u64>,
    #[serde(default)]
    migrate_to_chat_id: Option<i64>,
}

#[derive(Deserialize)]
struct Taken {
    message_id: i64,
}

/// What a call of the Bot API says.
#[derive(Default, Serialize)]
struct Body<'a> {
    chat_id: ChatId<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_thread_id: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parse_mode: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    disable_notification: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_preview_options: Option<LinkPreview>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reply_markup: Option<Keyboard<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    action: Option<&'static str>,
}

/// A chat's number, or its name.
#[derive(Serialize)]
#[serde(untagged)]
enum ChatId<'a> {
    Number(i64),
    Name(&'a str),
}

#[derive(Serialize)]
struct LinkPreview {
    is_disabled: bool,
}

/// Rows of buttons.
#[derive(Serialize)]
struct Keyboard<'a> {
    inline_keyboard: Vec<[Key<'a>; 1]>,
}

#[derive(Serialize)]
struct Key<'a> {
    text: &'a str,
    url: &'a str,
}

impl<'a> ChatId<'a> {
    fn of(chat: &'a str) -> Self {
        chat.parse().map_or(Self::Name(chat), Self::Number)
    }
}

impl Default for ChatId<'_> {
    fn default() -> Self {
        Self::Name("")
    }
}

impl<'a> Body<'a> {
    fn to(chat_id: ChatId<'a>) -> Self {
        Self { chat_id, ..Self::default() }
    }

    /// What sending and editing have in common. An edit without the keyboard would take it away, so each names it.
    fn showing(chat_id: ChatId<'a>, message: &'a Message, manner: &Manner) -> Self {
        let row = |button: &'a Button| [Key { text: button.text, url: &button.url }];
        let keyboard = || Keyboard { inline_keyboard: message.buttons.iter().map(row).collect() };
        Self {
            text: Some(if manner.markup { &message.html } else { &message.plain }),
            parse_mode: manner.markup.then_some("HTML"),
            link_preview_options: Some(LinkPreview { is_disabled: true }),
            reply_markup: (manner.buttons && !message.buttons.is_empty()).then(keyboard),
            ..Self::to(chat_id)
        }
    }
}
