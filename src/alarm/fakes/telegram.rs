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
    pub(crate) buttons: Vec<Value>,
}

impl Message {
    /// As a person reads it.
    pub(crate) fn text(&self) -> String {
        parse(&self.html).expect("the fake took it").text
    }
}

#[derive(Debug, Default)]
pub(crate) struct FakeTelegram {
    pub(crate) line: Line,
    pub(crate) messages: RefCell<Vec<Message>>,
    /// How often somebody's phone made a sound.
    pub(crate) sounds: Cell<usize>,
    last_id: Cell<i64>,
}

impl FakeTelegram {
    /// The messages as a person reads them, the oldest first.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.messages.borrow().iter().map(Message::text).collect()
    }

    pub(crate) fn first_lines(&self) -> Vec<String> {
        self.texts().iter().map(|text| text.lines().next().unwrap_or_default().to_owned()).collect()
    }

    fn run(&self, method: &str, body: &Value) -> Result<Value, String> {
        let known = ["chat_id", "text", "parse_mode", "link_preview_options", "reply_markup", "message_id", "message_thread_id"];
        let fields = body.as_object().ok_or("no object")?;
        if let Some(stranger) = fields.keys().find(|field| !known.contains(&field.as_str())) {
            return Err(format!("an unknown field {stranger}"));
        }
        if body["parse_mode"] != "HTML" || body["link_preview_options"] != json!({ "is_disabled": true }) {
            return Err("the fake wants HTML without previews".to_owned());
        }
        let html = body["text"].as_str().ok_or("message text is empty")?.to_owned();
        parse(&html).map_err(|reason| format!("can't parse entities: {reason}"))?;
        let rows = body.get("reply_markup").and_then(|markup| markup["inline_keyboard"].as_array()).cloned().unwrap_or_default();
        let buttons: Vec<Value> = rows.iter().map(|row| row[0].clone()).collect();
        if buttons.iter().any(|button| button["text"].as_str().is_none() || !button["url"].as_str().is_some_and(is_address)) {
            return Err("BUTTON_URL_INVALID".to_owned());
        }
        let chat = body["chat_id"].clone();
        match method {
            "sendMessage" => {
                let id = self.last_id.get() + 1;
                self.last_id.set(id);
                self.sounds.set(self.sounds.get() + 1);
                let thread = body.get("message_thread_id").and_then(Value::as_i64);
                self.messages.borrow_mut().push(Message { chat, thread, id, html, buttons });
                Ok(json!({ "message_id": id, "chat": { "id": -1 } }))
            }
            "editMessageText" => {
                let mut messages = self.messages.borrow_mut();
                let found = messages.iter_mut().find(|message| message.chat == chat && body["message_id"] == message.id);
                let message = found.ok_or("message to edit not found")?;
                if message.html == html && message.buttons == buttons {
                    return Err("message is not modified: specified new message content and reply markup are exactly the same".to_owned());
                }
                message.html = html;
                message.buttons = buttons;
                Ok(json!({ "message_id": message.id }))
            }
            _ => Err("no such method".to_owned()),
        }
    }
}

fn refusal(status: u16, description: &str) -> Answer {
    answer(status, &json!({ "ok": false, "error_code": status, "description": description }))
}

impl Network for FakeTelegram {
    async fn call(&self, call: Call<'_>) -> Result<Answer, NetworkError> {
        assert_eq!(call.method, Method::Post);
        assert_eq!(call.headers, [("content-type", "application/json")]);
        let method = call.url.strip_prefix("https://telegram.example/bot").and_then(|rest| rest.strip_prefix(TOKEN));
        let Some(method) = method.and_then(|rest| rest.strip_prefix('/')) else { panic!("not a method of the bot") };
        let body: Value = serde_json::from_str(&call.body.expect("a body")).expect("JSON");
        // As unkind as a server can be: it repeats the token.
        let fault = |status| refusal(status, &format!("Refused\n{}", call.url));
        self.line.carry(method.to_owned(), fault, || match self.run(method, &body) {
            Ok(result) => answer(200, &json!({ "ok": true, "result": result })),
            Err(reason) => refusal(400, &format!("Bad Request: {reason}")),
        })
    }
}
