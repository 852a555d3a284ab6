//! Entries as documents: one by itself, a family as a page, and the table of contents.

use super::entries::{FAMILIES, entries};
use super::entry::{Case, Entry, WORTH};
use super::measure::{Guided, Measured};
use ackord_measure::stats::Estimate;
use ackord_report::document::{Block, Cell, Document, Section, Table};
use ackord_report::table;

/// One mechanism by itself.
pub fn document(guided: &Guided) -> Document {
    Document {
        title: format!("{} ({})", guided.entry.name, guided.entry.family),
        purpose: guided.entry.idea.to_owned(),
        sections: vec![Section { heading: "In runs".to_owned(), blocks: blocks(guided) }],
        ..Document::default()
    }
}

/// A family: what it decides, and every mechanism of it.
pub fn page_document(family: &str, members: &[Guided]) -> Document {
    let decides = FAMILIES.iter().find(|(name, _)| *name == family).map_or("", |(_, text)| text);
    let section = |guided: &Guided| {
        let idea = Block::Text(guided.entry.idea.to_owned());
        let blocks = [idea].into_iter().chain(blocks(guided)).collect();
        Section { heading: guided.entry.name.to_owned(), blocks }
    };
    Document {
        title: decides.to_owned(),
        purpose: format!(
            "Each number is the mean of the runs that the command beside it makes, with its 95 % \
             interval. A difference of less than {:.0} %, or within the intervals, counts as \
             nothing.",
            100.0 * WORTH
        ),
        sections: members.iter().map(section).collect(),
        ..Document::default()
    }
}

/// What the guide has, family by family.
pub fn index_document() -> Document {
    let section = |&(family, decides): &(&str, &str)| {
        let table = table!(entries().filter(|entry| entry.family == family), |entry| [
            words("name") => entry.name,
            words("idea") => one_line(entry),
        ]);
        Section::new(&format!("{decides} ({family})")).with(Block::Table(table))
    };
    Document {
        title: "Mechanism guide".to_owned(),
        purpose:
            "For each mechanism the idea, a picture, and runs that show where it helps, where \
                  it does nothing and where it hurts: ackord guide NAME"
                .to_owned(),
        sections: FAMILIES.iter().map(section).collect(),
        ..Document::default()
    }
}

/// The first sentence.
fn one_line(entry: &Entry) -> String {
    let idea = entry.idea.split_whitespace().collect::<Vec<_>>().join(" ");
    match idea.split_once(". ") {
        Some((first, _)) => format!("{first}."),
        None => idea,
    }
}

fn blocks(guided: &Guided) -> Vec<Block> {
    let mut blocks = vec![Block::Plot(guided.plot.clone())];
    let drawn = guided.entry.picture.setup.command(1);
    blocks.push(command("The picture is of the first run of", &drawn));
    for (case, measured) in guided.entry.cases.iter().zip(&guided.cases) {
        blocks.push(Block::Text(format!("{} {}", case.effect.heading(), case.when)));
        blocks.push(Block::Table(results(case, measured)));
        blocks.push(command("Shown by", &case.setup.command(case.runs)));
    }
    blocks
}

fn command(caption: &str, text: &str) -> Block {
    Block::Command { caption: caption.to_owned(), line: text.to_owned() }
}

fn results(case: &Case, measured: &Measured) -> Table {
    let [without, with] = case.setup.values;
    let changes = [String::new(), measured.change()];
    table!([without, with].into_iter().zip(measured.values).zip(changes), |((value, mean), change)| [
        words(case.setup.vary) => value,
        numbers(case.metric.name, case.metric.unit()) => cell(mean),
        numbers("change", "") => change,
    ])
}

fn cell(estimate: Estimate) -> Cell {
    Cell::Amount {
        mean: estimate.mean,
        half_width: estimate.ci95,
        decimals: ackord_report::document::decimals_for(estimate.mean),
    }
}
