//! The rate that no remedy can exceed.
//!
//! In this order: the rate of a policer or a shaper, if the diagnosis has one; the rate of a token bucket
//! that explains when segments were lost; the rate at which a slow reader reads; the highest rate that
//! a full path carried for long; the highest rate that the path was seen to carry.

use super::facts::Facts;
use ackord_diagnose::{Cause, Connection, Point, PointKind, Trace};
use ackord_measure::stats::{mean, quantile};

/// Fewer episodes of loss than these show no bucket.
const LEAST_EPISODES: usize = 5;
/// Of the packets that find a bucket as full as most losses find it, this share at least is lost.
const LOST_WHEN_FULL: f64 = 0.1;
/// That is so many times the share that is lost of all.
const LIFT: f64 = 2.0;
/// Three quarters of the episodes find so many packets in it, or more.
const LEAST_FILL: f64 = 2.0;
/// A lower rate is preferred unless it explains less than this share of what the best one explains.
const AS_GOOD: f64 = 0.6;
/// Rates that are tried, as multiples of what passed between the first loss and the last. A bucket that has
/// recovered in a pause passes less than its rate.
const RATES: [f64; 7] = [1.0, 1.05, 1.1, 1.2, 1.3, 1.4, 1.5];
/// A shaper holds a connection that it slows for this share of the time.
const SHAPED: f64 = 0.25;
/// A window that its reader keeps below this share of what it could be is not the buffer's.
const READER_SHARE: f64 = 0.8;
/// Windows of time in which a reader's rate is compared.
const READER_WINDOWS: usize = 8;
/// Their rates differ by less than this share (standard deviation over mean).
const READER_SPREAD: f64 = 0.25;

/// A path that was full for more of the time than this carried all it can.
const MOSTLY_FULL: f64 = 0.8;
/// A rate is sustained over so many round trips, and over this part of the active time.
const SUSTAINED_TRIPS: f64 = 20.0;
const SUSTAINED_PART: f64 = 0.1;
/// An ACK of more segments fills a hole.
const STEP: f64 = 4.5;

/// What sets a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// A policer or a shaper that the diagnosis found.
    Bucket,
    /// The rate sustained between losses.
    BetweenLosses,
    /// The receiving application.
    Reader,
    /// The highest rate that a full path carried for long.
    Sustained,
    /// The highest rate that the path was seen to carry.
    Capacity,
}

/// The highest rate that any remedy is credited with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateLimit {
    /// Payload, bit/s.
    pub bit_s: f64,
    /// What it is.
    pub kind: LimitKind,
}

impl RateLimit {
    /// Returns the limit of a connection, if its capture shows one.
    pub(super) fn of(
        facts: &Facts,
        connection: &Connection,
        trace: Option<&Trace>,
    ) -> Option<RateLimit> {
        let limit = |kind| move |bit_s: f64| RateLimit { bit_s, kind };
        if let Some(bit_s) = bucket_of(facts, connection) {
            return Some(RateLimit { bit_s, kind: LimitKind::Bucket });
        }
        let reader = trace
            .filter(|_| facts.share(&[Cause::ReceiverWindow, Cause::ZeroWindow]) > 0.1)
            .and_then(|trace| reader(facts, trace))
            .map(limit(LimitKind::Reader));
        let losses = trace
            .and_then(|trace| between_losses(facts, trace))
            .map(limit(LimitKind::BetweenLosses));
        let slower = |a: RateLimit, b: RateLimit| if a.bit_s < b.bit_s { a } else { b };
        match (reader, losses) {
            (Some(reader), Some(losses)) => Some(slower(reader, losses)),
            (Some(one), None) | (None, Some(one)) => Some(one),
            // Small writes show nothing of what the path can carry.
            (None, None) if facts.stalls.is_some() => None,
            (None, None) => {
                let seen = facts.capacity.unwrap_or(0.0).max(facts.rate);
                let full = facts.share(&[Cause::PathLimited, Cause::QueueingOwn]) > MOSTLY_FULL;
                let sustained = trace.filter(|_| full).and_then(|trace| sustained(facts, trace));
                match sustained.filter(|sustained| *sustained < seen) {
                    Some(bit_s) => Some(RateLimit { bit_s, kind: LimitKind::Sustained }),
                    None => {
                        (seen > 0.0).then_some(RateLimit { bit_s: seen, kind: LimitKind::Capacity })
                    }
                }
            }
        }
    }

    /// Returns the limit as a remark on predictions.
    pub(super) fn words(&self) -> String {
        let what = match self.kind {
            LimitKind::Bucket => "the rate of the policer or shaper",
            LimitKind::BetweenLosses => "the rate sustained between losses",
            LimitKind::Reader => "the rate at which the receiving application reads",
            LimitKind::Sustained => "the highest rate sustained",
            LimitKind::Capacity => "the highest rate seen",
        };
        let (rate, unit) = match self.bit_s {
            rate if rate >= 1e9 => (rate / 1e9, "Gbit/s"),
            rate if rate >= 1e6 => (rate / 1e6, "Mbit/s"),
            rate => (rate / 1e3, "kbit/s"),
        };
        format!("no remedy is credited with more than {rate:.3} {unit}, {what}")
    }
}

/// The rate of a policer or a shaper, bit/s of payload, if the diagnosis has it.
fn bucket_of(facts: &Facts, connection: &Connection) -> Option<f64> {
    let path = &connection.path;
    let shaper = path.shaper_rate_bit_s.filter(|_| facts.share(&[Cause::Shaper]) >= SHAPED);
    let policer = path.policer.and_then(|policer| policer.rate_bit_s);
    policer.or(shaper).filter(|rate| *rate > 0.0)
}

/// One packet of the direction of most data, as far as a bucket is concerned.
struct Passed {
    t: f64,
    bytes: f64,
    lost: bool,
}

/// Returns the rate of a token bucket that explains the losses, bit/s of payload.
///
/// A bucket drops what finds it full, and nothing else: of the packets that find it as full as most losses do,
/// a large part is lost. Losses by chance, bursts and outages come at any fill level, so at the levels of most
/// losses hardly more is lost than elsewhere. A queue that overflows is a bucket with the rate of its
/// link.
fn between_losses(facts: &Facts, trace: &Trace) -> Option<f64> {
    let passed = passed(trace, facts.mss);
    let first = passed.iter().position(|one| one.lost)?;
    let last = passed.iter().rposition(|one| one.lost)?;
    let span = passed[last].t - passed[first].t;
    let between: f64 =
        passed[first..last].iter().filter(|one| !one.lost).map(|one| one.bytes).sum();
    if span <= 0.0 || between <= 0.0 {
        return None;
    }
    let trip_s = facts.rtt_s.max(1e-4);
    let explained: Vec<(f64, f64)> = RATES
        .iter()
        .filter_map(|factor| {
            let rate = factor * between / span;
            explained(&passed, rate, trip_s, facts.mss).map(|share| (share, rate))
        })
        .collect();
    let best = explained.iter().map(|(share, _)| *share).fold(0.0, f64::max);
    let found = explained.iter().find(|(share, _)| *share >= AS_GOOD * best);
    found.map(|(_, rate)| 8.0 * rate)
}

/// Returns the share of packets that are lost where a bucket of this rate (bytes/s) is as full as most
/// episodes of loss find it, if that explains the losses.
fn explained(passed: &[Passed], rate: f64, trip_s: f64, mss: f64) -> Option<f64> {
    let mut levels: Vec<f64> = Vec::with_capacity(passed.len());
    let mut episodes: Vec<f64> = Vec::new();
    let (mut level, mut before, mut lost_at): (f64, f64, f64) = (0.0, 0.0, f64::NEG_INFINITY);
    for one in passed {
        level = (level - rate * (one.t - before)).max(0.0);
        before = one.t;
        levels.push(level);
        if !one.lost {
            level += one.bytes;
            continue;
        }
        // Until a round trip is over the sender does not know of a loss.
        match episodes.last_mut() {
            Some(most) if one.t - lost_at <= 2.0 * trip_s => *most = most.max(level),
            _ => episodes.push(level),
        }
        lost_at = one.t;
    }
    if episodes.len() < LEAST_EPISODES {
        return None;
    }
    // A packet less, for the one that finds no room is not in it.
    let full = 0.95 * quantile(&episodes, 0.25)?;
    let weight = |one: &Passed| (one.bytes / mss).max(1.0);
    let (mut lost, mut all, mut lost_when_full, mut all_when_full) = (0.0, 0.0, 0.0, 0.0);
    for (one, level) in passed.iter().zip(&levels) {
        let lost_of_it = if one.lost { weight(one) } else { 0.0 };
        (lost, all) = (lost + lost_of_it, all + weight(one));
        if *level >= full {
            lost_when_full += lost_of_it;
            all_when_full += weight(one);
        }
    }
    let share = lost_when_full / all_when_full;
    let explains =
        share >= LOST_WHEN_FULL && share >= LIFT * lost / all && full >= LEAST_FILL * mss;
    explains.then_some(share)
}

/// Returns every packet once, with whether it was lost. Before the place of the loss a lost packet is seen, and
/// its bytes are seen again. Behind that place its bytes are missing when later ones arrive: it was lost
/// some time after the last packet before it.
fn passed(trace: &Trace, mss: f64) -> Vec<Passed> {
    let retransmissions =
        trace.points.iter().filter(|point| point.kind == PointKind::Retransmission);
    let mut again: Vec<(u64, u64)> = retransmissions.map(|point| (point.from, point.to)).collect();
    again.sort_unstable();
    let repeated = |from: u64, to: u64| {
        let at = again.partition_point(|(other, _)| *other < to);
        again[..at].iter().rev().take(8).any(|(_, end)| *end > from)
    };
    let mut highest = 0;
    let mut passed: Vec<Passed> = Vec::new();
    for point in &trace.points {
        let bytes = point.to.saturating_sub(point.from) as f64;
        match point.kind {
            PointKind::Data => {
                if let (true, Some(last)) = (point.from > highest && highest > 0, passed.last()) {
                    let missing = ((point.from - highest) as f64).max(mss);
                    passed.push(Passed { t: last.t, bytes: missing, lost: true });
                }
                highest = highest.max(point.to);
                let lost = repeated(point.from, point.to);
                passed.push(Passed { t: point.t, bytes, lost });
            }
            PointKind::Retransmission | PointKind::OutOfOrder => {
                passed.push(Passed { t: point.t, bytes, lost: false });
            }
            PointKind::Ack | PointKind::Sack => {}
        }
    }
    passed
}

/// Returns the highest rate that a path carries for long, bit/s of payload: over [`SUSTAINED_TRIPS`] round trips, or
/// [`SUSTAINED_PART`] of the connection, between two losses. The highest rate of one round trip may be that of the burst that a shaper
/// lets pass, or of ACKs that were held up and released together.
fn sustained(facts: &Facts, trace: &Trace) -> Option<f64> {
    let part_s = SUSTAINED_PART * facts.active_s;
    let window_s = part_s.max(SUSTAINED_TRIPS * facts.rtt_s);
    let mut acked: Vec<(f64, u64)> = Vec::new();
    let (mut most, mut first): (Option<f64>, usize) = (None, 0);
    for point in trace.points.iter().filter(|point| point.kind == PointKind::Ack) {
        let (t, bytes) = (point.t, point.from);
        match acked.last() {
            Some((_, before)) if bytes <= *before => continue,
            // It fills a hole: much of it had arrived before.
            Some((_, before)) if (bytes - before) as f64 > STEP * facts.mss => {
                (acked, first) = (vec![(t, bytes)], 0);
                continue;
            }
            _ => acked.push((t, bytes)),
        }
        // The shortest time until now that is long enough.
        while acked.get(first + 1).is_some_and(|next| t - next.0 >= window_s) {
            first += 1;
        }
        let (since, before) = acked[first];
        if t - since >= window_s {
            let rate = 8.0 * (bytes - before) as f64 / (t - since);
            most = Some(most.map_or(rate, |most: f64| most.max(rate)));
        }
    }
    most
}

/// Returns the rate at which a slow reader reads, bit/s: the right edge of the window advances steadily, and
/// by less than a window a round trip.
fn reader(facts: &Facts, trace: &Trace) -> Option<f64> {
    let edges: Vec<&Point> = trace
        .points
        .iter()
        .filter(|point| point.kind == PointKind::Ack && point.to >= point.from && point.to > 0)
        .collect();
    let widest = facts.window?;
    let (begin, end) = (edges.first()?, edges.last()?);
    let span = end.t - begin.t;
    if span < 4.0 * READER_WINDOWS as f64 * facts.rtt_s.max(1e-4) || facts.rtt_s <= 0.0 {
        return None;
    }
    // Before the buffer is full for the first time the reader does not show.
    let from = begin.t + 0.2 * span;
    let step = (end.t - from) / READER_WINDOWS as f64;
    let edge_at = |t: f64| {
        let at = edges.partition_point(|point| point.t <= t).saturating_sub(1);
        edges[at].to as f64
    };
    let rates: Vec<f64> = (0..READER_WINDOWS)
        .map(|at| {
            let t = from + at as f64 * step;
            8.0 * (edge_at(t + step) - edge_at(t)) / step
        })
        .collect();
    let rate = mean(&rates).filter(|rate| *rate > 0.0)?;
    let spread =
        (mean(&rates.iter().map(|one| (one - rate).powi(2)).collect::<Vec<f64>>())?).sqrt();
    // A fast reader leaves the whole buffer free: then a window leaves each round trip.
    let widths: Vec<f64> = edges.iter().map(|point| (point.to - point.from) as f64).collect();
    let narrow = quantile(&widths, 0.5)? < READER_SHARE * widest;
    let below = rate < READER_SHARE * 8.0 * widest / facts.rtt_s;
    (narrow && below && spread < READER_SPREAD * rate).then_some(rate)
}
