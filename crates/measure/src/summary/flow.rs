//! The counters of one connection.

use super::datagrams::DatagramFold;
use super::outages::OutageFold;
use super::transfers::TransferFold;
use super::{bit_rate, mean::StepMean, seconds_between};
use crate::{FlowKind, FlowLabel, FlowSummary, Spread};
use ackord_events::{CwndReason, Event, RecoveryKind, SegmentKind};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::Side;

#[derive(Clone, Debug)]
pub(super) struct FlowFold {
    /// What it comes to so far: all that is counted. The rest is worked out at the end.
    sum: FlowSummary,
    sends: Side,
    size: Option<Bytes>,
    started_at: Time,
    /// What the sender was told that its peer has.
    bytes_acknowledged: u64,
    completed_at: Option<Time>,
    /// When new data last arrived, and the longest time without.
    last_new: Option<Time>,
    longest_stall: Span,
    cwnd: StepMean,
    rtt: Spread,
    /// Boxed, for most flows have none.
    ack_timeout: Option<Box<Spread>>,
    /// Boxed, for most flows have none.
    transfers: Option<Box<TransferFold>>,
    /// Boxed likewise.
    datagrams: Option<Box<DatagramFold>>,
    /// Only where the path has outages.
    outages: Option<Box<OutageFold>>,
}

impl FlowFold {
    pub(super) fn new(label: &FlowLabel, outages: bool) -> FlowFold {
        FlowFold {
            sum: FlowSummary {
                name: label.name.clone(),
                mechanisms: label.mechanisms.clone(),
                profile: label.profile.clone(),
                started_s: label.started_at.as_secs_f64(),
                size_bytes: label.size.map(Bytes::get),
                ..FlowSummary::default()
            },
            sends: label.sends,
            size: label.size,
            started_at: label.started_at,
            bytes_acknowledged: 0,
            completed_at: None,
            last_new: None,
            longest_stall: Span::ZERO,
            cwnd: StepMean::default(),
            rtt: Spread::coarse(),
            ack_timeout: None,
            transfers: None,
            datagrams: match label.kind {
                FlowKind::Connection => None,
                FlowKind::Datagrams => Some(Box::new(DatagramFold::new())),
            },
            outages: outages.then(Box::default),
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.sum.name
    }

    /// Counts what one of its ends did.
    #[inline]
    pub(super) fn emit(&mut self, at: Time, of: Side, event: Event<'_>) {
        match event {
            Event::SegmentSent { payload, kind, .. } => self.segment_sent(of, payload, kind),
            Event::DataDelivered { stream_offset, .. } => self.delivered(at, of, stream_offset),
            Event::DatagramSent { .. } => self.datagrams().sent(),
            Event::DatagramDelivered { payload, one_way_delay, .. } => {
                self.datagrams().delivered(payload, one_way_delay);
            }
            Event::AckAdvanced { stream_offset, .. } => self.acknowledged(of, stream_offset),
            Event::TransferBegan { index, .. } => self.transfers().began(at, index),
            Event::TransferCompleted { index, bytes, .. } => {
                self.transfers().completed(at, index, bytes);
            }
            Event::CwndChanged { cwnd, reason, .. } => self.cwnd_changed(at, of, cwnd, reason),
            Event::RttSampled { rtt, .. } => self.rtt_sampled(of, rtt),
            Event::AckTimeoutChanged { ato, .. } => self.ack_timeout_changed(of, ato),
            Event::SegmentLost { bytes, .. } => self.segment_lost(of, bytes),
            Event::RecoveryEntered { kind, .. } => self.recovery_entered(of, kind),
            Event::RetransmissionSpurious { .. } => self.retransmitted_in_vain(of),
            Event::RetransmissionTimeout { .. } => self.timed_out(of),
            // The summary hands no others on.
            _ => {}
        }
    }

    #[inline]
    fn segment_sent(&mut self, by: Side, payload: Bytes, kind: SegmentKind) {
        if by != self.sends {
            self.sum.acks_sent += u64::from(kind == SegmentKind::PureAck);
            return;
        }
        match kind {
            SegmentKind::PureAck | SegmentKind::KeepaliveProbe | SegmentKind::Reset => return,
            SegmentKind::New | SegmentKind::WindowProbe => {}
            SegmentKind::Retransmission => {
                self.sum.retransmitted_segments += 1;
                self.sum.payload.retransmitted_bytes += payload.get();
            }
        }
        self.sum.segments_sent += 1;
        self.sum.payload.bytes_sent += payload.get();
    }

    #[inline]
    fn delivered(&mut self, at: Time, to: Side, stream_offset: Bytes) {
        if to == self.sends {
            return;
        }
        self.sum.bytes_delivered = stream_offset.get();
        if let Some(last) = self.last_new.replace(at) {
            self.longest_stall = self.longest_stall.max(at.saturating_since(last));
        }
        if let Some(outages) = &mut self.outages {
            outages.delivered(at, stream_offset);
        }
        if self.completed_at.is_none() && self.size.is_some_and(|size| stream_offset >= size) {
            self.completed_at = Some(at);
        }
    }

    /// The sender was told that its peer has everything up to here.
    #[inline]
    fn acknowledged(&mut self, of: Side, stream_offset: Bytes) {
        if of == self.sends {
            self.bytes_acknowledged = stream_offset.get();
            let early = self.bytes_acknowledged.saturating_sub(self.sum.bytes_delivered);
            self.sum.acknowledged_early_peak_bytes =
                self.sum.acknowledged_early_peak_bytes.max(early);
        }
    }

    pub(super) fn outage_met(&mut self, began: Time, ends: Time) {
        if let Some(outages) = &mut self.outages {
            outages.met(began, ends);
        }
    }

    #[inline]
    fn cwnd_changed(&mut self, at: Time, of: Side, cwnd: Bytes, reason: CwndReason) {
        if of != self.sends {
            return;
        }
        self.sum.recovery.undone_reductions += u64::from(reason == CwndReason::Undo);
        // What the window does after the last byte has arrived carries no data.
        if self.completed_at.is_none() {
            self.cwnd.set(at, cwnd.get());
        }
    }

    #[inline]
    fn rtt_sampled(&mut self, by: Side, rtt: Span) {
        if by == self.sends {
            self.rtt.add(rtt);
        }
    }

    fn ack_timeout_changed(&mut self, of: Side, ato: Span) {
        if of != self.sends {
            self.ack_timeout.get_or_insert_with(|| Box::new(Spread::coarse())).add(ato);
        }
    }

    fn segment_lost(&mut self, of: Side, bytes: Bytes) {
        if of == self.sends {
            self.sum.payload.bytes_declared_lost += bytes.get();
        }
    }

    fn transfers(&mut self) -> &mut TransferFold {
        self.transfers.get_or_insert_default()
    }

    fn datagrams(&mut self) -> &mut DatagramFold {
        self.datagrams.get_or_insert_with(|| Box::new(DatagramFold::new()))
    }

    fn recovery_entered(&mut self, by: Side, kind: RecoveryKind) {
        self.sum.recovery.fast_recoveries +=
            u64::from(by == self.sends && kind == RecoveryKind::Fast);
    }

    fn retransmitted_in_vain(&mut self, by: Side) {
        self.sum.recovery.spurious_retransmissions += u64::from(by == self.sends);
    }

    fn timed_out(&mut self, of: Side) {
        self.sum.timeouts += u64::from(of == self.sends);
    }

    pub(super) fn packet_dropped(&mut self, from: Side) {
        self.sum.packets_dropped += u64::from(from == self.sends);
    }

    pub(super) fn summary(&self, ended_at: Time) -> FlowSummary {
        let stopped_at = self.completed_at.unwrap_or(ended_at);
        let busy = stopped_at.saturating_since(self.started_at);
        let datagrams = self.datagrams.as_ref();
        let bytes_delivered =
            datagrams.map_or(self.sum.bytes_delivered, |datagrams| datagrams.delivered_bytes());
        let stall =
            self.last_new.map(|last| self.longest_stall.max(stopped_at.saturating_since(last)));
        FlowSummary {
            bytes_delivered,
            goodput_bit_s: bit_rate(bytes_delivered, busy),
            completion_s: self.completed_at.map(|at| seconds_between(self.started_at, at)),
            cwnd_mean_bytes: self.cwnd.until(stopped_at),
            cwnd_max_bytes: self.cwnd.until(stopped_at).map(|_| self.cwnd.most()),
            rtt: self.rtt.summary(),
            ack_timeout: self.ack_timeout.as_ref().and_then(|spread| spread.summary()),
            transfers: self.transfers.as_ref().map(|transfers| transfers.summary()),
            longest_stall_s: stall.map(|stall| stall.as_secs_f64()),
            datagrams: datagrams.map(|datagrams| datagrams.summary(self.sum.packets_dropped)),
            acknowledged_undelivered_bytes: self
                .bytes_acknowledged
                .saturating_sub(self.sum.bytes_delivered),
            outages: self.outages.as_ref().map(|outages| outages.summary()).unwrap_or_default(),
            ..self.sum.clone()
        }
    }
}
