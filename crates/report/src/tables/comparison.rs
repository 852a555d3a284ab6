//! The tables of a comparison: its variants, their flows, links and boxes.

use super::sheet::{columns, intervals};
use crate::document::{Cell, Column, Table};
use ackord_measure::{
    Comparison, FLOW_METRICS, FlowEstimates, LINK_METRICS, LinkEstimates, PROXY_METRICS,
    QUEUE_METRICS, RUN_METRICS, Sheet, VariantSummary,
};

/// Every table, that of the links last.
pub(crate) fn comparison_tables(comparison: &Comparison) -> [Table; 7] {
    let flows = |word, sheet, there: fn(&FlowEstimates) -> bool| {
        let row = |variant: &VariantSummary| {
            let there = variant.flows.iter().filter(|flow| there(flow));
            let row = |flow: &FlowEstimates| {
                let metrics = intervals(FLOW_METRICS, sheet, |key| flow.estimate(key));
                (flow.name.clone(), metrics.collect())
            };
            there.map(row).collect()
        };
        side_by_side(comparison, word, columns(FLOW_METRICS, sheet).collect(), row)
    };
    let is_connection = |flow: &FlowEstimates| flow.datagrams.is_none();
    [
        totals(comparison),
        flows("flow", Sheet::FlowsSideBySide, is_connection),
        flows("flow", Sheet::TransfersSideBySide, |flow| flow.transfers.is_some()),
        flows("datagrams", Sheet::DatagramsSideBySide, |flow| flow.datagrams.is_some()),
        flows("flow", Sheet::OutagesSideBySide, |flow| {
            flow.outages.is_some() || flow.early_acks.is_some()
        }),
        boxes(comparison),
        links(comparison),
    ]
}

/// Rows of the things that each variant has.
fn side_by_side(
    comparison: &Comparison,
    word: &str,
    metrics: Vec<Column>,
    things: impl Fn(&VariantSummary) -> Vec<(String, Vec<Cell>)>,
) -> Table {
    let rows = comparison.variants.iter().flat_map(|variant| {
        let row = |(name, cells): (String, Vec<Cell>)| {
            [Cell::text(&variant.label), Cell::text(name)].into_iter().chain(cells).collect()
        };
        things(variant).into_iter().map(row)
    });
    let words = [&*comparison.varied, word].map(Column::words);
    let columns = words.into_iter().chain(metrics).collect();
    Table { caption: String::new(), columns, rows: rows.collect() }
}

/// The variants as wholes.
fn totals(comparison: &Comparison) -> Table {
    let sheet = Sheet::RunsSideBySide;
    let mut all = vec![Column::words(&comparison.varied), Column::numbers("runs", "")];
    all.extend(columns(RUN_METRICS, sheet));
    let row = |variant: &VariantSummary| {
        let words = [Cell::text(&variant.label), Cell::Count(u64::from(variant.runs))];
        let metrics = intervals(RUN_METRICS, sheet, |key| variant.estimates.of(key));
        words.into_iter().chain(metrics).collect()
    };
    let rows = comparison.variants.iter().map(row).collect();
    Table { caption: String::new(), columns: all, rows }
}

fn boxes(comparison: &Comparison) -> Table {
    let sheet = Sheet::BoxesSideBySide;
    side_by_side(comparison, "box", columns(PROXY_METRICS, sheet).collect(), |variant| {
        let boxes = variant.proxies.iter().map(|proxy| {
            let metrics = intervals(PROXY_METRICS, sheet, |key| proxy.estimates.of(key));
            (proxy.name.clone(), metrics.collect())
        });
        boxes.collect()
    })
}

/// Links without a delay (nothing entered) are left out.
fn links(comparison: &Comparison) -> Table {
    let sheet = Sheet::LinksSideBySide;
    let all = columns(LINK_METRICS, sheet).chain(columns(QUEUE_METRICS, sheet)).collect();
    side_by_side(comparison, "link", all, |variant| {
        let entered = |link: &&LinkEstimates| link.estimates.of("mean_delay_ms").is_some();
        let links = variant.links.iter().filter(entered).map(|link| {
            let of = |key: &str| link.estimates.of(key);
            let metrics = intervals(LINK_METRICS, sheet, of);
            (link.name.clone(), metrics.chain(intervals(QUEUE_METRICS, sheet, of)).collect())
        });
        links.collect()
    })
}
