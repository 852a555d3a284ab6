//! Tahoe: a detected loss is answered by slow start from one segment (Jacobson 1988).

use super::{
    Entry, Flight, Recovery, RecoveryAck, RecoveryConfig, RecoveryDecision, RecoveryProfile,
};
use crate::congestion::LossResponse;
use ackord_units::{Bytes, Knobs};

/// Fast retransmit, then slow start from one segment
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "recovery",
    name = "tahoe",
    source = "Jacobson 1988; RFC 2001 without fast recovery"
)]
pub struct TahoeRecoveryConfig {}

impl RecoveryConfig for TahoeRecoveryConfig {
    fn build(&self) -> Box<dyn Recovery> {
        Box::new(Tahoe)
    }
}

/// Fast retransmit without fast recovery. Everything outstanding is retransmitted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tahoe;

impl Recovery for Tahoe {
    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile { response: LossResponse::SlowStart, ..RecoveryProfile::STANDARD }
    }

    fn enter(&mut self, _entry: &Entry) {}

    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        if ack.partial { RecoveryDecision::Exit } else { RecoveryDecision::Continue }
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        flight.cwnd.saturating_sub(flight.pipe)
    }
}
