//! The policy: what was read goes in, what is to be done comes out.
//!
//! Everything below is pure: values in, values out. It knows no runtime, no clock and no network; `now` is handed in,
//! and every other time is data from GitHub's list. `tests::the_policy_is_pure` reads these files and fails on an import that would
//! change that.
//!
//! Read in this order: [`time`], [`names`], [`delivery`], [`event`], [`evidence`], [`outage`], [`superseded`], [`own`], [`refusing`], [`ground`],
//! [`lost_time`], [`recovering`], [`forgetting`], [`reading`], [`settings`], [`ledger`], [`plan`], [`lease`], [`budget`].

pub mod budget;
pub mod delivery;
pub mod event;
pub mod evidence;
pub mod forgetting;
pub mod ground;
pub mod lease;
pub mod ledger;
pub mod lost_time;
pub mod names;
pub mod order;
pub mod outage;
pub mod own;
pub mod plan;
pub mod reading;
pub mod recovering;
pub mod refusing;
pub mod settings;
pub mod superseded;
pub mod time;

#[cfg(test)]
pub(crate) mod tests;
