//! The Bot API, with its chats.

use std::cell::{Cell, RefCell};

use serde_json::{Value, json};

use super::html::{is_address, parse};
use super::{Line, answer};
use crate::ports::{Answer, Call, Method, Network, NetworkError};

pub(crate) const TOKEN: &str = "7000000001:AAtokenOfTheFakeTelegram";

/// A message that stands.
#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) chat: Value,
    pub(crate) thread: Option<i64>,
    pub(crate) id: i64,
    pub(crate) html: String,
    /// Whether it was sent without markup.
    pub(crate) plain: bool,
    pub(crate) buttons: Vec<Value>,
}

impl Message {
    /// As a person reads it.
    pub(crate) fn text(&self) -> String {
        if self.plain { self.html.clone() } else { parse(&self.html).expect("the fake took it").text }
    }
}

/// The server, and what people did to the chats.
#[derive(Debug, Default)]
pub(crate) struct FakeTelegram {
    pub(crate) line: Line,
    pub(crate) messages: RefCell<Vec<Message>>,
    /// How often somebody's phone made a sound.
    pub(crate) sounds: Cell<usize>,
    /// What every call is refused with: the bot was kicked, say.
    pub(crate) shut: Cell<Option<(u16, &'static str)>>,
    /// The group became a supergroup: its old number and its new one.
    pub(crate) migrated: Cell<Option<(i64, i64)>>,
    /// The topics, if the group has any.
    pub(crate) topics: RefCell<Vec<i64>>,
    /// It takes no markup, or no buttons, for whatever reason.
    pub(crate) takes_no: Cell<Option<&'static str>>,
    last_id: Cell<i64>,
}

/// Why a call is refused: status, description, parameters.
type Refused = (u16, String, Value);

fn bad(reason: &str) -> Refused {
    (400, format!("Bad Request: {reason}"), Value::Null)
}

impl FakeTelegram {
    /// The messages as a person reads them, the oldest first.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.messages.borrow().iter().map(Message::text).collect()
    }

    pub(crate) fn first_lines(&self) -> Vec<String> {
        self.texts().iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect()
    }

    fn run(&self, method: &str, body: &Value) -> Result<Value, Refused> {
        let known: &[&str] = match method {
            "sendMessage" => {
                &["chat_id", "text", "parse_mode", "link_preview_options", "reply_markup", "message_thread_id", "disable_notification"]
            }
            "editMessageText" => &["chat_id", "text", "parse_mode", "link_preview_options", "reply_markup", "message_id"],
            "sendChatAction" => &["chat_id", "action"],
            _ => return Err((404, "Not Found".to_owned(), Value::Null)),
        };
        let fields = body.as_object().ok_or_else(|| bad("no object"))?;
        if let Some(stranger) = fields.keys().find(|field| !known.contains(&field.as_str())) {
            return Err(bad(&format!("an unknown field {stranger}")));
        }
        if let Some((status, reason)) = self.shut.get() {
            return Err((status, reason.to_owned(), Value::Null));
        }
        if let Some((old, new)) = self.migrated.get()
            && body["chat_id"] == old
        {
            let (status, reason, _) = bad("group chat was upgraded to a supergroup chat");
            return Err((status, reason, json!({ "migrate_to_chat_id": new })));
        }
        if method == "sendChatAction" {
            return if body["action"] == "typing" { Ok(Value::Bool(true)) } else { Err(bad("wrong parameter action in request")) };
        }
        if body["link_preview_options"] != json!({ "is_disabled": true }) {
            return Err(bad("the fake wants no previews"));
        }
        self.write(method, body)
    }

    fn write(&self, method: &str, body: &Value) -> Result<Value, Refused> {
        let html = body["text"].as_str().ok_or_else(|| bad("message text is empty"))?.to_owned();
        let plain = body.get("parse_mode").is_none();
        if plain {
            if html.trim().is_empty() || html.encode_utf16().count() > 4096 {
                return Err(bad("message is too long"));
            }
        } else {
            let read = if self.takes_no.get() == Some("markup") { Err("it is in a mood".to_owned()) } else { parse(&html).map(drop) };
            read.map_err(|reason| bad(&format!("can't parse entities: {reason}")))?;
        }
        let rows = body.get("reply_markup").and_then(|markup| markup["inline_keyboard"].as_array()).cloned().unwrap_or_default();
        let buttons: Vec<Value> = rows.iter().map(|row| row[0].clone()).collect();
        let refuses = |button: &Value| button["text"].as_str().is_none() || !button["url"].as_str().is_some_and(is_address);
        if buttons.iter().any(refuses) || self.takes_no.get() == Some("buttons") && !buttons.is_empty() {
            return Err(bad("BUTTON_URL_INVALID"));
        }
        let chat = body["chat_id"].clone();
        if method == "sendMessage" {
            let thread = body.get("message_thread_id").and_then(Value::as_i64);
            if thread.is_some_and(|thread| !self.topics.borrow().contains(&thread)) {
                return Err(bad("message thread not found"));
            }
            let id = self.last_id.get() + 1;
            self.last_id.set(id);
            if body["disable_notification"] != true {
                self.sounds.set(self.sounds.get() + 1);
            }
            self.messages.borrow_mut().push(Message { chat, thread, id, html, plain, buttons });
            return Ok(json!({ "message_id": id, "chat": { "id": -1 } }));
        }
        let mut messages = self.messages.borrow_mut();
        let found = messages.iter_mut().find(|message| message.chat == chat && body["message_id"] == message.id);
        let message = found.ok_or_else(|| bad("message to edit not found"))?;
        if message.html == html && message.buttons == buttons {
            return Err(bad("message is not modified: specified new message content and reply markup are exactly the same"));
        }
        (message.html, message.plain, message.buttons) = (html, plain, buttons);
        Ok(json!({ "message_id": message.id }))
    }
}

fn refusal(status: u16, description: &str, parameters: &Value) -> Answer {
    let mut body = json!({ "ok": false, "error_code": status, "description": description });
    if !parameters.is_null() {
        body["parameters"] = parameters.clone();
    }
    answer(status, &body)
}

impl Network for FakeTelegram {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        assert_eq!(call.method, Method::Post);
        assert_eq!(call.headers, [("content-type", "application/json")]);
        let method = call.url.strip_prefix("https://telegram.example/bot").and_then(|rest| rest.strip_prefix(TOKEN));
        let Some(method) = method.and_then(|rest| rest.strip_prefix('/')) else { panic!("not a method of the bot") };
        let body: Value = serde_json::from_str(&call.body.expect("a body")).expect("JSON");
        // As unkind as a server can be: it repeats the token.
        let fault = |status, seconds: Option<u64>| {
            let parameters = seconds.map_or(Value::Null, |seconds| json!({ "retry_after": seconds }));
            refusal(status, &format!("Refused\n{}", call.url), &parameters)
        };
        self.line.carry(method.to_owned(), fault, || match self.run(method, &body) {
            Ok(result) => answer(200, &json!({ "ok": true, "result": result })),
            Err((status, reason, parameters)) => refusal(status, &reason, &parameters),
        })
    }
}
