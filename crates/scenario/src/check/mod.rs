//! A document into a [`Scenario`], with every error found on the way.
//!
//! | file | what |
//! | --- | --- |
//! | `reader.rs` | a table's keys: unknown, missing, and values of the plain kinds |
//! | `report.rs` | what is found wrong |
//! | `choice.rs` | mechanisms and their knobs |
//! | `tcp.rs` | `tcp` tables: the five choices and the endpoint, layer over layer |
//! | `names.rs` | hosts, routers, groups; expanding `*` |
//! | `links.rs`, `proxies.rs`, `flows.rs` | what their names say |
//! | `written.rs` | the file without its overrides |
//! | `direction.rs`, `trace.rs` | what a direction of a link is made of |
//!
//! A part that cannot be made out is reported once and then passed over, so that one mistake does
//! not bring forth errors that go away with it.

pub(crate) mod choice;
mod direction;
mod flows;
mod links;
pub(crate) mod name_set;
pub(crate) mod names;
mod profile;
mod proxies;
pub(crate) mod reader;
pub(crate) mod report;
mod tcp;
mod trace;
mod written;

use crate::document::{Item, Place, Table, Value};
use crate::error::Problem;
use crate::keys;
use crate::model::{Capture, Record, Scenario};
use crate::overrides::Replaced;
use reader::{Field, Reader};
use report::Report;
use std::path::Path;

pub(crate) use flows::flow_name;
pub(crate) use links::link_name;
pub(crate) use proxies::proxy_name;

/// Checks a whole document, whose files are in `folder`; `written` is the document without its overrides, where it has
/// some. Returns the scenario, and the settings that overrides replaced by naming another mechanism.
pub(crate) fn check(
    document: Table,
    written: Option<Table>,
    folder: Option<&Path>,
) -> Result<(Scenario, Vec<Replaced>), Vec<Problem>> {
    let folder = folder.map(Path::to_owned);
    let mut report = Report { folder, written: written.map(whole), ..Report::default() };
    let item = whole(document);
    let scenario = file(&mut report, &item);
    match scenario {
        Some(scenario) if report.problems.is_empty() => Ok((scenario, report.replaced)),
        _ => Err(report.problems),
    }
}

/// A document as the value that it is.
pub fn whole(document: Table) -> Item {
    Item::new(Place::File, Value::Table(document))
}

fn file(report: &mut Report, item: &Item) -> Option<Scenario> {
    let root = Reader::new(report, item, String::new(), keys::FILE, "a scenario")?;
    let version = root.integer(report, "version");
    let name = root.name(report, "name");
    let purpose = root.prose(report, "purpose").unwrap_or_default();
    let source = root.prose(report, "source").unwrap_or_default();
    let seed = root.integer(report, "seed").unwrap_or(Scenario::DEFAULT_SEED);
    let duration = root.positive_span(report, "duration");

    let nodes = names::nodes(report, &root);
    let base = tcp::base(report, &root);
    let drafts = flows::drafts(report, &root, &nodes);
    let links = links::links(report, &root, &nodes, &drafts.names());
    let flows = flows::flows(
        report,
        &drafts,
        &flows::Context { nodes: &nodes, base: &base, duration, links: links.complete() },
    );
    let proxies = proxies::proxies(report, &root, &nodes, &links, &drafts.names());
    let record = record(report, &root, &links);

    Some(Scenario {
        version: u32::try_from(version?).ok()?,
        name: name?,
        purpose,
        source,
        seed,
        duration: duration?,
        nodes: nodes.into_nodes(),
        links: links.into_links(),
        proxies,
        flows,
        record: record?,
    })
}

fn record(report: &mut Report, root: &Reader<'_>, links: &links::Links) -> Option<Record> {
    let default = Record { series: Record::DEFAULT_SERIES, captures: Vec::new() };
    let Some(field) = root.get("record") else { return Some(default) };
    let reader = Reader::new(report, field.item, field.path, keys::RECORD, "`record`")?;
    let series = reader.positive_span(report, "series").unwrap_or(default.series);
    let mut captures: Vec<Capture> = Vec::new();
    for field in reader.list(report, "captures", "a list of link names") {
        if let Some(name) = field.text(report, "the name of a link") {
            captures.extend(links.captures(report, &field, name));
        }
    }
    captures.sort();
    captures.dedup();
    Some(Record { series, captures })
}

/// The path of an element of a list: by its name where it has one, else by its number.
fn element_path(field: &Field<'_>, name: Option<&str>) -> String {
    match (name, field.path.rsplit_once('.')) {
        (Some(name), Some((list, _))) => reader::join(list, name),
        _ => field.path.clone(),
    }
}
