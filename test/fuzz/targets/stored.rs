//! What an earlier sweep stored, in whatever state that is.

use github_app_redeliver::alarm::Alarm;
use github_app_redeliver::alarm::entry::entries;
use github_app_redeliver::policy::delivery::Guid;
use github_app_redeliver::policy::lease::{Lease, Taking, take};
use github_app_redeliver::policy::ledger::Ledger;
use github_app_redeliver::policy::own::Others;
use github_app_redeliver::policy::plan::{AskAnswer, decide};
use github_app_redeliver::policy::reading::{Next, Reader, Reading};
use github_app_redeliver::policy::settings::Settings;
use github_app_redeliver::policy::time::Time;
use github_app_redeliver::status::history::{History, Row};
use github_app_redeliver::sweep::state::{State, StateError, Stopgap, VERSION};

use super::channels::assert_shown;

/// 2026-12-01T00:00:00Z.
pub(super) const NOW: i64 = 1_796_083_200_000;

/// Bytes of the stored value at most.
const LARGEST: usize = 1_900_000;

/// A stored value, and behind it a page that the next sweep reads, in a line of its own.
pub(super) fn state(bytes: &[u8]) {
    let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
    let stored = String::from_utf8_lossy(parts.next().unwrap_or_default());
    let page = parts.next().unwrap_or(b"[]");
    let mut state = match State::read(&stored) {
        Ok(state) => state,
        Err(StateError::Newer(version)) => return assert!(version > VERSION),
        Err(StateError::Unreadable) => return,
    };
    let written = written(&state);
    assert!(written.is_ascii());
    assert_eq!(State::read(&written).as_ref(), Ok(&state), "what is written is read as it was");
    for now in [NOW, 0, i64::MAX / 2] {
        state.clone().move_to(Time::from_millis(now));
    }
    let (now, settings) = (Time::from_millis(NOW), Settings::default());
    if let Ok(stopgap) = serde_json::from_str::<Stopgap>(&String::from_utf8_lossy(page)) {
        state.take_in(stopgap, now);
    }
    state.move_to(now);
    state.ledger.apply(&settings, now);
    let mut reader = Reader::new(&state.ledger, &settings, now, false);
    let mut spare = 8;
    while let Next::Page(request) = reader.next(spare) {
        spare -= 1;
        if reader.take(request.list, page, None, None).is_err() {
            return;
        }
    }
    let reading = reader.finish();
    state.ledger = decides(state.ledger, reading, &settings, now);
    let written = self::written(&state);
    assert!(written.len() < LARGEST.max(stored.len() + page.len() * 8), "{} bytes", written.len());
    assert_eq!(State::read(&written).as_ref(), Ok(&state), "what a sweep leaves is read by the next");
}

fn written(state: &State) -> String {
    state.write().expect("a state is plain data")
}

/// Decides, and checks what holds of every decision. Returns what is left, after GitHub took some of the asks.
pub(super) fn decides(ledger: Ledger, reading: Reading, settings: &Settings, now: Time) -> Ledger {
    let mut plan = decide(ledger, reading, settings, now, true);
    assert!(plan.asks.len() <= settings.max_redeliveries);
    let mut asked: Vec<Guid> = plan.asks.iter().map(|ask| ask.guid.clone()).collect();
    for (place, guid) in asked.iter().enumerate() {
        plan.answered(guid, if place % 2 == 0 { AskAnswer::Taken } else { AskAnswer::NotRedeliverable(422) });
    }
    asked.sort();
    asked.dedup();
    assert_eq!(asked.len(), plan.asks.len(), "an event is asked for once");
    assert_shown(&Alarm { entries: entries(&plan.ledger), ..Alarm::default() });
    plan.ledger.succeed();
    plan.ledger
}

/// The small values: the lease, the history, what other Apps wrote.
pub(super) fn kept(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let now = Time::from_millis(NOW);
    match take(Lease::read(Some(&text)), now) {
        Taking::Held(lease) => assert!(lease.until.since(now).as_secs() <= 14 * 60, "it ends before the next tick"),
        Taking::Taken(lease) => assert_eq!((lease.taken_at, lease.until.since(now).as_secs()), (now, 14 * 60)),
    }
    let mut history = History::read(Some(&text));
    let written = history.write().expect("a history is plain data");
    assert_eq!(History::read(Some(&written)), history);
    let _ = (history.events(), history.last_good());
    history.push(Row { at: now, deliveries: 7, ..Row::default() });
    assert!(history.rows.len() <= 240 && history.last().is_some_and(|row| row.at == now));
    let mut others = Others::read(Some(&text));
    let written = others.write().expect("it is plain data");
    assert_eq!(Others::read(Some(&written)), others);
    let heard = others.count();
    let writes: Vec<_> = others.after(0).collect();
    others.add(&writes);
    assert!(others.after(heard).count() <= 700);
}
