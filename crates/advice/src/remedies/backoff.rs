//! What the bytes in flight show of the sender's congestion control.
//!
//! CUBIC reduces its window to 0.7 of what it was at a loss (RFC 9438, section 4.6), Reno to a half (RFC 5681,
//! section 3.1), BBR hardly. The bytes in flight just before a loss and after its recovery show the factor, at
//! a place near the sender only: elsewhere part of what is in flight has passed already.

use super::model::Place;
use ackord_diagnose::{PointKind, Trace};
use ackord_live::Direction;
use ackord_measure::stats::quantile;

/// Fewer losses than these show no factor.
const LEAST_LOSSES: usize = 3;
/// Flights shorter than this many segments are too coarse.
const LEAST_FLIGHT: f64 = 8.0;

/// A factor near that of a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backoff {
    /// To a half.
    Half,
    /// To 0.7.
    Cubic,
    /// Hardly.
    Hardly,
}

/// Returns the factor by which losses reduce the bytes in flight: the median over losses.
pub(crate) fn backoff(
    trace: &Trace,
    place: Option<Place>,
    direction: Direction,
    (rtt_s, mss): (f64, f64),
) -> Option<Backoff> {
    let sends = if direction == Direction::Download { Place::Server } else { Place::Client };
    if place != Some(sends) || rtt_s <= 0.0 {
        return None;
    }
    let factors = factors(trace, rtt_s, mss);
    if factors.len() < LEAST_LOSSES {
        return None;
    }
    match quantile(&factors, 0.5)? {
        factor if (0.40..0.60).contains(&factor) => Some(Backoff::Half),
        factor if (0.62..0.80).contains(&factor) => Some(Backoff::Cubic),
        factor if factor > 0.9 => Some(Backoff::Hardly),
        _ => None,
    }
}

/// The bytes in flight after each recovery, as a share of those before its loss.
fn factors(trace: &Trace, rtt_s: f64, mss: f64) -> Vec<f64> {
    let mut factors = Vec::new();
    let (mut highest, mut acked) = (0_u64, 0_u64);
    // Largest flights of this round trip and of the one before.
    let (mut now, mut last, mut turns_at) = (0.0_f64, 0.0_f64, 0.0);
    let mut recovery: Option<(u64, f64)> = None;
    let mut after: Option<(f64, f64, f64)> = None;
    for point in &trace.points {
        match point.kind {
            PointKind::Data => highest = highest.max(point.to),
            PointKind::Ack => acked = acked.max(point.from),
            PointKind::Retransmission if recovery.is_none() => {
                recovery = Some((highest, now.max(last)));
                after = None;
            }
            _ => {}
        }
        let flight = highest.saturating_sub(acked) as f64;
        if let Some((end, before)) = recovery {
            if acked >= end {
                recovery = None;
                (now, last, turns_at) = (0.0, 0.0, point.t + rtt_s);
                after = Some((before, 0.0, point.t + rtt_s));
            }
            continue;
        }
        if point.t > turns_at {
            (last, now, turns_at) = (now, 0.0, point.t + rtt_s);
        }
        now = now.max(flight);
        if let Some((before, most, until)) = &mut after {
            *most = most.max(flight);
            if point.t > *until {
                if *before >= LEAST_FLIGHT * mss && *most > 0.0 {
                    factors.push(*most / *before);
                }
                after = None;
            }
        }
    }
    factors
}
