//! From a ledger to a plan: the one way, for a sweep and for whoever only wants to see what it would do.

use super::report::{Report, chain};
use super::state::{State, StateError};
use super::{Run, SweepError, World};
use crate::config::Config;
use crate::github::api::Api;
use crate::policy::ledger::Ledger;
use crate::policy::plan::{Plan, decide};
use crate::policy::reading::Item;
use crate::policy::time::Time;
use crate::ports::{Clock, Key, Network, Signer, Storage};

/// What the next sweep would do.
#[derive(Debug)]
pub struct Planned {
    /// The plan, its events explained. `None` if no page of the deliveries list fits the budget of calls.
    pub plan: Option<Plan>,
    /// How far each list was read.
    pub report: Report,
}

/// Reads and decides as a sweep at `now` would, without the lease: it asks for nothing, saves nothing and tells nobody.
///
/// # Errors
/// If the state or a list cannot be read.
pub async fn plan<N: Network, S: Signer, C: Clock, T: Storage>(
    world: &World<'_, N, S, C, T>,
    config: &Config,
    now: Time,
) -> Result<Planned, SweepError> {
    let started = world.clock.now();
    let api = Api::new(world.network, world.signer, world.clock, &config.api_url, &config.app_id);
    let mut run = Run::new(world, config, &api, now);
    let state = match world.storage.read(Key::State).await?.as_deref().map(State::read) {
        None => State::default(),
        Some(Ok(state)) => state,
        Some(Err(error @ StateError::Unreadable)) => {
            run.report.warnings.push(format!("{}, so the next sweep is a first one", chain(&error)));
            State::default()
        }
        Some(Err(error @ StateError::Newer(_))) => return Err(error.into()),
    };
    let mut ledger = state.ledger;
    ledger.move_to(now);
    ledger.apply(&config.settings, now);
    let plan = run.plan(&mut ledger, false, true).await?;
    if let Some(plan) = &plan {
        run.report_plan(plan.tally, &plan.ledger);
    }
    Ok(Planned { plan, report: run.ended(started) })
}

impl<N: Network, S: Signer, C: Clock, T: Storage> Run<'_, N, S, C, T> {
    /// Reads both lists on what `ledger` knows, and decides. `None` if no page of the deliveries list fits the budget.
    pub(super) async fn plan(&mut self, ledger: &mut Ledger, killed: bool, explain: bool) -> Result<Option<Plan>, SweepError> {
        let Some(reading) = self.read(ledger, killed).await? else { return Ok(None) };
        self.report_reading(&reading);
        let was_read_before = |item: &Item| ledger.ground.was_read_before(item.attempt.position);
        self.report.failed = reading.failed(|item| !was_read_before(item));
        Ok(Some(decide(std::mem::take(ledger), reading, &self.config.settings, self.now, explain)))
    }
}
