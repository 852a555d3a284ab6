//! Every workload, listed once with its knobs.

use crate::exchange::Counted;
use crate::transfers::{Lengths, Script};
use crate::{
    Answerer, Asker, Bulk, Draw, Exchange, Gathering, Law, Paced, Transfers, Workload, Workloads,
};
use ackord_path::Stream;
use ackord_units::{Bytes, Choice, Knob, KnobKind, Mechanism, Span};
use ackord_wire::Side;

const SET_BY_SCENARIO: &str = "set by the scenario";

const SIZES: KnobKind = KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000) };
const PAUSES: KnobKind = KnobKind::Span { min: Span::ZERO, max: Span::from_secs(3600) };
const PAUSE_LAWS: KnobKind = KnobKind::Choice(&["fixed", "uniform", "exponential"]);
const SIZE_LAWS: KnobKind = KnobKind::Choice(&["fixed", "uniform", "exponential", "pareto"]);

const GAP: Knob = Knob {
    name: "gap",
    kind: PAUSES,
    default: "100 ms",
    doc: "Mean pause before the next one",
    source: SET_BY_SCENARIO,
};

const GAP_DISTRIBUTION: Knob = Knob {
    name: "gap_distribution",
    kind: PAUSE_LAWS,
    default: "fixed",
    doc: "How pauses are spread about their mean: not at all, uniformly from nothing to twice the \
          mean, or exponentially",
    source: SET_BY_SCENARIO,
};

const SIZE_DISTRIBUTION: &str = "How lengths are spread about their mean: not at all, uniformly from nothing to twice the \
     mean, exponentially, or heavy-tailed (Pareto, index 1.5, cut off at a thousand times the mean)";

const THINK: Knob = Knob {
    name: "think",
    kind: PAUSES,
    default: "0 s",
    doc: "Mean time from the arrival of the whole question to the answer",
    source: SET_BY_SCENARIO,
};

const THINK_DISTRIBUTION: Knob = Knob {
    name: "think_distribution",
    kind: PAUSE_LAWS,
    default: "fixed",
    doc: "How these times are spread about their mean, as for gap_distribution",
    source: SET_BY_SCENARIO,
};

const COUNT: Knob = Knob {
    name: "count",
    kind: KnobKind::Count { unit: "times", min: 1, max: 1_000_000 },
    default: "",
    doc: "How many there are before the connection is closed; no end when absent",
    source: SET_BY_SCENARIO,
};

/// Workloads.
pub static WORKLOAD: &[Mechanism] = &[
    Mechanism {
        name: "bulk",
        family: "traffic",
        summary: "Sends as fast as TCP takes it, for ever or up to a size, then closes",
        source: "the FTP source of ns-2",
        knobs: &[Knob {
            name: "size",
            kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000_000) },
            default: "",
            doc: "How much to send; no end when absent",
            source: "set by the scenario",
        }],
    },
    Mechanism {
        name: "paced",
        family: "traffic",
        summary: "Writes a message at regular intervals",
        source: "the OnOff source of ns-3; Lee et al. 2015 §4",
        knobs: &[
            Knob {
                name: "message",
                kind: KnobKind::Bytes { min: Bytes(1), max: Bytes(1_000_000_000) },
                default: "1000 B",
                doc: "Length of a message",
                source: "set by the scenario",
            },
            Knob {
                name: "interval",
                kind: KnobKind::Span { min: Span::from_micros(1), max: Span::from_secs(3600) },
                default: "10 ms",
                doc: "Time from one message to the next",
                source: "set by the scenario",
            },
            Knob {
                name: "messages",
                kind: KnobKind::Count { unit: "messages", min: 1, max: 1_000_000_000 },
                default: "",
                doc: "How many to send before closing; no end when absent",
                source: "set by the scenario",
            },
        ],
    },
    Mechanism {
        name: "transfers",
        family: "traffic",
        summary: "Writes one transfer after the other, each a pause after the peer has \
                  acknowledged all of the one before",
        source: "Lee et al. 2016 §4.1, four sizes",
        knobs: &[
            Knob {
                name: "size",
                kind: SIZES,
                default: "100 kB",
                doc: "Mean length of a transfer",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "size_distribution",
                kind: SIZE_LAWS,
                default: "fixed",
                doc: SIZE_DISTRIBUTION,
                source: "Crovella and Bestavros 1997 for heavy tails of Web transfers",
            },
            Knob {
                name: "sizes",
                kind: KnobKind::BytesList { min: Bytes(1), max: Bytes(1_000_000_000) },
                default: "",
                doc: "Lengths in turn, from the front again after the last, in place of `size`",
                source: SET_BY_SCENARIO,
            },
            COUNT,
            GAP,
            GAP_DISTRIBUTION,
        ],
    },
    Mechanism {
        name: "request",
        family: "traffic",
        summary: "The receiving end asks in one write, the sending end answers; a pause, and again \
                  on the same connection",
        source: "request and response as in HTTP/1.1 with a persistent connection, RFC 9112 §9.3",
        knobs: &[
            Knob {
                name: "request",
                kind: SIZES,
                default: "200 B",
                doc: "Length of a request",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "response",
                kind: SIZES,
                default: "2 kB",
                doc: "Mean length of a response",
                source: "Lee et al. 2016 §4.1: simple answers stay within 2 KB",
            },
            Knob {
                name: "response_distribution",
                kind: SIZE_LAWS,
                default: "fixed",
                doc: SIZE_DISTRIBUTION,
                source: SET_BY_SCENARIO,
            },
            THINK,
            THINK_DISTRIBUTION,
            COUNT,
            GAP,
            GAP_DISTRIBUTION,
        ],
    },
    Mechanism {
        name: "write-write-read",
        family: "traffic",
        summary: "The sending end writes a head and a body and reads the reply, which comes when \
                  both have arrived: where Nagle and a delayed ACK wait for each other",
        source: "RFC 1122 §4.2.3.4; Cheshire 2005, cited by Lee et al. 2016 §2.3",
        knobs: &[
            Knob {
                name: "head",
                kind: SIZES,
                default: "50 B",
                doc: "Length of the first write",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "body",
                kind: SIZES,
                default: "50 B",
                doc: "Length of the second write",
                source: SET_BY_SCENARIO,
            },
            Knob {
                name: "reply",
                kind: SIZES,
                default: "100 B",
                doc: "Length of the reply",
                source: SET_BY_SCENARIO,
            },
            THINK,
            THINK_DISTRIBUTION,
            COUNT,
            GAP,
            GAP_DISTRIBUTION,
        ],
    },
];

/// Which end sends a flow's data where the flow does not say: the one that opens the connection,
/// but the one that is asked where the other asks.
pub fn usual_sender(mechanism: &Mechanism) -> Side {
    match mechanism.name {
        "request" => Side::Server,
        _ => Side::Client,
    }
}

/// The workloads of a checked choice from [`WORKLOAD`], with streams by what is drawn from them
/// ("lengths", "pauses", "thoughts").
///
/// # Panics
/// If the choice is of another family; the scenario checker never lets that through.
pub fn build_workloads(choice: &Choice, stream: &dyn Fn(&str) -> Stream) -> Workloads {
    let value = |knob| choice.value(knob);
    let only = |sends| Workloads { sends, receives: Workload::Idle };
    match choice.mechanism.name {
        "bulk" => only(Workload::Bulk(Bulk::new(value("size").and_then(|value| value.as_bytes())))),
        "paced" => only(Workload::Paced(Paced::new(
            bytes(choice, "message"),
            value("interval").and_then(|value| value.as_span()).expect(HAS_DEFAULT),
            value("messages").and_then(|value| value.as_count()),
        ))),
        "transfers" => {
            let lengths = match value("sizes").and_then(|value| value.as_bytes_list()) {
                Some(lengths) => Lengths::listed(lengths),
                None => drawn(choice, ("size", "size_distribution"), stream),
            };
            let script = Script::new(lengths, count(choice));
            let pause = pause(choice, ("gap", "gap_distribution"), stream("pauses"));
            Workloads {
                sends: Workload::Transfers(Box::new(Transfers::new(script.clone(), pause))),
                receives: Workload::Gathering(Box::new(Gathering::new(script))),
            }
        }
        "request" => {
            let answers = drawn(choice, ("response", "response_distribution"), stream);
            let exchange = Exchange {
                writes: vec![bytes(choice, "request")],
                counts: Counted::Answer,
                answers: Script::new(answers, count(choice)),
            };
            let (asker, answerer) = exchanging(choice, exchange, stream);
            Workloads { sends: answerer, receives: asker }
        }
        "write-write-read" => {
            let reply = Lengths::listed(vec![bytes(choice, "reply")]);
            let exchange = Exchange {
                writes: vec![bytes(choice, "head"), bytes(choice, "body")],
                counts: Counted::Question,
                answers: Script::new(reply, count(choice)),
            };
            let (asker, answerer) = exchanging(choice, exchange, stream);
            Workloads { sends: asker, receives: answerer }
        }
        other => panic!("no workload is registered as `{other}`"),
    }
}

/// The two ends of an exchange: who asks, who answers.
fn exchanging(
    choice: &Choice,
    exchange: Exchange,
    stream: &dyn Fn(&str) -> Stream,
) -> (Workload, Workload) {
    let gap = pause(choice, ("gap", "gap_distribution"), stream("pauses"));
    let think = pause(choice, ("think", "think_distribution"), stream("thoughts"));
    let asker = Asker::new(exchange.clone(), gap);
    (Workload::Asker(Box::new(asker)), Workload::Answerer(Box::new(Answerer::new(exchange, think))))
}

/// Lengths from a knob for their mean and one for their distribution.
fn drawn(choice: &Choice, knobs: (&str, &str), stream: &dyn Fn(&str) -> Stream) -> Lengths {
    let (mean, law) = (bytes(choice, knobs.0), law(choice, knobs.1));
    Lengths::Drawn(Draw::new(mean.get(), law, stream("lengths")))
}

/// Pauses, in nanoseconds, from a knob for their mean and one for their distribution.
fn pause(choice: &Choice, knobs: (&str, &str), stream: Stream) -> Draw {
    let mean = choice.value(knobs.0).and_then(|value| value.as_span()).expect(HAS_DEFAULT);
    Draw::new(mean.as_nanos(), law(choice, knobs.1), stream)
}

fn law(choice: &Choice, knob: &str) -> Law {
    let word = choice.value(knob).and_then(|value| value.as_choice()).expect(HAS_DEFAULT);
    match word.as_str() {
        "fixed" => Law::Fixed,
        "uniform" => Law::Uniform,
        "exponential" => Law::Exponential,
        "pareto" => Law::Pareto,
        other => panic!("no distribution is registered as `{other}`"),
    }
}

fn bytes(choice: &Choice, knob: &str) -> Bytes {
    choice.value(knob).and_then(|value| value.as_bytes()).expect(HAS_DEFAULT)
}

fn count(choice: &Choice) -> Option<u64> {
    choice.value("count").and_then(|value| value.as_count())
}

const HAS_DEFAULT: &str = "the knob has a default of its kind, which a test asserts";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_workload_builds_from_its_defaults_and_every_word() {
        let stream = |name: &str| Stream::for_element(1, name);
        for mechanism in WORKLOAD {
            build_workloads(&Choice::of(mechanism), &stream);
            for knob in mechanism.knobs {
                knob.default_value();
                let KnobKind::Choice(words) = knob.kind else { continue };
                for word in words {
                    let value = knob.kind.parse(word).expect("a word it lists");
                    build_workloads(&Choice::of(mechanism).with(knob.name, value), &stream);
                }
            }
        }
    }
}
