//! Asks GitHub to redeliver what the plan says (spec section 4).

use super::Run;
use super::report::Line;
use crate::apart::apart;
use crate::github::deliveries::Asked;
use crate::github::error::GitHubError;
use crate::policy::plan::{AskAnswer, Plan, PlannedAsk};
use crate::ports::{Clock, Network, Signer, Storage};

/// So many answers of this kind in one sweep end the asking.
const ENOUGH: u32 = 2;

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// Makes the asks of the plan in order, and takes in each answer. Asks not made are struck whenever the asking ends.
    ///
    /// # Errors
    /// If GitHub turns all asks away: then the sweep ends.
    pub(super) async fn ask(&self, plan: &mut Plan) -> Result<(), GitHubError> {
        let asks = std::mem::take(&mut plan.asks);
        let (mut unknown, mut forbidden) = (0, 0);
        let mut turned_away = None;
        let mut no_call_left = false;
        for ask in &asks {
            if turned_away.is_some() || no_call_left || unknown >= ENOUGH || forbidden >= ENOUGH {
                plan.answered(&ask.guid, AskAnswer::Withdrawn);
                continue;
            }
            let (answer, said, status) = match apart(self.api.redeliver(ask.delivery)).await {
                Asked::Answered(AskAnswer::Taken) => (AskAnswer::Taken, "taken", None),
                Asked::Answered(AskAnswer::NotRedeliverable(code)) => (AskAnswer::NotRedeliverable(code), "not redeliverable", Some(code)),
                Asked::Answered(answer) => (answer, "unknown", None),
                Asked::Forbidden => {
                    forbidden += 1;
                    (AskAnswer::NotRedeliverable(403), "forbidden", Some(403))
                }
                Asked::Unknown(error) => {
                    unknown += 1;
                    (AskAnswer::Unknown, "unknown", error.status())
                }
                Asked::TurnedAway(error) => {
                    let status = error.status();
                    turned_away = Some(error);
                    (AskAnswer::Withdrawn, "turned away", status)
                }
                Asked::NotMade => {
                    no_call_left = true;
                    (AskAnswer::Withdrawn, "not made", None)
                }
            };
            self.log_ask(plan, ask, said, status);
            plan.answered(&ask.guid, answer);
        }
        turned_away.map_or(Ok(()), Err)
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
