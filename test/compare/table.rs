//! The result as a table for a terminal of 120 columns, and for docs/compare.md.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::score::{Counts, DAYS_PLAYED};

/// What was played.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    /// One week each.
    pub(crate) seeds: Vec<u64>,
    /// One table each.
    pub(crate) apps: Vec<AppResults>,
}

/// All systems on the weeks of one App.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct AppResults {
    /// Such as `A quiet App`.
    pub(crate) title: String,
    /// In the order of the table.
    pub(crate) systems: Vec<Row>,
}

/// One system.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// A space before it: this Worker with other settings.
    pub(crate) name: String,
    /// How often it runs.
    pub(crate) every: String,
    /// In the order of the seeds.
    pub(crate) weeks: Vec<Counts>,
}

/// A column: two lines of heading, how wide it is, and what it shows of a row.
struct Column {
    heading: [&'static str; 2],
    width: usize,
    show: fn(&Row) -> String,
}

fn sum(row: &Row, of: fn(&Counts) -> u64) -> u64 {
    row.weeks.iter().map(of).sum()
}

fn most(row: &Row, of: fn(&Counts) -> u64) -> u64 {
    row.weeks.iter().map(of).max().unwrap_or(0)
}

fn median(row: &Row, of: fn(&Counts) -> u64) -> u64 {
    let mut values: Vec<u64> = row.weeks.iter().map(of).collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

/// `None` where a group of columns ends.
const COLUMNS: [Option<Column>; 18] = [
    Some(Column { heading: ["", "lost"], width: 5, show: |row| number(sum(row, |week| week.lost)) }),
    Some(Column { heading: ["in", "silence"], width: 8, show: |row| number(sum(row, |week| week.silent)) }),
    Some(Column { heading: ["by", "deploy"], width: 7, show: |row| number(sum(row, |week| week.lost_to_deploy)) }),
    None,
    Some(Column { heading: ["", "passed"], width: 7, show: |row| number(sum(row, |week| week.asked_though_passed)) }),
    Some(Column { heading: ["over-", "taken"], width: 6, show: |row| number(sum(row, |week| week.asked_though_overtaken)) }),
    Some(Column { heading: ["", "poison"], width: 7, show: |row| number(sum(row, |week| week.asked_poison)) }),
    Some(Column { heading: ["", "refused"], width: 8, show: |row| number(sum(row, |week| week.asked_refused)) }),
    Some(Column { heading: ["done", "twice"], width: 6, show: |row| number(sum(row, |week| week.handled_again)) }),
    None,
    Some(Column { heading: ["calls", "a day"], width: 6, show: |row| number(calls_a_day(row)) }),
    Some(Column { heading: ["most", "a run"], width: 6, show: |row| number(most(row, |week| week.most_calls)) }),
    None,
    Some(Column { heading: ["", "median"], width: 7, show: |row| span(median(row, |week| week.median_minutes)) }),
    Some(Column { heading: ["", "worst"], width: 7, show: |row| span(most(row, |week| week.worst_minutes)) }),
    None,
    Some(Column { heading: ["", "pages"], width: 6, show: |row| number(sum(row, |week| week.pages)) }),
    Some(Column { heading: ["", "false"], width: 6, show: |row| number(sum(row, |week| week.false_pages)) }),
];

/// Headings of the groups of columns.
const GROUPS: [&str; 5] = [" lost events", " asks that help nobody", " calls", " failure to pass", " people"];

fn calls_a_day(row: &Row) -> u64 {
    let days = DAYS_PLAYED * row.weeks.len() as u64;
    sum(row, |week| week.calls).div_ceil(days.max(1))
}

/// A number in five columns.
fn number(count: u64) -> String {
    let tenths = |unit: u64, name: &str| format!("{}.{}{name}", count / unit, count % unit / (unit / 10));
    match count {
        0..10_000 => count.to_string(),
        10_000..1_000_000 => format!("{}k", count / 1_000),
        _ => tenths(1_000_000, "M"),
    }
}

/// Minutes, or hours from 100 on.
fn span(minutes: u64) -> String {
    if minutes < 100 { format!("{minutes} min") } else { format!("{}.{} h", minutes / 60, minutes % 60 / 6) }
}

const NAME: usize = 17;
const EVERY: usize = 5;

/// The whole text: how to read it, and a table for each App.
pub(crate) fn render(results: &Results) -> String {
    let mut text = String::new();
    let seeds: Vec<String> = results.seeds.iter().map(u64::to_string).collect();
    let _ = writeln!(text, "Sums over {} seeded weeks (seeds {}); every system meets the same events.", seeds.len(), seeds.join(", "));
    for app in &results.apps {
        text.push('\n');
        render_app(&mut text, app);
    }
    text.push_str(LEGEND);
    text
}

fn render_app(text: &mut String, app: &AppResults) {
    let all = &app.systems[0];
    let failed = sum(all, |week| week.recoverable);
    let refused = sum(all, |week| week.refused_by_deploy);
    let _ = writeln!(text, "{}: {failed} events failed that could be recovered, {refused} were refused by a deploy\n", app.title);
    let mut lines =
        [format!("{:NAME$}{:EVERY$}", "", ""), format!("{:NAME$}{:EVERY$}", "", ""), format!("{:NAME$}{:>EVERY$}", "system", "every")];
    let mut groups = COLUMNS.split(Option::is_none).zip(GROUPS);
    for (columns, group) in groups.by_ref() {
        let width: usize = columns.iter().flatten().map(|column| column.width).sum();
        let _ = write!(lines[0], "│{group:width$}");
        for line in [0, 1] {
            lines[line + 1].push('│');
            for column in columns.iter().flatten() {
                let _ = write!(lines[line + 1], "{:>1$}", column.heading[line], column.width);
            }
        }
    }
    for line in lines {
        let _ = writeln!(text, "{}", line.trim_end());
    }
    for row in &app.systems {
        let mut line = format!("{:NAME$}{:>EVERY$}", row.name, row.every);
        for columns in COLUMNS.split(Option::is_none) {
            line.push('│');
            for column in columns.iter().flatten() {
                let _ = write!(line, "{:>1$}", (column.show)(row), column.width);
            }
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
}

const LEGEND: &str = "
lost         failed, would have passed later, never did; and no newer event of its kind and repository passed instead
in silence   neither passed nor told to a person: of those, and of events that the endpoint can never take (poison)
by deploy    refused with 404 in three minutes of a deploy and never brought back
passed       asks for an event that had passed already; overtaken: a newer one of its kind had passed
poison       asks for events that never pass; refused: for events that the endpoint refused (3xx, 4xx)
done twice   work that the endpoint did again, people's own clicks included
median       of the time from the first failure to the recovery, over the weeks; worst: the longest of all
pages        messages with a sound; false: about nothing that needed anybody
Indented rows are this Worker with other settings. docs/compare.md has the definitions and the sources.
";
