//! Proxy TCP and its knobs.

use super::super::{BuildError, needed, optional, word};
use crate::proxy::Proxy;
use crate::proxy::proxy_tcp::{Limits, PaperConfig, PaperProxy, ProxyAckUse};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

const PAPER: &str = "Kang and Jang, §3.2";

pub(super) const PROXY_TCP: Mechanism = Mechanism {
    name: "proxy-tcp",
    family: "proxy",
    summary: "Stands beside the path, repeats lost data to the mobile host and bridges fading",
    source: PAPER,
    knobs: &[
        Knob {
            name: "mode",
            kind: KnobKind::Choice(&["paper"]),
            default: "paper",
            doc: "`paper` does what the authors describe",
            source: PAPER,
        },
        Knob {
            name: "local_timeout",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
            default: "",
            doc: "How long the mobile host may be silent while data is outstanding before the link \
                  counts as faded; learnt from the wireless round trip where nothing is given",
            source: "the paper names it and gives no value",
        },
        Knob {
            name: "probe_interval",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(60) },
            default: "100 ms",
            doc: "From one packet that tests a faded link to the next",
            source: "the paper gives no value; half of the least retransmission timeout in use, so \
                     that the sender cannot find out first",
        },
        Knob {
            name: "proxy_ack",
            kind: KnobKind::Choice(&["fading", "duplicates"]),
            default: "fading",
            doc: "In paper mode, when acknowledgments with a window of zero are sent: when the link \
                  has faded, or also after every duplicate acknowledgment, whose run they break",
            source: "Kang and Jang, §3.2; RFC 5681 §2",
        },
        Knob {
            name: "flows",
            kind: KnobKind::Count { unit: "connections", min: 1, max: 1_000_000 },
            default: "4096",
            doc: "Connections it remembers; others pass untouched",
            source: "some hundred bytes each, beside the data",
        },
        Knob {
            name: "cache_per_flow",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(1_000_000_000) },
            default: "1 MB",
            doc: "Data it keeps of one connection; what does not fit passes uncached",
            source: "the flight of a connection at 80 Mbit/s over 100 ms",
        },
        Knob {
            name: "cache",
            kind: KnobKind::Bytes { min: Bytes(1_000), max: Bytes(100_000_000_000) },
            default: "64 MB",
            doc: "Data it keeps of all connections together",
            source: "a small gateway's spare memory",
        },
    ],
};

pub(super) fn build(choice: &Choice) -> Result<Proxy, BuildError> {
    let limits = Limits {
        flows: needed(choice, "flows", KnobValue::as_count)? as usize,
        cache_per_flow: needed(choice, "cache_per_flow", KnobValue::as_bytes)?,
        cache: needed(choice, "cache", KnobValue::as_bytes)?,
    };
    let proxy_ack = match word(choice, "proxy_ack")?.as_str() {
        "fading" => ProxyAckUse::AtFading,
        "duplicates" => ProxyAckUse::AtDuplicatesToo,
        _ => return Err(BuildError::WrongValue { knob: "proxy_ack" }),
    };
    Ok(Proxy::Beside(Box::new(PaperProxy::new(PaperConfig {
        local_timeout: optional(choice, "local_timeout", KnobValue::as_span)?,
        probe_interval: needed(choice, "probe_interval", KnobValue::as_span)?,
        proxy_ack,
        limits,
    }))))
}
