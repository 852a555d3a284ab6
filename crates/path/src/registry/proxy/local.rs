//! Knobs of boxes that cache data and send it again over the wireless link.

use crate::proxy::{Inference, Lane, RepairConfig};
use crate::registry::{BuildError, keyword, needed};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Span};

pub(super) const CACHE: Knob = Knob {
    name: "cache",
    kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000) },
    default: "256 kB",
    doc: "Data kept of one connection; what does not fit passes uncached",
    source: "this project: twice a full queue of 50 packets and 40 ms at 10 Mbit/s",
};

pub(super) const DUPACKS: Knob = Knob {
    name: "dupacks",
    kind: KnobKind::Count { unit: "duplicate ACKs", min: 1, max: 100 },
    default: "1",
    doc: "Duplicate acknowledgments that mean a loss on the wireless link, where no SACK block \
          tells",
    source: "Balakrishnan et al. 1995 §3: the first",
};

pub(super) const FLOWS: Knob = Knob {
    name: "flows",
    kind: KnobKind::Count { unit: "connections", min: 1, max: 1_000_000 },
    default: "1024",
    doc: "Connections it keeps something of; further ones pass untouched",
    source: "this project",
};

pub(super) const IDLE_FOR: Knob = Knob {
    name: "idle_for",
    kind: KnobKind::Span { min: Span::from_millis(100), max: Span::from_secs(86_400) },
    default: "60 s",
    doc: "A connection is forgotten this long after its last packet",
    source: "this project: the longest a sender waits before it tries again (RFC 6298 §2.5)",
};

pub(super) const TIMER_MIN: Knob = Knob {
    name: "timer_min",
    kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
    default: "40 ms",
    doc: "The local retransmission timer, SRTT + 4 RTTVAR of the wireless round trip, is never \
          shorter",
    source: "Linux's shortest delayed acknowledgment; Balakrishnan et al. 1995 have 40 ms too",
};

pub(super) const TIMER_MAX: Knob = Knob {
    name: "timer_max",
    kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
    default: "1 s",
    doc: "The local timer is never longer, and this long before the first measured round trip",
    source: "RFC 6298 §2.1",
};

pub(super) const PERSIST: Knob = Knob {
    name: "persist",
    kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
    default: "200 ms",
    doc: "From one local retransmission in vain to the next",
    source: "Balakrishnan et al. 1995: the persist timer",
};

pub(super) const TRIES: Knob = Knob {
    name: "tries",
    kind: KnobKind::Count { unit: "retransmissions", min: 1, max: 1_000 },
    default: "10",
    doc: "How often a segment is sent again because acknowledgments ask for it; after that the \
          sender has to",
    source: "ns-2's Snoop: SNOOP_MAX_RXMIT",
};

pub(super) const PRIORITY: Knob = Knob {
    name: "priority",
    kind: KnobKind::Choice(&["high", "none"]),
    default: "high",
    doc: "Whether what acknowledgments ask for goes ahead of what waits in the link's queue",
    source: "Balakrishnan et al. 1995 §3: at a higher priority",
};

/// The value of a knob with a range that fits into memory.
pub(super) fn count(choice: &Choice, knob: &'static str) -> Result<usize, BuildError> {
    let count = needed(choice, knob, KnobValue::as_count)?;
    usize::try_from(count).map_err(|_| BuildError::WrongValue { knob })
}

pub(super) fn span(choice: &Choice, knob: &'static str) -> Result<Span, BuildError> {
    needed(choice, knob, KnobValue::as_span)
}

/// How a box repairs, from the knobs above.
pub(super) fn repair(choice: &Choice, inference: Inference) -> Result<RepairConfig, BuildError> {
    let few = |knob| -> Result<u32, BuildError> {
        let count = needed(choice, knob, KnobValue::as_count)?;
        u32::try_from(count).map_err(|_| BuildError::WrongValue { knob })
    };
    Ok(RepairConfig {
        cache: needed(choice, "cache", KnobValue::as_bytes)?,
        dupacks: few("dupacks")?,
        timer_min: span(choice, "timer_min")?,
        timer_max: span(choice, "timer_max")?,
        persist: span(choice, "persist")?,
        tries: few("tries")?,
        inference,
        lane: keyword(choice, "priority", &[("high", Lane::First), ("none", Lane::Queue)])?,
    })
}
