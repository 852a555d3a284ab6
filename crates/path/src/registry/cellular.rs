//! The cellular hop, with its knobs.

use super::{BuildError, keyword, needed};
use crate::link::{Cellular, CellularConfig, Request};
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Rate, Span};

const fn knob(
    name: &'static str,
    kind: KnobKind,
    default: &'static str,
    doc: &'static str,
    source: &'static str,
) -> Knob {
    Knob { name, kind, default, doc, source }
}

const fn span(min: Span) -> KnobKind {
    KnobKind::Span { min, max: Span::from_secs(1) }
}

pub(super) const CELLULAR: Mechanism = Mechanism {
    name: "cellular",
    family: "medium",
    summary: "A cellular hop: slots, grants upward, blocks that are tried again and delivered in \
              order; each direction's rate is what the scheduler gives this phone",
    source: "3GPP TS 36.300 (LTE) §5, §9, §11; defaults of an FDD cell",
    knobs: &[
        knob(
            "tti",
            span(Span::from_micros(10)),
            "1 ms",
            "Transmission time interval: one slot, one transport block",
            "TS 36.300 §5.1",
        ),
        knob(
            "block_error",
            KnobKind::Ratio,
            "10 %",
            "Probability that a block cannot be decoded, at every try anew",
            "TS 36.213 §7.2.3: link adaptation aims at no more than 10 %",
        ),
        knob(
            "harq_delay",
            KnobKind::Count { unit: "slots", min: 1, max: 10_000 },
            "8",
            "From one try of a block to the next",
            "TS 36.213 §7: eight HARQ processes, 8 ms",
        ),
        knob(
            "harq_limit",
            KnobKind::Count { unit: "times", min: 0, max: 32 },
            "3",
            "How often a block is sent again before what is in it is lost",
            "4 tries, of the 1 to 28 that maxHARQ-Tx in TS 36.331 allows",
        ),
        knob(
            "request_every",
            span(Span::from_micros(10)),
            "10 ms",
            "Upward: from one occasion to ask for a grant to the next",
            "TS 36.213 §10.1.5: 5 to 80 ms, 10 ms common",
        ),
        knob(
            "grant_delay",
            span(Span::ZERO),
            "8 ms",
            "Upward: from asking to the first slot granted",
            "TS 36.912 §B.2.1: request, decoding, grant and its decoding, 4 ms each way",
        ),
        knob(
            "upward",
            KnobKind::Choice(&["reverse", "forward"]),
            "reverse",
            "Which direction of the link goes from the phone to the network",
            "this project",
        ),
    ],
};

/// Which way along a link a direction goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkWay {
    /// As the link does.
    Forward,
    /// The other way.
    Reverse,
}

/// One direction, at this rate, of the cellular hop somebody chose; nothing for other media.
pub fn build_cellular(
    choice: &Choice,
    way: LinkWay,
    rate: Rate,
    stream: Stream,
) -> Result<Option<Cellular>, BuildError> {
    if choice.mechanism.name != CELLULAR.name {
        return Ok(None);
    }
    let count = |knob| needed(choice, knob, KnobValue::as_count);
    let span = |knob| needed(choice, knob, KnobValue::as_span);
    let ways = [("reverse", LinkWay::Reverse), ("forward", LinkWay::Forward)];
    let upward = keyword(choice, "upward", &ways)?;
    let request = Request { every: span("request_every")?, grant_after: span("grant_delay")? };
    Ok(Some(Cellular::new(CellularConfig {
        rate,
        slot: span("tti")?,
        block_error: needed(choice, "block_error", KnobValue::as_ratio)?,
        retry_after_slots: count("harq_delay")?,
        retries: u32::try_from(count("harq_limit")?).unwrap_or(u32::MAX),
        request: (way == upward).then_some(request),
        stream,
    })))
}
