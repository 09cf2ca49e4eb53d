//! The alarm as one message of Telegram: what is to be done to the message is decided first, then done.
//!
//! A message that was sent once is edited, which wakes nobody; only a new alarm, or an entry that is added when the message
//! is older than an hour, is a new message, with a sound.

mod bot;

#[cfg(test)]
mod tests;

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::bot::{Bot, Edited, Sound};
use super::reach::Contact;
use super::shown::LastShown;
use super::text::telegram as text;
use super::{Alarm, ChannelError, Outcome};
use crate::policy::time::{Time, hours};
use crate::ports::{Clock, Network};

/// An entry that is added when the message is older than this wakes somebody again.
const TELLS_AGAIN_AFTER: Duration = hours(1);

/// Superseded messages that wait to be cut down: each is a message that Telegram took, after which it took no edit.
const OLD_KEPT: usize = 8;

/// Of those, cut down in one sweep, so that the other channel has its share of the twelve calls.
const OLD_A_SWEEP: usize = 2;

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
    /// The chat's number since the group became a supergroup: the settings still name the old one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    moved_to: Option<i64>,
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

    /// The message may say something else.
    pub fn doubt(&mut self) {
        self.last.doubt();
    }

    /// Goes on in `later`, a message that was sent while this record could not be read; this one is to point to it.
    #[must_use]
    pub fn followed_by(self, mut later: Self, now: Time) -> Self {
        if later.place() == self.place() {
            return later;
        }
        later.last.take_in(&self.last, now);
        let stands = Some(self.place()).filter(|_| !self.last.is_closed());
        self.old.into_iter().chain(stands).for_each(|place| later.supersede(place));
        later
    }

    fn supersede(&mut self, place: Place) {
        let excess = (self.old.len() + 1).saturating_sub(OLD_KEPT);
        self.old.drain(..excess);
        self.old.push(place);
    }

    fn place(&self) -> Place {
        Place { chat: self.chat_now(), message_id: self.message_id }
    }

    fn chat_now(&self) -> String {
        self.moved_to.map_or_else(|| self.chat.clone(), |id| id.to_string())
    }

    fn is_in(&self, settings: &TelegramSettings) -> bool {
        (self.chat == settings.chat_id || self.chat_now() == settings.chat_id) && self.thread == settings.thread_id
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
            if shown.last.is_closed() && !shown.last.is_doubtful() {
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
#[derive(Debug)]
pub struct Telegram<'a, N, C> {
    bot: Bot<'a, N, C>,
}

impl<'a, N: Network, C: Clock> Telegram<'a, N, C> {
    /// Writes as these settings say.
    pub fn new(network: &'a N, clock: &'a C, settings: TelegramSettings) -> Self {
        Self { bot: Bot { network, clock, settings } }
    }

    /// Whether the chat shows `alarm` already, so that there is nothing to call for.
    #[must_use]
    pub fn is_current(&self, shown: Option<&Shown>, alarm: &Alarm, now: Time) -> bool {
        shown.is_none_or(|shown| shown.old.is_empty()) && what_to_do(shown, alarm, &self.bot.settings, now) == Todo::Nothing
    }

    /// Makes the chat show `alarm`. Returns what is to be remembered after what worked, whether or not all of it did.
    pub async fn show(&self, shown: Option<Shown>, alarm: &Alarm, now: Time) -> Outcome<Shown> {
        let mut outcome = Outcome { shown, contact: Contact::None, errors: Vec::new() };
        let todo = what_to_do(outcome.shown.as_ref(), alarm, &self.bot.settings, now);
        let in_place = outcome.shown.as_ref().is_none_or(|shown| todo != Todo::Close || shown.is_in(&self.bot.settings));
        match self.carry_out(todo, &mut outcome.shown, alarm, now).await {
            Ok(()) if todo == Todo::Nothing || !in_place => {}
            Ok(()) => outcome.contact = Contact::Reached,
            Err(error) => {
                if in_place {
                    outcome.contact = Contact::Failed;
                }
                if let Some(shown) = outcome.shown.as_mut().filter(|_| error.may_have_worked()) {
                    shown.doubt();
                }
                outcome.errors.push(error);
                return outcome;
            }
        }
        if let Some(shown) = &mut outcome.shown {
            outcome.errors.extend(self.cut_down_old(shown).await.err());
        }
        outcome
    }

    /// Whether the chat can be written to again, when there is nothing to write.
    ///
    /// # Errors
    /// If it cannot.
    pub async fn probe(&self, shown: Option<&Shown>) -> Result<(), ChannelError> {
        self.bot.probe(&self.chat(shown)).await
    }

    /// Sends a message that stands for itself, without a sound: it is not remembered.
    ///
    /// # Errors
    /// If it could not be sent, or nobody knows whether it was.
    pub async fn say(&self, shown: Option<&Shown>, message: &text::Message) -> Result<(), ChannelError> {
        self.bot.send(&self.chat(shown), message, Sound::Off).await.map(drop)
    }

    /// The chat of the settings, by the number that it has now.
    fn chat(&self, shown: Option<&Shown>) -> String {
        let known = shown.filter(|shown| shown.is_in(&self.bot.settings)).map(Shown::chat_now);
        known.unwrap_or_else(|| self.bot.settings.chat_id.clone())
    }

    async fn carry_out(&self, todo: Todo, shown: &mut Option<Shown>, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        match (todo, &mut *shown) {
            (Todo::Nothing, _) => Ok(()),
            (Todo::Edit, Some(stands)) => {
                let message = text::message(alarm);
                match self.bot.edit(&stands.place(), &message).await? {
                    Edited::Yes => {
                        stands.last = LastShown::new(message.digest(), &alarm.entries, Some(&stands.last), &alarm.passed, now);
                        Ok(())
                    }
                    // Somebody deleted it: what is open is told again.
                    Edited::Gone => self.send(shown, alarm, now).await,
                    Edited::Moved(chat) => {
                        stands.moved_to = Some(chat);
                        self.send(shown, alarm, now).await
                    }
                }
            }
            (Todo::Close, Some(stands)) => {
                let message = text::closed(alarm, stands.last.ended(&alarm.passed, now));
                let edited = self.bot.edit(&stands.place(), &message).await;
                match edited {
                    // A message that is gone shows no entries either, and in a chat that is another one now nobody can edit it.
                    Ok(edited) => {
                        if let Edited::Moved(chat) = edited {
                            stands.moved_to = Some(chat);
                        }
                        stands.last = LastShown::new(message.digest(), &[], Some(&stands.last), &alarm.passed, now);
                        Ok(())
                    }
                    // In a chat that the settings no longer name it is closed once, if that works.
                    Err(error) => {
                        if !stands.is_in(&self.bot.settings) && !error.may_work_later() {
                            *shown = None;
                        }
                        Err(error)
                    }
                }
            }
            (Todo::SendAndPoint, Some(stands)) => {
                let place = stands.place();
                self.send(shown, alarm, now).await?;
                if let Some(stands) = shown {
                    stands.supersede(place);
                }
                Ok(())
            }
            (Todo::Send, _) | (Todo::Edit | Todo::Close | Todo::SendAndPoint, None) => self.send(shown, alarm, now).await,
        }
    }

    /// Sends a new message, with a sound. If Telegram took it and its answer is lost, the next sweep sends another: there is
    /// no way to ask, and two messages are better than none.
    async fn send(&self, shown: &mut Option<Shown>, alarm: &Alarm, now: Time) -> Result<(), ChannelError> {
        let message = text::message(alarm);
        let settings = &self.bot.settings;
        let moved_to = shown.as_ref().filter(|shown| shown.is_in(settings)).and_then(|shown| shown.moved_to);
        let chat = moved_to.map_or_else(|| settings.chat_id.clone(), |id| id.to_string());
        let sent = self.bot.send(&chat, &message, Sound::On).await?;
        let (last, old) = match shown.take() {
            Some(before) => (Some(before.last), before.old),
            None => (None, Vec::new()),
        };
        *shown = Some(Shown {
            chat: settings.chat_id.clone(),
            thread: settings.thread_id,
            moved_to: sent.moved_to.or(moved_to),
            message_id: sent.message_id,
            sent_at: now,
            last: LastShown::new(message.digest(), &alarm.entries, last.as_ref(), &alarm.passed, now),
            old,
        });
        Ok(())
    }

    /// Cuts each message that was superseded down to a line that says so. What Telegram refuses is not tried again.
    async fn cut_down_old(&self, shown: &mut Shown) -> Result<(), ChannelError> {
        for _ in 0..OLD_A_SWEEP {
            let Some(place) = shown.old.first() else { break };
            let chat = shown.chat_now();
            let message = if place.chat == chat { text::pointer(address(&chat, shown.message_id).as_deref()) } else { text::moved() };
            let result = self.bot.edit(place, &message).await;
            if !matches!(&result, Err(error) if error.may_work_later()) {
                shown.old.remove(0);
            }
            result?;
        }
        Ok(())
    }
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
