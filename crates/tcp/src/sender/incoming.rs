//! What an arriving segment says to the sending half.

use ackord_units::Seq;
use ackord_wire::SackBlocks;

/// The parts of a segment that concern the sending half.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IncomingAck<'a> {
    pub(crate) seq: Seq,
    pub(crate) ack: Seq,
    /// The window, scaled.
    pub(crate) window: u32,
    /// Whether the segment carries data or a FIN, and so is no duplicate acknowledgment.
    pub(crate) carries_data: bool,
    pub(crate) sack: &'a SackBlocks,
    /// TSecr, if the segment carries it.
    pub(crate) echo: Option<u32>,
    /// Whether it says that a packet was marked: ECE, where ECN is in use (RFC 3168).
    pub(crate) marked: bool,
}
