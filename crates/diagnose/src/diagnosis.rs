//! The answer: what was read, what is wrong with it, and the account of each connection.

use crate::Cause;
use ackord_units::{Span, Time};
use serde::{Deserialize, Serialize};
use std::net::SocketAddr;

/// What captures say.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Diagnosis {
    /// The files, in the order given.
    pub captures: Vec<CaptureRead>,
    /// What is wrong with the captures.
    pub artefacts: Vec<Artefact>,
    /// The connections, in order of their first packet.
    pub connections: Vec<Connection>,
}

/// What was read of one file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CaptureRead {
    /// Its name.
    pub name: String,
    /// Its format: "pcap", "pcap (nanoseconds)", "pcapng", with ", gzip" and the like.
    pub format: String,
    /// Frames read.
    pub frames: u64,
    /// Frames that were TCP.
    pub tcp: u64,
    /// Frames that were not, by what they were ("UDP", "QUIC", "ARP", "IPsec ESP", ...).
    pub others: Vec<(String, u64)>,
    /// Frames that were TCP or IP, but too short or malformed.
    pub malformed: u64,
    /// Packets for which the file has no time: simple packet blocks of pcapng. They count with the latest
    /// time before them.
    #[serde(default)]
    pub without_time: u64,
    /// Number of the first of these frames.
    #[serde(skip)]
    pub first_without_time: u64,
    /// Bytes kept of a frame at most, where the file says so.
    pub snap_len: Option<u32>,
    /// Packets that the capturing program says it lost, where the file says so.
    pub dropped: Option<u64>,
    /// Why reading ended before the end of the file, if it did.
    pub damage: Option<String>,
    /// When the first frame was captured, since 1970.
    pub began_ns: u64,
    /// When the last one was.
    pub ended_ns: u64,
}

/// Something in a capture that is not the network's doing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artefact {
    /// What kind.
    pub kind: ArtefactKind,
    /// How many times.
    pub count: u64,
    /// The first frame of it.
    pub frame: u64,
    /// What it means, in a sentence.
    pub meaning: String,
}

/// Kinds of artefacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArtefactKind {
    /// Data were acknowledged that the capture does not have.
    MissingPackets,
    /// Each packet stands in the capture more than once.
    DuplicatedPackets,
    /// Packets stand in the file in another order than their timestamps.
    ReorderedTimestamps,
    /// Packets longer than the path can carry: cut up or put together by a network card.
    SuperSegments,
    /// Connections were open before the capture began.
    BeginsInTheMiddle,
    /// Packets for which the file has no time.
    NoTimes,
    /// The file is damaged or cut off.
    Truncated,
    /// Only one direction of a connection is in the capture.
    OneDirection,
    /// The clock of the capturing machine was set during a connection.
    ClockSet,
    /// The snap length cut TCP options off.
    OptionsCut,
}

/// Where a capture was taken, seen from whoever sent most of the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Vantage {
    /// At the sender, or close to it.
    NearSender,
    /// At the receiver, or close to it.
    NearReceiver,
    /// On the way.
    Between,
    /// At both ends: two files joined.
    BothEnds,
    /// Cannot be told.
    Unknown,
}

/// One connection and its account.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connection {
    /// Number in the order of first packets, from 0.
    pub id: u32,
    /// Who opened it, or who seems to have.
    pub client: SocketAddr,
    /// The other end.
    pub server: SocketAddr,
    /// Its first packet, since 1970.
    pub began_ns: u64,
    /// First packet to last.
    pub duration_s: f64,
    /// Packets from the client and from the server.
    pub packets: [u64; 2],
    /// Bytes of payload, each once, both ways.
    pub bytes: u64,
    /// The same from the client and from the server.
    pub bytes_by: [u64; 2],
    /// Bytes retransmitted, by exact ranges.
    pub retransmitted_bytes: u64,
    /// Where the capture was taken.
    pub vantage: Vantage,
    /// How sure that is, 0 to 1.
    pub vantage_confidence: f64,
    /// Shortest round trip between the vantage point and the client, and the server.
    pub rtt_to_s: [Option<f64>; 2],
    /// What is known of the path.
    pub path: PathFacts,
    /// The account, greatest first. The seconds add up to `duration_s`.
    pub causes: Vec<CauseShare>,
    /// The same along the time.
    pub intervals: Vec<Interval>,
    /// What the sender was limited by (RFC 4898).
    pub limits: Limits,
    /// What would help, best first.
    #[serde(default)]
    pub remedies: Vec<Remedy>,
    /// What is wrong with this connection in the capture.
    pub artefacts: Vec<Artefact>,
}

/// Time spent on one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CauseShare {
    /// On what.
    pub cause: Cause,
    /// How long, all in all.
    pub seconds: f64,
    /// How sure that is, 0 to 1: the mean over its seconds.
    pub confidence: f64,
    /// Frames that show it, a few.
    pub frames: Vec<u64>,
}

/// A stretch of time spent on one cause.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Since the connection's first packet.
    pub from_s: f64,
    /// Its end.
    pub to_s: f64,
    /// On what.
    pub cause: Cause,
    /// How sure, 0 to 1.
    pub confidence: f64,
    /// Its first and its last frame.
    pub frames: [u64; 2],
    /// Why, in a sentence.
    pub reason: String,
}

/// What the sender of most data was limited by, as RFC 4898 and `ss` have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// `SndLimTimeRwin`: by the receiver's window, s.
    pub rwin_s: f64,
    /// `SndLimTimeCwnd`: by the congestion window or the path, s.
    pub cwnd_s: f64,
    /// `SndLimTimeSnd`: by the sending application or its buffer, s.
    pub snd_s: f64,
}

/// What a connection shows of its path, in the direction of most data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathFacts {
    /// Shortest round trip, s.
    pub base_rtt_s: Option<f64>,
    /// Highest rate of delivery over a round trip, bit/s.
    pub rate_bit_s: Option<f64>,
    /// Most that the round trip rose above the shortest, s.
    pub queue_s: Option<f64>,
    /// Segments lost, and segments sent.
    pub lost: u64,
    /// Data segments seen.
    pub segments: u64,
    /// Episodes of loss.
    pub loss_events: u64,
    /// Segments that came behind later ones, without having been lost.
    pub reordered: u64,
    /// Maximum segment size in use, bytes.
    pub mss: u32,
    /// The policer that dropped its packets, if the losses are those of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policer: Option<PolicerFacts>,
    /// Rate to which a shaper held it after a burst, bit/s of payload, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shaper_rate_bit_s: Option<f64>,
    /// What two captures at different places show of the way between them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub between: Option<Between>,
    /// Frames of both directions on the air, in captures of 802.11.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<RadioFacts>,
}

/// 802.11 frames of a connection as a monitor captured them: those from the client, and from the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RadioFacts {
    /// Frames, repetitions included.
    pub frames: [u64; 2],
    /// Frames with the retry bit: they repeat one that was not acknowledged on the air.
    pub retries: [u64; 2],
    /// The same as a share of the frames, 0 to 1.
    pub retry_share: [Option<f64>; 2],
    /// Median rate of the frames, bit/s, if the capture has rates.
    pub rate_bit_s: [Option<f64>; 2],
    /// Airtime of the frames, s, if the capture has rates.
    pub airtime_s: [Option<f64>; 2],
    /// The same as a share of the connection's active time: its duration without the idle time of applications.
    pub airtime_share: [Option<f64>; 2],
}

/// A token bucket without a queue, in bytes of payload.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicerFacts {
    /// Rate at which the bucket fills, bit/s. Absent if it is full again before each burst: then nothing shows its
    /// rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_bit_s: Option<f64>,
    /// Size of the bucket, bytes.
    pub burst_bytes: u64,
    /// Whether other connections in the capture share it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub shared: bool,
}

/// What became of packets between two places of capture: of those from the client, and from the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Between {
    /// Packets that one capture has and the other has not.
    pub lost: [u64; 2],
    /// How much longer than the quickest packet others took, whatever the clocks of the two captures
    /// differ by.
    pub delay: [Option<DelayBetween>; 2],
}

/// How much longer than the quickest packets took, s.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DelayBetween {
    /// Packets that were known in both captures.
    pub packets: u64,
    /// Half of them took no longer than this.
    pub median_s: f64,
    /// 95 of 100.
    pub p95_s: f64,
    /// The slowest.
    pub most_s: f64,
}

/// What would help a connection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remedy {
    /// Its name.
    pub remedy: String,
    /// Predicted gain: how much less time the same transfer takes, percent.
    pub gain_percent: f64,
    /// The 95 % interval of the gain, percent.
    pub ci95: [f64; 2],
    /// Where it has to be installed.
    pub r#where: String,
    /// The command that does it.
    pub command: String,
}

/// A connection's packets, for a picture.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Trace {
    /// Which connection.
    pub connection: u32,
    /// The points of the direction of most data, in order of time.
    pub points: Vec<Point>,
    /// The points of the other direction, in order of time.
    #[serde(default)]
    pub reverse: Vec<Point>,
}

/// One point of a time-sequence graph.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Point {
    /// Since the connection's first packet, s.
    pub t: f64,
    /// What it is.
    pub kind: PointKind,
    /// Offset in the stream: of the first byte, of the ACK, of the window's edge.
    pub from: u64,
    /// The byte after the last, for data and SACK; for ACKs the edge of the window.
    pub to: u64,
    /// Frame.
    pub frame: u64,
}

/// Kinds of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointKind {
    /// A data segment.
    Data,
    /// Bytes that were seen before.
    Retransmission,
    /// Bytes that were not seen before, behind later ones.
    OutOfOrder,
    /// An ACK.
    Ack,
    /// A SACK block.
    Sack,
}

pub(crate) fn seconds(span: Span) -> f64 {
    span.as_secs_f64()
}

pub(crate) fn since(at: Time, began: Time) -> f64 {
    seconds(at.saturating_since(began))
}
