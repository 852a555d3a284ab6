//! What this project claims of the five remedies at one phone: each works on its own symptom, they
//! do no harm beside the others, and together they are worth more than any of them.

use super::effects::{Change, alone, among_others, beyond, interaction, on_top, pairs, together};
use super::sample::{Metric, Outcomes};
use super::setup::Remedy;
use crate::claims::{Stated, at_least, directed, project};
use ackord_measure::stats::Estimate;

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

pub(super) fn claims(outcomes: &Outcomes) -> Vec<Stated> {
    let own = OWN.map(|(remedy, metric)| own(outcomes, remedy, metric));
    let all_beat_each = Metric::NOTICED.map(|metric| all_beat_each(outcomes, metric));
    let no_harm = Metric::NOTICED.map(|metric| no_harm(outcomes, metric));
    own.into_iter().chain(all_beat_each).chain(no_harm).collect()
}

/// Better, as a positive number, whichever way the metric goes.
fn gain(metric: Metric, change: Change) -> f64 {
    if metric.more_is_better() { change.percent } else { -change.percent }
}

fn measured(outcomes: &Outcomes, metric: Metric, change: Change) -> Estimate {
    let runs = outcomes[0].0.len() as u32;
    Estimate { runs, ci95: change.ci95, ..Estimate::exact(gain(metric, change)) }
}

/// A remedy betters its own symptom beside the others.
fn own(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Stated {
    let of = |effect: fn(&Outcomes, Remedy, Metric) -> Change| effect(outcomes, remedy, metric);
    let (name, label) = (remedy.id(), metric.label());
    let better = measured(outcomes, metric, of(among_others));
    let what = format!("{name} betters `{label}` among the others");
    project(format!("own.{name}"), what, "%", better, at_least(0.0)).above("better", 0.0).why(
        format!(
            "alone {:+.1} %, as the last of the five {:+.1} %",
            gain(metric, of(alone)),
            gain(metric, of(on_top))
        ),
    )
}

/// All five together are better than the best of them alone.
fn all_beat_each(outcomes: &Outcomes, metric: Metric) -> Stated {
    let best = Remedy::ALL
        .into_iter()
        .map(|remedy| (remedy, gain(metric, alone(outcomes, remedy, metric))))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let (remedy, best) = best.expect("there are five");
    let all = measured(outcomes, metric, together(outcomes, metric));
    let beyond = measured(outcomes, metric, beyond(outcomes, remedy, metric));
    let what = format!("what all five better `{}` by beyond the best alone", metric.label());
    project(format!("together.{}", metric.id()), what, "%", beyond, at_least(0.0))
        .claims(directed("better than none", all))
        .why(format!(
            "all five {:+.1} %; the best alone is {} with {best:+.1} %",
            all.mean,
            remedy.id()
        ))
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
    let ([a, b], overlap) = overlap.expect("there are ten pairs");
    let worst = measured(outcomes, metric, change);
    let what = format!("the worst that one does to `{}` on top of the other four", metric.label());
    project(format!("harm.{}", metric.id()), what, "%", worst, at_least(-HARMLESS_PERCENT))
        .above("no more than twice that", -2.0 * HARMLESS_PERCENT)
        .why(format!(
            "{}; the most that two give the same thing: {} with {}, {overlap:+.0} % off the product \
             of both",
            remedy.id(),
            a.id(),
            b.id()
        ))
}
