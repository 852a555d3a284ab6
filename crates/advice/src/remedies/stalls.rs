//! Small writes that wait for each other: Nagle's algorithm against a delayed acknowledgment.
//!
//! [`Stalls::of`] reads from the packets what the applications write and how long acknowledgments are
//! delayed, for a model. [`Stalls::given_back`] needs no model: what TCP_NODELAY gives back is the time of the
//! stalls, less what the path needs to carry each message by itself.

use super::facts::Facts;
use ackord_diagnose::{Cause, Connection, Interval, Point, PointKind, Trace};
use ackord_live::Direction;
use ackord_measure::stats::{mean, quantile};

/// Stalls of less than this share of the active time are not modelled.
const LEAST_SHARE: f64 = 0.05;
/// Messages are held to be of this length at least, if their lengths have a common divisor, bytes.
const LEAST_MESSAGE: u64 = 16;
/// Delays of acknowledgments that Linux has without being told, s.
const LINUX_DELAY_S: [f64; 2] = [0.03, 0.05];
/// The usual one of these, s.
const USUAL_DELAY_S: f64 = 0.04;
/// Delays that a receiver can have (RFC 5681, section 4.2), s.
const DELAYS_S: [f64; 2] = [0.002, 0.5];
/// What a message needs, and where its stall begins, is uncertain by this many round trips.
const TRIP_ERROR: f64 = 0.5;

/// What was written, and what it waited for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Stalls {
    /// The direction of the small writes.
    pub(crate) writer: Direction,
    /// Exchanges of two writes and a reply; without replies, messages.
    pub(crate) count: u64,
    /// Whether anything is replied.
    pub(crate) replies: bool,
    /// Length of the first write of an exchange, or of a message, bytes.
    pub(crate) head: u64,
    /// Length of the second write, bytes.
    pub(crate) body: u64,
    /// Time from one message to the next, s.
    pub(crate) interval_s: f64,
    /// How long acknowledgments are delayed, where that is not Linux's time, s.
    pub(crate) ack_delay_s: Option<f64>,
}

impl Stalls {
    /// Returns the small writes of a connection, if stalls take a share of its time.
    pub(crate) fn of(
        facts: &Facts,
        connection: &Connection,
        trace: Option<&Trace>,
    ) -> Option<Stalls> {
        if facts.share(&[Cause::NagleDelayedAck]) < LEAST_SHARE {
            return None;
        }
        let held = held(connection);
        let one_way = (facts.bytes[1] as usize) < held.len();
        let mut stalls = match trace {
            Some(trace) if one_way => messages(facts, trace),
            Some(trace) => exchanges(facts, &held, trace),
            None => from_account(facts, held.len(), one_way),
        };
        stalls.ack_delay_s = ack_delay(facts, connection, trace, stalls.writer)
            .filter(|delay_s| (DELAYS_S[0]..=DELAYS_S[1]).contains(delay_s))
            .filter(|delay_s| !(LINUX_DELAY_S[0]..=LINUX_DELAY_S[1]).contains(delay_s));
        Some(stalls)
    }

    /// Returns the share of the active time that TCP_NODELAY gives back, 0 to 1, with its bounds, from the
    /// account of a connection alone.
    ///
    /// A reply needs its round trip with and without a stall before it, and the account has that round trip
    /// apart. A message without a reply is under way for a round trip in either case, in which there are
    /// no other messages at best.
    pub(crate) fn given_back(facts: &Facts, stalls: Option<&Stalls>) -> Option<(f64, [f64; 2])> {
        let stalled_s = facts.on(&[Cause::NagleDelayedAck]);
        if stalled_s <= 0.0 {
            return None;
        }
        let trips_s = |stalls: &Stalls| {
            let all = stalls.count as f64;
            if !stalls.replies {
                return all * facts.rtt_s.min(stalls.interval_s.max(0.0));
            }
            // Not every exchange stalls.
            let each_s = facts.rtt_s + stalls.ack_delay_s.unwrap_or(USUAL_DELAY_S);
            all.min(stalled_s / each_s) * facts.rtt_s
        };
        let alone = stalls.filter(|stalls| !stalls.replies).map_or(0.0, trips_s);
        let off = TRIP_ERROR * stalls.map_or(facts.rtt_s, trips_s);
        let share = |needed_s: f64, sure: f64| {
            ((sure * stalled_s - needed_s) / facts.active_s).clamp(0.0, 1.0)
        };
        let sure = facts.stall_confidence;
        Some((share(alone, 1.0), [share(alone + off, sure), share(alone - off, 1.0)]))
    }
}

fn held(connection: &Connection) -> Vec<&Interval> {
    connection.intervals.iter().filter(|it| it.cause == Cause::NagleDelayedAck).collect()
}

fn data(trace: &Trace) -> Vec<&Point> {
    trace.points.iter().filter(|point| point.kind == PointKind::Data).collect()
}

fn length(point: &Point) -> u64 {
    point.to.saturating_sub(point.from)
}

/// Messages in one direction: a segment has one or several of them.
fn messages(facts: &Facts, trace: &Trace) -> Stalls {
    let data = data(trace);
    let short = data.iter().map(|point| length(point)).filter(|bytes| (*bytes as f64) < facts.mss);
    let lengths: Vec<u64> = short.filter(|bytes| *bytes > 0).collect();
    let common = lengths.iter().copied().fold(0, divisor);
    let message = if common >= LEAST_MESSAGE {
        common
    } else {
        lengths.iter().copied().min().unwrap_or(LEAST_MESSAGE)
    };
    let count = (facts.bytes[0] / message.max(1)).max(1);
    let span_s = match (data.first(), data.last()) {
        (Some(first), Some(last)) => last.t - first.t,
        _ => facts.active_s,
    };
    Stalls {
        writer: facts.direction,
        count,
        replies: false,
        head: message,
        body: message,
        interval_s: span_s / count.saturating_sub(1).max(1) as f64,
        ack_delay_s: None,
    }
}

/// The greatest common divisor.
fn divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Exchanges: a stall ends with the segment that was held, which is the second write.
fn exchanges(facts: &Facts, held: &[&Interval], trace: &Trace) -> Stalls {
    let data = data(trace);
    let is_sent = |frame: u64| data.binary_search_by_key(&frame, |point| point.frame).is_ok();
    let by_sender = held.iter().filter(|it| is_sent(it.frames[1])).count();
    let apart = |pair: &[&Point]| pair[1].t - pair[0].t > 0.5 * facts.rtt_s;
    let groups = 1 + data.windows(2).filter(|pair| apart(pair)).count();
    if 2 * by_sender < held.len() {
        return exchange(facts, facts.direction.other(), groups.max(held.len()) as u64);
    }
    let mut stalls = exchange(facts, facts.direction, groups.div_ceil(2).max(held.len()) as u64);
    let second = |point: &&&Point| held.iter().any(|it| it.frames[1] == point.frame);
    let usual = |lengths: Vec<f64>| quantile(&lengths, 0.5).filter(|bytes| *bytes >= 1.0);
    let length = |point: &&Point| length(point) as f64;
    let body = usual(data.iter().filter(second).map(length).collect());
    let head = usual(data.iter().filter(|point| !second(point)).map(length).collect());
    if let (Some(head), Some(body)) = (head, body) {
        (stalls.head, stalls.body) = (head as u64, body as u64);
        stalls.count = ((facts.bytes[0] as f64 / (head + body)).round() as u64).max(1);
    }
    stalls
}

/// Exchanges of so many questions, each in two writes of one length.
fn exchange(facts: &Facts, writer: Direction, count: u64) -> Stalls {
    let written = facts.bytes[usize::from(writer != facts.direction)];
    let write = (written / (2 * count.max(1))).max(1);
    Stalls {
        writer,
        count: count.max(1),
        replies: true,
        head: write,
        body: write,
        interval_s: 0.0,
        ack_delay_s: None,
    }
}

/// The same without packets: the end that pauses before it asks is the one that writes twice.
fn from_account(facts: &Facts, held: usize, one_way: bool) -> Stalls {
    let asks = facts.on(&[Cause::ClientIdle]) >= facts.on(&[Cause::ServerIdle]);
    let writer = if asks { Direction::Upload } else { Direction::Download };
    let count = held.max(facts.phases.len()) as u64;
    let writer = if one_way { facts.direction } else { writer };
    let interval_s = facts.active_s / count.max(1) as f64;
    Stalls { replies: !one_way, interval_s, ..exchange(facts, writer, count) }
}

/// Time from the arrival of a segment to its acknowledgment in stalls: the median, s.
fn ack_delay(
    facts: &Facts,
    connection: &Connection,
    trace: Option<&Trace>,
    writer: Direction,
) -> Option<f64> {
    let held = held(connection);
    let Some(trace) = trace.filter(|_| writer == facts.direction) else {
        // From the first write to the held one: a round trip and the delay.
        let lengths: Vec<f64> = held.iter().map(|it| it.to_s - it.from_s - facts.rtt_s).collect();
        return quantile(&lengths, 0.5);
    };
    let to_receiver = facts.rtt_to_s[usize::from(writer == Direction::Upload)];
    let trip_s = to_receiver.unwrap_or(facts.rtt_s);
    let mut sent: Option<&Point> = None;
    let mut delays: Vec<f64> = Vec::new();
    let mut at = 0;
    for point in &trace.points {
        match (point.kind, sent) {
            (PointKind::Data, None) => sent = Some(point),
            (PointKind::Ack, Some(data)) if point.from >= data.to => {
                while held.get(at).is_some_and(|it| it.to_s < point.t - 1e-6) {
                    at += 1;
                }
                if held.get(at).is_some_and(|it| it.from_s <= data.t + 1e-6) {
                    delays.push(point.t - data.t - trip_s);
                }
                sent = None;
            }
            _ => {}
        }
    }
    quantile(&delays, 0.5)
}

/// Mean confidence of the stalls in a connection's account, 0 to 1.
pub(crate) fn confidence(connection: &Connection) -> f64 {
    let shares = connection.causes.iter().filter(|share| share.cause == Cause::NagleDelayedAck);
    mean(&shares.map(|share| share.confidence).collect::<Vec<f64>>()).unwrap_or(0.0)
}
