//! Whether anything grows: a month of the busiest traffic, and a day of it with the endpoint down, played for this Worker with what it
//! stores, writes and computes in each sweep. docs/state.md has the result.
//!
//! The month is the same few days over and over ([`Month`]). So a sweep of the last turn must leave what the same sweep left before the
//! day without an answer, element for element: a single thing that is never forgotten shows, wherever it lies.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours};
use github_app_redeliver::ports::Key;
use serde_json::Value;

use crate::play::play_until;
use crate::policies::ours::{Cost, Ours};
use crate::score::Counts;
use crate::traffic::START;
use crate::week::{Month, Week};

/// Bytes of one stored value at most (spec section 10).
const VALUE_BYTES: usize = 1_900_000;

/// Bytes of the history at most (docs/state.md).
const HISTORY_BYTES: usize = 30_000;

/// Values written in one sweep at most: the lease and its end, the state before the asks and at the end, the history.
const ROWS_A_SWEEP: u64 = 5;

/// Digits by which counters of a month may be longer: the alarm counts the entries that left.
const DIGITS: usize = 32;

/// Settings of this Worker.
type Settings = [(&'static str, &'static str)];

/// The defaults, and both channels of the alarm.
const FREE: &Settings = &[("CONTROL_REPO", "acme/control")];

/// As many calls as the paid plan has.
const PAID: &Settings = &[("CONTROL_REPO", "acme/control"), ("SUBREQUEST_LIMIT", "10000")];

/// With so many asks a sweep a day's events fill the state to its bound.
const MANY_ASKS: &Settings = &[("CONTROL_REPO", "acme/control"), ("SUBREQUEST_LIMIT", "10000"), ("MAX_REDELIVERIES", "200")];

/// One sweep.
#[derive(Debug)]
struct Swept {
    at: Time,
    state_bytes: usize,
    history_bytes: usize,
    cost: Cost,
    shape: Shape,
}

/// How many elements the lists and objects of a state have, and how long its texts are, by their place: `.ledger.events[].t`.
type Shape = BTreeMap<String, usize>;

/// A month as it was played.
#[derive(Debug)]
struct Played {
    month: Month,
    sweeps: Vec<Swept>,
    counts: Counts,
}

/// Plays that month with these settings.
fn play_month(month: Month, seed: u64, settings: &'static Settings) -> Played {
    let week = Week::of_month(month, seed);
    let mut ours = Ours::new(settings);
    let mut sweeps = Vec::new();
    let counts = play_until(&week, &mut ours, month.end(), |ours, at| {
        let state = ours.stored(Key::State);
        let history_bytes = ours.stored(Key::History).len();
        sweeps.push(Swept { at, state_bytes: state.len(), history_bytes, cost: ours.cost, shape: Shape::default() });
        let turn = month.turn_of(at);
        // It takes longer than the sweep, and is not needed where the size says enough.
        let is_compared = turn == month.before() || turn + 1 == month.turns;
        if (is_compared || turn > month.before() && has_the_size(&sweeps, month))
            && let Some(swept) = sweeps.last_mut()
        {
            let state = serde_json::from_str(&state).expect("a sweep wrote it");
            add_to_shape(&mut swept.shape, &mut String::new(), &state);
        }
    });
    Played { month, sweeps, counts }
}

/// Whether the last sweep left a state of the size that the same sweep of the turn before the day without an answer left.
fn has_the_size(sweeps: &[Swept], month: Month) -> bool {
    let Some(last) = sweeps.last() else { return false };
    let same = last.at - month.turn() * (month.turn_of(last.at) - month.before());
    let before = sweeps.partition_point(|swept| swept.at < same);
    last.has_the_size_of(&sweeps[before])
}

fn add_to_shape(shape: &mut Shape, place: &mut String, value: &Value) {
    let end = place.len();
    let length = match value {
        Value::Array(list) => {
            place.push_str("[]");
            for element in list {
                add_to_shape(shape, place, element);
            }
            list.len()
        }
        Value::Object(object) => {
            for (name, element) in object {
                place.truncate(end);
                place.push('.');
                place.push_str(name);
                add_to_shape(shape, place, element);
            }
            object.len()
        }
        Value::String(text) => text.len(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return,
    };
    place.truncate(end);
    match shape.get_mut(place) {
        Some(sum) => *sum += length,
        None => _ = shape.insert(place.clone(), length),
    }
}

impl Swept {
    fn has_the_size_of(&self, before: &Self) -> bool {
        self.state_bytes.abs_diff(before.state_bytes) <= DIGITS
    }

    /// What there is more of than `before`, or less: each place, and then what was said of it.
    fn grown(&self, before: &Self) -> Vec<(String, String)> {
        let places: BTreeSet<&String> = self.shape.keys().chain(before.shape.keys()).collect();
        let lengths = |place: &str| [before, self].map(|swept| swept.shape.get(place).copied().unwrap_or_default());
        let other = places.into_iter().map(|place| (place, lengths(place))).filter(|(_, [before, now])| before != now);
        let told = |(place, [before, now]): (&String, [usize; 2])| (place.clone(), format!("{place} has {now}, and had {before}"));
        let mut grown: Vec<(String, String)> = other.map(told).collect();
        if !self.has_the_size_of(before) {
            let told = format!("the state has {} bytes, and had {}", self.state_bytes, before.state_bytes);
            grown.push(("state".to_owned(), told));
        }
        let (allocations, known) = (self.cost.allocations, before.cost.allocations);
        // The trees of what is kept split by guids, which differ.
        if allocations > known + known / 50 + 50 {
            grown.push(("allocations".to_owned(), format!("the sweep made {allocations} allocations, and {known} before")));
        }
        grown
    }
}

impl Played {
    fn turn(&self, nth: u32) -> &[Swept] {
        let from = START + self.month.turn() * nth;
        let place = |at: Time| self.sweeps.partition_point(|swept| swept.at < at);
        &self.sweeps[place(from)..place(from + self.month.turn())]
    }

    fn last_turn(&self) -> &[Swept] {
        self.turn(self.month.turns - 1)
    }

    /// What grew, or is more than it may be, with the first sweep that shows it.
    fn problems(&self) -> Vec<String> {
        let mut problems = Vec::new();
        let mut note = |found: Option<(Time, String)>| problems.extend(found.map(|(at, what)| format!("{at}: {what}")));
        let too_large = |swept: &&Swept| swept.state_bytes > VALUE_BYTES || swept.history_bytes > HISTORY_BYTES;
        let sizes = |swept: &Swept| (swept.at, format!("state {} bytes, history {} bytes", swept.state_bytes, swept.history_bytes));
        note(self.sweeps.iter().find(too_large).map(sizes));
        let writes_more = self.sweeps.iter().find(|swept| swept.cost.rows > ROWS_A_SWEEP);
        note(writes_more.map(|swept| (swept.at, format!("{} rows written", swept.cost.rows))));
        let (turn, last_turn) = (self.turn(self.month.before()), self.last_turn());
        let later = self.month.turn() * (self.month.turns - 1 - self.month.before());
        if !turn.iter().map(|swept| swept.at + later).eq(last_turn.iter().map(|swept| swept.at)) {
            note(Some((self.month.end(), "the turns do not have the same sweeps".to_owned())));
        }
        let grown = turn.iter().zip(last_turn).flat_map(|(before, last)| last.grown(before).into_iter().map(|what| (last.at, what)));
        let mut places = BTreeSet::new();
        grown.filter(|(_, (place, _))| places.insert(place.clone())).for_each(|(at, (_, what))| note(Some((at, what))));
        if self.counts.silent > 0 {
            note(Some((self.month.end(), format!("{} events were lost in silence", self.counts.silent))));
        }
        problems
    }

    /// How long after the day without an answer every sweep leaves what it left before that.
    fn back_after(&self) -> Duration {
        let down = self.month.down_until();
        let turns = (self.month.before()..self.month.turns).map(|nth| self.turn(nth).iter().zip(self.turn(self.month.before())));
        let differing = turns.flatten().rfind(|(swept, before)| !swept.grown(before).is_empty());
        differing.map_or(Duration::ZERO, |(swept, _)| swept.at.since(down))
    }

    /// The largest state of a turn, and of the whole month.
    fn largest(&self) -> [usize; 3] {
        self.in_turns(|sweeps| sweeps.iter().map(|swept| swept.state_bytes).max().unwrap_or_default())
    }

    /// The same of the turn before the day without an answer, of the whole month, and of the last turn.
    fn in_turns<T>(&self, what: impl Fn(&[Swept]) -> T) -> [T; 3] {
        [self.turn(self.month.before()), &self.sweeps, self.last_turn()].map(what)
    }

    /// The rows of the day that wrote most.
    fn rows_a_day(&self) -> u64 {
        days(&self.sweeps).map(|day| day.iter().map(|swept| swept.cost.rows).sum()).max().unwrap_or_default()
    }
}

/// Sweeps by their day.
fn days(sweeps: &[Swept]) -> impl Iterator<Item = &[Swept]> {
    sweeps.chunk_by(|one, other| one.at.since(START).as_secs() / 86_400 == other.at.since(START).as_secs() / 86_400)
}

/// The mean of the day in which a sweep took longest.
fn dearest_day(sweeps: &[Swept]) -> Duration {
    let mean = |day: &[Swept]| day.iter().map(|swept| swept.cost.took).sum::<Duration>() / u32::try_from(day.len()).expect("few");
    days(sweeps).map(mean).max().unwrap_or_default()
}

/// Plays a month of thirty days with each of the settings and prints what it came to.
///
/// # Errors
/// If anything grew.
pub(crate) fn report() -> io::Result<()> {
    let month = Month { days: 5, turns: 6, share: 1, down_day: 11 };
    println!(
        "The fleet's busiest days, thirty of them in six equal turns; on the {}th the endpoint gives no answer.\n",
        month.down_day + 1
    );
    println!("{:28}│ {:21}│ {:7}│ {:24}│ {:24}│ as before", "", "largest state, kB", "rows", "a sweep, ms", "most allocations");
    println!("{:28}│ before    all   last │  a day │  before     all    last │  before     all    last │ after", "");
    let mut problems = Vec::new();
    for (name, settings) in [("50 calls", FREE), ("10,000 calls", PAID), ("10,000 calls, 200 asks", MANY_ASKS)] {
        let played = play_month(month, 1, settings);
        let [before, all, last] = played.largest().map(|bytes| bytes / 1000);
        print!("{name:28}│ {before:6} {all:6} {last:6} │ {:6} │", played.rows_a_day());
        let [before, all, last] = played.in_turns(dearest_day).map(|took| took.as_secs_f64() * 1e3);
        print!(" {before:7.1} {all:7.1} {last:7.1} │");
        let allocations = |sweeps: &[Swept]| sweeps.iter().map(|swept| swept.cost.allocations).max().unwrap_or_default();
        let [before, all, last] = played.in_turns(allocations);
        println!(" {before:7} {all:7} {last:7} │ {} h", played.back_after().as_secs().div_ceil(hours(1).as_secs()));
        problems.extend(played.problems().into_iter().map(|problem| format!("{name}: {problem}")));
    }
    println!("{LEGEND}");
    if problems.is_empty() { Ok(()) } else { Err(io::Error::other(problems.join("\n"))) }
}

const LEGEND: &str = "
before      the turn before that day, after five days; all: the whole month; last: the last turn
rows        values written or deleted on the day that wrote most; the Free plan has 100,000
a sweep     by the clock, without GitHub and Telegram: the mean of the dearest day, compiled for this machine
as before   how long after that day every sweep left what the same sweep of the turn before had left, element for element";

#[cfg(test)]
mod tests;
