//! Histories in a small text form, one event a line:
//!
//! ```text
//! a issues.opened @7: 10:00 500, 10:05 503 | 500+20m, lost, 200
//! ```
//!
//! Event `a` of repository 7 (`@null`: of none; left out: `issue_comment.created @1`) was delivered at 10:00, and again at
//! 10:05 by a click of its maintainer. Behind `|` stands what becomes of the asks for it, in turn (the last one for all
//! that follow; `200` if none is named):
//!
//! | ask | meaning |
//! | --- | --- |
//! | `500+20m` | answered with 202, listed 20 minutes later (5 seconds, if that is left out) with code 500 |
//! | `lost` | answered with 202, and never listed |
//! | `unknown`, `unknown 500+1m` | no answer that can be read; not taken, or taken all the same |
//! | `refuse 404` | answered with that code |
//! | `off` | turned away, or never made |
//!
//! Behind the code of an attempt may stand `again` (its first delivery is not in the record), `#5` (its id, counted from
//! [`FIRST_ID`]), `listed 10:20` (GitHub lists it only then) and `plain` (its time has no milliseconds). Hours above 23 are
//! those of the next days.

use std::time::Duration;

use crate::policy::plan::AskAnswer;
use crate::policy::time::{Time, minutes};

/// Ids have 19 digits and exceed 2^53.
pub(crate) const FIRST_ID: u64 = 3_100_000_000_000_000_000;

/// 2026-12-01T00:00:00Z.
pub(crate) const MIDNIGHT: Time = Time::from_millis(1_796_083_200_000);

/// One event of a history.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) guid: String,
    pub(crate) event: String,
    pub(crate) action: Option<String>,
    pub(crate) repository_id: Option<u64>,
    pub(crate) attempts: Vec<ToldAttempt>,
    pub(crate) asks: Vec<ToldAsk>,
}

/// One attempt that GitHub makes by itself, or for a maintainer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldAttempt {
    pub(crate) at: Time,
    pub(crate) code: i64,
    pub(crate) redelivery: bool,
    pub(crate) id: Option<u64>,
    pub(crate) listed_at: Time,
    pub(crate) plain: bool,
}

/// What becomes of an ask.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldAsk {
    pub(crate) answer: AskAnswer,
    /// The attempt that is made: how much later, and its code.
    pub(crate) attempt: Option<(Duration, i64)>,
}

/// Reads a history.
pub(crate) fn parse(text: &str) -> Vec<Told> {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).map(parse_event).collect()
}

fn parse_event(line: &str) -> Told {
    let (head, rest) = line.split_once(": ").expect("an event is `guid: attempts`");
    let (attempts, asks) = rest.split_once('|').unwrap_or((rest, ""));
    let mut words = head.split_whitespace();
    let guid = words.next().expect("an event has a guid").to_owned();
    let (mut event, mut action, mut repository_id) = ("issue_comment".to_owned(), Some("created".to_owned()), Some(1));
    for word in words {
        if let Some(repository) = word.strip_prefix('@') {
            repository_id = (repository != "null").then(|| repository.parse().expect("a repository is a number"));
        } else {
            let (name, what) = word.split_once('.').map_or((word, None), |(name, what)| (name, Some(what)));
            (event, action) = (name.to_owned(), what.map(str::to_owned));
        }
    }
    let parts = |text: &str| text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect::<Vec<_>>();
    let attempts = parts(attempts).iter().enumerate().map(|(index, text)| parse_attempt(text, index > 0)).collect();
    Told { guid, event, action, repository_id, attempts, asks: parts(asks).iter().map(|text| parse_ask(text)).collect() }
}

fn parse_attempt(text: &str, redelivery: bool) -> ToldAttempt {
    let mut words = text.split_whitespace();
    let at = time(words.next().expect("an attempt has a time"));
    let code = words.next().and_then(|code| code.parse().ok()).expect("an attempt has a code");
    let mut attempt = ToldAttempt { at, code, redelivery, id: None, listed_at: at, plain: false };
    while let Some(word) = words.next() {
        match word {
            "again" => attempt.redelivery = true,
            "plain" => attempt.plain = true,
            "listed" => attempt.listed_at = time(words.next().expect("`listed` has a time")),
            id => attempt.id = Some(FIRST_ID + id.strip_prefix('#').and_then(|id| id.parse::<u64>().ok()).expect("an id is `#5`")),
        }
    }
    attempt
}

/// What becomes of an ask that no history tells of: the event passes.
pub(crate) fn parse_default_ask() -> ToldAsk {
    parse_ask("200")
}

fn parse_ask(text: &str) -> ToldAsk {
    let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
    let (answer, attempt) = match word {
        "lost" => (AskAnswer::Taken, ""),
        "off" => (AskAnswer::Withdrawn, ""),
        "refuse" => (AskAnswer::NotRedeliverable(rest.parse().expect("`refuse` has a code")), ""),
        "unknown" => (AskAnswer::Unknown, rest),
        _ => (AskAnswer::Taken, text),
    };
    let attempt = (!attempt.is_empty()).then(|| {
        let (code, late) = attempt.split_once('+').unwrap_or((attempt, ""));
        let late = late.strip_suffix('m').map_or(Duration::from_secs(5), |late| minutes(late.parse().expect("minutes are a number")));
        (late, code.parse().expect("an attempt has a code"))
    });
    ToldAsk { answer, attempt }
}

/// Reads `10:15`, `10:15:30` or `10:15:30.250`.
pub(crate) fn time(text: &str) -> Time {
    let parts: Vec<f64> = text.split(':').map(|part| part.parse().expect("a time is `10:15:30.250`")).collect();
    let seconds = parts.iter().zip([3600.0, 60.0, 1.0]).map(|(part, unit)| part * unit).sum::<f64>();
    MIDNIGHT + Duration::from_secs_f64(seconds)
}

/// `10:15`, with what of seconds there is.
pub(crate) fn clock(time: Time) -> String {
    let millis = time.since(MIDNIGHT).as_millis();
    let (minutes, rest) = (millis / 60_000, millis % 60_000);
    let seconds = match (rest / 1000, rest % 1000) {
        (0, 0) => String::new(),
        (seconds, 0) => format!(":{seconds:02}"),
        (seconds, millis) => format!(":{seconds:02}.{millis:03}"),
    };
    format!("{:02}:{:02}{seconds}", minutes / 60, minutes % 60)
}
