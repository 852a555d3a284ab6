//! The fidelity report: the simulator beside the kernel, all scenarios, and in `fidelity/scenario.rs` each.

mod scenario;

use crate::document::{Block, Cell, Column, Document, Section, Table};
use crate::plot::{Mark, Plot, PlotSeries, Range, Scale, Shape};
use crate::table;
use ackord_measure::{
    FidelityMetric, FidelityReport, FidelityScenario, FidelityVerdict, KernelTime, ScenarioVerdict,
    UnsettableKnob,
};
use scenario::{interval, one, signed};
use std::collections::BTreeMap;

pub use scenario::FidelitySeries;

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
    use ackord_measure::{Distribution, KernelLateness, Paired};

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
