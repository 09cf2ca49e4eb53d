//! docs/compare.json and the table in docs/compare.md: both are what the code made last, and a test holds them to it.

use std::path::Path;
use std::{fs, io};

use crate::table::{Results, render};

/// What stands before the table in docs/compare.md, and after it.
const MARKS: [&str; 2] = ["<!-- The table: `npm run compare -- --write` -->\n```text\n", "```\n<!-- The end of the table -->"];

/// Writes both into `folder`.
///
/// # Errors
/// If a file cannot be read or written, or the page has no place for the table.
pub(crate) fn write(folder: &Path, results: &Results) -> io::Result<()> {
    let json = serde_json::to_string(results)?.replace("{\"name\"", "\n{\"name\"").replace("{\"recoverable\"", "\n  {\"recoverable\"");
    fs::write(folder.join("compare.json"), format!("{json}\n"))?;
    let path = folder.join("compare.md");
    let page = fs::read_to_string(&path)?;
    let (before, _, after) = parts(&page).ok_or_else(|| io::Error::other("docs/compare.md has no place for the table"))?;
    fs::write(path, format!("{before}{}{}{}{after}", MARKS[0], render(results), MARKS[1]))
}

/// A page, taken apart: before the marks, the table between them, and after them.
pub(crate) fn parts(page: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = page.split_once(MARKS[0])?;
    let (table, after) = rest.split_once(MARKS[1])?;
    Some((before, table, after))
}
