//! Asks GitHub to redeliver what the plan says (spec section 4).

use futures_util::future::join_all;

use super::Run;
use super::report::Line;
use crate::apart::apart;
use crate::github::deliveries::Asked;
use crate::github::error::GitHubError;
use crate::policy::plan::{AskAnswer, Plan, PlannedAsk};
use crate::ports::{Clock, Network, Signer, Storage};

/// Asks under way at once, which saves a busy sweep two thirds of their time.
const SIDE_BY_SIDE: usize = 3;

/// So many answers of this kind in one sweep end the asking.
const ENOUGH: u32 = 2;

/// How the asking of one sweep goes.
#[derive(Default)]
struct Asking {
    unknown: u32,
    forbidden: u32,
    turned_away: Option<GitHubError>,
    no_call_left: bool,
}

impl Asking {
    /// How many asks come next, side by side. Once GitHub is in trouble, one at a time: the next such answer may be the last.
    fn next_round(&self) -> usize {
        if self.turned_away.is_some() || self.no_call_left || self.unknown >= ENOUGH || self.forbidden >= ENOUGH {
            0
        } else if self.unknown + self.forbidden > 0 {
            1
        } else {
            SIDE_BY_SIDE
        }
    }

    /// Takes note of one answer. Returns what it means for the ask, and for the log what it says and its status.
    fn note(&mut self, asked: Asked) -> (AskAnswer, &'static str, Option<u16>) {
        match asked {
            Asked::Answered(AskAnswer::Taken) => (AskAnswer::Taken, "taken", None),
            Asked::Answered(AskAnswer::NotRedeliverable(code)) => (AskAnswer::NotRedeliverable(code), "not redeliverable", Some(code)),
            Asked::Answered(answer) => (answer, "unknown", None),
            Asked::Forbidden => {
                self.forbidden += 1;
                // One that was under way beside the second one says no more of its event than if it had not been made.
                let is_its = self.forbidden <= ENOUGH;
                (if is_its { AskAnswer::NotRedeliverable(403) } else { AskAnswer::Withdrawn }, "forbidden", Some(403))
            }
            Asked::Unknown(error) => {
                self.unknown += 1;
                (AskAnswer::Unknown, "unknown", error.status())
            }
            Asked::TurnedAway(error) => {
                let status = error.status();
                self.turned_away.get_or_insert(error);
                (AskAnswer::Withdrawn, "turned away", status)
            }
            Asked::NotMade => {
                self.no_call_left = true;
                (AskAnswer::Withdrawn, "not made", None)
            }
        }
    }
}

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// Makes the asks of the plan in order, three at a time, and takes in each answer. Asks not made are struck whenever the asking
    /// ends.
    ///
    /// # Errors
    /// If GitHub turns all asks away: then the sweep ends.
    pub(super) async fn ask(&self, plan: &mut Plan) -> Result<(), GitHubError> {
        let asks = std::mem::take(&mut plan.asks);
        let mut asking = Asking::default();
        let mut left = asks.as_slice();
        while !left.is_empty() && asking.next_round() > 0 {
            let (round, later) = left.split_at(asking.next_round().min(left.len()));
            left = later;
            let answers = join_all(round.iter().map(|ask| apart(self.api.redeliver(ask.delivery)))).await;
            for (ask, asked) in round.iter().zip(answers) {
                // Where there is no status, the line of the ask does not say why.
                if let Asked::Unknown(error) = &asked
                    && error.status().is_none()
                {
                    self.warn(error);
                }
                let (answer, said, status) = asking.note(asked);
                self.log_ask(plan, ask, said, status);
                plan.answered(&ask.guid, answer);
            }
        }
        for ask in left {
            plan.answered(&ask.guid, AskAnswer::Withdrawn);
        }
        asking.turned_away.map_or(Ok(()), Err)
    }

    fn log_ask(&self, plan: &Plan, ask: &PlannedAsk, answer: &str, status: Option<u16>) {
        let Some(event) = plan.ledger.events.get(&ask.guid) else { return };
        let line = Line::Redelivery {
            app: &self.config.app_id,
            guid: &ask.guid,
            event: &event.event,
            action: event.action.as_deref(),
            delivery: ask.delivery,
            attempts: ask.attempts,
            answer,
            status,
        };
        log::info!("{}", line.json());
    }
}
