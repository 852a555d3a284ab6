//! What is exported to Prometheus: totals by cause, of the capture, and of the kernel's drops.

use ackord_daemon::metrics::{Distribution, Metric, Page, Unit, Values, page};
use ackord_daemon::status::Process;
use ackord_daemon::{Published, Shared};
use ackord_diagnose::{ROUND_TRIP_BOUNDS_US, Retransmitted, Totals, ZeroWindows};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

/// Before every name.
const PREFIX: &str = "ackord";

/// State at one time.
#[derive(Clone, Debug, Default)]
pub(super) struct Snapshot {
    pub(super) process: Process,
    pub(super) totals: Totals,
    pub(super) packets: Packets,
    /// Packets that the kernel dropped, by reason; nothing where that is not known.
    pub(super) drop_reasons: Option<BTreeMap<String, u64>>,
}

/// Packets of the capture.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Packets {
    /// Frames of any protocol, up to the last TCP packet.
    pub(super) captured: u64,
    pub(super) tcp: u64,
    /// Those that tcpdump was too slow for, as it last reported.
    pub(super) dropped: u64,
}

impl Published for Snapshot {
    fn process(&mut self) -> &mut Process {
        &mut self.process
    }
}

/// Answers at `listen` as long as the process lives.
///
/// # Errors
/// If the address is not one of this host, or is in use.
pub(super) fn serve(listen: SocketAddr, shared: Arc<Shared<Snapshot>>) -> io::Result<()> {
    ackord_daemon::metrics::serve_metrics(listen, move || metrics(shared.status()))
}

fn metrics(snapshot: Snapshot) -> String {
    page(PREFIX, move |page| {
        page.process(&snapshot.process)?;
        times(page, &snapshot.totals)?;
        packets(page, &snapshot)?;
        connections(page, &snapshot.totals)
    })
}

fn times(page: &mut Page<'_, '_>, totals: &Totals) -> fmt::Result {
    let by_cause = |wanted: fn(ackord_diagnose::Cause) -> bool| -> Values<'_, f64> {
        let causes = totals.seconds.iter().filter(|(cause, _)| wanted(**cause));
        causes.map(|(cause, seconds)| (vec![("cause", cause.name())], *seconds)).collect()
    };
    let lost = "Time of connections that a remedy could give back, by cause, settled: of connections that have \
                closed, and of open ones up to a minute ago";
    let lost = Metric("lost", lost, Some(Unit::Seconds));
    page.counters(lost, by_cause(ackord_diagnose::Cause::is_loss))?;
    let all = "Time of connections by cause, settled: what was lost, what applications and the path took, and \
               the unknown";
    page.counters(Metric("connection", all, Some(Unit::Seconds)), by_cause(|_| true))?;
    let round_trips =
        "Round-trip times of data and their ACKs, during the whole life of connections";
    let round_trips = Metric("round_trip", round_trips, Some(Unit::Seconds));
    let within = totals.round_trips.within.to_vec();
    let sum_s = totals.round_trips.sum_s;
    let distribution = Distribution { bounds_us: &ROUND_TRIP_BOUNDS_US, within, sum_s };
    page.distributions(round_trips, vec![(vec![], distribution)])?;
    let zero = |of: fn(&ZeroWindows) -> f64| -> Values<'_, f64> {
        let ways = totals.zero_windows.iter();
        ways.map(|(way, zero)| (vec![("direction", way.name())], of(zero))).collect()
    };
    let closed = "Times that a receiver closed its window, by the direction of the packets that advertised it";
    page.counters(Metric("zero_windows", closed, None), zero(|it| it.count as f64))?;
    let shut = "Time until closed windows opened again";
    page.counters(Metric("zero_window", shut, Some(Unit::Seconds)), zero(|it| it.seconds))
}

fn packets(page: &mut Page<'_, '_>, snapshot: &Snapshot) -> fmt::Result {
    let retransmitted = |of: fn(&Retransmitted) -> u64| -> Values<'_, u64> {
        let causes = snapshot.totals.retransmitted.iter();
        let each = causes.flat_map(|(cause, ways)| ways.iter().map(move |way| (cause, way)));
        let labelled = each.map(|(cause, (way, sum))| {
            (vec![("cause", cause.name()), ("direction", way.name())], of(sum))
        });
        labelled.collect()
    };
    let segments = "Retransmissions by the cause of the loss and their direction, settled";
    let segments = Metric("retransmitted_segments", segments, None);
    page.counters(segments, retransmitted(|it| it.segments))?;
    let bytes = "Payload of retransmissions by the cause of the loss and their direction, settled";
    let bytes = Metric("retransmitted", bytes, Some(Unit::Bytes));
    page.counters(bytes, retransmitted(|it| it.bytes))?;
    let Packets { captured, tcp, dropped } = snapshot.packets;
    page.counter(Metric("captured_packets", "Packets captured, of any protocol", None), captured)?;
    page.counter(Metric("tcp_packets", "TCP packets captured", None), tcp)?;
    let lost = "Packets that the capture missed because it was too slow";
    page.counter(Metric("capture_dropped_packets", lost, None), dropped)?;
    let Some(reasons) = &snapshot.drop_reasons else { return Ok(()) };
    let reasons = reasons.iter().map(|(reason, count)| (vec![("reason", reason.as_str())], *count));
    let why = "Packets that this host's kernel dropped, by its reason, on all interfaces";
    page.counters(Metric("kernel_dropped_packets", why, None), reasons.collect())
}

fn connections(page: &mut Page<'_, '_>, totals: &Totals) -> fmt::Result {
    let Totals { opened, closed, forgotten, open, .. } = totals;
    page.gauge(Metric("open_connections", "Connections that are open", None), *open as f64)?;
    let seen = "Connections seen, those included that were open before";
    page.counter(Metric("connections_opened", seen, None), *opened)?;
    page.counter(Metric("connections_closed", "Connections that have closed", None), *closed)?;
    let idle = "Open connections that were idle longest and made room for others";
    page.counter(Metric("connections_forgotten", idle, None), *forgotten)
}
