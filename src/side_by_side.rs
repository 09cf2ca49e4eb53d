//! Several things at once: the sweeps of several Apps, and what their objects answer.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Runs all of them side by side, and returns what each came to, in their order. One that takes long holds up no other.
pub async fn side_by_side<F: Future>(futures: impl IntoIterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<Turn<F>> = futures.into_iter().map(|future| Turn::Running(Box::pin(future))).collect();
    poll_fn(|context| {
        for turn in &mut all {
            let Turn::Running(future) = turn else { continue };
            if let Poll::Ready(output) = future.as_mut().poll(context) {
                *turn = Turn::Done(output);
            }
        }
        if all.iter().all(|turn| matches!(turn, Turn::Done(_))) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    all.into_iter().filter_map(|turn| if let Turn::Done(output) = turn { Some(output) } else { None }).collect()
}

enum Turn<F: Future> {
    Running(Pin<Box<F>>),
    Done(F::Output),
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::collections::VecDeque;

    use super::*;

    /// Pending so often, then done.
    async fn after(mut turns: u32, log: &RefCell<VecDeque<String>>, name: &str) -> String {
        poll_fn(|context| {
            log.borrow_mut().push_back(format!("{name}{turns}"));
            if turns == 0 {
                return Poll::Ready(());
            }
            turns -= 1;
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
        name.to_owned()
    }

    #[test]
    fn each_goes_on_while_another_waits_and_the_order_is_kept() {
        let log = RefCell::default();
        let all = pollster::block_on(side_by_side([after(2, &log, "a"), after(0, &log, "b"), after(1, &log, "c")]));
        assert_eq!(all, ["a", "b", "c"]);
        // No turn of one that is done, and none waits for another to be done.
        assert_eq!(log.into_inner(), ["a2", "b0", "c1", "a1", "c0", "a0"]);
    }

    #[test]
    fn none_are_done_at_once() {
        assert_eq!(pollster::block_on(side_by_side(Vec::<std::future::Ready<()>>::new())), []);
    }
}
