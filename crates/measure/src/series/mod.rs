//! The sink for plots: values against time, bounded in memory.
//!
//! | file | what |
//! | --- | --- |
//! | `trace.rs` | [`Trace`]: points in order, thinned without losing a peak |
//! | `rate.rs` | throughput per interval |
//! | `segments.rs` | [`SegmentTrace`]: every segment and ACK at the sending host, up to a bound |
//!
//! Not modelled: the window and round trips of the end that only receives.

mod rate;
mod segments;
#[cfg(test)]
mod tests;
mod trace;

pub use segments::{SegmentMark, SegmentPoint, SegmentTrace, SenderTap};
pub use trace::{Point, Trace};

use crate::RunLabels;
use ackord_events::{Event, LinkId, SegmentKind, Sink};
use ackord_units::{Bytes, Rate, Seq, Span, Time};
use ackord_wire::Side;
use rate::{RateBuilder, round_interval};
use segments::SegmentTraceBuilder;
use trace::TraceBuilder;

/// How much to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesOptions {
    /// Points kept per series (at least 4): all if there are no more, else their outline and as
    /// many of the beginning.
    pub max_points: usize,
    /// Interval of the throughput series; a round one that gives 100 to 250 points when absent.
    pub interval: Option<Span>,
    /// Segments, ACKs and SACK blocks kept one by one in the whole run, in equal shares for the first
    /// [`DETAILED_FLOWS`] flows.
    pub max_segments: usize,
}

/// Flows whose segments are kept one by one: as many as a plot has colours.
pub const DETAILED_FLOWS: usize = 7;

impl Default for SeriesOptions {
    /// 4096 points per series, and as many again of a thinned one's beginning: at most 131 kB
    /// each, more than a plot has columns. 250,000 segments: 8 MB in memory, and less than a megabyte in
    /// a report.
    fn default() -> SeriesOptions {
        SeriesOptions { max_points: 4_096, interval: None, max_segments: 250_000 }
    }
}

/// Every series of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SeriesSet {
    /// Length of the run as planned.
    pub duration: Span,
    /// Interval of the throughput series.
    pub interval: Span,
    /// One per connection.
    pub flows: Vec<FlowSeries>,
    /// One per direction of a link.
    pub links: Vec<LinkSeries>,
}

/// One connection, seen from the end that sends. Offsets count bytes of payload from the start of
/// the stream.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowSeries {
    /// Its name in the scenario.
    pub name: String,
    /// Congestion window in bytes; holds until it changes.
    pub cwnd: Trace,
    /// Slow-start threshold in bytes, without the times when there is none.
    pub ssthresh: Trace,
    /// Measured round-trip times in seconds.
    pub rtt: Trace,
    /// End of each segment sent for the first time, as an offset.
    pub sent: Trace,
    /// Start of each retransmitted segment, as an offset.
    pub retransmitted: Trace,
    /// Acknowledged so far, as an offset.
    pub acked: Trace,
    /// Delivered in order so far, as an offset.
    pub delivered: Trace,
    /// Payload delivered per interval, bit/s.
    pub throughput: Trace,
    /// Segments sent, and the ACKs that arrived, one by one.
    pub segments: SegmentTrace,
}

/// One direction of a link.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkSeries {
    /// Its name in the scenario.
    pub name: String,
    /// Nominal rate.
    pub rate: Rate,
    /// Packets waiting; holds until it changes.
    pub queue_packets: Trace,
    /// Bytes waiting; holds until it changes.
    pub queue_bytes: Trace,
    /// Packets that died here, at the length of the queue at that moment in packets.
    pub drops: Trace,
    /// IP bytes whose transmission began per interval, bit/s.
    pub throughput: Trace,
}

/// Folds events into a [`SeriesSet`].
#[derive(Clone, Debug)]
pub struct Series {
    interval: Span,
    flows: Vec<FlowFold>,
    links: Vec<LinkFold>,
}

#[derive(Clone, Debug)]
struct FlowFold {
    name: String,
    sends: Side,
    stream: Option<StreamPosition>,
    cwnd: TraceBuilder,
    ssthresh: TraceBuilder,
    rtt: TraceBuilder,
    sent: TraceBuilder,
    retransmitted: TraceBuilder,
    acked: TraceBuilder,
    delivered: TraceBuilder,
    throughput: RateBuilder,
    segments: SegmentTraceBuilder,
}

#[derive(Clone, Debug)]
struct LinkFold {
    name: String,
    rate: Rate,
    length: u32,
    queue_packets: TraceBuilder,
    queue_bytes: TraceBuilder,
    drops: TraceBuilder,
    throughput: RateBuilder,
}

/// Turns sequence numbers, which wrap, into offsets in the stream, which do not.
#[derive(Clone, Copy, Debug)]
struct StreamPosition {
    seq: Seq,
    offset: u64,
}

impl StreamPosition {
    /// The offset of `seq`, which lies less than 2^31 bytes from the last one asked for.
    fn offset_of(&mut self, seq: Seq) -> u64 {
        self.offset = if seq.before(self.seq) {
            self.offset.saturating_sub(u64::from(self.seq.since(seq)))
        } else {
            self.offset + u64::from(seq.since(self.seq))
        };
        self.seq = seq;
        self.offset
    }
}

impl Series {
    /// A sink for a run whose flows and links are these.
    pub fn new(labels: &RunLabels, options: SeriesOptions) -> Series {
        let duration = labels.duration;
        let interval = options.interval.unwrap_or_else(|| round_interval(duration));
        let interval = interval.max(Span::from_nanos(1));
        let trace = || TraceBuilder::new(options.max_points.max(4), duration);
        let throughput = || RateBuilder::new(interval, duration);
        let detailed = labels.flows.len().clamp(1, DETAILED_FLOWS);
        let share = |number| if number < detailed { options.max_segments / detailed } else { 0 };
        let flow = |(number, label): (usize, &crate::FlowLabel)| FlowFold {
            name: label.name.clone(),
            sends: label.sends,
            stream: None,
            cwnd: trace(),
            ssthresh: trace(),
            rtt: trace(),
            sent: trace(),
            retransmitted: trace(),
            acked: trace(),
            delivered: trace(),
            throughput: throughput(),
            segments: SegmentTraceBuilder::new(share(number)),
        };
        let link = |label: &crate::LinkLabel| LinkFold {
            name: label.name.clone(),
            rate: label.rate,
            length: 0,
            queue_packets: trace(),
            queue_bytes: trace(),
            drops: trace(),
            throughput: throughput(),
        };
        Series {
            interval,
            flows: labels.flows.iter().enumerate().map(flow).collect(),
            links: labels.links.iter().map(link).collect(),
        }
    }

    /// The same sink, which takes ACKs, SACK blocks and windows from the packets that pass these taps, one per flow.
    /// For a flow without taps it takes ACKs from [`Event::AckAdvanced`], and knows no windows.
    #[must_use]
    pub fn with_sender_taps(mut self, taps: impl IntoIterator<Item = Option<SenderTap>>) -> Series {
        for (flow, tap) in self.flows.iter_mut().zip(taps) {
            flow.segments.listen(tap);
        }
        self
    }

    /// The series of the run, which really ended at `ended_at`.
    pub fn finish(self, ended_at: Time) -> SeriesSet {
        let flow = |fold: FlowFold| FlowSeries {
            name: fold.name,
            cwnd: fold.cwnd.finish(),
            ssthresh: fold.ssthresh.finish(),
            rtt: fold.rtt.finish(),
            sent: fold.sent.finish(),
            retransmitted: fold.retransmitted.finish(),
            acked: fold.acked.finish(),
            delivered: fold.delivered.finish(),
            throughput: fold.throughput.finish(ended_at),
            segments: fold.segments.finish(),
        };
        let link = |fold: LinkFold| LinkSeries {
            name: fold.name,
            rate: fold.rate,
            queue_packets: fold.queue_packets.finish(),
            queue_bytes: fold.queue_bytes.finish(),
            drops: fold.drops.finish(),
            throughput: fold.throughput.finish(ended_at),
        };
        SeriesSet {
            duration: ended_at.saturating_since(Time::ZERO),
            interval: self.interval,
            flows: self.flows.into_iter().map(flow).collect(),
            links: self.links.into_iter().map(link).collect(),
        }
    }
}

impl Series {
    fn link(&mut self, link: LinkId) -> &mut LinkFold {
        self.links.get_mut(link.0 as usize).expect("the labels name every link")
    }
}

impl Sink for Series {
    /// Links and flows have series of their own; only a link that is not run ahead reports what passes a tap.
    fn needs_order(&self) -> bool {
        self.flows.iter().any(|flow| flow.segments.has_tap())
    }

    /// # Panics
    /// If the event names a flow or link for which there is no label.
    fn emit(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::SegmentSent { endpoint, .. }
            | Event::CwndChanged { endpoint, .. }
            | Event::RttSampled { endpoint, .. }
            | Event::AckAdvanced { endpoint, .. }
            | Event::DataDelivered { endpoint, .. }
            | Event::DatagramDelivered { endpoint, .. } => {
                let flow = self.flows.get_mut(endpoint.flow.0 as usize);
                let flow = flow.expect("the labels name every flow");
                match flow.sends == endpoint.side {
                    true => flow.sender_did(at, event),
                    false => flow.receiver_did(at, event),
                }
            }
            Event::PacketEnqueued { link, queue_packets, queue_bytes, .. } => {
                self.link(link).queue_length(at, queue_packets, queue_bytes);
            }
            Event::PacketDequeued { link, bytes, queue_packets, queue_bytes, .. } => {
                let link = self.link(link);
                link.queue_length(at, queue_packets, queue_bytes);
                link.throughput.add(at, bytes);
            }
            // Packets of hosts that are not simulated may belong to no flow.
            Event::PacketTapped { tap, packet } => {
                if let Some(flow) = self.flows.get_mut(packet.flow.0 as usize) {
                    flow.segments.tapped(at, tap, packet, flow.sends == packet.from);
                }
            }
            // A packet for which there is no way dies on no link.
            Event::PacketDropped { link, .. } => {
                if let Some(link) = self.links.get_mut(link.0 as usize) {
                    link.drops.push(at, f64::from(link.length));
                }
            }
            // Not values against time that a plot has.
            Event::StateChanged { .. }
            | Event::FlowSeen { .. }
            | Event::TransferBegan { .. }
            | Event::TransferCompleted { .. }
            | Event::DatagramSent { .. }
            | Event::AckTimeoutChanged { .. }
            | Event::SegmentLost { .. }
            | Event::RecoveryEntered { .. }
            | Event::RecoveryExited { .. }
            | Event::RecoveryUndone { .. }
            | Event::RetransmissionSpurious { .. }
            | Event::RetransmissionTimeout { .. }
            | Event::R1Reached { .. }
            | Event::SegmentRefused { .. }
            | Event::PacketDuplicated { .. }
            | Event::OutageMet { .. }
            | Event::MediumTaken { .. }
            | Event::ProxySent { .. }
            | Event::ProxyAbsorbed { .. }
            | Event::ProxyReleased { .. }
            | Event::ProxyActed { .. }
            | Event::ProxyFailed { .. }
            | Event::ProxyRestarted { .. } => {}
        }
    }
}

impl FlowFold {
    fn sender_did(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::SegmentSent { seq, payload, kind, .. } => {
                self.segment_sent(at, seq, payload, kind);
            }
            Event::CwndChanged { cwnd, ssthresh, .. } => self.cwnd_changed(at, cwnd, ssthresh),
            Event::RttSampled { rtt, .. } => self.rtt.push(at, rtt.as_secs_f64()),
            Event::AckAdvanced { stream_offset, .. } => {
                self.acked.push(at, stream_offset.get() as f64);
                self.segments.ack_advanced(at, stream_offset);
            }
            _ => {}
        }
    }

    fn receiver_did(&mut self, at: Time, event: Event<'_>) {
        match event {
            Event::DataDelivered { bytes, stream_offset, .. } => {
                self.delivered.push(at, stream_offset.get() as f64);
                self.throughput.add(at, bytes);
            }
            Event::DatagramDelivered { payload, .. } => self.throughput.add(at, payload),
            _ => {}
        }
    }

    fn cwnd_changed(&mut self, at: Time, cwnd: Bytes, ssthresh: Bytes) {
        self.cwnd.push(at, cwnd.get() as f64);
        if ssthresh != Bytes::MAX {
            self.ssthresh.push(at, ssthresh.get() as f64);
        }
    }

    fn segment_sent(&mut self, at: Time, seq: Seq, payload: Bytes, kind: SegmentKind) {
        // The first segment of a stream is its SYN, which takes one number; the stream begins
        // behind it.
        let handshake = u32::from(payload == Bytes::ZERO);
        let stream = self.stream.get_or_insert(StreamPosition { seq: seq + handshake, offset: 0 });
        self.segments.begin(seq + handshake);
        if payload == Bytes::ZERO {
            return;
        }
        let start = stream.offset_of(seq);
        self.segments.sent(at, start, payload, kind);
        let start = start as f64;
        match kind {
            SegmentKind::New | SegmentKind::WindowProbe => {
                self.sent.push(at, start + payload.get() as f64);
            }
            SegmentKind::Retransmission => self.retransmitted.push(at, start),
            SegmentKind::PureAck | SegmentKind::KeepaliveProbe | SegmentKind::Reset => {}
        }
    }
}

impl LinkFold {
    fn queue_length(&mut self, at: Time, packets: u32, bytes: Bytes) {
        self.length = packets;
        self.queue_packets.push(at, f64::from(packets));
        self.queue_bytes.push(at, bytes.get() as f64);
    }
}
