//! What each sort of entry means for a maintainer, and what to do about it.

use std::borrow::Cow;

use super::hours_of;
use crate::alarm::Alarm;
use crate::alarm::entry::{Channel, EntryKind, Failing};
use crate::config::KEY;
use crate::failure::FailureClass;
use crate::policy::order;

/// The sorts of advice, in the order in which they are given.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Sort {
    Failing,
    Outage,
    Refusing,
    TelegramLost,
    ControlRepoLost,
    LeftBehind,
    GapLost,
    GaveUp,
    NoAttempt,
    Refused,
}

/// What each sort of entry that is there means for a maintainer: its name, and what to do.
pub(super) fn advice(alarm: &Alarm) -> Vec<(&'static str, Cow<'static, str>)> {
    let mut all: Vec<(Sort, &'static str, &'static str)> = alarm.entries.iter().map(|entry| of(&entry.kind)).collect();
    order::sort(&mut all, |(sort, ..)| (*sort as i64, 0, 0));
    all.dedup_by_key(|(sort, ..)| *sort);
    all.into_iter().map(|(sort, name, what)| (name, for_this_app(sort, what, alarm))).collect()
}

/// What depends on the App and its GitHub: how long that keeps a delivery, and what the App's own settings are called if there are
/// several.
fn for_this_app(sort: Sort, what: &'static str, alarm: &Alarm) -> Cow<'static, str> {
    match (sort, &alarm.one_of_several) {
        (Sort::Outage, _) => what.replace(RETENTION, &hours_of(alarm)).into(),
        (Sort::Failing, Some(id)) => {
            let what = what.replace(KEY, &format!("{KEY}_{id}")).replace("(GITHUB_APP_ID)", &format!("({id})"));
            what.replace("GITHUB_APP_ID and GITHUB_API_URL are right", &format!("the id {id} in APPS and GITHUB_API_URL are right")).into()
        }
        _ => what.into(),
    }
}

/// Where a text says how long GitHub keeps a delivery.
const RETENTION: &str = "{retention}";

fn of(kind: &EntryKind) -> (Sort, &'static str, &'static str) {
    match kind {
        EntryKind::Failing(failing) => (Sort::Failing, "Recovery fails", of_failing(failing)),
        EntryKind::Outage(_) => (
            Sort::Outage,
            "Outage",
            "repair the endpoint. The events come by themselves when it answers again. Until then one event is asked for again as a \
             probe, and the others are kept waiting, each for {retention} after its first delivery. The entry leaves when the endpoint \
             answers.",
        ),
        EntryKind::Refusing(_) => (
            Sort::Refusing,
            "Refuses everything",
            "the endpoint answers, but takes nothing, and what it refused is not asked for again. A rotated secret looks like this: compare \
             the App's webhook secret and URL with what the endpoint expects. Once that is repaired, redeliver what matters on the Advanced \
             page. The entry leaves when an attempt passes.",
        ),
        EntryKind::ChannelLost { channel: Channel::Telegram, .. } => (
            Sort::TelegramLost,
            "Telegram",
            "nobody is told there. Look whether the bot is still in the chat and may write to it, and whether TELEGRAM_BOT_TOKEN, \
             TELEGRAM_CHAT_ID and TELEGRAM_THREAD_ID are right. The entry leaves when the chat can be reached again.",
        ),
        EntryKind::ChannelLost { channel: Channel::ControlRepo, .. } => (
            Sort::ControlRepoLost,
            "Control repository",
            "no issue is kept there. Look whether CONTROL_REPO is right, whether the App is installed there with the permission Issues: \
             read and write, and whether the repository has issues. The entry leaves when it can be reached again.",
        ),
        EntryKind::LeftBehind(_) => (
            Sort::LeftBehind,
            "Left behind",
            "the events were not delivered, and their time was over before they could be asked for again. On the Advanced page, look for \
             failed deliveries of that time and redeliver those that matter. If this comes back, raise MAX_REDELIVERIES or WINDOW_HOURS.",
        ),
        EntryKind::GapLost(_) => (
            Sort::GapLost,
            "Not read",
            "more was delivered than could be read in time, so failures among it may have gone unseen. On the Advanced page, look through \
             that time. If this comes back, raise SUBREQUEST_LIMIT (on the paid plan) and DELIVERY_PAGES.",
        ),
        EntryKind::GaveUp(_) => (
            Sort::GaveUp,
            "Gave up",
            "every attempt failed, so it is not asked for again. Repair the endpoint, then look for the guid on the Advanced page and press \
             Redeliver. The entry leaves when an attempt passes.",
        ),
        EntryKind::NotRedeliverable { answer: None, .. } => (
            Sort::NoAttempt,
            "No attempt",
            "GitHub took the requests to redeliver and made no attempt. Press Redeliver once on the Advanced page; if none comes of that \
             either, do by hand what the event would have done. The entry leaves when an attempt passes.",
        ),
        EntryKind::NotRedeliverable { answer: Some(_), .. } => (
            Sort::Refused,
            "GitHub refused",
            "GitHub did not take the request to redeliver. Press Redeliver once on the Advanced page; if that fails too, do by hand what \
             the event would have done. The entry leaves when an attempt passes.",
        ),
    }
}

/// By what made the last sweep fail. Each ends with when the entry leaves.
fn of_failing(failing: &Failing) -> &'static str {
    match failing.class {
        FailureClass::Config if !failing.problems.is_empty() => {
            "no webhook event is asked for again until the settings are right. Set each as it says, with wrangler or in Cloudflare's \
             dashboard, and deploy. The entry leaves with the next sweep that succeeds."
        }
        FailureClass::Config => {
            "no webhook event is asked for again until that is mended. Look whether GITHUB_APP_ID and GITHUB_API_URL are right, and \
             whether the App still exists. The entry leaves with the next sweep that succeeds."
        }
        FailureClass::Auth => {
            "no webhook event is asked for again until that is mended. Look whether the private key was revoked, whether it belongs to \
             this App (GITHUB_APP_ID), and whether the App is suspended. Give a new key as GITHUB_APP_PRIVATE_KEY. The entry leaves with \
             the next sweep that succeeds."
        }
        FailureClass::RateLimited => {
            "nothing has to be done unless it lasts: the Worker waits as GitHub asks, six hours at most, and then goes on. If it lasts, \
             look what else signs in as this App. The entry leaves with the next sweep that succeeds."
        }
        FailureClass::ServerError | FailureClass::Transport => {
            "nothing has to be done if GitHub is down (www.githubstatus.com): the Worker tries again each hour, or when GitHub says, and \
             goes on where it stopped. If GitHub is up, look whether GITHUB_API_URL is right. The entry leaves with the next sweep that \
             succeeds."
        }
        FailureClass::Decode => {
            "GitHub, or something in between, answers with something else than a list of deliveries. Look whether GITHUB_API_URL is right. \
             If it is, deploy the newest version of this Worker. The log has what could not be read. The entry leaves with the next sweep \
             that succeeds."
        }
        FailureClass::State => {
            "no webhook event is asked for again until that is mended. If a newer version of this Worker ran here before, deploy that one \
             again. Otherwise look at www.cloudflarestatus.com. The log has the reason. The entry leaves with the next sweep that \
             succeeds."
        }
        FailureClass::Killed => {
            "the limit of CPU time is the most likely reason; each sweep now reads a quarter of its pages. If it does not end by itself, \
             lower FAILURE_PAGES and DELIVERY_PAGES, or take Cloudflare's paid plan. The entry leaves with the next sweep that finishes."
        }
    }
}
