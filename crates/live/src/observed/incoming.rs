//! The half that receives.

use ackord_units::Seq;
use ackord_wire::{Flags, Segment};

/// What has arrived at an end.
#[derive(Clone, Debug)]
pub(super) struct Incoming {
    irs: Seq,
    rcv_nxt: Seq,
    /// Bytes of data in order.
    in_order: u64,
    /// Ranges beyond a hole, apart from each other and in order of sequence.
    beyond: Vec<(Seq, Seq)>,
    /// The number of the peer's FIN, once seen.
    fin_at: Option<Seq>,
    /// Right edge of the window that the end announced; nothing before it did.
    edge: Option<Seq>,
    /// Last.ACK.sent and TS.Recent of RFC 7323 §4.3; no timestamp where none is in use.
    last_ack_sent: Seq,
    ts_recent: Option<u32>,
}

impl Incoming {
    /// The peer's SYN has this number, and this timestamp if any.
    pub(super) fn new(irs: Seq, timestamp: Option<u32>) -> Incoming {
        Incoming {
            irs,
            rcv_nxt: irs + 1,
            in_order: 0,
            beyond: Vec::new(),
            fin_at: None,
            edge: None,
            last_ack_sent: irs + 1,
            ts_recent: timestamp,
        }
    }

    /// First seen amid a connection, with `next` expected.
    pub(super) fn from_amid(next: Seq) -> Incoming {
        Incoming::new(next - 1, None)
    }

    pub(super) fn irs(&self) -> Seq {
        self.irs
    }

    pub(super) fn rcv_nxt(&self) -> Seq {
        self.rcv_nxt
    }

    /// Bytes of data in order so far.
    pub(super) fn received_in_order(&self) -> u64 {
        self.in_order
    }

    /// Whether everything up to the peer's FIN has arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin_at.is_some_and(|fin_at| self.rcv_nxt.after(fin_at))
    }

    /// Whether PAWS refuses the segment (RFC 7323 §5.3 R1); notes its timestamp otherwise (§4.3).
    ///
    /// Where packets change places this matters: the retransmission that fills a hole brings a
    /// newer timestamp than the originals that are still under way.
    pub(super) fn is_old(&mut self, segment: &Segment) -> bool {
        let (Some(recent), Some(stamps)) = (self.ts_recent, segment.options.timestamps) else {
            return false;
        };
        if (stamps.value.wrapping_sub(recent) as i32) < 0 {
            return true;
        }
        // What lies before the window is refused for that, whatever its timestamp.
        let in_window = match segment.seq_len() {
            0 => segment.seq.at_or_after(self.rcv_nxt),
            _ => segment.end_seq().after(self.rcv_nxt),
        };
        if in_window && segment.seq.at_or_before(self.last_ack_sent) {
            self.ts_recent = Some(stamps.value);
        }
        false
    }

    /// Takes in a segment; answers how many bytes of data have become readable.
    pub(super) fn received(&mut self, segment: &Segment) -> u64 {
        let syn = u32::from(segment.flags.contains(Flags::SYN));
        let first = segment.seq + syn;
        let mut end = first + segment.payload_len;
        // RFC 9293 §3.10.7.4: only what lies in the window is taken.
        if let Some(edge) = self.edge {
            let whole = end.at_or_before(edge.max(self.rcv_nxt));
            end = end.min(edge.max(self.rcv_nxt));
            if segment.flags.contains(Flags::FIN) && whole {
                self.fin_at.get_or_insert(end);
            }
        } else if segment.flags.contains(Flags::FIN) {
            self.fin_at.get_or_insert(end);
        }
        let start = first.max(self.rcv_nxt);
        if start.before(end) {
            self.insert(start, end);
        }
        self.advance()
    }

    /// The end says that it has everything up to `ack` and takes `window` bytes more. Answers how
    /// many bytes it must have got unseen.
    pub(super) fn acknowledged(&mut self, ack: Seq, window: u32) -> u64 {
        let edge = ack + window;
        self.last_ack_sent = ack;
        // The right edge never moves left (RFC 9293 §3.8.6); where it does, what was offered
        // before may be under way.
        self.edge = Some(self.edge.map_or(edge, |before| before.max(edge)));
        if !ack.after(self.rcv_nxt) {
            return 0;
        }
        self.insert(self.rcv_nxt, ack);
        self.advance()
    }

    fn insert(&mut self, start: Seq, end: Seq) {
        let from = self.beyond.partition_point(|range| range.1.before(start));
        let to = self.beyond.partition_point(|range| range.0.at_or_before(end));
        let overlapping = &self.beyond[from..to.max(from)];
        let start = overlapping.first().map_or(start, |range| range.0.min(start));
        let end = overlapping.last().map_or(end, |range| range.1.max(end));
        self.beyond.splice(from..to.max(from), [(start, end)]);
    }

    /// Moves on over what is there without a hole.
    fn advance(&mut self) -> u64 {
        let before = self.rcv_nxt;
        if let Some(&(start, end)) = self.beyond.first()
            && start.at_or_before(self.rcv_nxt)
        {
            self.rcv_nxt = self.rcv_nxt.max(end);
            self.beyond.remove(0);
        }
        let mut data = self.rcv_nxt.since(before);
        if let Some(fin_at) = self.fin_at {
            // An acknowledgment that covered the FIN came as if it were a byte.
            if self.rcv_nxt.after(fin_at) && !before.after(fin_at) {
                data -= 1;
            } else if self.rcv_nxt == fin_at {
                self.rcv_nxt += 1;
            }
        }
        self.in_order += u64::from(data);
        u64::from(data)
    }
}
