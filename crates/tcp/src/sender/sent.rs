//! One segment that has been sent, and what an acknowledgment took off.

use ackord_units::{Seq, Time};

/// A segment that has been sent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    pub(crate) seq: Seq,
    /// Bytes of payload.
    pub(crate) payload: u32,
    /// Whether it carries the FIN.
    pub(crate) fin: bool,
    /// Whether it ended what had been written when it was first sent (`tcp_mark_push`): then its retransmissions
    /// carry PSH as well.
    pub(crate) push: bool,
    /// Whether the packet it was last part of ends with it, where segmentation is offloaded.
    pub(super) ends_packet: bool,
    /// When it was last sent.
    pub(crate) sent_at: Time,
    pub(crate) state: SentState,
    /// (Karn's rule).
    pub(crate) retransmitted: bool,
    /// How often it counts while in flight.
    pub(super) copies: Copies,
    /// From it on at least so many are Sacked, where it is itself: looked at together the next time.
    pub(super) sacked_run: u16,
}

/// Where a segment is thought to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SentState {
    /// In the network, for the first time or again.
    InFlight,
    /// Arrived: the receiver said so by SACK.
    Sacked,
    /// Gone, and not yet retransmitted.
    Lost,
}

/// How many copies of a segment in flight are thought to be in the network (RFC 6675 §4 SetPipe):
/// two if it was retransmitted as a last resort, though nothing says that the first is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Copies {
    One,
    Two,
}

impl Sent {
    /// A segment that leaves for the first time.
    pub(crate) fn first(seq: Seq, payload: u32, fin: bool, now: Time) -> Sent {
        Sent {
            seq,
            payload,
            fin,
            push: false,
            ends_packet: true,
            sent_at: now,
            state: SentState::InFlight,
            retransmitted: false,
            copies: Copies::One,
            sacked_run: 1,
        }
    }

    /// What `bytes` of it count for in pipe while it is in flight.
    #[inline]
    pub(super) fn in_pipe(&self, bytes: u64) -> u64 {
        match self.copies {
            Copies::One => bytes,
            Copies::Two => bytes * 2,
        }
    }

    pub(crate) fn seq_len(&self) -> u32 {
        self.payload + u32::from(self.fin)
    }

    pub(crate) fn end(&self) -> Seq {
        self.seq + self.seq_len()
    }
}

/// What a cumulative acknowledgment took off the scoreboard.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Acked {
    /// Bytes of sequence space that had not been selectively acknowledged before.
    pub(crate) newly_delivered: u64,
    /// When the earliest segment sent only once was sent: the sample for the timeout, which has
    /// to allow for delayed acknowledgments.
    pub(crate) earliest_sent_at: Option<Time>,
    /// When the latest one was sent: the sample for congestion control.
    pub(crate) latest_sent_at: Option<Time>,
    /// Whether any of it had been sent more than once: then neither time above is a sample, for
    /// the acknowledgment may have waited for the retransmission (Karn's rule).
    pub(crate) ambiguous: bool,
}
