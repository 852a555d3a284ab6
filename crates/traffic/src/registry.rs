//! Every workload, and how a choice becomes one.
//!
//! | file | what |
//! | --- | --- |
//! | `workloads.rs` | [`WORKLOAD`]: every workload, listed once with its knobs |

mod workloads;

use crate::datagrams::Bursts;
use crate::exchange::Counted;
use crate::telnet::Keys;
use crate::transfers::{Lengths, Script};
use crate::web::Pages;
use crate::{
    Answerer, Asker, Browser, Bulk, Datagrams, Draw, Echoer, Exchange, Gathering, Law, OnOff,
    Paced, Transfers, Typist, Workload, Workloads,
};
use ackord_path::Stream;
use ackord_units::{Bytes, Choice, Mechanism, Rate, Span};
use ackord_wire::Side;

pub use workloads::WORKLOAD;

/// What carries a workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A TCP connection.
    Tcp,
    /// UDP datagrams, one way.
    Udp,
}

impl Transport {
    /// Its name in scenario files.
    pub const fn name(self) -> &'static str {
        match self {
            Transport::Tcp => "tcp",
            Transport::Udp => "udp",
        }
    }
}

fn unregistered(name: &str) -> ! {
    panic!("no workload of this kind is registered as `{name}`")
}

/// What carries the workloads of this mechanism.
pub fn transport_of(mechanism: &Mechanism) -> Transport {
    match mechanism.name {
        "cbr" => Transport::Udp,
        "bulk" | "paced" | "transfers" | "request" | "write-write-read" | "telnet" | "web"
        | "on-off" => Transport::Tcp,
        other => unregistered(other),
    }
}

/// Which end sends a flow's data where the flow does not say: the one that opens the connection,
/// but the one that is asked where the other asks.
pub fn usual_sender(mechanism: &Mechanism) -> Side {
    match mechanism.name {
        "request" | "web" => Side::Server,
        "bulk" | "paced" | "transfers" | "write-write-read" | "telnet" | "on-off" | "cbr" => {
            Side::Client
        }
        other => unregistered(other),
    }
}

/// The workloads of a checked choice from [`WORKLOAD`], with streams by what is drawn from them
/// ("lengths", "objects", "pauses", "thoughts").
///
/// # Panics
/// If the choice is of another family or [not carried by TCP](transport_of).
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
        "telnet" => {
            let keys = Keys { keystroke: bytes(choice, "keystroke"), echo: bytes(choice, "echo") };
            let gap = pause(choice, ("gap", "gap_distribution"), stream("pauses"));
            let typist = Typist::new(keys, gap, count(choice));
            Workloads {
                sends: Workload::Typist(Box::new(typist)),
                receives: Workload::Echoer(Echoer::new(keys)),
            }
        }
        "web" => web(choice, stream),
        "on-off" => on_off(choice, stream),
        other => unregistered(other),
    }
}

/// The sending end of a choice from [`WORKLOAD`] that is [carried by UDP](transport_of), with
/// streams as for [`build_workloads`].
///
/// # Panics
/// If the choice is another.
pub fn build_datagrams(choice: &Choice, stream: &dyn Fn(&str) -> Stream) -> Datagrams {
    assert_eq!(choice.mechanism.name, "cbr", "the only workload of datagrams");
    let packet = bytes(choice, "packet");
    let gap = Datagrams::gap_of(packet, rate(choice)).as_nanos();
    let gap = Draw::new(gap, law(choice, "timing"), stream("gaps"));
    let off = pause(choice, ("off", "off_distribution"), stream("silences"));
    let silent = choice.value("off").and_then(|value| value.as_span()) != Some(Span::ZERO);
    let bursts = silent
        .then(|| Bursts { on: pause(choice, ("on", "on_distribution"), stream("bursts")), off });
    Datagrams::new(packet, gap, bursts)
}

fn web(choice: &Choice, stream: &dyn Fn(&str) -> Stream) -> Workloads {
    let lengths = drawn(choice, ("object", "object_distribution"), stream);
    let mean = choice.value("objects").and_then(|value| value.as_count()).expect(HAS_DEFAULT);
    let objects = Draw::new(mean, law(choice, "objects_distribution"), stream("objects"));
    let pages = Pages::new(objects, lengths.clone(), count(choice));
    let request = bytes(choice, "request");
    let exchange = Exchange {
        writes: vec![request],
        counts: Counted::Answer,
        answers: Script::new(lengths, pages.all_objects()),
    };
    let think = pause(choice, ("think", "think_distribution"), stream("thoughts"));
    let reading = pause(choice, ("reading", "reading_distribution"), stream("pauses"));
    Workloads {
        sends: Workload::Answerer(Box::new(Answerer::new(exchange, think))),
        receives: Workload::Browser(Box::new(Browser::new(request, pages, reading))),
    }
}

fn on_off(choice: &Choice, stream: &dyn Fn(&str) -> Stream) -> Workloads {
    let rate = rate(choice);
    let on = choice.value("on").and_then(|value| value.as_span()).expect(HAS_DEFAULT);
    let mean = rate.bytes_in(on).get().max(1);
    let lengths =
        Lengths::Drawn(Draw::new(mean, law(choice, "on_distribution"), stream("lengths")));
    let bursts = Script::new(lengths, count(choice));
    let silence = pause(choice, ("off", "off_distribution"), stream("pauses"));
    let source = OnOff::new(bursts.clone(), bytes(choice, "message"), rate, silence);
    Workloads {
        sends: Workload::OnOff(Box::new(source)),
        receives: Workload::Gathering(Box::new(Gathering::new(bursts))),
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
    let laws = [
        ("fixed", Law::Fixed),
        ("uniform", Law::Uniform),
        ("exponential", Law::Exponential),
        ("pareto", Law::Pareto),
        ("telnet", Law::Keystrokes),
    ];
    choice.keyword(knob, &laws).expect("every word of a knob stands for a law")
}

fn bytes(choice: &Choice, knob: &str) -> Bytes {
    choice.value(knob).and_then(|value| value.as_bytes()).expect(HAS_DEFAULT)
}

fn rate(choice: &Choice) -> Rate {
    choice.value("rate").and_then(|value| value.as_rate()).expect(HAS_DEFAULT)
}

fn count(choice: &Choice) -> Option<u64> {
    choice.value("count").and_then(|value| value.as_count())
}

const HAS_DEFAULT: &str = "the knob has a default of its kind, which a test asserts";

#[cfg(test)]
mod tests {
    use super::*;

    fn built(choice: &Choice) -> String {
        let stream = &|name: &str| Stream::for_element(1, name);
        match transport_of(choice.mechanism) {
            Transport::Tcp => {
                let Workloads { sends, receives } = build_workloads(choice, stream);
                format!("{sends:?} {receives:?}")
            }
            Transport::Udp => format!("{:?}", build_datagrams(choice, stream)),
        }
    }

    #[test]
    fn every_workload_builds_from_its_defaults_and_something_else_from_every_word() {
        for mechanism in WORKLOAD {
            usual_sender(mechanism);
            for knob in mechanism.knobs {
                knob.default_value();
            }
            built(&Choice::of(mechanism));
            let confused = mechanism.confused_words(|choice| {
                // How bursts and silences are drawn shows where there are any.
                let pausing = mechanism.knob("off").map(|knob| knob.kind.parse("1 s"));
                Some(built(&match pausing {
                    Some(off) => choice.clone().with("off", off.expect("in range")),
                    None => choice.clone(),
                }))
            });
            assert_eq!(confused, [], "{}", mechanism.name);
        }
    }
}
