//! Transmissions in order of time, for loss detectors that judge by it.
//!
//! A transmission is forgotten when it is looked at and turns out to be over: acknowledged, declared
//! lost, or followed by a retransmission. So each costs one entry and one look, and what waits
//! behind the oldest one in flight is bounded by what was sent since.

use super::scoreboard::Scoreboard;
use super::sent::{Sent, SentState};
use super::time_order::{TimeOrder, Transmission};
use crate::loss::{Overdue, TimeScope};
use ackord_units::Time;

impl Scoreboard {
    /// Begins to keep the order of time.
    pub(super) fn keep_time_order(&mut self, scope: TimeScope) {
        let by_time = self.by_time.get_or_insert_with(|| TimeOrder::new(scope));
        self.sent.iter().for_each(|sent| by_time.push(sent));
    }

    /// What had been taken out for lost is in flight after all: its transmissions count again.
    pub(super) fn restore_time_order(&mut self) {
        if let Some(by_time) = &mut self.by_time {
            by_time.queue.clear();
            let in_flight = self.sent.iter().filter(|sent| sent.state == SentState::InFlight);
            in_flight.for_each(|sent| by_time.push(sent));
            // Of the same time the lower one left first, as here: the sort is stable.
            by_time.queue.make_contiguous().sort_by_key(|transmission| transmission.sent_at);
        }
    }

    /// Whether it is kept.
    #[inline]
    pub(super) fn keeps_time_order(&self) -> bool {
        self.by_time.is_some()
    }

    /// Whether it alone decides what is lost.
    pub(super) fn goes_by_time_alone(&self) -> bool {
        self.by_time.as_ref().is_some_and(|by_time| by_time.scope == TimeScope::Everything)
    }

    /// Declares every segment lost that is overdue at `now`, calling `lost` for each, and returns
    /// when the next one falls due.
    pub(super) fn mark_overdue(
        &mut self,
        now: Time,
        overdue: Overdue,
        mut lost: impl FnMut(&Sent),
    ) -> Option<Time> {
        loop {
            let earliest = *self.by_time.as_ref()?.queue.front()?;
            if let Some(index) = self.in_flight(&earliest) {
                let before = overdue.sent_before.is_none_or(|(time, seq)| {
                    earliest.sent_at < time
                        || (earliest.sent_at == time && earliest.end.before(seq))
                });
                if !before {
                    return None;
                }
                let due = earliest.sent_at + overdue.age;
                if now < due {
                    return Some(due);
                }
                lost(&self.sent[index]);
                self.lose(index);
            }
            self.by_time.as_mut()?.queue.pop_front();
        }
    }

    /// The record of a transmission that has neither arrived nor been given up.
    fn in_flight(&self, transmission: &Transmission) -> Option<usize> {
        let front = self.sent.front()?;
        if transmission.end.at_or_before(front.seq) {
            return None;
        }
        let index = self.index_at_or_after(transmission.seq);
        let sent = self.sent.get(index)?;
        let same = sent.end() == transmission.end && sent.sent_at == transmission.sent_at;
        (same && sent.state == SentState::InFlight).then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::{Seq, Span};
    use ackord_wire::{SackBlock, SackBlocks};

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    /// Five segments of 100 bytes sent at 0, 10, 20, 30 and 40 ns.
    fn five() -> Scoreboard {
        five_of(TimeScope::Everything)
    }

    fn five_of(scope: TimeScope) -> Scoreboard {
        let mut board = Scoreboard::default();
        board.keep_time_order(scope);
        for i in 0..5 {
            board.push(Sent::first(Seq(i * 100), 100, false, at(u64::from(i) * 10)));
        }
        board
    }

    fn overdue(board: &mut Scoreboard, now: u64, overdue: Overdue) -> (Vec<u32>, Option<Time>) {
        let mut seqs = Vec::new();
        let next = board.mark_overdue(at(now), overdue, |sent| seqs.push(sent.seq.0));
        (seqs, next)
    }

    #[test]
    fn segments_fall_due_one_by_one_in_order_of_transmission() {
        let mut board = five();
        let any = Overdue { sent_before: None, age: Span::from_nanos(100) };
        assert_eq!(overdue(&mut board, 99, any), (vec![], Some(at(100))));
        assert_eq!(overdue(&mut board, 110, any), (vec![0, 100], Some(at(120))));
        board.resend_next_lost(at(115));
        assert_eq!(overdue(&mut board, 140, any), (vec![200, 300, 400], Some(at(215))));
        assert_eq!(overdue(&mut board, 215, any), (vec![0], None));
    }

    #[test]
    fn first_transmissions_are_left_alone_where_only_retransmissions_are_judged() {
        let mut board = five_of(TimeScope::Retransmissions);
        let any = Overdue { sent_before: None, age: Span::from_nanos(100) };
        assert_eq!(overdue(&mut board, 1000, any), (vec![], None));
        board.mark_oldest_lost();
        board.resend_next_lost(at(1000));
        board.resend_last(at(1010));
        assert_eq!(overdue(&mut board, 1099, any), (vec![], Some(at(1100))));
        assert_eq!(overdue(&mut board, 1100, any), (vec![0], Some(at(1110))));
        // Segments given up and taken back: those never retransmitted stay out of it.
        board.mark_all_lost(|_| {});
        board.revive_lost();
        assert_eq!(overdue(&mut board, 2000, any), (vec![0, 400], None));
    }

    #[test]
    fn only_what_was_sent_before_the_given_transmission_can_be_lost() {
        let mut board = five();
        let before = Overdue { sent_before: Some((at(20), Seq(300))), age: Span::from_nanos(15) };
        // The segment sent at 20 ends at that very byte: it is not before it.
        assert_eq!(overdue(&mut board, 24, before), (vec![0], Some(at(25))));
        assert_eq!(overdue(&mut board, 99, before), (vec![100], None));
    }

    #[test]
    fn what_has_arrived_does_not_fall_due() {
        let mut board = five();
        let mut blocks = SackBlocks::default();
        assert!(blocks.push(SackBlock { start: Seq(200), end: Seq(300) }));
        let mut delivered = Vec::new();
        board.mark_sacked(&blocks, Seq(0), Seq(500), |sent| delivered.push(sent.seq.0));
        board.acknowledge(Seq(150), |sent| delivered.push(sent.seq.0));
        assert_eq!(delivered, vec![200, 0]);
        let any = Overdue { sent_before: None, age: Span::ZERO };
        assert_eq!(overdue(&mut board, 100, any), (vec![150, 300, 400], None));
    }
}
