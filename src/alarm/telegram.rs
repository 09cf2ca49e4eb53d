//! The alarm as one message of Telegram: what is to be done to the message is decided first, then done.
//!
//! A message that was sent once is edited, which wakes nobody; only a new alarm, or an entry that is added when the message
//! is older than an hour, is a new message, with a sound. The bot's token is in each URL, so no error here holds one.
//! Source: the Bot API, `sendMessage` and `editMessageText`; facts-telegram.md.

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::shown::LastShown;
use super::text::telegram as text;
use super::text::telegram::Message;
use super::{Alarm, ChannelError};
use crate::policy::time::{Time, hours};
use crate::ports::{Answer, Call, Method, Network, NetworkError};

/// An entry that is added when the message is older than this wakes somebody again.
const TELLS_AGAIN_AFTER: Duration = hours(1);

/// Superseded messages that wait to be cut down: each is a message that Telegram took, after which it took no edit.
const OLD_KEPT: usize = 8;

/// Characters of Telegram's own words that an error repeats.
const REASON: usize = 200;

/// Which bot writes where.
#[derive(Clone, PartialEq, Eq)]
pub struct TelegramSettings {
    /// `TELEGRAM_API_URL`.
    pub api_url: String,
    /// `TELEGRAM_BOT_TOKEN`.
    pub bot_token: String,
    /// `TELEGRAM_CHAT_ID`: a number, or the @name of a channel.
    pub chat_id: String,
    /// `TELEGRAM_THREAD_ID`.
    pub thread_id: Option<i64>,
}

/// Without the token.
impl fmt::Debug for TelegramSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = out.debug_struct("TelegramSettings");
        out.field("api_url", &self.api_url).field("chat_id", &self.chat_id).field("thread_id", &self.thread_id);
        out.finish_non_exhaustive()
    }
}

/// The message that stands in the chat. Part of the stored state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The chat, as the settings named it.
    chat: String,
    /// The topic, as the settings named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    thread: Option<i64>,
    /// The message, in this chat.
    message_id: i64,
    /// When it was sent.
    sent_at: Time,
    /// What it says.
    last: LastShown,
    /// Messages that this one took the place of, and that do not say so yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    old: Vec<Place>,
}

/// Where a message is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Place {
    chat: String,
    message_id: i64,
}

impl Shown {
    /// Takes every time later than `now` as `now`.
    pub fn move_to(&mut self, now: Time) {
        self.sent_at = self.sent_at.min(now);
        self.last.move_to(now);
    }

    fn place(&self) -> Place {
        Place { chat: self.chat.clone(), message_id: self.message_id }
    }

    fn is_in(&self, settings: &TelegramSettings) -> bool {
        self.chat == settings.chat_id && self.thread == settings.thread_id
    }
}

/// What is to be done to the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Todo {
    /// It says what is so.
    Nothing,
    /// A new one is sent. One that stands says already that nothing is open any more, or there is none.
    Send,
    /// It is brought up to date, without a sound.
    Edit,
    /// A new one is sent, and the one that stands is cut down to a line that points to it.
    SendAndPoint,
    /// It says that nothing is open any more.
    Close,
}

/// Decides what is to be done so that Telegram shows `alarm`.
#[must_use]
pub fn what_to_do(shown: Option<&Shown>, alarm: &Alarm, settings: &TelegramSettings, now: Time) -> Todo {
    let entries = &alarm.entries;
    match shown {
        None if entries.is_empty() => Todo::Nothing,
        None => Todo::Send,
        Some(shown) if entries.is_empty() => {
            if shown.last.is_closed() {
                Todo::Nothing
            } else {
                Todo::Close
            }
        }
        Some(shown) if !shown.is_in(settings) => {
            if shown.last.is_closed() {
                Todo::Send
            } else {
                Todo::SendAndPoint
            }
        }
        Some(shown) if shown.last.is_closed() => {
            if shown.last.lacks_one_of(entries, now) {
                Todo::Send
            } else {
                Todo::Edit
            }
        }
        Some(shown) if shown.last.is(text::message(alarm).digest(), entries) => Todo::Nothing,
        Some(shown) if now.since(shown.sent_at) > TELLS_AGAIN_AFTER && shown.last.lacks_one_of(entries, now) => Todo::SendAndPoint,
        Some(_) => Todo::Edit,
    }
}

/// The channel, for one sweep.
pub struct Telegram<'a, N> {
    network: &'a N,
    settings: TelegramSettings,
}

impl<'a, N: Network> Telegram<'a, N> {
    /// Writes as these settings say.
    pub fn new(network: &'a N, settings: TelegramSettings) -> Self {
        Self { network, settings }
    }

    /// Whether the chat shows `alarm` already, so that there is nothing to call for.
    #[must_use]
    pub fn is_current(&self, shown: Option<&Shown>, alarm: &Alarm, now: Time) -> bool {
        shown.is_none_or(|shown| shown.old.is_empty()) && what_to_do(shown, alarm, &self.settings, now) == Todo::Nothing
    }

    /// Makes the chat show `alarm`. Returns what is to be remembered after what worked, whether or not all of it did.
    pub async fn show(&self, shown: Option<Shown>, alarm: &Alarm, now: Time) -> (Option<Shown>, Result<(), ChannelError>) {
        let mut shown = shown;
        let mut result = self.bring_up_to_date(&mut shown, alarm, now).await;
        if let (Ok(()), Some(shown)) = (&result, &mut shown) {
            result = self.cut_down_old(shown).await;
        }
        (shown, result)
    }

    async fn bring_up_to_date(&self, shown: &mut Option<Shown>, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        let todo = what_to_do(shown.as_ref(), alarm, &self.settings, now);
        match (todo, &mut *shown) {
            (Todo::Nothing, _) => Ok(()),
            (Todo::Edit, Some(stands)) => {
                let message = text::message(alarm);
                match self.edit(&stands.place(), &message).await? {
                    Edited::Yes => {
                        stands.last = LastShown::new(message.digest(), &alarm.entries, Some(&stands.last), now);
                        Ok(())
                    }
                    // Somebody deleted it: what is open is told again.
                    Edited::Gone => self.send(shown, alarm, now).await,
                }
            }
            (Todo::Close, Some(stands)) => {
                let message = text::closed(stands.last.recovered(&alarm.passed));
                // A message that is gone shows no entries either.
                self.edit(&stands.place(), &message).await?;
                stands.last = LastShown::new(message.digest(), &[], Some(&stands.last), now);
                Ok(())
            }
            (Todo::SendAndPoint, Some(stands)) => {
                let place = stands.place();
                self.send(shown, alarm, now).await?;
                if let Some(stands) = shown {
                    let excess = (stands.old.len() + 1).saturating_sub(OLD_KEPT);
                    stands.old.drain(..excess);
                    stands.old.push(place);
                }
                Ok(())
            }
            (Todo::Send, _) | (Todo::Edit | Todo::Close | Todo::SendAndPoint, None) => self.send(shown, alarm, now).await,
        }
    }

    /// Sends a new message, with a sound. If Telegram took it and its answer is lost, the next sweep sends another: there is
    /// no way to ask, and two messages are better than none.
    async fn send(&self, shown: &mut Option<Shown>, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        const STEP: &str = "failed to send the Telegram message";
        let message = text::message(alarm);
        let mut body = content(&self.settings.chat_id, &message);
        if let Some(thread) = self.settings.thread_id {
            body["message_thread_id"] = thread.into();
        }
        let sent: Sent = match self.call(STEP, "sendMessage", &body).await? {
            Reply::Done(result) => serde_json::from_value(result).map_err(|_| ChannelError::Unreadable { step: STEP })?,
            Reply::Refused { status, reason } => return Err(ChannelError::Refused { step: STEP, status, reason }),
        };
        let (last, old) = match shown.take() {
            Some(before) => (Some(before.last), before.old),
            None => (None, Vec::new()),
        };
        *shown = Some(Shown {
            chat: self.settings.chat_id.clone(),
            thread: self.settings.thread_id,
            message_id: sent.message_id,
            sent_at: now,
            last: LastShown::new(message.digest(), &alarm.entries, last.as_ref(), now),
            old,
        });
        Ok(())
    }

    /// Cuts each message that was superseded down to a line that says so. What Telegram refuses is not tried again.
    async fn cut_down_old(&self, shown: &mut Shown) -> Result<(), ChannelError> {
        while let Some(place) = shown.old.first() {
            let message = if place.chat == shown.chat {
                text::pointer(address(&shown.chat, shown.message_id).as_deref())
            } else {
                text::moved()
            };
            let result = self.edit(place, &message).await;
            if !matches!(&result, Err(error) if may_work_later(error)) {
                shown.old.remove(0);
            }
            result?;
        }
        Ok(())
    }

    async fn edit(&self, place: &Place, message: &Message) -> Result<Edited, ChannelError> {
        const STEP: &str = "failed to edit the Telegram message";
        let mut body = content(&place.chat, message);
        body["message_id"] = place.message_id.into();
        match self.call(STEP, "editMessageText", &body).await? {
            Reply::Done(_) => Ok(Edited::Yes),
            Reply::Refused { reason, .. } if reason.contains("message is not modified") => Ok(Edited::Yes),
            Reply::Refused { reason, .. } if GONE.iter().any(|gone| reason.contains(gone)) => Ok(Edited::Gone),
            Reply::Refused { status, reason } => Err(ChannelError::Refused { step: STEP, status, reason }),
        }
    }

    async fn call(&self, step: &'static str, method: &str, body: &serde_json::Value) -> Result<Reply, ChannelError> {
        let TelegramSettings { api_url, bot_token, .. } = &self.settings;
        let url = format!("{}/bot{bot_token}/{method}", api_url.trim_end_matches('/'));
        let headers = [("content-type", "application/json")];
        let call = Call { method: Method::Post, url: &url, headers: &headers, body: Some(body.to_string()) };
        let answer = self.network.call(call).await.map_err(|source| ChannelError::Network { step, source })?;
        self.reply(step, &answer)
    }

    /// Takes the envelope off. Later rules (a wait, a migrated group, a lost topic) begin here: `parameters` names them.
    fn reply(&self, step: &'static str, answer: &Answer) -> Result<Reply, ChannelError> {
        match serde_json::from_slice(&answer.body) {
            Ok(Envelope { ok: true, result: Some(result), .. }) => Ok(Reply::Done(result)),
            Ok(Envelope { ok: false, description, .. }) => {
                let reason = self.without_token(&description.unwrap_or_default());
                Ok(Reply::Refused { status: answer.status, reason })
            }
            _ if answer.status == 200 => Err(ChannelError::Unreadable { step }),
            // Something between here and Telegram answered.
            _ => Err(ChannelError::Refused { step, status: answer.status, reason: "no answer of the Bot API".to_owned() }),
        }
    }

    /// Telegram does not repeat the token, but a server in its place could.
    fn without_token(&self, reason: &str) -> String {
        let reason = reason.replace(&self.settings.bot_token, "…");
        reason.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).take(REASON).collect()
    }
}

/// What Telegram says of a message that can no longer be edited.
const GONE: [&str; 2] = ["message to edit not found", "message can't be edited"];

/// What became of an edit.
enum Edited {
    Yes,
    /// The message is not there any more.
    Gone,
}

enum Reply {
    Done(serde_json::Value),
    Refused { status: u16, reason: String },
}

#[derive(Deserialize)]
struct Envelope {
    ok: bool,
    #[serde(default)]
    result: Option<serde_json::Value>,
    #[serde(default)]
    description: Option<String>,
}

#[derive(Deserialize)]
struct Sent {
    message_id: i64,
}

/// What sending and editing have in common. An edit without the keyboard would take it away, so each names it.
fn content(chat: &str, message: &Message) -> serde_json::Value {
    let mut body = json!({
        "chat_id": chat.parse::<i64>().map_or_else(|_| json!(chat), |id| json!(id)),
        "text": message.html,
        "parse_mode": "HTML",
        "link_preview_options": { "is_disabled": true },
    });
    if let Some(button) = &message.button {
        body["reply_markup"] = json!({ "inline_keyboard": [[{ "text": button.text, "url": button.url }]] });
    }
    body
}

/// Where a person finds a message: only supergroups, channels and named chats have such addresses.
fn address(chat: &str, message_id: i64) -> Option<String> {
    let in_chat = match (chat.strip_prefix('@'), chat.strip_prefix("-100")) {
        (Some(name), _) => name.to_owned(),
        (None, Some(number)) => format!("c/{number}"),
        (None, None) => return None,
    };
    Some(format!("https://t.me/{in_chat}/{message_id}"))
}

/// Whether the same call may succeed in a later sweep.
fn may_work_later(error: &ChannelError) -> bool {
    match error {
        ChannelError::Network { source, .. } => *source != NetworkError::TooLarge,
        ChannelError::Refused { status, .. } => *status == 429 || *status >= 500,
        ChannelError::Unreadable { .. } | ChannelError::SignIn { .. } => false,
    }
}
