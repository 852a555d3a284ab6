//! Fast recovery as ns-2.35's one-way agents do it, for papers that were simulated with them.
//!
//! | file | agent |
//! | --- | --- |
//! | `reno.rs` | Agent/TCP/Reno |
//! | `newreno.rs` | Agent/TCP/Newreno |
//! | `sack1.rs` | Agent/TCP/Sack1 |
//!
//! All of them answer one loss per window of data (`bugFix_`), and hold to it one segment longer
//! than RFC 6582: what was outstanding must be acknowledged and something more.

mod newreno;
mod reno;
mod sack1;

pub use newreno::Ns2NewReno;
pub use reno::Ns2Reno;
pub use sack1::Ns2Sack1;

use super::{Recovery, RecoveryConfig};
use ackord_units::Knobs;

/// Reno as ns-2 does it: cwnd grows with the acknowledgment that ends the recovery
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "recovery", name = "ns2-reno", source = "Agent/TCP/Reno of ns-2.35")]
pub struct Ns2RenoConfig {}

impl RecoveryConfig for Ns2RenoConfig {
    fn build(&self) -> Box<dyn Recovery> {
        Box::new(Ns2Reno::default())
    }
}

/// NewReno as ns-2 does it: partial acknowledgments take from cwnd, for good
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "recovery", name = "ns2-newreno", source = "Agent/TCP/Newreno of ns-2.35")]
pub struct Ns2NewRenoConfig {}

impl RecoveryConfig for Ns2NewRenoConfig {
    fn build(&self) -> Box<dyn Recovery> {
        Box::new(Ns2NewReno::default())
    }
}

/// SACK as ns-2 does it: every hole below a reported segment is retransmitted
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "recovery", name = "ns2-sack1", source = "Agent/TCP/Sack1 of ns-2.35")]
pub struct Ns2Sack1Config {}

impl RecoveryConfig for Ns2Sack1Config {
    fn build(&self) -> Box<dyn Recovery> {
        Box::new(Ns2Sack1::default())
    }
}
