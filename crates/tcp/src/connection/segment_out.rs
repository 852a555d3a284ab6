//! The next segment leaves.

use super::Connection;
use crate::ack::Carrier;
use crate::receiver::Owed;
use crate::sender::{Fin, FinProgress, Outgoing};
use crate::trace::Trace;
use ackord_events::{Event, SegmentKind, Sink, TcpState};
use ackord_units::{Bytes, Time};
use ackord_wire::{Flags, MAX_SACK_BLOCKS, Options, Segment};

impl Connection {
    /// The next segment to put on the path at `now`, if there is one. Call until there is none.
    pub fn poll_segment<S: Sink>(&mut self, now: Time, sink: &mut S) -> Option<Segment> {
        let trace = &mut Trace::new(now, self.id, sink);
        // Asked before it is taken: taking moves a whole segment, poll after poll.
        if self.urgent_reply.is_some() {
            let reply = self.urgent_reply.take()?;
            self.tell_sent(trace, &reply, SegmentKind::Reset);
            return Some(reply);
        }
        match self.state {
            TcpState::Closed | TcpState::Listen => None,
            TcpState::SynSent | TcpState::SynReceived => {
                if self.syn.pending {
                    return Some(self.syn_segment(trace));
                }
                self.pure_ack_if_owed(trace)
            }
            _ => self.data_segment(trace).or_else(|| self.pure_ack_if_owed(trace)),
        }
    }

    fn syn_segment<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Segment {
        let answers = self.state == TcpState::SynReceived;
        self.syn.pending = false;
        self.syn.sent_at = Some(trace.now);
        self.syn.attempts += 1;
        self.sender.snd_nxt = self.sender.iss + 1;
        let flags = if answers { Flags::SYN | Flags::ACK } else { Flags::SYN };
        let segment = Segment {
            seq: self.sender.iss,
            ack: self.receiver.rcv_nxt,
            flags,
            window: self.receiver.announce(false),
            payload_len: 0,
            options: self.syn_options(trace.now, answers),
        };
        if answers {
            self.receiver.on_ack_sent(trace.now, Carrier::PureAck);
        }
        let kind =
            if self.syn.attempts > 1 { SegmentKind::Retransmission } else { SegmentKind::New };
        self.tell_sent(trace, &segment, kind);
        segment
    }

    fn data_segment<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Option<Segment> {
        if !self.sender.has_something_to_send() {
            return None;
        }
        self.sender.restart_if_idle(trace);
        let options = self.options(trace.now);
        // Blocks beside data come out of the payload (RFC 6691).
        let sack_len = u64::from(options.sack.len() as u32 * 8 + 4);
        let room = if options.sack.is_empty() {
            self.sender.smss
        } else {
            self.sender.smss.saturating_sub(Bytes(sack_len)).max(Bytes(1))
        };
        let outgoing = self.sender.next_segment(trace.now, room)?;
        let Outgoing { seq, payload, fin, push, kind } = outgoing;
        let mut flags = Flags::ACK;
        if push {
            flags = flags | Flags::PSH;
        }
        if fin == Fin::Yes {
            flags = flags | Flags::FIN;
            self.on_fin_sent(trace);
        }
        let segment = self.finish(
            trace.now,
            Segment { seq, flags, payload_len: payload, options, ..Segment::default() },
        );
        self.tell_sent(trace, &segment, kind);
        Some(segment)
    }

    fn on_fin_sent<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        debug_assert_ne!(self.sender.fin, FinProgress::Open);
        match self.state {
            TcpState::Established => self.enter(trace, TcpState::FinWait1),
            TcpState::CloseWait => self.enter(trace, TcpState::LastAck),
            // Sent again.
            _ => {}
        }
    }

    fn pure_ack_if_owed<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Option<Segment> {
        let due = match self.receiver.owed {
            Owed::Nothing => false,
            Owed::By(at) => at <= trace.now,
            Owed::Now => true,
        };
        if !due {
            return None;
        }
        let options = self.options(trace.now);
        let segment = self.finish(
            trace.now,
            Segment { seq: self.sender.snd_nxt, flags: Flags::ACK, options, ..Segment::default() },
        );
        self.tell_sent(trace, &segment, SegmentKind::PureAck);
        Some(segment)
    }

    /// Options of any segment but a SYN.
    fn options(&self, now: Time) -> Options {
        let stamped = self.agreed.timestamps.is_some();
        let timestamps = stamped.then(|| self.timestamps(now));
        // 40 octets of options: three blocks beside timestamps, four without (RFC 2018 §3).
        let room = if stamped { MAX_SACK_BLOCKS - 1 } else { MAX_SACK_BLOCKS };
        let sack =
            if self.agreed.sack { self.receiver.sack_blocks(room) } else { Default::default() };
        Options { timestamps, sack, ..Options::default() }
    }

    /// Puts acknowledgment and window on a segment: it pays what the receiver owes.
    fn finish(&mut self, now: Time, mut segment: Segment) -> Segment {
        segment.ack = self.receiver.rcv_nxt;
        segment.window = self.receiver.announce(true);
        let carrier = if segment.payload_len > 0 { Carrier::Data } else { Carrier::PureAck };
        self.receiver.on_ack_sent(now, carrier);
        segment
    }

    fn tell_sent<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        kind: SegmentKind,
    ) {
        match kind {
            SegmentKind::PureAck => self.stats.pure_acks_sent += 1,
            SegmentKind::Reset => {}
            SegmentKind::Retransmission => {
                self.stats.data_segments_sent += 1;
                self.stats.retransmitted_segments += 1;
            }
            SegmentKind::New | SegmentKind::WindowProbe => self.stats.data_segments_sent += 1,
        }
        let (seq, payload) = (segment.seq, Bytes(u64::from(segment.payload_len)));
        trace.emit(|endpoint| Event::SegmentSent { endpoint, seq, payload, kind });
    }
}
