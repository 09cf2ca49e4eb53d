//! Both channels of the alarm, and the link that they share.

use super::control_repo::ControlRepo;
use super::telegram::Telegram;
use super::{Alarm, AppPage, ChannelError, Memory};
use crate::config::Config;
use crate::github::api::Api;
use crate::github::app;
use crate::github::error::GitHubError;
use crate::policy::time::{Time, hours};
use crate::ports::{Clock, Network, Signer};

/// The link is read again when the alarm is written and it is older than this: Apps are renamed, and change hands.
const LINK_AGE: std::time::Duration = hours(24);

/// The channels that the settings name.
#[derive(Debug)]
pub struct Channels<'a, N, S, C> {
    api: &'a Api<'a, N, S, C>,
    telegram: Option<Telegram<'a, N>>,
    control_repo: Option<ControlRepo<'a, N, S, C>>,
}

/// What became of one change of the alarm.
#[derive(Debug)]
pub struct Told {
    /// What the channels show now.
    pub memory: Memory,
    /// Channels that could not show it.
    pub errors: Vec<ChannelError>,
    /// Why there is no fresh link, if there is none. The alarm goes out with the last one.
    pub link_error: Option<GitHubError>,
}

impl<'a, N: Network, S: Signer, C: Clock> Channels<'a, N, S, C> {
    /// The channels of `config`.
    pub fn new(network: &'a N, api: &'a Api<'a, N, S, C>, config: &'a Config) -> Self {
        Self {
            api,
            telegram: config.telegram.clone().map(|settings| Telegram::new(network, settings)),
            control_repo: config.control_repo.as_deref().map(|repo| ControlRepo::new(api, repo)),
        }
    }

    /// Whether no channel is set.
    #[must_use]
    pub fn are_none(&self) -> bool {
        self.telegram.is_none() && self.control_repo.is_none()
    }

    /// Whether both channels show this alarm, so that there is nothing to do.
    #[must_use]
    pub fn are_current(&self, memory: &Memory, alarm: &Alarm, now: Time) -> bool {
        let alarm = &of_app(memory, alarm);
        let telegram = self.telegram.as_ref().is_none_or(|channel| channel.is_current(memory.telegram.as_ref(), alarm, now));
        telegram && self.control_repo.as_ref().is_none_or(|channel| channel.is_current(memory.control_repo.as_ref(), alarm, now))
    }

    /// Shows the alarm on every channel that shows another one. Neither stops the other.
    pub async fn show(&self, mut memory: Memory, alarm: &Alarm, now: Time) -> Told {
        let mut told = Told { memory: Memory::default(), errors: Vec::new(), link_error: None };
        if self.are_current(&memory, alarm, now) {
            told.memory = memory;
            return told;
        }
        if memory.app.as_ref().is_none_or(|app| now.since(app.read_at) >= LINK_AGE) {
            match app::read(self.api).await {
                Ok(app) => memory.app = Some(AppPage { slug: app.slug, advanced_url: app.advanced_url, read_at: now }),
                Err(error) => told.link_error = Some(error),
            }
        }
        let alarm = &of_app(&memory, alarm);
        if let Some(channel) = &self.telegram {
            let (shown, result) = channel.show(memory.telegram.take(), alarm, now).await;
            memory.telegram = shown;
            told.errors.extend(result.err());
        }
        if let Some(channel) = &self.control_repo {
            let (shown, result) = channel.show(memory.control_repo.take(), alarm, now).await;
            memory.control_repo = shown;
            told.errors.extend(result.err());
        }
        told.memory = memory;
        told
    }
}

/// The alarm with what is known of the App.
fn of_app(memory: &Memory, alarm: &Alarm) -> Alarm {
    let app = memory.app.as_ref();
    Alarm { slug: app.and_then(|app| app.slug.clone()), advanced_url: app.and_then(|app| app.advanced_url.clone()), ..alarm.clone() }
}
