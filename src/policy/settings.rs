//! The settings that decide. Where they come from, and their names in the environment, is `config`'s.

use std::time::Duration;

use super::time::hours;

/// Kinds of event of which a newer one overtakes an older one (spec section 6).
pub const SUPERSEDED_EVENTS: [&str; 8] =
    ["workflow_run", "check_suite", "check_run", "code_scanning_alert", "issues", "pull_request", "discussion", "release"];

/// github.com keeps a delivery, and redelivers it, for three days.
pub const RETENTION: Duration = hours(72);

/// GitHub Enterprise Server does so for seven. Source: GitHub's page "Redelivering webhooks", in the editions of both.
pub const ENTERPRISE_SERVER_RETENTION: Duration = hours(168);

/// What a sweep decides by. The defaults are those of spec section 11.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How far back an event may lie to be asked for again.
    pub window: Duration,
    /// How long GitHub keeps a delivery, and redelivers it.
    pub retention: Duration,
    /// Attempts of one event that may count, the first delivery included.
    pub max_attempts: usize,
    /// Asks of one sweep at most.
    pub max_redeliveries: usize,
    /// Calls that an invocation may make.
    pub subrequest_limit: u32,
    /// Pages of the failures list at most.
    pub failure_pages: u32,
    /// Pages of the deliveries list at most, and as many more of gaps.
    pub delivery_pages: u32,
    /// Event names of which a newer one overtakes an older one.
    pub superseded_events: Vec<String>,
    /// Event names that are never asked for again.
    pub ignored_events: Vec<String>,
    /// Codes from 300 to 499 that count as failed.
    pub retry_status: Vec<u16>,
    /// Whether a heartbeat takes a call.
    pub heartbeat: bool,
    /// Lists and decides; asks for nothing, tells nobody.
    pub dry_run: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            window: hours(3),
            retention: RETENTION,
            max_attempts: 3,
            max_redeliveries: 10,
            subrequest_limit: 50,
            failure_pages: 3,
            delivery_pages: 20,
            superseded_events: SUPERSEDED_EVENTS.map(str::to_owned).to_vec(),
            ignored_events: Vec::new(),
            retry_status: Vec::new(),
            heartbeat: false,
            dry_run: false,
        }
    }
}
