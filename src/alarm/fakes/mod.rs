//! A Telegram and a control repository in memory, as strict as the real ones where an alarm could go wrong.

pub(crate) mod html;
pub(crate) mod issues;
pub(crate) mod telegram;

use std::cell::{Cell, RefCell};
use std::time::Duration;

use crate::policy::time::Time;
use crate::ports::{Answer, Clock, NetworkError, SignError, Signer};

/// What is to go wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The other side never hears of it.
    NoAnswer,
    /// The other side does it, and its answer is lost.
    AnswerLost,
    /// The other side answers with this status, and does nothing.
    Status(u16),
    /// It answers 429, and names so many seconds.
    Flood(u64),
}

/// The calls that were made, and what is to go wrong with the next.
#[derive(Debug, Default)]
pub(crate) struct Line {
    /// Method and path of each call.
    pub(crate) calls: RefCell<Vec<String>>,
    faults: RefCell<Vec<(&'static str, Fault)>>,
    made_at_check: Cell<usize>,
}

impl Line {
    /// The next call whose method and path contain `which` goes wrong.
    pub(crate) fn fail(&self, which: &'static str, fault: Fault) {
        self.faults.borrow_mut().push((which, fault));
    }

    /// Calls since this was last asked.
    pub(crate) fn new_calls(&self) -> usize {
        let all = self.calls.borrow().len();
        all - self.made_at_check.replace(all)
    }

    /// Runs a call through the fault that is meant for it, if any.
    pub(crate) fn carry(
        &self,
        call: String,
        refusal: impl Fn(u16, Option<u64>) -> Answer,
        run: impl FnOnce() -> Answer,
    ) -> Result<Answer, NetworkError> {
        let mut faults = self.faults.borrow_mut();
        let fault = faults.iter().position(|(which, _)| call.contains(which)).map(|index| faults.remove(index).1);
        self.calls.borrow_mut().push(call);
        match fault {
            None => Ok(run()),
            Some(Fault::NoAnswer) => Err(NetworkError::Failed),
            Some(Fault::AnswerLost) => {
                run();
                Err(NetworkError::TimedOut)
            }
            Some(Fault::Status(status)) => Ok(refusal(status, None)),
            Some(Fault::Flood(seconds)) => Ok(refusal(429, Some(seconds))),
        }
    }
}

pub(crate) fn answer(status: u16, body: &serde_json::Value) -> Answer {
    Answer { status, body: body.to_string().into_bytes(), ..Answer::default() }
}

/// Signs anything.
#[derive(Debug)]
pub(crate) struct AnySigner;

impl Signer for AnySigner {
    async fn sign(&self, _: &[u8]) -> Result<Vec<u8>, SignError> {
        Ok(vec![1; 256])
    }
}

/// Stands still.
#[derive(Debug)]
pub(crate) struct StillClock;

impl Clock for StillClock {
    fn now(&self) -> Time {
        super::sample::time(0)
    }

    async fn sleep(&self, _: Duration) {}
}
