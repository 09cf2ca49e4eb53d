//! wb's package `redeliver`: `hub/redeliver/redeliver.go` in `sneat-dev/wb`, in its newest version.
//!
//! At the start and then hourly: all outcomes of 72 hours, 50 pages at most (silently), the newest attempt of each guid. Failed is what is
//! not 2xx. Abandoned 72 hours after the first delivery; not sooner than an hour after the last ask; at most three counted asks. An
//! ask counts only with evidence that the endpoint answers (any code but 0, 502, 504, 530): an answered attempt of any event since the
//! last ask for this one, or its own newest attempt, if that is another than the one it last acted on. The count is saved before the
//! call and taken back when GitHub's API fails, which ends the sweep; then 1, 2, 4, 6 hours.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours};

use crate::github::{Item, List};
use crate::policy::{Calls, Down, Policy};

const MAX_ATTEMPTS: u32 = 3;

#[derive(Debug, Default)]
struct Record {
    attempts: u32,
    abandoned: bool,
    last_attempt: Option<Time>,
    acted_on: Option<u64>,
    first_delivered: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Wb {
    records: BTreeMap<u32, Record>,
    failures: u32,
}

fn is_answer(item: &Item) -> bool {
    !matches!(item.code, 0 | 502 | 504 | 530)
}

impl Wb {
    fn sweep(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let items = calls.read(List::All, (100, 50), |item| item.at < now - hours(72))?;
        let mut seen = BTreeSet::new();
        let newest: Vec<Item> = items.iter().filter(|item| seen.insert(item.event)).copied().collect();
        let earliest: BTreeMap<u32, Time> = items.iter().map(|item| (item.event, item.at)).collect();
        // Only the newest answered attempt matters to "since".
        let newest_answer = newest.iter().filter(|item| is_answer(item)).map(|item| item.at).max();
        for item in newest.iter().filter(|item| !item.is_ok()) {
            let fresh = Record { first_delivered: earliest[&item.event], ..Record::default() };
            let record = self.records.entry(item.event).or_insert(fresh);
            let too_soon = record.last_attempt.is_some_and(|last| now.since(last) < hours(1));
            if record.abandoned || too_soon {
                continue;
            }
            if now.since(record.first_delivered) > hours(72) || record.attempts >= MAX_ATTEMPTS {
                record.abandoned = true;
                continue;
            }
            let since = |last| newest_answer.is_some_and(|answer| answer > last);
            let others = record.last_attempt.map_or(newest_answer.is_some(), since);
            let own = is_answer(item) && record.acted_on != Some(item.id);
            let counts = others || own;
            record.last_attempt = Some(now);
            record.acted_on = Some(item.id);
            record.attempts += u32::from(counts);
            if let Err(down) = calls.ask(item.id) {
                record.attempts -= u32::from(counts);
                return Err(down);
            }
        }
        Ok(())
    }
}

impl Policy for Wb {
    fn run(&mut self, calls: &mut Calls<'_, '_>, now: Time) -> Result<(), Down> {
        let result = self.sweep(calls, now);
        self.failures = if result.is_ok() { 0 } else { self.failures + 1 };
        result
    }

    fn interval(&self) -> Duration {
        match self.failures {
            0 | 1 => hours(1),
            2 => hours(2),
            3 => hours(4),
            _ => hours(6),
        }
    }

    fn first_run(&self) -> Duration {
        Duration::ZERO
    }
}
