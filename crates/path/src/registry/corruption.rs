//! Damage on a link.

use super::CorruptionKnobs;
use super::loss::error_rate;
use crate::link::{CaughtBy, Corruption};
use ackord_units::{Contradiction, Knobs, RandomStream, Ratio};

/// Packets are damaged independently, with one probability per packet, per byte or per bit
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "corruption", name = "random",
    source = "tc-netem(8), corrupt; RFC 9293 §3.1: a segment whose checksum does not hold is discarded", check = Self::one_rate
)]
pub struct RandomCorruptionKnobs {
    /// Probability that a packet is damaged; one of the three
    #[knob(source = "set by the scenario")]
    per_packet: Option<Ratio>,
    /// Probability p for each byte: n bytes are damaged with 1-(1-p)^n
    #[knob(source = "set by the scenario")]
    per_byte: Option<Ratio>,
    /// Probability p for each bit: n bits are damaged with 1-(1-p)^n
    #[knob(source = "set by the scenario")]
    per_bit: Option<Ratio>,
    /// `host`: the packet is carried on and its destination discards it, for its checksum does not hold;
    /// `link`: it is dropped at the far end of this link
    #[knob(
        default = "host",
        source = "RFC 3819, on error detection: a link may deliver damaged packets or discard them"
    )]
    caught_by: CaughtBy,
}

impl RandomCorruptionKnobs {
    fn one_rate(&self) -> Result<(), Contradiction> {
        error_rate(self.per_packet, self.per_byte, self.per_bit).map(drop)
    }
}

impl CorruptionKnobs for RandomCorruptionKnobs {
    fn build(&self, stream: RandomStream) -> Result<Corruption, Contradiction> {
        let rate = error_rate(self.per_packet, self.per_byte, self.per_bit)?;
        Ok(Corruption::new(rate, self.caught_by, stream))
    }
}
