//! GitHub's REST API, as far as the Worker uses it.
//!
//! [`api`] makes the calls, [`jwt`] and [`key`] sign in as the App, [`link`] checks where a list goes on, [`error`] says what
//! failed, [`app`] reads `GET /app`, and [`deliveries`] is what a sweep reads and asks.

pub mod api;
pub mod app;
pub mod deliveries;
pub mod error;
pub mod jwt;
pub mod key;
pub mod link;

/// Bytes of an address that is kept at most.
const LONGEST_ADDRESS: usize = 300;

/// Whether an address that an answer names may be kept: one of absurd length would fill the state.
pub(crate) fn is_short(url: &str) -> bool {
    url.len() <= LONGEST_ADDRESS
}
