//! What it costs to read so many deliveries and to decide, in numbers that do not vary: allocations, and the most bytes at a time.
//!
//! Prints them as JSON, for as many deliveries as the first argument says. Under `valgrind --tool=callgrind` with
//! `--toggle-collect='*sweep_over*'` it counts instructions besides. scripts/bench/costs.mjs runs it both ways.
#![allow(clippy::print_stdout, reason = "a script reads what it prints")]

mod listing;

fn main() {
    // Cargo adds an argument of its own.
    let deliveries = std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(2_000);
    let pages = listing::pages(deliveries);
    let settings = listing::settings(pages.len());
    let mut ledger = Some(listing::ledger(&settings));
    let mut asks = 0;
    let cost = allocation_counter::measure(|| {
        let plan = ledger.take().map(|ledger| listing::sweep_over(&pages, ledger, &settings));
        asks = plan.map_or(0, |plan| plan.asks.len());
    });
    let (allocations, peak_bytes) = (cost.count_total, cost.bytes_max);
    println!(r#"{{"deliveries":{deliveries},"asks":{asks},"allocations":{allocations},"peak_bytes":{peak_bytes}}}"#);
}
