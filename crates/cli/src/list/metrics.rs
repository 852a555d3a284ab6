//! `ackord list metrics`: every quantity of results, read off its declaration.

use crate::errors::Failure;
use ackord_measure::{
    FLOW_METRICS, LINK_METRICS, Metric, PROXY_METRICS, QUEUE_METRICS, RUN_METRICS, TRANSFER_METRICS,
};
use ackord_report::document::{Block, Document, Section};
use ackord_report::table;
use serde::Serialize;

/// A metric, or a part of JSON that is no number.
#[derive(Serialize)]
pub(super) struct Entry {
    of: &'static str,
    name: &'static str,
    about: String,
    /// Where tables have it under another name or in another unit.
    shown_as: Vec<String>,
}

/// Returns every quantity, table by table.
fn entries() -> Vec<Entry> {
    let mut all = of("run", RUN_METRICS);
    all.extend(of("flow", FLOW_METRICS));
    all.extend(of("transfer", TRANSFER_METRICS));
    all.extend(of("link", LINK_METRICS));
    all.extend(of("queue", QUEUE_METRICS));
    all.extend(of("box", PROXY_METRICS));
    all
}

/// Returns every name with what it means.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, String)> {
    entries().into_iter().map(|entry| (entry.name, entry.about))
}

pub(super) fn named(name: Option<&str>) -> Result<Vec<Entry>, Failure> {
    let mut all = entries();
    let Some(name) = name else { return Ok(all) };
    let known = all.iter().map(|entry| entry.name.to_owned()).collect();
    all.retain(|entry| entry.name == name || entry.of == name);
    if all.is_empty() { Err(Failure::unknown_name("metric", name, known)) } else { Ok(all) }
}

fn of<T>(whose: &'static str, metrics: &'static [Metric<T>]) -> Vec<Entry> {
    let entry = |metric: &'static Metric<T>| {
        let headings = metric.places.iter().filter_map(|place| place.heading);
        let mut shown_as: Vec<String> = headings
            .map(|heading| match metric.unit.name {
                "" => heading.to_owned(),
                unit => format!("{heading} ({unit})"),
            })
            .collect();
        shown_as.dedup();
        Entry { of: whose, name: metric.key, about: metric.about.trim().to_owned(), shown_as }
    };
    metrics.iter().filter(|metric| !metric.about.is_empty()).map(entry).collect()
}

pub(super) fn document(entries: &[Entry]) -> Document {
    let table = table!(entries, |entry| [
        words("of") => entry.of,
        words("name") => entry.name,
        words("what it is") => &entry.about,
        words("shown as") => entry.shown_as.join(", "),
    ]);
    let heading = "What results have, in JSON and CSV by these names";
    let sections = vec![Section::new(heading).with(Block::Table(table))];
    Document { title: "Metrics".to_owned(), sections, ..Document::default() }
}
