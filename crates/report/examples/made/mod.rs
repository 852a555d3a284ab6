//! A made-up diagnosis with packets, for tests and the gallery: a sender with a window, a queue, losses
//! now and then, and an ACK for every segment. It is arithmetic, not a simulation.

use ackord_diagnose::{
    Artefact, ArtefactKind, CaptureRead, Cause, CauseShare, Connection, Diagnosis, Interval,
    Limits, PathFacts, Point, PointKind, Remedy, Trace, Vantage,
};
use std::collections::BTreeMap;

const MSS: u64 = 1_448;
const BASE_RTT_S: f64 = 0.04;
const SEGMENT_S: f64 = 0.001_2;
const WINDOW: u64 = 400_000;

/// How the made-up transfer goes.
#[derive(Clone, Copy)]
pub(crate) struct Made {
    /// Points of its graph, about.
    pub(crate) points: usize,
    /// One in so many segments is lost; what a remedy changes.
    pub(crate) loss_every: u64,
}

/// A diagnosis with `connections` connections, the first of which has packets.
pub(crate) fn diagnosis(made: Made, connections: u32) -> (Diagnosis, Trace) {
    let mut sender = Sender::default();
    while sender.points.len() < made.points {
        sender.round(made);
    }
    let mut points = sender.points;
    points.sort_by(|one, other| one.t.total_cmp(&other.t));
    for (number, point) in points.iter_mut().enumerate() {
        point.frame = number as u64 + 4;
    }
    let intervals = framed(sender.intervals, &points);
    let first = connection(0, &intervals, sender.lost, &points);
    let others = (1..connections).map(|id| Connection {
        id,
        client: format!("10.1.2.{}:{}", id % 250 + 1, 40_000 + id).parse().expect("an address"),
        causes: shares(&intervals, 1.0 / f64::from(id + 1)),
        intervals: Vec::new(),
        ..first.clone()
    });
    let connections = std::iter::once(first.clone()).chain(others).collect();
    let diagnosis =
        Diagnosis { captures: vec![capture(points.len())], artefacts: artefacts(), connections };
    // Now and then a message of 100 bytes goes the other way.
    let answer = |(number, point): (usize, &Point)| Point {
        kind: PointKind::Data,
        from: number as u64 * 100,
        to: (number as u64 + 1) * 100,
        ..*point
    };
    let reverse = points.iter().step_by(500).enumerate().map(answer).collect();
    (diagnosis, Trace { connection: 0, points, reverse })
}

/// A sender, round trip by round trip.
struct Sender {
    now: f64,
    next: u64,
    cwnd: u64,
    points: Vec<Point>,
    intervals: Vec<Interval>,
    lost: u64,
    segment: u64,
}

impl Default for Sender {
    fn default() -> Sender {
        let mut sender = Sender {
            now: 0.0,
            next: 1,
            cwnd: 10,
            points: Vec::new(),
            intervals: Vec::new(),
            lost: 0,
            segment: 0,
        };
        sender.spend(BASE_RTT_S, Cause::SetUp, "One round trip for SYN and SYN-ACK.");
        sender
    }
}

impl Sender {
    fn spend(&mut self, span: f64, cause: Cause, reason: &str) {
        let from_s = self.now;
        self.now += span;
        self.intervals.push(Interval {
            from_s,
            to_s: self.now,
            cause,
            confidence: 0.6 + 0.4 * ((self.intervals.len() * 7 % 10) as f64 / 10.0),
            frames: [0, 0],
            reason: reason.to_owned(),
        });
    }

    fn point(&mut self, t: f64, kind: PointKind, from: u64, to: u64) {
        self.points.push(Point { t, kind, from, to, frame: 0 });
    }

    /// A window full, and what comes back.
    fn round(&mut self, made: Made) {
        let (began, first) = (self.now, self.next);
        let queued = self.cwnd.saturating_sub(33) as f64 * SEGMENT_S * 0.6;
        let rtt = BASE_RTT_S + queued;
        let hole = (0..self.cwnd)
            .find(|number| (self.segment + number) % made.loss_every == made.loss_every - 1);
        for number in 0..self.cwnd {
            let at = began + number as f64 * SEGMENT_S;
            let from = first + number * MSS;
            // Now and then two change places on the way.
            let swapped = (self.segment + number) % 1_511 == 700;
            let kind = if swapped { PointKind::OutOfOrder } else { PointKind::Data };
            self.point(at, kind, from, from + MSS);
            let ack = match hole {
                Some(hole) if number > hole => first + hole * MSS,
                Some(hole) if number == hole => continue,
                _ => from + MSS,
            };
            let back = at + rtt + (number % 5) as f64 * 0.000_3;
            if let Some(hole) = hole.filter(|hole| number > *hole) {
                self.point(back, PointKind::Sack, first + (hole + 1) * MSS, from + MSS);
            }
            self.point(back, PointKind::Ack, ack, ack + WINDOW - (number % 7) * 4_000);
        }
        self.next = first + self.cwnd * MSS;
        self.segment += self.cwnd;
        let sending = self.cwnd as f64 * SEGMENT_S;
        self.account(sending.max(rtt));
        if let Some(hole) = hole {
            self.recover(first + hole * MSS, rtt);
        } else if self.segment % 17 == 3 {
            self.spend(
                0.08,
                Cause::ClientIdle,
                "Everything was acknowledged, and nothing new came for two round trips.",
            );
        }
        self.cwnd =
            if hole.is_some() { (self.cwnd / 2).max(4) } else { self.cwnd + 1 + self.cwnd / 8 }
                .min(90);
    }

    fn account(&mut self, span: f64) {
        let (cause, reason) = match self.cwnd {
            0..24 => (Cause::WindowGrowth, "The window was below what the path holds and grew."),
            24..40 => (Cause::PathLimited, "Data arrived as fast as the path carries them."),
            40..80 => (
                Cause::QueueingOwn,
                "Round trips rose above the shortest with this connection's own bytes in flight.",
            ),
            _ => (Cause::ReceiverWindow, "Flight stood at the advertised window."),
        };
        self.spend(span, cause, reason);
    }

    fn recover(&mut self, from: u64, rtt: f64) {
        self.lost += 1;
        let timer = self.lost.is_multiple_of(4);
        let (wait, cause, reason) = match timer {
            true => (
                0.25,
                Cause::TimeoutTail,
                "The last segment before a pause was lost: no duplicate ACKs came, and the timer ran out after 250 ms.",
            ),
            false => (
                rtt * 0.5,
                Cause::FastRecovery,
                "Three duplicate ACKs came, and one segment was retransmitted.",
            ),
        };
        let at = self.now + wait;
        self.point(at, PointKind::Retransmission, from, from + MSS);
        self.point(at + rtt, PointKind::Ack, self.next, self.next + WINDOW);
        self.spend(wait + rtt, cause, reason);
    }
}

fn framed(mut intervals: Vec<Interval>, points: &[Point]) -> Vec<Interval> {
    for interval in &mut intervals {
        let at = |t: f64| points.partition_point(|point| point.t < t) as u64 + 4;
        interval.frames = [at(interval.from_s), at(interval.to_s)];
    }
    intervals
}

/// What was spent on each cause, times `factor`; the rest was the path.
fn shares(intervals: &[Interval], factor: f64) -> Vec<CauseShare> {
    let mut sums = BTreeMap::new();
    let mut frames = BTreeMap::new();
    for interval in intervals {
        let span = interval.to_s - interval.from_s;
        let lost = if interval.cause.is_loss() { span * factor } else { span };
        *sums.entry(interval.cause).or_insert(0.0) += lost;
        *sums.entry(Cause::PathLimited).or_insert(0.0) += span - lost;
        frames.entry(interval.cause).or_insert_with(Vec::new).push(interval.frames[0]);
    }
    let mut shares: Vec<_> = sums
        .into_iter()
        .map(|(cause, seconds)| CauseShare {
            cause,
            seconds,
            confidence: 0.8,
            frames: frames
                .get(&cause)
                .map_or(Vec::new(), |all| all.iter().copied().take(4).collect()),
        })
        .collect();
    shares.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    shares
}

fn connection(id: u32, intervals: &[Interval], lost: u64, points: &[Point]) -> Connection {
    let is_data = |point: &&Point| matches!(point.kind, PointKind::Data | PointKind::OutOfOrder);
    let segments = points.iter().filter(is_data).count() as u64;
    let ends = intervals.last().map_or(0.0, |last| last.to_s);
    Connection {
        id,
        client: "192.0.2.17:51724".parse().expect("an address"),
        server: "198.51.100.5:443".parse().expect("an address"),
        began_ns: 1_700_000_000_000_000_000,
        duration_s: ends,
        packets: [segments + 3, segments + 2],
        bytes: segments * MSS,
        bytes_by: [segments * MSS, 0],
        retransmitted_bytes: lost * MSS,
        vantage: Vantage::NearSender,
        vantage_confidence: 0.9,
        rtt_to_s: [Some(0.000_1), Some(BASE_RTT_S)],
        path: PathFacts {
            base_rtt_s: Some(BASE_RTT_S),
            rate_bit_s: Some(MSS as f64 * 8.0 / SEGMENT_S),
            queue_s: Some(0.04),
            lost,
            segments,
            loss_events: lost,
            reordered: 3,
            mss: 1_448,
            policer: None,
            shaper_rate_bit_s: None,
            between: None,
            radio: None,
        },
        causes: shares(intervals, 1.0),
        intervals: intervals.to_vec(),
        limits: Limits { rwin_s: 0.2, cwnd_s: 4.0, snd_s: 0.5 },
        remedies: remedies(),
        artefacts: Vec::new(),
    }
}

fn remedies() -> Vec<Remedy> {
    let made = |remedy: &str, gain, ci95, place: &str, command: &str| Remedy {
        remedy: remedy.to_owned(),
        gain_percent: gain,
        ci95,
        r#where: place.to_owned(),
        command: command.to_owned(),
    };
    vec![
        made(
            "fq-codel",
            31.4,
            [24.0, 38.1],
            "router",
            "ackord gateway run --queue fq-codel --rate 10mbit",
        ),
        made("snoop", 6.2, [-1.5, 13.8], "base station", "ackord gateway run --remedy snoop"),
    ]
}

fn capture(points: usize) -> CaptureRead {
    CaptureRead {
        name: "transfer </script><b>.pcapng".to_owned(),
        format: "pcapng, gzip".to_owned(),
        frames: points as u64 + 40,
        tcp: points as u64 + 20,
        others: vec![("UDP".to_owned(), 16), ("ARP".to_owned(), 4)],
        snap_len: Some(96),
        dropped: Some(2),
        ..CaptureRead::default()
    }
}

fn artefacts() -> Vec<Artefact> {
    vec![Artefact {
        kind: ArtefactKind::SuperSegments,
        count: 17,
        frame: 212,
        meaning: "packets longer than the path can carry: the network card cut them up later"
            .to_owned(),
    }]
}
