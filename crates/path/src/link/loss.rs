//! Loss on the medium, after the queue.
//!
//! A packet is drawn for when its transmission begins, in the order of transmission, so the same
//! packets die however often the link is looked at. A lost packet keeps the transmitter busy like
//! any other and dies where the far end would have received it.

use crate::Stream;
use ackord_events::DropReason;
use ackord_units::Ratio;

/// What the medium does to packets.
#[derive(Clone, Debug)]
pub enum LossModel {
    /// Each packet is lost with the same probability, independently (Bernoulli).
    Random(RandomLoss),
}

/// Independent losses.
#[derive(Clone, Debug)]
pub struct RandomLoss {
    /// A packet is lost when its draw is below this.
    threshold: u64,
    always: bool,
    stream: Stream,
}

impl LossModel {
    /// Each packet is lost with probability `per_packet`, drawn from `stream`.
    pub fn random(per_packet: Ratio, stream: Stream) -> LossModel {
        let threshold = per_packet.as_draw_threshold();
        LossModel::Random(RandomLoss { threshold, always: per_packet == Ratio::ONE, stream })
    }

    /// The fate of the packet whose transmission begins: why it is lost, or nothing.
    #[inline]
    pub(crate) fn draw(&mut self) -> Option<DropReason> {
        match self {
            LossModel::Random(model) => {
                let lost = model.stream.below_threshold(model.threshold) || model.always;
                lost.then_some(DropReason::RandomLoss)
            }
        }
    }
}
