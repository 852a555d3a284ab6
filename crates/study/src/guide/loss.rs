//! When a segment counts as lost.

use super::Effect::{Helps, Hurts, Nothing};
use super::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

pub(super) static ENTRIES: &[Entry] = &[
    Entry {
        name: "fixed",
        family: "loss",
        idea: "The oldest segment is lost once this many duplicate acknowledgments have come (three, by
RFC 5681), or as many segments above it are known to have arrived. Small thresholds
repair soonest; on a path that reorders they repair what was never lost, and halve cwnd
for it.",
        picture: Picture {
            setup: Setup::of("lossy-wifi", "tcp.loss.threshold", ["3", "10"]),
            plot: Drawn::Sequence,
            from: Span::ZERO,
            to: Span::from_secs(5),
            caption: "three duplicates or ten, under random loss",
        },
        cases: &[case(
            Hurts,
            "the threshold is larger than the path's reordering asks for: small windows do not \
             yield so many duplicates, and wait for timeouts.",
            Setup::of("lossy-wifi", "tcp.loss.threshold", ["3", "10"]),
            Metric::Goodput,
            10,
        )],
    },
    Entry {
        name: "vegas",
        family: "loss",
        idea: "On the first duplicate acknowledgment, and on the first two new ones after a
retransmission, the oldest segment is lost if it has been out for longer than a
fine-grained timeout: losses that would never yield three duplicates are repaired without
waiting for the coarse timer.",
        picture: Picture {
            setup: Setup::of("lossy-wifi", "tcp.loss", ["fixed", "vegas"])
                .with(&["tcp.recovery=reno"]),
            plot: Drawn::Sequence,
            from: Span::ZERO,
            to: Span::from_secs(5),
            caption: "random loss, without SACK's help",
        },
        cases: &[
            case(
                Helps,
                "several segments of a window are lost and Reno would wait for timeouts.",
                Setup::of("lossy-wifi", "tcp.loss", ["fixed", "vegas"])
                    .with(&["tcp.recovery=reno", "links.wifi.loss.per_packet=3 %"]),
                Metric::Timeouts,
                20,
            ),
            case(
                Nothing,
                "SACK and enough duplicates tell all there is to know.",
                Setup::of("one-flow", "tcp.loss", ["fixed", "vegas"]),
                Metric::Goodput,
                1,
            ),
        ],
    },
];
