//! The time that hosts take for what they send.

use super::{BuildError, needed};
use crate::processing::Processing;
use crate::random::Stream;
use ackord_units::{Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

/// How long a host may take for what it sends.
pub static PROCESSING: &[Mechanism] = &[Mechanism {
    name: "jitter",
    family: "processing",
    summary: "Each packet leaves its host after a random time, in order: no phase effects",
    source: "Floyd and Jacobson 1992, On Traffic Phase Effects in Packet-Switched Gateways, §4; ns-2's \
             overhead_",
    knobs: &[Knob {
        name: "up_to",
        kind: KnobKind::Span { min: Span::from_nanos(1), max: Span::from_secs(1) },
        default: "1 ms",
        doc: "Each packet's time is drawn from zero to this, all as likely; phase effects are gone when \
              it is no less than the bottleneck takes for a packet",
        source: "Floyd and Jacobson 1992 §4: up to the bottleneck's service time; 1 ms is that of 1250 \
                 octets at 10 Mbit/s",
    }],
}];

/// What somebody chose for a host, drawing from the host's own stream.
pub fn build_processing(choice: &Choice, stream: Stream) -> Result<Processing, BuildError> {
    Ok(Processing::new(needed(choice, "up_to", KnobValue::as_span)?, stream))
}
