//! What the cases of queues share.

use super::super::entry::{Drawn, Picture, Setup};
use ackord_units::Span;

pub(super) const DROP_TAIL: &str = "{ kind = \"drop-tail\" }";

/// Ten times as much as the path of [`alone`] holds.
pub(super) const DEEP_DROP_TAIL: &str = "{ kind = \"drop-tail\", limit = \"340 packets\" }";
/// A round trip of 300 ms.
pub(super) const FAR: &[&str] = &["links.path.delay=150 ms"];

/// Two unlike senders share a queue.
pub(super) const fn shared(values: [&'static str; 2]) -> Setup {
    Setup::of("reno-against-vegas", "links.bottleneck.queue", values)
}

pub(super) const fn alone(values: [&'static str; 2]) -> Setup {
    Setup::of("one-flow", "links.path.queue", values)
}

pub(super) const fn picture(values: [&'static str; 2]) -> Picture {
    Picture {
        setup: shared(values),
        plot: Drawn::Window,
        from: Span::ZERO,
        to: Span::from_secs(30),
        caption: "windows of a Reno and a Vegas flow at one link",
    }
}
