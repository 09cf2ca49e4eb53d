//! What is told over HTTP: to a person as a page, to programs as JSON and as metrics.
//!
//! Everything below is pure: values in, text out. It knows no runtime, no storage and no clock; `recovery::answering` hands all of that
//! in. docs/status.md is the page for whoever uses it.

pub mod auth;
pub mod history;
pub mod metrics;
pub mod page;
pub mod plan_page;
pub mod plot;
pub mod query;
pub mod reply;
pub mod route;
pub mod several;
#[allow(clippy::module_inception, reason = "the value that the others show")]
pub mod status;
mod view;

#[cfg(test)]
mod tests;
