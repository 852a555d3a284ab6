//! Turns summaries and series into what people and programs read. It computes no metric.
//!
//! | file | what |
//! | --- | --- |
//! | `reports.rs` | whole reports of runs, comparisons and papers, and their files: start here |
//! | `answer.rs` | what came out, in a sentence |
//! | `document.rs` | [`document::Document`], a report as data |
//! | `tables.rs`, `tables/` | the tables of runs, comparisons and papers |
//! | `mechanism_table.rs` | that of profiles and what differs from them |
//! | `fidelity.rs` | the report that sets the simulator beside the kernel |
//! | `live.rs`, `live/` | what a live run's report says besides |
//! | `plots.rs` | the plots of runs |
//! | `plot/` | drawing any [`plot::Plot`] as SVG and PNG |
//! | `terminal.rs`, `html.rs`, `markdown.rs` | a document on a terminal, as one HTML file, as Markdown |
//! | `interactive.rs` | what draws plots in a browser, where it was built |
//! | `segments.rs` | every segment of a flow in a few bytes, for the browser |
//! | `page.rs`, `page/` | a diagnosis as an interactive page |
//! | `data.rs` | JSON and CSV |
//! | `data_set/` | [`data_set`]: columns for programs that compute, as CSV and Parquet |
//! | `event_fields.rs` | [`event_fields`]: an event as fields of JSON |
//! | `event_log.rs` | [`EventLog`]: the events of a run as lines of JSON |
//! | `files.rs` | files written whole or not at all |
//! | `escape.rs` | text made safe for HTML and XML |
//!
//! The same input gives the same bytes. No clock is read: a report does not say when it was made.

mod answer;
pub mod data;
pub mod data_set;
pub mod document;
mod escape;
mod event_fields;
mod event_log;
mod fidelity;
mod files;
mod html;
mod interactive;
pub mod live;
mod markdown;
mod mechanism_table;
mod page;
pub mod plot;
pub mod plots;
mod reports;
mod segments;
pub mod tables;
mod terminal;

pub use event_fields::{EVENT_NAMES, event_fields, event_name};
pub use event_log::EventLog;
pub use fidelity::{FidelitySeries, fidelity_document, without_plots};
pub use files::{OutputFile, WriteError, write_all, write_one};
pub use html::{to_html, to_refreshing_html};
pub use interactive::interactive;
pub use markdown::to_markdown;
pub use page::{PageData, PageDiagnosis, diagnosis_page};
pub use reports::{
    AMOUNTS, Context, PaperResults, compare_document, document_files, paper_document, run_document,
    run_files,
};
pub use terminal::{Screen, table_to_terminal, to_terminal};
