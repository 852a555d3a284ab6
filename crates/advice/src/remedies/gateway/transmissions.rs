//! Data as it passed the gateway towards the mobile host: which transmissions were lost behind the gateway, and how
//! long packets queued there.
//!
//! A transmission is lost if the sender repeats its bytes before they were acknowledged, unless the acknowledgment
//! then comes sooner than the link's round trip: that one is for the original (RFC 3522's observation, here with times).

use ackord_diagnose::{Point, PointKind, Trace};
use std::collections::BTreeMap;

/// An acknowledgment sooner after a retransmission than this part of the round trip is for the original.
const TOO_SOON: f64 = 0.7;

/// A data packet that passed the gateway.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Transmission {
    /// Since the connection's first packet, s.
    pub(super) t: f64,
    /// Bytes of payload.
    pub(super) bytes: u64,
    /// Lost behind the gateway.
    pub(super) lost: bool,
    /// Queueing delay behind the gateway at that time, s, if an acknowledgment shows it.
    pub(super) queue_s: Option<f64>,
}

/// Transmissions that are not yet acknowledged, by their first byte.
#[derive(Default)]
struct Outstanding {
    of: BTreeMap<u64, Unanswered>,
}

#[derive(Clone, Copy)]
struct Unanswered {
    to: u64,
    /// Its transmission.
    index: usize,
    /// The transmission that it repeats.
    before: Option<usize>,
}

/// Returns all transmissions of a trace, whose link behind the gateway has a shortest round trip of `air_s`, in packets
/// of at most `mss` bytes.
pub(super) fn transmissions(trace: &Trace, air_s: f64, mss: u64) -> Vec<Transmission> {
    let mut found: Vec<Transmission> = Vec::new();
    let mut outstanding = Outstanding::default();
    // Time of the transmission and its round trip to the mobile host.
    let mut samples: Vec<(f64, f64)> = Vec::new();
    for point in &trace.points {
        match point.kind {
            PointKind::Data | PointKind::Retransmission | PointKind::OutOfOrder => {
                for (from, to) in packets(point, mss) {
                    let index = found.len();
                    let bytes = to - from;
                    found.push(Transmission { t: point.t, bytes, lost: false, queue_s: None });
                    let before = outstanding.repeated(from, to);
                    if let Some(before) = before {
                        found[before].lost = true;
                    }
                    outstanding.of.insert(from, Unanswered { to, index, before });
                }
            }
            PointKind::Ack | PointKind::Sack => {
                let from = if point.kind == PointKind::Ack { 0 } else { point.from };
                let to = if point.kind == PointKind::Ack { point.from } else { point.to };
                let answered = outstanding.answered(from, to);
                for one in &answered {
                    let soon = point.t - found[one.index].t < TOO_SOON * air_s;
                    if let Some(before) = one.before.filter(|_| soon) {
                        found[before].lost = false;
                    }
                }
                let newest = answered.iter().filter(|one| one.before.is_none());
                let newest = newest.map(|one| found[one.index].t).reduce(f64::max);
                samples.extend(newest.map(|sent| (sent, point.t - sent)));
            }
        }
    }
    samples.sort_by(|one, other| one.0.total_cmp(&other.0));
    for one in &mut found {
        one.queue_s = nearest(&samples, one.t).map(|trip| (trip - air_s).max(0.0));
    }
    found
}

impl Outstanding {
    /// Removes transmissions that overlap with these bytes, and returns the latest of them.
    fn repeated(&mut self, from: u64, to: u64) -> Option<usize> {
        let overlapping = self.of.range(..to).rev();
        let overlapping = overlapping.take_while(|(_, one)| one.to > from);
        let starts: Vec<u64> = overlapping.map(|(from, _)| *from).collect();
        starts.iter().filter_map(|from| self.of.remove(from)).map(|one| one.index).max()
    }

    /// Removes and returns the transmissions of these bytes.
    fn answered(&mut self, from: u64, to: u64) -> Vec<Unanswered> {
        let within = self.of.range(from..to.max(from)).filter(|(_, one)| one.to <= to);
        let starts: Vec<u64> = within.map(|(from, _)| *from).collect();
        starts.iter().filter_map(|from| self.of.remove(from)).collect()
    }
}

/// Cuts a segment into packets: a network card puts those of a train together, or cuts them up behind the capture.
fn packets(point: &Point, mss: u64) -> impl Iterator<Item = (u64, u64)> {
    let (from, to, mss) = (point.from, point.to, mss.max(1));
    let count = to.saturating_sub(from).div_ceil(mss);
    (0..count).map(move |at| (from + at * mss, (from + (at + 1) * mss).min(to)))
}

/// Returns the sample of the transmission nearest to `t`.
fn nearest(samples: &[(f64, f64)], t: f64) -> Option<f64> {
    let at = samples.partition_point(|(sent, _)| *sent < t);
    let both = [at.checked_sub(1), Some(at)].into_iter().flatten();
    let both = both.filter_map(|at| samples.get(at));
    both.min_by(|one, other| (one.0 - t).abs().total_cmp(&(other.0 - t).abs())).map(|one| one.1)
}
