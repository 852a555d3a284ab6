//! What each remedy is worth: alone, beside the others, and what two do to each other.
//!
//! Changes are ratios of one run to another with the same seed, so with the same fades; their
//! means are geometric, and their intervals those of the mean of the logarithms.

use super::sample::{Metric, Outcomes, Sample};
use super::setup::{Combination, Remedy};
use crate::cells::{Cell, over};
use crate::tables::{bars, interval, record, rows};
use ackord_measure::stats::Estimate;
use ackord_report::document::Table;
use ackord_report::plot::{Plot, Scale};
use serde::Serialize;

/// A change in percent with its interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Change {
    pub(super) percent: f64,
    /// Half width of the 95 % interval, percentage points.
    pub(super) ci95: Option<f64>,
}

/// The mean change over products of runs, seed by seed: the first factors over the others.
#[expect(clippy::disallowed_methods, reason = "a figure of a report")]
fn change<const N: usize>(
    outcomes: &Outcomes,
    products: &[[[Combination; N]; 2]],
    metric: Metric,
) -> Change {
    let each = |one: Combination| outcomes.of(&one).each(|run| run.get(metric));
    // One value per seed: the mean over the products, which are not independent of one another.
    let mut logs = vec![0.0; each(Combination::NONE).len()];
    for product in products {
        let [above, below] = product.map(|factors| factors.map(each));
        for (seed, log) in logs.iter_mut().enumerate() {
            let of = |factors: &[Vec<f64>; N]| {
                factors[1..].iter().fold(factors[0][seed], |product, one| product * one[seed])
            };
            *log += (of(&above) / of(&below)).ln() / products.len() as f64;
        }
    }
    let log = over(&logs);
    let ci95 = log.ci95.map(|half| 100.0 * log.mean.exp() * half);
    Change { percent: 100.0 * (log.mean.exp() - 1.0), ci95 }
}

/// From one combination to another.
fn from(outcomes: &Outcomes, before: Combination, after: Combination, metric: Metric) -> Change {
    change(outcomes, &[[[after], [before]]], metric)
}

/// Against none of the five.
pub(super) fn alone(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    from(outcomes, Combination::NONE, Combination::NONE.and(remedy), metric)
}

/// Over the sixteen combinations of the other four.
pub(super) fn among_others(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    let others = Combination::each().filter(|one| !one.has(remedy));
    let pairs: Vec<_> = others.map(|one| [[one.and(remedy)], [one]]).collect();
    change(outcomes, &pairs, metric)
}

/// All five against all but this.
pub(super) fn on_top(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    let but = Combination::each()
        .find(|one| !one.has(remedy) && one.and(remedy) == Combination::ALL_FIVE);
    let but = but.expect("one combination lacks this remedy alone");
    from(outcomes, but, Combination::ALL_FIVE, metric)
}

/// All five against none.
pub(super) fn together(outcomes: &Outcomes, metric: Metric) -> Change {
    from(outcomes, Combination::NONE, Combination::ALL_FIVE, metric)
}

/// All five against one alone.
pub(super) fn beyond(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    from(outcomes, Combination::NONE.and(remedy), Combination::ALL_FIVE, metric)
}

/// By how much the second remedy's effect differs with the first there, over the eight combinations
/// of the other three: percent on top of the product of both effects.
pub(super) fn interaction(outcomes: &Outcomes, [a, b]: [Remedy; 2], metric: Metric) -> Change {
    let others = Combination::each().filter(|one| !one.has(a) && !one.has(b));
    let products: Vec<_> =
        others.map(|none| [[none.and(a).and(b), none], [none.and(a), none.and(b)]]).collect();
    change(outcomes, &products, metric)
}

pub(super) fn combinations_data(outcomes: &Outcomes) -> Vec<impl Serialize> {
    let of = |one: &Cell<Combination, _>| {
        let value = |metric: Metric| {
            let value = outcomes.of(&one.key).mean(|run| run.get(metric));
            record! { metric: metric, unit: metric.unit(), value: value }
        };
        record! { remedies: one.key.to_string(), values: Metric::ALL.map(value) }
    };
    outcomes.iter().map(of).collect()
}

pub(super) fn effects_data(outcomes: &Outcomes) -> Vec<impl Serialize> {
    let effect = |remedy: Remedy| {
        Metric::ALL.map(|metric| {
            record! {
                remedy: remedy,
                metric: metric,
                alone: alone(outcomes, remedy, metric),
                among_others: among_others(outcomes, remedy, metric),
                on_top: on_top(outcomes, remedy, metric),
            }
        })
    };
    Remedy::ALL.into_iter().flat_map(effect).collect()
}

/// The thirty-two combinations.
pub(super) fn combinations_table(outcomes: &Outcomes) -> Table {
    rows(&**outcomes)
        .words("remedies", |one| one.key.to_string())
        .each(Metric::ALL, |table, metric| {
            let decimals = if metric.unit() == "Mbit/s" { 2 } else { 0 };
            let mean = |one: &&Cell<_, Sample>| one.mean(|run| run.get(metric));
            table.number((metric.label(), metric.unit()), decimals, mean)
        })
        .titled("The thirty-two combinations: means over the seeds (intervals are in the JSON)")
}

/// What each remedy is worth, metric by metric.
pub(super) fn effects_table(outcomes: &Outcomes) -> Table {
    type Effect = fn(&Outcomes, Remedy, Metric) -> Change;
    let each: [(&str, Effect); 3] =
        [("alone", alone), ("among the others", among_others), ("on top of the four", on_top)];
    let of_each = Remedy::ALL.into_iter().flat_map(|remedy| {
        each.map(|(place, effect)| {
            (remedy.id(), place, Metric::ALL.map(|m| effect(outcomes, remedy, m)))
        })
    });
    let all = ("all five", "against none", Metric::ALL.map(|metric| together(outcomes, metric)));
    rows(of_each.chain([all]))
        .words("remedy", |row| row.0)
        .words("where", |row| row.1)
        .each(Metric::ALL, |table, metric| {
            table.mean((metric.label(), "%"), 0, |row| row.2[metric as usize].estimate())
        })
        .titled(
            "What each remedy changes: alone, averaged over the sixteen combinations of the \
             others, and as the last of the five (rates and shares: more is better; times: \
             less is)",
        )
}

/// What two remedies do to each other.
pub(super) fn interactions_table(outcomes: &Outcomes) -> Table {
    rows(pairs())
        .words("remedies", |[a, b]| format!("{} with {}", a.id(), b.id()))
        .each(Metric::ALL, |table, metric| {
            table.cell((metric.label(), "%"), |pair| {
                interval(interaction(outcomes, *pair, metric).estimate(), 0)
            })
        })
        .titled(
            "What two do to each other: how far both together are from the product of their \
             effects, over the eight combinations of the other three (zero: nothing)",
        )
}

/// Every pair of remedies.
pub(super) fn pairs() -> impl Iterator<Item = [Remedy; 2]> {
    let numbered = Remedy::ALL.into_iter().enumerate();
    numbered.flat_map(|(at, a)| Remedy::ALL[at + 1..].iter().map(move |b| [a, *b]))
}

impl Change {
    pub(super) fn estimate(self) -> Estimate {
        Estimate { ci95: self.ci95, ..Estimate::exact(self.percent) }
    }
}

/// Each remedy's change beside the others, metric by metric.
pub(super) fn plot(outcomes: &Outcomes) -> Plot {
    let title = "What each remedy changes, over the combinations of the others";
    let mut plot = Plot::new("effects", title, "remedy", "change (%)");
    for metric in Metric::NOTICED {
        let changes = Remedy::ALL.map(|remedy| among_others(outcomes, remedy, metric).estimate());
        plot = plot.with(bars(metric.label(), changes));
    }
    plot.x.scale = Scale::Categories(Remedy::ALL.map(|remedy| remedy.id().to_owned()).to_vec());
    plot
}
