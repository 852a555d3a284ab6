//! A segment arrives (RFC 9293 §3.10.7), state by state in the RFC's order of checks.

use super::{CloseReason, Connection, Opened};
use crate::ack::{Opening, Push, SackUse};
use crate::config::Offer;
use crate::ecn::MarkSeen;
use crate::receiver::{Data, Finished, Owed};
use crate::sender::{FinProgress, HandshakePath, IncomingAck, Marked};
use crate::trace::Trace;
use ackord_events::{Event, Sink, TcpState};
use ackord_units::{Bytes, Seq, Time};
use ackord_wire::{Ecn, Flags, Options, Segment};

impl Connection {
    /// Takes in a segment that arrived at `now`, in a packet with this ECN field. Nonsense from the
    /// peer is answered or dropped as the RFC says, never an error.
    pub fn handle_segment<S: Sink>(
        &mut self,
        now: Time,
        segment: &Segment,
        ecn: Ecn,
        sink: &mut S,
    ) {
        let trace = &mut Trace::new(now, self.id, sink);
        self.stats.segments_received += 1;
        match self.state {
            TcpState::Closed => {}
            TcpState::Listen => self.in_listen(trace, segment),
            TcpState::SynSent => self.in_syn_sent(trace, segment),
            _ => self.in_synchronized(trace, segment, ecn),
        }
    }

    fn in_listen<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            return;
        }
        if segment.flags.contains(Flags::ACK) {
            self.urgent_reply = Some(reset_for(segment));
            return;
        }
        if segment.flags.contains(Flags::SYN) {
            self.agree(trace.now, segment);
            self.ecn.on_syn(segment);
            self.synchronize_receiver(trace.now, segment.seq);
            // The window of a SYN is never scaled (RFC 7323 §2.2).
            self.sender.first_window(u32::from(segment.window), segment.seq, self.sender.iss);
            self.syn.pending = true;
            self.sender.rto_at = Some(trace.now + self.sender.rtt.rto());
            self.enter(trace, TcpState::SynReceived);
        }
    }

    fn in_syn_sent<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        let acks = segment.flags.contains(Flags::ACK);
        let acceptable = segment.ack == self.sender.iss + 1 && self.syn.sent_at.is_some();
        if acks && !acceptable {
            if !segment.flags.contains(Flags::RST) {
                self.urgent_reply = Some(reset_for(segment));
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
        let sack = if self.agreed.sack { SackUse::Agreed } else { SackUse::Absent };
        self.receiver.reports_duplicates =
            self.agreed.sack && self.config.offers.dsack == Offer::Yes;
        self.receiver.synchronize(now, irs, &Opening { sack });
    }

    fn in_synchronized<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment, ecn: Ecn) {
        let rst = segment.flags.contains(Flags::RST);
        if !rst && self.is_old_duplicate(trace.now, segment) {
            return self.refuse(segment);
        }
        if !self.receiver.acceptable(segment.seq, segment.seq_len())
            && !self.is_bare_ack_at_edge(segment)
        {
            return self.on_unacceptable(trace, segment);
        }
        if rst {
            return self.on_reset(trace, segment);
        }
        if segment.flags.contains(Flags::SYN) {
            // RFC 9293 §3.10.7.4 (RFC 5961 §4): challenge it. A passive open that is not yet
            // complete is challenged too, see docs/tcp.md.
            if self.state == TcpState::SynReceived {
                self.ecn.on_syn_again(segment);
            }
            return self.challenge();
        }
        if !segment.flags.contains(Flags::ACK) {
            return;
        }
        if self.state == TcpState::SynReceived && !self.complete_handshake(trace, segment) {
            return;
        }
        self.note_timestamp(trace.now, segment);
        if !self.process_ack(trace, segment) {
            return;
        }
        self.process_data(trace, segment, ecn);
    }

    /// Whether an acknowledgment without anything else comes from right beyond the window: from a
    /// peer that has filled it, while an octet of that is missing here. RFC 9293 §3.4 would refuse
    /// it, and the answer would look like a duplicate acknowledgment to the peer.
    fn is_bare_ack_at_edge(&self, segment: &Segment) -> bool {
        segment.seq == self.receiver.edge()
            && segment.seq_len() == 0
            && !segment.flags.contains(Flags::RST)
            && segment.flags.contains(Flags::ACK)
    }

    /// An unacceptable segment is answered with an acknowledgment, unless it is a reset.
    fn on_unacceptable<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        if segment.flags.contains(Flags::RST) {
            self.stats.segments_refused += 1;
            return;
        }
        // RFC 9293 §3.10.7.4: with a closed window the acknowledgment still counts.
        let at_closed_window = segment.seq == self.receiver.rcv_nxt;
        if at_closed_window
            && segment.flags.contains(Flags::ACK)
            && self.state != TcpState::SynReceived
        {
            self.process_ack(trace, segment);
        }
        if self.state == TcpState::TimeWait && segment.flags.contains(Flags::FIN) {
            // A retransmitted FIN restarts the 2 MSL timeout.
            self.time_wait_until = Some(trace.now + self.config.time_wait);
        }
        if segment.payload_len > 0 && segment.seq.before(self.receiver.rcv_nxt) {
            // Nothing new in it: the peer may have lost our acknowledgments.
            let data = self.data_of(segment);
            self.receiver.on_old_data(trace.now, &data, &self.sender.rtt);
        }
        self.refuse(segment);
    }

    fn refuse(&mut self, segment: &Segment) {
        self.stats.segments_refused += 1;
        let fin = segment.flags.contains(Flags::FIN);
        self.receiver.note_refused(segment.seq, segment.payload_len + u32::from(fin));
        self.receiver.owed = Owed::Now;
    }

    /// RFC 9293 §3.10.7.4 second check, with RFC 5961 §3.
    fn on_reset<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        if segment.seq != self.receiver.rcv_nxt {
            return self.challenge();
        }
        let refused = self.state == TcpState::SynReceived && self.opened == Opened::Actively;
        let orderly =
            matches!(self.state, TcpState::TimeWait | TcpState::LastAck | TcpState::Closing);
        let reason = match (refused, orderly) {
            (true, _) => CloseReason::Refused,
            (_, true) => CloseReason::Orderly,
            _ => CloseReason::ResetByPeer,
        };
        self.fail(trace, reason);
    }

    /// A challenge acknowledgment (RFC 5961).
    fn challenge(&mut self) {
        self.receiver.owed = Owed::Now;
    }

    /// The fifth check in SYN-RECEIVED; false if the segment is done with.
    fn complete_handshake<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) -> bool {
        if segment.ack != self.sender.iss + 1 || self.syn.sent_at.is_none() {
            self.urgent_reply = Some(reset_for(segment));
            return false;
        }
        self.our_syn_is_acknowledged(trace, segment);
        self.sender.first_window(self.scaled_window(segment), segment.seq, segment.ack);
        self.enter(trace, TcpState::Established);
        true
    }

    fn our_syn_is_acknowledged<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        self.syn.pending = false;
        let lost = self.syn.attempts > 1;
        // Karn's rule: a SYN sent twice is no sample, unless a timestamp tells them apart.
        let own = self.syn.sent_at.filter(|_| !lost).map(|sent_at| trace.now - sent_at);
        if let Some(rtt) = own.or_else(|| self.timestamp_rtt(trace.now, segment)) {
            self.sender.rtt.on_sample(rtt, self.sender.window());
        }
        if lost {
            self.sender.rtt.begin_after_lost_syn();
        }
        self.sender.snd_una = segment.ack;
        self.sender.timeouts_in_row = 0;
        self.sender.rto_at = None;
        if self.ecn.may_be_marked() {
            self.sender.use_marks();
        }
        let path = if self.syn.attempts > 1 + self.config.syn_losses_tolerated {
            HandshakePath::Lossy
        } else {
            HandshakePath::Clean
        };
        self.sender.establish(trace, path);
    }

    #[inline]
    fn scaled_window(&self, segment: &Segment) -> u32 {
        let shift = if segment.flags.contains(Flags::SYN) { 0 } else { self.sender.scale };
        u32::from(segment.window) << shift
    }

    /// The fifth check; false if the segment is done with.
    #[inline]
    fn process_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) -> bool {
        let accepts_probe = self.sender.persist.octet_out && segment.ack == self.sender.snd_nxt + 1;
        if accepts_probe {
            self.sender.adopt_probe(trace.now);
        }
        if segment.ack.after(self.sender.snd_nxt) {
            // It acknowledges something not yet sent.
            self.refuse(segment);
            return false;
        }
        let echoed = self.ecn.echoes() && segment.flags.contains(Flags::ECE);
        self.sender.on_ack(
            trace,
            &IncomingAck {
                seq: segment.seq,
                ack: segment.ack,
                window: self.scaled_window(segment),
                carries_data: segment.seq_len() > 0,
                sack: &segment.options.sack,
                timestamp_rtt: self.timestamp_rtt(trace.now, segment),
                echo: segment.options.timestamps.map(|stamps| stamps.echo),
                marked: if echoed { Marked::Yes } else { Marked::No },
            },
        );
        if self.sender.fin == FinProgress::Acked {
            self.on_fin_acknowledged(trace);
        }
        self.state != TcpState::Closed
    }

    fn on_fin_acknowledged<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        match self.state {
            TcpState::FinWait1 => self.enter(trace, TcpState::FinWait2),
            TcpState::Closing => self.enter(trace, TcpState::TimeWait),
            TcpState::LastAck => self.fail(trace, CloseReason::Orderly),
            _ => {}
        }
    }

    /// The seventh and eighth checks: text and FIN. URG is tolerated and ignored.
    fn process_data<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment, ecn: Ecn) {
        let receives =
            matches!(self.state, TcpState::Established | TcpState::FinWait1 | TcpState::FinWait2);
        let fin = segment.flags.contains(Flags::FIN);
        if !receives || (segment.payload_len == 0 && !fin) {
            return;
        }
        let had_finished = self.receiver.finished;
        let mut data = self.data_of(segment);
        data.mark = self.ecn.on_data(segment.flags, ecn);
        let accepted = self.receiver.accept(trace.now, data, &self.sender.rtt);
        self.tell_ato(trace);
        if accepted.delivered > Bytes::ZERO {
            let stream_offset = Bytes(self.receiver.offset);
            let bytes = accepted.delivered;
            trace.emit(|endpoint| Event::DataDelivered { endpoint, bytes, stream_offset });
        }
        if self.receiver.finished == Finished::Yes && had_finished == Finished::No {
            match self.state {
                TcpState::Established => self.enter(trace, TcpState::CloseWait),
                TcpState::FinWait1 if self.sender.fin == FinProgress::Acked => {
                    self.enter(trace, TcpState::TimeWait);
                }
                TcpState::FinWait1 => self.enter(trace, TcpState::Closing),
                TcpState::FinWait2 => self.enter(trace, TcpState::TimeWait),
                _ => {}
            }
        }
    }

    #[inline]
    fn data_of(&self, segment: &Segment) -> Data {
        let push = if segment.flags.contains(Flags::PSH) { Push::Set } else { Push::Clear };
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

    /// The reset this end sends when the application aborts.
    pub(super) fn reset_segment(&self) -> Segment {
        Segment {
            seq: self.sender.snd_nxt,
            ack: self.receiver.rcv_nxt,
            flags: Flags::RST | Flags::ACK,
            ..Segment::default()
        }
    }
}

/// The reset that answers a segment for which there is no connection (RFC 9293 §3.10.7.1). The
/// driver sends it for segments that match no connection of its own.
pub fn reset_for(segment: &Segment) -> Segment {
    if segment.flags.contains(Flags::ACK) {
        return Segment { seq: segment.ack, flags: Flags::RST, ..Segment::default() };
    }
    Segment {
        seq: Seq(0),
        ack: segment.end_seq(),
        flags: Flags::RST | Flags::ACK,
        options: Options::default(),
        ..Segment::default()
    }
}
