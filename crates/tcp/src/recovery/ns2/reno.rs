//! Agent/TCP/Reno: the acknowledgment that ends the repair lets cwnd grow like any other.

use crate::recovery::{Entry, ExitGrowth, Flight, OnPartialAck, Recovery, RecoveryAck, Reentry};
use ackord_units::Bytes;

/// Reno's fast recovery, with ns-2's growth at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns2Reno {
    inflation: Bytes,
}

impl Recovery for Ns2Reno {
    fn reentry(&self) -> Reentry {
        Reentry::BeyondRecover
    }

    fn exit_growth(&self) -> ExitGrowth {
        ExitGrowth::Yes
    }

    fn enter(&mut self, entry: &Entry) {
        self.inflation = entry.flight.smss * u64::from(entry.duplicate_acks);
    }

    fn on_ack(&mut self, ack: &RecoveryAck) {
        self.inflation += ack.flight.smss;
    }

    fn on_partial_ack(&mut self, _ack: &RecoveryAck) -> OnPartialAck {
        OnPartialAck::Exit
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        (flight.cwnd + self.inflation).saturating_sub(flight.flight_size)
    }
}
