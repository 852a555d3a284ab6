//! What each remedy is worth: alone, beside the others, and what two do to each other.
//!
//! Changes are ratios of one run to another with the same seed, so with the same fades; their
//! means are geometric, and their intervals those of the mean of the logarithms.

use super::sample::{Metric, Outcomes};
use super::setup::{Combination, Remedy};
use ackord_measure::stats::{Estimate, estimate};
use ackord_report::document::{Cell, Column, Table};
use ackord_report::plot::{Mark, Plot, PlotSeries, Scale};
use serde::Serialize;

/// A change in percent with its interval.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Change {
    pub(super) percent: f64,
    /// Half width of the 95 % interval, percentage points.
    pub(super) ci95: Option<f64>,
}

#[derive(Serialize)]
pub(super) struct CombinationData {
    remedies: String,
    values: Vec<ValueData>,
}

#[derive(Serialize)]
struct ValueData {
    metric: &'static str,
    unit: &'static str,
    value: Estimate,
}

#[derive(Serialize)]
pub(super) struct EffectData {
    remedy: &'static str,
    metric: &'static str,
    /// Against none of the five.
    alone: Change,
    /// Over the sixteen combinations of the other four.
    among_others: Change,
    /// All five against all but this.
    on_top: Change,
}

/// The change from each pair's first run to its second.
#[expect(clippy::disallowed_methods, reason = "a figure of a report")]
fn change(outcomes: &Outcomes, pairs: &[(Combination, Combination)], metric: Metric) -> Change {
    // One value per seed: the mean over the pairs, which are not independent of one another.
    let seeds = outcomes.each(Combination::NONE, metric).len();
    let mut logs = vec![0.0; seeds];
    for (without, with) in pairs {
        let (without, with) = (outcomes.each(*without, metric), outcomes.each(*with, metric));
        for (seed, log) in logs.iter_mut().enumerate() {
            *log += (with[seed] / without[seed]).ln() / pairs.len() as f64;
        }
    }
    let log = estimate(&logs).expect("every combination is run");
    let percent = 100.0 * (log.mean.exp() - 1.0);
    let ci95 = log.ci95.map(|half| 100.0 * log.mean.exp() * half);
    Change { percent, ci95 }
}

/// Against none of the five.
pub(super) fn alone(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    change(outcomes, &[(Combination::NONE, Combination::only(remedy))], metric)
}

/// Over the sixteen combinations of the other four.
pub(super) fn among_others(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    let others = Combination::each().filter(|one| !one.has(remedy));
    let pairs: Vec<_> = others.map(|one| (one, one.and(remedy))).collect();
    change(outcomes, &pairs, metric)
}

/// All five against all but this.
pub(super) fn on_top(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    let but = Combination::each()
        .find(|one| !one.has(remedy) && one.and(remedy) == Combination::ALL_FIVE);
    let but = but.expect("one combination lacks this remedy alone");
    change(outcomes, &[(but, Combination::ALL_FIVE)], metric)
}

/// All five against none.
pub(super) fn together(outcomes: &Outcomes, metric: Metric) -> Change {
    change(outcomes, &[(Combination::NONE, Combination::ALL_FIVE)], metric)
}

/// All five against one alone.
pub(super) fn beyond(outcomes: &Outcomes, remedy: Remedy, metric: Metric) -> Change {
    change(outcomes, &[(Combination::only(remedy), Combination::ALL_FIVE)], metric)
}

/// By how much the second remedy's effect differs with the first there, over the eight combinations
/// of the other three: percent on top of the product of both effects.
#[expect(clippy::disallowed_methods, reason = "a figure of a report")]
pub(super) fn interaction(outcomes: &Outcomes, [a, b]: [Remedy; 2], metric: Metric) -> Change {
    let seeds = outcomes.each(Combination::NONE, metric).len();
    let mut logs = vec![0.0; seeds];
    let others: Vec<_> = Combination::each().filter(|one| !one.has(a) && !one.has(b)).collect();
    for neither in &others {
        let of = |one: Combination| outcomes.each(one, metric);
        let (none, with_a) = (of(*neither), of(neither.and(a)));
        let (with_b, both) = (of(neither.and(b)), of(neither.and(a).and(b)));
        for (seed, log) in logs.iter_mut().enumerate() {
            let ratio = both[seed] * none[seed] / (with_a[seed] * with_b[seed]);
            *log += ratio.ln() / others.len() as f64;
        }
    }
    let log = estimate(&logs).expect("every combination is run");
    let ci95 = log.ci95.map(|half| 100.0 * log.mean.exp() * half);
    Change { percent: 100.0 * (log.mean.exp() - 1.0), ci95 }
}

pub(super) fn data(outcomes: &Outcomes) -> (Vec<CombinationData>, Vec<EffectData>) {
    let values = |one: Combination| {
        let value = |metric: Metric| ValueData {
            metric: metric.id(),
            unit: metric.unit(),
            value: outcomes.mean(one, metric),
        };
        CombinationData {
            remedies: one.to_string(),
            values: Metric::ALL.into_iter().map(value).collect(),
        }
    };
    let effect = |remedy: Remedy| {
        Metric::ALL.map(|metric| EffectData {
            remedy: remedy.name(),
            metric: metric.id(),
            alone: alone(outcomes, remedy, metric),
            among_others: among_others(outcomes, remedy, metric),
            on_top: on_top(outcomes, remedy, metric),
        })
    };
    (Combination::each().map(values).collect(), Remedy::ALL.into_iter().flat_map(effect).collect())
}

/// The thirty-two combinations.
pub(super) fn combinations_table(outcomes: &Outcomes) -> Table {
    let mut columns = vec![Column::words("remedies")];
    columns.extend(Metric::ALL.map(|metric| Column::numbers(metric.label(), metric.unit())));
    let row = |one: Combination| {
        let mut row = vec![Cell::text(one.to_string())];
        row.extend(Metric::ALL.map(|metric| {
            let mean = outcomes.mean(one, metric);
            let decimals = if metric.unit() == "Mbit/s" { 2 } else { 0 };
            Cell::number(mean.mean, decimals)
        }));
        row
    };
    Table {
        caption: "The thirty-two combinations: means over the seeds (intervals are in the JSON)"
            .to_owned(),
        columns,
        rows: Combination::each().map(row).collect(),
    }
}

/// What each remedy is worth, metric by metric.
pub(super) fn effects_table(outcomes: &Outcomes) -> Table {
    let mut columns = vec![Column::words("remedy"), Column::words("where")];
    columns.extend(Metric::ALL.map(|metric| Column::numbers(metric.label(), "%")));
    let mut rows = Vec::new();
    let mut add = |name: &str, place: &str, change: &dyn Fn(Metric) -> Change| {
        let mut row = vec![Cell::text(name), Cell::text(place)];
        row.extend(Metric::ALL.map(|metric| cell(change(metric))));
        rows.push(row);
    };
    for remedy in Remedy::ALL {
        add(remedy.name(), "alone", &|metric| alone(outcomes, remedy, metric));
        add(remedy.name(), "among the others", &|metric| among_others(outcomes, remedy, metric));
        add(remedy.name(), "on top of the four", &|metric| on_top(outcomes, remedy, metric));
    }
    add("all five", "against none", &|metric| together(outcomes, metric));
    Table {
        caption: "What each remedy changes: alone, averaged over the sixteen combinations of the \
                  others, and as the last of the five (rates and shares: more is better; times: \
                  less is)"
            .to_owned(),
        columns,
        rows,
    }
}

/// What two remedies do to each other.
pub(super) fn interactions_table(outcomes: &Outcomes) -> Table {
    let mut columns = vec![Column::words("remedies")];
    columns.extend(Metric::ALL.map(|metric| Column::numbers(metric.label(), "%")));
    let row = |pair: [Remedy; 2]| {
        let names = format!("{} with {}", pair[0].name(), pair[1].name());
        let mut row = vec![Cell::text(names)];
        row.extend(Metric::ALL.map(|metric| cell(interaction(outcomes, pair, metric))));
        row
    };
    Table {
        caption: "What two do to each other: how far both together are from the product of their \
                  effects, over the eight combinations of the other three (zero: nothing)"
            .to_owned(),
        columns,
        rows: pairs().map(row).collect(),
    }
}

/// Every pair of remedies.
pub(super) fn pairs() -> impl Iterator<Item = [Remedy; 2]> {
    let numbered = Remedy::ALL.into_iter().enumerate();
    numbered.flat_map(|(at, a)| Remedy::ALL[at + 1..].iter().map(move |b| [a, *b]))
}

fn cell(change: Change) -> Cell {
    Cell::Interval { mean: change.percent, half_width: change.ci95, decimals: 0 }
}

/// Each remedy's change beside the others, metric by metric.
pub(super) fn plots(outcomes: &Outcomes) -> Vec<Plot> {
    let metrics = [Metric::Video, Metric::Pages, Metric::SlowPages, Metric::Chat, Metric::SlowChat];
    let mut plot = Plot::new(
        "effects",
        "What each remedy changes, over the combinations of the others",
        "remedy",
        "change (%)",
    );
    for metric in metrics {
        let changes = Remedy::ALL.map(|remedy| among_others(outcomes, remedy, metric));
        let bars = changes.iter().enumerate().map(|(at, change)| (at as f64, change.percent));
        let series = PlotSeries::new(metric.label(), Mark::Bars, bars)
            .with_errors(changes.iter().map(|change| change.ci95));
        plot = plot.with(series);
    }
    let names = Remedy::ALL.iter().map(|remedy| remedy.name().to_owned()).collect();
    plot.x.scale = Scale::Categories(names);
    vec![plot]
}
