//! Puts things in order. One sort for everything, by numbers: the standard library's is some 5 kB of code in the Worker for each type that
//! it sorts.

use super::delivery::Position;

/// What decides the order, the first number first.
pub type Key = (i64, i64, u64);

/// The lowest rank first, and of one rank the oldest.
#[must_use]
pub fn oldest_first(rank: i64, position: Position) -> Key {
    (rank, position.at.millis(), position.id.0)
}

/// The lowest rank first, and of one rank the newest.
#[must_use]
pub fn newest_first(rank: i64, position: Position) -> Key {
    (rank, !position.at.millis(), !position.id.0)
}

/// The lowest number first.
#[must_use]
pub fn by_number(number: u64) -> Key {
    (0, 0, number)
}

/// Sorts. What has the same key stays as it is.
pub fn sort<T>(items: &mut Vec<T>, key: impl Fn(&T) -> Key) {
    // As nearly always: the attempts of an event, say.
    if items.is_sorted_by_key(&key) {
        return;
    }
    // As GitHub's lists are.
    if items.windows(2).all(|pair| key(&pair[0]) > key(&pair[1])) {
        items.reverse();
        return;
    }
    let mut order: Vec<(Key, usize)> = items.iter().enumerate().map(|(place, item)| (key(item), place)).collect();
    order.sort_unstable();
    let mut taken: Vec<Option<T>> = std::mem::take(items).into_iter().map(Some).collect();
    items.extend(order.into_iter().filter_map(|(_, place)| taken[place].take()));
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{newest_first, oldest_first, sort};
    use crate::policy::delivery::{DeliveryId, Position};
    use crate::policy::time::Time;

    proptest! {
        #[test]
        fn it_is_the_order_of_the_standard_library(items in prop::collection::vec((0_i64..3, -2_i64..3, prop::sample::select(vec![0, 1, u64::MAX])), 0..40)) {
            let of = |&(_, (rank, at, id)): &(usize, (i64, i64, u64))| (rank, Position { at: Time::from_millis(at), id: DeliveryId(id) });
            let items: Vec<(usize, (i64, i64, u64))> = items.into_iter().enumerate().collect();
            let (mut oldest, mut newest) = (items.clone(), items.clone());
            sort(&mut oldest, |item| oldest_first(of(item).0, of(item).1));
            sort(&mut newest, |item| newest_first(of(item).0, of(item).1));
            let (mut wanted, mut other) = (items.clone(), items);
            wanted.sort_by_key(of);
            other.sort_by_key(|item| (of(item).0, std::cmp::Reverse(of(item).1)));
            prop_assert_eq!(oldest, wanted);
            prop_assert_eq!(newest, other);
        }
    }
}
