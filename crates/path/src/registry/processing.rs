//! The time that hosts take for what they send.

use super::ProcessingKnobs;
use crate::processing::Processing;
use ackord_units::{Knobs, RandomStream, Span};

/// Each packet leaves its host after a random time, in order: no phase effects
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "processing",
    name = "jitter",
    source = "Floyd and Jacobson 1992, On Traffic Phase Effects in Packet-Switched Gateways, §4; ns-2's overhead_"
)]
pub struct ProcessingJitterKnobs {
    /// Each packet's time is drawn from zero to this, all as likely; phase effects are gone when it is no
    /// less than the bottleneck takes for a packet
    #[knob(
        min = Span::from_nanos(1), max = Span::from_secs(1), default = "1 ms",
        source = "Floyd and Jacobson 1992 §4: up to the bottleneck's service time; 1 ms is that of 1250 \
                  bytes at 10 Mbit/s"
    )]
    up_to: Span,
}

impl ProcessingKnobs for ProcessingJitterKnobs {
    fn build(&self, stream: RandomStream) -> Processing {
        Processing::new(self.up_to, stream)
    }
}
