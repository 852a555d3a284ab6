//! When is a segment lost: what a run of duplicate acknowledgments means.
//!
//! | file | policy |
//! | --- | --- |
//! | `fixed.rs` | a fixed number of duplicate acknowledgments, with limited transmit |
//! | `vegas.rs` | the same, or sooner by a fine-grained timeout |
//!
//! The retransmission timer is not here: it is the connection's last resort under every policy.

mod fixed;
mod vegas;

pub use fixed::{Fixed, LimitedTransmit};
pub use vegas::VegasLoss;

use ackord_units::{Bytes, Span, Time};
use std::fmt;

/// What the sender knows when an acknowledgment leaves doubt about its oldest segment.
#[derive(Clone, Copy, Debug)]
pub struct Doubt {
    /// Duplicate acknowledgments in a row.
    pub duplicate_acks: u32,
    /// Octets known to have arrived above the oldest segment (zero without SACK).
    pub sacked: Bytes,
    /// The sender's segment size.
    pub mss: Bytes,
    /// When the oldest outstanding segment was last sent.
    pub oldest_sent_at: Time,
    /// SRTT + 4 RTTVAR, once known.
    pub fine_timeout: Option<Span>,
}

/// What a detector makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossVerdict {
    /// Not lost as far as one can tell; so much new data may be sent beyond cwnd meanwhile.
    NotYet {
        /// Allowance of limited transmit, for the whole run of duplicates.
        beyond_cwnd: Bytes,
    },
    /// The oldest outstanding segment is lost.
    Lost,
}

/// Decides when duplicate acknowledgments mean loss. Never sends, never changes cwnd.
pub trait LossDetector: Send + fmt::Debug {
    /// A duplicate acknowledgment came.
    fn on_duplicate_ack(&mut self, now: Time, doubt: &Doubt) -> LossVerdict;

    /// New data was acknowledged and something is still outstanding; true if the oldest segment
    /// that is left must be taken for lost.
    fn on_new_ack(&mut self, _now: Time, _doubt: &Doubt) -> bool {
        false
    }

    /// A fast retransmit was sent.
    fn on_retransmit(&mut self, _now: Time) {}

    /// DupThresh: how many segments above a hole make it lost (RFC 6675 §4 IsLost).
    fn duplicate_threshold(&self) -> u32;
}
