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
        let once = if self.once_per_window { OncePerWindow::On } else { OncePerWindow::Off };
        Box::new(RenoRecovery::new(once))
    }
}

/// Fast recovery of one loss per window.
#[derive(Clone, Copy, Debug)]
pub struct RenoRecovery {
    once_per_window: OncePerWindow,
    inflation: Bytes,
}

/// Whether several losses in one window are answered once (RFC 6582 §3.2 step 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OncePerWindow {
    /// They are; what the one retransmission does not recover waits for the timer.
    On,
    /// Each run of duplicates halves the window again.
    Off,
}

impl RenoRecovery {
    /// A recovery with this rule.
    pub fn new(once_per_window: OncePerWindow) -> RenoRecovery {
        RenoRecovery { once_per_window, inflation: Bytes::ZERO }
    }
}

impl Recovery for RenoRecovery {
    fn profile(&self) -> RecoveryProfile {
        let reentry = match self.once_per_window {
            OncePerWindow::On => Reentry::AfterRecover,
            OncePerWindow::Off => Reentry::Allowed,
        };
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
