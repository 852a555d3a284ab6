//! Values against time as tables.

use crate::errors::{bad_input, unknown_name};
use crate::table::{Column, Table};
use ackord_measure::{FlowSeries, LinkSeries, SeriesSet, Trace};
use pyo3::prelude::*;

/// A quantity that is kept against time.
struct Quantity {
    name: &'static str,
    value: &'static str,
    unit: &'static str,
    of: Of,
}

/// Whose it is.
enum Of {
    Flow(fn(&FlowSeries) -> &Trace),
    Link(fn(&LinkSeries) -> &Trace),
}

const fn flow(
    name: &'static str,
    value: &'static str,
    unit: &'static str,
    of: fn(&FlowSeries) -> &Trace,
) -> Quantity {
    Quantity { name, value, unit, of: Of::Flow(of) }
}

const fn link(
    name: &'static str,
    value: &'static str,
    unit: &'static str,
    of: fn(&LinkSeries) -> &Trace,
) -> Quantity {
    Quantity { name, value, unit, of: Of::Link(of) }
}

/// Every one, under the names of the CSV files and their columns.
const QUANTITIES: &[Quantity] = &[
    flow("cwnd", "cwnd_bytes", "B", |flow| &flow.cwnd),
    flow("ssthresh", "ssthresh_bytes", "B", |flow| &flow.ssthresh),
    flow("rtt", "rtt_s", "s", |flow| &flow.rtt),
    flow("sent", "sent_offset_bytes", "B", |flow| &flow.sent),
    flow("retransmitted", "retransmitted_offset_bytes", "B", |flow| &flow.retransmitted),
    flow("acked", "acked_offset_bytes", "B", |flow| &flow.acked),
    flow("delivered", "delivered_offset_bytes", "B", |flow| &flow.delivered),
    flow("goodput", "goodput_bit_s", "bit/s", |flow| &flow.throughput),
    link("queue-packets", "queue_packets", "packets", |link| &link.queue_packets),
    link("queue-bytes", "queue_bytes", "B", |link| &link.queue_bytes),
    link("drops", "queue_packets_at_drop", "packets", |link| &link.drops),
    link("throughput", "throughput_bit_s", "bit/s", |link| &link.throughput),
];

/// The names of the quantities that are kept against time.
#[pyfunction]
pub(crate) fn quantities() -> Vec<&'static str> {
    QUANTITIES.iter().map(|quantity| quantity.name).collect()
}

/// A row per point of each flow's or link's trace.
pub(crate) fn series_table(series: Option<&SeriesSet>, name: &str) -> PyResult<Table> {
    let Some(quantity) = QUANTITIES.iter().find(|quantity| quantity.name == name) else {
        return Err(unknown_name("series", name, quantities().into_iter()));
    };
    let Some(series) = series else {
        return Err(bad_input("this run kept no series: run it with `series=True`"));
    };
    let (whose, traces): (_, Vec<(&str, &Trace)>) = match quantity.of {
        Of::Flow(of) => {
            ("flow", series.flows.iter().map(|flow| (flow.name.as_str(), of(flow))).collect())
        }
        Of::Link(of) => {
            ("link", series.links.iter().map(|link| (link.name.as_str(), of(link))).collect())
        }
    };
    let points = || {
        traces
            .iter()
            .flat_map(|&(name, trace)| trace.points().iter().map(move |point| (name, point)))
    };
    Table::of(vec![
        Column::numbers("time_s", "s", points().map(|(_, point)| Some(point.at.as_secs_f64()))),
        Column::words(whose, points().map(|(name, _)| name)),
        Column::numbers(
            quantity.value,
            quantity.unit,
            points().map(|(_, point)| Some(point.value)),
        ),
    ])
}
