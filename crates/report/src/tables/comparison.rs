//! The tables of a comparison: its variants, their flows and links.

use super::{MEGA, interval};
use crate::document::{Cell, Column, Table};
use ackord_measure::Comparison;

/// The variants of a comparison, totals first.
pub fn comparison_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::numbers("runs", ""),
        Column::numbers("total goodput", "Mbit/s"),
        Column::numbers("Jain's index", ""),
        Column::numbers("min/max", "%"),
    ];
    let rows = comparison.variants.iter().map(|variant| {
        vec![
            Cell::text(&variant.label),
            Cell::Count(u64::from(variant.runs)),
            interval(variant.total_goodput_bit_s, MEGA),
            interval(variant.jain_index, 1.0),
            interval(variant.min_max_percent, 1.0),
        ]
    });
    Table { caption: String::new(), columns, rows: rows.collect() }
}

/// The flows of a comparison's variants.
pub fn comparison_flow_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("flow"),
        Column::numbers("goodput", "Mbit/s"),
        Column::numbers("done after", "s"),
        Column::numbers("sent again", "%"),
        Column::numbers("timeouts", ""),
        Column::numbers("ACKs", ""),
        Column::numbers("RTT mean", "ms"),
    ];
    let flows = comparison.variants.iter().flat_map(|variant| {
        variant.flows.iter().filter(|flow| flow.datagrams.is_none()).map(|flow| {
            vec![
                Cell::text(&variant.label),
                Cell::text(&flow.name),
                interval(flow.goodput_bit_s, MEGA),
                interval(flow.completion_s, 1.0),
                interval(flow.retransmitted_percent, 1.0),
                interval(flow.timeouts, 1.0),
                interval(flow.acks_sent, 1.0),
                interval(flow.mean_rtt_ms, 1.0),
            ]
        })
    });
    Table { caption: String::new(), columns, rows: flows.collect() }
}

/// The transfers of a comparison's flows; no rows if none has such.
pub fn comparison_transfer_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("flow"),
        Column::numbers("time mean", "ms"),
        Column::numbers("median", "ms"),
        Column::numbers("p95", "ms"),
        Column::numbers("worst", "ms"),
        Column::numbers("rate mean", "Mbit/s"),
        Column::numbers("ACKs", ""),
    ];
    let flows = comparison.variants.iter().flat_map(|variant| {
        variant.flows.iter().filter_map(|flow| {
            let transfers = flow.transfers.as_ref()?;
            Some(vec![
                Cell::text(&variant.label),
                Cell::text(&flow.name),
                interval(transfers.mean_ms, 1.0),
                interval(transfers.p50_ms, 1.0),
                interval(transfers.p95_ms, 1.0),
                interval(transfers.max_ms, 1.0),
                interval(transfers.mean_rate_bit_s, MEGA),
                interval(flow.acks_sent, 1.0),
            ])
        })
    });
    Table { caption: String::new(), columns, rows: flows.collect() }
}

/// The flows of a comparison that are no connections; no rows if there is none.
pub fn comparison_datagram_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("datagrams"),
        Column::numbers("goodput", "Mbit/s"),
        Column::numbers("lost", "%"),
        Column::numbers("one way mean", "ms"),
        Column::numbers("p99", "ms"),
    ];
    let flows = comparison.variants.iter().flat_map(|variant| {
        variant.flows.iter().filter_map(|flow| {
            let datagrams = flow.datagrams.as_ref()?;
            Some(vec![
                Cell::text(&variant.label),
                Cell::text(&flow.name),
                interval(flow.goodput_bit_s, MEGA),
                interval(datagrams.lost_percent, 1.0),
                interval(datagrams.mean_delay_ms, 1.0),
                interval(datagrams.p99_delay_ms, 1.0),
            ])
        })
    });
    Table { caption: String::new(), columns, rows: flows.collect() }
}

/// The links of a comparison's variants; links without a delay (nothing entered) are left out.
pub fn comparison_link_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("link"),
        Column::numbers("used", "%"),
        Column::numbers("delay mean", "ms"),
        Column::numbers("delay p99", "ms"),
        Column::numbers("dropped", "packets"),
    ];
    let links = comparison.variants.iter().flat_map(|variant| {
        let used = variant.links.iter().filter(|link| link.mean_delay_ms.is_some());
        used.map(|link| {
            vec![
                Cell::text(&variant.label),
                Cell::text(&link.name),
                interval(link.utilisation, 0.01),
                interval(link.mean_delay_ms, 1.0),
                interval(link.p99_delay_ms, 1.0),
                interval(link.dropped_packets, 1.0),
            ]
        })
    });
    Table { caption: String::new(), columns, rows: links.collect() }
}
