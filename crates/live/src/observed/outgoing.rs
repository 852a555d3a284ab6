//! The half that sends.

use super::ahead;
use super::inflight::InFlight;
use ackord_events::SegmentKind;
use ackord_units::{Seq, Time};
use ackord_wire::{Flags, SackBlock, Segment};
use std::collections::VecDeque;

/// So many retransmissions are remembered, to tell whose duplicates the receiver reports.
const REMEMBERED: usize = 1_024;

/// What an end has sent, and how much of that is acknowledged.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    iss: Seq,
    /// One beyond the highest number sent: SND.NXT, but it never goes back.
    highest: Seq,
    una: Seq,
    /// Bytes of data acknowledged.
    acknowledged: u64,
    /// The number of the FIN, once sent.
    fin_at: Option<Seq>,
    /// Right edge of the peer's window; nothing until it has told.
    edge: Option<Seq>,
    /// The byte of a probe of the closed window, which lies beyond `highest`.
    probe: Option<Seq>,
    in_flight: InFlight,
    /// What was retransmitted and has not been reported as arrived twice.
    resent: VecDeque<SackBlock>,
}

/// What an acknowledgment says.
#[derive(Clone, Copy, Debug)]
pub(super) struct Acknowledged {
    /// Bytes of data newly acknowledged.
    pub(super) data: u64,
    /// Whether anything behind the SYN is newly acknowledged; a FIN alone is no data.
    pub(super) advanced: bool,
    pub(super) fin: bool,
    /// When the earliest of it was sent, if that is certain.
    pub(super) sent_at: Option<Time>,
}

impl Outgoing {
    /// An end whose SYN has this number.
    pub(super) fn new(iss: Seq) -> Outgoing {
        Outgoing {
            iss,
            highest: iss,
            una: iss,
            acknowledged: 0,
            fin_at: None,
            edge: None,
            probe: None,
            in_flight: InFlight::default(),
            resent: VecDeque::new(),
        }
    }

    /// An end first seen amid a connection, sending at `seq`.
    pub(super) fn from_amid(seq: Seq) -> Outgoing {
        let mut outgoing = Outgoing::new(seq - 1);
        outgoing.highest = seq;
        outgoing.una = seq;
        outgoing
    }

    pub(super) fn iss(&self) -> Seq {
        self.iss
    }

    pub(super) fn highest(&self) -> Seq {
        self.highest
    }

    /// Bytes of data acknowledged so far.
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Takes note of a segment that is no reset, and says why it was sent.
    pub(super) fn sent(&mut self, at: Time, segment: &Segment) -> SegmentKind {
        let (seq, end) = (segment.seq, segment.end_seq());
        if segment.seq_len() == 0 {
            return self.kind_of_empty(seq);
        }
        if segment.payload_len == segment.seq_len() && segment.payload_len == 1 {
            if end == self.una && self.una == self.highest {
                // RFC 9293 §3.8.4 lets a probe of a silent peer carry a byte received long ago.
                return SegmentKind::KeepaliveProbe;
            }
            if self.is_probe_of_window(seq) {
                self.probe = Some(end);
                return SegmentKind::WindowProbe;
            }
        }
        if segment.flags.contains(Flags::FIN) {
            self.fin_at = Some(end - 1);
        }
        let again = seq.before(self.highest);
        if again {
            self.in_flight.retransmitted(seq, end.min(self.highest));
            self.remember(SackBlock { start: seq, end: end.min(self.highest) });
        }
        if end.after(self.highest) {
            self.in_flight.sent(seq.max(self.highest), end, at);
            self.highest = end;
            self.probe = None;
        }
        if again { SegmentKind::Retransmission } else { SegmentKind::New }
    }

    /// Kernels probe with an empty segment that begins one byte before what is outstanding, a
    /// closed window as well as a silent peer; which of the two, the window tells. (With the
    /// window closed and nothing to send there is nothing to probe for, but that is not seen.)
    fn kind_of_empty(&self, seq: Seq) -> SegmentKind {
        if !seq.before(self.una) {
            return SegmentKind::PureAck;
        }
        match self.edge {
            Some(edge) if edge.at_or_before(self.una) => SegmentKind::WindowProbe,
            _ => SegmentKind::KeepaliveProbe,
        }
    }

    /// One byte where the peer's window is closed, nothing else being outstanding.
    fn is_probe_of_window(&self, seq: Seq) -> bool {
        let closed = self.edge.is_some_and(|edge| edge.at_or_before(seq));
        closed && seq == self.una && seq == self.highest
    }

    fn remember(&mut self, block: SackBlock) {
        if self.resent.len() == REMEMBERED {
            self.resent.pop_front();
        }
        self.resent.push_back(block);
    }

    /// The peer has everything up to `ack`, and takes `window` bytes behind it.
    pub(super) fn acknowledged_up_to(&mut self, ack: Seq, window: u32) -> Acknowledged {
        let most = self.probe.unwrap_or(self.highest).max(self.highest);
        let nothing = |fin| Acknowledged { data: 0, advanced: false, fin, sent_at: None };
        // What was never sent cannot be acknowledged; what is older than that is old news.
        if ack.after(most) || ack.before(self.una) {
            return nothing(false);
        }
        self.edge = Some(ack + window);
        let fin = self.fin_at.is_some_and(|fin_at| ack.after(fin_at));
        if ack == self.una {
            return nothing(fin);
        }
        if ack.after(self.highest) {
            self.highest = ack;
            self.probe = None;
        }
        let syn = u32::from(self.una == self.iss);
        let bytes = ack.since(self.una) - syn;
        let data = u64::from(bytes - u32::from(fin && bytes > 0));
        let sent_at = self.in_flight.acknowledged(ack);
        self.una = ack;
        self.acknowledged += data;
        Acknowledged { data, advanced: bytes > 0, fin, sent_at }
    }

    /// What the receiver says it has got twice (RFC 2883), if that is because it was sent twice.
    pub(super) fn reported_twice(&mut self, segment: &Segment) -> Option<SackBlock> {
        let blocks = segment.options.sack.as_slice();
        let block = *blocks.first()?;
        let inside_next = blocks.get(1).is_some_and(|next| {
            next.start.at_or_before(block.start) && block.end.at_or_before(next.end)
        });
        let below = ahead(block.end, segment.ack) == 0;
        if !(below || inside_next) || !block.start.before(block.end) {
            return None;
        }
        let overlaps =
            |resent: &SackBlock| resent.start.before(block.end) && block.start.before(resent.end);
        let position = self.resent.iter().position(overlaps)?;
        self.resent.remove(position);
        Some(block)
    }
}
