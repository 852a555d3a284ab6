//! What is exported of connections that are followed: totals that only grow.

use crate::Cause;
use ackord_units::Span;
use serde::Serialize;
use std::collections::BTreeMap;

/// Upper bounds of round-trip times that are counted together, us.
pub const ROUND_TRIP_BOUNDS_US: [u64; 15] = [
    100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
    1_000_000, 2_000_000, 5_000_000,
];

/// Direction of packets, as seen from the host that captures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// From an address of this host.
    Sent,
    /// To an address of this host.
    Received,
    /// Between other hosts.
    Forwarded,
}

impl Way {
    /// Returns its name in metrics.
    pub fn name(self) -> &'static str {
        match self {
            Way::Sent => "sent",
            Way::Received => "received",
            Way::Forwarded => "forwarded",
        }
    }
}

/// Segments that were sent more than once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Retransmitted {
    /// Retransmissions.
    pub segments: u64,
    /// Bytes of their payload, as far as the capture has their first transmission.
    pub bytes: u64,
}

/// Windows of zero bytes that receivers advertised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ZeroWindows {
    /// Times that a window closed.
    pub count: u64,
    /// Time until it opened again, s.
    pub seconds: f64,
}

/// Round-trip times of data and their ACKs, from end to end.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RoundTrips {
    /// How many were no longer than each of [`ROUND_TRIP_BOUNDS_US`] and longer than the one before it; the
    /// last counts those that were longer than all.
    pub within: [u64; ROUND_TRIP_BOUNDS_US.len() + 1],
    /// Their sum, s.
    pub sum_s: f64,
}

impl RoundTrips {
    pub(super) fn record(&mut self, span: Span) {
        let nanos = span.as_nanos();
        self.within[ROUND_TRIP_BOUNDS_US.partition_point(|bound| bound * 1_000 < nanos)] += 1;
        self.sum_s += span.as_secs_f64();
    }
}

/// Totals of all connections since the beginning.
#[derive(Clone, Debug, Serialize)]
pub struct Totals {
    /// Settled time by cause, s.
    pub seconds: BTreeMap<Cause, f64>,
    /// Retransmissions by the cause of the loss, or of what was taken for one, and their direction.
    pub retransmitted: BTreeMap<Cause, BTreeMap<Way, Retransmitted>>,
    /// Zero windows, by the direction of the packets that advertised them.
    pub zero_windows: BTreeMap<Way, ZeroWindows>,
    /// Round-trip times.
    pub round_trips: RoundTrips,
    /// Connections seen.
    pub opened: u64,
    /// Those that have closed.
    pub closed: u64,
    /// Those forgotten while open: they had been idle longest where there were too many.
    pub forgotten: u64,
    /// Those open now.
    pub open: u64,
}

impl Default for Totals {
    /// Returns zeros for every cause: a counter that begins at zero shows its first increase.
    fn default() -> Totals {
        let ways = [Way::Sent, Way::Received];
        let none = || ways.map(|way| (way, Retransmitted::default())).into_iter().collect();
        let of_loss = |cause: &Cause| cause.is_loss() || *cause == Cause::Unknown;
        Totals {
            seconds: Cause::ALL.into_iter().map(|cause| (cause, 0.0)).collect(),
            retransmitted: Cause::ALL.into_iter().filter(of_loss).map(|it| (it, none())).collect(),
            zero_windows: ways.map(|way| (way, ZeroWindows::default())).into_iter().collect(),
            round_trips: RoundTrips::default(),
            opened: 0,
            closed: 0,
            forgotten: 0,
            open: 0,
        }
    }
}

impl Totals {
    pub(super) fn add_retransmitted(&mut self, cause: Cause, way: Way, more: Retransmitted) {
        let sum = self.retransmitted.entry(cause).or_default().entry(way).or_default();
        sum.segments += more.segments;
        sum.bytes += more.bytes;
    }

    pub(super) fn add_zero_window(&mut self, way: Way, span: Span) {
        self.zero_windows.entry(way).or_default().seconds += span.as_secs_f64();
    }
}
