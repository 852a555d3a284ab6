//! How long packets travel, and whether in order.

use super::jitter::{Jitter, PacketOrder};
use ackord_units::Span;

/// How long a packet travels after its transmission.
#[derive(Clone, Debug)]
pub(super) enum Propagation {
    /// Always as long: packets stay in order.
    Constant(Span),
    /// The same since it was changed: a packet arrives no sooner than the one before it.
    Changed(Span),
    /// As drawn; a packet arrives no sooner than the one before it.
    InOrder(Jitter),
    /// As drawn; packets may overtake one another.
    Free(Jitter),
}

impl Propagation {
    pub(super) fn new(delay: Span, jitter: Option<Jitter>) -> Propagation {
        match jitter {
            None => Propagation::Constant(delay),
            Some(jitter) => match jitter.order() {
                PacketOrder::Kept => Propagation::InOrder(jitter),
                PacketOrder::Free => Propagation::Free(jitter),
            },
        }
    }
}
