//! When what is outstanding was sent.

use ackord_units::{Seq, Time};
use std::collections::VecDeque;

/// One segment that is not acknowledged yet.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    start: Seq,
    end: Seq,
    sent_at: Time,
    retransmitted: bool,
}

/// Segments in order of sequence, each with the time it was first sent.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    segments: VecDeque<Outstanding>,
}

impl InFlight {
    /// New bytes leave.
    pub(super) fn sent(&mut self, start: Seq, end: Seq, at: Time) {
        self.segments.push_back(Outstanding { start, end, sent_at: at, retransmitted: false });
    }

    /// Bytes leave again, retransmitted.
    pub(super) fn retransmitted(&mut self, start: Seq, end: Seq) {
        let from = self.segments.partition_point(|segment| segment.end.at_or_before(start));
        for segment in self.segments.range_mut(from..) {
            if segment.start.at_or_after(end) {
                break;
            }
            segment.retransmitted = true;
        }
    }

    /// Everything before `ack` has arrived. Answers when the earliest of that was sent, unless part
    /// of it was sent more than once: nobody knows which of them was acknowledged.
    pub(super) fn acknowledged(&mut self, ack: Seq) -> Option<Time> {
        let (mut earliest, mut ambiguous) = (None, false);
        while let Some(first) = self.segments.front_mut() {
            if first.start.at_or_after(ack) {
                break;
            }
            earliest.get_or_insert(first.sent_at);
            ambiguous |= first.retransmitted;
            if first.end.after(ack) {
                first.start = ack;
                break;
            }
            self.segments.pop_front();
        }
        earliest.filter(|_| !ambiguous)
    }
}
