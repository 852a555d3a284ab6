//! When the receiver acknowledges.
//!
//! | file | policy |
//! | --- | --- |
//! | `immediate.rs` | every data segment at once |
//! | `delayed.rs` | every second full-sized segment, or after a fixed time |
//!
//! What no policy may change is the connection's own: segments that the sequence check refuses are
//! acknowledged at once, and a window that opens is announced (RFC 9293 §3.8.6.2.2).

mod delayed;
mod immediate;

pub use delayed::Delayed;
pub use immediate::Immediate;

use ackord_units::{Bytes, Time};
use std::fmt;

/// A data segment that has just arrived and was accepted.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its payload.
    pub payload: Bytes,
    /// The largest payload this peer has sent so far: what counts as full-sized.
    pub full_size: Bytes,
    /// Octets received in order that no acknowledgment has covered, this segment included.
    pub unacknowledged: Bytes,
    /// How it fits in.
    pub order: Order,
}

/// How a segment fits into what has been received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// It is the next one, and nothing waits beyond it.
    InOrder,
    /// It leaves a gap before it.
    OutOfOrder,
    /// It fills a gap, wholly or in part.
    FillsGap,
    /// All of it had been received before.
    Duplicate,
    /// It ends the stream.
    Final,
}

/// What to do about the acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckDecision {
    /// Send it now.
    Now,
    /// It may wait for company until then.
    NoLaterThan(Time),
}

/// Decides when to acknowledge. Never sends, never sees the sender's side.
pub trait AckPolicy: Send + fmt::Debug {
    /// A data segment was accepted.
    fn on_segment(&mut self, now: Time, arrival: &Arrival) -> AckDecision;

    /// An acknowledgment left, by itself or on data.
    fn on_ack_sent(&mut self, _now: Time) {}
}
