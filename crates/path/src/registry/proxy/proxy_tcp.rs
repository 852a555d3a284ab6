//! Proxy TCP and its knobs.

use super::super::{BuildError, keyword, needed, optional, word};
use crate::proxy::Proxy;
use crate::proxy::proxy_tcp::{
    Freeze, Limits, PaperConfig, PaperProxy, PracticalConfig, PracticalProxy, ProxyAckUse,
    ReserveConfig, Standing,
};
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
            kind: KnobKind::Choice(&["practical", "paper"]),
            default: "practical",
            doc: "`paper` does what the authors describe; `practical` fills the gaps",
            source: "this project",
        },
        Knob {
            name: "place",
            kind: KnobKind::Choice(&["beside", "in-path"]),
            default: "beside",
            doc: "Where it stands: beside the path it sees copies and can only add packets; in the \
                  path (in practical mode) it hides duplicate acknowledgments from senders without \
                  timestamps and can hold acknowledgments in reserve",
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
            name: "freeze",
            kind: KnobKind::Choice(&["without-sack", "always", "never"]),
            default: "never",
            doc: "In practical mode, when a hold closes the sender's window: where the connection \
                  does not speak SACK, always as in the paper, or never",
            source: "this project: no frozen sender did better (decision 0080)",
        },
        Knob {
            name: "reserve",
            kind: KnobKind::Count { unit: "acknowledgments", min: 0, max: 1_000 },
            default: "0",
            doc: "In the path, the most acknowledgments of a connection that are held back to be \
                  let go one by one while the link is away; fewer where that would slow the sender",
            source: "this project: none, for repetition does as well and a box that dies with a reserve \
                     leaves a closed window behind; 15 bridge 2.5 s",
        },
        Knob {
            name: "release_interval",
            kind: KnobKind::Span { min: Span::from_millis(10), max: Span::from_secs(60) },
            default: "170 ms",
            doc: "In the path, from one held-back acknowledgment to the next while the link is away",
            source: "less than the least retransmission timeout in common use, 200 ms",
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
    let shared = Shared {
        local_timeout: optional(choice, "local_timeout", KnobValue::as_span)?,
        probe_interval: needed(choice, "probe_interval", KnobValue::as_span)?,
        limits,
    };
    match word(choice, "mode")?.as_str() {
        "paper" => paper(choice, shared),
        "practical" => practical(choice, shared),
        _ => Err(BuildError::WrongValue { knob: "mode" }),
    }
}

/// What both modes have.
struct Shared {
    local_timeout: Option<Span>,
    probe_interval: Span,
    limits: Limits,
}

fn paper(choice: &Choice, shared: Shared) -> Result<Proxy, BuildError> {
    let Shared { local_timeout, probe_interval, limits } = shared;
    let uses = [("fading", ProxyAckUse::AtFading), ("duplicates", ProxyAckUse::AtDuplicatesToo)];
    let proxy_ack = keyword(choice, "proxy_ack", &uses)?;
    if word(choice, "place")? != "beside" {
        return Err(BuildError::WrongValue { knob: "place" });
    }
    let config = PaperConfig { local_timeout, probe_interval, proxy_ack, limits };
    Ok(Proxy::Beside(Box::new(PaperProxy::new(config))))
}

fn practical(choice: &Choice, shared: Shared) -> Result<Proxy, BuildError> {
    let Shared { local_timeout, probe_interval, limits } = shared;
    let freezes = [
        ("without-sack", Freeze::WithoutSack),
        ("always", Freeze::Always),
        ("never", Freeze::Never),
    ];
    let freeze = keyword(choice, "freeze", &freezes)?;
    let config =
        |standing| PracticalConfig { local_timeout, probe_interval, freeze, standing, limits };
    match word(choice, "place")?.as_str() {
        "beside" => Ok(Proxy::Beside(Box::new(PracticalProxy::new(config(Standing::Beside))))),
        "in-path" => {
            let reserve = ReserveConfig {
                most: needed(choice, "reserve", KnobValue::as_count)? as usize,
                release_every: needed(choice, "release_interval", KnobValue::as_span)?,
            };
            let proxy = PracticalProxy::new(config(Standing::InPath(reserve)));
            Ok(Proxy::InPath(Box::new(proxy)))
        }
        _ => Err(BuildError::WrongValue { knob: "place" }),
    }
}
