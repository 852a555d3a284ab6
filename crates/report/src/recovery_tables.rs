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

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_events::{EndpointId, Event, LinkId, ProxyAct, ProxyId, Sink};
    use ackord_measure::{
        FlowKind, FlowLabel, Outages, ProxyCounters, ProxyLabel, RunIdentity, RunLabels, Summary,
        VariantSummary,
    };
    use ackord_units::{Bytes, Span, Time};
    use ackord_wire::{FlowId, Side};

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// A flow that meets an outage of a second, with a box that notices after 300 ms and has
    /// acknowledged two thousand octets by itself; or a flow without any of it.
    fn run(eventful: bool) -> RunSummary {
        let flow = FlowLabel {
            name: "download".to_owned(),
            kind: FlowKind::Connection,
            mechanisms: [("congestion".to_owned(), "reno".to_owned())].into(),
            profile: None,
            sends: Side::Server,
            size: None,
            started_at: Time::ZERO,
        };
        let proxy = ProxyLabel { name: "air".to_owned(), kind: "proxy-tcp".to_owned() };
        let labels = RunLabels {
            flows: vec![flow],
            proxies: if eventful { vec![proxy] } else { Vec::new() },
            outages: if eventful { Outages::Possible } else { Outages::None },
            ..RunLabels::default()
        };
        let mut summary = Summary::new(&labels);
        let (flow, link) = (FlowId(0), LinkId(0));
        let (sender, receiver) =
            (EndpointId { flow, side: Side::Server }, EndpointId { flow, side: Side::Client });
        let mut offset = Bytes::ZERO;
        let mut deliver = |summary: &mut Summary, from: u64, to: u64| {
            for at in (from..to).step_by(10) {
                offset += Bytes(1_000);
                let (endpoint, bytes) = (receiver, Bytes(1_000));
                let delivered = Event::DataDelivered { endpoint, bytes, stream_offset: offset };
                summary.emit(ms(at), delivered);
                let acked = offset + if eventful { Bytes(2_000) } else { Bytes::ZERO };
                let endpoint = sender;
                summary.emit(ms(at), Event::AckAdvanced { endpoint, bytes, stream_offset: acked });
            }
        };
        deliver(&mut summary, 10, 3_000);
        if eventful {
            let (began, ends) = (ms(3_000), ms(4_000));
            summary.emit(ms(3_000), Event::OutageMet { link, began, ends });
            let (proxy, act) = (ProxyId(0), ProxyAct::HoldBegan);
            summary.emit(ms(3_300), Event::ProxyActed { proxy, flow, act });
            let seen = ProxyCounters { seen: 77, holds: 1, ..ProxyCounters::default() };
            summary.count_proxy(proxy, seen);
        }
        deliver(&mut summary, 4_200, 6_000);
        summary.finish(RunIdentity::default(), ms(6_000))
    }

    fn row(table: &Table) -> Vec<String> {
        let [row] = table.rows.as_slice() else { panic!("{table:?}") };
        row.iter().map(Cell::show).collect()
    }

    #[test]
    fn what_did_not_happen_has_no_rows() {
        let quiet = run(false);
        for table in [proxy_table(&quiet), outage_table(&quiet), early_table(&quiet)] {
            assert!(table.rows.is_empty(), "{table:?}");
        }
        let comparison = Comparison {
            identity: RunIdentity::default(),
            varied: "box".to_owned(),
            variants: vec![VariantSummary::of("none", &[quiet])],
        };
        assert!(comparison_proxy_table(&comparison).rows.is_empty());
        assert!(comparison_outage_table(&comparison).rows.is_empty());
    }

    #[test]
    fn boxes_outages_and_early_acknowledgments_are_told() {
        let run = run(true);
        let table = proxy_table(&run);
        let cells = row(&table);
        assert_eq!((cells[0].as_str(), cells[1].as_str()), ("air", "77"));
        assert!(cells[9].starts_with("300"), "noticed after 300 ms: {cells:?}");
        assert_eq!(table.caption, "air noticed 1 of 1 outages.");
        let cells = row(&outage_table(&run));
        assert_eq!((cells[0].as_str(), cells[1].as_str()), ("download", "1"));
        assert!(cells[2].starts_with("0.2"), "first data after 200 ms: {cells:?}");
        let cells = row(&early_table(&run));
        assert!(cells[1].starts_with("2.0") && cells[2].starts_with("2.0"), "{cells:?}");
        let comparison = Comparison {
            identity: RunIdentity::default(),
            varied: "box".to_owned(),
            variants: vec![VariantSummary::of("proxy-tcp", &[run.clone(), run])],
        };
        assert_eq!(row(&comparison_proxy_table(&comparison))[1], "air");
        assert!(row(&comparison_outage_table(&comparison))[3].starts_with("0.2"));
    }
}
