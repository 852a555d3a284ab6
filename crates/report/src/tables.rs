//! The tables of runs, comparisons and papers.
//!
//! | file | what |
//! | --- | --- |
//! | `tables.rs` | of a run |
//! | `tables/sheet.rs` | any sheet of metrics as a table |
//! | `tables/comparison.rs` | of a comparison |
//! | `tables/claims.rs` | of a paper's claims |
//!
//! What has no rows did not happen in the run.

mod claims;
mod comparison;
mod sheet;
#[cfg(test)]
mod tests;

pub use claims::{claim_reasons, claim_table, claims_in_full, verdicts_of};
pub(crate) use comparison::comparison_tables;

use crate::document::{Cell, Column, Table};
use ackord_measure::{
    FLOW_METRICS, FlowSummary, LINK_METRICS, LinkSummary, PROXY_METRICS, QUEUE_METRICS,
    QueueSummary, RunSummary, Sheet,
};
use sheet::{cells, columns, table};

/// Up to so many flows a table lists them all; of more, the first so many.
const MOST_FLOWS: usize = 24;

/// Up to so many links a table lists them all; of more, those at which something happened.
const FEW_LINKS: usize = 4;

/// The tables of a run's flows.
pub(crate) fn flow_tables(run: &RunSummary) -> [Table; 6] {
    let connections = || run.flows.iter().filter(|flow| flow.datagrams.is_none());
    let all = || run.flows.iter();
    let named = |flow: &FlowSummary| vec![Cell::text(&flow.name)];
    let flows = |sheet, (flows, caption): (Vec<_>, String)| {
        table(
            &["flow"],
            FLOW_METRICS,
            sheet,
            flows.into_iter().map(|flow| (named(flow), flow)),
            caption,
        )
    };
    let (listed_flows, rest) = listed(connections());
    let achieved = listed_flows.into_iter().map(|flow| {
        let congestion = flow.mechanisms.get("congestion");
        (vec![Cell::text(&flow.name), congestion.map_or(Cell::Missing, |words| kind(words))], flow)
    });
    let (datagrams, more) = listed(all().filter(|flow| flow.datagrams.is_some()));
    let datagrams = datagrams.into_iter().map(|flow| (named(flow), flow));
    let (transfers, more_transfers) = listed(connections());
    let transfers = transfers.into_iter().filter(|flow| flow.transfers.is_some()).collect();
    let outages = "After the end of an outage; the rate is back at nine tenths of that of the \
                   second before.";
    let early = "The sender was told that these had arrived; the receiver did not have them.";
    let met = all().filter(|flow| !flow.outages.is_empty()).collect();
    let too_early = all().filter(|flow| flow.acknowledged_early_peak_bytes > 0).collect();
    [
        table(&["flow", "congestion"], FLOW_METRICS, Sheet::Flows, achieved, rest),
        flows(Sheet::Senders, listed(connections())),
        flows(Sheet::Transfers, (transfers, more_transfers)),
        table(&["datagrams"], FLOW_METRICS, Sheet::Datagrams, datagrams, more),
        flows(Sheet::Outages, (met, outages.to_owned())),
        flows(Sheet::EarlyAcks, (too_early, early.to_owned())),
    ]
}

/// The flows that a table lists, and a word on the rest.
fn listed<'a>(flows: impl Iterator<Item = &'a FlowSummary>) -> (Vec<&'a FlowSummary>, String) {
    let mut shown: Vec<_> = flows.collect();
    let rest = shown.len().saturating_sub(MOST_FLOWS);
    shown.truncate(MOST_FLOWS);
    let caption = match rest {
        0 => String::new(),
        rest => format!("{rest} more flows are in the JSON and CSV."),
    };
    (shown, caption)
}

/// A mechanism without its knobs, which the table of mechanisms has.
fn kind(mechanism: &str) -> Cell {
    Cell::text(mechanism.split(',').next().unwrap_or_default())
}

/// What each link carried and how its queue fared. Links nothing entered are left out, and where
/// there are many also those at which next to nothing happened.
pub(crate) fn link_table(run: &RunSummary) -> Table {
    let both = run.queues.iter().zip(&run.links);
    let used: Vec<_> =
        both.filter(|(queue, _)| queue.enqueued_packets + queue.dropped_packets > 0).collect();
    let all = used.len();
    let listed: Vec<_> = used
        .into_iter()
        .filter(|(queue, link)| all <= FEW_LINKS || is_worth_a_row(queue, link))
        .collect();
    let caption = match all - listed.len() {
        0 => String::new(),
        quiet => format!(
            "{quiet} more links lost nothing, queued for less than 0.1 ms and were less than half \
             used: they are in the JSON and CSV."
        ),
    };
    let rows = listed.into_iter().map(|(queue, link)| {
        let mut row = vec![Cell::text(&link.name), Cell::text(&queue.queue)];
        row.extend(cells(LINK_METRICS, Sheet::Links, link));
        row.extend(cells(QUEUE_METRICS, Sheet::Links, queue));
        row
    });
    let mut all = ["link", "queue"].map(Column::words).to_vec();
    all.extend(columns(LINK_METRICS, Sheet::Links));
    all.extend(columns(QUEUE_METRICS, Sheet::Links));
    Table { caption, columns: all, rows: rows.collect() }
}

fn is_worth_a_row(queue: &QueueSummary, link: &LinkSummary) -> bool {
    queue.dropped_packets > 0
        || queue.mean_delay_ms.is_some_and(|mean| mean >= 0.1)
        || link.utilisation.is_some_and(|share| share >= 0.5)
}

/// How links used the media they share.
pub(crate) fn medium_table(run: &RunSummary) -> Table {
    let used =
        run.links.iter().filter(|link| link.medium.is_some_and(|used| used.transmissions > 0));
    let rows = used.map(|link| (vec![Cell::text(&link.name)], link));
    let caption = "Airtime includes link acknowledgments and the waits for those that do not come.";
    table(&["link"], LINK_METRICS, Sheet::Media, rows, caption.to_owned())
}

/// Where packets died and why.
pub(crate) fn drop_table(run: &RunSummary) -> Table {
    let columns =
        vec![Column::words("link"), Column::words("reason"), Column::numbers("packets", "")];
    let drops = run.queues.iter().flat_map(|queue| {
        queue.drops.iter().filter(|(_, count)| *count > 0).map(|(reason, count)| {
            vec![Cell::text(&queue.link), Cell::text(reason.name()), Cell::Count(count)]
        })
    });
    Table { caption: String::new(), columns, rows: drops.collect() }
}

/// What each middlebox did.
pub(crate) fn proxy_table(run: &RunSummary) -> Table {
    let rows = run.proxies.iter().map(|proxy| (vec![Cell::text(&proxy.name)], proxy));
    let noticed = run.proxies.iter().filter(|proxy| proxy.outages > 0);
    let words = noticed.map(|proxy| {
        format!("{} noticed {} of {} outages.", proxy.name, proxy.outages_noticed, proxy.outages)
    });
    let caption = words.collect::<Vec<_>>().join(" ");
    table(&["box"], PROXY_METRICS, Sheet::Boxes, rows, caption)
}
