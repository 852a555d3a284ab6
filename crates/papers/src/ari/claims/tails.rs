//! Fig. 3 and 4: without ARI transfers are now and then suddenly slow, with ARI never.

use crate::ari::figures::figure;
use crate::ari::sample::Sample;
use crate::ari::setup::{Air, Control, Policy, RUNS_OF_PAPER, SIZES, Transfer};
use crate::ari::transfers::Transfers;
use crate::cells::least;
use crate::claims::{Stated, at_least, at_most, paper, shown};

/// A transfer below this share of the median rate is suddenly slow, in percent.
const SUDDENLY_SLOW: f64 = 50.0;

pub(super) fn tails(transfers: &Transfers) -> Vec<Stated> {
    let near = Control::ALL.into_iter().flat_map(|control| Air::NEAR.map(|air| (control, air)));
    let both = near.flat_map(|near| [Policy::QuickAck, Policy::Ari].map(|policy| (near, policy)));
    both.map(|((control, air), policy)| slowest(transfers, control, air, policy)).collect()
}

fn slowest(transfers: &Transfers, control: Control, air: Air, policy: Policy) -> Stated {
    let runs = |size, policy| {
        transfers.of(&Transfer { air, ..Transfer::as_described(size, control, policy) })
    };
    let worst = |size| runs(size, policy).slowest_over_median(RUNS_OF_PAPER).times(100.0);
    let (_, slowest) = least((0..SIZES.len()).map(|size| ((), worst(size)))).expect("four sizes");
    let with_ari = policy == Policy::Ari;
    let figure = figure(control);
    let what = format!(
        "Fig. {figure}: of thirty transfers, {}, {} air, {} (the slowest's rate over the \
         median)",
        control.label(),
        air.id(),
        if with_ari {
            "with ARI none is suddenly slow"
        } else {
            "without ARI some are suddenly slow"
        }
    );
    let id = format!("fig{figure}-{}-{}", air.id(), policy.id());
    let allowed = if with_ari { at_least(SUDDENLY_SLOW) } else { at_most(SUDDENLY_SLOW) };
    let claim = paper(id, what, "%", slowest, allowed);
    let claim = match with_ari {
        true => claim.above("none", SUDDENLY_SLOW),
        false => claim.below("some", SUDDENLY_SLOW),
    };
    let other = if with_ari { Policy::QuickAck } else { Policy::Ari };
    let [of_1mb, beside] = [policy, other].map(|policy| runs(SIZES.len() - 1, policy));
    let (times, others) = (of_1mb.times(), beside.times());
    let timeouts = of_1mb.mean(|run: &Sample| run.timeouts);
    let claim = claim.why(format!(
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
        Air::Quiet | Air::Distant => claim.since(
            timeouts.mean < 0.01,
            "On an air of its own nothing is there to stall a transfer: no packet is lost for good and \
             every delayed acknowledgment finds a second segment within a millisecond",
        ),
        Air::Busy => claim.since(
            (times.p50 / others.p50 - 1.0).abs() < 0.1,
            "What slows a transfer is the other stations' share of the air, which no acknowledgment \
             shortens",
        ),
    }
}
