//! Transmissions in the order in which they left.

use super::sent::Sent;
use crate::loss::TimeScope;
use ackord_units::{Seq, Time};
use std::collections::VecDeque;

/// Transmissions, the earliest first.
#[derive(Clone, Debug)]
pub(super) struct TimeOrder {
    /// Which of them are kept.
    pub(super) scope: TimeScope,
    pub(super) queue: VecDeque<Transmission>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub(super) sent_at: Time,
    pub(super) seq: Seq,
    pub(super) end: Seq,
}

impl TimeOrder {
    pub(super) fn new(scope: TimeScope) -> TimeOrder {
        TimeOrder { scope, queue: VecDeque::new() }
    }

    pub(super) fn push(&mut self, sent: &Sent) {
        if self.scope == TimeScope::Retransmissions && !sent.retransmitted {
            return;
        }
        let (sent_at, seq, end) = (sent.sent_at, sent.seq, sent.end());
        self.queue.push_back(Transmission { sent_at, seq, end });
    }
}
