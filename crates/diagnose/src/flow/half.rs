//! One direction of a connection: what one end sends, and what it has heard of the other.

use super::clock::StampClock;
use super::delay::Delay;
use super::outstanding::InFlight;
use super::phase::Phase;
use crate::Seen;
use ackord_units::{Span, Time};
use std::collections::VecDeque;

/// An acknowledgment on its way to the sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heard {
    /// When what the sender does about it passes the capture point.
    pub(crate) due: Time,
    pub(crate) ack: u64,
    /// The byte at which the window ends.
    pub(crate) edge: u64,
    pub(crate) frame: u64,
    /// Its TSval, which the sender echoes once it has heard it.
    pub(crate) stamp: Option<u32>,
    /// The TSval that it echoes.
    pub(crate) echo: Option<u32>,
    /// It reports bytes that arrived twice (RFC 2883).
    pub(crate) dsack: bool,
    /// It reports bytes behind a hole (RFC 2018).
    pub(crate) sack: bool,
}

/// What tells a packet from its copy by another capture point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Signature {
    seq: u32,
    ack: u32,
    ip_id: u16,
    window: u16,
    len: u32,
    timestamps: Option<(u32, u32)>,
}

/// How many packets are remembered to know copies by.
const REMEMBERED: usize = 4;
/// So many packets in a row are numbered one by one where it is no chance.
const REGULAR: u32 = 6;
/// Gaps of the identification field that may be lost packets.
const MOST_SKIPPED: u16 = 2048;
/// A copy comes within this time.
const COPY_WITHIN: Span = Span::from_millis(2);

/// One direction.
#[derive(Clone, Debug, Default)]
pub(crate) struct Half {
    /// Sequence number of byte 0, the SYN.
    anchor: u32,
    anchored: bool,
    /// The byte after the highest one seen.
    pub(crate) next: u64,
    /// Acknowledged, as seen at the capture point.
    pub(crate) una: u64,
    /// When that was acknowledged.
    pub(crate) una_at: Time,
    /// Acknowledged, as the sender knows.
    pub(crate) una_heard: u64,
    pub(crate) flight: InFlight,
    /// Where the receiver's window ends, as the sender knows; nothing where the scale is unknown.
    pub(crate) edge: Option<u64>,
    /// What was acknowledged and where the window ended during the longest silence since it last sent,
    /// and how long that was.
    pub(crate) waiting: (u64, Option<u64>),
    waited: Span,
    /// Shift of the windows that this end advertises.
    pub(crate) scale: Option<u8>,
    /// What the other end takes at once.
    pub(crate) mss_option: Option<u16>,
    /// Whether segments carry timestamps.
    pub(crate) stamped: bool,
    /// Longest segment seen.
    pub(crate) longest: u32,
    /// The round trip between the capture point and this end.
    pub(crate) to: Delay,
    pub(crate) clock: StampClock,
    /// Differences between one round-trip time and the next: their sum, and how many.
    pub(crate) jitters: (u64, u32),
    /// How long its last packet waited on its way here, and the one before that.
    pub(crate) late: Span,
    pub(crate) late_before: Span,
    /// When its last packet passed.
    pub(crate) last_packet: Time,
    pub(crate) heard: VecDeque<Heard>,
    pub(crate) last_heard: Time,
    /// When it last sent bytes, how many, and the frame.
    pub(crate) last_sent: Time,
    pub(crate) last_len: u32,
    /// When it last sent bytes not seen before.
    pub(crate) last_new: Time,
    /// What had been acknowledged then; how many ACKs have come since, and what the last but one of
    /// them acknowledged.
    pub(crate) una_at_new: u64,
    pub(crate) acks_since: u32,
    pub(crate) una_before: u64,
    /// Most bytes acknowledged per second while it waited so.
    pub(crate) drain_rate: f64,
    /// Mean time between its segments while it kept sending.
    pub(crate) spacing: Span,
    pub(crate) phase: Phase,
    pub(crate) fin_sent: bool,
    pub(crate) packets: u64,
    pub(crate) segments: u64,
    /// Bytes of payload, each once.
    pub(crate) bytes: u64,
    pub(crate) retransmitted: u64,
    /// Bytes acknowledged that the capture never had.
    pub(crate) missing: u64,
    pub(crate) missing_frame: u64,
    pub(crate) reordered: u64,
    /// Packets since it last sent bytes that the capture never had, by the gaps of the identification
    /// field.
    pub(crate) skipped: u32,
    /// The next identification, and how many packets in a row had the one expected.
    next_id: u16,
    regular: u32,
    recent: [(Signature, Time); REMEMBERED],
    oldest: usize,
}

impl Half {
    /// Where `seq` is in this direction, counted from its SYN.
    #[inline]
    pub(crate) fn offset(&self, seq: u32) -> u64 {
        let next = self.anchor.wrapping_add(self.next as u32);
        let ahead = i64::from(seq.wrapping_sub(next) as i32);
        self.next.saturating_add_signed(ahead)
    }

    /// The first sequence number seen: byte 0 is the SYN's, or the one before what was seen.
    pub(crate) fn anchor(&mut self, seq: u32, syn: bool) {
        if !self.anchored || (syn && self.next <= 1) {
            *self = Half {
                anchored: true,
                anchor: if syn { seq } else { seq.wrapping_sub(1) },
                next: 1,
                una: 1,
                una_heard: 1,
                ..std::mem::take(self)
            };
        }
    }

    /// The sequence number of byte 0.
    pub(crate) fn first_number(&self) -> u32 {
        self.anchor
    }

    pub(crate) fn is_anchored(&self) -> bool {
        self.anchored
    }

    /// Bytes under way, as the sender counts.
    #[inline]
    pub(crate) fn under_way(&self) -> u64 {
        self.next.saturating_sub(self.una_heard)
    }

    /// Segments are of this length when there is enough to send.
    #[inline]
    pub(crate) fn mss(&self) -> u32 {
        match self.mss_option {
            // Timestamps take twelve bytes of it.
            Some(mss) => u32::from(mss.max(64)) - if self.stamped { 12 } else { 0 },
            None => self.longest.clamp(536, 1460),
        }
    }

    /// One round-trip time differs from the one before by this.
    #[inline]
    pub(crate) fn jitter(&mut self, step: Span) {
        self.jitters =
            (self.jitters.0.saturating_add(step.as_nanos()), self.jitters.1.saturating_add(1));
    }

    /// Notes what stood while nothing was heard until now.
    #[inline]
    pub(crate) fn silent_until(&mut self, at: Time) {
        let first = self.last_heard <= self.last_new;
        let silence = at.saturating_since(self.last_heard.max(self.last_new));
        if first || silence > self.waited {
            self.waiting = (self.una_heard, self.edge);
            self.waited = silence;
        }
    }

    /// How long after an acknowledgment its effect is seen.
    #[inline]
    pub(crate) fn lag(&self) -> Span {
        self.to.now
    }

    /// Whoever numbers packets one by one shows by a gap that some are missing here.
    #[inline]
    pub(crate) fn number(&mut self, seen: &Seen) {
        let ahead = seen.ip_id.wrapping_sub(self.next_id);
        match ahead {
            0 => self.regular = self.regular.saturating_add(1),
            1..MOST_SKIPPED if self.regular >= REGULAR => self.skipped += u32::from(ahead),
            _ => self.regular /= 2,
        }
        let segments = seen.payload_len.div_ceil(self.mss()).max(1);
        self.next_id = seen.ip_id.wrapping_add(segments as u16);
    }

    /// Whether this packet is the copy of one that was seen just before.
    pub(crate) fn is_copy(&mut self, seen: &Seen, at: Time) -> bool {
        let signature = Signature {
            seq: seen.seq,
            ack: seen.ack,
            ip_id: seen.ip_id,
            window: seen.window,
            len: seen.payload_len,
            timestamps: seen.timestamps,
        };
        // Without any number that changes from packet to packet a copy cannot be known.
        let tellable = seen.ip_id != 0 || (seen.timestamps.is_some() && seen.payload_len > 0);
        let copy = tellable
            && self.recent.iter().any(|(before, passed)| {
                *before == signature && at.saturating_since(*passed) <= COPY_WITHIN
            });
        self.recent[self.oldest] = (signature, at);
        self.oldest = (self.oldest + 1) % REMEMBERED;
        copy
    }
}
