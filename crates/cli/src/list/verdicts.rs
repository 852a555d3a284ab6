//! `ackord list verdicts`: what came of the claims of every paper in its last full reproduction.

use ackord_measure::{Claim, Claimant, Verdict};
use ackord_papers::{Paper, kept_claims};
use ackord_report::document::{Block, Cell, Column, Document, Section, Table};
use ackord_report::tables::{claim_reasons, claim_table, verdicts_of};
use serde::Serialize;

/// A paper and its claims as they were judged.
#[derive(Serialize)]
pub(super) struct Judged {
    paper: &'static str,
    claims: Vec<Claim>,
}

pub(super) fn of(papers: &[&'static Paper]) -> Vec<Judged> {
    papers.iter().map(|paper| Judged { paper: paper.name, claims: kept_claims(paper) }).collect()
}

/// How many claims of each paper have which verdict; of a single paper every claim.
pub(super) fn document(judged: &[Judged]) -> Document {
    let mut section = Section::new("Claims by verdict").with(Block::Table(counts(judged)));
    if let [one] = judged {
        section.blocks.push(Block::Table(claim_table(&one.claims)));
        section.blocks.push(Block::Notes(claim_reasons(&one.claims, &Verdict::ALL)));
    }
    Document { sections: vec![section], ..Document::default() }
}

fn counts(judged: &[Judged]) -> Table {
    let mut columns = vec![Column::words("paper"), Column::words("claims by")];
    columns.extend(Verdict::ALL.map(|verdict| Column::numbers(verdict.name(), "")));
    let mut rows = Vec::new();
    for Judged { paper, claims } in judged {
        for by in [Claimant::Paper, Claimant::Project] {
            let counts = verdicts_of(claims, by);
            if counts.iter().sum::<usize>() > 0 {
                let mut row = vec![Cell::text(*paper), Cell::text(by.name())];
                row.extend(counts.map(|count| Cell::Count(count as u64)));
                rows.push(row);
            }
        }
    }
    Table { caption: String::new(), columns, rows }
}
