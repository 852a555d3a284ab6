//! Tahoe: a detected loss is answered by slow start from one segment (Jacobson 1988).

use super::{Entry, Flight, Recovery, RecoveryAck, RecoveryDecision, RecoveryProfile};
use crate::congestion::LossResponse;
use ackord_units::Bytes;

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
