//! `i-tcp` and `mtcp`: boxes that split connections.

use super::super::{BuildError, needed, optional, word};
use crate::proxy::{Hop, Proxy, SelectiveRepeat, Split, SplitConfig};
use ackord_tcp::registry::{CONGESTION, LOSS, RECOVERY, Stack, find, profile};
use ackord_units::{Bytes, Choice, Knob, KnobKind, KnobValue, Mechanism, Span};

/// The names of what an endpoint has to choose from, for the wireless side to choose from too.
const fn names<const N: usize>(of: &[Mechanism]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = of[at].name;
        at += 1;
    }
    names
}

static CONGESTIONS: [&str; CONGESTION.len()] = names(CONGESTION);
static DETECTORS: [&str; LOSS.len()] = names(LOSS);
static RECOVERIES: [&str; RECOVERY.len()] = names(RECOVERY);
const PROFILE_NAMES: KnobKind = KnobKind::Choice(&["rfc", "linux", "ns2"]);

const WIRED: Knob = Knob {
    name: "wired",
    kind: PROFILE_NAMES,
    default: "rfc",
    doc: "The profile of the endpoint that answers the fixed host",
    source: "this project's defaults",
};

const BUFFER: Knob = Knob {
    name: "buffer",
    kind: KnobKind::Bytes { min: Bytes(4_000), max: Bytes(1_073_725_440) },
    default: "",
    doc: "What a connection may hold each way: the windows announced close as it fills; no limit \
          when absent",
    source: "Bakre and Badrinath 1995 and Yavatkar and Bhagawat 1994 give none",
};

const FLOWS: Knob = Knob {
    name: "flows",
    kind: KnobKind::Count { unit: "connections", min: 1, max: 1_000_000 },
    default: "1000",
    doc: "Connections split at a time; further ones pass untouched",
    source: "this project",
};

/// Two TCP connections in place of one.
pub(super) const I_TCP: Mechanism = Mechanism {
    name: "i-tcp",
    family: "proxy",
    summary: "Splits each connection in two TCP connections, in the hosts' names",
    source: "Bakre and Badrinath 1995",
    knobs: &[
        Knob {
            name: "wireless",
            kind: PROFILE_NAMES,
            default: "rfc",
            doc: "The profile of the endpoint that speaks to the mobile host",
            source: "this project's defaults; the paper has the TCP of its time",
        },
        Knob {
            name: "congestion",
            kind: KnobKind::Choice(&CONGESTIONS),
            default: "",
            doc: "Congestion control on the wireless side; the profile's when absent",
            source: "this project",
        },
        Knob {
            name: "loss",
            kind: KnobKind::Choice(&DETECTORS),
            default: "",
            doc: "Loss detection on the wireless side; the profile's when absent",
            source: "this project",
        },
        Knob {
            name: "recovery",
            kind: KnobKind::Choice(&RECOVERIES),
            default: "",
            doc: "Recovery sending on the wireless side; the profile's when absent",
            source: "this project",
        },
        Knob {
            name: "rto_min",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(10) },
            default: "",
            doc: "Smallest retransmission timeout on the wireless side; the profile's when absent",
            source: "RFC 6298 §2.4",
        },
        WIRED,
        BUFFER,
        FLOWS,
    ],
};

/// TCP to the fixed host, a selective-repeat protocol to the mobile one.
pub(super) const MTCP: Mechanism = Mechanism {
    name: "mtcp",
    family: "proxy",
    summary: "Splits each connection: TCP to the fixed host, selective repeat over the wireless link",
    source: "Yavatkar and Bhagawat 1994",
    knobs: &[
        Knob {
            name: "window",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 10_000 },
            default: "16",
            doc: "What may be out on the wireless side, from the oldest segment not acknowledged on",
            source: "twice what 2 Mbit/s and 40 ms hold",
        },
        Knob {
            name: "timer_min",
            kind: KnobKind::Span { min: Span::from_millis(1), max: Span::from_secs(10) },
            default: "100 ms",
            doc: "Shortest timer of a segment on the wireless side; SRTT + 4 RTTVAR where that is more",
            source: "this project",
        },
        WIRED,
        BUFFER,
        FLOWS,
    ],
};

/// The `mtcp` somebody chose.
pub(super) fn build_mtcp(choice: &Choice) -> Result<Proxy, BuildError> {
    let sender = SelectiveRepeat {
        window_segments: needed(choice, "window", KnobValue::as_count)?,
        timer_min: needed(choice, "timer_min", KnobValue::as_span)?,
    };
    Ok(split(SplitConfig { hop: Hop::SelectiveRepeat(sender), ..common(choice)? }))
}

/// The `i-tcp` somebody chose.
pub(super) fn build_i_tcp(choice: &Choice) -> Result<Proxy, BuildError> {
    let mut wireless = stack(choice, "wireless")?;
    let chosen = |knob, table: &'static [Mechanism]| -> Result<Option<Choice>, BuildError> {
        let Some(name) = optional(choice, knob, KnobValue::as_choice)? else { return Ok(None) };
        let mechanism = find(table, &name).ok_or(BuildError::WrongValue { knob })?;
        Ok(Some(Choice::of(mechanism)))
    };
    if let Some(congestion) = chosen("congestion", CONGESTION)? {
        wireless.congestion = congestion;
    }
    if let Some(loss) = chosen("loss", LOSS)? {
        wireless.loss = loss;
    }
    if let Some(recovery) = chosen("recovery", RECOVERY)? {
        wireless.recovery = recovery;
    }
    if let Some(rto_min) = optional(choice, "rto_min", KnobValue::as_span)? {
        wireless = wireless.with("rto_min", KnobValue::Span(rto_min));
    }
    Ok(split(SplitConfig { wireless, ..common(choice)? }))
}

fn split(config: SplitConfig) -> Proxy {
    Proxy::InPath(Box::new(Split::new(config)))
}

/// What both boxes have; the wireless side is as the wired one.
fn common(choice: &Choice) -> Result<SplitConfig, BuildError> {
    let wired = stack(choice, "wired")?;
    Ok(SplitConfig {
        wireless: wired.clone(),
        wired,
        hop: Hop::Tcp,
        buffer: optional(choice, "buffer", KnobValue::as_bytes)?,
        flows: needed(choice, "flows", KnobValue::as_count)? as u32,
    })
}

fn stack(choice: &Choice, knob: &'static str) -> Result<Stack, BuildError> {
    let name = word(choice, knob)?;
    profile(&name).map(Stack::of_profile).ok_or(BuildError::WrongValue { knob })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_a_knob_names_something_registered() {
        let words = |knob: &str| match I_TCP.knob(knob).expect("listed").kind {
            KnobKind::Choice(words) => words,
            _ => panic!("{knob} takes words"),
        };
        for (knob, table) in [("congestion", CONGESTION), ("loss", LOSS), ("recovery", RECOVERY)] {
            for word in words(knob) {
                let choice = Choice::of(&I_TCP).with(knob, KnobValue::Choice((*word).to_owned()));
                assert!(find(table, word).is_some() && build_i_tcp(&choice).is_ok(), "{word}");
            }
        }
        for word in words("wireless") {
            let choice = Choice::of(&I_TCP).with("wireless", KnobValue::Choice((*word).to_owned()));
            assert!(build_i_tcp(&choice).is_ok(), "{word}");
        }
    }
}
