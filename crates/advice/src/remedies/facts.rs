//! What a connection showed, as far as a model is fitted to it.
//!
//! The account and the path's facts are taken as the diagnosis has them. What they leave out is read
//! from the packets, where these were kept: the rate of trains of packets (what the bottleneck can do,
//! although the window never filled it), how much each transfer had, the receiver's largest window,
//! between which transmissions an outage ended.

use super::backoff::{Backoff, backoff};
use super::limit::RateLimit;
use super::model::{Outage, Place};
use super::stalls::{Stalls, confidence};
use ackord_diagnose::{Cause, Connection, Interval, PointKind, Trace, Vantage};
use ackord_live::Direction;
use ackord_measure::stats::quantile;

/// Whole packets' bytes over payload, with Ethernet's MTU and timestamps.
pub(super) const PACKET: f64 = 1500.0;
/// ACKs from one end of a train to the other.
const TRAIN: usize = 2;
/// No ACK of a train acknowledges more segments: what does, fills a hole.
const TRAIN_STEP: f64 = 4.5;
/// Fewer trains than these tell nothing.
const LEAST_TRAINS: usize = 4;
/// Trains show no bottleneck if their rates at the 70th and at the 98th percentile are outside of these multiples of
/// that at the 90th: a bottleneck spaces packets by its rate, and no train is faster.
const TRAINS_AGREE: [f64; 2] = [0.5, 1.5];
/// Losses that take a smaller share of the active time do not determine it.
const LOSES: f64 = 0.1;
/// Silences shorter than these round trips, or than this, are none where there are longer ones.
const LEAST_SILENCE: (f64, f64) = (2.0, 0.1);
/// Shorter waits of an application are not phases.
const LEAST_PAUSE_S: f64 = 0.002;

/// Losses that no queue explains, their recovery, and what they took.
pub(super) const LOSSES: [Cause; 5] = [
    Cause::RandomLoss,
    Cause::TimeoutTail,
    Cause::TimeoutWindow,
    Cause::TimeoutSmallWindow,
    Cause::TimeoutLostRetransmission,
];

/// What one connection showed.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) direction: Direction,
    pub(crate) place: Option<Place>,
    /// Bytes of the direction of most data, and of the other.
    pub(crate) bytes: [u64; 2],
    /// Seconds by cause, as in [`Cause::ALL`].
    pub(crate) seconds: [f64; Cause::ALL.len()],
    /// As [`active_s`].
    pub(crate) active_s: f64,
    /// What of that came when all bytes were acknowledged: closing, which no model has, s.
    pub(crate) closing_s: f64,
    pub(crate) rtt_s: f64,
    /// Highest rate of payload, bit/s.
    pub(crate) rate: f64,
    /// What the bottleneck can do of payload, by trains, bit/s.
    pub(crate) capacity: Option<f64>,
    /// The quartiles of the rates of trains about `capacity`, as multiples of it.
    pub(crate) capacity_range: [f64; 2],
    /// The rate that no remedy can exceed.
    pub(crate) limit: Option<RateLimit>,
    /// How losses reduce what is in flight.
    pub(crate) backoff: Option<Backoff>,
    pub(crate) queue_s: f64,
    pub(crate) lost: f64,
    pub(crate) events: f64,
    /// Segments lost, and episodes of loss, beside outages.
    pub(crate) lost_beside: f64,
    pub(crate) events_beside: f64,
    pub(crate) segments: f64,
    pub(crate) reordered: f64,
    pub(crate) repeated: f64,
    pub(crate) mss: f64,
    pub(crate) outages: Vec<Outage>,
    pub(crate) delays: Vec<Outage>,
    pub(crate) phases: Vec<Phase>,
    /// Small writes that wait for each other.
    pub(crate) stalls: Option<Stalls>,
    /// Mean confidence of that cause, 0 to 1.
    pub(crate) stall_confidence: f64,
    /// The receiver's largest window, bytes.
    pub(crate) window: Option<f64>,
    /// Round trips from the vantage point to client and server.
    pub(crate) rtt_to_s: [Option<f64>; 2],
}

/// What went on between two waits of an application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Phase {
    pub(crate) from_s: f64,
    pub(crate) to_s: f64,
    pub(crate) bytes: f64,
}

impl Facts {
    pub(crate) fn of(connection: &Connection, trace: Option<&Trace>) -> Facts {
        let direction = match connection.bytes_by[1] > connection.bytes_by[0] {
            true => Direction::Download,
            false => Direction::Upload,
        };
        let sender = usize::from(direction == Direction::Download);
        let path = &connection.path;
        let mut seconds = [0.0; Cause::ALL.len()];
        for share in &connection.causes {
            seconds[share.cause.index()] = share.seconds;
        }
        let trace = trace.filter(|trace| !trace.points.is_empty());
        let mss = f64::from(path.mss.max(100));
        let mut facts = Facts {
            direction,
            place: place(connection, direction),
            bytes: [connection.bytes_by[sender], connection.bytes_by[1 - sender]],
            seconds,
            active_s: active_s(connection),
            closing_s: trace.map_or(0.0, |trace| closing(connection, trace, sender)),
            rtt_s: path.base_rtt_s.or_else(|| both(connection.rtt_to_s)).unwrap_or(0.0),
            rate: path.rate_bit_s.unwrap_or(0.0),
            capacity: None,
            capacity_range: [1.0, 1.0],
            limit: None,
            backoff: None,
            queue_s: path.queue_s.unwrap_or(0.0),
            lost: path.lost as f64,
            events: path.loss_events as f64,
            lost_beside: path.lost as f64,
            events_beside: path.loss_events as f64,
            segments: path.segments as f64,
            reordered: path.reordered as f64,
            repeated: connection.retransmitted_bytes as f64 / mss,
            mss,
            outages: Vec::new(),
            delays: Vec::new(),
            phases: phases(connection, trace, sender),
            stalls: None,
            stall_confidence: confidence(connection),
            window: None,
            rtt_to_s: connection.rtt_to_s,
        };
        // An answer from the receiver comes to where the capture was taken this much later.
        let answer_s = connection.rtt_to_s[1 - sender].unwrap_or(facts.rtt_s);
        facts.outages = outages(connection, trace, Cause::Outage, answer_s);
        facts.delays = outages(connection, None, Cause::SpuriousDelay, facts.rtt_s);
        facts.leave_outages_out(connection, trace);
        if let Some(trace) = trace {
            if let Some((rate, range)) = capacity(trace, facts.place, direction, mss) {
                // A policer drops packets and does not space them: the trains have the sender's rate.
                let loses = facts.lost > 0.0 && facts.share(&LOSSES) >= LOSES;
                let agree = range[0] >= TRAINS_AGREE[0] || range[1] <= TRAINS_AGREE[1];
                if agree || !loses {
                    (facts.capacity, facts.capacity_range) = (Some(rate), range);
                }
            }
            facts.window = window(trace);
            facts.backoff = backoff(trace, facts.place, direction, (facts.rtt_s, mss));
        }
        facts.stalls = Stalls::of(&facts, connection, trace);
        facts.limit = RateLimit::of(&facts, connection, trace);
        facts
    }

    /// What was lost in outages is not lost by chance.
    fn leave_outages_out(&mut self, connection: &Connection, trace: Option<&Trace>) {
        let out: Vec<&Interval> =
            connection.intervals.iter().filter(|it| it.cause == Cause::Outage).collect();
        if out.is_empty() {
            return;
        }
        self.events_beside = (self.events_beside - out.len() as f64).max(0.0);
        let again = |trace: &Trace| {
            let points =
                trace.points.iter().filter(|point| point.kind == PointKind::Retransmission);
            let within = |t: f64| out.iter().any(|it| t >= it.from_s && t <= it.to_s);
            points.filter(|point| within(point.t)).count() as f64
        };
        let beside = trace.map_or(0.0, |trace| self.lost - again(trace));
        self.lost_beside = beside.max(self.events_beside);
    }

    /// The least time in which the connection's bytes can be transferred: at the highest rate that any remedy
    /// is credited with, and a round trip, s.
    pub(crate) fn floor_s(&self) -> f64 {
        let bits = 8.0 * self.bytes[0] as f64;
        self.limit.map_or(0.0, |limit| bits / limit.bit_s) + self.rtt_s
    }

    /// What that leaves to gain at most, percent of the active time.
    pub(crate) fn most_gain_percent(&self) -> f64 {
        (100.0 * (1.0 - self.floor_s() / self.active_s)).clamp(0.0, 100.0)
    }

    /// Seconds spent on any of these.
    pub(crate) fn on(&self, causes: &[Cause]) -> f64 {
        causes.iter().map(|cause| self.seconds[cause.index()]).sum()
    }

    /// The share of the active time spent on any of these.
    pub(crate) fn share(&self, causes: &[Cause]) -> f64 {
        self.on(causes) / self.active_s
    }
}

/// The active time of a connection: from its first packet to its last, without the time in which an
/// application had nothing to send, s.
///
/// This is the only definition of "the time the same transfer would take": of what is observed, of what is
/// simulated, of every gain that is predicted and of every gain that is measured.
pub(crate) fn active_s(connection: &Connection) -> f64 {
    let idle = connection.causes.iter().filter(|share| is_idle(share.cause));
    let idle: f64 = idle.map(|share| share.seconds).sum();
    (connection.duration_s - idle).max(1e-6)
}

fn both([one, other]: [Option<f64>; 2]) -> Option<f64> {
    Some(one? + other?).filter(|sum| *sum > 0.0)
}

fn place(connection: &Connection, direction: Direction) -> Option<Place> {
    let (sender, receiver) = match direction {
        Direction::Download => (Place::Server, Place::Client),
        Direction::Upload => (Place::Client, Place::Server),
    };
    match connection.vantage {
        Vantage::NearSender => Some(sender),
        Vantage::NearReceiver => Some(receiver),
        Vantage::Between => Some(Place::Router),
        Vantage::BothEnds | Vantage::Unknown => None,
    }
}

fn is_idle(cause: Cause) -> bool {
    matches!(cause, Cause::ClientIdle | Cause::ServerIdle)
}

/// Seconds of a connection, without what applications waited, after its last byte was acknowledged.
fn closing(connection: &Connection, trace: &Trace, sender: usize) -> f64 {
    let all = connection.bytes_by[sender];
    let mut acks = trace.points.iter().filter(|point| point.kind == PointKind::Ack);
    let Some(end) = acks.find(|point| point.from >= all) else { return 0.0 };
    let busy = connection.intervals.iter().filter(|interval| !is_idle(interval.cause));
    busy.map(|interval| (interval.to_s - interval.from_s.max(end.t)).max(0.0)).sum()
}

/// Busy stretches between waits of applications, with the bytes of each: counted where there are
/// packets, shared by time where there are none.
fn phases(connection: &Connection, trace: Option<&Trace>, sender: usize) -> Vec<Phase> {
    let mut phases: Vec<Phase> = Vec::new();
    let mut open: Option<Phase> = None;
    for interval in &connection.intervals {
        let long = interval.to_s - interval.from_s >= LEAST_PAUSE_S;
        if is_idle(interval.cause) && long {
            phases.extend(open.take());
        } else if interval.cause != Cause::SetUp && interval.cause != Cause::SynLoss {
            let phase =
                open.get_or_insert(Phase { from_s: interval.from_s, to_s: 0.0, bytes: 0.0 });
            phase.to_s = interval.to_s;
        }
    }
    phases.extend(open);
    let Some(trace) = trace else {
        let all: f64 = phases.iter().map(|phase| phase.to_s - phase.from_s).sum();
        let bytes = connection.bytes_by[sender] as f64;
        for phase in &mut phases {
            phase.bytes = bytes * (phase.to_s - phase.from_s) / all.max(1e-9);
        }
        return phases;
    };
    let mut at = 0;
    for point in trace.points.iter().filter(|point| point.kind == PointKind::Data) {
        // What leaves at the end of a wait belongs to what follows.
        while phases.get(at).is_some_and(|phase| point.t >= phase.to_s - 1e-9) {
            at += 1;
        }
        if let Some(phase) = phases.get_mut(at) {
            phase.bytes += point.to.saturating_sub(point.from) as f64;
        }
    }
    phases.retain(|phase| phase.bytes > 0.0);
    phases
}

/// Times at which nothing passed: silences within what was told to be an outage, which may be several.
fn outages(
    connection: &Connection,
    trace: Option<&Trace>,
    cause: Cause,
    answer_s: f64,
) -> Vec<Outage> {
    let intervals = connection.intervals.iter().filter(|interval| interval.cause == cause);
    let mut found: Vec<Outage> = Vec::new();
    for interval in intervals {
        let (from, to) = (interval.from_s, interval.to_s);
        match trace {
            Some(trace) => {
                let from = unanswered_since(trace, from).unwrap_or(from);
                let spans = silences(trace, (from, to), answer_s);
                found.extend(spans.into_iter().map(|span| silence(trace, span, answer_s)));
            }
            None => found.push(outage((from, to), None, None, answer_s)),
        }
    }
    found
}

/// Returns the time since which what was sent had no answer at `t`: that of the last answer, or of the first
/// segment after it if that was sent later.
fn unanswered_since(trace: &Trace, t: f64) -> Option<f64> {
    let before = &trace.points[..trace.points.partition_point(|point| point.t <= t)];
    let answered =
        before.iter().rposition(|point| matches!(point.kind, PointKind::Ack | PointKind::Sack))?;
    let sent = before[answered..]
        .iter()
        .find(|point| !matches!(point.kind, PointKind::Ack | PointKind::Sack))?;
    Some(sent.t)
}

/// Within a time: from one answer to the next, as far as that is long.
fn silences(trace: &Trace, (from, to): (f64, f64), answer_s: f64) -> Vec<(f64, f64)> {
    let answers =
        trace.points.iter().filter(|point| matches!(point.kind, PointKind::Ack | PointKind::Sack));
    let within = answers.map(|point| point.t).filter(|t| *t > from && *t < to);
    let mut times: Vec<f64> = within.collect();
    times.insert(0, from);
    times.push(to);
    let spans: Vec<(f64, f64)> = times.windows(2).map(|pair| (pair[0], pair[1])).collect();
    let least = (LEAST_SILENCE.0 * answer_s).max(LEAST_SILENCE.1);
    let long: Vec<(f64, f64)> =
        spans.iter().copied().filter(|(from, to)| to - from >= least).collect();
    let longest = || spans.iter().copied().max_by(|a, b| (a.1 - a.0).total_cmp(&(b.1 - b.0)));
    if long.is_empty() { longest().into_iter().collect() } else { long }
}

/// What was sent last in time to be answered at its end had arrived; what was sent before that had not.
fn silence(trace: &Trace, span: (f64, f64), answer_s: f64) -> Outage {
    let sent = trace.points.iter().filter(|point| {
        !matches!(point.kind, PointKind::Ack | PointKind::Sack)
            && point.t > span.0
            && point.t <= span.1 - 0.9 * answer_s
    });
    let sent: Vec<f64> = sent.map(|point| point.t).collect();
    let arrived = sent.last().copied();
    let failed = arrived
        .and_then(|arrived| sent.iter().copied().rfind(|t| arrived - t > 0.2 * answer_s.max(0.01)));
    outage(span, arrived, failed, answer_s)
}

fn outage(
    (from, to): (f64, f64),
    arrived: Option<f64>,
    failed: Option<f64>,
    answer_s: f64,
) -> Outage {
    let arrived = arrived.unwrap_or((to - answer_s).max(from));
    // Without one that was lost: timers double, so the one before was half-way.
    let failed = failed.unwrap_or(from + 0.5 * (arrived - from));
    let least_s = (failed - from).max(1e-3);
    Outage { from_s: from, least_s, most_s: (arrived - from).max(least_s) }
}

/// The rate of trains: a number of ACKs, or of segments, that follow each other closely. With the quartiles
/// of the fast half, as multiples of it.
pub(super) fn capacity(
    trace: &Trace,
    place: Option<Place>,
    direction: Direction,
    mss: f64,
) -> Option<(f64, [f64; 2])> {
    let receives = if direction == Direction::Download { Place::Client } else { Place::Server };
    let mut steps: Vec<(f64, f64)> = Vec::new();
    let mut highest = 0;
    for point in &trace.points {
        let bytes = match point.kind {
            PointKind::Data | PointKind::Retransmission | PointKind::OutOfOrder
                if place == Some(receives) =>
            {
                point.to.saturating_sub(point.from)
            }
            PointKind::Ack if place != Some(receives) && point.from > highest => {
                let bytes = if highest == 0 { 0 } else { point.from - highest };
                highest = point.from;
                bytes
            }
            _ => continue,
        };
        steps.push((point.t, bytes as f64));
    }
    let whole = |steps: &[(f64, f64)]| {
        let inner = &steps[1..];
        let bytes: f64 = inner.iter().map(|(_, bytes)| bytes).sum();
        let usual =
            inner.iter().all(|(_, bytes)| *bytes >= 0.9 * mss && *bytes <= TRAIN_STEP * mss);
        let span = steps[steps.len() - 1].0 - steps[0].0;
        (usual && span > 0.0).then(|| 8.0 * bytes / span)
    };
    let rates: Vec<f64> = steps.windows(TRAIN + 1).filter_map(whole).collect();
    if rates.len() < LEAST_TRAINS {
        return None;
    }
    let rate = quantile(&rates, 0.9)?;
    let [low, high] = [quantile(&rates, 0.7)?, quantile(&rates, 0.98)?].map(|other| other / rate);
    Some((rate, [low, high]))
}

/// The receiver's largest window.
fn window(trace: &Trace) -> Option<f64> {
    let acks = trace.points.iter().filter(|point| point.kind == PointKind::Ack);
    let widths = acks.map(|point| point.to.saturating_sub(point.from) as f64);
    widths.reduce(f64::max).filter(|width| *width > 0.0)
}
