//! Both channels of the alarm, and what they share: what is known of the App, and twelve calls.

#[cfg(test)]
mod tests;

use std::cell::Cell;

use futures_util::future::join;

use super::control_repo::{self, ControlRepo};
use super::entry::{Channel, with_lost_channel};
use super::reach::{Contact, Reach};
use super::summary::Day;
use super::telegram::Telegram;
use super::text::summary::summary;
use super::{Alarm, AppPage, ChannelError, Memory, Outcome};
use crate::apart::apart;
use crate::config::Config;
use crate::github::api::Api;
use crate::github::app;
use crate::github::error::GitHubError;
use crate::policy::budget::{ALARM_CALLS, Budget};
use crate::policy::own::Write;
use crate::policy::time::{Time, hours};
use crate::ports::{Clock, Network, Signer};

/// The App is read again when the alarm is written and this is older: Apps are renamed, and change hands.
const APP_AGE: std::time::Duration = hours(24);

/// Calls that the channel which comes first leaves to the other, if that has something to show: a message, the second try
/// of it, and an old one cut down; or an issue that was closed, and a new one.
const KEPT_FOR_TELEGRAM: u32 = 4;
const KEPT_FOR_CONTROL_REPO: u32 = 6;

/// The channels that the settings name.
#[derive(Debug)]
pub struct Channels<'a, N, S, C> {
    api: &'a Api<'a, N, S, C>,
    budget: &'a Budget,
    telegram: Option<Telegram<'a, N, C>>,
    control_repo: Option<ControlRepo<'a, N, S, C>>,
    /// Calls of the alarm so far: a sweep that tells twice has twelve for both.
    used: Cell<u32>,
}

/// Which channels may be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// Both.
    All,
    /// Telegram alone: it is GitHub that fails, or may not be called. The control repository goes on in a later sweep.
    WithoutGitHub,
}

/// What became of one change of the alarm.
#[derive(Debug, Default)]
pub struct Told {
    /// What the channels show now.
    pub memory: Memory,
    /// What a channel could not show, or found changed.
    pub errors: Vec<ChannelError>,
    /// Why nothing fresh is known of the App, if so. The alarm goes out with what was known.
    pub app_error: Option<GitHubError>,
    /// What we wrote into the control repository.
    pub writes: Vec<Write>,
    /// What stood there already, as an edit that changed nothing found.
    pub stood: Vec<Write>,
}

impl<'a, N: Network, S: Signer, C: Clock> Channels<'a, N, S, C> {
    /// The channels of `config`. `network` and `api` count their calls against `budget`.
    pub fn new(network: &'a N, clock: &'a C, api: &'a Api<'a, N, S, C>, budget: &'a Budget, config: &'a Config) -> Self {
        let telegram = config.telegram.clone().map(|settings| Telegram::new(network, clock, settings));
        let control_repo = config.control_repo.as_deref().map(|repo| ControlRepo::new(api, repo));
        Self { api, budget, telegram, control_repo, used: Cell::new(0) }
    }

    /// Whether no channel is set.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.telegram.is_none() && self.control_repo.is_none()
    }

    /// Calls of the alarm that this sweep has made.
    #[must_use]
    pub fn used(&self) -> u32 {
        self.used.get()
    }

    /// Whether these channels show this alarm, so that there is nothing to do. One that is lost is to be tried.
    #[must_use]
    pub fn are_current(&self, memory: &Memory, alarm: &Alarm, now: Time, ways: Ways) -> bool {
        let is_current = |channel: &Channel| !self.is_lost(*channel, memory) && self.is_current(*channel, memory, alarm, now);
        let all = [Channel::Telegram, Channel::ControlRepo];
        let channels = if ways == Ways::All { &all[..] } else { &all[..1] };
        channels.iter().all(is_current)
    }

    /// The channels that cannot be reached, with what they said.
    #[must_use]
    pub fn lost<'m>(&self, memory: &'m Memory) -> Vec<(Channel, &'m str)> {
        let said = |channel| Some((channel, self.reach(channel, memory)?.lost()?.said.as_str()));
        [Channel::Telegram, Channel::ControlRepo].into_iter().filter_map(said).collect()
    }

    /// Whether there are channels, and none can be reached.
    #[must_use]
    pub fn are_all_lost(&self, memory: &Memory) -> bool {
        let set = usize::from(self.telegram.is_some()) + usize::from(self.control_repo.is_some());
        set > 0 && self.lost(memory).len() == set
    }

    /// Shows the alarm on every channel that shows another one, with twelve calls a sweep at most. Neither stops the other.
    pub async fn show(&self, memory: Memory, alarm: &Alarm, now: Time, ways: Ways) -> Told {
        apart(self.show_all(memory, alarm, now, ways)).await
    }

    /// Sends what `day` came to, without a sound, when Telegram shows `alarm`. Whether Telegram can be reached is noted as for any call.
    ///
    /// # Errors
    /// If it could not be sent, or nobody knows whether it was.
    pub async fn summarize(&self, memory: &mut Memory, alarm: &Alarm, day: &Day, now: Time) -> Result<(), ChannelError> {
        let Some(telegram) = &self.telegram else { return Ok(()) };
        let message = summary(&self.alarm_for(Channel::Telegram, memory, alarm), day);
        let said = apart(telegram.say(memory.telegram.as_ref(), &message)).await;
        let contact = if said.is_ok() { Contact::Reached } else { Contact::Failed };
        memory.telegram_reach.note(contact, said.as_ref().err(), now);
        said
    }

    async fn show_all(&self, memory: Memory, alarm: &Alarm, now: Time, ways: Ways) -> Told {
        let mut told = Told { memory, ..Told::default() };
        let before = self.budget.used();
        let end = before.saturating_add(ALARM_CALLS.saturating_sub(self.used.get()));
        self.budget.allow(end.saturating_sub(before));
        if ways == Ways::All {
            apart(self.get_ready(&mut told, alarm, now)).await;
            apart(self.show_on_both(&mut told, alarm, now, end)).await;
        } else {
            apart(self.turn(Channel::Telegram, &mut told, alarm, now, Probe::IfLost)).await;
        }
        self.budget.allow_all();
        self.used.set(self.used.get() + (self.budget.used() - before));
        if let Some(control_repo) = &self.control_repo {
            told.writes = control_repo.take_writes();
            told.stood = control_repo.take_stood();
        }
        told
    }

    /// `end`: how many calls of the budget may be used by then.
    async fn show_on_both(&self, told: &mut Told, alarm: &Alarm, now: Time, end: u32) {
        // The issue comes first, since the message has a button to it. A channel that is lost comes before both: whether it is
        // back is an entry of the other.
        let first = if self.is_lost(Channel::Telegram, &told.memory) { Channel::Telegram } else { Channel::ControlRepo };
        let second = other(first);
        let kept = if self.is_current(second, &told.memory, alarm, now) {
            0
        } else if second == Channel::Telegram {
            KEPT_FOR_TELEGRAM
        } else {
            KEPT_FOR_CONTROL_REPO
        };
        self.budget.allow(end.saturating_sub(self.budget.used()).saturating_sub(kept));
        let once_more = apart(self.turn(first, told, alarm, now, Probe::IfLost)).await;
        self.budget.allow(end.saturating_sub(self.budget.used()));
        apart(self.turn(second, told, alarm, now, Probe::IfLost)).await;
        // The other one may be lost since, or the issue be another; or calls are left over.
        if once_more {
            apart(self.turn(first, told, alarm, now, Probe::Never)).await;
        }
    }

    /// Reads the App if it is to be read, and enters the control repository meanwhile if it comes first.
    async fn get_ready(&self, told: &mut Told, alarm: &Alarm, now: Time) {
        let has_to_show = |channel: Channel| !self.is_current(channel, &told.memory, alarm, now);
        // What is said when nothing is open any more has no link.
        let needs_app = |channel: Channel| has_to_show(channel) && !self.alarm_for(channel, &told.memory, alarm).entries.is_empty();
        let is_fresh = told.memory.app.as_ref().is_some_and(|app| now.since(app.read_at) < APP_AGE);
        if is_fresh || !(needs_app(Channel::ControlRepo) || needs_app(Channel::Telegram)) {
            return;
        }
        let comes_first = !self.is_lost(Channel::Telegram, &told.memory) && has_to_show(Channel::ControlRepo);
        let enter = async {
            if let Some(control_repo) = self.control_repo.as_ref().filter(|_| comes_first) {
                control_repo.enter_ahead(told.memory.control_repo.as_ref()).await;
            }
        };
        let (app, ()) = join(apart(app::read(self.api)), apart(enter)).await;
        match app {
            Ok(app) => told.memory.app = Some(AppPage { slug: app.slug, advanced_url: app.advanced_url, read_at: now }),
            Err(error) => told.app_error = Some(error),
        }
    }

    /// Lets one channel show what it is to show. Returns whether it may have another turn in this sweep: one that cannot be
    /// reached has not.
    async fn turn(&self, channel: Channel, told: &mut Told, alarm: &Alarm, now: Time, probe: Probe) -> bool {
        let Some(reach) = self.reach(channel, &told.memory) else { return false };
        let is_lost = reach.lost().is_some();
        let (contact, errors) = if !self.is_current(channel, &told.memory, alarm, now) {
            let alarm = self.alarm_for(channel, &told.memory, alarm);
            match (channel, &self.telegram, &self.control_repo) {
                (Channel::Telegram, Some(telegram), _) => {
                    let Outcome { shown, contact, errors } = apart(telegram.show(told.memory.telegram.take(), &alarm, now)).await;
                    told.memory.telegram = shown;
                    (contact, errors)
                }
                (Channel::ControlRepo, _, Some(control_repo)) => {
                    let Outcome { shown, contact, errors } = apart(control_repo.show(told.memory.control_repo.take(), &alarm, now)).await;
                    told.memory.control_repo = shown;
                    (contact, errors)
                }
                _ => return false,
            }
        } else if is_lost && probe == Probe::IfLost {
            let result = match (channel, &self.telegram, &self.control_repo) {
                (Channel::Telegram, Some(telegram), _) => apart(telegram.probe(told.memory.telegram.as_ref())).await,
                (Channel::ControlRepo, _, Some(control_repo)) => apart(control_repo.probe()).await,
                _ => return false,
            };
            match result {
                Ok(()) => (Contact::Reached, Vec::new()),
                Err(error) => (Contact::Failed, vec![error]),
            }
        } else {
            return !is_lost;
        };
        let reach = match channel {
            Channel::Telegram => &mut told.memory.telegram_reach,
            Channel::ControlRepo => &mut told.memory.control_repo_reach,
        };
        reach.note(contact, errors.last(), now);
        let may_go_on = errors.iter().all(ChannelError::was_not_made);
        told.errors.extend(errors);
        may_go_on
    }

    fn is_current(&self, channel: Channel, memory: &Memory, alarm: &Alarm, now: Time) -> bool {
        let alarm = self.alarm_for(channel, memory, alarm);
        match channel {
            Channel::Telegram => self.telegram.as_ref().is_none_or(|telegram| telegram.is_current(memory.telegram.as_ref(), &alarm, now)),
            Channel::ControlRepo => {
                self.control_repo.as_ref().is_none_or(|control_repo| control_repo.is_current(memory.control_repo.as_ref(), &alarm, now))
            }
        }
    }

    fn is_lost(&self, channel: Channel, memory: &Memory) -> bool {
        self.reach(channel, memory).is_some_and(|reach| reach.lost().is_some())
    }

    /// `None` if the settings name no such channel: then what is remembered of it says nothing.
    fn reach<'m>(&self, channel: Channel, memory: &'m Memory) -> Option<&'m Reach> {
        match channel {
            Channel::Telegram => self.telegram.as_ref().map(|_| &memory.telegram_reach),
            Channel::ControlRepo => self.control_repo.as_ref().map(|_| &memory.control_repo_reach),
        }
    }

    /// The alarm as this channel is to show it: with what is known of the App, and with the loss of the other one.
    fn alarm_for(&self, channel: Channel, memory: &Memory, alarm: &Alarm) -> Alarm {
        let app = memory.app.as_ref();
        let mut entries = alarm.entries.clone();
        if let Some(lost) = self.reach(other(channel), memory).and_then(Reach::lost) {
            entries = with_lost_channel(entries, other(channel), lost.since, &lost.said);
        }
        let issue = self.control_repo.as_ref().and(memory.control_repo.as_ref()).and_then(control_repo::Shown::open_url);
        Alarm {
            entries,
            passed: alarm.passed.clone(),
            slug: app.and_then(|app| app.slug.clone()),
            advanced_url: app.and_then(|app| app.advanced_url.clone()),
            issue_url: issue.filter(|_| channel == Channel::Telegram).map(str::to_owned),
            status_url: alarm.status_url.clone(),
            one_of_several: alarm.one_of_several.clone(),
            retention: alarm.retention,
        }
    }
}

/// Whether a channel that is lost is called although it has nothing to show.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Probe {
    IfLost,
    Never,
}

fn other(channel: Channel) -> Channel {
    match channel {
        Channel::Telegram => Channel::ControlRepo,
        Channel::ControlRepo => Channel::Telegram,
    }
}
