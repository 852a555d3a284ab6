//! A paper, how it is reproduced, and what comes out.

use ackord_measure::Claim;
use ackord_report::OutputFile;
use ackord_report::document::{Document, Table};
use ackord_scenario::Errors;
use ackord_study::{Effort, ExecuteError, Journal};
use std::ops::ControlFlow;

pub use ackord_study::Watch;

/// A paper that can be reproduced.
#[derive(Clone, Copy, Debug)]
pub struct Paper {
    /// What a user writes.
    pub name: &'static str,
    /// Its title.
    pub title: &'static str,
    /// Its authors.
    pub authors: &'static str,
    /// When it appeared; nothing where its text does not say.
    pub year: Option<u16>,
    /// Where it appeared.
    pub venue: &'static str,
    /// What is reproduced of it, in a line.
    pub summary: &'static str,
    pub(crate) reproduce: fn(Options<'_>, &Watch<'_>) -> Result<PaperReport, PaperError>,
    /// The claims of its last full reproduction that was kept: `make papers`.
    pub(crate) kept: &'static str,
}

/// How to reproduce.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// How thoroughly.
    pub effort: Effort,
    /// Where finished runs are kept, for papers of many runs.
    pub journal: Option<&'a Journal>,
}

/// What came out.
#[derive(Clone, Debug)]
pub struct PaperReport {
    /// For people: claims, tables, figures, scenarios.
    pub document: Document,
    /// For programs: `claims[]`, and every table as data. Ends with a line break.
    pub json: String,
    /// What the paper says and what we found.
    pub claims: Vec<Claim>,
    /// The tables by name, as they stand in the document and in the CSV files.
    pub tables: Vec<(&'static str, Table)>,
    /// Everything to be written: the report, its plots, the tables as CSV, the JSON.
    pub files: Vec<OutputFile>,
}

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// A scenario of the paper is not sound: a defect of this project.
    #[error(transparent)]
    Scenario(#[from] Errors),
    /// A run went wrong: a defect of this project.
    #[error(transparent)]
    Run(#[from] ExecuteError),
    /// The caller stopped it; there are no half-finished papers.
    #[error("interrupted")]
    Interrupted,
}

/// For reproductions that nobody watches.
pub fn unwatched(_: f64) -> ControlFlow<()> {
    ControlFlow::Continue(())
}
