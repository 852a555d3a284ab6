//! Runs and comparisons as reports, and what other programs get of them.

use crate::compare::ComparisonOutcome;
use crate::history::HistoryUse;
use crate::live_run::LiveRunOutcome;
use crate::run::{Ending, RunOutcome};
use crate::stepped::RunChange;
use crate::topology::topology_of;
use ackord_measure::{Comparison, RunSummary};
use ackord_report::document::Document;
use ackord_report::live::{LiveDetails, live_document, tcp_info_csv};
use ackord_report::{
    Context, OutputFile, compare_document, data, document_files, run_document, run_files,
};
use ackord_scenario::{Override, Scenario, ScenarioFile};
use serde::Serialize;

/// What a run or comparison was made from.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    /// The file as its author wrote it.
    pub file: &'a ScenarioFile,
    /// What was changed about it.
    pub overrides: &'a [Override],
    /// What it came to mean.
    pub scenario: &'a Scenario,
    /// What endpoints took from the history of applications; nothing where none was asked.
    pub history: Option<&'a [HistoryUse]>,
}

/// A report, and the same for other programs.
#[derive(Clone, Debug)]
pub struct Report {
    /// For people.
    pub document: Document,
    /// JSON, ending with a line break.
    pub json: String,
}

/// Everything that was to be run was run.
const COMPLETE: &str = "complete";
/// Or was not.
const INTERRUPTED: &str = "interrupted";

#[derive(Serialize)]
struct RunResults<'a> {
    scenario: &'a str,
    ending: &'static str,
    /// What endpoints took from the history of applications.
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<&'a [HistoryUse]>,
    /// What was changed in the course of the run.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    changes: &'a [RunChange],
    #[serde(flatten)]
    summary: &'a RunSummary,
}

#[derive(Serialize)]
struct ComparisonResults<'a> {
    scenario: &'a str,
    ending: &'static str,
    planned_runs: usize,
    finished_runs: usize,
    #[serde(flatten)]
    comparison: &'a Comparison,
}

/// The report of a run.
pub fn run_report(outcome: &RunOutcome, origin: Origin<'_>) -> Report {
    let (ending, notes) = ending_of(outcome, origin);
    let results = run_results(outcome, ending, origin);
    let context = context(origin, notes);
    Report {
        document: run_document(&outcome.summary, outcome.series.as_ref(), &context),
        json: data::to_json(&results),
    }
}

/// How a run ended, and what there is to say about that.
fn ending_of(outcome: &RunOutcome, origin: Origin<'_>) -> (&'static str, Vec<String>) {
    let changed = |change: &RunChange| {
        let RunChange { at_s, key, value } = change;
        format!("Changed at {at_s} s: {key}={value}")
    };
    let mut notes: Vec<_> = outcome.changes.iter().map(changed).collect();
    match outcome.ending {
        Ending::Complete => (COMPLETE, notes),
        Ending::Interrupted(at) => {
            let planned = origin.scenario.duration;
            let note = format!("Interrupted at {at} of {planned}: all numbers end there.");
            notes.push(note);
            (INTERRUPTED, notes)
        }
    }
}

fn run_results<'a>(
    outcome: &'a RunOutcome,
    ending: &'static str,
    origin: Origin<'a>,
) -> RunResults<'a> {
    RunResults {
        scenario: &origin.scenario.name,
        ending,
        history: origin.history,
        changes: &outcome.changes,
        summary: &outcome.summary,
    }
}

/// Every file of a run's report.
pub fn run_report_files(outcome: &RunOutcome, report: &Report) -> Vec<OutputFile> {
    let files = run_files(&outcome.summary, outcome.series.as_ref(), &report.document);
    files.into_iter().map(|file| with_results(file, report)).collect()
}

#[derive(Serialize)]
struct LiveResults<'a> {
    #[serde(flatten)]
    run: RunResults<'a>,
    #[serde(flatten)]
    live: &'a LiveDetails,
}

/// The report of a live run.
pub fn live_run_report(outcome: &LiveRunOutcome, origin: Origin<'_>) -> Report {
    let LiveRunOutcome { run, live, .. } = outcome;
    let (ending, notes) = ending_of(run, origin);
    let results = LiveResults { run: run_results(run, ending, origin), live };
    let context = context(origin, notes);
    Report {
        document: live_document(&run.summary, run.series.as_ref(), live, &context),
        json: data::to_json(&results),
    }
}

/// Every file of a live run's report.
pub fn live_run_report_files(outcome: &LiveRunOutcome, report: &Report) -> Vec<OutputFile> {
    let mut files = run_report_files(&outcome.run, report);
    files.extend(tcp_info_csv(&outcome.live));
    files.extend(outcome.outputs.iter().cloned());
    files
}

/// The report of a comparison.
pub fn compare_report(outcome: &ComparisonOutcome, origin: Origin<'_>) -> Report {
    let ComparisonOutcome { comparison, series, notes, finished_runs, planned_runs } = outcome;
    let mut notes = notes.clone();
    let ending = if finished_runs == planned_runs {
        COMPLETE
    } else {
        notes.push(format!(
            "Interrupted: {finished_runs} of {planned_runs} runs were finished; only these count."
        ));
        INTERRUPTED
    };
    let results = ComparisonResults {
        scenario: &origin.scenario.name,
        ending,
        planned_runs: *planned_runs,
        finished_runs: *finished_runs,
        comparison,
    };
    let context = context(origin, notes);
    let series: Vec<_> = series.iter().map(|(label, set)| (label.clone(), set)).collect();
    Report {
        document: compare_document(comparison, &series, &context),
        json: data::to_json(&results),
    }
}

/// Every file of a comparison's report.
pub fn compare_report_files(report: &Report) -> Vec<OutputFile> {
    let mut files = document_files(&report.document);
    files.push(OutputFile::new("summary.json", report.json.clone()));
    files
}

/// `summary.json` says what `--json` says, how the run ended included.
fn with_results(file: OutputFile, report: &Report) -> OutputFile {
    if file.path.as_os_str() == "summary.json" {
        return OutputFile::new(file.path, report.json.clone());
    }
    file
}

fn context(origin: Origin<'_>, mut notes: Vec<String>) -> Context {
    let Origin { file, overrides, scenario, history } = origin;
    notes.extend(overrides.iter().map(|change| format!("Changed in the file: {change}")));
    notes.extend(history.into_iter().flatten().map(HistoryUse::sentence));
    Context {
        title: scenario.name.clone(),
        purpose: scenario.purpose.clone(),
        source: scenario.source.clone(),
        scenario_text: file.text().to_owned(),
        notes,
        topology: Some(topology_of(scenario)),
        ..Context::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RunOptions, execute, without_progress};
    use ackord_report::document::{Block, Table};
    use ackord_report::{Screen, table_to_terminal};
    use ackord_scenario::library;
    use std::collections::BTreeMap;

    fn words<'a>(texts: impl IntoIterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
        let mut counts = BTreeMap::new();
        for word in texts.into_iter().flat_map(str::split_whitespace) {
            *counts.entry(word).or_default() += 1;
        }
        counts
    }

    /// On a screen of this width every word of the table is there whole, and no line is longer.
    fn is_whole(table: &Table, columns: u16) {
        let told = table_to_terminal(table, Screen { columns, ..Screen::NONE });
        let cells: Vec<String> = table.rows.iter().flatten().map(|cell| cell.show()).collect();
        let heads = table.columns.iter().flat_map(|column| [&column.heading, &column.unit]);
        let texts = cells.iter().chain(heads).map(String::as_str);
        let shown = words([told.as_str()]);
        for (word, count) in words(texts) {
            assert!(shown.get(word) >= Some(&count), "`{word}` at {columns} columns:\n{told}");
        }
        let longest = told.lines().map(|line| line.chars().count()).max().unwrap_or(0);
        assert!(longest <= usize::from(columns), "{longest} at {columns} columns:\n{told}");
    }

    /// The tables of a run of this text, begun only: what is in them has its length by then.
    fn tables(name: &str, text: &str, changes: &[Override]) -> Vec<Table> {
        let file = ScenarioFile::new(name, text).with_overrides(changes.to_vec());
        // Some flows begin late, and a run ends after that.
        let short = ["1 s", "12 s"].map(|duration| Override::new("duration", duration));
        let mut shortened = short.map(|short| file.clone().with_overrides([short]).check());
        let scenario = match &mut shortened {
            [Ok(scenario), _] | [_, Ok(scenario)] => scenario.clone(),
            [_, Err(errors)] => panic!("{errors}"),
        };
        let seed = scenario.seed;
        let options = RunOptions::summary_only(seed);
        let outcome = execute(&scenario, options, &mut without_progress).expect("it runs");
        let origin = Origin { file: &file, overrides: changes, scenario: &scenario, history: None };
        let blocks = run_report(&outcome, origin).document.sections;
        let blocks = blocks.into_iter().flat_map(|section| section.blocks);
        let table = |block| if let Block::Table(table) = block { Some(table) } else { None };
        blocks.filter_map(table).collect()
    }

    #[test]
    fn no_table_of_any_scenario_breaks_a_word_on_screens_wide_and_narrow() {
        for (name, text) in library() {
            for table in tables(name, text, &[]) {
                for columns in [60, 80, 100, 120] {
                    is_whole(&table, columns);
                }
            }
        }
    }

    #[test]
    fn the_mechanisms_of_a_profile_are_its_name_and_what_differs() {
        let (name, text) = library().find(|(name, _)| *name == "lossy-wifi").expect("there");
        let told = |changes: &[(&str, &str)]| {
            let changes: Vec<_> = changes.iter().map(|(k, v)| Override::new(*k, *v)).collect();
            let tables = tables(name, text, &changes);
            table_to_terminal(tables.last().expect("of mechanisms"), Screen::NONE)
        };
        for profile in ["rfc", "linux", "ns2"] {
            let plain = told(&[("tcp.profile", profile)]);
            assert!(plain.contains(&format!("Profile {profile}: ack ")), "{plain}");
            let row = plain.lines().last().unwrap_or_default();
            let expected = ["download", profile, "bulk,", "size", "20", "MB"];
            assert!(row.split_whitespace().eq(expected), "{plain}");
        }
        let changed = told(&[("tcp.profile", "linux"), ("tcp.congestion.hystart", "off")]);
        let row = changed.lines().last().unwrap_or_default();
        let expected =
            ["download", "linux", "cubic,", "hystart", "off", "bulk,", "size", "20", "MB"];
        assert!(row.split_whitespace().eq(expected), "{changed}");
        assert!(!changed.contains("congestion cubic"), "what differs is not as there: {changed}");
    }
}
