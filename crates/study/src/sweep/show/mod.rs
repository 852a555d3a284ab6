//! What a sweep came to, finished or not: tables, the best points, plots.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | [`show_sweep`]: what is asked for, and the report |
//! | `measured.rs` | a metric at every point, with its interval |
//! | `pivot.rs` | which axes go where, and the tables |
//! | `best.rs` | the best points by a metric, and those that none beats in two |
//! | `plots.rs` | heat maps, curves with intervals, the front |
//! | `data.rs` | the same as JSON and CSV |

mod best;
mod data;
mod measured;
mod pivot;
mod plots;

use super::folder::{Folder, State, SweepError};
use super::metrics::Selected;
use super::plan::{Plan, RunAt};
use super::sweep::Runs;
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::{OutputFile, document_files};
use ackord_scenario::Wrong;
use measured::Measured;
use pivot::Layout;
use std::path::Path;

pub use measured::Better;

/// What of a sweep is shown.
#[derive(Clone, Debug, Default)]
pub struct ShowOptions {
    /// Which metrics, by name; nothing for the one the study asks about.
    pub metrics: Vec<String>,
    /// Which axes go down, by name, path or a part of either.
    pub rows: Vec<String>,
    /// Which axes go across.
    pub columns: Vec<String>,
    /// The best points by this metric; `:least` or `:most` behind it says what is better.
    pub best: Option<String>,
    /// The points that no other beats in both.
    pub pareto: Option<[String; 2]>,
}

/// What is shown.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// For people.
    pub document: Document,
    /// For programs. Ends with a line break.
    pub json: String,
    /// A row per point, with every metric.
    pub csv: Vec<u8>,
}

/// Most failed runs that are listed.
const MOST_FAILED: usize = 20;

/// Shows the sweep in `folder`.
///
/// # Errors
/// If there is none, none of its runs is finished, or a metric or an axis is not known.
pub fn show_sweep(folder: &Path, options: &ShowOptions) -> Result<SweepReport, SweepError> {
    let at_hand = Folder::open(folder)?;
    let runs = Runs::of(&at_hand)?;
    let plan = &at_hand.plan;
    let layout = Layout::of(plan, &options.rows, &options.columns)?;
    let needed = runs.needed(plan);
    let finished =
        needed.iter().filter(|run| matches!(runs.state(**run), Some(State::Done(_)))).count();
    if finished == 0 {
        return Err(SweepError::Empty(folder.to_owned()));
    }
    let measure = |name: &str| Measured::of(name, plan, &runs, &needed);
    let metrics =
        wanted(plan, options).iter().map(|name| measure(name)).collect::<Result<Vec<_>, _>>()?;
    let best = options.best.as_deref().map(measure).transpose()?;
    let pareto = match &options.pareto {
        Some([one, two]) => Some((measure(one)?, measure(two)?)),
        None => None,
    };
    let mut sections = Vec::new();
    if let Some(best) = &best {
        sections.push(best::best_section(plan, best));
    }
    if let Some((one, two)) = &pareto {
        sections.push(best::pareto_section(plan, one, two));
    }
    if sections.is_empty() || !options.metrics.is_empty() {
        sections.extend(metrics.iter().map(|metric| metric_section(plan, &layout, metric)));
    }
    sections.extend(failed_section(plan, &runs, &needed));
    let document = Document {
        title: plan.name.clone(),
        purpose: plan.purpose.clone(),
        facts: facts(plan, finished, needed.len()),
        sections,
    };
    let all: Vec<&Measured> =
        metrics.iter().chain(&best).chain(pareto.iter().flat_map(|(a, b)| [a, b])).collect();
    let mut several: Vec<&Measured> = Vec::new();
    for metric in all {
        if several.iter().all(|other| other.name != metric.name) {
            several.push(metric);
        }
    }
    Ok(SweepReport {
        document,
        json: data::to_json(
            plan,
            (finished, needed.len()),
            &several,
            best.as_ref(),
            pareto.as_ref(),
        ),
        csv: data::points_csv(plan, &several),
    })
}

/// Every file of what is shown.
pub fn sweep_report_files(report: &SweepReport) -> Vec<OutputFile> {
    let mut files = document_files(&report.document);
    files.push(OutputFile::new("points.csv", report.csv.clone()));
    files.push(OutputFile::new("summary.json", report.json.clone()));
    files
}

/// Which metrics are shown: those asked for, or what the stopping rule looks at, or what stands for whole
/// runs, or else the first that is kept.
fn wanted(plan: &Plan, options: &ShowOptions) -> Vec<String> {
    if !options.metrics.is_empty() {
        return options.metrics.clone();
    }
    let asked = plan.until.as_ref().map(|until| until.metric.clone());
    let usual = || {
        let usual = ["total_goodput_bit_s", "goodput_bit_s"].into_iter();
        usual.map(str::to_owned).find(|name| Selected::of(name, &plan.metrics).is_ok())
    };
    asked.or_else(usual).or_else(|| plan.metrics.first()).into_iter().collect()
}

fn facts(plan: &Plan, finished: usize, needed: usize) -> Vec<(String, String)> {
    let runs =
        if finished == needed { finished.to_string() } else { format!("{finished} of {needed}") };
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let mut facts = vec![
        fact("scenario", plan.scenario.clone()),
        fact("points", plan.points().to_string()),
        fact("runs", runs),
        fact("first seed", plan.seed(RunAt { point: 0, at: 0 }).to_string()),
        fact("version", plan.version().to_owned()),
    ];
    if let Some(until) = &plan.until {
        facts.push(fact("until", until.to_string()));
    }
    facts
}

fn metric_section(plan: &Plan, layout: &Layout, metric: &Measured) -> Section {
    let mut section = Section::new(&metric.about);
    let several = layout.pages(plan).len() > 1;
    for page in layout.pages(plan) {
        if several {
            section.blocks.push(Block::Text(format!("At {}:", layout.page_label(plan, &page))));
        }
        section.blocks.push(Block::Table(layout.table(plan, metric, &page)));
        section.blocks.extend(plots::of(plan, layout, metric, &page).into_iter().map(Block::Plot));
    }
    section.blocks.push(Block::Text(metric.said()));
    section
}

fn failed_section(plan: &Plan, runs: &Runs, needed: &[RunAt]) -> Option<Section> {
    let failed: Vec<_> = needed
        .iter()
        .filter_map(|run| match runs.state(*run) {
            Some(State::Failed(why)) => Some((*run, why)),
            _ => None,
        })
        .collect();
    if failed.is_empty() {
        return None;
    }
    let row = |(run, why): &(RunAt, &String)| {
        let first = why.lines().next().unwrap_or_default();
        vec![Cell::text(plan.command(*run)), Cell::text(first)]
    };
    let table = Table {
        caption: String::new(),
        columns: vec![Column::words("run"), Column::words("why it failed")],
        rows: failed.iter().take(MOST_FAILED).map(row).collect(),
    };
    let section = Section::new("Failed runs").with(Block::Table(table));
    let more = failed.len().saturating_sub(MOST_FAILED);
    Some(match more {
        0 => section,
        more => section.with(Block::Text(format!("And {more} more, in the table `runs`."))),
    })
}

/// A name that nothing has, as an error of this command.
fn unknown(wrong: Wrong, given: &str) -> SweepError {
    match wrong {
        Wrong::UnknownName { what, given, known, nearest } => SweepError::UnknownName {
            what: format!("there is no {what} called `{given}`"),
            nearest,
            known,
        },
        _ => SweepError::UnknownName {
            what: format!("`{given}` is not known"),
            nearest: None,
            known: Vec::new(),
        },
    }
}
