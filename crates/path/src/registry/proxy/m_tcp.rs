//! M-TCP, with its knobs.

use super::local::{
    CACHE, DUPACKS, FLOWS, IDLE_FOR, PERSIST, PRIORITY, TIMER_MAX, TIMER_MIN, TRIES, count, repair,
    span,
};
use crate::proxy::{Inference, MTcp, MTcpConfig, Proxy};
use crate::registry::{BuildError, optional};
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

pub(super) const M_TCP: Mechanism = Mechanism {
    name: "m-tcp",
    family: "proxy",
    summary: "Holds the last octet's acknowledgment back, to close the sender's window in a fade",
    source: "Brown and Singh 1997 §3",
    knobs: &[
        Knob {
            name: "silent_for",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
            default: "",
            doc: "The mobile host is taken for gone when it has owed an answer for so long; the \
                  local retransmission timer when absent",
            source: "Brown and Singh 1997 §3: no acknowledgment for some time",
        },
        Knob {
            name: "release_after",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
            default: "100 ms",
            doc: "The octet held back is acknowledged so long after the mobile host has \
                  acknowledged all there is",
            source: "this project: half of Linux's shortest retransmission timeout",
        },
        DUPACKS,
        PRIORITY,
        CACHE,
        FLOWS,
        TIMER_MIN,
        TIMER_MAX,
        PERSIST,
        TRIES,
        IDLE_FOR,
    ],
};

pub(super) fn build(choice: &Choice) -> Result<Proxy, BuildError> {
    let config = MTcpConfig {
        repair: repair(choice, Inference::Deliveries)?,
        flows: count(choice, "flows")?,
        idle_for: span(choice, "idle_for")?,
        silent_for: optional(choice, "silent_for", KnobValue::as_span)?,
        release_after: span(choice, "release_after")?,
    };
    Ok(Proxy::InPath(Box::new(MTcp::new(config))))
}
