//! What this project claims of the five remedies at one phone: each works on its own symptom, they
//! do no harm beside the others, and together they are worth more than any of them.

use super::effects::{Change, alone, among_others, beyond, interaction, on_top, pairs, together};
use super::sample::{Metric, Outcomes};
use super::setup::Remedy;
use crate::verdict::{Stated, Why, above, directed};
use ackord_measure::stats::Estimate;
use ackord_measure::{Allowed, Claim, Claimant};

/// Where each remedy is to show.
const OWN: [(Remedy, Metric); 5] = [
    (Remedy::Adaptive, Metric::SlowChat),
    (Remedy::Ari, Metric::Chat),
    (Remedy::DadSd, Metric::Video),
    (Remedy::ProxyTcp, Metric::Video),
    (Remedy::SelectiveDrop, Metric::Share),
];

/// What one remedy may take from what the others give.
const HARMLESS_PERCENT: f64 = 5.0;

/// What the phone's user notices.
const NOTICED: [Metric; 5] =
    [Metric::Video, Metric::Pages, Metric::SlowPages, Metric::Chat, Metric::SlowChat];

pub(super) fn claims(outcomes: &Outcomes) -> Vec<Claim> {
    let mut stated: Vec<Stated> =
        OWN.iter().map(|(remedy, metric)| own(outcomes, *remedy, *metric)).collect();
    stated.extend(NOTICED.map(|metric| all_beat_each(outcomes, metric)));
    stated.extend(NOTICED.map(|metric| no_harm(outcomes, metric)));
    stated.into_iter().map(Stated::judged).collect()
}

/// Better, as a positive number, whichever way the metric goes.
fn gain(metric: Metric, change: Change) -> f64 {
    if metric.more_is_better() { change.percent } else { -change.percent }
}

fn measured(metric: Metric, change: Change, runs: u32) -> Estimate {
    let mean = gain(metric, change);
    Estimate { runs, ci95: change.ci95, ..Estimate::exact(mean) }
}

fn seeds(outcomes: &Outcomes) -> u32 {
    outcomes.mean(super::setup::Combination::NONE, Metric::Video).runs
}

/// A remedy betters its own symptom beside the others.
fn own(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Stated {
    let change = among_others(outcomes, remedy, metric);
    let (first, last) = (alone(outcomes, remedy, metric), on_top(outcomes, remedy, metric));
    let measured = measured(metric, change, seeds(outcomes));
    Stated {
        id: format!("own.{}", remedy.name()),
        by: Claimant::Project,
        what: format!("{} betters `{}` among the others", remedy.name(), metric.label()),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: 0.0 },
        direction: directed("better", measured),
        measured,
        why: Why::measured(format!(
            "alone {:+.1} %, as the last of the five {:+.1} %",
            gain(metric, first),
            gain(metric, last)
        )),
    }
}

/// All five together are better than the best of them alone.
fn all_beat_each(outcomes: &Outcomes, metric: Metric) -> Stated {
    let best = Remedy::ALL
        .into_iter()
        .map(|remedy| (remedy, gain(metric, alone(outcomes, remedy, metric))))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let (remedy, best) = best.expect("there are five");
    let seeds = seeds(outcomes);
    let all = measured(metric, together(outcomes, metric), seeds);
    let beyond = measured(metric, beyond(outcomes, remedy, metric), seeds);
    Stated {
        id: format!("together.{}", metric.id()),
        by: Claimant::Project,
        what: format!("what all five better `{}` by beyond the best alone", metric.label()),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: 0.0 },
        measured: beyond,
        direction: directed("better than none", all),
        why: Why::measured(format!(
            "all five {:+.1} %; the best alone is {} with {best:+.1} %",
            all.mean,
            remedy.name()
        )),
    }
}

/// None of the five does harm when the other four are there.
fn no_harm(outcomes: &Outcomes, metric: Metric) -> Stated {
    let worst = Remedy::ALL
        .into_iter()
        .map(|remedy| (remedy, on_top(outcomes, remedy, metric)))
        .min_by(|a, b| gain(metric, a.1).total_cmp(&gain(metric, b.1)));
    let (remedy, change) = worst.expect("there are five");
    let overlap = pairs()
        .map(|pair| (pair, gain(metric, interaction(outcomes, pair, metric))))
        .min_by(|a, b| a.1.total_cmp(&b.1));
    let (pair, overlap) = overlap.expect("there are ten pairs");
    let worst = measured(metric, change, seeds(outcomes));
    Stated {
        id: format!("harm.{}", metric.id()),
        by: Claimant::Project,
        what: format!("the worst that one does to `{}` on top of the other four", metric.label()),
        unit: "%",
        paper: None,
        allowed: Allowed::AtLeast { low: -HARMLESS_PERCENT },
        direction: above("no more than twice that", &worst, -2.0 * HARMLESS_PERCENT),
        measured: worst,
        why: Why::measured(format!(
            "{}; the most that two give the same thing: {} with {}, {overlap:+.0} % off the product \
             of both",
            remedy.name(),
            pair[0].name(),
            pair[1].name()
        )),
    }
}
