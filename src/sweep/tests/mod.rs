//! Sweeps against an outside world in memory ([`world`]), whose every call can be refused, or succeed and lose its answer,
//! and that can end at every step.

mod clock;
mod crash;
mod failing;
mod failing_told;
mod lines;
mod random;
mod summarizing;
mod telling;
mod world;
