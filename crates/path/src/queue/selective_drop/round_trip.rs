//! Round trips learnt from the packets that pass a router, without a timestamp of its own.
//!
//! The router stands between two halves of a connection's round trip. The far half: data leaves this
//! queue, and its acknowledgment comes back out of the opposite link. The near half: something with
//! sequence space (the SYN-ACK at least) comes back, and the next packet that acknowledges it
//! arrives. Together they are the round trip without this queue's own delay, which is the
//! `2 tau + T_ack` of Chae and Choi 2004 Eq. 6 taken over the whole path.
//!
//! Sequence and acknowledgment numbers suffice, so it works without TCP timestamps. One packet at a
//! time is awaited; one retransmitted while awaited tells nothing (Karn and Partridge 1987). Delayed
//! acknowledgments and other queues only ever make a sample larger, so the least of the past 10 to
//! 20 s counts.

use ackord_units::{Seq, Span, Time};
use ackord_wire::{Flags, Segment};

/// What is known of one connection's round trip.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrip {
    /// From this queue to the receiver and back.
    far: Half,
    /// From here back to the sender and here again.
    near: Half,
}

impl RoundTrip {
    /// A packet of the connection arrives at the queue.
    pub(super) fn arrived(&mut self, now: Time, segment: &Segment) {
        self.near.answered(now, segment);
        self.far.forget_if_new(segment);
    }

    /// A packet of the connection leaves the queue.
    pub(super) fn left(&mut self, now: Time, segment: &Segment) {
        self.far.sent(now, segment);
    }

    /// A packet of the connection comes back out of the opposite link.
    pub(super) fn came_back(&mut self, now: Time, segment: &Segment) {
        self.far.answered(now, segment);
        self.near.forget_if_new(segment);
        self.near.sent(now, segment);
    }

    /// The least round trip, if the far half is known. A near half never seen counts as nothing,
    /// as in Eq. 6.
    pub(super) fn least(&self) -> Option<Span> {
        Some(self.far.least()? + self.near.least().unwrap_or(Span::ZERO))
    }
}

/// One half: numbers go out, acknowledgments for them come in.
#[derive(Clone, Copy, Debug, Default)]
struct Half {
    /// The sequence number that an acknowledgment must reach, and when its packet went by.
    awaited: Option<(Seq, Time)>,
    /// The least sample of the current period, and of the one before.
    least: [Option<Span>; 2],
    period_from: Time,
}

const PERIOD: Span = Span::from_secs(10);

impl Half {
    fn sent(&mut self, now: Time, segment: &Segment) {
        if segment.seq_len() == 0 {
            return;
        }
        self.awaited = match self.awaited {
            None => Some((segment.end_seq(), now)),
            // Retransmitted: which of the two an acknowledgment answers cannot be told.
            Some((end, _)) if segment.seq.before(end) => None,
            waiting => waiting,
        };
    }

    /// A SYN begins new sequence numbers: those awaited belong to a connection that is gone.
    fn forget_if_new(&mut self, segment: &Segment) {
        if segment.flags.contains(Flags::SYN) {
            self.awaited = None;
        }
    }

    fn answered(&mut self, now: Time, segment: &Segment) {
        let Some((end, at)) = self.awaited else { return };
        if segment.flags.contains(Flags::ACK) && segment.ack.at_or_after(end) {
            self.awaited = None;
            self.sample(now, now.saturating_since(at));
        }
    }

    fn sample(&mut self, now: Time, sample: Span) {
        if now.saturating_since(self.period_from) >= PERIOD {
            self.least = [None, self.least[0]];
            self.period_from = now;
        }
        self.least[0] = Some(self.least[0].map_or(sample, |least| least.min(sample)));
    }

    fn least(&self) -> Option<Span> {
        self.least.into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_nanos(millis * 1_000_000)
    }

    fn data(seq: u32) -> Segment {
        Segment { seq: Seq(seq), payload_len: 1_000, flags: Flags::ACK, ..Segment::default() }
    }

    fn ack(ack: u32) -> Segment {
        Segment { ack: Seq(ack), flags: Flags::ACK, ..Segment::default() }
    }

    #[test]
    fn both_halves_of_a_handshake_and_a_transfer_add_up() {
        let mut trip = RoundTrip::default();
        let syn = Segment { seq: Seq(99), flags: Flags::SYN, ..Segment::default() };
        let syn_ack = Segment {
            seq: Seq(499),
            ack: Seq(100),
            flags: Flags::SYN | Flags::ACK,
            ..Segment::default()
        };
        trip.arrived(at(0), &syn);
        trip.left(at(0), &syn);
        trip.came_back(at(30), &syn_ack);
        assert_eq!(trip.least(), Some(Span::from_millis(30)), "the far half alone");
        let first = Segment { ack: Seq(500), ..data(100) };
        trip.arrived(at(38), &first);
        assert_eq!(trip.least(), Some(Span::from_millis(38)));
        // Time in the queue, between arrival and departure, is in neither half.
        trip.left(at(90), &first);
        trip.came_back(at(115), &ack(1_100));
        assert_eq!(trip.least(), Some(Span::from_millis(33)));
    }

    #[test]
    fn what_is_sent_again_tells_nothing() {
        let mut trip = RoundTrip::default();
        trip.left(at(0), &data(1));
        trip.left(at(200), &data(1));
        trip.came_back(at(210), &ack(1_001));
        assert_eq!(trip.least(), None);
    }

    #[test]
    fn a_syn_ends_the_wait_of_the_connection_before_it() {
        let mut trip = RoundTrip::default();
        trip.left(at(0), &data(1));
        let syn = Segment { seq: Seq(5_000), flags: Flags::SYN, ..Segment::default() };
        trip.arrived(at(1_000), &syn);
        trip.left(at(1_000), &syn);
        trip.came_back(at(1_020), &ack(5_001));
        assert_eq!(trip.least(), Some(Span::from_millis(20)), "not 1020 ms");
    }

    #[test]
    fn an_old_least_is_forgotten_after_two_periods() {
        let mut half = Half::default();
        for (second, millis) in [(0, 5), (9, 50), (11, 60), (22, 70)] {
            half.sample(at(second * 1_000), Span::from_millis(millis));
        }
        // 5 ms belonged to the period before the last.
        assert_eq!(half.least(), Some(Span::from_millis(60)));
    }
}
