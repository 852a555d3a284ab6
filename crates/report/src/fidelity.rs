//! The fidelity report: the simulator beside the kernel, scenario by scenario.

use crate::document::{Block, Cell, Column, Document, Section, Table, decimals_for};
use crate::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};
use crate::plots::{FlowPlots, WindowUnit};
use crate::table;
use ackord_measure::{
    Distribution, FidelityMetric, FidelityReport, FidelityScenario, FidelityVerdict, KernelTime,
    ScenarioVerdict, SeriesSet, UnsettableKnob,
};
use std::collections::BTreeMap;

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

/// The report as a document; `command` repeats it, `notes` say what else a reader must know.
pub fn fidelity_document(
    report: &FidelityReport,
    series: &[FidelitySeries<'_>],
    command: &str,
    notes: &[String],
) -> Document {
    let mut sections = vec![overview(report, command)];
    for scenario in &report.scenarios {
        let runs = series.iter().find(|runs| runs.scenario == scenario.name);
        sections.push(one(scenario, runs));
    }
    sections.push(untold(report));
    if report.time == KernelTime::Real {
        sections.push(lateness(report));
    }
    if !notes.is_empty() {
        sections.push(Section::new("How it is measured").with(Block::Notes(notes.to_vec())));
    }
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let runs = match report.most_runs {
        most if most == report.seeds => format!("{most}, seeds from {}", report.first_seed),
        most => format!(
            "{} to {most}, seeds from {}, until the interval of each goodput is narrower than {} % to \
             either side",
            report.seeds, report.first_seed, report.goodput_interval_percent
        ),
    };
    let mut facts = vec![fact("kernel", report.kernel.clone()), fact("runs of each side", runs)];
    if report.time == KernelTime::Real {
        facts.push(fact("live runs at the same time", report.jobs.to_string()));
    }
    facts.push(fact("version", report.version.clone()));
    Document {
        title: "The simulator beside the kernel".to_owned(),
        purpose: format!(
            "How far runs of the simulator, with the profile linux at both ends, are from {}: the \
                 same scenario files, the same path, the same random losses.",
            match report.time {
                KernelTime::Real => "the stock kernel of this machine in real time",
                KernelTime::Simulated => "a stock kernel in simulated time",
            }
        ),
        facts,
        sections,
    }
}

/// The same without plots: a page of a repository.
pub fn without_plots(mut document: Document) -> Document {
    for section in &mut document.sections {
        section.blocks.retain(|block| !matches!(block, Block::Plot(_)));
    }
    document
}

fn overview(report: &FidelityReport, command: &str) -> Section {
    let (goodput, acks) = (report.goodput_goal_percent, report.acks_goal_percent);
    let is_open = |scenario: &&FidelityScenario| scenario.verdict == ScenarioVerdict::Undecided;
    let undecided = report.scenarios.iter().filter(is_open).count();
    let verdict = format!(
        "In {} of {} scenarios goodput, of all and of each flow, is within {goodput} % and the number of \
         acknowledgments within {acks} % of the kernel's; {undecided} are undecided.",
        report.scenarios_within, report.scenarios_total
    );
    let late = match report.time {
        KernelTime::Real => {
            " Late is the worst run's 99th percentile of how late packets were handed to a kernel."
        }
        KernelTime::Simulated => "",
    };
    let mut section = Section::new("Verdicts")
        .with(Block::Text(verdict))
        .with(Block::Table(overview_table(report, "goodput", "Mbit/s")))
        .with(Block::Table(overview_table(report, "pure ACKs", "segments")))
        .with(Block::Text(format!(
            "An error is the simulator's mean relative to the kernel's; behind it where it lies \
             with 95 % confidence, by Student's t over the differences seed by seed. Within \
             the goal is what has its whole interval there, outside what has none of it there, undecided \
             what lies between.{late}"
        )));
    if !report.scenarios.is_empty() {
        section = section.with(Block::Plot(error_plot(report)));
    }
    section.with(Block::Command { caption: "To repeat it".to_owned(), line: command.to_owned() })
}

/// One quantity of every scenario, and what came of its goal.
fn overview_table(report: &FidelityReport, name: &str, unit: &str) -> Table {
    let mut columns = vec![
        Column::words(name),
        Column::numbers("sim", unit),
        Column::numbers("kernel", unit),
        Column::numbers("error", "%"),
        Column::words("95 %"),
        Column::words("goal"),
        Column::words("scenario"),
    ];
    if report.time == KernelTime::Real {
        columns.push(Column::numbers("late", "us"));
    }
    columns.push(Column::numbers("runs", ""));
    // Of all flows together, then of each where they compete.
    let of_a_flow = format!("{name} of ");
    let mut rows = Vec::new();
    for scenario in &report.scenarios {
        for metric in &scenario.metrics {
            let label = match metric.metric.strip_prefix(&of_a_flow) {
                Some(flow) => format!("{}: {flow}", scenario.name),
                None if metric.metric == name => scenario.name.clone(),
                None => continue,
            };
            rows.push(overview_row(report, scenario, metric, label));
        }
    }
    Table { caption: String::new(), columns, rows }
}

fn overview_row(
    report: &FidelityReport,
    scenario: &FidelityScenario,
    metric: &FidelityMetric,
    label: String,
) -> Vec<Cell> {
    let mut row = vec![
        Cell::text(label),
        Cell::about(metric.sim),
        Cell::about(metric.kernel),
        signed(metric.error_percent),
        Cell::text(interval(metric)),
        Cell::text(metric.verdict.map_or("", FidelityVerdict::name)),
        Cell::text(scenario.verdict.name()),
    ];
    if report.time == KernelTime::Real {
        let latest = scenario.lateness.iter().map(|run| run.p99_us).fold(0.0, f64::max);
        row.push(Cell::number(latest, 0));
    }
    row.push(Cell::Count(scenario.seeds.len() as u64));
    row
}

/// A number with its sign, one decimal.
fn signed(value: Option<f64>) -> Cell {
    value.map_or(Cell::Missing, |value| Cell::text(format!("{value:+.1}")))
}

fn interval(metric: &FidelityMetric) -> String {
    match metric.ci95 {
        Some([from, to]) => format!("{from:+.1} to {to:+.1}"),
        None => "–".to_owned(),
    }
}

/// The errors of goodput and acknowledgments of every scenario, with intervals.
fn error_plot(report: &FidelityReport) -> Plot {
    let names = report.scenarios.iter().map(|scenario| scenario.name.clone()).collect();
    let mut plot = Plot::new(
        "fidelity-errors",
        "The simulator's error, with 95 % intervals",
        "",
        "error (% of the kernel's)",
    );
    plot.x.scale = Scale::Categories(names);
    plot.y.range = Range::Data;
    for (name, shape, place) in
        [("goodput", Shape::Disc, -0.12), ("pure ACKs", Shape::Square, 0.12)]
    {
        let metrics: Vec<(f64, &FidelityMetric)> = report
            .scenarios
            .iter()
            .enumerate()
            .filter_map(|(number, scenario)| Some((number as f64, scenario.metric(name)?)))
            .filter(|(_, metric)| metric.error_percent.is_some())
            .collect();
        let points =
            metrics.iter().map(|(x, metric)| (x + place, metric.error_percent.unwrap_or(0.0)));
        let errors =
            metrics.iter().map(|(_, metric)| metric.ci95.map(|[from, to]| (to - from) / 2.0));
        plot = plot.with(PlotSeries::new(name, Mark::Points(shape), points).with_errors(errors));
    }
    plot
}

fn one(scenario: &FidelityScenario, runs: Option<&FidelitySeries<'_>>) -> Section {
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
            Some(mean) => Cell::Interval { mean, half_width, decimals: decimals_for(mean) },
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

/// What the kernel could not be told, with the scenarios in which it matters.
fn untold(report: &FidelityReport) -> Section {
    let mut knobs: BTreeMap<&UnsettableKnob, Vec<&str>> = BTreeMap::new();
    for scenario in &report.scenarios {
        for knob in &scenario.settings {
            knobs.entry(knob).or_default().push(&scenario.name);
        }
    }
    let section = Section::new("What the kernel was not told");
    if knobs.is_empty() {
        return section.with(Block::Text(
            "Every knob that the scenarios set was set at the kernel's ends too.".to_owned(),
        ));
    }
    let all = |scenarios: &[&str]| scenarios.len() == report.scenarios.len();
    section.with(Block::Table(table!(&knobs, |(knob, scenarios)| [
        words("knob") => &knob.knob,
        words("asked for") => &knob.asked,
        words("outcome") => &knob.outcome,
        words("scenarios") => if all(scenarios) { "all".to_owned() } else { scenarios.join(", ") },
    ])))
}

fn lateness(report: &FidelityReport) -> Section {
    let runs = report
        .scenarios
        .iter()
        .flat_map(|scenario| scenario.lateness.iter().map(move |run| (&scenario.name, run)));
    Section::new("How late the live runs were").with(Block::Table(table!(runs, |(name, run)| [
        words("scenario") => name,
        numbers("seed", "") => run.seed,
        numbers("median", "us") => Cell::number(run.p50_us, 0),
        numbers("p99", "us") => Cell::number(run.p99_us, 0),
        numbers("worst", "us") => Cell::number(run.max_us, 0),
        words("budget") => if run.within_budget { "kept" } else { "exceeded" },
    ])))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_measure::{KernelLateness, Paired};

    fn report() -> FidelityReport {
        let metric = |name: &str, sim: &[f64], kernel: &[f64], goal| {
            FidelityMetric::of(Paired {
                metric: name.to_owned(),
                unit: "Mbit/s".to_owned(),
                sim: sim.to_vec(),
                kernel: kernel.to_vec(),
                goal_percent: Some(goal),
            })
        };
        let mut scenario = FidelityScenario {
            name: "clean".to_owned(),
            purpose: "Nothing is lost".to_owned(),
            source: "here".to_owned(),
            scenario_hash: String::new(),
            duration_s: 10.0,
            verdict: ScenarioVerdict::Untrusted,
            seeds: vec![1, 2],
            metrics: vec![
                metric("goodput", &[19.0, 19.2], &[19.1, 19.1], 5.0),
                metric("pure ACKs", &[130.0, 130.0], &[100.0, 100.0], 10.0),
            ],
            distributions: vec![Distribution::of(
                "completion time",
                "ms",
                vec![1.0, 2.0],
                vec![2.0, 3.0],
            )],
            lateness: vec![KernelLateness { seed: 1, within_budget: true, ..Default::default() }],
            repeated_runs: 3,
            excluded_seeds: vec![7],
            settings: vec![UnsettableKnob {
                knob: "ack.tick".to_owned(),
                asked: "4 ms".to_owned(),
                outcome: "the kernel's own".to_owned(),
            }],
            explanations: Vec::new(),
        };
        scenario.judge();
        let mut report = FidelityReport {
            version: "0".to_owned(),
            kernel: "6.18".to_owned(),
            time: KernelTime::Real,
            first_seed: 1,
            seeds: 2,
            most_runs: 2,
            jobs: 1,
            goodput_goal_percent: 5.0,
            acks_goal_percent: 10.0,
            goodput_interval_percent: 3.0,
            scenarios_within: 0,
            scenarios_total: 0,
            scenarios: vec![scenario],
        };
        report.count();
        report
    }

    #[test]
    fn a_page_has_both_sides_the_error_and_what_was_left_out_and_no_pictures() {
        let document = fidelity_document(&report(), &[], "ackord validate", &[]);
        assert_eq!(document.plots().count(), 2, "errors, and the times of transfers");
        let page = crate::to_markdown(&without_plots(document), ".");
        for said in [
            "In 0 of 1 scenarios",
            "| goodput | Mbit/s | 19.10 ± 1.27 | 19.10 ± 0.00 | +0.0 |",
            "+30.0 to +30.0 | 10 %: outside |",
            "3 live runs were too late",
            "seed 7",
            "| ack.tick | 4 ms | the kernel's own | all |",
            "distributions (2 and 2 samples): 0.500",
        ] {
            assert!(page.contains(said), "{said} is not in\n{page}");
        }
        assert!(!page.contains("!["), "{page}");
    }
}
