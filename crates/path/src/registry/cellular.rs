//! The cellular hop.

use super::MediumKnobs;
use crate::link::{Cellular, CellularConfig, Request};
use ackord_units::{Keyword, Knobs, RandomStream, Rate, Ratio, Span};

/// A cellular hop: slots, grants upward, blocks that are tried again and delivered in
/// order; each direction's rate is what the scheduler gives this phone
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "medium",
    name = "cellular",
    source = "3GPP TS 36.300 (LTE) §5, §9, §11; defaults of an FDD cell"
)]
pub struct CellularKnobs {
    /// Transmission time interval: one slot, one transport block
    #[knob(
        min = Span::from_micros(10), max = Span::from_secs(1), default = "1 ms",
        source = "TS 36.300 §5.1"
    )]
    tti: Span,
    /// Probability that a block cannot be decoded, at every try anew
    #[knob(
        default = "10 %",
        source = "TS 36.213 §7.2.3: link adaptation aims at no more than 10 %"
    )]
    block_error: Ratio,
    /// From one try of a block to the next
    #[knob(
        min = 1,
        max = 10_000,
        unit = "slots",
        default = "8",
        source = "TS 36.213 §7: eight HARQ processes, 8 ms"
    )]
    harq_delay: u64,
    /// How often a block is retransmitted before what is in it is lost
    #[knob(
        min = 0,
        max = 32,
        unit = "times",
        default = "3",
        source = "4 tries, of the 1 to 28 that maxHARQ-Tx in TS 36.331 allows"
    )]
    harq_limit: u32,
    /// Upward: from one occasion to ask for a grant to the next
    #[knob(
        min = Span::from_micros(10), max = Span::from_secs(1), default = "10 ms",
        source = "TS 36.213 §10.1.5: 5 to 80 ms, 10 ms common"
    )]
    request_every: Span,
    /// Upward: from asking to the first slot granted
    #[knob(
        min = Span::ZERO, max = Span::from_secs(1), default = "8 ms",
        source = "TS 36.912 §B.2.1: request, decoding, grant and its decoding, 4 ms each way"
    )]
    grant_delay: Span,
    /// Which direction of the link goes from the phone to the network
    #[knob(default = "reverse", source = "this project")]
    upward: LinkWay,
}

/// Which way along a link a direction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum LinkWay {
    /// The other way.
    Reverse,
    /// As the link does.
    Forward,
}

impl MediumKnobs for CellularKnobs {
    fn hop(&self, way: LinkWay, rate: Rate, stream: RandomStream) -> Option<Cellular> {
        let request = Request { every: self.request_every, grant_after: self.grant_delay };
        Some(Cellular::new(CellularConfig {
            rate,
            slot: self.tti,
            block_error: self.block_error,
            retry_after_slots: self.harq_delay,
            retries: self.harq_limit,
            request: (way == self.upward).then_some(request),
            stream,
        }))
    }
}
