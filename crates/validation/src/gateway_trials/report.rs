//! What was found: for each cell both sides, and what the remedy came to; as tables, document, JSON.

use super::passed::{self, Passed};
use super::{Cell, Remedy};
use crate::validate::{FIRST_DATA, Sampling};
use ackord_measure::stats::{self, Estimate};
use ackord_measure::{
    FidelityMetric, FidelityScenario, FidelityVerdict, ScenarioVerdict, UnsettableKnob,
};
use ackord_report::document::{Block, Document, Section, Table};
use ackord_report::table;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Every cell that was tried.
#[derive(Clone, Debug, Serialize)]
pub struct GatewayTrialsReport {
    /// Version of the program.
    pub version: String,
    /// The release of the kernel at both ends and in the middle.
    pub kernel: String,
    /// How many runs, and how.
    #[serde(rename = "effort")]
    pub sampling: Sampling,
    /// How far the simulator's goodput may be from the live one, percent.
    pub goodput_goal_percent: f64,
    /// What passed the routers of all live runs.
    pub router: Passed,
    /// The cells.
    pub rows: Vec<TrialRow>,
}

/// One cell.
#[derive(Clone, Debug, Serialize)]
pub struct TrialRow {
    /// The scenario's name.
    pub trial: &'static str,
    /// Which way, over which protocol, by which sender.
    pub circumstances: String,
    /// What the gateway did.
    pub remedy: &'static str,
    /// Live goodput over that without a remedy, with its 95 % interval, paired by seeds.
    pub gain_live: Option<Estimate>,
    /// The same as the simulator has it.
    pub gain_simulated: Option<Estimate>,
    /// How many runs would tell whether the simulator is within its goal, where these do not.
    pub runs_to_decide: Option<u64>,
    /// Both sides.
    pub compared: FidelityScenario,
}

/// Where there is no number.
const NOTHING: &str = "–";
/// The quantity that only flows which share a link have.
const JAIN: &str = "Jain's index";
/// More runs than anybody makes.
const MOST_RUNS: f64 = 1e6;

impl TrialRow {
    fn goodput(&self) -> Option<&FidelityMetric> {
        self.compared.metric("goodput")
    }

    /// Whether flows share a link.
    fn shares(&self) -> bool {
        self.compared.metric(JAIN).is_some()
    }

    /// Below the name of the scenario.
    fn told_circumstances(&self) -> &str {
        self.circumstances.split_once(", ").map_or("", |(_, rest)| rest)
    }

    fn told_remedy(&self) -> &str {
        if self.shares() && self.remedy == Remedy::None.name() { "drop-tail" } else { self.remedy }
    }

    /// Whether this is told beside goodput.
    fn tells(&self, metric: &FidelityMetric) -> bool {
        let name = metric.metric.as_str();
        let of_shares = ["goodput of ", "round trip of ", JAIN];
        name == FIRST_DATA || self.shares() && of_shares.iter().any(|of| name.starts_with(of))
    }
}

/// The cells of which all runs were made, with what each gained over none.
pub(super) fn rows(cells: &[Cell], compared: Vec<FidelityScenario>) -> Vec<TrialRow> {
    let found = |name: &str| compared.iter().find(|one| one.name == name);
    let row = |cell: &Cell| {
        let of = found(&cell.name())?;
        let without = Cell { remedy: Remedy::None, ..*cell };
        let without = found(&without.name()).filter(|_| cell.remedy != Remedy::None);
        let gain = |runs: fn(&FidelityMetric) -> &[f64]| {
            let without = without?;
            let [above, below] = [of, without].map(|one| {
                let metric = one.metric("goodput").map(runs).unwrap_or_default();
                one.seeds.iter().copied().zip(metric.iter().copied()).collect::<Vec<_>>()
            });
            // Only seeds that count in both.
            let both = above.iter().filter_map(|(seed, value)| {
                let (_, other) = below.iter().find(|(other, _)| other == seed)?;
                Some((*value, *other))
            });
            let (above, below): (Vec<f64>, Vec<f64>) = both.unzip();
            stats::ratio(&above, &below)
        };
        Some(TrialRow {
            trial: cell.trial.name,
            circumstances: cell.circumstances(),
            remedy: cell.remedy.name(),
            gain_live: gain(|metric| &metric.kernel_runs),
            gain_simulated: gain(|metric| &metric.sim_runs),
            runs_to_decide: of.metric("goodput").and_then(|metric| runs_to_decide(of, metric)),
            compared: of.clone(),
        })
    };
    cells.iter().filter_map(row).collect()
}

/// As the root of their number goes the interval's width: so many make it end before the goal, if the
/// error stays where it is.
fn runs_to_decide(scenario: &FidelityScenario, metric: &FidelityMetric) -> Option<u64> {
    if metric.verdict != Some(FidelityVerdict::Undecided) {
        return None;
    }
    let (error, [from, to]) = (metric.error_percent?, metric.ci95?);
    let room = (metric.goal_percent? - error.abs()).abs();
    let needed = scenario.seeds.len() as f64 * ((to - from) / 2.0 / room).powi(2);
    Some(needed.min(MOST_RUNS).ceil() as u64)
}

/// The report as a document. `command` made it.
pub fn trials_document(report: &GatewayTrialsReport, command: &str) -> Document {
    let mut sections = vec![overview(report, command)];
    let mut trials: Vec<&str> = report.rows.iter().map(|row| row.trial).collect();
    trials.dedup();
    sections.extend(trials.into_iter().map(|trial| section(report, trial)));
    sections.extend(untold(report));
    sections.push(passed::section(&report.router));
    let sampling = &report.sampling;
    let fact = |name: &str, value: String| (name.to_owned(), value);
    Document {
        title: "The gateway on stock kernels".to_owned(),
        purpose:
            "What each remedy does for a kernel's TCP when the gateway stands on a router between \
                  two stock kernels, and how far the simulator's prediction is from that: the same \
                  scenario, the same seeds."
                .to_owned(),
        facts: vec![
            fact("kernel", report.kernel.clone()),
            fact("runs of each side", runs_text(sampling)),
            fact("live runs at the same time", sampling.jobs.to_string()),
            fact("version", report.version.clone()),
        ],
        sections,
    }
}

fn runs_text(sampling: &Sampling) -> String {
    let (seeds, first) = (sampling.seeds.get(), sampling.first_seed);
    match sampling.most {
        most if most <= seeds => format!("{seeds}, seeds from {first}"),
        most => format!("{seeds} to {most}, seeds from {first}"),
    }
}

fn overview(report: &GatewayTrialsReport, command: &str) -> Section {
    let goodputs = || report.rows.iter().filter_map(|row| row.goodput()?.verdict);
    let count = |verdict| goodputs().filter(|one| *one == verdict).count();
    let untrusted = |row: &&TrialRow| row.compared.verdict == ScenarioVerdict::Untrusted;
    let (repeated, excluded) = report.rows.iter().fold((0, 0), |(repeated, excluded), row| {
        let of = &row.compared;
        (repeated + of.repeated_runs as usize, excluded + of.excluded_seeds.len())
    });
    let goal = report.goodput_goal_percent;
    let verdict = format!(
        "Of {} cells the simulator's goodput is within {goal} % of the live one in {}, outside in {} and \
         undecided in {}. {repeated} live runs were too late to be believed and were made again, \
         {excluded} seeds were left out for it, and {} cells had too few left.",
        report.rows.len(),
        count(FidelityVerdict::Within),
        count(FidelityVerdict::Outside),
        count(FidelityVerdict::Undecided),
        report.rows.iter().filter(untrusted).count(),
    );
    Section::new("Verdicts")
        .with(Block::Text(verdict))
        .with(Block::Command { caption: "To repeat it".to_owned(), line: command.to_owned() })
}

fn section(report: &GatewayTrialsReport, trial: &str) -> Section {
    let rows: Vec<&TrialRow> = report.rows.iter().filter(|row| row.trial == trial).collect();
    let purpose = rows.first().map_or("", |row| row.compared.purpose.as_str());
    let section = Section::new(trial)
        .with(Block::Text(purpose.to_owned()))
        .with(Block::Table(goodput_table(&rows)));
    match beside_table(&rows) {
        table if table.rows.is_empty() => section,
        table => section.with(Block::Table(table)),
    }
}

fn goodput_table(rows: &[&TrialRow]) -> Table {
    let told = rows.iter().filter_map(|row| Some((row, row.goodput()?)));
    let gain =
        |gain: Option<Estimate>| with_interval(gain.map(|g| g.mean), gain.and_then(|g| g.ci95), 2);
    table!(told, |(row, metric)| {
        let error = match (metric.error_percent, metric.ci95) {
            (Some(error), Some([from, to])) => format!("{error:+.1} ({from:+.1} to {to:+.1})"),
            (Some(error), None) => format!("{error:+.1}"),
            (None, _) => NOTHING.to_owned(),
        };
        [
            words("goodput") => row.told_circumstances(),
            words("remedy") => row.told_remedy(),
            words("live, Mbit/s") => with_interval(metric.kernel, metric.kernel_ci95, 2),
            words("simulated, Mbit/s") => with_interval(metric.sim, metric.sim_ci95, 2),
            words("error, %") => error,
            words("goal") => verdict(row, metric),
            words("gain live") => gain(row.gain_live),
            words("gain simulated") => gain(row.gain_simulated),
            numbers("runs", "") => row.compared.seeds.len() as u64,
        ]
    })
}

fn verdict(row: &TrialRow, metric: &FidelityMetric) -> String {
    let word = metric.verdict.map_or("", FidelityVerdict::name);
    match row.runs_to_decide {
        _ if row.compared.verdict == ScenarioVerdict::Untrusted => format!("{word}, untrusted"),
        Some(runs) => format!("{word}, {runs} runs would tell"),
        None => word.to_owned(),
    }
}

/// What is told beside goodput: how soon data flows again, or how flows share a link.
fn beside_table(rows: &[&TrialRow]) -> Table {
    let told = rows.iter().flat_map(|row| {
        let metrics = row.compared.metrics.iter().filter(|metric| row.tells(metric));
        metrics.map(move |metric| (row, metric))
    });
    table!(told, |(row, metric)| {
        let decimals = match metric.unit.as_str() {
            "" => 3,
            "ms" => 0,
            _ => 2,
        };
        let unit = if metric.unit.is_empty() { "" } else { ", " };
        let error = metric.error_percent.map(|error| format!("{error:+.1}"));
        [
            words("beside it") => row.told_circumstances(),
            words("remedy") => row.told_remedy(),
            words("what") => format!("{}{unit}{}", metric.metric, metric.unit),
            words("live") => with_interval(metric.kernel, metric.kernel_ci95, decimals),
            words("simulated") => with_interval(metric.sim, metric.sim_ci95, decimals),
            words("error, %") => error.unwrap_or_else(|| NOTHING.to_owned()),
        ]
    })
}

fn with_interval(value: Option<f64>, half: Option<f64>, decimals: usize) -> String {
    match (value, half) {
        (Some(value), Some(half)) => format!("{value:.decimals$} ± {half:.decimals$}"),
        (Some(value), None) => format!("{value:.decimals$}"),
        (None, _) => NOTHING.to_owned(),
    }
}

/// What a kernel does in another way than the simulation was told: an error may come from there.
fn untold(report: &GatewayTrialsReport) -> Option<Section> {
    let mut knobs: BTreeMap<&UnsettableKnob, BTreeSet<&str>> = BTreeMap::new();
    for row in &report.rows {
        for knob in &row.compared.settings {
            knobs.entry(knob).or_default().insert(row.told_circumstances());
        }
    }
    let table = table!(knobs, |(UnsettableKnob { knob, asked, outcome }, of)| [
        words("knob") => knob,
        words("simulated") => asked,
        words("live") => outcome,
        words("where") => of.into_iter().collect::<Vec<_>>().join("; "),
    ]);
    let told = Section::new("What the kernel does otherwise").with(Block::Table(table));
    report.rows.iter().any(|row| !row.compared.settings.is_empty()).then_some(told)
}
