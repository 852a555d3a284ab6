//! Tables of what only some scenarios have: middle boxes, outages, acknowledgments that came too
//! early. Each is empty where there is nothing of the kind.

use crate::document::{Cell, Column, Table};
use crate::tables::interval;
use ackord_measure::{Comparison, RunSummary};

/// What each middle box did; no rows if there is none.
pub fn proxy_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("box"),
        Column::numbers("saw", "packets"),
        Column::numbers("sent data", "segments"),
        Column::numbers("ACKs", ""),
        Column::numbers("absorbed", "packets"),
        Column::numbers("cached most", "kB"),
        Column::numbers("evicted", "kB"),
        Column::numbers("holds", ""),
        Column::numbers("false", ""),
        Column::numbers("noticed after", "ms"),
    ];
    let rows = run.proxies.iter().map(|proxy| {
        let counters = &proxy.counters;
        vec![
            Cell::text(&proxy.name),
            Cell::Count(counters.seen),
            Cell::Count(counters.data_sent + counters.probes),
            Cell::Count(counters.acks_sent),
            Cell::Count(counters.absorbed),
            Cell::about(counters.peak_cached_bytes as f64 / 1e3),
            Cell::about(counters.evicted_bytes as f64 / 1e3),
            Cell::Count(counters.holds),
            Cell::Count(counters.false_holds),
            Cell::about(proxy.detection.map(|detection| detection.mean_ms)),
        ]
    });
    let noticed: Vec<_> = run.proxies.iter().filter(|proxy| proxy.outages > 0).collect();
    let words = noticed.iter().map(|proxy| {
        format!("{} noticed {} of {} outages.", proxy.name, proxy.outages_noticed, proxy.outages)
    });
    let caption = words.collect::<Vec<_>>().join(" ");
    Table { caption, columns, rows: rows.collect() }
}

/// How the flows came back after outages of the path; no rows if it met none.
pub fn outage_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("flow"),
        Column::numbers("outages", ""),
        Column::numbers("first data after, mean", "s"),
        Column::numbers("worst", "s"),
        Column::numbers("rate back after, mean", "s"),
        Column::numbers("worst", "s"),
        Column::numbers("never back", "outages"),
        Column::numbers("longest stall", "s"),
    ];
    let rows = run.flows.iter().filter_map(|flow| {
        let times = flow.recovery_times()?;
        let mean = |times: Option<(f64, f64)>| Cell::about(times.map(|(mean, _)| mean));
        let worst = |times: Option<(f64, f64)>| Cell::about(times.map(|(_, worst)| worst));
        Some(vec![
            Cell::text(&flow.name),
            Cell::Count(times.outages),
            mean(times.first_data_s),
            worst(times.first_data_s),
            mean(times.rate_back_s),
            worst(times.rate_back_s),
            Cell::Count(times.not_back),
            Cell::about(flow.longest_stall_s),
        ])
    });
    let caption = "After the end of an outage; the rate is back at nine tenths of that of the \
                   second before.";
    Table { caption: caption.to_owned(), columns, rows: rows.collect() }
}

/// Octets acknowledged before they had arrived; no rows if there were none.
pub fn early_table(run: &RunSummary) -> Table {
    let columns = vec![
        Column::words("flow"),
        Column::numbers("acknowledged too early, most", "kB"),
        Column::numbers("at the end", "kB"),
    ];
    let early = run.flows.iter().filter(|flow| flow.acknowledged_early_peak_bytes > 0);
    let rows = early.map(|flow| {
        vec![
            Cell::text(&flow.name),
            Cell::about(flow.acknowledged_early_peak_bytes as f64 / 1e3),
            Cell::about(flow.acknowledged_undelivered_bytes as f64 / 1e3),
        ]
    });
    let caption = "The sender was told that these had arrived; the receiver did not have them.";
    Table { caption: caption.to_owned(), columns, rows: rows.collect() }
}

/// The middle boxes of a comparison's variants; no rows if none has one.
pub fn comparison_proxy_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("box"),
        Column::numbers("sent data", "segments"),
        Column::numbers("ACKs", ""),
        Column::numbers("absorbed", "packets"),
        Column::numbers("cached most", "kB"),
        Column::numbers("holds", ""),
        Column::numbers("false", ""),
        Column::numbers("noticed after", "ms"),
    ];
    let rows = comparison.variants.iter().flat_map(|variant| {
        variant.proxies.iter().map(|proxy| {
            vec![
                Cell::text(&variant.label),
                Cell::text(&proxy.name),
                interval(proxy.data_sent, 1.0),
                interval(proxy.acks_sent, 1.0),
                interval(proxy.absorbed, 1.0),
                interval(proxy.peak_cached_bytes, 1e3),
                interval(proxy.holds, 1.0),
                interval(proxy.false_holds, 1.0),
                interval(proxy.mean_detection_ms, 1.0),
            ]
        })
    });
    Table { caption: String::new(), columns, rows: rows.collect() }
}

/// How the flows of a comparison got over outages, and what was acknowledged to them too early; no
/// rows if neither happened.
pub fn comparison_outage_table(comparison: &Comparison) -> Table {
    let columns = vec![
        Column::words(&comparison.varied),
        Column::words("flow"),
        Column::numbers("outages", ""),
        Column::numbers("first data after", "s"),
        Column::numbers("rate back after", "s"),
        Column::numbers("acknowledged too early", "kB"),
        Column::numbers("at the end", "kB"),
    ];
    let rows = comparison.variants.iter().flat_map(|variant| {
        let met = variant.flows.iter();
        let met = met.filter(|flow| flow.outages.is_some() || flow.early_acks.is_some());
        met.map(|flow| {
            let (outages, early) = (flow.outages, flow.early_acks);
            vec![
                Cell::text(&variant.label),
                Cell::text(&flow.name),
                interval(outages.and_then(|outages| outages.outages), 1.0),
                interval(outages.and_then(|outages| outages.first_data_s), 1.0),
                interval(outages.and_then(|outages| outages.rate_back_s), 1.0),
                interval(early.and_then(|early| early.peak_bytes), 1e3),
                interval(early.and_then(|early| early.undelivered_bytes), 1e3),
            ]
        })
    });
    Table { caption: String::new(), columns, rows: rows.collect() }
}
