//! Agent/TCP/Reno: the acknowledgment that ends the recovery lets cwnd grow like any other.

use crate::recovery::{
    Entry, Flight, Recovery, RecoveryAck, RecoveryDecision, RecoveryExit, RecoveryProfile, Reentry,
};
use ackord_units::Bytes;

/// Reno's fast recovery, with ns-2's growth at its end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns2Reno {
    inflation: Bytes,
}

impl Recovery for Ns2Reno {
    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile { reentry: Reentry::BeyondRecover, ..RecoveryProfile::STANDARD }
    }

    fn enter(&mut self, entry: &Entry) {
        self.inflation = entry.flight.smss * u64::from(entry.duplicate_acks);
    }

    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        if ack.partial {
            return RecoveryDecision::Exit;
        }
        self.inflation += ack.flight.smss;
        RecoveryDecision::Continue
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        (flight.cwnd + self.inflation).saturating_sub(flight.flight_size)
    }

    fn exit(&self, _flight: &Flight) -> RecoveryExit {
        RecoveryExit { grows: true, ..RecoveryExit::default() }
    }
}
