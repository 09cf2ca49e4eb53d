//! The corpus, and random changes of it, through every target: what `npm test` does of the fuzzing. `CASES` and `SEED` as everywhere.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

#[path = "../../src/alarm/fakes/html.rs"]
mod html;
mod targets;

use github_app_redeliver::github::key::AppKey;
use github_app_redeliver::policy::ledger::Ledger;
use github_app_redeliver::policy::reading::{List, Reader};
use github_app_redeliver::policy::settings::Settings;
use github_app_redeliver::policy::time::Time;
use github_app_redeliver::status::history::History;
use github_app_redeliver::sweep::state::State;
use targets::TARGETS;

/// Changed inputs a target, unless `CASES` names another number.
const CASES: u32 = 2_000;

/// What readers trip over, beside single bytes.
const PIECES: [&str; 18] = [
    "",
    "\n",
    "\"",
    "<",
    ">",
    "&",
    "`",
    "|",
    ";",
    ",",
    "%",
    "null",
    "-1",
    "18446744073709551615",
    "9223372036854775807",
    "\u{202e}é😀",
    "[[[[",
    "{}",
];

/// One change: where, as a share of the length, how many bytes go, and what comes in their place.
type Change = (u16, usize, Vec<u8>);

fn change() -> impl Strategy<Value = Change> {
    let bytes = proptest::collection::vec(any::<u8>(), 0..4);
    let piece = proptest::sample::select(&PIECES[..]).prop_map(|piece| piece.as_bytes().to_vec());
    (any::<u16>(), 0_usize..9, prop_oneof![bytes, piece])
}

fn changed(seed: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for (place, gone, come) in changes {
        let start = usize::from(*place) * bytes.len() / usize::from(u16::MAX);
        let end = (start + gone).min(bytes.len());
        bytes.splice(start..end, come.iter().copied());
    }
    bytes
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("test/fuzz/corpus").join(target)
}

/// The inputs that are kept for a target, in the order of their names.
fn corpus(target: &str) -> Vec<Vec<u8>> {
    let mut files: Vec<PathBuf> =
        fs::read_dir(folder(target)).expect("every target has a folder").map(|file| file.expect("it can be read").path()).collect();
    files.sort();
    files.iter().map(|file| fs::read(file).expect("it can be read")).collect()
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().expect("a whole number"))
}

#[test]
fn the_corpus_and_changes_of_it_break_no_property_of_any_target() {
    let cases = number("CASES").map_or(CASES, |cases| u32::try_from(cases).expect("no more than four thousand million"));
    let rng_seed = RngSeed::Fixed(number("SEED").unwrap_or(1));
    for (name, target) in TARGETS {
        let seeds = corpus(name);
        for seed in &seeds {
            target(seed);
        }
        let config = Config { cases, rng_seed, failure_persistence: None, ..Config::default() };
        let input = (proptest::sample::select(seeds), proptest::collection::vec(change(), 1..12));
        let run = TestRunner::new(config).run(&input, |(seed, changes)| {
            target(&changed(&seed, &changes));
            Ok(())
        });
        if let Err(TestError::Fail(reason, (seed, changes))) = run {
            panic!("{name}: {reason}: {}", changed(&seed, &changes).escape_ascii());
        }
    }
}

#[test]
fn every_folder_of_the_corpus_is_a_target_and_small() {
    let mut folders: Vec<String> = fs::read_dir(folder(""))
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").file_name().into_string().expect("ASCII"))
        .collect();
    folders.sort();
    let mut names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    names.sort_unstable();
    assert_eq!(folders, names);
    for name in names {
        let bytes: usize = corpus(name).iter().map(Vec::len).sum();
        assert!((1..40_000).contains(&bytes), "{name}: {bytes}");
    }
}

#[test]
fn the_seeds_that_are_whole_are_read_to_their_end() {
    let seed = |target: &str, name: &str| fs::read_to_string(folder(target).join(name)).expect("it is kept");
    AppKey::read(&seed("key", "form-of-a-key-base64")).expect("it has the form of a key");
    assert_eq!(State::read(&seed("state", "words")).expect("it is a state").ledger.events.len(), 4);
    let state = seed("state", "ledger");
    let (state, page) = state.split_once('\n').expect("a page is behind it");
    assert!(!State::read(state).expect("it is a state").ledger.events.is_empty());
    let (ledger, settings) = (Ledger::default(), Settings::default());
    let mut reader = Reader::new(&ledger, &settings, Time::from_millis(0), false);
    reader.take(List::Deliveries, page.as_bytes(), None, None).expect("it is a page");
    assert_eq!(History::read(Some(&seed("kept", "history"))).rows.len(), 2);
}

#[test]
fn the_seeds_of_the_control_repository_come_to_the_calls_that_they_are_for() {
    const OPENED: &str = "app installation access_tokens issues issues";
    for (name, expected) in [
        ("good-day", [OPENED, "installation access_tokens 1", "installation access_tokens 1"]),
        ("closed-by-person", [OPENED, "installation access_tokens 1 1 issues issues", "installation access_tokens 2"]),
        ("deleted", [OPENED, "installation access_tokens 1 issues issues", "installation access_tokens 2"]),
        ("found-two", ["app installation access_tokens issues 3 4", "installation access_tokens 3", "installation access_tokens 3"]),
        (
            "found-many",
            [
                "app installation access_tokens issues 1 2 3 4 5 6 7",
                "installation access_tokens 1 8 9 10 11 12",
                "installation access_tokens 1",
            ],
        ),
        ("lost", [OPENED, "installation access_tokens issues 1", "installation installation access_tokens issues 1"]),
        ("refused-token", ["app installation access_tokens", OPENED, "installation access_tokens issues issues"]),
        ("garbage", ["app installation access_tokens issues", "installation", "installation"]),
    ] {
        let seed = fs::read(folder("control_repo").join(name)).expect("it is kept");
        let last = |call: String| call.rsplit_once('/').map(|(_, name)| name.to_owned());
        let calls = targets::control_repo::sweeps(&seed).map(|calls| calls.into_iter().filter_map(last).collect::<Vec<_>>().join(" "));
        assert_eq!(calls, expected, "{name}");
    }
}
