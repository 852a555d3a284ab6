//! A diagnosis as one HTML page: tables that need nothing, and an interactive time-sequence graph in
//! their place where a browser runs what `make ui` built.
//!
//! | file | what |
//! | --- | --- |
//! | `page.rs` | the page: start here |
//! | `page/data.rs` | what it shows |
//! | `page/columns.rs` | packets in columns, as the page keeps them |
//! | `page/tables.rs` | the tables, as a [`Document`] |
//!
//! What draws is in `ui/`. Not modelled: more than two diagnoses over each other.

mod columns;
mod data;
mod tables;

use crate::document::{Block, Document};
use crate::html::{Page, page_to_html, sections_to_html};
use crate::interactive::{POLICY, SCRIPT, STYLE, for_script, interactive};
use ackord_diagnose::Diagnosis;
use columns::TraceColumns;
use serde::Serialize;
use tables::{Sections, diagnosis_sections};

pub use data::{PageData, PageDiagnosis};

/// What a page without its graph says.
const NOT_BUILT: &str =
    "This program was built without Node: no interactive graph; `make ui` builds what draws it.";
/// What a reader without scripts is told.
const NO_SCRIPT: &str =
    "The interactive graph needs a browser that runs scripts; these are the tables.";

/// As the page's script reads it (`ui/src/data.ts`).
#[derive(Serialize)]
struct Embedded<'a> {
    title: &'a str,
    version: &'a str,
    sets: Vec<EmbeddedSet<'a>>,
}

#[derive(Serialize)]
struct EmbeddedSet<'a> {
    label: &'a str,
    diagnosis: &'a Diagnosis,
    filters: &'a [String],
    traces: Vec<TraceColumns>,
}

/// The whole page. The same data give the same bytes; it asks for nothing from any network.
pub fn diagnosis_page(data: &PageData) -> String {
    if interactive() { drawn(data) } else { plain(data) }
}

/// The page without its script.
fn plain(data: &PageData) -> String {
    let (mut document, Sections { answer, connections, read }) = diagnosis_sections(data);
    document.sections = [answer, connections, read].concat();
    if let Some(first) = document.sections.first_mut() {
        first.blocks.insert(0, Block::Text(NOT_BUILT.to_owned()));
    }
    crate::to_html(&document)
}

fn drawn(data: &PageData) -> String {
    let (Document { title, purpose, facts, .. }, sections) = diagnosis_sections(data);
    let Sections { answer, connections, read } = sections;
    let head = Document { title, purpose, facts, sections: answer };
    let (replaced, read) = (sections_to_html(&connections), sections_to_html(&read));
    let body = format!(
        "<div id=\"ackord-connections\">\n<noscript><p>{NO_SCRIPT}</p></noscript>\n{replaced}</div>\n{read}"
    );
    let json = for_script(&embedded(data));
    page_to_html(
        &head,
        &Page {
            policy: POLICY,
            style: STYLE,
            body: &body,
            refresh_ms: None,
            end: &format!(
                "<script type=\"application/json\" id=\"ackord-data\">{json}</script>\n\
                 <script>{SCRIPT}</script>\n"
            ),
        },
    )
}

fn embedded<'a>(data: &PageData<'a>) -> Embedded<'a> {
    let sets = data.diagnoses.iter().map(|one| EmbeddedSet {
        label: one.label,
        diagnosis: one.diagnosis,
        filters: one.filters,
        traces: one.traces.iter().map(TraceColumns::of).collect(),
    });
    Embedded { title: data.title, version: data.version, sets: sets.collect() }
}
