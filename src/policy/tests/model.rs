//! GitHub as far as the policy sees it: two lists served as JSON pages, and asks that become attempts later. And the
//! Worker around the policy: what it saves, what it asks. Every sweep is checked against the invariants on the way
//! ([`super::oracle`]).

use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use serde_json::json;

use super::history::{FIRST_ID, Told, ToldAsk, parse_default_ask};
use super::oracle::Oracle;
use crate::policy::budget::Budget;
use crate::policy::delivery::DeliveryId;
use crate::policy::ground::PageCursor;
use crate::policy::ledger::Ledger;
use crate::policy::plan::{AskAnswer, Plan, decide};
use crate::policy::reading::{List, Next, PageRequest, Reader};
use crate::policy::recovering::{OutOfReach, recover};
use crate::policy::settings::{RETENTION, Settings};
use crate::policy::time::{Time, minutes};

/// One item of GitHub's record.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    pub(crate) id: u64,
    pub(crate) guid: String,
    pub(crate) event: String,
    pub(crate) action: Option<String>,
    pub(crate) repository_id: Option<u64>,
    pub(crate) at: Time,
    pub(crate) shown_from: Time,
    pub(crate) redelivery: bool,
    pub(crate) code: i64,
    pub(crate) plain: bool,
}

/// GitHub's record, and what the endpoint will answer.
#[derive(Clone, Debug)]
pub(crate) struct GitHub {
    /// Sorted by position, each with its JSON.
    record: Vec<(Rc<Listed>, Rc<str>)>,
    asks: BTreeMap<String, Vec<ToldAsk>>,
    /// Items of each page of a list, in turn: with few items a page a few deliveries make a gap.
    pub(crate) page_sizes: Vec<usize>,
    /// Whether the items of a page come in another order.
    pub(crate) shuffled: bool,
    /// Whether it takes the page cursors of earlier sweeps.
    pub(crate) takes_old_cursors: bool,
    /// Whether its failures list has every outcome, as an old Enterprise Server's.
    pub(crate) ignores_the_filter: bool,
    /// How long it keeps a delivery.
    pub(crate) retention: Duration,
    /// From then on an ask is taken, and what it makes passes.
    pub(crate) answers_from: Option<Time>,
    /// When the endpoint is down, whatever a history says of it.
    pub(crate) down: Vec<(Time, Time)>,
    /// Its clock is ahead of `now` by so many milliseconds when it answers a list.
    pub(crate) clock_ahead: u64,
}

impl Default for GitHub {
    fn default() -> Self {
        Self {
            record: Vec::new(),
            asks: BTreeMap::new(),
            page_sizes: vec![100],
            shuffled: false,
            takes_old_cursors: true,
            ignores_the_filter: false,
            retention: RETENTION,
            answers_from: None,
            down: Vec::new(),
            clock_ahead: 1000,
        }
    }
}

/// What GitHub lists while an endpoint is down. Only the code 0 is not in the failures list.
const DOWN: [i64; 5] = [0, 502, 504, 521, 530];

/// A page as it goes over the wire.
pub(crate) struct Page {
    pub(crate) body: Vec<u8>,
    pub(crate) next: Option<PageCursor>,
    pub(crate) items: Vec<Rc<Listed>>,
}

impl GitHub {
    /// Adds what a history tells.
    pub(crate) fn add(&mut self, events: Vec<Told>) {
        for Told { guid, event, action, repository_id, attempts, asks } in events {
            for told in attempts {
                let id = told.id.unwrap_or_else(|| self.next_id(told.at));
                let (guid, event, action) = (guid.clone(), event.clone(), action.clone());
                let (at, shown_from, redelivery, plain) = (told.at, told.listed_at, told.redelivery, told.plain);
                let code = self.answer_at(at, told.code);
                self.insert(Listed { id, guid, event, action, repository_id, at, shown_from, redelivery, code, plain });
            }
            self.asks.insert(guid, asks);
        }
    }

    /// Adds `count` deliveries of other events that passed, evenly from one time up to another.
    pub(crate) fn add_traffic(&mut self, from: Time, to: Time, count: u32) {
        for index in 0..count {
            let at = from + to.since(from) * index / count;
            let id = self.next_id(at);
            let (guid, event, action) = (format!("~{id}"), "push".to_owned(), None);
            self.insert(Listed {
                id,
                guid,
                event,
                action,
                repository_id: Some(1),
                at,
                shown_from: at,
                redelivery: false,
                code: self.answer_at(at, 200),
                plain: false,
            });
        }
    }

    pub(crate) fn insert(&mut self, item: Listed) {
        let place = self.record.partition_point(|(known, _)| (known.at, known.id) < (item.at, item.id));
        let json = item_json(&item).to_string().into();
        self.record.insert(place, (Rc::new(item), json));
    }

    /// Forgets all deliveries.
    pub(crate) fn clear(&mut self) {
        self.record.clear();
    }

    /// The whole record.
    pub(crate) fn record(&self) -> impl Iterator<Item = &Listed> {
        self.record.iter().map(|(item, _)| &**item)
    }

    /// What GitHub lists of a delivery that the endpoint would answer with `code`.
    fn answer_at(&self, at: Time, code: i64) -> i64 {
        let is_down = self.down.iter().any(|(from, to)| *from <= at && at < *to);
        if is_down { DOWN[usize::try_from(at.millis() / 1000).unwrap_or(0) % DOWN.len()] } else { code }
    }

    /// Ids grow with time, and are as large as GitHub's.
    fn next_id(&self, at: Time) -> u64 {
        FIRST_ID + u64::try_from(at.millis() % 1_000_000_000).unwrap_or(0) * 100_000 + self.record.len() as u64
    }

    /// Serves a page of a list, as it stands at `now`.
    pub(crate) fn page(&self, request: &PageRequest, now: Time) -> Page {
        let key = request.from.as_ref().map(|from| parse_cursor(&from.0));
        let turn = key.map_or(0, |(_, turn)| turn);
        let in_list = |(item, _): &&(Rc<Listed>, Rc<str>)| {
            item.shown_from <= now
                && item.at + self.retention >= now
                && (request.list != List::Failures || self.ignores_the_filter || (400..600).contains(&item.code))
        };
        let size = self.page_sizes[turn % self.page_sizes.len()];
        let older = key
            .map_or(&self.record[..], |(before, _)| &self.record[..self.record.partition_point(|(item, _)| (item.at, item.id) < before)]);
        let mut rest = older.iter().rev().filter(in_list).cloned();
        let mut items: Vec<(Rc<Listed>, Rc<str>)> = rest.by_ref().take(size).collect();
        let end = items.last().map_or_else(|| key.map_or((now + minutes(1), 0), |(before, _)| before), |(item, _)| (item.at, item.id));
        let next =
            rest.next().map(|_| PageCursor(format!("https://api.github.com/?cursor={}_{}_{}", end.0.millis(), end.1, turn + 1).into()));
        if self.shuffled {
            items.sort_by_key(|(item, _)| item.id.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        }
        let json: Vec<&str> = items.iter().map(|(_, json)| &**json).collect();
        Page { body: format!("[{}]", json.join(",")).into_bytes(), next, items: items.into_iter().map(|(item, _)| item).collect() }
    }

    /// Takes an ask, and answers.
    pub(crate) fn ask(&mut self, delivery: DeliveryId, now: Time) -> AskAnswer {
        let of = self.record().find(|item| item.id == delivery.0).expect("an ask names a delivery of the record").clone();
        let asks = self.asks.entry(of.guid.clone()).or_default();
        if self.answers_from.is_some_and(|from| from <= now) {
            asks.clear();
        }
        let told = if asks.len() > 1 { asks.remove(0) } else { asks.first().copied().unwrap_or(parse_default_ask()) };
        if let Some((late, code)) = told.attempt {
            let at = now + late;
            let id = self.next_id(at);
            let code = self.answer_at(at, code);
            self.insert(Listed { id, at, shown_from: at, redelivery: true, code, ..of });
        }
        told.answer
    }
}

fn parse_cursor(link: &str) -> ((Time, u64), usize) {
    let (_, cursor) = link.split_once('=').expect("the cursor is ours");
    let parts: Vec<&str> = cursor.split('_').collect();
    let number = |place: usize| parts[place].parse::<u64>().expect("the cursor is ours");
    let at = Time::from_millis(i64::try_from(number(0)).expect("a time is no larger"));
    ((at, number(1)), usize::try_from(number(2)).expect("a turn is no larger"))
}

fn item_json(item: &Listed) -> serde_json::Value {
    let mut delivered_at = item.at.to_string();
    if item.plain {
        delivered_at.replace_range(19..23, "");
    }
    json!({
        "id": item.id, "guid": item.guid, "delivered_at": delivered_at, "redelivery": item.redelivery, "duration": 0.27,
        "status": "as people call it", "status_code": item.code, "event": item.event, "action": item.action,
        "installation_id": 1, "repository_id": item.repository_id, "throttled_at": null,
    })
}

/// What goes wrong in a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// It dies between the save and the asks.
    Crash,
    /// It dies after the asks, before their answers are saved.
    CrashLate,
    /// The sweep before it was killed.
    AfterKill,
}

/// What a sweep came to.
#[derive(Debug)]
pub(crate) struct Swept {
    pub(crate) plan: Plan,
    pub(crate) asked: Vec<String>,
    /// Pages of the failures list, the deliveries list, and gaps.
    pub(crate) pages: [u32; 3],
    pub(crate) second_look_complete: bool,
}

/// GitHub, and one installation of the Worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct World {
    pub(crate) github: GitHub,
    pub(crate) settings: Settings,
    /// The stored value.
    pub(crate) saved: String,
    pub(crate) oracle: Oracle,
}

impl World {
    /// The ledger as it is stored.
    pub(crate) fn ledger(&self) -> Ledger {
        if self.saved.is_empty() { Ledger::default() } else { serde_json::from_str(&self.saved).expect("it is read back") }
    }

    pub(crate) fn save(&mut self, ledger: &Ledger) {
        self.saved = serde_json::to_string(ledger).expect("a ledger is plain data");
        let again = serde_json::to_string(&self.ledger()).expect("a ledger is plain data");
        assert_eq!(again, self.saved, "the stored form loses nothing");
    }

    /// Sweeps, unless `now` is not later than the last sweep's. `None` if there was nothing to do, or no room to read.
    pub(crate) fn sweep(&mut self, now: Time, fault: Fault) -> Option<Swept> {
        let mut ledger = self.ledger();
        if ledger.swept_at.is_some_and(|swept_at| now <= swept_at && swept_at.since(now) < minutes(60)) {
            return None;
        }
        ledger.move_to(now);
        ledger.apply(&self.settings, now);
        self.sweep_on(ledger, now, fault)
    }

    /// A sweep a quarter of an hour before `now` succeeded, if the last one was earlier.
    pub(crate) fn swept_a_quarter_before(&mut self, now: Time) {
        let mut ledger = self.ledger();
        if let Some(swept_at) = &mut ledger.swept_at {
            *swept_at = (now - minutes(15)).max(*swept_at);
            ledger.succeed();
            self.save(&ledger);
        }
    }

    /// Has the window reach back to `since`, as a person asks for it at `now`.
    pub(crate) fn recover(&mut self, since: Time, now: Time) -> Result<(), OutOfReach> {
        let mut ledger = self.ledger();
        recover(&mut ledger, since, self.settings.retention, now)?;
        self.save(&ledger);
        self.oracle.forgot_all_but(|guid| ledger.events.get(&guid.into()).is_some_and(|event| event.first().is_some()));
        Ok(())
    }

    /// The sweep of `now` once more, as if it had not finished.
    pub(crate) fn sweep_again(&mut self, now: Time) -> Option<Swept> {
        let mut ledger = self.ledger();
        ledger.move_to(now);
        ledger.apply(&self.settings, now);
        self.sweep_on(ledger, now, Fault::None)
    }

    /// The rest of a sweep, from a ledger that was moved to `now`.
    fn sweep_on(&mut self, ledger: Ledger, now: Time, fault: Fault) -> Option<Swept> {
        let budget = Budget::new(self.settings.subrequest_limit);
        let date = now + Duration::from_millis(self.github.clock_ahead);
        let mut reader = Reader::new(&ledger, &self.settings, now, fault == Fault::AfterKill);
        let mut pages = [0; 3];
        loop {
            let request = match reader.next(budget.spare(&self.settings)) {
                Next::Page(request) => request,
                Next::Done => break,
                Next::NoRoom => return None,
            };
            assert!(budget.take(), "a page is asked for that the budget does not allow");
            pages[request.list as usize] += 1;
            if request.list == List::Gap && !self.github.takes_old_cursors {
                reader.gap_refused();
                continue;
            }
            let page = self.github.page(&request, date);
            self.oracle.saw(request.list, &page.items);
            reader.take(request.list, &page.body, page.next, Some(date)).expect("the model's pages are right");
        }
        let reading = reader.finish();
        let second_look_complete = reading.second_look_complete;
        let mut plan = decide(ledger, reading, &self.settings, now, true);
        self.oracle.check(&plan, &self.settings, now);
        assert!(budget.left() as usize >= plan.asks.len(), "no calls are left for the asks");
        self.save(&plan.ledger);
        let mut asked = Vec::new();
        if fault != Fault::Crash {
            for ask in plan.asks.clone() {
                assert!(budget.take(), "no call is left for an ask");
                let answer = self.github.ask(ask.delivery, date);
                self.oracle.asked(&ask.guid, now, if fault == Fault::CrashLate { AskAnswer::Unknown } else { answer });
                plan.answered(&ask.guid, answer);
                asked.push(ask.guid.to_string());
            }
            if fault != Fault::CrashLate {
                plan.ledger.succeed();
                self.save(&plan.ledger);
            }
        }
        Some(Swept { plan, asked, pages, second_look_complete })
    }
}
