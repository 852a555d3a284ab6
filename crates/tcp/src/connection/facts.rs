//! Positions and timers of a connection, for scripts and tests. Nothing here changes anything; what
//! it knows as a whole is in `snapshot.rs`.

use super::Connection;
use crate::receiver::Owed;
use ackord_units::{Bytes, Seq, Time};

impl Connection {
    /// Oldest byte sent and not acknowledged.
    pub fn snd_una(&self) -> Seq {
        self.sender.queue().snd_una()
    }

    /// The next byte to be sent.
    pub fn snd_nxt(&self) -> Seq {
        self.sender.queue().snd_nxt()
    }

    /// The next byte expected from the peer; zero before its SYN came.
    pub fn rcv_nxt(&self) -> Seq {
        self.receiver.rcv_nxt
    }

    /// Bytes believed to be under way (RFC 6675 §4).
    pub fn pipe(&self) -> Bytes {
        self.sender.board().pipe()
    }

    /// Bytes that the peer has reported by SACK, or that duplicates stand for where it does not
    /// speak SACK.
    pub fn sacked(&self) -> Bytes {
        self.sender.board().sacked()
    }

    /// Duplicate acknowledgments counted in a row.
    pub fn duplicate_acks(&self) -> u32 {
        self.sender.duplicate_acks()
    }

    /// When the retransmission timer expires, if it runs.
    pub fn rto_at(&self) -> Option<Time> {
        self.sender.timer().at()
    }

    /// When a closed window is probed next, if it is.
    pub fn persist_at(&self) -> Option<Time> {
        self.sender.persist().at()
    }

    /// When TIME-WAIT ends, or a FIN-WAIT-2 that nobody waits for any more.
    pub fn state_ends_at(&self) -> Option<Time> {
        self.timers.state_ends_at()
    }

    /// By when an acknowledgment that waits leaves, if one does.
    pub fn ack_due_at(&self) -> Option<Time> {
        match self.receiver.owed {
            Owed::By(at) => Some(at),
            Owed::Nothing | Owed::Now | Owed::BeforeAnswers => None,
        }
    }

    /// What TSval says at `now` (RFC 7323 §4.1), whether timestamps are in use or not.
    pub fn timestamp_value(&self, now: Time) -> u32 {
        self.timestamps(now).value
    }
}
