//! `ackord list`: mechanisms with their knobs, profiles, scenarios, papers and their verdicts.

mod metrics;
mod profiles;
mod verdicts;

use crate::console::Console;
use crate::errors::Failure;
use ackord_papers::{Paper, papers};
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::{data, table, to_terminal};
use ackord_scenario::ScenarioFile;
use ackord_study::mechanisms::{MechanismEntry, mechanism_document, mechanisms};
use ackord_units::Mechanism;
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::collections::BTreeSet;

/// List what there is to choose from
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ListArguments {
    /// What to list
    what: What,
    /// Only this one; of mechanisms also a whole family, such as `congestion` or `queue`
    name: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const EXAMPLES: &str = "\
Examples:
  ackord list mechanisms
  ackord list mechanisms vegas
  ackord list scenarios --json";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum What {
    /// Congestion controls, loss detection, recovery, ACK policies, queues ... with their knobs
    Mechanisms,
    /// Whole TCP stacks by name: rfc, linux, ns2
    Profiles,
    /// Built-in scenarios
    Scenarios,
    /// What results have: every quantity with its meaning; of a run, flow, link ... by name
    Metrics,
    /// Papers that are reproduced
    Papers,
    /// What came of the claims of each paper in its last full reproduction; of a paper by name, each claim
    Verdicts,
}

pub(crate) fn list(arguments: &ListArguments, console: &Console) -> Result<(), Failure> {
    let name = arguments.name.as_deref();
    let (document, json) = match arguments.what {
        What::Mechanisms => {
            let mechanisms = mechanisms_named(name)?;
            let entries: Vec<_> = mechanisms.iter().map(|m| MechanismEntry::of(m)).collect();
            (mechanism_document(&mechanisms), data::to_json(&entries))
        }
        What::Profiles => {
            let profiles = profiles::named(name)?;
            (profiles::document(&profiles), data::to_json(&profiles))
        }
        What::Scenarios => {
            let scenarios = scenarios_named(name)?;
            (scenario_document(&scenarios), data::to_json(&scenarios))
        }
        What::Metrics => {
            let metrics = metrics::named(name)?;
            (metrics::document(&metrics), data::to_json(&metrics))
        }
        What::Papers => {
            let papers = paper_entries(&papers_named(name)?);
            (paper_document(&papers), data::to_json(&papers))
        }
        What::Verdicts => {
            let judged = verdicts::of(&papers_named(name)?);
            (verdicts::document(&judged), data::to_json(&judged))
        }
    };
    let text = if arguments.json { json } else { to_terminal(&document, console.screen()) };
    Ok(console.print(&text)?)
}

fn mechanisms_named(name: Option<&str>) -> Result<Vec<&'static Mechanism>, Failure> {
    let Some(name) = name else { return Ok(mechanisms()) };
    let found: Vec<_> =
        mechanisms().into_iter().filter(|m| m.name == name || m.family == name).collect();
    if found.is_empty() {
        let known: BTreeSet<_> = mechanisms().iter().flat_map(|m| [m.family, m.name]).collect();
        let known = known.into_iter().map(str::to_owned).collect();
        return Err(Failure::unknown_name("mechanism or family", name, known));
    }
    Ok(found)
}

#[derive(Serialize)]
struct ScenarioEntry {
    name: &'static str,
    purpose: String,
    source: String,
    hosts_and_routers: usize,
    links: usize,
    flows: usize,
    duration_s: f64,
    seed: u64,
    scenario_hash: String,
}

fn scenarios_named(name: Option<&str>) -> Result<Vec<ScenarioEntry>, Failure> {
    let mut entries = Vec::new();
    for (known, text) in ackord_scenario::library() {
        if name.is_some_and(|name| name != known) {
            continue;
        }
        let scenario = ScenarioFile::new(known, text).check()?;
        entries.push(ScenarioEntry {
            name: known,
            hosts_and_routers: scenario.nodes.len(),
            links: scenario.links.len(),
            flows: scenario.flows.len(),
            duration_s: scenario.duration.as_secs_f64(),
            seed: scenario.seed,
            scenario_hash: scenario.hash(),
            purpose: scenario.purpose,
            source: scenario.source,
        });
    }
    match name {
        Some(name) if entries.is_empty() => {
            let known = ackord_scenario::library().map(|(name, _)| name.to_owned()).collect();
            Err(Failure::unknown_name("library scenario", name, known))
        }
        _ => Ok(entries),
    }
}

fn scenario_document(scenarios: &[ScenarioEntry]) -> Document {
    one_table(
        ["Scenarios", "Run one with: ackord run NAME"],
        table!(scenarios.iter(), |entry| [
            words("name") => entry.name,
            numbers("flows", "") => entry.flows as u64,
            numbers("duration", "s") => entry.duration_s.to_string(),
            words("purpose") => &entry.purpose,
            words("source") => &entry.source,
        ]),
    )
}

#[derive(Serialize)]
struct PaperEntry {
    name: &'static str,
    title: &'static str,
    authors: &'static str,
    /// Null where its text does not say.
    year: Option<u16>,
    venue: &'static str,
    summary: &'static str,
}

fn papers_named(name: Option<&str>) -> Result<Vec<&'static Paper>, Failure> {
    let chosen: Vec<_> =
        papers().iter().filter(|paper| name.is_none_or(|name| paper.name == name)).collect();
    if let (Some(name), true) = (name, chosen.is_empty()) {
        let known = papers().iter().map(|paper| paper.name.to_owned()).collect();
        return Err(Failure::unknown_name("paper", name, known));
    }
    Ok(chosen)
}

fn paper_entries(papers: &[&'static Paper]) -> Vec<PaperEntry> {
    let entry = |paper: &Paper| {
        let Paper { name, title, authors, year, venue, summary, .. } = *paper;
        PaperEntry { name, title, authors, year, venue, summary }
    };
    papers.iter().copied().map(entry).collect()
}

fn paper_document(papers: &[PaperEntry]) -> Document {
    let columns = ["name", "paper", "what is reproduced"].into_iter().map(Column::words);
    let rows = papers.iter().map(|entry| {
        let PaperEntry { title, authors, year, venue, .. } = entry;
        let year = year.map(|year| format!(" {year}")).unwrap_or_default();
        let reference = format!("{authors}{year}: {title}. {venue}");
        vec![Cell::text(entry.name), Cell::text(reference), Cell::text(entry.summary)]
    });
    let columns = columns.collect();
    one_table(
        ["Papers", "Reproduce one with: ackord paper NAME"],
        Table { caption: String::new(), columns, rows: rows.collect() },
    )
}

fn one_table([title, heading]: [&str; 2], table: Table) -> Document {
    let section = Section::new(heading).with(Block::Table(table));
    Document { title: title.to_owned(), sections: vec![section], ..Document::default() }
}
