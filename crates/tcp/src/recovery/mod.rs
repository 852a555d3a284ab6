//! How much may be sent during loss recovery.
//!
//! | file | recovery |
//! | --- | --- |
//! | `tahoe.rs` | no fast recovery: slow start from one segment |
//! | `reno.rs` | fast recovery that the first new acknowledgment ends (RFC 5681) |
//! | `newreno.rs` | fast recovery with partial acknowledgments (RFC 6582) |
//! | `ns2/` | the same three as ns-2.35's agents do them |
//! | `sack.rs` | scoreboard recovery (RFC 6675) |
//! | `prr.rs` | proportional rate reduction (RFC 9937), in a recovery or after a mark |
//!
//! The connection owns the scoreboard and the windows; a recovery answers questions.

mechanisms! {
    /// Recovery senders: how much may be sent during recovery.
    pub enum LossRecovery: dyn RecoveryConfig {
        mod tahoe => Tahoe(TahoeRecoveryConfig);
        mod reno => Reno(RenoRecoveryConfig);
        mod newreno => NewReno(NewRenoConfig);
        mod sack => Sack(SackConfig);
        mod ns2 =>
            Ns2Reno(Ns2RenoConfig), Ns2NewReno(Ns2NewRenoConfig), Ns2Sack1(Ns2Sack1Config);
    }
}

/// What every recovery sender's knobs lead to.
pub trait RecoveryConfig {
    /// The sender at the start of a connection.
    fn build(&self) -> Box<dyn Recovery>;
}

mod prr;

pub use newreno::NewReno;
pub use ns2::{Ns2NewReno, Ns2Reno, Ns2Sack1};
pub(crate) use prr::{Delivered, Prr};
pub use reno::RenoRecovery;
pub use sack::SackRecovery;
pub use tahoe::Tahoe;

use crate::congestion::LossResponse;
use crate::plug_in::copied_in_boxes;
use ackord_units::{Bytes, Keyword, mechanisms};
use std::fmt;

/// The sender's books at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Flight {
    /// Bytes sent and not acknowledged: snd_nxt - snd_una.
    pub flight_size: Bytes,
    /// Bytes of those that are known to have arrived, by SACK.
    pub sacked: Bytes,
    /// Bytes thought to be in the network (RFC 6675 §2 pipe).
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
    /// Bytes newly known to have arrived by the acknowledgment that shows the loss; none if a timer
    /// did.
    pub delivered: Bytes,
}

/// What an acknowledgment during fast recovery brought.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryAck {
    /// Whether it covers some, but not all, of what was outstanding when the loss was detected.
    pub partial: bool,
    /// Newly acknowledged, cumulatively.
    pub acked: Bytes,
    /// Newly known to have arrived, cumulatively or by SACK; one segment for a duplicate
    /// acknowledgment without SACK.
    pub delivered: Bytes,
    /// Whether the scoreboard found more losses (RFC 9937 §6.2: then be conservative).
    pub new_losses: bool,
    /// The books after the acknowledgment.
    pub flight: Flight,
}

/// What to do about an acknowledgment during fast recovery. Only a partial one can end it, or show
/// a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryDecision {
    /// Fast recovery is over.
    Exit,
    /// The oldest outstanding segment is lost too: send it now.
    RetransmitOldest,
    /// Go on; the scoreboard knows what is lost.
    Continue,
}

/// How fast recovery ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RecoveryExit {
    /// A bound on cwnd, if the sender might burst otherwise.
    pub cwnd_at_most: Option<Bytes>,
    /// Whether the acknowledgment that ends it lets cwnd grow as well.
    pub grows: bool,
}

/// Which partial acknowledgments restart the retransmission timer, where no scoreboard shows that
/// retransmissions get through (RFC 6582 §4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum PartialAckTimer {
    /// The first of a recovery: many losses in a window end in a timeout.
    First,
    /// Each: one loss is retransmitted a round trip, however many they are.
    Each,
}

/// Whether a loss may begin a recovery while data of an earlier one is still outstanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reentry {
    /// It may.
    Allowed,
    /// It has to wait until `recover` is acknowledged (RFC 6582 §3.2 step 2).
    AfterRecover,
    /// It has to wait until more than that is, with SACK too.
    BeyondRecover,
}

/// What a recovery asks of the sender for as long as the connection lives.
#[derive(Clone, Copy, Debug)]
pub struct RecoveryProfile {
    /// What answers a detected loss.
    pub response: LossResponse,
    /// Whether a recovery may begin before the last one's data is acknowledged.
    pub reentry: Reentry,
    /// Which partial acknowledgments restart the retransmission timer.
    pub partial_ack_timer: PartialAckTimer,
    /// Whether what was selectively acknowledged is believed outside fast recovery only until an
    /// acknowledgment of new data or a timeout, and then learnt anew. How much was reported does not
    /// make a segment lost then, only how often.
    pub forgets_sacked: bool,
    /// DupThresh for further holes during recovery, if it is not the loss detector's.
    pub hole_threshold: Option<u32>,
    /// Whether the network is emptied in proportion to what is delivered, over a round trip, down to
    /// a window that was reduced for a mark (RFC 3168); else nothing leaves until it is.
    pub spreads_reduction: bool,
    /// Whether the tail of a window, above which nothing can be SACKed, may be retransmitted once in
    /// a recovery when there is nothing else to send (RFC 6675 §4 NextSeg rule 4). Asked where the
    /// peer speaks SACK.
    pub rescues: bool,
}

impl RecoveryProfile {
    /// Fast recovery as in RFC 6582, without a scoreboard.
    pub const STANDARD: RecoveryProfile = RecoveryProfile {
        response: LossResponse::FastRecovery,
        reentry: Reentry::AfterRecover,
        partial_ack_timer: PartialAckTimer::First,
        forgets_sacked: false,
        hole_threshold: None,
        spreads_reduction: false,
        rescues: false,
    };
}

copied_in_boxes!(Recovery, CopiedRecovery);

/// Decides how much may be sent during fast recovery.
pub trait Recovery: CopiedRecovery + Send + fmt::Debug {
    /// What it asks of the sender. Asked once.
    fn profile(&self) -> RecoveryProfile {
        RecoveryProfile::STANDARD
    }

    /// Which recovery takes its place where the peer does not speak SACK; nothing for one that does
    /// not need it.
    fn without_sack(&self) -> Option<Box<dyn Recovery>> {
        None
    }

    /// Fast recovery begins, ssthresh and cwnd already reduced.
    fn enter(&mut self, entry: &Entry);

    /// An acknowledgment arrived during fast recovery, whatever it says.
    fn on_arrival(&mut self) {}

    /// A duplicate acknowledgment, or a partial one, came during fast recovery.
    fn on_ack(&mut self, ack: &RecoveryAck) -> RecoveryDecision;

    /// So much was sent during fast recovery, new or not.
    fn on_sent(&mut self, _bytes: Bytes) {}

    /// How much may be sent now.
    fn allowance(&self, flight: &Flight) -> Bytes;

    /// Fast recovery ends.
    fn exit(&self, _flight: &Flight) -> RecoveryExit {
        RecoveryExit::default()
    }
}
