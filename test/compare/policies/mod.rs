//! Each system's rules, written anew from what is public about it; each file names its source.

mod cloudsnorkel;
mod codecov;
mod erainfra;
mod github_script;
mod nobody;
pub(crate) mod ours;
mod pager;
mod tuist;
mod ubicloud;
mod wb;

use crate::policy::Policy;

/// A row of the table.
#[derive(Clone, Copy)]
pub(crate) struct System {
    /// As the table names it.
    pub(crate) name: &'static str,
    /// How often it runs.
    pub(crate) every: &'static str,
    /// Makes one that knows nothing yet.
    pub(crate) make: fn() -> Box<dyn Policy>,
}

/// This Worker with its defaults.
pub(crate) const OURS: System = System { name: "this Worker", every: "15m", make: || Box::new(ours::Ours::new(&[])) };

/// Every system, in the order of the table.
pub(crate) const SYSTEMS: [System; 15] = [
    System { name: "nobody asks", every: "-", make: || Box::new(nobody::Nobody) },
    System { name: "GitHub's script", every: "6h", make: || Box::<github_script::GitHubScript>::default() },
    System { name: "ubicloud", every: "2m", make: || Box::<ubicloud::Ubicloud>::default() },
    System { name: "CloudSnorkel", every: "5m", make: || Box::<cloudsnorkel::CloudSnorkel>::default() },
    System { name: "tuist", every: "5m", make: || Box::new(tuist::Tuist) },
    System { name: "codecov", every: "6h", make: || Box::new(codecov::Codecov) },
    System { name: "erainfra", every: "5m", make: || Box::<erainfra::Erainfra>::default() },
    System { name: "wb redeliver", every: "1h", make: || Box::<wb::Wb>::default() },
    System { name: "pager", every: "15m", make: || Box::<pager::Pager>::default() },
    System { name: "pager, amended", every: "15m", make: || Box::<pager::AmendedPager>::default() },
    OURS,
    System { name: " MAX_ATTEMPTS=5", every: "15m", make: || Box::new(ours::Ours::new(&[("MAX_ATTEMPTS", "5")])) },
    System { name: " RETRY_STATUS=404", every: "15m", make: || Box::new(ours::Ours::new(&[("RETRY_STATUS", "404")])) },
    System {
        name: " both, paid plan",
        every: "15m",
        make: || {
            Box::new(ours::Ours::new(&[
                ("MAX_ATTEMPTS", "5"),
                ("RETRY_STATUS", "404"),
                ("MAX_REDELIVERIES", "200"),
                ("SUBREQUEST_LIMIT", "10000"),
                ("DELIVERY_PAGES", "100"),
            ]))
        },
    },
    System { name: " SUPERSEDED=none", every: "15m", make: || Box::new(ours::Ours::new(&[("SUPERSEDED_EVENTS", "none")])) },
];
