//! How much may be sent while a loss is repaired.
//!
//! | file | sender |
//! | --- | --- |
//! | `tahoe.rs` | no fast recovery: slow start from one segment |
//! | `reno.rs` | fast recovery that the first new acknowledgment ends (RFC 5681) |
//! | `newreno.rs` | fast recovery with partial acknowledgments (RFC 6582) |
//! | `ns2/` | the same three as ns-2.35's agents do them |
//! | `sack.rs` | scoreboard recovery (RFC 6675), with proportional rate reduction (RFC 9937) |
//!
//! The connection owns the scoreboard and the windows; a recovery sender answers questions.

mod newreno;
mod ns2;
mod reno;
mod sack;
mod tahoe;

pub use newreno::NewReno;
pub use ns2::{Ns2NewReno, Ns2Reno, Ns2Sack1};
pub use reno::{OncePerWindow, RenoRecovery};
pub use sack::{Prr, SackRecovery};
pub use tahoe::Tahoe;

use crate::congestion::Repair;
use crate::plug_in::copied_in_boxes;
use ackord_units::Bytes;
use std::fmt;

/// The sender's books at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// Octets sent and not acknowledged: snd_nxt - snd_una.
    pub flight_size: Bytes,
    /// Octets of those that are known to have arrived, by SACK.
    pub sacked: Bytes,
    /// Octets thought to be in the network (RFC 6675 §2 pipe).
    pub pipe: Bytes,
    /// The congestion window.
    pub cwnd: Bytes,
    /// The slow-start threshold.
    pub ssthresh: Bytes,
    /// The sender's segment size.
    pub smss: Bytes,
}

/// What fast recovery begins with.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The books once the losses known by now are taken off pipe.
    pub flight: Flight,
    /// Duplicate acknowledgments so far.
    pub duplicate_acks: u32,
    /// Octets newly known to have arrived by the acknowledgment that shows the loss; none if a timer
    /// did.
    pub delivered: Bytes,
}

/// What an acknowledgment during fast recovery brought.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryAck {
    /// Octets newly acknowledged, cumulatively.
    pub acked: Bytes,
    /// Octets newly known to have arrived, cumulatively or by SACK; one segment for a duplicate
    /// acknowledgment without SACK.
    pub delivered: Bytes,
    /// Whether the scoreboard found more losses (RFC 9937 §6.2: then be conservative).
    pub new_losses: NewLosses,
    /// The books after the acknowledgment.
    pub flight: Flight,
}

/// Whether an acknowledgment revealed further losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewLosses {
    /// It did.
    Yes,
    /// It did not.
    No,
}

/// What to do about an acknowledgment that covers some, but not all, of what was outstanding when
/// the loss was detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnPartialAck {
    /// Fast recovery is over.
    Exit,
    /// The oldest outstanding segment is lost too: send it now.
    RetransmitOldest,
    /// Go on; the scoreboard knows what is lost.
    Continue,
}

/// Whether the acknowledgment that ends a repair lets cwnd grow as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitGrowth {
    /// It does.
    Yes,
    /// It does not.
    No,
}

/// How the network is emptied down to a window that was reduced for a mark (RFC 3168).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionPace {
    /// Nothing leaves until it is.
    AtOnce,
    /// In proportion to what is delivered, over a round trip.
    Spread,
}

/// Which partial acknowledgments restart the retransmission timer, where no scoreboard shows that
/// repairs get through (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartialAckTimer {
    /// The first of a repair: many losses in a window end in a timeout.
    First,
    /// Each: they are repaired one a round trip, however many they are.
    Each,
}

/// Whether the tail of a window, above which nothing can be SACKed, may be sent again during a
/// repair when there is nothing else to send (RFC 6675 §4 NextSeg rule 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rescue {
    /// Once in a recovery.
    Once,
    /// It waits for the timer.
    Never,
}

/// How long outside repairs the sender believes what was selectively acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SackMemory {
    /// Until it is cumulatively acknowledged.
    Kept,
    /// Until an acknowledgment of new data or a timeout; it is then learnt anew. How much was
    /// reported does not make a segment lost, only how often.
    UntilNewAck,
}

/// Whether a loss may start a repair while data of an earlier repair is still outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reentry {
    /// It may.
    Allowed,
    /// It has to wait until `recover` is acknowledged (RFC 6582 §3.2 step 2).
    AfterRecover,
    /// It has to wait until more than that is, with SACK too.
    BeyondRecover,
}

copied_in_boxes!(Recovery, CopiedRecovery);

/// Decides how much may be sent during fast recovery.
pub trait Recovery: CopiedRecovery + Send + fmt::Debug {
    /// How a detected loss is repaired.
    fn repair(&self) -> Repair {
        Repair::FastRecovery
    }

    /// Whether a repair may start before the last one's data is acknowledged.
    fn reentry(&self) -> Reentry {
        Reentry::AfterRecover
    }

    /// Which partial acknowledgments restart the retransmission timer.
    fn partial_ack_timer(&self) -> PartialAckTimer {
        PartialAckTimer::First
    }

    /// Who repairs instead where the peer does not speak SACK; nothing for a sender that does not
    /// need it.
    fn without_sack(&self) -> Option<Box<dyn Recovery>> {
        None
    }

    /// How long what was selectively acknowledged is believed.
    fn sack_memory(&self) -> SackMemory {
        SackMemory::Kept
    }

    /// DupThresh for further holes during a repair, if it is not the loss detector's.
    fn hole_threshold(&self) -> Option<u32> {
        None
    }

    /// How a reduction takes effect that repairs nothing.
    fn reduction(&self) -> ReductionPace {
        ReductionPace::AtOnce
    }

    /// Whether a tail may be rescued. Asked where the peer speaks SACK.
    fn rescue(&self) -> Rescue {
        Rescue::Never
    }

    /// An acknowledgment arrived during fast recovery, whatever it says.
    fn on_arrival(&mut self) {}

    /// Whether the acknowledgment that ends fast recovery lets cwnd grow.
    fn exit_growth(&self) -> ExitGrowth {
        ExitGrowth::No
    }

    /// Fast recovery begins, ssthresh and cwnd already reduced; `duplicate_acks` came so far.
    fn enter(&mut self, entry: &Entry);

    /// An acknowledgment that is not partial came.
    fn on_ack(&mut self, ack: &RecoveryAck);

    /// A partial acknowledgment came.
    fn on_partial_ack(&mut self, ack: &RecoveryAck) -> OnPartialAck;

    /// `octets` were sent, new or again.
    fn on_sent(&mut self, _octets: Bytes) {}

    /// How much may be sent now.
    fn allowance(&self, flight: &Flight) -> Bytes;

    /// Fast recovery ends: a bound on cwnd, if the sender might burst otherwise.
    fn exit_bound(&self, _flight: &Flight) -> Option<Bytes> {
        None
    }
}
