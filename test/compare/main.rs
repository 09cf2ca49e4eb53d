//! `npm run compare`: seeded weeks of an App, played side by side for this Worker and for the rules of other systems.
//!
//! [`traffic`] and [`week`] make the weeks, [`github`] is the record of deliveries, [`policy`] what a system may do, [`policies`] the
//! systems, [`play`] plays, [`score`] counts, [`table`] prints. docs/compare.md has the result, the definitions and the sources.
//!
//! Without arguments it prints the table; with a folder it also writes `compare.json` there and the table into `compare.md`. With
//! `--growth` it plays a month of the busiest traffic for this Worker alone, and says whether anything grew ([`growth`]).
#![allow(clippy::print_stdout, reason = "a program that prints a table")]

mod github;
mod growth;
mod page;
mod play;
mod policies;
mod policy;
mod score;
mod table;
#[cfg(test)]
mod tests;
mod traffic;
mod week;

use std::io;
use std::path::PathBuf;

use play::play_all;
use policies::{SYSTEMS, System};
use table::{AppResults, Results, Row};
use traffic::App;

/// One week each.
const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

fn main() -> io::Result<()> {
    let argument = std::env::args_os().nth(1);
    if argument.as_ref().is_some_and(|argument| argument == "--growth") {
        return growth::report();
    }
    let results = Results { seeds: SEEDS.to_vec(), apps: [App::Quiet, App::Busy].map(|app| results(app, &SEEDS, &SYSTEMS)).into() };
    print!("{}", table::render(&results));
    match argument {
        Some(folder) => page::write(&PathBuf::from(folder), &results),
        None => Ok(()),
    }
}

/// Plays weeks of an App with these seeds for each system.
fn results(app: App, seeds: &[u64], systems: &[System]) -> AppResults {
    let title = match app {
        App::Quiet => "A quiet App",
        App::Busy => "The busy fleet",
    };
    let counts = play_all(app, seeds, systems);
    let row = |(system, weeks): (&System, _)| Row { name: system.name.to_owned(), every: system.every.to_owned(), weeks };
    AppResults { title: title.to_owned(), systems: systems.iter().zip(counts).map(row).collect() }
}
