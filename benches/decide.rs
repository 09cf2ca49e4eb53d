//! How long it takes to read the pages of a list and to decide, from 100 to 1,000,000 deliveries: `npm run bench -- --only decide`.
#![allow(missing_docs, reason = "the macros of the bench add functions without any")]

mod listing;

use criterion::{BatchSize, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};

fn decide(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    group.sample_size(10);
    for deliveries in [100, 1_000, 10_000, 100_000, 1_000_000_usize] {
        let pages = listing::pages(deliveries);
        let settings = listing::settings(pages.len());
        let ledger = listing::ledger(&settings);
        group.throughput(Throughput::Elements(deliveries as u64));
        group.bench_with_input(BenchmarkId::from_parameter(deliveries), &pages, |bencher, pages| {
            bencher.iter_batched(|| ledger.clone(), |ledger| listing::sweep_over(pages, ledger, &settings), BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
