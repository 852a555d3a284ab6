//! Tables of what only some scenarios have: middleboxes, outages, acknowledgments that came too early.

use super::*;
use ackord_events::{EndpointId, Event, LinkId, ProxyAct, ProxyId, Sink};
use ackord_measure::{
    Comparison, FlowKind, FlowLabel, ProxyCounters, ProxyLabel, RunIdentity, RunLabels, Summary,
    VariantSummary,
};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::{FlowId, Side};

fn ms(millis: u64) -> Time {
    Time::ZERO + Span::from_millis(millis)
}

/// A flow that meets an outage of a second, with a box that notices after 300 ms and has
/// acknowledged two thousand bytes by itself; or a flow without any of it.
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
        outages: eventful,
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
    let [.., outages, early] = flow_tables(&quiet);
    for table in [proxy_table(&quiet), outages, early] {
        assert!(table.rows.is_empty(), "{table:?}");
    }
    let comparison = Comparison {
        identity: RunIdentity::default(),
        varied: "box".to_owned(),
        variants: vec![VariantSummary::of("none", &[quiet])],
    };
    let [.., outages, boxes, _] = comparison_tables(&comparison);
    assert!(boxes.rows.is_empty() && outages.rows.is_empty());
}

#[test]
fn boxes_outages_and_early_acknowledgments_are_told() {
    let run = run(true);
    let table = proxy_table(&run);
    let cells = row(&table);
    assert_eq!((cells[0].as_str(), cells[1].as_str()), ("air", "77"));
    assert!(cells[9].starts_with("300"), "noticed after 300 ms: {cells:?}");
    assert_eq!(table.caption, "air noticed 1 of 1 outages.");
    let [.., outages, early] = flow_tables(&run);
    let cells = row(&outages);
    assert_eq!((cells[0].as_str(), cells[1].as_str()), ("download", "1"));
    assert!(cells[2].starts_with("0.2"), "first data after 200 ms: {cells:?}");
    let cells = row(&early);
    assert!(cells[1].starts_with("2.0") && cells[2].starts_with("2.0"), "{cells:?}");
    let comparison = Comparison {
        identity: RunIdentity::default(),
        varied: "box".to_owned(),
        variants: vec![VariantSummary::of("proxy-tcp", &[run.clone(), run])],
    };
    let [.., outages, boxes, _] = comparison_tables(&comparison);
    assert_eq!(row(&boxes)[1], "air");
    assert!(row(&outages)[3].starts_with("0.2"));
}
