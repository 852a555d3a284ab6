//! The detection timer of TCP-DAD (Park et al. 2007, 2008): it starts with the first duplicate
//! acknowledgment; new data acknowledged while it runs shows that the segment was only late.

use super::{Advance, LossFacts};
use ackord_events::RecoveryKind;
use ackord_units::Time;

/// The timer, and whether a fast retransmit was sent since it started (the paper's retransmitTag).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DetectionTimer {
    expires_at: Option<Time>,
    fast_retransmit: bool,
}

/// What an acknowledgment of new data says about reordering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verified {
    /// Nothing.
    No,
    /// The segment was late, and nothing had been done about it.
    Late,
    /// The segment was late, and a fast retransmit had been sent for it.
    LateAfterFastRetransmit,
}

impl DetectionTimer {
    pub(super) fn deadline(&self) -> Option<Time> {
        self.expires_at
    }

    /// A duplicate acknowledgment: the first of a run starts the timer, for one round-trip time.
    /// Before the first sample of that there is none to set it to.
    pub(super) fn on_duplicate_ack(&mut self, now: Time, facts: &LossFacts) {
        if facts.duplicate_acks == 1 {
            self.fast_retransmit = false;
            self.expires_at = facts.srtt.map(|srtt| now + srtt);
        }
    }

    /// New data was acknowledged: the timer stops.
    pub(super) fn on_new_ack(&mut self, facts: &LossFacts, advance: &Advance) -> Verified {
        let pending = self.expires_at.take().is_some() && advance.duplicate_acks > 0;
        let timeout = facts.recovery == Some(RecoveryKind::Timeout);
        match self.fast_retransmit {
            _ if !pending || timeout => Verified::No,
            false => Verified::Late,
            true => Verified::LateAfterFastRetransmit,
        }
    }

    pub(super) fn on_recovery(&mut self, kind: RecoveryKind) {
        match kind {
            RecoveryKind::Fast => self.fast_retransmit = true,
            RecoveryKind::Timeout => *self = DetectionTimer::default(),
        }
    }

    /// It expired; says whether a fast retransmit had been sent.
    pub(super) fn on_timer(&mut self) -> bool {
        self.expires_at = None;
        std::mem::take(&mut self.fast_retransmit)
    }
}
