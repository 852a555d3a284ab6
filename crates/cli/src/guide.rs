//! `ackord guide`: what a mechanism does, with runs that show it.

use crate::completions;
use crate::console::Console;
use crate::errors::Failure;
use crate::input::OutputArguments;
use crate::interrupt::Interrupt;
use crate::progress::Meter;
use ackord_report::document::Document;
use ackord_report::{OutputFile, data, document_files, to_markdown};
use ackord_study::guide::{self, Entry, FAMILIES, GuideError, Guided};
use clap::Args;
use clap_complete::ArgValueCompleter;
use serde::Serialize;
use std::collections::BTreeSet;

/// Explain a mechanism: the idea, and runs that show where it helps and where it hurts
///
/// Every number comes from runs made now, with the command that repeats them beside it. Without a
/// name, lists what there is; a family's name (ack, loss, congestion ..) explains all its members.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct GuideArguments {
    /// A mechanism or a family
    #[arg(add = ArgValueCompleter::new(completions::guided))]
    name: Option<String>,
    /// Write a page of Markdown per family, and the pictures, into this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["out", "json", "name"])]
    pages: Option<std::path::PathBuf>,
    #[command(flatten)]
    output: OutputArguments,
}

const EXAMPLES: &str = "\
Examples:
  ackord guide
  ackord guide delayed
  ackord guide congestion --out out/congestion
  ackord guide --pages docs/guide";

/// Where the pages' pictures are, beside them.
const PICTURES: &str = "pictures";

pub(crate) fn guide(arguments: &GuideArguments, console: &Console) -> Result<(), Failure> {
    if let Some(folder) = &arguments.pages {
        let files = pages(&guided(guide::entries().collect())?);
        ackord_report::write_all(folder, &files)?;
        return Ok(());
    }
    let Some(name) = &arguments.name else {
        let index = guide::index_document();
        arguments.output.check()?;
        return arguments.output.print(&index, console);
    };
    let entries = named(name)?;
    arguments.output.check()?;
    let guided = guided(entries)?;
    let documents: Vec<Document> = guided.iter().map(guide::document).collect();
    for document in &documents {
        let folder = if documents.len() > 1 { document.title.as_str() } else { "" };
        arguments.output.write_files(folder, console, || document_files(document))?;
    }
    let results: Vec<_> = guided.iter().map(Told::of).collect();
    arguments.output.write_json(&data::to_json(&results), console)?;
    documents.iter().try_for_each(|document| arguments.output.print(document, console))
}

/// The entries of this mechanism or family.
fn named(name: &str) -> Result<Vec<&'static Entry>, Failure> {
    let found: Vec<_> =
        guide::entries().filter(|entry| entry.name == name || entry.family == name).collect();
    if found.is_empty() {
        let known: BTreeSet<_> =
            guide::entries().flat_map(|entry| [entry.name, entry.family]).collect();
        let known = known.into_iter().map(str::to_owned).collect();
        return Err(Failure::unknown_name("mechanism or family", name, known));
    }
    Ok(found)
}

fn guided(entries: Vec<&'static Entry>) -> Result<Vec<Guided>, Failure> {
    let interrupt = Interrupt::listen()?;
    let meter = Meter::begin("guide");
    let count = entries.len() as f64;
    let mut guided = Vec::new();
    for (number, entry) in entries.into_iter().enumerate() {
        let measured = guide::measure(entry, &|share| {
            meter.at((number as f64 + share) / count);
            interrupt.check()
        });
        match measured {
            Ok(measured) => guided.push(measured),
            Err(GuideError::Interrupted) => return Err(Failure::Interrupted),
            Err(GuideError::Run(error)) => return Err(error.into()),
            Err(error) => return Err(Failure::Guide(error)),
        }
    }
    meter.end();
    Ok(guided)
}

/// A page per family, the table of contents, the pictures.
fn pages(guided: &[Guided]) -> Vec<OutputFile> {
    let mut files = Vec::new();
    let mut contents = to_markdown(&guide::index_document(), PICTURES);
    contents.push_str("\nThe pages, one per family:\n\n");
    for (family, decides) in FAMILIES {
        let members: Vec<Guided> =
            guided.iter().filter(|guided| guided.entry.family == *family).cloned().collect();
        let page = guide::page_document(family, &members);
        files.push(OutputFile::new(format!("{family}.md"), to_markdown(&page, PICTURES)));
        contents.push_str(&format!("- [{decides}]({family}.md)\n"));
    }
    files.push(OutputFile::new("README.md", contents));
    files.extend(guided.iter().map(|guided| {
        let path = format!("{PICTURES}/{}.svg", guided.plot.id);
        OutputFile::new(path, guided.plot.to_svg())
    }));
    files
}

/// An entry for other programs.
#[derive(Serialize)]
struct Told {
    mechanism: &'static str,
    family: &'static str,
    idea: String,
    cases: Vec<ToldCase>,
}

#[derive(Serialize)]
struct ToldCase {
    effect: &'static str,
    when: &'static str,
    metric: &'static str,
    unit: &'static str,
    without: f64,
    with: f64,
    without_ci95: Option<f64>,
    with_ci95: Option<f64>,
    runs: u32,
    command: String,
}

impl Told {
    fn of(guided: &Guided) -> Told {
        let cases = guided.entry.cases.iter().zip(&guided.cases).map(|(case, measured)| ToldCase {
            effect: case.effect.heading(),
            when: case.when,
            metric: case.metric.name,
            unit: case.metric.unit(),
            without: measured.values[0].mean,
            with: measured.values[1].mean,
            without_ci95: measured.values[0].ci95,
            with_ci95: measured.values[1].ci95,
            runs: case.runs,
            command: case.setup.command(case.runs),
        });
        Told {
            mechanism: guided.entry.name,
            family: guided.entry.family,
            idea: guided.entry.idea.split_whitespace().collect::<Vec<_>>().join(" "),
            cases: cases.collect(),
        }
    }
}
