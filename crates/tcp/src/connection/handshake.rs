//! Opening: LISTEN, SYN-SENT, SYN-RECEIVED (RFC 9293 §3.10.7.2 to §3.10.7.4, §3.5).
//!
//! Not modelled: data on a SYN or SYN-ACK; it is not acknowledged, so that its sender sends it
//! again.

use super::{CloseReason, Connection, Opened, PendingControl, Syn, options, reset_for};
use crate::ack::Opening;
use crate::config::{RepeatedSyn, SynWithFin};
use crate::ecn::EcnState;
use crate::receiver::Owed;
use crate::sender::FinProgress;
use crate::trace::Trace;
use ackord_events::{RefusalAnswer, RefusalReason, Sink, TcpState};
use ackord_units::{Seq, Time};
use ackord_wire::{Flags, Segment};

impl Connection {
    pub(super) fn in_listen<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.pending_control = Some(PendingControl::Answer(reset_for(segment)));
            return;
        }
        if segment.flags.contains(Flags::SYN | Flags::FIN)
            && self.config.syn_with_fin == SynWithFin::Drop
        {
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            self.agree(trace.now, segment);
            self.ecn.on_syn(segment);
            self.synchronize_receiver(trace.now, segment.seq);
            // The window of a SYN is never scaled (RFC 7323 §2.2).
            self.sender.first_window(
                u32::from(segment.window),
                segment.seq,
                self.sender.queue().iss(),
            );
            self.syn.pending = true;
            self.sender.start_rto(trace.now);
            self.enter(trace, TcpState::SynReceived);
        }
    }

    pub(super) fn in_syn_sent<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        let acks = segment.flags.contains(Flags::ACK);
        let acceptable = segment.ack == self.sender.queue().iss() + 1 && self.syn.sent_at.is_some();
        if acks && !acceptable {
            if !segment.flags.contains(Flags::RST) {
                self.pending_control = Some(PendingControl::Answer(reset_for(segment)));
            }
            return;
        }
        if segment.flags.contains(Flags::RST) {
            if acks {
                self.fail(trace, CloseReason::Refused);
            }
            return;
        }
        if !segment.flags.contains(Flags::SYN) {
            return;
        }
        self.agree(trace.now, segment);
        self.synchronize_receiver(trace.now, segment.seq);
        self.sender.first_window(u32::from(segment.window), segment.seq, segment.ack);
        if acks {
            self.ecn.on_syn_ack(segment);
            self.our_syn_is_acknowledged(trace, segment);
            self.enter(trace, TcpState::Established);
            self.receiver.owed = Owed::Now;
        } else {
            // Simultaneous open: answer with a SYN-ACK.
            self.ecn.on_syn(segment);
            self.syn.pending = true;
            self.enter(trace, TcpState::SynReceived);
        }
    }

    fn synchronize_receiver(&mut self, now: Time, irs: Seq) {
        self.receiver.reports_duplicates = self.agreed.sack && self.config.offers.dsack;
        self.receiver.synchronize(now, irs, &Opening { sack: self.agreed.sack });
    }

    /// Whether a segment is the SYN that the handshake began with.
    pub(super) fn is_syn_again(&self, segment: &Segment) -> bool {
        let plain = segment.flags.contains(Flags::SYN) && !segment.flags.contains(Flags::ACK);
        plain && segment.seq == self.receiver.irs
    }

    /// The peer's SYN has come again: our SYN-ACK is late, or lost.
    pub(super) fn on_syn_again<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        self.ecn.on_syn_again(segment);
        let reason = RefusalReason::OutsideWindow;
        if self.config.repeated_syn == RepeatedSyn::Acknowledged {
            return self.refuse(trace, segment, reason);
        }
        let answer = if self.may_answer(trace.now) {
            self.syn.pending = true;
            self.syn.repeats += 1;
            self.sender.start_rto(trace.now);
            RefusalAnswer::Acknowledgment
        } else {
            RefusalAnswer::Throttled
        };
        self.emit_refused(trace, segment, reason, answer);
    }

    /// A SYN inside the window (RFC 9293 §3.10.7.4 fourth check, RFC 5961 §4).
    pub(super) fn on_syn_in_window<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
    ) {
        if (self.state, self.opened) == (TcpState::SynReceived, Opened::Passively) {
            // The peer has begun anew: its next SYN finds a listener.
            return self.return_to_listen(trace);
        }
        self.challenge(trace, segment, RefusalReason::UnexpectedSyn);
    }

    /// A passive open that did not get through: as if the SYN had never come. What the
    /// application has written stays.
    pub(super) fn return_to_listen<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        if self.sender.queue().fin() != FinProgress::Open {
            // The application has closed: nobody listens any more.
            return self.fail(trace, CloseReason::ResetByPeer);
        }
        self.agreed = options::Agreed::default();
        self.ecn = EcnState::new(self.config.ecn);
        self.syn = Syn::default();
        self.unacknowledged = None;
        self.sender.start_over(&self.config);
        self.receiver.start_over(options::scale_for(&self.config));
        self.enter(trace, TcpState::Listen);
    }

    /// The fifth check in SYN-RECEIVED; false if the segment is done with.
    pub(super) fn complete_handshake<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
    ) -> bool {
        if segment.ack != self.sender.queue().iss() + 1 || self.syn.sent_at.is_none() {
            self.pending_control = Some(PendingControl::Answer(reset_for(segment)));
            return false;
        }
        self.our_syn_is_acknowledged(trace, segment);
        self.sender.first_window(self.scaled_window(segment), segment.seq, segment.ack);
        self.enter(trace, TcpState::Established);
        true
    }

    fn our_syn_is_acknowledged<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        self.syn.pending = false;
        // Karn's rule: a SYN sent twice is no sample, unless a timestamp tells them apart.
        let once = self.syn.attempts == 1;
        let own = self.syn.sent_at.filter(|_| once).map(|sent_at| trace.now - sent_at);
        let rtt = own.or_else(|| self.timestamp_rtt(trace.now, segment));
        self.sender.on_syn_acked(segment.ack, rtt, self.syn.repeats > 0);
        if self.ecn.may_be_marked() {
            self.sender.use_marks();
        }
        self.sender.establish(trace, self.syn.repeats > self.config.window.syn_losses_tolerated);
    }
}
