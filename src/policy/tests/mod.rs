//! The policy as a whole: a history goes in, several sweeps run, what each of them did is pinned.
//!
//! [`check`] is all that most tests need. [`Case`] is the same in steps, for settings and histories that change. The other
//! files go by the sections of the specification; [`properties`] runs the same model over random histories.

#![allow(clippy::unwrap_used)]
// `UPDATE_EXPECT=1 cargo test` writes them.
#![allow(clippy::needless_raw_string_hashes)]

mod asks;
mod bounds;
mod conditions;
mod evidence;
mod gaps;
pub(crate) mod history;
mod losses;
mod lost_time;
pub(crate) mod model;
mod nights;
mod oracle;
mod outages;
mod overtaking;
mod own;
pub(crate) mod properties;
mod reading;
mod recovering;
mod refusing;
mod settings;
mod stored;

use std::fmt::Write;

use expect_test::Expect;

use self::history::{clock, parse, time};
use self::model::{Fault, Swept, World};
use super::event::Fate;
use super::ledger::{Ledger, Loss};
use super::settings::Settings;
use super::time::minutes;

/// A history of `count` lines.
fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect::<Vec<_>>().join("\n")
}

/// Runs `ticks` over a history with the default settings, and pins what a person would see of each sweep.
fn check(history: &str, ticks: &str, expected: &Expect) {
    Case::new(history).tick(ticks).check(expected);
}

/// A history, and the sweeps over it so far.
struct Case {
    /// Whether no sweep succeeded between ticks that are far apart. Else one did, and found nothing new.
    sleeps: bool,
    world: World,
    seen: String,
    alarm: String,
}

impl Case {
    fn new(history: &str) -> Self {
        Self { sleeps: false, world: World::default(), seen: String::new(), alarm: String::new() }.add(history)
    }

    /// Ticks that are not named never came.
    fn sleeping(mut self) -> Self {
        self.sleeps = true;
        self
    }

    /// Takes the endpoint down from one time to another, for what is added from now on.
    fn down(mut self, from: &str, to: &str) -> Self {
        self.world.github.down.push((time(from), time(to)));
        self
    }

    /// More of GitHub's record.
    fn add(mut self, history: &str) -> Self {
        self.world.github.add(parse(history));
        self
    }

    /// `count` deliveries of other events, all passed.
    fn traffic(mut self, from: &str, to: &str, count: u32) -> Self {
        self.world.github.add_traffic(time(from), time(to), count);
        self
    }

    fn set(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        self.world.oracle.settings_changed |= !self.world.saved.is_empty();
        change(&mut self.world.settings);
        self
    }

    /// Items of each page of a list.
    fn page_of(mut self, items: usize) -> Self {
        self.world.github.page_sizes = vec![items];
        self
    }

    /// Sweeps at these times: `10:15 10:30!crash 10:45..12:00`, the last being every quarter of an hour. `!crash` dies
    /// between the save and the asks, `!late` between the asks and the second save, `!kill` comes after a killed sweep.
    fn tick(mut self, ticks: &str) -> Self {
        for tick in ticks.split_whitespace() {
            let (from, to) = tick.split_once("..").unwrap_or((tick, ""));
            let (from, fault) = from.split_once('!').unwrap_or((from, ""));
            let fault = match fault {
                "" => Fault::None,
                "crash" => Fault::Crash,
                "late" => Fault::CrashLate,
                "kill" => Fault::AfterKill,
                _ => panic!("no such fault: {fault}"),
            };
            let mut now = time(from);
            let last = if to.is_empty() { now } else { time(to) };
            while now <= last {
                if !self.sleeps {
                    self.world.swept_a_quarter_before(now);
                }
                let swept = self.world.sweep(now, fault);
                self.tell(&clock(now), swept.as_ref());
                now = now + minutes(15);
            }
        }
        self
    }

    fn tell(&mut self, now: &str, swept: Option<&Swept>) {
        let Some(swept) = swept else {
            writeln!(self.seen, "{now} nothing").unwrap();
            return;
        };
        let mut lines: Vec<String> =
            swept.plan.judged.iter().map(|judged| format!("{now} {}: {}", judged.event.guid, judged.verdict)).collect();
        lines.sort();
        for line in lines {
            writeln!(self.seen, "{line}").unwrap();
        }
        let alarm = alarm(&self.world.ledger());
        if alarm != self.alarm {
            writeln!(self.seen, "{now} alarm: {}", if alarm.is_empty() { "none" } else { &alarm }).unwrap();
            self.alarm = alarm;
        }
    }

    /// Only the sweeps in which the alarm changed, and of those that alone.
    fn alarms(&self) -> String {
        let lines: Vec<&str> = self.seen.lines().filter(|line| line.contains(" alarm: ")).collect();
        lines.join("\n")
    }

    /// Writes down how far the deliveries list is known.
    fn ground(mut self) -> Self {
        let ground = self.world.ledger().ground;
        let gaps: Vec<String> = ground.gaps.iter().map(|gap| format!("{}-{}", clock(gap.older_end.at), clock(gap.newer_end.at))).collect();
        let since = ground.watched_since.map(clock).unwrap_or_default();
        let cursor = ground.cursor.map(|cursor| clock(cursor.at)).unwrap_or_default();
        writeln!(self.seen, "ground: cursor {cursor}, watched since {since}, gaps [{}]", gaps.join(", ")).unwrap();
        self
    }

    fn check(self, expected: &Expect) {
        expected.assert_eq(&self.seen);
    }
}

/// The entries that the ledger holds.
fn alarm(ledger: &Ledger) -> String {
    let entry = |event: &super::event::Event| match &event.fate {
        Fate::GaveUp => Some(format!("{} gave up", event.guid)),
        Fate::NotRedeliverable(Some(code)) => Some(format!("{} not redeliverable ({code})", event.guid)),
        Fate::NotRedeliverable(None) => Some(format!("{} never delivered", event.guid)),
        _ => None,
    };
    let loss = |what: &str, loss: &Loss| {
        let kinds: Vec<String> = loss.kinds.iter().map(|(name, count)| format!(" {count} {name}")).collect();
        format!("{what} {} [{}-{}]{}", loss.count, clock(loss.from), clock(loss.to), kinds.join(","))
    };
    let mut entries: Vec<String> = ledger.events.values().filter_map(entry).collect();
    entries.extend(ledger.left_behind.iter().map(|lost| loss("left behind", lost)));
    entries.extend(ledger.gaps_lost.iter().map(|lost| loss("gap lost", lost)));
    entries.extend(ledger.outage.map(|outage| format!("outage since {}, {} wait", clock(outage.since), outage.waiting)));
    entries.extend(
        ledger.refusals.refusing().map(|refusing| format!("refuses everything since {} {:?}", clock(refusing.since), refusing.codes)),
    );
    entries.join("; ")
}

/// Invariant: the policy is pure. It knows no runtime, no clock, no network and no log.
#[test]
fn the_policy_is_pure() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = vec![root.join("alarm/entry.rs"), root.join("alarm/text.rs")];
    let mut folders = vec![root.join("policy"), root.join("alarm/text")];
    while let Some(folder) = folders.pop() {
        let inside = std::fs::read_dir(folder).expect("the folder is there").map(|file| file.expect("it can be read").path());
        let (more, here): (Vec<_>, Vec<_>) = inside.partition(|path| path.is_dir());
        folders.extend(more.into_iter().filter(|folder| !folder.ends_with("tests")));
        files.extend(here.into_iter().filter(|file| !file.ends_with("tests.rs")));
    }
    let forbidden = [
        "worker::",
        "js_sys",
        "web_sys",
        "wasm_bindgen",
        "SystemTime",
        "Instant",
        "Utc::now",
        "Local::now",
        "async fn",
        "async move",
        ".await",
        "log::",
        "println!",
        "std::fs",
        "std::net",
        "std::env",
        "crate::sweep",
        "crate::github",
        "crate::telegram",
        "rand::",
        "getrandom",
    ];
    let mut read = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).expect("a source file is text");
        read += 1;
        for word in forbidden {
            assert!(!text.contains(word), "{} mentions {word}", file.display());
        }
    }
    assert!(read >= 15, "only {read} files of the policy were found");
}
