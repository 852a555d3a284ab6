//! The window that is offered: what the buffer has room for, and when it is worth telling
//! (RFC 9293 §3.8.6).

use super::{Owed, Receiver};
use crate::ack::{AckOnRead, Reading};
use ackord_units::{Bytes, Seq};

impl Receiver {
    /// The application takes `bytes`. Owes an acknowledgment if that opens the window by two
    /// segments or half the buffer (RFC 9293 §3.8.6.2.2), or if one waits and the policy says so.
    #[inline]
    pub(crate) fn read(&mut self, bytes: Bytes) {
        self.read += bytes.min(self.readable()).get();
        if self.owed != Owed::Now {
            self.on_read();
        }
    }

    fn on_read(&mut self) {
        if let Owed::By(_) = self.owed {
            let reading = Reading { left: self.readable(), unacknowledged: self.unacknowledged() };
            match self.policy.on_read(&reading) {
                AckOnRead::Now => self.owed = Owed::Now,
                AckOnRead::BeforeAnswers => self.owed = Owed::BeforeAnswers,
                AckOnRead::KeepsWaiting => {}
            }
        }
        if self.owed == Owed::Now {
            return;
        }
        let half = self.buffer / 2;
        let worth_telling = (self.full_size * 2).min(half);
        let opened = (self.rcv_nxt + self.free()).since(self.advertised_edge);
        let announced = self.advertised_edge.since(self.rcv_nxt);
        if (opened as i32) <= 0 || self.finished {
            return;
        }
        let opened = Bytes(u64::from(opened));
        // A window that had become small is worth a packet of its own, and so is half of the buffer
        // read at once; otherwise a wide one is told with the next acknowledgment.
        let was_small = Bytes(u64::from(announced)) < worth_telling * 2;
        let much = Bytes(self.read - self.read_at_announcement) >= half;
        if opened >= worth_telling && (was_small || much) {
            self.owed = Owed::Now;
        }
    }

    /// Bytes the buffer has room for.
    #[inline]
    pub(super) fn free(&self) -> u32 {
        self.buffer.saturating_sub(self.readable()).min(self.most()).get() as u32
    }

    /// The most that a window field can say.
    #[inline]
    fn most(&self) -> Bytes {
        // At most 14, so that nothing is checked.
        Bytes(u64::from(u16::MAX).wrapping_shl(u32::from(self.scale)))
    }

    /// The window to announce: RCV.WND by the silly-window rule of RFC 9293 §3.8.6.2.2.
    #[inline]
    fn window(&mut self) -> u32 {
        let announced = if self.advertised_edge.after(self.rcv_nxt) {
            self.advertised_edge.since(self.rcv_nxt)
        } else {
            0
        };
        let free = self.free();
        let step = (self.buffer / 2).min(self.full_size).get() as u32;
        if free >= announced.saturating_add(step) || free >= self.buffer.get() as u32 {
            free.max(announced)
        } else {
            announced
        }
    }

    /// The window field for a segment about to leave; SYN segments are never scaled.
    #[inline]
    pub(crate) fn announce(&mut self, scaled: bool) -> u16 {
        let shift = if scaled { self.scale } else { 0 };
        let field = match self.whole_buffer() {
            Some(whole) if scaled => whole.wrapping_shr(u32::from(shift)),
            _ => self.field(shift),
        };
        self.read_at_announcement = self.read;
        let offered = field.wrapping_shl(u32::from(shift));
        self.advertised_edge = self.advertised_edge.max(self.rcv_nxt + offered);
        field as u16
    }

    /// The window field with this scale, whatever is unread.
    #[inline(never)]
    pub(crate) fn field(&mut self, shift: u8) -> u32 {
        let window = self.window();
        // Rounded up, so that the right edge does not move left for want of low bits, as long as the
        // buffer has room for what that adds. Otherwise the field falls short by less than its unit,
        // and what was offered before is still taken in (RFC 7323 §2.4).
        let up = (window >> shift) + u32::from(window & ((1 << shift) - 1) != 0);
        let field = if up << shift <= self.free() { up } else { window >> shift };
        field.min(u32::from(u16::MAX))
    }

    /// The whole buffer, where that can be announced: everything has been read, and no more was announced
    /// before. Nothing is rounded up then, for there is no room for what that adds.
    #[inline]
    pub(crate) fn whole_buffer(&self) -> Option<u32> {
        let all_read = self.offset == self.read && self.buffer <= self.most();
        let whole = self.buffer.get() as u32;
        (all_read && self.advertised_edge.at_or_before(self.rcv_nxt + whole)).then_some(whole)
    }

    /// Whether a byte is offered that has not come.
    #[inline]
    pub(crate) fn has_window(&self) -> bool {
        self.advertised_edge.after(self.rcv_nxt)
    }

    /// RFC 9293 §3.10.7.4: whether any part of the segment lies in the window.
    #[inline]
    pub(crate) fn acceptable(&self, seq: Seq, seq_len: u32) -> bool {
        let edge = self.advertised_edge.max(self.rcv_nxt);
        let window = edge.since(self.rcv_nxt);
        let inside = |at: Seq| at.at_or_after(self.rcv_nxt) && at.before(edge);
        match (seq_len, window) {
            (0, 0) => seq == self.rcv_nxt,
            (0, _) => inside(seq),
            // With a closed window nothing is acceptable but acknowledgments, RSTs and URGs.
            (_, 0) => false,
            _ => inside(seq) || inside(seq + (seq_len - 1)),
        }
    }

    /// Right edge of the window last announced.
    #[inline]
    pub(crate) fn edge(&self) -> Seq {
        self.advertised_edge
    }
}
