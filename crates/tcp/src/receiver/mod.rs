//! The receiving half of a connection: what has arrived, the window it leaves, and the
//! acknowledgment that is owed.
//!
//! | file | what |
//! | --- | --- |
//! | `window.rs` | the window that is offered |
//! | `reassembly.rs` | what has arrived out of order |
//! | `right_sizing.rs` | a buffer that grows with what is read |
//! | `round_trip.rs` | the round trip as a receiver sees it |

mod reassembly;
mod right_sizing;
mod round_trip;
mod window;

pub(crate) use round_trip::ReceiverRtt;

use crate::ack::{
    AckDecision, AckPolicy, Answering, Arrival, Carrier, Opening, Order, ReceiveWindow,
};
use crate::config::Config;
use crate::ecn::MarkSeen;
use crate::rtt::RttEstimator;
use crate::ts_clock::TimestampEcho;
use ackord_units::{Bytes, Seq, Span, Time};
use ackord_wire::{SackBlock, SackBlocks};
use reassembly::Reassembly;
use right_sizing::{Flow, RightSizing};

/// The acknowledgment the receiver owes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Owed {
    Nothing,
    /// By then at the latest.
    By(Time),
    Now,
    /// Now, and before anything that the application has not written yet.
    BeforeAnswers,
}

#[derive(Clone, Debug)]
pub(crate) struct Receiver {
    /// The peer's initial sequence number.
    pub(crate) irs: Seq,
    pub(crate) rcv_nxt: Seq,
    /// Bytes of the stream received in order.
    pub(crate) offset: u64,
    /// Bytes of those that the application has read.
    read: u64,
    /// The same when a window was last announced.
    read_at_announcement: u64,
    /// What the buffer holds at present.
    buffer: Bytes,
    /// How it grows, where it does.
    sizing: Option<Box<RightSizing>>,
    /// Our window scale shift.
    pub(crate) scale: u8,
    /// Right edge announced last; it never moves left (RFC 9293 §3.8.6).
    advertised_edge: Seq,
    ahead: Reassembly,
    /// Sequence number of the peer's FIN, once seen.
    fin_at: Option<Seq>,
    /// Whether everything up to the peer's FIN has arrived.
    pub(crate) finished: bool,
    policy: Box<dyn AckPolicy>,
    /// What it decides about every segment, if it always decides the same.
    always: Option<AckDecision>,
    /// Whether an acknowledgment that is to be sent now leaves before the application answers.
    answering: Answering,
    pub(crate) owed: Owed,
    /// rcv_nxt at the last acknowledgment sent (Last.ACK.sent of RFC 7323).
    pub(crate) last_ack_sent: Seq,
    /// The largest payload seen, to tell full-sized segments; what they carry at least before any
    /// was seen.
    pub(crate) full_size: Bytes,
    /// The largest that this end has said it takes (its MSS): no more counts as full-sized.
    largest: Bytes,
    /// Whether bytes received twice are reported (RFC 2883).
    pub(crate) reports_duplicates: bool,
    /// Such bytes, until an acknowledgment has told of them once.
    duplicate: Option<SackBlock>,
    /// The acknowledgment timeout last told of.
    told_ato: Option<Span>,
}

/// What a data segment brought.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Accepted {
    /// Bytes that have become readable.
    pub(crate) delivered: Bytes,
    /// Which of its bytes were taken in.
    pub(crate) place: Option<PayloadPlace>,
}

/// Which bytes of an arriving segment were taken in, and where they belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadPlace {
    /// Bytes at its beginning that are left out: they have come before.
    pub skip: usize,
    /// Bytes after those that are taken; what follows lies beyond the window, or the end.
    pub len: usize,
    /// Stream offset of the first of them.
    pub at: u64,
}

/// RFC 9293 §3.7.1: the MSS before anything is known.
const SMALLEST_FULL_SIZE: Bytes = Bytes(536);

impl Receiver {
    pub(crate) fn new(config: &Config, policy: Box<dyn AckPolicy>) -> Receiver {
        let first = config.buffers.receive_at_first();
        Receiver {
            irs: Seq(0),
            rcv_nxt: Seq(0),
            offset: 0,
            read: 0,
            read_at_announcement: 0,
            buffer: first,
            sizing: (config.buffers.tunes_receive)
                .then(|| Box::new(RightSizing::new(config.buffers.receive, config.mss, first))),
            scale: 0,
            advertised_edge: Seq(0),
            ahead: Reassembly::default(),
            fin_at: None,
            finished: false,
            always: policy.always(),
            answering: policy.answering(),
            policy,
            owed: Owed::Nothing,
            last_ack_sent: Seq(0),
            full_size: SMALLEST_FULL_SIZE,
            largest: config.mss,
            reports_duplicates: false,
            duplicate: None,
            told_ato: None,
        }
    }

    /// The peer's SYN came.
    pub(crate) fn synchronize(&mut self, now: Time, irs: Seq, opening: &Opening) {
        self.policy.on_open(now, opening);
        if let Some(sizing) = &mut self.sizing {
            sizing.open(now);
        }
        self.irs = irs;
        self.rcv_nxt = irs + 1;
        self.advertised_edge = self.rcv_nxt;
        self.last_ack_sent = self.rcv_nxt;
    }

    /// The handshake is taken back: as before the SYN came.
    pub(crate) fn start_over(&mut self, scale: u8) {
        self.scale = scale;
        self.full_size = SMALLEST_FULL_SIZE;
        self.reports_duplicates = false;
        self.owed = Owed::Nothing;
    }

    /// Bytes received in order and not yet read.
    #[inline]
    pub(crate) fn readable(&self) -> Bytes {
        Bytes(self.offset - self.read)
    }

    /// Whether an acknowledgment is due at `now`.
    #[inline]
    pub(crate) fn owes(&self, now: Time) -> bool {
        match self.owed {
            Owed::Nothing => false,
            Owed::By(at) => at <= now,
            Owed::Now | Owed::BeforeAnswers => true,
        }
    }

    /// Whether an acknowledgment is to leave before the application acts on what it has read.
    #[inline]
    pub(crate) fn acknowledges_first(&self) -> bool {
        self.owed == Owed::Now && self.answering == Answering::FollowsAck
    }

    /// Bytes received in order that no acknowledgment has covered.
    #[inline]
    fn unacknowledged(&self) -> Bytes {
        Bytes(u64::from(self.rcv_nxt.since(self.last_ack_sent)))
    }

    /// Takes in a data segment (or a bare FIN) that the sequence check let through.
    #[inline]
    pub(crate) fn accept(&mut self, now: Time, data: Data, rtt: &RttEstimator) -> Accepted {
        if self.is_next(&data) {
            self.accept_next(now, &data, rtt)
        } else {
            self.accept_any(now, data, rtt)
        }
    }

    #[inline(never)]
    pub(crate) fn accept_any(&mut self, now: Time, data: Data, rtt: &RttEstimator) -> Accepted {
        let Data { seq, payload, .. } = data;
        let edge = self.edge().max(self.rcv_nxt);
        let start = seq.max(self.rcv_nxt);
        let (end, text_end) = self.end_of(&data, edge);
        let before = self.rcv_nxt;
        let had_gap = !self.ahead.is_empty();
        self.note_duplicate(seq, end);
        let is_new = start.before(end) && !self.ahead.contains(start, end);
        let place = (is_new && start.before(text_end)).then(|| PayloadPlace {
            skip: start.since(seq) as usize,
            len: text_end.since(start) as usize,
            at: self.offset + u64::from(start.since(before)),
        });
        if start.before(end) {
            if start == self.rcv_nxt {
                self.rcv_nxt = end;
                if had_gap && let Some(reached) = self.ahead.take_reached(end) {
                    self.rcv_nxt = reached;
                }
            } else {
                self.ahead.insert(start, end);
            }
        }
        let ends = self.fin_at.is_some_and(|fin_at| self.rcv_nxt.after(fin_at));
        if ends {
            self.finished = true;
        }
        let delivered = self.rcv_nxt.since(before) - u32::from(ends);
        self.offset += u64::from(delivered);
        self.full_size = self.full_size.max(Bytes(u64::from(payload)).min(self.largest));
        let order = match (ends, is_new, self.rcv_nxt != before) {
            (true, ..) => Order::Final,
            (_, false, _) => Order::Duplicate,
            (_, true, false) => Order::OutOfOrder,
            (_, true, true) if had_gap => Order::FillsGap,
            (_, true, true) if seq.before(before) => Order::Overlapping,
            (_, true, true) => Order::InOrder,
        };
        if delivered > 0 && self.sizing.is_some() {
            self.size(now, &data, order, rtt);
        }
        self.owe(now, &data, order, rtt);
        if (seq + payload).after(edge) {
            // The peer is to know at once that not all of it was taken.
            self.owed = Owed::Now;
        }
        Accepted { delivered: Bytes(u64::from(delivered)), place }
    }

    /// Whether a segment brings what is expected next, all of it inside the window, and nothing waits beyond.
    #[inline]
    pub(crate) fn is_next(&self, data: &Data) -> bool {
        data.seq == self.rcv_nxt
            && data.payload > 0
            && !data.fin
            && (data.seq + data.payload).at_or_before(self.advertised_edge)
            && self.ahead.is_empty()
            && self.fin_at.is_none()
    }

    /// Takes in such a segment, the way nearly all come.
    #[inline(always)]
    fn accept_next(&mut self, now: Time, data: &Data, rtt: &RttEstimator) -> Accepted {
        let Data { seq, payload, .. } = *data;
        let place = PayloadPlace { skip: 0, len: payload as usize, at: self.offset };
        let delivered = Bytes(u64::from(payload));
        self.rcv_nxt = seq + payload;
        self.offset += delivered.get();
        self.full_size = self.full_size.max(delivered.min(self.largest));
        if self.sizing.is_some() {
            self.size(now, data, Order::InOrder, rtt);
        }
        self.owe(now, data, Order::InOrder, rtt);
        Accepted { delivered, place: Some(place) }
    }

    /// Where what is taken of a segment ends, with its FIN and without. Only what lies in the window is
    /// kept; a FIN right at its edge is taken, as it needs no room.
    #[inline]
    fn end_of(&mut self, data: &Data, edge: Seq) -> (Seq, Seq) {
        let Data { seq, payload, fin, .. } = *data;
        let end = (seq + payload).min(edge);
        if fin && self.fin_at.is_none() && end == seq + payload && end.at_or_after(self.rcv_nxt) {
            self.fin_at = Some(end);
        }
        let Some(fin_at) = self.fin_at else { return (end, end) };
        // Nothing lies beyond the end of the stream, and the FIN takes a place in sequence space
        // of its own: blocks tell of it too.
        let text_end = end.min(fin_at);
        (if fin && text_end == fin_at { text_end + 1 } else { text_end }, text_end)
    }

    /// Lets the buffer grow with what is read.
    #[inline(never)]
    fn size(&mut self, now: Time, data: &Data, order: Order, rtt: &RttEstimator) {
        let arrival = self.arrival(data, order, rtt);
        let flow = Flow { received: self.offset, read: self.read, buffer: self.buffer };
        if let Some(sizing) = &mut self.sizing {
            self.buffer = sizing.on_data(now, &arrival, flow);
        }
    }

    /// Data that the sequence check refused for its age: the policy hears of it, and the
    /// connection acknowledges it whatever the policy says (RFC 9293 §3.10.7.4).
    pub(crate) fn on_old_data(&mut self, now: Time, data: &Data, rtt: &RttEstimator) {
        self.owe(now, data, Order::Duplicate, rtt);
    }

    #[inline]
    fn arrival<'a>(&self, data: &Data, order: Order, rtt: &'a RttEstimator) -> Arrival<'a> {
        // A FIN at the window's edge lies beyond it.
        let edge = self.advertised_edge.max(self.last_ack_sent);
        Arrival {
            payload: Bytes(u64::from(data.payload)),
            full_size: self.full_size,
            unacknowledged: self.unacknowledged(),
            order,
            push: data.push,
            window: ReceiveWindow {
                offered: Bytes(u64::from(edge.since(self.last_ack_sent))),
                free: Bytes(u64::from(self.free())),
                unread: self.readable(),
            },
            rtt,
            echo: data.echo,
            mark: data.mark,
        }
    }

    /// A segment outside the window was refused: what it carries may all have come before.
    pub(crate) fn note_refused(&mut self, seq: Seq, len: u32) {
        if (seq + len).at_or_before(self.rcv_nxt) {
            self.note_duplicate(seq, seq + len);
        }
    }

    /// RFC 2883 §4: notes the first contiguous bytes of a segment that had arrived before.
    #[inline]
    fn note_duplicate(&mut self, start: Seq, end: Seq) {
        if !self.reports_duplicates || !start.before(end) {
            return;
        }
        let seen = if start.before(self.rcv_nxt) {
            // An old segment may reach back before the stream: nothing there has been received.
            let stream = self.offset + u64::from(self.finished);
            let back = u64::from(self.rcv_nxt.since(start)).min(stream) as u32;
            let start = self.rcv_nxt - back;
            let end = end.min(self.rcv_nxt);
            start.before(end).then_some(SackBlock { start, end })
        } else {
            self.ahead.overlap(start, end)
        };
        self.duplicate = seen.or(self.duplicate);
    }

    #[inline]
    fn owe(&mut self, now: Time, data: &Data, order: Order, rtt: &RttEstimator) {
        let decision = match self.always {
            Some(decision) => decision,
            None => {
                let arrival = self.arrival(data, order, rtt);
                self.policy.on_segment(now, &arrival)
            }
        };
        match (decision, self.owed) {
            (_, Owed::Now | Owed::BeforeAnswers) => {}
            (AckDecision::Now, _) => self.owed = Owed::Now,
            (AckDecision::BeforeAnswers, _) => self.owed = Owed::BeforeAnswers,
            (AckDecision::NoLaterThan(at), _) => self.owed = Owed::By(at),
        }
    }

    /// An acknowledgment has left.
    #[inline]
    pub(crate) fn on_ack_sent(&mut self, now: Time, carrier: Carrier) {
        self.owed = Owed::Nothing;
        self.duplicate = None;
        self.last_ack_sent = self.rcv_nxt;
        if self.always.is_none() {
            self.policy.on_ack_sent(now, carrier);
        }
    }

    /// How long the acknowledgment of a lone segment would wait, where the policy learns it.
    pub(crate) fn ato(&self) -> Option<Span> {
        self.policy.ato()
    }

    /// The next byte expected has been told, but no block: there was no room for any. The
    /// acknowledgment is still owed.
    pub(crate) fn on_ack_sent_without_blocks(&mut self) {
        self.last_ack_sent = self.rcv_nxt;
    }

    /// The policy's acknowledgment timeout, if it is another than when last asked.
    pub(crate) fn changed_ato(&mut self) -> Option<Span> {
        let ato = self.policy.ato();
        if ato == self.told_ato {
            return None;
        }
        self.told_ato = ato;
        ato
    }

    /// Whether there are blocks to report.
    #[inline]
    pub(crate) fn has_blocks(&self) -> bool {
        !self.ahead.is_empty() || self.duplicate.is_some()
    }

    /// Blocks to report, at most `room`.
    pub(crate) fn sack_blocks(&self, room: usize) -> SackBlocks {
        self.ahead.sack_blocks(room, self.duplicate)
    }
}

/// The part of a segment that occupies the stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) seq: Seq,
    pub(crate) payload: u32,
    pub(crate) fin: bool,
    pub(crate) push: bool,
    pub(crate) echo: Option<TimestampEcho>,
    pub(crate) mark: MarkSeen,
}
