//! Nobody asks: what GitHub does by itself, and so the size of the problem.

use std::time::Duration;

use github_app_redeliver::policy::time::{Time, hours};

use crate::policy::{Calls, Down, Policy};

#[derive(Debug, Default)]
pub(crate) struct Nobody;

impl Policy for Nobody {
    fn run(&mut self, _: &mut Calls<'_, '_>, _: Time) -> Result<(), Down> {
        Ok(())
    }

    fn interval(&self) -> Duration {
        hours(24)
    }
}
