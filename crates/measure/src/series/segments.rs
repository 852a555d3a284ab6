//! The segments of a flow one by one, as its sending host sees them: what it sends, and the ACKs, SACK blocks and
//! windows that arrive there.
//!
//! Memory is bounded: of a flow with more points than its share, those before the first point that was refused are
//! kept, so that up to that instant the trace is complete.
//!
//! Not modelled: FINs and SYNs as points (they carry no bytes of the stream); urgent data.

use super::StreamPosition;
use ackord_events::{LinkId, SegmentKind, TapPoint};
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::{Flags, Packet, Segment};

/// What a [`SegmentPoint`] stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentMark {
    /// Payload sent for the first time, or a window probe.
    Data,
    /// Payload that is retransmitted.
    Retransmission,
    /// A SACK block that arrived (RFC 2018 §3).
    Sack,
    /// An ACK that arrived, with the window it advertises.
    Ack,
}

/// A segment that was sent, or a part of an ACK that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentPoint {
    /// When it was sent, or arrived.
    pub at: Time,
    /// What it is.
    pub mark: SegmentMark,
    /// First byte as an offset in the stream; of an ACK the next byte expected.
    pub from: u64,
    /// Behind the last byte; of an ACK the right edge of the window, or `from` where the window is not known.
    pub to: u64,
}

/// The points of a flow in order of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SegmentTrace {
    /// All points before `exact_until`.
    pub points: Vec<SegmentPoint>,
    /// The instant from which on points are missing; [`Time::NEVER`] if none is.
    pub exact_until: Time,
}

impl Default for SegmentTrace {
    fn default() -> SegmentTrace {
        SegmentTrace { points: Vec::new(), exact_until: Time::NEVER }
    }
}

/// Where a flow's packets pass at its sending host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SenderTap {
    /// The direction of a link into which the host sends.
    pub departs: LinkId,
    /// The direction of a link from which ACKs arrive.
    pub arrives: LinkId,
}

/// Collects a [`SegmentTrace`].
#[derive(Clone, Debug)]
pub(super) struct SegmentTraceBuilder {
    max_points: usize,
    points: Vec<SegmentPoint>,
    exact_until: Time,
    tap: Option<SenderTap>,
    /// Where the last ACK was.
    acked: Option<StreamPosition>,
    /// Window scale offered by the sending and by the receiving end (RFC 7323 §2).
    scales: [Option<u8>; 2],
}

impl SegmentTraceBuilder {
    /// Keeps up to `max_points` points.
    pub(super) fn new(max_points: usize) -> SegmentTraceBuilder {
        SegmentTraceBuilder {
            max_points,
            points: Vec::new(),
            exact_until: Time::NEVER,
            tap: None,
            acked: None,
            scales: [None; 2],
        }
    }

    /// Takes ACKs from the packets at `tap`.
    pub(super) fn listen(&mut self, tap: Option<SenderTap>) {
        self.tap = tap;
    }

    /// True if ACKs come from a tap.
    pub(super) fn has_tap(&self) -> bool {
        self.tap.is_some()
    }

    /// Sets where the stream begins, the first time it is called.
    pub(super) fn begin(&mut self, seq: Seq) {
        self.acked.get_or_insert(StreamPosition { seq, offset: 0 });
    }

    /// Records a segment that was sent.
    pub(super) fn sent(&mut self, at: Time, from: u64, payload: Bytes, kind: SegmentKind) {
        let mark = match kind {
            SegmentKind::New | SegmentKind::WindowProbe => SegmentMark::Data,
            SegmentKind::Retransmission => SegmentMark::Retransmission,
            SegmentKind::PureAck | SegmentKind::KeepaliveProbe | SegmentKind::Reset => return,
        };
        self.push(SegmentPoint { at, mark, from, to: from + payload.get() });
    }

    /// Records an ACK that moved `snd_una`, where no tap shows the ACKs themselves.
    pub(super) fn ack_advanced(&mut self, at: Time, offset: Bytes) {
        if self.tap.is_none() {
            let from = offset.get();
            self.push(SegmentPoint { at, mark: SegmentMark::Ack, from, to: from });
        }
    }

    /// Records what a packet at a tap carries; `from_sender` if the sending end sent it.
    pub(super) fn tapped(&mut self, at: Time, tap: TapPoint, packet: &Packet, from_sender: bool) {
        let Some(SenderTap { departs, arrives }) = self.tap else { return };
        let here = match from_sender {
            true => tap == TapPoint::LinkIn(departs),
            false => tap == TapPoint::LinkOut(arrives),
        };
        let Some(segment) = packet.tcp.filter(|_| here) else { return };
        if segment.flags.contains(Flags::SYN) {
            self.scales[usize::from(!from_sender)] = segment.options.window_scale;
        }
        if !from_sender && segment.flags.contains(Flags::ACK) {
            self.ack_arrived(at, &segment);
        }
    }

    fn ack_arrived(&mut self, at: Time, segment: &Segment) {
        let Some(acked) = &mut self.acked else { return };
        let from = acked.offset_of(segment.ack);
        // A copy: a SACK block is no place that later ACKs continue from.
        let mut place = *acked;
        for block in segment.options.sack.as_slice() {
            let (start, end) = (place.offset_of(block.start), place.offset_of(block.end));
            self.push(SegmentPoint { at, mark: SegmentMark::Sack, from: start, to: end });
        }
        // The window of a SYN is not scaled, and neither is any if one end did not offer it (RFC 7323 §2.2).
        let scale = match self.scales {
            [Some(_), Some(scale)] if !segment.flags.contains(Flags::SYN) => scale.min(14),
            _ => 0,
        };
        let to = from + (u64::from(segment.window) << scale);
        self.push(SegmentPoint { at, mark: SegmentMark::Ack, from, to });
    }

    fn push(&mut self, point: SegmentPoint) {
        if self.points.len() < self.max_points {
            self.points.push(point);
        } else {
            self.exact_until = self.exact_until.min(point.at);
        }
    }

    pub(super) fn finish(mut self) -> SegmentTrace {
        // A driver that runs ahead reports a link's packets before or after those of another.
        self.points.sort_by_key(|point| point.at);
        let end = self.points.partition_point(|point| point.at < self.exact_until);
        self.points.truncate(end);
        SegmentTrace { points: self.points, exact_until: self.exact_until }
    }
}
