//! Reno's fast recovery (RFC 5681 §3.2): the window is inflated by a segment for every duplicate
//! acknowledgment, and the first new acknowledgment ends the recovery.

use super::{
    Entry, Flight, Recovery, RecoveryAck, RecoveryConfig, RecoveryDecision, RecoveryProfile,
    Reentry,
};
use ackord_units::{Bytes, Knobs};

/// Fast recovery that ends with the first new acknowledgment
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "recovery", name = "reno", source = "RFC 5681 §3.2")]
pub struct RenoRecoveryConfig {
    /// A second fast retransmit has to wait until what was outstanding at the first has been
    /// acknowledged; off: several losses in one window halve cwnd several times
    #[knob(default = "on", source = "RFC 6582 §3.2 step 2; bugFix_ in ns-2")]
    once_per_window: bool,
}

impl RecoveryConfig for RenoRecoveryConfig {
    fn build(&self) -> Box<dyn Recovery> {
        Box::new(RenoRecovery::new(self.once_per_window))
    }
}

/// Fast recovery of one loss per window.
#[derive(Clone, Copy, Debug)]
pub struct RenoRecovery {
    /// Whether several losses in one window are answered once (RFC 6582 §3.2 step 2).
    once_per_window: bool,
    inflation: Bytes,
}

impl RenoRecovery {
    /// A recovery that answers several losses in one window once, or each run of duplicates.
    pub fn new(once_per_window: bool) -> RenoRecovery {
        RenoRecovery { once_per_window, inflation: Bytes::ZERO }
    }
}

impl Recovery for RenoRecovery {
    fn profile(&self) -> RecoveryProfile {
        let reentry = if self.once_per_window { Reentry::AfterRecover } else { Reentry::Allowed };
        RecoveryProfile { reentry, ..RecoveryProfile::STANDARD }
    }

    fn enter(&mut self, entry: &Entry) {
        // RFC 5681 §3.2 step 3: inflate by the segments that have left the network.
        self.inflation = entry.flight.smss * u64::from(entry.duplicate_acks);
    }

    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision {
        if ack.partial {
            // Step 6: the next acknowledgment of new data deflates the window.
            return RecoveryDecision::Exit;
        }
        // Step 4: one segment more for every further duplicate acknowledgment.
        self.inflation += ack.flight.smss;
        RecoveryDecision::Continue
    }

    fn allowance(&self, flight: &Flight) -> Bytes {
        (flight.cwnd + self.inflation).saturating_sub(flight.flight_size)
    }
}
