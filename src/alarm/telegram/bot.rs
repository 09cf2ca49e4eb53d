//! The two methods of the Bot API that the alarm needs.
//!
//! The bot's token is in each URL, so no error here holds one.
//! Source: the Bot API, `sendMessage` and `editMessageText`; its errors as the server's source has them (tdlib/telegram-bot-api).

use serde::Deserialize;
use serde_json::json;

use super::{Place, TelegramSettings};
use crate::alarm::ChannelError;
use crate::alarm::text::telegram::{Button, Message};
use crate::ports::{Answer, Call, Method, Network};

/// Characters of Telegram's own words that an error repeats.
const REASON: usize = 200;

/// One bot, writing as the settings say.
#[derive(Debug)]
pub(super) struct Bot<'a, N> {
    pub(super) network: &'a N,
    pub(super) settings: TelegramSettings,
}

/// What became of an edit.
pub(super) enum Edited {
    /// The message says it.
    Yes,
    /// The message is not there any more.
    Gone,
}

impl<N: Network> Bot<'_, N> {
    /// Sends a message, with a sound, and returns its id.
    pub(super) async fn send(&self, message: &Message) -> Result<i64, ChannelError> {
        const STEP: &str = "failed to send the Telegram message";
        let mut body = content(&self.settings.chat_id, message);
        if let Some(thread) = self.settings.thread_id {
            body["message_thread_id"] = thread.into();
        }
        match self.call(STEP, "sendMessage", &body).await? {
            Reply::Done(result) => {
                let sent: Result<Sent, _> = serde_json::from_value(result);
                sent.map(|sent| sent.message_id).map_err(|_| ChannelError::Unreadable { step: STEP })
            }
            Reply::Refused { status, reason } => Err(ChannelError::Refused { step: STEP, status, reason }),
        }
    }

    /// Edits a message, without a sound.
    pub(super) async fn edit(&self, place: &Place, message: &Message) -> Result<Edited, ChannelError> {
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
    if !message.buttons.is_empty() {
        let row = |button: &Button| json!([{ "text": button.text, "url": button.url }]);
        body["reply_markup"] = json!({ "inline_keyboard": message.buttons.iter().map(row).collect::<Vec<_>>() });
    }
    body
}
