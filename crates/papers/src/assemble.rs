//! A paper's report put together: the claims, the tables, the document, the files.

use super::PaperReport;
use ackord_measure::Claim;
use ackord_report::document::{Section, Table};
use ackord_report::tables::claims_in_full;
use ackord_report::{Context, OutputFile, PaperResults, data, document_files, paper_document};
use ackord_study::VERSION;
use serde::Serialize;

/// What a paper brings.
pub(super) struct Parts<D> {
    pub(super) paper: &'static str,
    pub(super) claims: Vec<Claim>,
    /// By name, as they stand in the document and in the CSV files.
    pub(super) tables: Vec<(&'static str, Table)>,
    pub(super) sections: Vec<Section>,
    pub(super) context: Context,
    /// Every table as data.
    pub(super) data: D,
    /// Tables too long for the document: CSV files only.
    pub(super) long_tables: Vec<(&'static str, Table)>,
}

#[derive(Serialize)]
struct Results<'a, D> {
    #[serde(flatten)]
    results: &'a PaperResults,
    tables: D,
}

impl<D: Serialize> Parts<D> {
    pub(super) fn report(self) -> PaperReport {
        let Parts { paper, claims, tables, sections, context, data: figures, long_tables } = self;
        let results = PaperResults {
            paper: paper.to_owned(),
            version: VERSION.to_owned(),
            seed: 1,
            claims: claims.clone(),
        };
        let document = paper_document(&results, sections, &context);
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
