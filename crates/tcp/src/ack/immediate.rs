//! An acknowledgment for every data segment.

use super::{AckConfig, AckDecision, AckPolicy, Arrival};
use ackord_units::{Knobs, Time};

/// An acknowledgment for every data segment
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "ack", name = "immediate", source = "RFC 5681 §4.2 allows it")]
pub struct ImmediateConfig {}

impl AckConfig for ImmediateConfig {
    fn build(&self) -> Box<dyn AckPolicy> {
        Box::new(Immediate)
    }
}

/// Acknowledges every data segment at once (allowed by RFC 5681 §4.2).
#[derive(Clone, Copy, Debug, Default)]
pub struct Immediate;

impl AckPolicy for Immediate {
    fn on_segment(&mut self, _now: Time, _arrival: &Arrival<'_>) -> AckDecision {
        AckDecision::Now
    }

    fn always(&self) -> Option<AckDecision> {
        Some(AckDecision::Now)
    }
}
