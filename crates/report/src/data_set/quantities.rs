//! What is kept of a run against time, under the names of files and columns.

use super::Column;
use ackord_measure::{FlowSeries, LinkSeries, SeriesSet, Trace};

/// A quantity that is kept against time.
#[derive(Debug)]
pub struct Quantity {
    /// Its name: that of a CSV file, and of a table in Python.
    pub name: &'static str,
    /// The column of its values, with the unit.
    pub value: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// Whose it is.
    pub of: Of,
}

/// Whose quantity it is, and where it is found.
#[derive(Debug)]
pub enum Of {
    /// A flow's.
    Flow(fn(&FlowSeries) -> &Trace),
    /// A link's.
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

/// Every one.
pub const QUANTITIES: &[Quantity] = &[
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

impl Quantity {
    /// What has one: the column of its names.
    pub fn whose(&self) -> &'static str {
        match self.of {
            Of::Flow(_) => "flow",
            Of::Link(_) => "link",
        }
    }

    /// The trace of each flow or link of a run, under its name.
    pub fn traces<'a>(&self, series: &'a SeriesSet) -> Vec<(&'a str, &'a Trace)> {
        match self.of {
            Of::Flow(of) => {
                series.flows.iter().map(|flow| (flow.name.as_str(), of(flow))).collect()
            }
            Of::Link(of) => {
                series.links.iter().map(|link| (link.name.as_str(), of(link))).collect()
            }
        }
    }
}

/// Time, flow or link, and value, a row per point.
pub fn series_columns(series: &SeriesSet, quantity: &Quantity) -> Vec<Column> {
    let traces = quantity.traces(series);
    let points = || {
        traces
            .iter()
            .flat_map(|&(name, trace)| trace.points().iter().map(move |point| (name, point)))
    };
    let values = points().map(|(_, point)| Some(point.value));
    vec![
        Column::numbers("time_s", "s", points().map(|(_, point)| Some(point.at.as_secs_f64()))),
        Column::words(quantity.whose(), points().map(|(name, _)| name)),
        Column::numbers(quantity.value, quantity.unit, values),
    ]
}
