//! What was written, what of it was sent, and what of that is acknowledged.

use crate::config::Config;
use crate::rtt::Window;
use ackord_units::{Bytes, Seq};

/// How far the FIN has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FinProgress {
    /// The application may still write.
    Open,
    /// It has closed; the FIN follows the last byte.
    Queued,
    Sent,
    Acked,
}

/// The send sequence space (RFC 9293 §3.3.1) and the stream it carries.
#[derive(Clone, Debug)]
pub(crate) struct SendQueue {
    iss: Seq,
    snd_una: Seq,
    snd_nxt: Seq,
    /// Stream offset of snd_una.
    una_offset: u64,
    /// Stream offset of snd_nxt.
    nxt_offset: u64,
    /// Stream offset up to which the application has written.
    written: u64,
    /// Whether the last byte written carries PSH.
    pushes_end: bool,
    buffer: Bytes,
    /// What it may grow to.
    max_buffer: Bytes,
    fin: FinProgress,
}

impl SendQueue {
    pub(super) fn new(config: &Config, iss: Seq) -> SendQueue {
        SendQueue {
            iss,
            snd_una: iss,
            snd_nxt: iss,
            una_offset: 0,
            nxt_offset: 0,
            written: 0,
            pushes_end: true,
            buffer: config.buffers.send_at_first(),
            max_buffer: config.buffers.send,
            fin: FinProgress::Open,
        }
    }

    #[inline]
    pub(crate) fn iss(&self) -> Seq {
        self.iss
    }

    #[inline]
    pub(crate) fn snd_una(&self) -> Seq {
        self.snd_una
    }

    #[inline]
    pub(crate) fn snd_nxt(&self) -> Seq {
        self.snd_nxt
    }

    /// Stream offset of snd_una: what lies below it is acknowledged.
    #[inline]
    pub(crate) fn una_offset(&self) -> u64 {
        self.una_offset
    }

    #[inline]
    pub(crate) fn fin(&self) -> FinProgress {
        self.fin
    }

    /// Written and not sent yet.
    #[inline]
    pub(crate) fn unsent(&self) -> Bytes {
        Bytes(self.written - self.nxt_offset)
    }

    /// Whether data, or the FIN, waits to be sent for the first time.
    #[inline]
    pub(super) fn has_unsent(&self) -> bool {
        self.written > self.nxt_offset || self.fin == FinProgress::Queued
    }

    /// Sent and not acknowledged.
    #[inline]
    pub(crate) fn flight_size(&self) -> Bytes {
        Bytes(u64::from(self.snd_nxt.since(self.snd_una)))
    }

    /// What is outstanding, as the round-trip estimator wants it.
    #[inline]
    pub(super) fn window(&self) -> Window {
        Window { snd_una: self.snd_una, snd_nxt: self.snd_nxt }
    }

    /// Whether everything written is acknowledged, and the FIN if there was one.
    pub(crate) fn all_acknowledged(&self) -> bool {
        self.una_offset == self.written
            && matches!(self.fin, FinProgress::Open | FinProgress::Acked)
    }

    /// Stream offset of the first payload byte of a segment: `seq` must lie between what is
    /// acknowledged and what was sent.
    pub(crate) fn offset_of(&self, seq: Seq) -> Option<u64> {
        let ahead = seq.since(self.snd_una);
        let sent = self.snd_nxt.since(self.snd_una);
        (ahead <= sent).then(|| self.una_offset + u64::from(ahead))
    }

    #[inline]
    pub(super) fn writable(&self) -> Bytes {
        if self.fin != FinProgress::Open {
            return Bytes::ZERO;
        }
        Bytes((self.una_offset + self.buffer.get()).saturating_sub(self.written))
    }

    /// Takes as much of `bytes` as fits. `push` says whether the last of them carries PSH.
    pub(super) fn write(&mut self, bytes: Bytes, push: bool) -> Bytes {
        let accepted = bytes.min(self.writable());
        self.written += accepted.get();
        if accepted > Bytes::ZERO {
            self.pushes_end = push;
        }
        accepted
    }

    /// Whether a segment that ends what was written carries PSH.
    #[inline]
    pub(super) fn pushes_end(&self) -> bool {
        self.pushes_end
    }

    /// The application has closed.
    pub(super) fn close(&mut self) {
        if self.fin == FinProgress::Open {
            self.fin = FinProgress::Queued;
        }
    }

    /// As much may be written and not yet acknowledged.
    pub(super) fn set_buffer(&mut self, bytes: Bytes) {
        (self.buffer, self.max_buffer) = (bytes, bytes);
    }

    /// Room for what is in flight and for as much that replaces it (Linux's tcp_sndbuf_expand). It
    /// does not shrink.
    #[inline]
    pub(super) fn grow_buffer(&mut self, cwnd: impl FnOnce() -> Bytes) {
        if self.buffer < self.max_buffer {
            let wanted = (cwnd() * 2).min(self.max_buffer);
            self.buffer = self.buffer.max(wanted);
        }
    }

    /// The handshake is taken back. What was written stays.
    pub(super) fn start_over(&mut self) {
        (self.snd_una, self.snd_nxt) = (self.iss, self.iss);
    }

    pub(super) fn on_syn_sent(&mut self) {
        self.snd_nxt = self.iss + 1;
    }

    pub(super) fn on_syn_acked(&mut self, ack: Seq) {
        self.snd_una = ack;
    }

    /// A new segment has left.
    #[inline]
    pub(super) fn on_sent(&mut self, payload: u32, fin: bool) {
        self.snd_nxt += payload + u32::from(fin);
        self.nxt_offset += u64::from(payload);
        if fin {
            self.fin = FinProgress::Sent;
        }
    }

    /// Everything before `ack` is acknowledged; `nothing_outstanding` says that this is all that was
    /// sent. Gives the bytes of data.
    #[inline]
    pub(super) fn acknowledge(&mut self, ack: Seq, nothing_outstanding: bool) -> Bytes {
        let advanced = ack.since(self.snd_una);
        self.snd_una = ack;
        let fin_acked = self.fin == FinProgress::Sent && nothing_outstanding;
        let data = u64::from(advanced) - u64::from(fin_acked);
        self.una_offset += data;
        if fin_acked {
            self.fin = FinProgress::Acked;
        }
        Bytes(data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Buffers;

    fn queue() -> SendQueue {
        let config = Config {
            buffers: Buffers { send: Bytes(5_000), ..Buffers::default() },
            ..Config::default()
        };
        let mut queue = SendQueue::new(&config, Seq(100));
        queue.on_syn_sent();
        queue.on_syn_acked(Seq(101));
        queue
    }

    #[test]
    fn the_buffer_bounds_what_is_written_and_not_acknowledged() {
        let mut queue = queue();
        assert_eq!(queue.write(Bytes(7_000), true), Bytes(5_000));
        queue.on_sent(1_000, false);
        assert_eq!((queue.writable(), queue.unsent()), (Bytes::ZERO, Bytes(4_000)));
        assert_eq!(queue.acknowledge(Seq(1_101), true), Bytes(1_000));
        assert_eq!((queue.writable(), queue.flight_size()), (Bytes(1_000), Bytes::ZERO));
        assert_eq!(queue.offset_of(Seq(1_101)), Some(1_000));
        assert_eq!(queue.offset_of(Seq(1_102)), None, "not sent yet");
    }

    #[test]
    fn the_fin_takes_a_sequence_number_and_is_no_data() {
        let mut queue = queue();
        queue.write(Bytes(10), true);
        queue.close();
        assert_eq!(queue.writable(), Bytes::ZERO);
        queue.on_sent(10, true);
        assert_eq!((queue.fin(), queue.flight_size()), (FinProgress::Sent, Bytes(11)));
        assert_eq!(queue.acknowledge(Seq(112), true), Bytes(10));
        assert!(queue.all_acknowledged());
    }
}
