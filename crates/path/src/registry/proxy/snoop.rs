//! Snoop, with its knobs.

use super::local::{
    CACHE, DUPACKS, FLOWS, IDLE_FOR, PERSIST, PRIORITY, TIMER_MAX, TIMER_MIN, TRIES, count, repair,
    span,
};
use crate::proxy::{Inference, Proxy, Snoop, SnoopConfig, Stands, Suppress};
use crate::registry::{BuildError, keyword};
use ackord_units::{Choice, Knob, KnobKind, Mechanism};

pub(super) const SNOOP: Mechanism = Mechanism {
    name: "snoop",
    family: "proxy",
    summary: "Caches data, sends again what the wireless link lost, and hides it from the sender",
    source: "Balakrishnan, Seshan, Amir and Katz 1995 §3",
    knobs: &[
        Knob {
            name: "mode",
            kind: KnobKind::Choice(&["practical", "paper"]),
            default: "practical",
            doc: "As the paper describes it (one loss at a time, by duplicate acknowledgments), or \
                  with SACK blocks and acknowledgments of local retransmissions used as well",
            source: "this project",
        },
        Knob {
            name: "suppress",
            kind: KnobKind::Choice(&["on", "off", "auto"]),
            default: "on",
            doc: "Whether duplicate acknowledgments it has dealt with end in it; `auto`: only of \
                  connections without timestamps, whose sender cannot undo its reaction",
            source: "Balakrishnan et al. 1995 §3; `auto` by measurement of a Linux sender",
        },
        Knob {
            name: "stands",
            kind: KnobKind::Choice(&["in-path", "beside"]),
            default: "in-path",
            doc: "In the path it takes SACK blocks out of acknowledgments of new data while it repairs the first \
                  loss they report, and leaves to the sender what the link's queue refuses; `beside`, as a \
                  gateway stands, it can do neither",
            source: "this project",
        },
        DUPACKS,
        PRIORITY,
        CACHE,
        FLOWS,
        TIMER_MIN,
        TIMER_MAX,
        PERSIST,
        TRIES,
        IDLE_FOR,
    ],
};

pub(super) fn build(choice: &Choice) -> Result<Proxy, BuildError> {
    let modes = [("practical", Inference::Deliveries), ("paper", Inference::Duplicates)];
    let inference = keyword(choice, "mode", &modes)?;
    let uses =
        [("on", Suppress::On), ("off", Suppress::Off), ("auto", Suppress::WithoutTimestamps)];
    let suppress = keyword(choice, "suppress", &uses)?;
    let places = [("in-path", Stands::InPath), ("beside", Stands::Beside)];
    let stands = keyword(choice, "stands", &places)?;
    let repair = repair(choice, inference)?;
    let (flows, idle_for) = (count(choice, "flows")?, span(choice, "idle_for")?);
    let config = SnoopConfig { repair, flows, idle_for, suppress, stands };
    Ok(Proxy::InPath(Box::new(Snoop::new(config))))
}
