//! When a segment counts as lost.

use super::Effect::{Helps, Hurts, Nothing};
use super::{Drawn, Entry, Metric, Picture, Setup, case};
use ackord_units::Span;

/// Three duplicates and nothing else.
const UNLIMITED: &str = "{ kind = \"fixed\", limited_transmit = \"off\" }";

const SMALL_WINDOWS: &[&str] =
    &["tcp.sack=off", "tcp.ack=immediate", "links.wifi.loss.per_packet=3 %"];

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
            setup: Setup::of("lossy-wifi", "tcp.loss", [UNLIMITED, "vegas"]).with(SMALL_WINDOWS),
            plot: Drawn::Sequence,
            from: Span::ZERO,
            to: Span::from_secs(5),
            caption: "random loss, without the help of SACK",
        },
        cases: &[
            case(
                Helps,
                "windows are small, every segment is acknowledged and there is no limited \
                 transmit: one duplicate is enough.",
                Setup::of("lossy-wifi", "tcp.loss", [UNLIMITED, "vegas"]).with(SMALL_WINDOWS),
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
            case(
                Hurts,
                "the other choice is three duplicates with limited transmit, which draws the \
                 missing duplicates out of small windows.",
                Setup::of("lossy-wifi", "tcp.loss", ["fixed", "vegas"])
                    .with(&["links.wifi.loss.per_packet=3 %"]),
                Metric::Timeouts,
                20,
            ),
        ],
    },
];
