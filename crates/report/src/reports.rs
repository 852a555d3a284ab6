//! Whole reports of runs, comparisons and papers, and the files they become.

use crate::answer;
use crate::data::{series_csv, summary_csv, to_json};
use crate::document::{Block, Document, Section, Table};
use crate::files::OutputFile;
use crate::html::to_html;
use crate::mechanism_table::mechanism_table;
use crate::plot::{Plot, Topology};
use crate::plots::{FlowPlots, WindowUnit, link_plot, queue_plot};
use crate::tables;
use ackord_measure::{Claim, Comparison, RULE, RunSummary, SeriesSet, Verdict};
use serde::Serialize;
use std::collections::BTreeSet;

/// What is behind a remark on intervals by Student's t.
pub const AMOUNTS: &str = "; one that would reach below zero is that of the logarithm of the mean";

/// What a report says besides numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Context {
    /// Heading.
    pub title: String,
    /// What question the scenario answers.
    pub purpose: String,
    /// Where it comes from: a paper, an RFC, a file.
    pub source: String,
    /// The scenario as its author wrote it; empty to leave it out.
    pub scenario_text: String,
    /// Remarks: what was interrupted, what is not modelled.
    pub notes: Vec<String>,
    /// In what congestion windows are shown.
    pub window_unit: WindowUnit,
    /// The network, to be drawn.
    pub topology: Option<Topology>,
}

/// The report of one run: its answer in a sentence, the flows, the network, plots, then the other numbers. Without
/// series it has no plots.
pub fn run_document(run: &RunSummary, series: Option<&SeriesSet>, context: &Context) -> Document {
    let fairness = &run.fairness;
    let shared = match (fairness.jain_index, fairness.min_max_percent) {
        (Some(jain), Some(percent)) if fairness.flows > 1 => vec![Block::Text(format!(
            "Shared among {} flows: Jain's index {jain:.4}, smallest over largest goodput \
             {percent:.2} %.",
            fairness.flows
        ))],
        _ => Vec::new(),
    };
    let mut flows = Section::new("Flows");
    flows.blocks.extend(tables::flow_tables(run).into_iter().filter_map(table_with_rows));
    flows.blocks.extend(shared);
    let mut links = Section::new("Links and queues").with(Block::Table(tables::link_table(run)));
    links.blocks.extend(table_with_rows(tables::medium_table(run)));
    links.blocks.extend(table_with_rows(tables::drop_table(run)));
    if run.unroutable_packets > 0 {
        let lost = run.unroutable_packets;
        links.blocks.push(Block::Text(format!("{lost} packets found no way to go.")));
    }
    let mechanisms = Section::new("Mechanisms").with(Block::Table(mechanism_table(run)));
    let mut sections = vec![Section::answer(answer::of_run(run)), flows];
    sections.extend(topology_section(context));
    if let Some(series) = series {
        let flow_plots = FlowPlots::of_run(series);
        let mut plots = flow_plots.all(context.window_unit);
        plots.extend([queue_plot(series), link_plot(series)]);
        plots.extend(flow_plots.first_recovery());
        sections.push(plots_section("Over time", plots));
    }
    sections.push(links);
    if let Some(boxes) = table_with_rows(tables::proxy_table(run)) {
        sections.push(Section::new("Middleboxes").with(boxes));
    }
    sections.push(mechanisms);
    sections.extend(closing(context, &[("Results as JSON", to_json(run))]));
    let mut facts = source_fact(context);
    facts.extend([
        ("seed".to_owned(), run.seed.to_string()),
        ("scenario hash".to_owned(), run.scenario_hash.clone()),
        ("simulated".to_owned(), format!("{} s", run.duration_s)),
        ("version".to_owned(), run.version.clone()),
    ]);
    document(context, facts, sections)
}

/// The report of a comparison. `series` holds one run per variant, with its label, for the plots.
pub fn compare_document(
    comparison: &Comparison,
    series: &[(String, &SeriesSet)],
    context: &Context,
) -> Document {
    let [totals, parts @ .., links] = tables::comparison_tables(comparison);
    let mut side_by_side = Section::new("Side by side").with(Block::Table(totals));
    side_by_side.blocks.extend(parts.into_iter().filter_map(table_with_rows));
    let mut sections: Vec<_> =
        answer::of_comparison(comparison).map(Section::answer).into_iter().collect();
    sections.push(
        side_by_side.with(Block::Table(links)).with(Block::Text(format!(
            "Intervals are 95 % by Student's t over the runs{AMOUNTS}."
        ))),
    );
    sections.extend(topology_section(context));
    if !series.is_empty() {
        let plots = FlowPlots::overlaid(series).all(context.window_unit);
        sections.push(plots_section("Over time, one run each", plots));
    }
    sections.extend(closing(context, &[("Results as JSON", to_json(comparison))]));
    let mut facts = source_fact(context);
    facts.extend([
        ("varied".to_owned(), comparison.varied.clone()),
        ("first seed".to_owned(), comparison.identity.seed.to_string()),
        ("scenario hash".to_owned(), comparison.identity.scenario_hash.clone()),
        ("version".to_owned(), comparison.identity.version.clone()),
    ]);
    document(context, facts, sections)
}

/// The claims of a paper as JSON has them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PaperResults {
    /// The paper's short name.
    pub paper: String,
    /// Version of the program.
    pub version: String,
    /// Seed of the first run.
    pub seed: u64,
    /// What the paper says and what we found.
    pub claims: Vec<Claim>,
}

/// The report of a paper: how many of its claims hold, what is where, the claims, then `details`, its tables and
/// figures: those with plots first, plots before tables.
pub fn paper_document(
    results: &PaperResults,
    details: Vec<Section>,
    context: &Context,
) -> Document {
    let is_plot = |block: &Block| matches!(block, Block::Plot(_));
    let drawn = |section: &Section| section.blocks.iter().any(is_plot);
    let (mut figures, words): (Vec<_>, Vec<_>) = details.into_iter().partition(drawn);
    for section in &mut figures {
        section.blocks.sort_by_key(|block| !is_plot(block));
    }
    let answer = answer::of_claims(&results.claims).unwrap_or_default();
    let mut sections = vec![Section::answer(answer).with(Block::Contents)];
    sections.push(claims_section(&results.claims));
    sections.extend(figures);
    sections.extend(words);
    sections.extend(closing(context, &[("Claims as JSON", to_json(results))]));
    let mut facts = source_fact(context);
    facts.extend([
        ("first seed".to_owned(), results.seed.to_string()),
        ("version".to_owned(), results.version.clone()),
    ]);
    document(context, facts, sections)
}

/// The claims, how many of whose hold, and why the others do not.
fn claims_section(claims: &[Claim]) -> Section {
    let table = Block::Table(tables::claim_table(claims));
    let mut section = Section::new("Claims").with(table);
    section.blocks.push(Block::Text(RULE.to_owned()));
    let wanting = [Verdict::Differs, Verdict::Fails, Verdict::Undecided];
    let wanting = tables::claim_reasons(claims, &wanting);
    if !wanting.is_empty() {
        section.blocks.push(Block::Notes(wanting));
    }
    let holding = tables::claim_reasons(claims, &[Verdict::Holds]);
    if !holding.is_empty() {
        let (caption, text) = ("Of those that hold".to_owned(), holding.join("\n") + "\n");
        section.blocks.push(Block::Code { caption, text, open: false });
    }
    section
}

/// The files of a report: `report.html`, and every plot and picture below `plots/` as SVG and PNG. A plot
/// whose name is taken gets a number behind it.
pub fn document_files(document: &Document) -> Vec<OutputFile> {
    let mut files = vec![OutputFile::new("report.html", to_html(document))];
    let mut taken = BTreeSet::new();
    for plot in document.plots() {
        let id = file_name(&plot.id);
        let numbered = (2..).map(|number| format!("{id}-{number}"));
        let free = std::iter::once(id.clone()).chain(numbered);
        let name = free.into_iter().find(|name| taken.insert(name.clone())).unwrap_or(id);
        files.push(OutputFile::new(format!("plots/{name}.svg"), plot.to_svg()));
        files.push(OutputFile::new(format!("plots/{name}.png"), plot.to_png()));
    }
    for picture in document.pictures() {
        let name = file_name(&picture.id);
        files.push(OutputFile::new(format!("plots/{name}.svg"), picture.to_svg()));
        files.push(OutputFile::new(format!("plots/{name}.png"), picture.to_png()));
    }
    files
}

/// `id` with what does not belong into a file name replaced by `-`.
fn file_name(id: &str) -> String {
    id.chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' })
        .collect()
}

/// Every file of a run: those of its report, `summary.json`, and the CSV files.
pub fn run_files(
    run: &RunSummary,
    series: Option<&SeriesSet>,
    document: &Document,
) -> Vec<OutputFile> {
    let mut files = document_files(document);
    files.push(OutputFile::new("summary.json", to_json(run)));
    files.extend(summary_csv(run));
    files.extend(series.map(series_csv).unwrap_or_default());
    files
}

fn document(context: &Context, facts: Vec<(String, String)>, sections: Vec<Section>) -> Document {
    let (title, purpose) = (context.title.clone(), context.purpose.clone());
    Document { title, purpose, facts, sections }
}

/// The network as a picture, if there is one to be drawn.
fn topology_section(context: &Context) -> Option<Section> {
    let picture = context.topology.as_ref()?.picture()?;
    Some(Section::new("Topology").with(Block::Picture(picture)))
}

fn plots_section(heading: &str, plots: Vec<Plot>) -> Section {
    let blocks = plots.into_iter().map(Block::Plot).collect();
    Section { heading: heading.to_owned(), blocks }
}

fn source_fact(context: &Context) -> Vec<(String, String)> {
    match context.source.as_str() {
        "" => Vec::new(),
        source => vec![("source".to_owned(), source.to_owned())],
    }
}

pub(crate) fn table_with_rows(table: Table) -> Option<Block> {
    (!table.rows.is_empty()).then_some(Block::Table(table))
}

/// Notes, the scenario and raw results, at the end of every report.
fn closing(context: &Context, raw: &[(&str, String)]) -> Vec<Section> {
    let mut sections = Vec::new();
    if !context.notes.is_empty() {
        sections.push(Section::new("Notes").with(Block::Notes(context.notes.clone())));
    }
    let mut data = Section::new("To do it again");
    if !context.scenario_text.is_empty() {
        let (caption, text) = ("Scenario".to_owned(), context.scenario_text.clone());
        data.blocks.push(Block::Code { caption, text, open: true });
    }
    for (caption, text) in raw {
        let (caption, text) = ((*caption).to_owned(), text.clone());
        data.blocks.push(Block::Code { caption, text, open: false });
    }
    sections.push(data);
    sections
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plots_of_one_name_become_files_of_their_own_inside_the_folder() {
        let block = || Block::Plot(Plot::new("../fig 2", "Figure 2", "x", "y"));
        let section = Section::new("Figures").with(block()).with(block());
        let document = Document { sections: vec![section], ..Document::default() };
        let files = document_files(&document);
        let names: Vec<_> = files.iter().map(|file| file.path.display().to_string()).collect();
        assert_eq!(
            names,
            [
                "report.html",
                "plots/..-fig-2.svg",
                "plots/..-fig-2.png",
                "plots/..-fig-2-2.svg",
                "plots/..-fig-2-2.png"
            ]
        );
    }
}
