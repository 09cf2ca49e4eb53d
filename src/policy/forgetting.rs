//! An entry of the alarm that a person takes out by hand (`POST /forget`).

use super::delivery::Guid;
use super::event::Fate;
use super::ledger::Ledger;

/// Takes the entry of this event out, and returns whether there was one. The event stays known for as long as GitHub keeps its
/// first delivery, so that it does not come back when it is read again; a pass still settles it.
pub fn forget(ledger: &mut Ledger, guid: &Guid) -> bool {
    let Some(event) = ledger.events.get_mut(guid).filter(|event| event.fate.is_entry()) else { return false };
    event.settle(Fate::Forgotten);
    true
}
