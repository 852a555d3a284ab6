//! A segment arrives (RFC 9293 §3.10.7), state by state in the RFC's order of checks.
//!
//! What precedes the established states is in `handshake.rs`, resets in `reset.rs`, what becomes of
//! refused segments in `refusal.rs`.

use super::{CloseReason, Connection, PendingControl, Reader, reset_for};
use crate::config::TimeWaitAnswers;
use crate::ecn::MarkSeen;
use crate::receiver::{Data, Owed, PayloadPlace};
use crate::sender::{FinProgress, IncomingAck};
use crate::trace::Trace;
use ackord_events::{Event, RefusalReason, Sink, TcpState};
use ackord_units::{Bytes, Time, count};
use ackord_wire::{Ecn, Flags, Segment};

impl Connection {
    /// Takes in a segment that arrived at `now`, in a packet with this ECN field. Nonsense from the
    /// peer is answered or dropped as the RFC says, never an error.
    ///
    /// Whoever keeps the bytes of the stream keeps those that are named, and no others: a refused
    /// segment, forged or a probe with garbage in it, must not touch what has arrived.
    pub fn handle_segment<S: Sink>(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        sink: &mut S,
    ) -> Option<PayloadPlace> {
        let trace = &mut Trace::new(now, self.id, sink);
        count(&mut self.stats.segments_received);
        let place = if self.is_as_expected(segment) {
            self.take_in_expected(trace, segment, ecn)
        } else {
            self.take_in(trace, segment, ecn)
        };
        // What waits to be sent leaves before the acknowledgment is thought of, and carries it.
        if self.receiver.owed == Owed::BeforeAnswers && self.sender.has_something_to_send() {
            self.receiver.owed = Owed::Now;
        }
        place
    }

    /// Whether the first four checks let a segment through at a glance: in an established connection the
    /// next one, with nothing on it but ACK and PSH, and no older than the last.
    #[inline]
    pub(super) fn is_as_expected(&self, segment: &Segment) -> bool {
        self.state == TcpState::Established
            && segment.flags.without(Flags::PSH) == Flags::ACK
            && segment.seq == self.receiver.rcv_nxt
            && (segment.payload_len == 0 || self.receiver.has_window())
            && self.is_no_older(segment)
    }

    #[inline]
    fn take_in_expected<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        ecn: Ecn,
    ) -> Option<PayloadPlace> {
        let window = self.scaled_window(segment);
        let plain = segment.options.sack.is_empty();
        if plain && self.sender.expects_no_ack(segment.ack, window) {
            self.keepalive.since = trace.now;
            self.sender.on_nothing_acknowledged(segment.seq);
        } else if plain && segment.payload_len == 0 && self.sender.expects_ack(segment.ack, window)
        {
            self.keepalive.since = trace.now;
            let echo = segment.options.timestamps.map(|stamps| stamps.echo);
            self.sender.on_plain_ack(trace, segment.seq, segment.ack, echo);
        } else if !self.process_ack(trace, segment) {
            return None;
        }
        self.note_timestamp(trace.now, segment);
        if segment.payload_len == 0 {
            return None;
        }
        self.process_data(trace, segment, ecn)
    }

    #[inline(never)]
    pub(super) fn take_in<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        ecn: Ecn,
    ) -> Option<PayloadPlace> {
        let mut place = None;
        match self.state {
            TcpState::Closed => {}
            TcpState::Listen => self.in_listen(trace, segment),
            TcpState::SynSent => self.in_syn_sent(trace, segment),
            TcpState::TimeWait => {
                let passed = self.in_synchronized(trace, segment);
                if passed && segment.flags.contains(Flags::FIN) {
                    self.on_fin_in_time_wait(trace.now);
                } else if self.config.closing.time_wait_answers == TimeWaitAnswers::Others {
                    self.on_other_in_time_wait(trace, segment, passed);
                }
            }
            _ => {
                if self.in_synchronized(trace, segment) {
                    place = self.process_data(trace, segment, ecn);
                }
            }
        }
        place
    }

    /// The first six checks of a synchronized state; false if the segment is done with.
    fn in_synchronized<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) -> bool {
        let rst = segment.flags.contains(Flags::RST);
        if !rst && let Some(reason) = self.refused_for_timestamp(trace.now, segment) {
            match reason {
                RefusalReason::NoTimestamp => self.refuse_silently(trace, segment, reason),
                _ => self.refuse(trace, segment, reason),
            }
            return false;
        }
        // What a reset carries says why it was sent, and takes no place (RFC 9293 §3.5.3).
        let seq_len = if rst { 0 } else { segment.seq_len() };
        if !self.receiver.acceptable(segment.seq, seq_len) && !self.is_bare_ack_at_edge(segment) {
            self.on_unacceptable(trace, segment);
            return false;
        }
        if rst {
            self.on_reset(trace, segment);
            return false;
        }
        if segment.flags.contains(Flags::SYN) {
            self.on_syn_in_window(trace, segment);
            return false;
        }
        if !segment.flags.contains(Flags::ACK) {
            return false;
        }
        if self.state == TcpState::SynReceived && !self.complete_handshake(trace, segment) {
            return false;
        }
        if !self.process_ack(trace, segment) {
            return false;
        }
        // After the acknowledgment: a segment discarded for that (RFC 5961 §5) may be forged, and
        // its stamp would have PAWS refuse all that the peer really sends.
        self.note_timestamp(trace.now, segment);
        true
    }

    /// Whether an acknowledgment without anything else comes from right beyond the window: from a
    /// peer that has filled it, while a byte of that is missing here. RFC 9293 §3.4 would refuse
    /// it, and the answer would look like a duplicate acknowledgment to the peer.
    fn is_bare_ack_at_edge(&self, segment: &Segment) -> bool {
        segment.seq == self.receiver.edge()
            && segment.seq_len() == 0
            && !segment.flags.contains(Flags::RST)
            && segment.flags.contains(Flags::ACK)
    }

    #[inline]
    pub(super) fn scaled_window(&self, segment: &Segment) -> u32 {
        let shift =
            if segment.flags.contains(Flags::SYN) { 0 } else { self.sender.peer_window().scale() };
        // At most 14, so that nothing is checked.
        u32::from(segment.window).wrapping_shl(u32::from(shift))
    }

    /// The fifth check; false if the segment is done with.
    #[inline(never)]
    pub(super) fn process_ack<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
    ) -> bool {
        let accepts_probe =
            self.sender.persist().byte_out() && segment.ack == self.sender.queue().snd_nxt() + 1;
        if accepts_probe {
            self.sender.adopt_probe(trace.now);
        }
        if let Some(reason) = self.ack_out_of_range(segment) {
            self.challenge(trace, segment, reason);
            return false;
        }
        self.keepalive.since = trace.now;
        self.sender.on_ack(
            trace,
            &IncomingAck {
                seq: segment.seq,
                ack: segment.ack,
                window: self.scaled_window(segment),
                carries_data: segment.seq_len() > 0,
                sack: &segment.options.sack,
                echo: segment.options.timestamps.map(|stamps| stamps.echo),
                marked: self.ecn.echoes() && segment.flags.contains(Flags::ECE),
            },
        );
        if self.sender.queue().fin() == FinProgress::Acked {
            self.on_fin_acknowledged(trace);
        }
        self.state != TcpState::Closed
    }

    /// RFC 5961 §5: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT, or else the segment is discarded.
    #[inline]
    fn ack_out_of_range(&self, segment: &Segment) -> Option<RefusalReason> {
        if segment.ack.after(self.sender.queue().snd_nxt()) {
            return Some(RefusalReason::AcksUnsent);
        }
        let behind = self.sender.queue().snd_una().since(segment.ack);
        let old = segment.ack.before(self.sender.queue().snd_una())
            && behind > self.sender.peer_window().max();
        old.then_some(RefusalReason::AcksTooOld)
    }

    fn on_fin_acknowledged<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        match self.state {
            TcpState::FinWait1 => self.enter(trace, TcpState::FinWait2),
            TcpState::Closing => self.enter(trace, TcpState::TimeWait),
            TcpState::LastAck => self.fail(trace, CloseReason::Orderly),
            _ => {}
        }
    }

    /// The seventh and eighth checks: text and FIN. Urgent data is delivered with the rest, where it
    /// stands in the stream (RFC 6093 §4): URG and its pointer change nothing.
    #[inline(always)]
    fn process_data<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        ecn: Ecn,
    ) -> Option<PayloadPlace> {
        let receives =
            matches!(self.state, TcpState::Established | TcpState::FinWait1 | TcpState::FinWait2);
        let fin = segment.flags.contains(Flags::FIN);
        if !receives || (segment.payload_len == 0 && !fin) {
            return None;
        }
        if self.reader == Reader::Gone && segment.payload_len > 0 && self.is_new(segment) {
            self.on_data_for_nobody(trace, segment);
            return None;
        }
        let had_finished = self.receiver.finished;
        let mut data = self.data_of(segment);
        data.mark = self.ecn.on_data(segment.flags, ecn);
        let accepted = self.receiver.accept(trace.now, data, self.sender.timer().rtt());
        self.tell_ato(trace);
        if accepted.delivered > Bytes::ZERO {
            let stream_offset = Bytes(self.receiver.offset);
            let bytes = accepted.delivered;
            trace.emit(|endpoint| Event::DataDelivered { endpoint, bytes, stream_offset });
        }
        if self.receiver.finished && !had_finished {
            self.on_fin_received(trace);
        }
        accepted.place
    }

    fn on_fin_received<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.state != TcpState::Established {
            // RFC 9293 §3.10.7.4, eighth check: nothing of ours will come along for this
            // acknowledgment to ride on, and a peer that waits for it may send its FIN again.
            self.receiver.owed = Owed::Now;
        }
        match self.state {
            TcpState::Established => self.enter(trace, TcpState::CloseWait),
            TcpState::FinWait1 if self.sender.queue().fin() == FinProgress::Acked => {
                self.enter(trace, TcpState::TimeWait);
            }
            TcpState::FinWait1 => self.enter(trace, TcpState::Closing),
            TcpState::FinWait2 => self.enter(trace, TcpState::TimeWait),
            _ => {}
        }
    }

    fn is_new(&self, segment: &Segment) -> bool {
        (segment.seq + segment.payload_len).after(self.receiver.rcv_nxt)
    }

    /// RFC 9293 §3.6.1 (SHLD-3): data that nobody will ever read is answered with a reset, so that
    /// its sender learns that it was lost.
    fn on_data_for_nobody<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        self.pending_control = Some(PendingControl::Answer(reset_for(segment)));
        self.fail(trace, CloseReason::Aborted);
    }

    #[inline]
    pub(super) fn data_of(&self, segment: &Segment) -> Data {
        let push = segment.flags.contains(Flags::PSH);
        Data {
            seq: segment.seq,
            payload: segment.payload_len,
            fin: segment.flags.contains(Flags::FIN),
            push,
            echo: self.timestamp_echo(segment),
            mark: MarkSeen::Nothing,
        }
    }

    /// Tells of the acknowledgment timeout where it has changed.
    fn tell_ato<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if S::ACTIVE
            && let Some(ato) = self.receiver.changed_ato()
        {
            trace.emit(|endpoint| Event::AckTimeoutChanged { endpoint, ato });
        }
    }
}
