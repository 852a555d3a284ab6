//! An acknowledgment for every data segment.

use super::{AckDecision, AckPolicy, Arrival};
use ackord_units::Time;

/// Acknowledges every data segment at once (allowed by RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Immediate;

impl AckPolicy for Immediate {
    fn on_segment(&mut self, _now: Time, _arrival: &Arrival<'_>) -> AckDecision {
        AckDecision::Now
    }
}
