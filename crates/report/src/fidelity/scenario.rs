//! One scenario of the fidelity report: its quantities, distributions, remarks and pictures.

use crate::document::{Block, Cell, Column, Section, Table, decimals_for};
use crate::plot::{Mark, Plot, PlotSeries, Range};
use crate::plots::{FlowPlots, WindowUnit};
use crate::table;
use ackord_measure::{Distribution, FidelityMetric, FidelityScenario, ScenarioVerdict, SeriesSet};

/// A run of each side against time, of the scenario of this name.
#[derive(Clone, Copy, Debug)]
pub struct FidelitySeries<'a> {
    /// The scenario.
    pub scenario: &'a str,
    /// The simulator's run.
    pub sim: Option<&'a SeriesSet>,
    /// The kernel's run with the same seed.
    pub kernel: Option<&'a SeriesSet>,
}

pub(super) fn one(scenario: &FidelityScenario, runs: Option<&FidelitySeries<'_>>) -> Section {
    let mut section = Section::new(&scenario.name)
        .with(Block::Text(format!("{}. Source: {}.", scenario.purpose, scenario.source)))
        .with(Block::Table(metric_table(scenario)));
    for distribution in &scenario.distributions {
        section = section.with(Block::Table(quantile_table(distribution)));
        if let (Some(distance), Some(critical)) =
            (distribution.ks_distance, distribution.ks_critical95)
        {
            section = section.with(Block::Text(format!(
                "Kolmogorov-Smirnov distance of the two distributions ({} and {} samples): \
                 {distance:.3}; of as many independent samples of one distribution it exceeds \
                 {critical:.3} once in twenty times.",
                distribution.sim_samples, distribution.kernel_samples
            )));
        }
    }
    let notes = remarks(scenario);
    if !notes.is_empty() {
        section = section.with(Block::Notes(notes));
    }
    for distribution in &scenario.distributions {
        section = section.with(Block::Plot(distribution_plot(&scenario.name, distribution)));
    }
    let plots = runs.map(|runs| time_plots(scenario, runs)).unwrap_or_default();
    section.blocks.extend(plots.into_iter().map(Block::Plot));
    section
}

fn remarks(scenario: &FidelityScenario) -> Vec<String> {
    let mut notes = scenario.explanations.clone();
    if scenario.verdict == ScenarioVerdict::Untrusted {
        notes.push(
            "Live runs were out of their budget of lateness each time: what the kernel's side \
             says here is not to be trusted."
                .to_owned(),
        );
    }
    if scenario.repeated_runs > 0 {
        notes.push(format!("{} live runs were too late and done again.", scenario.repeated_runs));
    }
    if !scenario.excluded_seeds.is_empty() {
        let seeds: Vec<_> = scenario.excluded_seeds.iter().map(u64::to_string).collect();
        notes.push(format!(
            "Left out on both sides, as the live run was late each time: seed {}.",
            seeds.join(", ")
        ));
    }
    notes
}

fn metric_table(scenario: &FidelityScenario) -> Table {
    table!(scenario.metrics.iter(), |metric| {
        let goal = match (metric.goal_percent, metric.verdict) {
            (Some(goal), Some(verdict)) => format!("{goal} %: {}", verdict.name()),
            _ => String::new(),
        };
        let side = |mean: Option<f64>, half_width| match mean {
            Some(mean) => Cell::Amount { mean, half_width, decimals: decimals_for(mean) },
            None => Cell::Missing,
        };
        [
            words("quantity") => &metric.metric,
            words("unit") => &metric.unit,
            numbers("sim", "") => side(metric.sim, metric.sim_ci95),
            numbers("kernel", "") => side(metric.kernel, metric.kernel_ci95),
            numbers("error", "%") => signed(metric.error_percent),
            words("95 %") => interval(metric),
            words("goal") => goal,
        ]
    })
}

fn quantile_table(distribution: &Distribution) -> Table {
    let mut columns = vec![Column::words(&format!("{} quantile", distribution.metric))];
    let mut rows = vec![vec![Cell::text("sim")], vec![Cell::text("kernel")]];
    for pair in &distribution.quantiles {
        let heading = format!("{:.0} %", pair.quantile * 100.0);
        columns.push(Column::numbers(&heading, &distribution.unit));
        rows[0].push(Cell::about(pair.sim));
        rows[1].push(Cell::about(pair.kernel));
    }
    Table { caption: String::new(), columns, rows }
}

/// Both empirical distribution functions.
fn distribution_plot(scenario: &str, distribution: &Distribution) -> Plot {
    let steps = |samples: &[f64]| -> Vec<(f64, f64)> {
        let each =
            |(number, value): (usize, &f64)| (*value, (number + 1) as f64 / samples.len() as f64);
        samples.iter().enumerate().map(each).collect()
    };
    let mut plot = Plot::new(
        &format!("{scenario}-completion"),
        &format!("{scenario}: {}", distribution.metric),
        &format!("{} ({})", distribution.metric, distribution.unit),
        "share of transfers",
    );
    plot.y.range = Range::Fixed(0.0, 1.0);
    for (name, samples) in [("sim", &distribution.sim), ("kernel", &distribution.kernel)] {
        if !samples.is_empty() {
            plot = plot.with(PlotSeries::new(name, Mark::Steps, steps(samples)));
        }
    }
    plot
}

/// Goodput and windows of both sides' run of the first seed.
fn time_plots(scenario: &FidelityScenario, runs: &FidelitySeries<'_>) -> Vec<Plot> {
    let (Some(sim), Some(kernel)) = (runs.sim, runs.kernel) else { return Vec::new() };
    let sides = [("sim".to_owned(), sim), ("kernel".to_owned(), kernel)];
    let flows = FlowPlots::overlaid(&sides);
    let mut plots = vec![flows.throughput(), flows.window(WindowUnit::Bytes)];
    for plot in &mut plots {
        plot.id = format!("{}-{}", scenario.name, plot.id);
        plot.title = format!("{}: {}, first seed", scenario.name, plot.title);
    }
    plots
}

/// A number with its sign, one decimal.
pub(super) fn signed(value: Option<f64>) -> Cell {
    value.map_or(Cell::Missing, |value| Cell::text(format!("{value:+.1}")))
}

pub(super) fn interval(metric: &FidelityMetric) -> String {
    match metric.ci95 {
        Some([from, to]) => format!("{from:+.1} to {to:+.1}"),
        None => "–".to_owned(),
    }
}
