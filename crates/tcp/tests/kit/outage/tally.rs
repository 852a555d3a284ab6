//! Counts what the sender makes of losses, under the names that Linux counts the same by.

use ackord_events::{Event, RecoveryKind, Sink, SpuriousEvidence};
use ackord_units::Time;

/// How often each happened.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Recoveries begun (TCPSackRecovery).
    pub recoveries: u32,
    /// Timeouts (TCPTimeouts).
    pub timeouts: u32,
    /// Recoveries undone, by timestamps (TCPFullUndo, TCPPartialUndo) and by DSACK (TCPDSACKUndo).
    pub undone_by_timestamps: u32,
    pub undone_by_dsack: u32,
    /// Our retransmissions that the receiver reports twice (TCPDSACKRecvSegs).
    pub spurious: u32,
}

impl Sink for Tally {
    fn emit(&mut self, _at: Time, event: Event<'_>) {
        match event {
            Event::RecoveryEntered { kind: RecoveryKind::Fast, .. } => self.recoveries += 1,
            Event::RetransmissionTimeout { .. } => self.timeouts += 1,
            Event::RecoveryUndone { evidence: SpuriousEvidence::Timestamps, .. } => {
                self.undone_by_timestamps += 1;
            }
            Event::RecoveryUndone { evidence: SpuriousEvidence::Dsack, .. } => {
                self.undone_by_dsack += 1;
            }
            Event::RetransmissionSpurious { .. } => self.spurious += 1,
            _ => {}
        }
    }
}
