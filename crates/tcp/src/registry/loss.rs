//! Loss detectors: listed with their knobs, and built.

use super::ON_OFF;
use super::build::{count, is_on, is_paper, keyword, number, span, unregistered};
use crate::loss::{
    BlantonAllman, Dad, DadSd, DadSdPaper, Dcr, Eifel, ExtendedLimitedTransmit, Fixed,
    LimitedTransmit, LossDetector, LostRetransmission, Ncr, PaperUndo, Pr, Rack, RackKnobs,
    RackRules, ReorderingVariant, UndoReductions, VegasLoss,
};
use ackord_units::{Choice, Knob, KnobKind, Mechanism, Span};

const DAD_FLOOR: Knob = Knob {
    name: "floor",
    kind: KnobKind::Count { unit: "segments", min: 1, max: 100 },
    default: "3",
    doc: "The threshold never falls below this (of dad-sd: in paper mode)",
    source: "Park et al. 2008 set none for DAD-SD, and for DAD only where it is lowered by one; RFC 5681 has \
             3. Both are shown in papers/dad-sd",
};

/// Loss detectors: when is a segment lost.
pub static LOSS: &[Mechanism] = &[
    Mechanism {
        name: "fixed",
        family: "loss",
        summary: "A fixed number of duplicate acknowledgments",
        source: "RFC 5681 §3.2",
        knobs: &[
            Knob {
                name: "threshold",
                kind: KnobKind::Count { unit: "segments", min: 1, max: 10_000 },
                default: "3",
                doc: "DupThresh",
                source: "RFC 5681 §3.2",
            },
            Knob {
                name: "limited_transmit",
                kind: KnobKind::Choice(&["on", "off", "every"]),
                default: "on",
                doc: "The first two duplicate acknowledgments let one new segment out each; every: \
                      all of them below the threshold do",
                source: "RFC 3042; every is singledup_ in ns-2",
            },
        ],
    },
    Mechanism {
        name: "vegas",
        family: "loss",
        summary: "A fixed threshold, and a fine-grained timeout looked at on duplicate acknowledgments",
        source: "Brakmo and Peterson 1995 §3.1",
        knobs: &[Knob {
            name: "threshold",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 10_000 },
            default: "3",
            doc: "DupThresh, where the fine-grained timeout has not struck first",
            source: "RFC 5681 §3.2",
        }],
    },
    Mechanism {
        name: "rack",
        family: "loss",
        summary: "RACK-TLP: a segment is lost once a later one has arrived and time for reordering \
                  has passed; tail loss probes",
        source: "RFC 8985",
        knobs: &[
            Knob {
                name: "tlp",
                kind: ON_OFF,
                default: "on",
                doc: "Tail loss probes: after two round trips without an acknowledgment one segment \
                      asks for it",
                source: "RFC 8985 §7",
            },
            Knob {
                name: "lost_retransmission",
                kind: KnobKind::Choice(&["repeats", "reduces"]),
                default: "repeats",
                doc: "Whether a retransmission that is lost within a fast recovery is only sent again, \
                      or lowers the window a second time",
                source: "RFC 5681 §4.3, RFC 8985 §9.3 for reduces; repeats is Linux's",
            },
            Knob {
                name: "rules",
                kind: KnobKind::Choice(&["rfc", "linux"]),
                default: "rfc",
                doc: "Whether a report of a duplicate widens the reordering window at any time and \
                      every repair counts towards narrowing it, or only once reordering has been \
                      seen, and only repairs that were needed",
                source: "RFC 8985 §6.2 step 4; linux is Linux's",
            },
            Knob {
                name: "max_ack_delay",
                kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1) },
                default: "200 ms",
                doc: "How long the peer may hold back the acknowledgment of a lone segment: added \
                      to the probe timer then",
                source: "RFC 8985 §7.2 (TLP.max_ack_delay); 200 ms as Linux has it",
            },
            Knob {
                name: "timer_slack",
                kind: KnobKind::Span { min: Span::ZERO, max: Span::from_secs(1) },
                default: "0 ms",
                doc: "What is added to the timer of the reordering window, and to the probe timer \
                      where more than one segment is out",
                source: "RFC 8985 §6.2 step 5 and §7.2 add nothing; Linux adds TCP_TIMEOUT_MIN_US",
            },
            Knob {
                name: "undo",
                kind: ON_OFF,
                default: "on",
                doc: "A reduction for which DSACK or timestamps show no loss is taken back",
                source: "RFC 8985 leaves it open; RFC 3708, RFC 4015; Linux does",
            },
        ],
    },
    Mechanism {
        name: "eifel",
        family: "loss",
        summary: "A fixed threshold; timestamps tell a spurious repair, which is undone",
        source: "RFC 3522, RFC 4015; Ludwig and Katz 2000",
        knobs: &[Knob {
            name: "threshold",
            kind: KnobKind::Count { unit: "segments", min: 1, max: 10_000 },
            default: "3",
            doc: "DupThresh",
            source: "RFC 5681 §3.2",
        }],
    },
    Mechanism {
        name: "dad",
        family: "loss",
        summary: "TCP-DAD: the threshold is the length of the last run that proved to be reordering",
        source: "Park et al. 2007; Park et al. 2008 §2.1",
        knobs: &[DAD_FLOOR],
    },
    Mechanism {
        name: "dad-sd",
        family: "loss",
        summary: "TCP-DAD-SD: a smoothed threshold with a detection timer",
        source: "Park et al. 2008",
        knobs: &[
            Knob {
                name: "mode",
                kind: KnobKind::Choice(&["practical", "paper"]),
                default: "practical",
                doc: "As we would have it (extent and lateness, mean and deviations, SACK, DSACK, \
                      timestamps, exact undo), or what the paper says",
                source: "Park et al. 2008 Table 1, Eq. 1-3 for paper",
            },
            Knob {
                name: "alpha",
                kind: KnobKind::Number { min: 0.0, max: 1.0 },
                default: "0.5",
                doc: "Weight of what was known against the reordering just seen",
                source: "ours: the paper gives no value; after a reset to 3 the threshold has to \
                         find back within a few events, for every real loss resets it",
            },
            Knob {
                name: "undo",
                kind: KnobKind::Choice(&["text", "literal-table"]),
                default: "text",
                doc: "In paper mode: double cwnd after a spurious fast retransmit only, or on every \
                      verified reordering",
                source: "Park et al. 2008 §3.1 for text, Table 1 lines 13-18 for literal-table",
            },
            DAD_FLOOR,
            Knob {
                name: "tlp",
                kind: ON_OFF,
                default: "on",
                doc: "In practical mode, with SACK: tail loss probes as rack sends them",
                source: "RFC 8985 §7; the paper leaves a lost tail to the retransmission timer",
            },
        ],
    },
    Mechanism {
        name: "blanton-allman",
        family: "loss",
        summary: "A threshold raised by the reordering lengths that DSACK shows",
        source: "Blanton and Allman 2002",
        knobs: &[Knob {
            name: "variant",
            kind: KnobKind::Choice(&["plus-one", "average", "ewma", "max"]),
            default: "ewma",
            doc: "How a reordering length moves the threshold",
            source: "Blanton and Allman 2002; max is ours, for comparison",
        }],
    },
    Mechanism {
        name: "ncr",
        family: "loss",
        summary: "TCP-NCR: a threshold in proportion to what is in flight",
        source: "RFC 4653",
        knobs: &[Knob {
            name: "variant",
            kind: KnobKind::Choice(&["careful", "aggressive"]),
            default: "careful",
            doc: "While in doubt, a new segment for every two that arrive, or for each",
            source: "RFC 4653 §3",
        }],
    },
    Mechanism {
        name: "dcr",
        family: "loss",
        summary: "TCP-DCR: the response to duplicate acknowledgments is delayed by a round trip",
        source: "Bhandarkar, Sadry, Reddy and Vaidya 2005",
        knobs: &[Knob {
            name: "delay",
            kind: KnobKind::Number { min: 0.0, max: 10.0 },
            default: "1",
            doc: "How long the response waits, in round trips",
            source: "Bhandarkar, Sadry, Reddy and Vaidya 2005 (tau of one RTT)",
        }],
    },
    Mechanism {
        name: "pr",
        family: "loss",
        summary: "TCP-PR: a timer per segment from the largest recent round trip, no duplicates",
        source: "Bohacek et al. 2006",
        knobs: &[
            Knob {
                name: "alpha",
                kind: KnobKind::Number { min: 0.5, max: 1.0 },
                default: "0.995",
                doc: "What is left of the estimate after a round trip without a larger sample",
                source: "Bohacek et al. 2006",
            },
            Knob {
                name: "beta",
                kind: KnobKind::Number { min: 1.0, max: 10.0 },
                default: "3",
                doc: "A segment is lost after this many times the estimate",
                source: "Bohacek et al. 2006",
            },
        ],
    },
];

/// The loss detector of a choice from [`LOSS`]; panics as [`super::build_congestion`] does.
pub fn build_loss(choice: &Choice) -> Box<dyn LossDetector> {
    let threshold = || count(choice, "threshold") as u32;
    match choice.mechanism.name {
        "fixed" => {
            let uses = [
                ("on", LimitedTransmit::On),
                ("off", LimitedTransmit::Off),
                ("every", LimitedTransmit::Every),
            ];
            Box::new(Fixed::new(threshold(), keyword(choice, "limited_transmit", &uses)))
        }
        "vegas" => Box::new(VegasLoss::new(threshold())),
        "rack" => Box::new(Rack::new(RackKnobs {
            rules: keyword(
                choice,
                "rules",
                &[("rfc", RackRules::Rfc), ("linux", RackRules::Linux)],
            ),
            tail_probe: is_on(choice, "tlp").then(|| span(choice, "max_ack_delay")),
            timer_slack: span(choice, "timer_slack"),
            undo: if is_on(choice, "undo") { UndoReductions::On } else { UndoReductions::Off },
            lost_retransmission: keyword(
                choice,
                "lost_retransmission",
                &[
                    ("repeats", LostRetransmission::Repeats),
                    ("reduces", LostRetransmission::Reduces),
                ],
            ),
        })),
        "eifel" => Box::new(Eifel::new(threshold())),
        "dad" => Box::new(Dad::new(count(choice, "floor") as u32)),
        "dad-sd" => dad_sd(choice),
        "blanton-allman" => {
            let variants = [
                ("plus-one", ReorderingVariant::PlusOne),
                ("average", ReorderingVariant::Average),
                ("ewma", ReorderingVariant::Ewma),
                ("max", ReorderingVariant::Max),
            ];
            Box::new(BlantonAllman::new(keyword(choice, "variant", &variants)))
        }
        "ncr" => {
            let variants = [
                ("careful", ExtendedLimitedTransmit::Careful),
                ("aggressive", ExtendedLimitedTransmit::Aggressive),
            ];
            Box::new(Ncr::new(keyword(choice, "variant", &variants)))
        }
        "dcr" => Box::new(Dcr::new(number(choice, "delay"))),
        "pr" => Box::new(Pr::new(number(choice, "alpha"), number(choice, "beta"))),
        other => unregistered("loss detector", other),
    }
}

/// How long a peer may hold back the acknowledgment of a lone segment: the default of rack's knob.
const MAX_ACK_DELAY: Span = Span::from_millis(200);

fn dad_sd(choice: &Choice) -> Box<dyn LossDetector> {
    let alpha = number(choice, "alpha");
    if !is_paper(choice) {
        return Box::new(DadSd::new(alpha, is_on(choice, "tlp").then_some(MAX_ACK_DELAY)));
    }
    let undos = [("text", PaperUndo::Text), ("literal-table", PaperUndo::LiteralTable)];
    let floor = count(choice, "floor") as u32;
    Box::new(DadSdPaper::new(alpha, keyword(choice, "undo", &undos), floor))
}
