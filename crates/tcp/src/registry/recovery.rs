//! Recovery senders: listed with their knobs, and built.

use super::ON_OFF;
use super::build::{keyword, unregistered};
use crate::recovery::{
    NewReno, Ns2NewReno, Ns2Reno, Ns2Sack1, OncePerWindow, PartialAckTimer, Prr, Recovery,
    RenoRecovery, SackRecovery, Tahoe,
};
use ackord_units::{Choice, Knob, KnobKind, Mechanism};

const PARTIAL_ACK_TIMER: Knob = Knob {
    name: "partial_ack_timer",
    kind: KnobKind::Choice(&["first", "each"]),
    default: "first",
    doc: "Which partial acknowledgments restart the retransmission timer where the peer does not \
          speak SACK: the first of a repair, or each",
    source: "RFC 6582 §4; each is Linux's",
};

/// Recovery senders: how much may be sent while repairing.
pub static RECOVERY: &[Mechanism] = &[
    Mechanism {
        name: "tahoe",
        family: "recovery",
        summary: "Fast retransmit, then slow start from one segment",
        source: "Jacobson 1988; RFC 2001 without fast recovery",
        knobs: &[],
    },
    Mechanism {
        name: "reno",
        family: "recovery",
        summary: "Fast recovery that ends with the first new acknowledgment",
        source: "RFC 5681 §3.2",
        knobs: &[Knob {
            name: "once_per_window",
            kind: ON_OFF,
            default: "on",
            doc: "A second fast retransmit has to wait until what was outstanding at the first has \
                  been acknowledged; off: several losses in one window halve cwnd several times",
            source: "RFC 6582 §3.2 step 2; bugFix_ in ns-2",
        }],
    },
    Mechanism {
        name: "newreno",
        family: "recovery",
        summary: "Fast recovery that retransmits on partial acknowledgments",
        source: "RFC 6582",
        knobs: &[PARTIAL_ACK_TIMER],
    },
    Mechanism {
        name: "sack",
        family: "recovery",
        summary: "Scoreboard recovery, paced by proportional rate reduction",
        source: "RFC 6675, RFC 9937",
        knobs: &[
            Knob {
                name: "prr",
                kind: ON_OFF,
                default: "on",
                doc: "Proportional rate reduction; off: pipe below cwnd as RFC 6675 §5 has it",
                source: "RFC 9937 §6",
            },
            PARTIAL_ACK_TIMER,
        ],
    },
    Mechanism {
        name: "ns2-reno",
        family: "recovery",
        summary: "Reno as ns-2 does it: cwnd grows with the acknowledgment that ends the repair",
        source: "Agent/TCP/Reno of ns-2.35",
        knobs: &[],
    },
    Mechanism {
        name: "ns2-newreno",
        family: "recovery",
        summary: "NewReno as ns-2 does it: partial acknowledgments take from cwnd, for good",
        source: "Agent/TCP/Newreno of ns-2.35",
        knobs: &[],
    },
    Mechanism {
        name: "ns2-sack1",
        family: "recovery",
        summary: "SACK as ns-2 does it: every hole below a reported segment is sent again",
        source: "Agent/TCP/Sack1 of ns-2.35",
        knobs: &[],
    },
];

/// The recovery sender of a choice from [`RECOVERY`]; panics as [`super::build_congestion`] does.
pub fn build_recovery(choice: &Choice) -> Box<dyn Recovery> {
    match choice.mechanism.name {
        "tahoe" => Box::new(Tahoe),
        "reno" => Box::new(RenoRecovery::new(keyword(
            choice,
            "once_per_window",
            &[("on", OncePerWindow::On), ("off", OncePerWindow::Off)],
        ))),
        "ns2-reno" => Box::new(Ns2Reno::default()),
        "ns2-newreno" => Box::new(Ns2NewReno::default()),
        "ns2-sack1" => Box::new(Ns2Sack1::default()),
        "newreno" => Box::new(NewReno::new(partial_ack_timer(choice))),
        "sack" => {
            let prr = keyword(choice, "prr", &[("on", Prr::On), ("off", Prr::Off)]);
            Box::new(SackRecovery::new(prr).with_timer(partial_ack_timer(choice)))
        }
        other => unregistered("recovery sender", other),
    }
}

fn partial_ack_timer(choice: &Choice) -> PartialAckTimer {
    let timers = [("first", PartialAckTimer::First), ("each", PartialAckTimer::Each)];
    keyword(choice, "partial_ack_timer", &timers)
}
