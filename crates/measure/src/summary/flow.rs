//! The counters of one connection.

use super::datagrams::DatagramFold;
use super::outages::OutageFold;
use super::transfers::TransferFold;
use super::{LossRecovery, PayloadSent, bit_rate, mean::StepMean, seconds_between};
use crate::{FlowKind, FlowLabel, FlowSummary, Spread};
use ackord_events::{CwndReason, RecoveryKind, SegmentKind};
use ackord_units::{Bytes, Span, Time};
use ackord_wire::Side;

#[derive(Clone, Debug)]
pub(super) struct FlowFold {
    sends: Side,
    size: Option<Bytes>,
    segments_sent: u64,
    acks_sent: u64,
    payload: PayloadSent,
    bytes_delivered: u64,
    /// What the sender was told that its peer has.
    bytes_acknowledged: u64,
    acknowledged_early_peak_bytes: u64,
    completed_at: Option<Time>,
    /// When new data last arrived, and the longest time without.
    last_new: Option<Time>,
    longest_stall: Span,
    cwnd: StepMean,
    rtt: Spread,
    retransmitted_segments: u64,
    recovery: LossRecovery,
    timeouts: u64,
    packets_dropped: u64,
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
            sends: label.sends,
            size: label.size,
            segments_sent: 0,
            acks_sent: 0,
            payload: PayloadSent::default(),
            bytes_delivered: 0,
            bytes_acknowledged: 0,
            acknowledged_early_peak_bytes: 0,
            completed_at: None,
            last_new: None,
            longest_stall: Span::ZERO,
            cwnd: StepMean::default(),
            rtt: Spread::coarse(),
            retransmitted_segments: 0,
            recovery: LossRecovery::default(),
            timeouts: 0,
            packets_dropped: 0,
            ack_timeout: None,
            transfers: None,
            datagrams: match label.kind {
                FlowKind::Connection => None,
                FlowKind::Datagrams => Some(Box::new(DatagramFold::new())),
            },
            outages: outages.then(Box::default),
        }
    }

    #[inline]
    pub(super) fn segment_sent(&mut self, by: Side, payload: Bytes, kind: SegmentKind) {
        if by != self.sends {
            self.acks_sent += u64::from(kind == SegmentKind::PureAck);
            return;
        }
        match kind {
            SegmentKind::PureAck | SegmentKind::KeepaliveProbe | SegmentKind::Reset => return,
            SegmentKind::New | SegmentKind::WindowProbe => {}
            SegmentKind::Retransmission => {
                self.retransmitted_segments += 1;
                self.payload.retransmitted_bytes += payload.get();
            }
        }
        self.segments_sent += 1;
        self.payload.bytes_sent += payload.get();
    }

    #[inline]
    pub(super) fn delivered(&mut self, at: Time, to: Side, stream_offset: Bytes) {
        if to == self.sends {
            return;
        }
        self.bytes_delivered = stream_offset.get();
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
    pub(super) fn acknowledged(&mut self, of: Side, stream_offset: Bytes) {
        if of == self.sends {
            self.bytes_acknowledged = stream_offset.get();
            let early = self.bytes_acknowledged.saturating_sub(self.bytes_delivered);
            self.acknowledged_early_peak_bytes = self.acknowledged_early_peak_bytes.max(early);
        }
    }

    pub(super) fn outage_met(&mut self, began: Time, ends: Time) {
        if let Some(outages) = &mut self.outages {
            outages.met(began, ends);
        }
    }

    #[inline(always)]
    pub(super) fn cwnd_changed(&mut self, at: Time, of: Side, cwnd: Bytes, reason: CwndReason) {
        if of != self.sends {
            return;
        }
        self.recovery.undone_reductions += u64::from(reason == CwndReason::Undo);
        // What the window does after the last byte has arrived carries no data.
        if self.completed_at.is_none() {
            self.cwnd.set(at, cwnd.get());
        }
    }

    #[inline]
    pub(super) fn rtt_sampled(&mut self, by: Side, rtt: Span) {
        if by == self.sends {
            self.rtt.add(rtt);
        }
    }

    pub(super) fn ack_timeout_changed(&mut self, of: Side, ato: Span) {
        if of != self.sends {
            self.ack_timeout.get_or_insert_with(|| Box::new(Spread::coarse())).add(ato);
        }
    }

    pub(super) fn segment_lost(&mut self, of: Side, bytes: Bytes) {
        if of == self.sends {
            self.payload.bytes_declared_lost += bytes.get();
        }
    }

    pub(super) fn transfers(&mut self) -> &mut TransferFold {
        self.transfers.get_or_insert_default()
    }

    pub(super) fn datagrams(&mut self) -> &mut DatagramFold {
        self.datagrams.get_or_insert_with(|| Box::new(DatagramFold::new()))
    }

    pub(super) fn recovery_entered(&mut self, by: Side, kind: RecoveryKind) {
        self.recovery.fast_recoveries += u64::from(by == self.sends && kind == RecoveryKind::Fast);
    }

    pub(super) fn retransmitted_in_vain(&mut self, by: Side) {
        self.recovery.spurious_retransmissions += u64::from(by == self.sends);
    }

    pub(super) fn timed_out(&mut self, of: Side) {
        self.timeouts += u64::from(of == self.sends);
    }

    pub(super) fn packet_dropped(&mut self, from: Side) {
        self.packets_dropped += u64::from(from == self.sends);
    }

    pub(super) fn summary(&self, label: &FlowLabel, ended_at: Time) -> FlowSummary {
        let stopped_at = self.completed_at.unwrap_or(ended_at);
        let busy = stopped_at.saturating_since(label.started_at);
        let datagrams = self.datagrams.as_ref();
        let bytes_delivered =
            datagrams.map_or(self.bytes_delivered, |datagrams| datagrams.delivered_bytes());
        let stall =
            self.last_new.map(|last| self.longest_stall.max(stopped_at.saturating_since(last)));
        FlowSummary {
            name: label.name.clone(),
            mechanisms: label.mechanisms.clone(),
            profile: label.profile.clone(),
            started_s: label.started_at.as_secs_f64(),
            size_bytes: label.size.map(Bytes::get),
            bytes_delivered,
            goodput_bit_s: bit_rate(bytes_delivered, busy),
            segments_sent: self.segments_sent,
            retransmitted_segments: self.retransmitted_segments,
            timeouts: self.timeouts,
            acks_sent: self.acks_sent,
            completion_s: self.completed_at.map(|at| seconds_between(label.started_at, at)),
            payload: self.payload,
            packets_dropped: self.packets_dropped,
            recovery: self.recovery,
            cwnd_mean_bytes: self.cwnd.until(stopped_at),
            cwnd_max_bytes: self.cwnd.until(stopped_at).map(|_| self.cwnd.most()),
            rtt: self.rtt.summary(),
            ack_timeout: self.ack_timeout.as_ref().and_then(|spread| spread.summary()),
            transfers: self.transfers.as_ref().map(|transfers| transfers.summary()),
            longest_stall_s: stall.map(|stall| stall.as_secs_f64()),
            datagrams: datagrams.map(|datagrams| datagrams.summary(self.packets_dropped)),
            acknowledged_early_peak_bytes: self.acknowledged_early_peak_bytes,
            acknowledged_undelivered_bytes: self
                .bytes_acknowledged
                .saturating_sub(self.bytes_delivered),
            outages: self.outages.as_ref().map(|outages| outages.summary()).unwrap_or_default(),
        }
    }
}
