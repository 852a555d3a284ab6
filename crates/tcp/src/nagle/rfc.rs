//! Nagle's algorithm as RFC 896 has it, and without it.

use super::{Nagle, NagleConfig, SmallSegment};
use ackord_units::Knobs;

/// Small segments leave at once
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "nagle", name = "off", source = "RFC 1122 §4.2.3.4 (TCP_NODELAY)")]
pub struct NagleOffConfig {}

impl NagleConfig for NagleOffConfig {
    fn build(&self) -> Box<dyn Nagle> {
        Box::new(Off)
    }
}

/// A small segment waits while anything is unacknowledged
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "nagle", name = "on", source = "RFC 896, RFC 1122 §4.2.3.4")]
pub struct NagleOnConfig {}

impl NagleConfig for NagleOnConfig {
    fn build(&self) -> Box<dyn Nagle> {
        Box::new(On)
    }
}

/// Never waits (TCP_NODELAY).
#[derive(Clone, Copy, Debug, Default)]
pub struct Off;

impl Nagle for Off {
    fn may_send(&self, _: &SmallSegment) -> bool {
        true
    }
}

/// Waits while anything is unacknowledged (RFC 896, RFC 1122 §4.2.3.4).
#[derive(Clone, Copy, Debug, Default)]
pub struct On;

impl Nagle for On {
    fn may_send(&self, segment: &SmallSegment) -> bool {
        segment.snd_una == segment.snd_nxt
    }
}
