//! Tahoe: a detected loss is repaired by slow start from one segment (Jacobson 1988).

use super::{Entry, Flight, OnPartialAck, Recovery, RecoveryAck};
use crate::congestion::Repair;
use ackord_units::Bytes;

/// Fast retransmit without fast recovery. Everything outstanding is sent again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tahoe;

impl Recovery for Tahoe {
    fn repair(&self) -> Repair {
        Repair::SlowStart
    }

    fn enter(&mut self, _entry: &Entry) {}

    fn on_ack(&mut self, _ack: &RecoveryAck) {}

    fn on_partial_ack(&mut self, _ack: &RecoveryAck) -> OnPartialAck {
        OnPartialAck::Exit
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        flight.cwnd.saturating_sub(flight.pipe)
    }
}
