//! Queues that signal before they are full (RED, CoDel, PIE), and their knobs.

use super::super::{BuildError, keyword, needed, optional};
use super::{LIMIT, QueueContext, limit};
use crate::queue::{
    Above, Adaptive, AutomaticRed, Codel, CodelConfig, CountIn, DelayEstimate, Derandomise, EcnUse,
    Pie, PieConfig, Queue, Red, RedConfig, Spacing,
};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

pub(super) const ECN: Knob = Knob {
    name: "ecn",
    kind: ON_OFF,
    default: "off",
    doc: "Whether packets of ECN-capable transports are marked in place of dropping",
    source: "RFC 3168 §5",
};

pub(super) const TARGET: Knob = Knob {
    name: "target",
    kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(10) },
    default: "5 ms",
    doc: "Standing queueing delay that is acceptable",
    source: "RFC 8289 §4.2 (TARGET)",
};

pub(super) const INTERVAL: Knob = Knob {
    name: "interval",
    kind: KnobKind::Span { min: Span::from_micros(10), max: Span::from_secs(60) },
    default: "100 ms",
    doc: "How long the delay has to be above the target before the first drop; about the longest \
          round trip",
    source: "RFC 8289 §4.2 (INTERVAL)",
};

pub(super) const MTU: Knob = Knob {
    name: "mtu",
    kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(65_535) },
    default: "1500 B",
    doc: "No packet is dropped from a line that holds no more than this",
    source: "RFC 8289 §5.4 (maxpacket)",
};

pub(super) const CE_THRESHOLD: Knob = Knob {
    name: "ce_threshold",
    kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(10) },
    default: "",
    doc: "Packets of ECN-capable transports that waited longer than this are marked; none when \
          absent",
    source: "RFC 8290 §5.2.7",
};

const ON_OFF: KnobKind = KnobKind::Choice(&["off", "on"]);

const MEAN_PACKET: Knob = Knob {
    name: "mean_packet",
    kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(65_535) },
    default: "1000 B",
    doc: "Length of a typical packet",
    source: "Floyd and Jacobson 1993 §5; ns-2 has 500 B",
};

pub(super) const RED: Mechanism = Mechanism {
    name: "red",
    family: "queue",
    summary: "Drops or marks arriving packets at random, by the average length of the queue",
    source: "Floyd and Jacobson 1993; adaptive: Floyd, Gummadi and Shenker 2001",
    knobs: &[
        LIMIT,
        Knob {
            name: "min_threshold",
            kind: KnobKind::Number { min: 0.0, max: 1e6 },
            default: "",
            doc: "min_th, packets: an average below it costs nothing; when absent, half of \
                  target_delay at the link's rate, but at least 5",
            source: "Floyd, Gummadi and Shenker 2001 §4.3",
        },
        Knob {
            name: "max_threshold",
            kind: KnobKind::Number { min: 0.001, max: 1e6 },
            default: "",
            doc: "max_th, packets: the average at which the probability is the largest; when \
                  absent, three times min_threshold",
            source: "Floyd, Gummadi and Shenker 2001 §4.3",
        },
        Knob {
            name: "average_weight",
            kind: KnobKind::Number { min: 1e-9, max: 1.0 },
            default: "",
            doc: "w_q: share of the newest length in the average (1993: 0.002); when absent, a \
                  time constant of one second",
            source: "Floyd, Gummadi and Shenker 2001 Eq. 3",
        },
        Knob {
            name: "target_delay",
            kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(10) },
            default: "5 ms",
            doc: "Queueing delay from which absent thresholds follow",
            source: "Floyd, Gummadi and Shenker 2001 §4.3; ns-2's targetdelay_",
        },
        Knob {
            name: "max_probability",
            kind: KnobKind::Ratio,
            default: "10 %",
            doc: "max_p: probability at the upper threshold, or where it starts if adaptive",
            source: "ns-2's linterm_ 10",
        },
        Knob {
            name: "gentle",
            kind: KnobKind::Choice(&["on", "off"]),
            default: "on",
            doc: "Above max_threshold the probability goes on to 1 at twice of it, in place of a \
                  jump",
            source: "Floyd 2000, Recommendation on using the gentle variant of RED",
        },
        Knob {
            name: "adaptive",
            kind: ON_OFF,
            default: "off",
            doc: "Whether max_p is moved so that the average stays half way between the thresholds",
            source: "Floyd, Gummadi and Shenker 2001 §3",
        },
        Knob {
            name: "spacing",
            kind: KnobKind::Choice(&["uniform", "wait"]),
            default: "uniform",
            doc: "Gaps between drops: uniform on 1 to 1/p packets, or on 1/p to 2/p",
            source: "Floyd and Jacobson 1993 §4; ns-2's wait_",
        },
        Knob {
            name: "count_in",
            kind: KnobKind::Choice(&["packets", "bytes"]),
            default: "packets",
            doc: "Whether a long packet counts more in the average and is dropped more often",
            source: "Floyd and Jacobson 1993 §4; ns-2's bytes_",
        },
        MEAN_PACKET,
        ECN,
    ],
};

pub(super) const CODEL: Mechanism = Mechanism {
    name: "codel",
    family: "queue",
    summary: "Drops at the head once packets have waited too long for a whole interval",
    source: "RFC 8289",
    knobs: &[LIMIT_CODEL, TARGET, INTERVAL, MTU, ECN, CE_THRESHOLD],
};

const LIMIT_CODEL: Knob = Knob {
    default: "1000 packets",
    doc: "Capacity, without the packet being transmitted; CoDel is to keep the queue shorter",
    source: "Linux's codel",
    ..LIMIT
};

const LIMIT_PIE: Knob = Knob { source: "Linux's pie", ..LIMIT_CODEL };

pub(super) const PIE: Mechanism = Mechanism {
    name: "pie",
    family: "queue",
    summary: "Drops or marks arriving packets with a probability that follows the queueing delay",
    source: "RFC 8033",
    knobs: &[
        LIMIT_PIE,
        Knob { default: "15 ms", source: "RFC 8033 §4.2 (QDELAY_REF)", ..TARGET },
        Knob {
            name: "update_every",
            kind: KnobKind::Span { min: Span::from_micros(100), max: Span::from_secs(10) },
            default: "15 ms",
            doc: "How often the probability is worked out",
            source: "RFC 8033 §4.2 (T_UPDATE)",
        },
        Knob {
            name: "burst",
            kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(60) },
            default: "150 ms",
            doc: "How long nothing is dropped after the queue has begun to fill",
            source: "RFC 8033 §4.4 (MAX_BURST)",
        },
        Knob {
            name: "alpha",
            kind: KnobKind::Number { min: 0.0, max: 1_000.0 },
            default: "0.125",
            doc: "How the probability follows the distance from the target, per second",
            source: "RFC 8033 §4.2",
        },
        Knob {
            name: "beta",
            kind: KnobKind::Number { min: 0.0, max: 1_000.0 },
            default: "1.25",
            doc: "How the probability follows the change of the delay, per second",
            source: "RFC 8033 §4.2",
        },
        Knob {
            name: "derandomise",
            kind: KnobKind::Choice(&["on", "off"]),
            default: "on",
            doc: "Whether drops are kept from following at once on one another, or failing to come",
            source: "RFC 8033 §5.4",
        },
        Knob {
            name: "delay_from",
            kind: KnobKind::Choice(&["timestamps", "departure-rate"]),
            default: "timestamps",
            doc: "Whether the delay is how long the last packet waited, or the length over the \
                  measured rate",
            source: "RFC 8033 §4.3, §5.2",
        },
        Knob {
            default: "1500 B",
            doc: "Nothing is dropped while no more than two of them wait",
            source: "RFC 8033 §4.1 (MEAN_PKTSIZE)",
            ..MEAN_PACKET
        },
        ECN,
        Knob {
            name: "ecn_up_to",
            kind: KnobKind::Ratio,
            default: "10 %",
            doc: "Above this probability ECN-capable packets are dropped all the same",
            source: "RFC 8033 §5.1 (mark_ecnth)",
        },
    ],
};

pub(super) fn red(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let mean_packet = needed(choice, "mean_packet", KnobValue::as_bytes)?;
    let target_delay = needed(choice, "target_delay", KnobValue::as_span)?;
    let automatic = AutomaticRed::of(context.rate, mean_packet, target_delay);
    let min_threshold = optional(choice, "min_threshold", KnobValue::as_number)?;
    let min_threshold = min_threshold.unwrap_or(automatic.min_threshold);
    let max_threshold = optional(choice, "max_threshold", KnobValue::as_number)?;
    let weight = optional(choice, "average_weight", KnobValue::as_number)?;
    let config = RedConfig {
        limit: limit(choice)?,
        min_threshold,
        // Thresholds the wrong way round leave no range between them: a step at the lower one.
        max_threshold: max_threshold.unwrap_or(3.0 * min_threshold).max(min_threshold + 0.001),
        average_weight: weight.unwrap_or(automatic.average_weight),
        max_probability: ratio(choice, "max_probability")?,
        above: keyword(choice, "gentle", &[("on", Above::Gentle), ("off", Above::Forced)])?,
        adaptive: keyword(choice, "adaptive", &[("on", Adaptive::Yes), ("off", Adaptive::No)])?,
        spacing: keyword(
            choice,
            "spacing",
            &[("uniform", Spacing::Uniform), ("wait", Spacing::Wait)],
        )?,
        count_in: keyword(
            choice,
            "count_in",
            &[("packets", CountIn::Packets), ("bytes", CountIn::Bytes)],
        )?,
        mean_packet,
        rate: context.rate,
        ecn: ecn(choice)?,
        stream: context.stream.clone(),
    };
    Ok(Queue::Red(Box::new(Red::new(config))))
}

pub(super) fn codel(choice: &Choice) -> Result<Queue, BuildError> {
    Ok(Queue::Codel(Box::new(Codel::new(limit(choice)?, codel_config(choice)?))))
}

pub(super) fn codel_config(choice: &Choice) -> Result<CodelConfig, BuildError> {
    Ok(CodelConfig {
        target: needed(choice, "target", KnobValue::as_span)?,
        interval: needed(choice, "interval", KnobValue::as_span)?,
        mtu: needed(choice, "mtu", KnobValue::as_bytes)?,
        ecn: ecn(choice)?,
        ce_threshold: optional(choice, "ce_threshold", KnobValue::as_span)?,
    })
}

pub(super) fn pie(choice: &Choice, context: &QueueContext<'_>) -> Result<Queue, BuildError> {
    let derandomise = [("on", Derandomise::Yes), ("off", Derandomise::No)];
    let estimates = [
        ("timestamps", DelayEstimate::Timestamps),
        ("departure-rate", DelayEstimate::DepartureRate),
    ];
    let config = PieConfig {
        limit: limit(choice)?,
        target: needed(choice, "target", KnobValue::as_span)?,
        update_every: needed(choice, "update_every", KnobValue::as_span)?,
        burst: needed(choice, "burst", KnobValue::as_span)?,
        alpha: needed(choice, "alpha", KnobValue::as_number)?,
        beta: needed(choice, "beta", KnobValue::as_number)?,
        derandomise: keyword(choice, "derandomise", &derandomise)?,
        delay: keyword(choice, "delay_from", &estimates)?,
        mean_packet: needed(choice, "mean_packet", KnobValue::as_bytes)?,
        ecn: ecn(choice)?,
        ecn_up_to: ratio(choice, "ecn_up_to")?,
        stream: context.stream.clone(),
    };
    Ok(Queue::Pie(Box::new(Pie::new(config))))
}

fn ecn(choice: &Choice) -> Result<EcnUse, BuildError> {
    keyword(choice, "ecn", &[("on", EcnUse::On), ("off", EcnUse::Off)])
}

fn ratio(choice: &Choice, knob: &'static str) -> Result<f64, BuildError> {
    Ok(needed(choice, knob, KnobValue::as_ratio)?.get())
}
