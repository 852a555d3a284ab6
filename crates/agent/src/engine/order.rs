//! How long acknowledgments should wait, as an order for the programs.

use super::EngineConfig;
use crate::acks::Wait;
use crate::kernel::layout::RawOrder;
use crate::report::Own;
use ackord_units::Span;

/// An order for a connection whose acknowledgments should wait like this: the least lever that does it.
pub(super) fn order(config: &EngineConfig, wait: Wait, own: Own) -> RawOrder {
    let bound = |span: Span| {
        let span = span.max(config.delack_least);
        if span >= crate::acks::DELACK_MIN || own.has(Own::DELACK) {
            return 0;
        }
        (span.as_nanos() / 1_000) as u32
    };
    match wait {
        Wait::Kernel => RawOrder::default(),
        Wait::AtMost(span) => RawOrder { delack_max_us: bound(span), ..RawOrder::default() },
        // The bound beside the quick route, which does not reach a host itself: its own addresses are looked up in the
        // local table before any other.
        Wait::AtOnce => RawOrder {
            delack_max_us: bound(Span::ZERO),
            quick: u8::from(config.has_quick_routes && !own.has(Own::MARK | Own::QUICKACK)),
            ..RawOrder::default()
        },
    }
}
