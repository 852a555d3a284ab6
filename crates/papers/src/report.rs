//! A paper's report put together: claims, tables, sections, files.

use crate::claims::Stated;
use crate::plan::File;
use crate::reproduction::PaperReport;
use ackord_measure::Claim;
use ackord_report::document::{Block, Section, Table};
use ackord_report::plot::Plot;
use ackord_report::tables::claims_in_full;
use ackord_report::{Context, OutputFile, PaperResults, data, document_files, paper_document};
use ackord_study::VERSION;
use serde::Serialize;

/// A report that is being made.
#[derive(Default)]
pub(crate) struct Report {
    /// By name, as they stand in the document and in the CSV files.
    tables: Vec<(&'static str, Table)>,
    /// Too long for the document: CSV files only.
    long_tables: Vec<(&'static str, Table)>,
    sections: Vec<Section>,
}

#[derive(Serialize)]
struct Results<'a, D> {
    #[serde(flatten)]
    results: &'a PaperResults,
    tables: D,
}

impl Report {
    pub(crate) fn table(mut self, name: &'static str, table: Table) -> Report {
        self.tables.push((name, table));
        self
    }

    pub(crate) fn long_table(mut self, name: &'static str, table: Table) -> Report {
        self.long_tables.push((name, table));
        self
    }

    /// Begins a section.
    pub(crate) fn section(mut self, heading: &str) -> Report {
        self.sections.push(Section::new(heading));
        self
    }

    /// Shows tables by their names in the last section.
    pub(crate) fn show<const N: usize>(mut self, tables: [&str; N]) -> Report {
        for name in tables {
            let found = self.tables.iter().find(|(known, _)| *known == name);
            let (_, table) = found.unwrap_or_else(|| panic!("no table is called {name}"));
            let block = Block::Table(table.clone());
            self = self.block(block);
        }
        self
    }

    pub(crate) fn plots(self, plots: impl IntoIterator<Item = Plot>) -> Report {
        plots.into_iter().map(Block::Plot).fold(self, Report::block)
    }

    /// Scenario files, folded.
    pub(crate) fn files(self, files: &[File]) -> Report {
        files.iter().fold(self, |report, file| report.code(file.path, file.text))
    }

    pub(crate) fn code(self, caption: &str, text: &str) -> Report {
        let (caption, text) = (caption.to_owned(), text.to_owned());
        self.block(Block::Code { caption, text, open: false })
    }

    fn block(mut self, block: Block) -> Report {
        self.sections.last_mut().expect("a section has begun").blocks.push(block);
        self
    }

    /// The whole, with every table as `data`.
    pub(crate) fn finish<D: Serialize>(
        self,
        paper: &str,
        context: &Context,
        claims: Vec<Stated>,
        figures: D,
    ) -> PaperReport {
        let Report { tables, long_tables, sections } = self;
        let claims: Vec<Claim> = claims.into_iter().map(Stated::judged).collect();
        let results = PaperResults {
            paper: paper.to_owned(),
            version: VERSION.to_owned(),
            seed: 1,
            claims: claims.clone(),
        };
        let document = paper_document(&results, sections, context);
        let json = data::to_json(&Results { results: &results, tables: figures });
        let mut files = document_files(&document);
        let csv = |(name, table): &(&str, Table)| data::table_csv(&format!("{name}.csv"), table);
        files.extend(tables.iter().chain(&long_tables).map(csv));
        files.push(data::table_csv("claims.csv", &claims_in_full(&claims)));
        files.push(OutputFile::new("claims.json", data::to_json(&claims)));
        files.push(OutputFile::new("paper.json", json.clone()));
        PaperReport { document, json, claims, tables, files }
    }
}

/// What a paper's report says before its tables.
pub(crate) fn context(title: &str, purpose: &str, source: &str, notes: Vec<String>) -> Context {
    let (title, purpose, source) = (title.to_owned(), purpose.to_owned(), source.to_owned());
    Context { title, purpose, source, notes, ..Context::default() }
}
