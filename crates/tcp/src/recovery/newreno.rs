//! NewReno's fast recovery (RFC 6582): a partial acknowledgment shows the next loss, which is
//! repaired without waiting for duplicates, one per round trip.

use super::{Flight, OnPartialAck, PartialAckTimer, Recovery, RecoveryAck};
use ackord_units::Bytes;

/// Fast recovery that goes on until everything outstanding at the loss is acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct NewReno {
    inflation: Bytes,
    timer: PartialAckTimer,
}

impl NewReno {
    /// A recovery sender whose partial acknowledgments restart the timer or not.
    pub fn new(timer: PartialAckTimer) -> NewReno {
        NewReno { inflation: Bytes::ZERO, timer }
    }
}

impl Recovery for NewReno {
    fn partial_ack_timer(&self) -> PartialAckTimer {
        self.timer
    }

    fn enter(&mut self, flight: &Flight, duplicate_acks: u32) {
        self.inflation = flight.smss * u64::from(duplicate_acks);
    }

    fn on_ack(&mut self, ack: &RecoveryAck) {
        self.inflation += ack.flight.smss;
    }

    fn on_partial_ack(&mut self, ack: &RecoveryAck) -> OnPartialAck {
        // RFC 6582 §3.2 step 3: deflate by the data acknowledged, then add back one segment if
        // it was at least that much.
        self.inflation = self.inflation.saturating_sub(ack.acked);
        if ack.acked >= ack.flight.smss {
            self.inflation += ack.flight.smss;
        }
        OnPartialAck::RetransmitOldest
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        (flight.cwnd + self.inflation).saturating_sub(flight.flight_size)
    }

    fn exit_bound(&self, flight: &Flight) -> Option<Bytes> {
        // RFC 6582 §3.2 step 3 (1): min (ssthresh, max (FlightSize, SMSS) + SMSS).
        Some(flight.flight_size.max(flight.smss) + flight.smss)
    }
}
