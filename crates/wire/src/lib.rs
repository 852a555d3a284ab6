//! Packets as values, and the bytes they become.
//!
//! | file | what |
//! | --- | --- |
//! | `segment.rs` | [`Segment`], a TCP header as a value with the length of its payload |
//! | `packet.rs` | [`Packet`], what travels along a path: a segment and where it goes |
//!
//! In the simulator nobody ever makes the bytes; captures and the live driver do.
//! Not modelled: IP options and extension headers, fragmentation.

mod packet;
mod segment;

pub use packet::{Ecn, FlowId, IpVersion, NodeId, Packet, Side};
pub use segment::{Flags, MAX_SACK_BLOCKS, Options, SackBlock, SackBlocks, Segment, Timestamps};
