//! A message at regular intervals.

use crate::knobs::{LEAST, MOST, SET_BY_SCENARIO};
use crate::{Application, Socket, Workload, WorkloadKnobs, Workloads};
use crate::{DrawBudget, Offer, Step};
use ackord_units::{Bytes, Knobs, RandomStream, Span, Time};

/// Writes messages of one length at regular intervals, the first at once. What the send buffer
/// cannot take when it is due is written as soon as it can.
#[derive(Clone, Copy, Debug)]
pub struct Paced {
    message: Bytes,
    interval: Span,
    messages: Option<u64>,
    /// Messages not yet due.
    left: Option<u64>,
    next_at: Option<Time>,
    /// Due, and not yet written.
    backlog: Bytes,
}

impl Paced {
    /// `messages` messages (or messages without end) of length `message`, `interval` apart.
    pub fn new(message: Bytes, interval: Span, messages: Option<u64>) -> Paced {
        let (left, next_at, backlog) = (messages, None, Bytes::ZERO);
        Paced { message, interval, messages, left, next_at, backlog }
    }

    fn take_next(&mut self, due_at: Time) {
        self.backlog = self.message;
        self.left = self.left.map(|left| left - 1);
        self.next_at = (self.left != Some(0)).then(|| due_at + self.interval);
    }
}

impl Application for Paced {
    fn start(&mut self, now: Time) {
        self.next_at = Some(now);
    }

    fn next(&mut self, now: Time, socket: &dyn Socket) -> Step {
        let writable = socket.writable();
        if self.backlog == Bytes::ZERO {
            // One message a call: each is a write of its own, as Nagle's algorithm sees it.
            match self.next_at {
                Some(due_at) if due_at <= now => self.take_next(due_at),
                None if self.left == Some(0) => return Step::Close,
                _ => return Step::Wait,
            }
        }
        let bytes = self.backlog.min(writable);
        if bytes == Bytes::ZERO {
            return Step::Wait;
        }
        self.backlog -= bytes;
        Step::Write(bytes)
    }

    fn deadline(&self) -> Option<Time> {
        // What is due and does not fit is asked for again when there is room.
        self.next_at.filter(|_| self.backlog == Bytes::ZERO)
    }

    fn size(&self, _budget: &mut DrawBudget) -> Option<Bytes> {
        self.messages.map(|messages| self.message * messages)
    }
}

/// Writes a message at regular intervals
#[derive(Clone, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "traffic",
    name = "paced",
    source = "the OnOff source of ns-3; Lee et al. 2015 §4"
)]
pub struct PacedKnobs {
    /// Length of a message
    #[knob(min = LEAST, max = MOST, default = "1000 B", source = SET_BY_SCENARIO)]
    message: Bytes,
    /// Time from one message to the next
    #[knob(
        min = Span::from_micros(1), max = Span::from_secs(3600), default = "10 ms",
        source = SET_BY_SCENARIO
    )]
    interval: Span,
    /// How many to send before closing; no end when absent
    #[knob(min = 1, max = 1_000_000_000, unit = "messages", source = SET_BY_SCENARIO)]
    messages: Option<u64>,
}

impl WorkloadKnobs for PacedKnobs {
    fn offer(&self) -> Offer {
        Offer::each(self.message, self.interval)
    }

    fn build(&self, _stream: &dyn Fn(&str) -> RandomStream) -> Workloads {
        Workloads::one_way(Workload::of(Paced::new(self.message, self.interval, self.messages)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::room;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn messages_come_at_their_intervals_and_the_last_closes() {
        let mut paced = Paced::new(Bytes(100), Span::from_millis(10), Some(2));
        paced.start(at(5));
        assert_eq!(paced.next(at(5), &room(Bytes(1_000))), Step::Write(Bytes(100)));
        assert_eq!(paced.next(at(5), &room(Bytes(1_000))), Step::Wait);
        assert_eq!(paced.deadline(), Some(at(15)));
        assert_eq!(paced.next(at(15), &room(Bytes(1_000))), Step::Write(Bytes(100)));
        assert_eq!(paced.next(at(15), &room(Bytes(1_000))), Step::Close);
        assert_eq!(paced.deadline(), None);
    }

    #[test]
    fn what_does_not_fit_waits_for_room() {
        let mut paced = Paced::new(Bytes(100), Span::from_millis(10), None);
        paced.start(at(0));
        assert_eq!(paced.next(at(0), &room(Bytes(60))), Step::Write(Bytes(60)));
        assert_eq!((paced.next(at(0), &room(Bytes::ZERO)), paced.deadline()), (Step::Wait, None));
        assert_eq!(paced.next(at(9), &room(Bytes(60))), Step::Write(Bytes(40)));
    }
}
