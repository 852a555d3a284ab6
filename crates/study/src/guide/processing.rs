//! How long a host takes to send a packet.

use super::entry::Effect::{Helps, Hurts, Nothing};
use super::entry::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

const OFF_AND_ON: [&str; 2] = ["none", "{ kind = \"jitter\", up_to = \"832 us\" }"];

/// Access links as fast as the bottleneck, which takes 832 us for a packet.
const IN_PHASE: Setup = Setup::of("reno-against-vegas", "hosts.receiver.processing", OFF_AND_ON)
    .with(&["links.bottleneck.rate=10 Mbit/s", "links.bottleneck.delay=1 ms"]);

pub(super) static ENTRIES: &[Entry] = &[Entry {
    name: "jitter",
    family: "processing",
    idea: "A host takes a random time for each packet that it sends, as real ones do. Without it
packets arrive at a full queue in phase with those that leave it: the same flow comes second at
the same instant every time, and starves because of the order in which links are listed. A time
of up to what the bottleneck takes for a packet ends that.",
    picture: Picture {
        setup: IN_PHASE,
        plot: Drawn::Throughput,
        from: Span::ZERO,
        to: Span::from_secs(20),
        caption: "throughput of Reno and Vegas, in phase and not",
    },
    cases: &[
        case(
            Helps,
            "access links are as fast as the bottleneck: who starves is a matter of phase.",
            IN_PHASE,
            Metric::FAIRNESS,
            5,
        ),
        case(
            Nothing,
            "a flow is alone: it has nobody to be in phase with.",
            Setup::of("one-flow", "hosts.server.processing", OFF_AND_ON),
            Metric::GOODPUT,
            3,
        ),
        case(
            Hurts,
            "the path is short: half of the longest time is added to each round trip.",
            Setup::of("one-flow", "hosts.server.processing", OFF_AND_ON)
                .with(&["links.path.delay=1 ms", "tcp.max_window=4"]),
            Metric::ROUND_TRIP,
            3,
        ),
    ],
}];
