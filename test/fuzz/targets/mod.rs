//! What is fuzzed: one function for each reader of outside bytes, which panics where a property does not hold.
//!
//! `cargo test` replays the corpus and mutations of it (`replay.rs`), `npm run fuzz` searches on with libFuzzer (`main.rs`).
//! Only the library's public functions are used.

mod channels;
pub(crate) mod control_repo;
mod github;
mod requests;
mod settings;
mod stored;

/// A target: its name, which is that of its folder in the corpus, and the function.
pub(crate) type Target = (&'static str, fn(&[u8]));

/// All there are.
pub(crate) const TARGETS: [Target; 11] = [
    ("page", github::page),
    ("link", github::link),
    ("refusal", github::refusal),
    ("key", settings::key),
    ("settings", settings::settings),
    ("state", stored::state),
    ("kept", stored::kept),
    ("telegram", channels::telegram),
    ("control_repo", control_repo::control_repo),
    ("alarm", channels::alarm),
    ("request", requests::request),
];

/// The text of the bytes, its lines one after the other: a missing one is empty.
fn lines(bytes: &[u8]) -> impl Iterator<Item = String> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    lines.into_iter().chain(std::iter::repeat(String::new()))
}
