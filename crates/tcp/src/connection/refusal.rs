//! Segments that are refused, and what their senders are told: RFC 9293 §3.10.7.4, with the
//! challenges of RFC 5961 and their throttling (§7).
//!
//! Two hosts that no longer agree on sequence numbers, as on both sides of a dead middlebox,
//! answer each other's answers; the throttling is what ends that.
//! Not modelled: Linux's limit over all connections of a host, which is off by default there.

use super::Connection;
use crate::config::AnswerLimit;
use crate::receiver::Owed;
use crate::trace::Trace;
use ackord_events::{Event, RefusalAnswer, RefusalReason, Sink, TcpState};
use ackord_units::Time;
use ackord_wire::{Flags, Segment};

/// The answers of the interval under way.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Answers {
    since: Option<Time>,
    count: u32,
}

impl Answers {
    /// Whether one more may leave; then it counts.
    fn allow(&mut self, now: Time, limit: AnswerLimit) -> bool {
        let over = |since: Time| now.saturating_since(since) >= limit.per;
        if self.since.is_none_or(over) {
            *self = Answers { since: Some(now), count: 0 };
        }
        let allowed = self.count < limit.most;
        self.count += u32::from(allowed);
        allowed
    }
}

impl Connection {
    /// An unacceptable segment is answered with an acknowledgment, unless it is a reset.
    pub(super) fn on_unacceptable<S: Sink>(&mut self, trace: &mut Trace<'_, S>, segment: &Segment) {
        let reason = RefusalReason::OutsideWindow;
        if segment.flags.contains(Flags::RST) {
            return self.refuse_silently(trace, segment, reason);
        }
        // RFC 9293 §3.10.7.4: with a closed window the acknowledgment still counts.
        let at_closed_window = segment.seq == self.receiver.rcv_nxt;
        if at_closed_window
            && segment.flags.contains(Flags::ACK)
            && self.state != TcpState::SynReceived
            && !self.process_ack(trace, segment)
        {
            return;
        }
        if self.state == TcpState::TimeWait {
            self.look_for_repeated_fin(trace.now, segment);
        }
        if self.state == TcpState::SynReceived && self.is_syn_again(segment) {
            return self.on_syn_again(trace, segment);
        }
        if segment.payload_len > 0 && segment.seq.before(self.receiver.rcv_nxt) {
            // Nothing new in it: the peer may have lost our acknowledgments.
            let data = self.data_of(segment);
            self.receiver.on_old_data(trace.now, &data, self.sender.timer().rtt());
        }
        self.refuse(trace, segment, reason);
    }

    /// Refuses a segment that may have come before, and says where the connection stands. Data is
    /// answered each time: its sender waits for that.
    pub(super) fn refuse<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        reason: RefusalReason,
    ) {
        // In TIME-WAIT nobody is left whom a report of duplicates would help.
        if self.state != TcpState::TimeWait {
            let fin = segment.flags.contains(Flags::FIN);
            self.receiver.note_refused(segment.seq, segment.payload_len + u32::from(fin));
        }
        let data = segment.seq_len() > 0 && !segment.flags.contains(Flags::SYN);
        self.answer(trace, segment, reason, data);
    }

    /// A challenge acknowledgment (RFC 5961 §3 to §5).
    pub(super) fn challenge<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        reason: RefusalReason,
    ) {
        if self.answer(trace, segment, reason, false) == RefusalAnswer::Acknowledgment {
            self.stats.challenge_acks += 1;
        }
    }

    fn answer<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        reason: RefusalReason,
        in_any_case: bool,
    ) -> RefusalAnswer {
        let answer = if in_any_case || self.may_answer(trace.now) {
            self.receiver.owed = Owed::Now;
            RefusalAnswer::Acknowledgment
        } else {
            RefusalAnswer::Throttled
        };
        self.emit_refused(trace, segment, reason, answer);
        answer
    }

    /// Whether a segment that carries no data may be answered once more.
    pub(super) fn may_answer(&mut self, now: Time) -> bool {
        self.answers.allow(now, self.config.answers)
    }

    pub(super) fn refuse_silently<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        reason: RefusalReason,
    ) {
        self.emit_refused(trace, segment, reason, RefusalAnswer::Silence);
    }

    pub(super) fn emit_refused<S: Sink>(
        &mut self,
        trace: &mut Trace<'_, S>,
        segment: &Segment,
        reason: RefusalReason,
        answer: RefusalAnswer,
    ) {
        self.stats.segments_refused += 1;
        if answer == RefusalAnswer::Throttled {
            self.stats.answers_throttled += 1;
        }
        if reason == RefusalReason::OldTimestamp {
            self.stats.old_timestamps += 1;
        }
        let seq = segment.seq;
        trace.emit(|endpoint| Event::SegmentRefused { endpoint, seq, reason, answer });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ackord_units::Span;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn an_interval_begins_with_its_first_answer_and_then_all_over_again() {
        let limit = AnswerLimit { most: 2, per: Span::from_secs(5) };
        let mut answers = Answers::default();
        let allowed = [1_000, 2_000, 3_000, 5_999, 6_000, 10_000, 10_999, 11_000]
            .map(|millis| answers.allow(at(millis), limit));
        assert_eq!(allowed, [true, true, false, false, true, true, false, true]);
    }

    #[test]
    fn an_interval_of_nothing_limits_nothing() {
        let limit = AnswerLimit { most: 1, per: Span::ZERO };
        let mut answers = Answers::default();
        assert!((0..100).all(|_| answers.allow(at(7), limit)));
    }
}
