//! The next segment leaves.

use super::{Connection, PendingControl};
use crate::ack::Carrier;
use crate::ecn::Outbound;
use crate::receiver::Owed;
use crate::sender::{FinProgress, Next, Outgoing};
use crate::trace::Trace;
use ackord_events::{Event, SegmentKind, Sink, TcpState};
use ackord_units::{Bytes, Seq, Time, count};
use ackord_wire::{Ecn, Flags, MAX_SACK_BLOCKS, Options, SackBlocks, Segment, Timestamps};

/// What goes with a segment that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    /// The ECN field that its packet is to have.
    pub ecn: Ecn,
    /// Whether it is known that no other leaves before something happens.
    pub is_last: bool,
}

impl Connection {
    /// The next segment to put on the path at `now`, if there is one, and the ECN field that its
    /// packet is to have. Call until there is none.
    #[inline]
    pub fn poll_segment<S: Sink>(&mut self, now: Time, sink: &mut S) -> Option<Outbound> {
        let mut segment = None;
        let Polled { ecn, .. } = self.poll_segment_into(now, &mut segment, sink)?;
        segment.map(|segment| Outbound { segment, ecn })
    }

    /// The same, written to where the caller wants it, whatever is there, and with a word on what follows: where
    /// millions of packets are made, every copy and every question counts. Without a next segment it stays as it is.
    #[inline(always)]
    pub fn poll_segment_into<S: Sink>(
        &mut self,
        now: Time,
        place: &mut Option<Segment>,
        sink: &mut S,
    ) -> Option<Polled> {
        if self.state == TcpState::Established && self.pending_control.is_none() {
            match self.sender.next_at_a_glance() {
                // Blocks beside data leave less room for it.
                Next::HeldBack | Next::FullSized if self.receiver.has_blocks() => {}
                Next::Nothing | Next::HeldBack if !self.receiver.owes(now) => return None,
                Next::Nothing | Next::HeldBack if self.reports_blocks() => {}
                Next::Nothing | Next::HeldBack => {
                    let seq = self.sender.queue().snd_nxt();
                    let trace = &mut Trace::new(now, self.id, sink);
                    self.emit_sent(trace, seq, 0, SegmentKind::PureAck);
                    self.write_ordinary(now, place.insert(Segment::default()), seq, 0);
                    return Some(Polled { ecn: Ecn::NotEct, is_last: true });
                }
                Next::FullSized if self.receiver.owed != Owed::BeforeAnswers => {
                    let (seq, payload) = self.sender.send_full(now);
                    let trace = &mut Trace::new(now, self.id, sink);
                    self.emit_sent(trace, seq, payload, SegmentKind::New);
                    self.write_ordinary(now, place.insert(Segment::default()), seq, payload);
                    let is_last = self.sender.is_held_back_now();
                    return Some(Polled { ecn: Ecn::NotEct, is_last });
                }
                Next::FullSized | Next::Other => {}
            }
        }
        let outbound = self.segment_that_leaves(&mut Trace::new(now, self.id, sink))?;
        *place = Some(outbound.segment);
        Some(Polled { ecn: outbound.ecn, is_last: false })
    }

    #[inline(never)]
    pub(super) fn segment_that_leaves<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
    ) -> Option<Outbound> {
        // Asked before it is taken: taking moves a whole segment, poll after poll.
        if self.pending_control.is_some() {
            return self.first_segment(trace);
        }
        match self.state {
            TcpState::Closed | TcpState::Listen => {
                self.tell_untold(trace);
                None
            }
            TcpState::SynSent | TcpState::SynReceived => {
                if self.syn.pending {
                    return Some(Outbound::unmarkable(self.syn_segment(trace)));
                }
                self.pure_ack_if_owed(trace)
            }
            _ => {
                if self.receiver.owed == Owed::BeforeAnswers {
                    return self.pure_ack_if_owed(trace);
                }
                if self.sender.has_something_to_send()
                    && let Some(outbound) = self.data_segment(trace)
                {
                    return Some(outbound);
                }
                self.pure_ack_if_owed(trace)
            }
        }
    }

    #[inline(never)]
    fn first_segment<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Option<Outbound> {
        let (segment, kind) = match self.pending_control.take()? {
            PendingControl::Reset => (self.reset_segment(trace.now), SegmentKind::Reset),
            PendingControl::Answer(reset) => (reset, SegmentKind::Reset),
            PendingControl::KeepaliveProbe => {
                let seq = self.sender.queue().snd_nxt() - 1;
                let probe = self.segment(trace.now, seq, Flags::ACK, 0);
                (probe, SegmentKind::KeepaliveProbe)
            }
        };
        self.emit_sent(trace, segment.seq, segment.payload_len, kind);
        Some(Outbound::unmarkable(segment))
    }

    fn syn_segment<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Segment {
        let answers = self.state == TcpState::SynReceived;
        let notification = self.ecn.syn_flags(answers, self.syn.attempts);
        self.syn.pending = false;
        self.syn.sent_at = Some(trace.now);
        self.syn.attempts += 1;
        self.sender.on_syn_sent();
        let flags = if answers { Flags::SYN | Flags::ACK } else { Flags::SYN };
        let segment = Segment {
            seq: self.sender.queue().iss(),
            ack: self.receiver.rcv_nxt,
            flags: flags | notification,
            window: self.receiver.announce(false),
            payload_len: 0,
            options: self.syn_options(trace.now, answers),
        };
        if answers {
            self.receiver.on_ack_sent(trace.now, Carrier::PureAck);
        }
        let kind =
            if self.syn.repeats > 0 { SegmentKind::Retransmission } else { SegmentKind::New };
        self.emit_sent(trace, segment.seq, 0, kind);
        segment
    }

    fn data_segment<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Option<Outbound> {
        if self.sender.queue().fin() == FinProgress::Queued && self.state == TcpState::Established {
            // RFC 9293 §3.10.4: in any case, however long the FIN has to wait for its turn.
            self.enter(trace, TcpState::FinWait1);
        }
        self.sender.restart_if_idle(trace);
        let outgoing = self.sender.next_segment(trace.now, self.room())?;
        let Outgoing { seq, payload, fin, push, kind } = outgoing;
        if kind == SegmentKind::New {
            self.sender.validate_by_sending(trace);
        }
        let mut flags = Flags::ACK;
        if push {
            flags = flags | Flags::PSH;
        }
        if fin {
            flags = flags | Flags::FIN;
            self.on_fin_sent(trace);
        }
        let mut ecn = Ecn::NotEct;
        // RFC 3168 §6.1.4 to §6.1.6: only new data, no probe of a closed window.
        if kind == SegmentKind::New
            && payload > 0
            && let Some(says_cwr) = self.sender.mark_new_data()
        {
            ecn = Ecn::Ect0;
            if says_cwr {
                flags = flags | Flags::CWR;
            }
        }
        self.emit_sent(trace, seq, payload, kind);
        Some(Outbound { segment: self.segment(trace.now, seq, flags, payload), ecn })
    }

    /// What fits into a segment beside its options: blocks beside data come out of the payload
    /// (RFC 6691).
    #[inline]
    fn room(&self) -> Bytes {
        if self.reports_blocks() { self.room_beside_blocks() } else { self.sender.smss() }
    }

    /// Whether there are blocks to report, to a peer that reads them.
    #[inline]
    fn reports_blocks(&self) -> bool {
        self.agreed.sack && self.receiver.has_blocks()
    }

    #[inline(never)]
    fn room_beside_blocks(&self) -> Bytes {
        let blocks = self.receiver.sack_blocks(self.most_blocks());
        let sack_len = if blocks.is_empty() { 0 } else { blocks.len() as u64 * 8 + 4 };
        self.sender.smss().saturating_sub(Bytes(sack_len)).max(Bytes(1))
    }

    fn on_fin_sent<S: Sink>(&mut self, trace: &mut Trace<'_, S>) {
        debug_assert_ne!(self.sender.queue().fin(), FinProgress::Open);
        if self.state == TcpState::CloseWait {
            self.enter(trace, TcpState::LastAck);
        }
    }

    fn pure_ack_if_owed<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Option<Outbound> {
        self.receiver.owes(trace.now).then(|| self.pure_ack(trace))
    }

    fn pure_ack<S: Sink>(&mut self, trace: &mut Trace<'_, S>) -> Outbound {
        let seq = self.sender.queue().snd_nxt();
        self.emit_sent(trace, seq, 0, SegmentKind::PureAck);
        Outbound::unmarkable(self.segment(trace.now, seq, Flags::ACK, 0))
    }

    /// 40 bytes of options: three blocks beside timestamps, four without (RFC 2018 §3).
    fn most_blocks(&self) -> usize {
        if self.agreed.timestamps.is_some() { MAX_SACK_BLOCKS - 1 } else { MAX_SACK_BLOCKS }
    }

    /// How many blocks fit beside so much payload without the segment exceeding the peer's MSS: a
    /// retransmission is as long as it was, whatever there is to report by now.
    fn blocks_beside(&self, payload_len: u32) -> usize {
        if payload_len == 0 {
            return self.most_blocks();
        }
        let left = self.sender.smss().saturating_sub(Bytes(u64::from(payload_len)));
        (left.get().saturating_sub(4) / 8).min(self.most_blocks() as u64) as usize
    }

    /// A segment with acknowledgment and window on it: it pays what the receiver owes.
    #[inline(never)]
    fn segment(&mut self, now: Time, seq: Seq, flags: Flags, payload_len: u32) -> Segment {
        if self.reports_blocks() {
            self.segment_with_blocks(now, seq, flags, payload_len)
        } else {
            self.segment_without_blocks(now, seq, flags, payload_len)
        }
    }

    fn segment_without_blocks(
        &mut self,
        now: Time,
        seq: Seq,
        flags: Flags,
        payload_len: u32,
    ) -> Segment {
        let mut segment = Segment::default();
        self.write_ordinary(now, &mut segment, seq, payload_len);
        segment.flags = segment.flags | flags;
        segment
    }

    /// Makes a blank segment one with nothing on it but acknowledgment, window and timestamps: what leaves most of the
    /// time.
    #[inline(always)]
    fn write_ordinary(&mut self, now: Time, segment: &mut Segment, seq: Seq, payload_len: u32) {
        segment.seq = seq;
        segment.payload_len = payload_len;
        segment.flags = Flags::ACK | self.ecn.echo();
        segment.window = self.receiver.announce(true);
        self.receiver.on_ack_sent(now, carrier(payload_len));
        segment.ack = self.receiver.rcv_nxt;
        segment.options.timestamps = self.timestamps_if_used(now);
    }

    /// The same with as many blocks as there is room for. Without any the acknowledgment is still owed.
    #[inline(never)]
    fn segment_with_blocks(
        &mut self,
        now: Time,
        seq: Seq,
        flags: Flags,
        payload_len: u32,
    ) -> Segment {
        let flags = flags | self.ecn.echo();
        let window = self.receiver.announce(true);
        let sack = match self.blocks_beside(payload_len) {
            0 => SackBlocks::default(),
            room => self.receiver.sack_blocks(room),
        };
        if sack.is_empty() {
            self.receiver.on_ack_sent_without_blocks();
        } else {
            self.receiver.on_ack_sent(now, carrier(payload_len));
        }
        let timestamps = self.timestamps_if_used(now);
        let options = Options { timestamps, sack, ..Options::default() };
        Segment { seq, ack: self.receiver.rcv_nxt, flags, window, payload_len, options }
    }

    #[inline]
    fn timestamps_if_used(&self, now: Time) -> Option<Timestamps> {
        self.agreed.timestamps.is_some().then(|| self.timestamps(now))
    }

    fn emit_sent<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        seq: Seq,
        payload_len: u32,
        kind: SegmentKind,
    ) {
        match kind {
            SegmentKind::PureAck => count(&mut self.stats.pure_acks_sent),
            SegmentKind::Reset | SegmentKind::KeepaliveProbe => {}
            SegmentKind::WindowProbe if payload_len == 0 => {}
            SegmentKind::Retransmission => {
                count(&mut self.stats.data_segments_sent);
                count(&mut self.stats.retransmitted_segments);
            }
            SegmentKind::New | SegmentKind::WindowProbe => {
                count(&mut self.stats.data_segments_sent);
            }
        }
        let payload = Bytes(u64::from(payload_len));
        trace.emit(|endpoint| Event::SegmentSent { endpoint, seq, payload, kind });
    }
}

/// What an acknowledgment leaves on that has so much payload beside it.
fn carrier(payload_len: u32) -> Carrier {
    if payload_len > 0 { Carrier::Data } else { Carrier::PureAck }
}
