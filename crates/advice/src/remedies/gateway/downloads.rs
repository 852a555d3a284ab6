//! The downloads of a capture that was taken at the gateway.

use super::transmissions::{Transmission, transmissions};
use crate::remedies::facts::capacity;
use crate::remedies::model::Place;
use ackord_diagnose::{ArtefactKind, Cause, Connection, Point, PointKind, Trace};
use ackord_live::Direction;
use ackord_measure::stats::quantile;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// A silence of the server of this length, with everything acknowledged, is the application's, s.
const PAUSE_S: f64 = 1.0;
/// A mobile host's window bounds a sender that waits for it for this part of the time.
const BOUND: f64 = 0.1;

/// A connection over which a mobile host, the end that opened it, received data.
#[derive(Clone, Debug)]
pub(super) struct Download {
    /// The end that sent the data.
    pub(super) server: IpAddr,
    /// First packet, s since 1970.
    pub(super) began_s: f64,
    /// First packet to last acknowledgment, s.
    pub(super) lasted_s: f64,
    /// The same without the time in which the server had nothing to send, s.
    pub(super) time_s: f64,
    /// Bytes of the responses, in order.
    pub(super) sizes: Vec<u64>,
    /// Bytes of a request; zero if there was none.
    pub(super) request: u64,
    /// Mean time between a response and the next, s.
    pub(super) gap_s: f64,
    /// Time from the first request to its response, beyond the round trip, s.
    pub(super) think_s: f64,
    /// Shortest round trip between gateway and server, s.
    pub(super) wired_s: f64,
    /// Shortest round trip between gateway and mobile host, s.
    pub(super) air_s: f64,
    /// Maximum segment size, bytes.
    pub(super) mss: f64,
    /// Largest window of the mobile host, bytes, if it bound the sender.
    pub(super) window: Option<u64>,
    /// Rate of trains of packets behind the gateway, bit/s of payload.
    pub(super) capacity: Option<f64>,
    /// Highest rate over a round trip, bit/s of payload.
    pub(super) rate: f64,
    /// Its data packets.
    pub(super) sent: Vec<Transmission>,
}

/// Why a connection is not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LeftOut {
    /// Without data, or with more from the mobile host than to it.
    NoDownload,
    /// It was open before the capture began.
    BeganEarlier,
    /// It has no round trips on both sides.
    NoRoundTrip,
    /// There was no room for its packets.
    NoRoom,
}

impl LeftOut {
    /// Returns the reason as part of a sentence.
    pub(super) fn words(self) -> &'static str {
        match self {
            LeftOut::NoDownload => "no data towards the end that opened it, or more from it",
            LeftOut::BeganEarlier => "open before the capture began",
            LeftOut::NoRoundTrip => "no round trip on one of the two sides",
            LeftOut::NoRoom => "after the packets that are kept in memory",
        }
    }
}

/// Gives downloads from one server the median of their round trips to it: single connections have wrong ones.
pub(super) fn settle(downloads: &mut [Download]) {
    let mut trips: BTreeMap<IpAddr, Vec<f64>> = BTreeMap::new();
    for one in downloads.iter() {
        trips.entry(one.server).or_default().push(one.wired_s);
    }
    for one in downloads {
        one.wired_s = quantile(&trips[&one.server], 0.5).unwrap_or(one.wired_s);
    }
}

/// A response: time of its first byte and of its last acknowledgment, and its bytes.
struct Response {
    from_s: f64,
    to_s: f64,
    bytes: u64,
}

impl Download {
    /// Returns what a connection was, as the gateway saw it.
    pub(super) fn of(connection: &Connection, trace: &Trace) -> Result<Download, LeftOut> {
        if connection.bytes_by[1] <= connection.bytes_by[0] {
            return Err(LeftOut::NoDownload);
        }
        let earlier =
            connection.artefacts.iter().any(|one| one.kind == ArtefactKind::BeginsInTheMiddle);
        if earlier {
            return Err(LeftOut::BeganEarlier);
        }
        let [Some(air_s), Some(wired_s)] = connection.rtt_to_s else {
            return Err(LeftOut::NoRoundTrip);
        };
        let responses = responses(trace);
        let (Some(first), Some(last)) = (responses.first(), responses.last()) else {
            return Err(LeftOut::NoDownload);
        };
        let asked = trace.reverse.iter().find(|point| point.kind == PointKind::Data);
        let gaps: f64 = responses.windows(2).map(|pair| pair[1].from_s - pair[0].to_s).sum();
        let mss = f64::from(connection.path.mss.max(100));
        let sizes: Vec<u64> = responses.iter().map(|one| one.bytes).collect();
        let acks = trace.points.iter().filter(|point| point.kind == PointKind::Ack);
        let bound: f64 = connection
            .causes
            .iter()
            .filter(|share| share.cause == Cause::ReceiverWindow)
            .map(|share| share.seconds)
            .sum();
        let window = acks.map(|point| point.to.saturating_sub(point.from)).max().unwrap_or(0);
        Ok(Download {
            server: connection.server.ip(),
            began_s: connection.began_ns as f64 * 1e-9,
            lasted_s: last.to_s,
            time_s: last.to_s - gaps,
            request: asked.map_or(0, |_| connection.bytes_by[0] / sizes.len() as u64),
            gap_s: gaps / (sizes.len() - 1).max(1) as f64,
            think_s: asked.map_or(0.0, |asked| (first.from_s - asked.t - wired_s).max(0.0)),
            sizes,
            wired_s,
            air_s,
            mss,
            window: (bound >= BOUND * connection.duration_s).then_some(window),
            capacity: capacity(
                &outside_recovery(trace),
                Some(Place::Router),
                Direction::Download,
                mss,
            )
            .map(|(rate, _)| rate),
            rate: connection.path.rate_bit_s.unwrap_or(0.0),
            sent: transmissions(trace, air_s, mss as u64),
        })
    }

    /// Bytes of all responses.
    pub(super) fn bytes(&self) -> u64 {
        self.sizes.iter().sum()
    }
}

/// Returns a trace without the acknowledgments during recoveries. A retransmission that fills a hole has one or two
/// packets acknowledged that arrived before, so that trains of these show a multiple of the link's rate.
fn outside_recovery(trace: &Trace) -> Trace {
    let (mut highest, mut until) = (0, 0);
    let is_outside = |point: &&Point| {
        match point.kind {
            PointKind::Data => highest = highest.max(point.to),
            PointKind::Retransmission | PointKind::OutOfOrder => until = highest,
            PointKind::Ack | PointKind::Sack => return point.from > until,
        }
        true
    };
    let points = trace.points.iter().filter(is_outside).copied().collect();
    Trace { connection: trace.connection, points, reverse: Vec::new() }
}

/// The responses of a connection: a new one begins with the first data after a request, or after a pause, when
/// everything before it has been acknowledged.
fn responses(trace: &Trace) -> Vec<Response> {
    let mut requests =
        trace.reverse.iter().filter(|point| point.kind == PointKind::Data).map(|one| one.t);
    let mut asked = requests.next();
    let mut found: Vec<Response> = Vec::new();
    let (mut highest, mut acked) = (0, 0);
    for point in &trace.points {
        match point.kind {
            PointKind::Data | PointKind::OutOfOrder => {
                let mut is_new = found.is_empty();
                while asked.is_some_and(|t| t <= point.t) {
                    is_new = true;
                    asked = requests.next();
                }
                is_new |= found.last().is_some_and(|one| point.t - one.to_s >= PAUSE_S);
                if found.is_empty() || (is_new && acked >= highest) {
                    found.push(Response { from_s: point.t, to_s: point.t, bytes: 0 });
                }
                if let Some(last) = found.last_mut() {
                    last.bytes += point.to.saturating_sub(point.from);
                }
                highest = highest.max(point.to);
            }
            PointKind::Ack if point.from > acked => {
                acked = point.from;
                if let Some(last) = found.last_mut() {
                    last.to_s = point.t;
                }
            }
            _ => {}
        }
    }
    found
}
