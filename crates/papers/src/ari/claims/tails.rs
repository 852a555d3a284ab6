//! Fig. 3 and 4: without ARI transfers are now and then suddenly slow, with ARI never.

use super::{Findings, Stated, shown};
use crate::ari::sample::{Runs, Sample};
use crate::ari::setup::{Air, Control, Growth, Policy, RUNS_OF_PAPER, SIZES, Setup};
use crate::ari::transfers::percent;
use crate::verdict::{Why, above, below};
use ackord_measure::{Allowed, Claimant};

/// A transfer below this share of the median rate is suddenly slow, in percent.
const SUDDENLY_SLOW: f64 = 50.0;

pub(super) fn tails(findings: &Findings<'_>) -> Vec<Stated> {
    let mut stated = Vec::new();
    for control in Control::ALL {
        for air in Air::NEAR {
            for policy in [Policy::QuickAck, Policy::Ari] {
                stated.push(slowest(findings, control, air, policy));
            }
        }
    }
    stated
}

fn slowest(findings: &Findings<'_>, control: Control, air: Air, policy: Policy) -> Stated {
    let runs = |size, policy| {
        let setup = Setup { size, control, growth: Growth::PerAck, policy, air };
        findings.transfers.of(setup)
    };
    let worst = |size| percent(runs(size, policy).slowest_over_median(RUNS_OF_PAPER));
    let measured =
        (0..SIZES.len()).map(worst).min_by(|a, b| a.mean.total_cmp(&b.mean)).expect("four sizes");
    let figure = match control {
        Control::Cubic => 3,
        Control::Reno => 4,
    };
    let (what, allowed, direction) = match policy {
        Policy::Ari => (
            "with ARI none is suddenly slow",
            Allowed::AtLeast { low: SUDDENLY_SLOW },
            above("none", &measured, SUDDENLY_SLOW),
        ),
        _ => (
            "without ARI some are suddenly slow",
            Allowed::AtMost { high: SUDDENLY_SLOW },
            below("some", &measured, SUDDENLY_SLOW),
        ),
    };
    Stated {
        id: format!("fig{figure}-{}-{}", air.name(), policy.name()),
        by: Claimant::Paper,
        what: format!(
            "Fig. {figure}: of thirty transfers, {}, {} air, {what} (the slowest's rate over the \
             median)",
            control.label(),
            air.name()
        ),
        unit: "%",
        paper: None,
        allowed,
        measured,
        direction,
        why: reason(runs(SIZES.len() - 1, policy), runs(SIZES.len() - 1, other(policy)), air),
    }
}

fn other(policy: Policy) -> Policy {
    if policy == Policy::Ari { Policy::QuickAck } else { Policy::Ari }
}

fn reason(runs: &Runs, beside: &Runs, air: Air) -> Why {
    let (times, others) = (runs.times(), beside.times());
    let timeouts = runs.mean(|run: &Sample| run.timeouts as f64);
    let why = Why::measured(format!(
        "1 MB takes {:.3} s at the median, {:.3} s at p99 and {:.3} s at worst ({:.3}, {:.3} and {:.3} s \
         the other way); timeouts a run: {}",
        times.p50,
        times.p99,
        times.max,
        others.p50,
        others.p99,
        others.max,
        shown(timeouts, 3),
    ));
    match air {
        Air::Quiet | Air::Distant => why.since(
            timeouts.mean < 0.01,
            "On an air of its own nothing is there to stall a transfer: no packet is lost for good and \
             every delayed acknowledgment finds a second segment within a millisecond",
        ),
        Air::Busy => why.since(
            (times.p50 / others.p50 - 1.0).abs() < 0.1,
            "What slows a transfer is the other stations' share of the air, which no acknowledgment \
             shortens",
        ),
    }
}
