//! Packets told apart: the copies that another capture point adds, and gaps in the identification field.

use crate::Seen;
use ackord_units::{Span, Time};

/// How many packets are remembered to know copies by.
const REMEMBERED: usize = 4;
/// So many packets in a row are numbered one by one where it is no chance.
const REGULAR: u32 = 6;
/// Gaps of the identification field that may be lost packets.
const MOST_SKIPPED: u16 = 2048;
/// A copy comes within this time.
const COPY_WITHIN: Span = Span::from_millis(2);

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

/// The packets seen just before.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    packets: [(Signature, Time); REMEMBERED],
    oldest: usize,
}

impl Recent {
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
            && self.packets.iter().any(|(before, passed)| {
                *before == signature && at.saturating_since(*passed) <= COPY_WITHIN
            });
        self.packets[self.oldest] = (signature, at);
        self.oldest = (self.oldest + 1) % REMEMBERED;
        copy
    }
}

/// The identification field of a direction's packets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Numbers {
    /// Packets since it last sent bytes that the capture never had, by the gaps.
    pub(crate) skipped: u32,
    /// The next one, and how many packets in a row had the one expected.
    next: u16,
    regular: u32,
}

impl Numbers {
    /// Whoever numbers packets one by one shows by a gap that some are missing here.
    #[inline]
    pub(crate) fn take(&mut self, seen: &Seen, mss: u32) {
        let ahead = seen.ip_id.wrapping_sub(self.next);
        match ahead {
            0 => self.regular = self.regular.saturating_add(1),
            1..MOST_SKIPPED if self.regular >= REGULAR => self.skipped += u32::from(ahead),
            _ => self.regular /= 2,
        }
        let segments = seen.payload_len.div_ceil(mss).max(1);
        self.next = seen.ip_id.wrapping_add(segments as u16);
    }
}
