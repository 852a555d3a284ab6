//! Delivery-rate samples (draft-ietf-ccwg-bbr-06 §4.1.2), kept beside the scoreboard for a control
//! that has a model of the path.
//!
//! One snapshot per outstanding segment, in the scoreboard's order. Without SACK each duplicate
//! acknowledgment counts as one segment delivered (§4.1.3.5.1), which the next cumulative
//! acknowledgment takes off again. Samples that span less than the smallest round-trip time are
//! not believed; samples of retransmitted segments are used (§4.1.3.5, option 1).
//!
//! What the scoreboard calls is marked cold, so that a sender without samples pays for a test only.

use super::sent::Sent;
use crate::congestion::{LostSegment, RateSample, RecoveryPhase};
use ackord_units::{Bytes, Seq, Span, Time};
use std::collections::VecDeque;

/// What is known of a segment from the moment it was sent.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    /// P.delivered, P.delivered_time, P.first_send_time, P.lost, P.tx_in_flight.
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    in_flight: u64,
    app_limited: bool,
}

/// The newest segment that the acknowledgment at hand has delivered.
#[derive(Clone, Copy, Debug)]
struct Newest {
    snapshot: Snapshot,
    sent_at: Time,
    end: Seq,
}

/// The sampler of one connection.
#[derive(Clone, Debug, Default)]
pub(crate) struct Delivery {
    snapshots: VecDeque<Snapshot>,
    /// C.delivered, C.delivered_time, C.first_send_time, C.lost.
    delivered: u64,
    delivered_at: Time,
    first_sent_at: Time,
    lost: u64,
    /// C.app_limited: samples are limited by the application until more than this is delivered.
    app_limited_until: Option<u64>,
    /// cwnd counts as used to the full until more than this is delivered.
    cwnd_limited_until: Option<u64>,
    /// Bytes that duplicate acknowledgments without SACK stood for.
    credited: u64,
    losses: Vec<LostSegment>,
    last_lost_end: Option<Seq>,
    ack: AckAtHand,
}

/// What the acknowledgment being processed has brought so far.
#[derive(Clone, Copy, Debug, Default)]
struct AckAtHand {
    at: Time,
    prior_in_flight: u64,
    newest: Option<Newest>,
    newly_acked: u64,
    /// When the newest segment sent only once was sent.
    timed: Option<Time>,
    /// A segment retransmitted was acknowledged: no round-trip sample (Karn's rule).
    ambiguous: bool,
    /// C.lost at the last sample.
    lost_before: u64,
}

/// What only the sender knows when a sample is made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SampleContext {
    pub(crate) min_rtt: Option<Span>,
    pub(crate) in_flight: Bytes,
    pub(crate) recovery_phase: RecoveryPhase,
    pub(crate) selective_acks: bool,
}

impl Delivery {
    /// OnPacketSent (§4.1.2.2); `in_flight` is what was in the network before.
    #[cold]
    pub(crate) fn on_sent(&mut self, sent: &Sent, in_flight: u64) {
        let snapshot = self.snapshot(sent, in_flight);
        self.snapshots.push_back(snapshot);
    }

    /// The segment at `index` is retransmitted.
    #[cold]
    pub(crate) fn on_resent(&mut self, index: usize, sent: &Sent, in_flight: u64) {
        let snapshot = self.snapshot(sent, in_flight);
        self.snapshots[index] = snapshot;
    }

    fn snapshot(&mut self, sent: &Sent, in_flight: u64) -> Snapshot {
        if in_flight == 0 {
            self.first_sent_at = sent.sent_at;
            self.delivered_at = sent.sent_at;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            in_flight: in_flight + u64::from(sent.seq_len()),
            app_limited: self.app_limited(),
        }
    }

    /// An acknowledgment comes in.
    pub(crate) fn begin_ack(&mut self, now: Time, in_flight: Bytes) {
        let lost_before = self.ack.lost_before;
        let prior_in_flight = in_flight.get();
        self.ack = AckAtHand { at: now, prior_in_flight, lost_before, ..AckAtHand::default() };
    }

    /// UpdateRateSample (§4.1.2.3): `bytes` of the segment at `index` are known to have arrived.
    #[cold]
    pub(crate) fn on_delivered(&mut self, index: usize, sent: &Sent, bytes: u64) {
        let fresh = bytes - bytes.min(self.credited);
        self.credited -= bytes - fresh;
        self.delivered += fresh;
        self.ack.newly_acked += fresh;
        self.delivered_at = self.ack.at;
        if sent.retransmitted {
            self.ack.ambiguous = true;
        } else {
            self.ack.timed = Some(self.ack.timed.map_or(sent.sent_at, |at| at.max(sent.sent_at)));
        }
        // IsNewestPacket: sent last, or among those sent at one instant the last in sequence.
        let newest = self.ack.newest.is_none_or(|newest| {
            sent.sent_at > newest.sent_at
                || (sent.sent_at == newest.sent_at && sent.end().after(newest.end))
        });
        if newest {
            let snapshot = self.snapshots[index];
            self.ack.newest = Some(Newest { snapshot, sent_at: sent.sent_at, end: sent.end() });
        }
    }

    /// A duplicate acknowledgment without SACK: some segment has arrived, the oldest one's
    /// successor as far as one can tell.
    pub(crate) fn on_duplicate_ack(&mut self, oldest: &Sent, bytes: u64) {
        self.delivered += bytes;
        self.credited += bytes;
        self.ack.newly_acked += bytes;
        self.delivered_at = self.ack.at;
        self.ack.ambiguous = true;
        if let Some(&snapshot) = self.snapshots.front() {
            let (sent_at, end) = (oldest.sent_at, oldest.end());
            self.ack.newest = Some(Newest { snapshot, sent_at, end });
        }
    }

    /// The oldest segment has left the scoreboard.
    pub(crate) fn forget_oldest(&mut self) {
        self.snapshots.pop_front();
        if self.snapshots.is_empty() {
            self.credited = 0;
        }
    }

    /// The segment at `index` is declared lost.
    #[cold]
    pub(crate) fn on_lost(&mut self, index: usize, sent: &Sent) {
        let bytes = u64::from(sent.seq_len());
        self.lost += bytes;
        let snapshot = &self.snapshots[index];
        let adjoins = self.last_lost_end == Some(sent.seq);
        self.losses.push(LostSegment {
            bytes: Bytes(bytes),
            adjoins,
            sent_in_flight: Bytes(snapshot.in_flight),
            lost_since_sent: Bytes(self.lost - snapshot.lost),
            total_delivered: Bytes(self.delivered),
            app_limited: snapshot.app_limited,
        });
        self.last_lost_end = Some(sent.end());
    }

    /// The losses found since this was last asked, in order; give the list back when done.
    pub(crate) fn take_losses(&mut self) -> Vec<LostSegment> {
        std::mem::take(&mut self.losses)
    }

    pub(crate) fn return_losses(&mut self, mut list: Vec<LostSegment>) {
        list.clear();
        self.losses = list;
    }

    fn app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    /// Whether the sender last ran out of data, and that bubble is still in the pipe.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    /// MarkConnectionAppLimited (§4.1.2.4).
    pub(crate) fn mark_app_limited(&mut self, in_flight: Bytes) {
        self.app_limited_until = Some(self.delivered + in_flight.get());
    }

    /// cwnd has been used to the full.
    pub(crate) fn mark_cwnd_limited(&mut self, in_flight: Bytes) {
        self.cwnd_limited_until = Some(self.delivered + in_flight.get());
    }

    /// GenerateRateSample (§4.1.2.3); nothing if the acknowledgment delivered nothing.
    pub(crate) fn sample(&mut self, context: &SampleContext) -> Option<RateSample> {
        if self.app_limited_until.is_some_and(|until| self.delivered > until) {
            self.app_limited_until = None;
        }
        if self.cwnd_limited_until.is_some_and(|until| self.delivered > until) {
            self.cwnd_limited_until = None;
        }
        let ack = &mut self.ack;
        let Newest { snapshot, sent_at, .. } = ack.newest.take()?;
        self.first_sent_at = sent_at;
        let send_elapsed = sent_at.saturating_since(snapshot.first_sent_at);
        let ack_elapsed = self.delivered_at.saturating_since(snapshot.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = Bytes(self.delivered - snapshot.delivered);
        let credible = interval > Span::ZERO && context.min_rtt.is_none_or(|rtt| interval >= rtt);
        let newly_lost = Bytes(self.lost - ack.lost_before);
        ack.lost_before = self.lost;
        let limited = self.cwnd_limited_until.is_some();
        Some(RateSample {
            delivery_rate: credible.then(|| delivered.over(interval)),
            delivered,
            interval,
            prior_delivered: Bytes(snapshot.delivered),
            total_delivered: Bytes(self.delivered),
            rtt: ack.timed.filter(|_| !ack.ambiguous).map(|at| ack.at.saturating_since(at)),
            prior_in_flight: Bytes(ack.prior_in_flight),
            in_flight: context.in_flight,
            newly_acked: Bytes(ack.newly_acked),
            newly_lost,
            sent_in_flight: Bytes(snapshot.in_flight),
            lost_since_sent: Bytes(self.lost - snapshot.lost),
            app_limited: snapshot.app_limited,
            cwnd_limited: limited,
            recovery_phase: context.recovery_phase,
            selective_acks: context.selective_acks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::scoreboard::Scoreboard;
    use super::*;
    use ackord_wire::{SackBlock, SackBlocks};

    /// Ten segments of 1000 bytes, one a millisecond from the start.
    fn ten_sent() -> Scoreboard {
        let mut board = Scoreboard::new(true);
        for number in 0..10 {
            push(&mut board, number, ms(u64::from(number)));
        }
        board
    }

    fn push(board: &mut Scoreboard, number: u32, at: Time) {
        board.push(Sent::first(Seq(number * 1000), 1000, false, at));
    }

    fn ms(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    /// An acknowledgment of everything before `next` at `at`, and what it says.
    fn ack(board: &mut Scoreboard, at: Time, next: u32) -> Option<RateSample> {
        begin(board, at);
        board.acknowledge(Seq(next * 1000), |_| {});
        sample(board)
    }

    fn begin(board: &mut Scoreboard, at: Time) {
        let pipe = board.pipe();
        board.delivery.as_mut().expect("it samples").begin_ack(at, pipe);
    }

    fn sample(board: &mut Scoreboard) -> Option<RateSample> {
        let in_flight = board.pipe();
        board.delivery.as_mut().expect("it samples").sample(&SampleContext {
            min_rtt: Some(Span::from_millis(20)),
            in_flight,
            recovery_phase: RecoveryPhase::Open,
            selective_acks: true,
        })
    }

    /// Sent at a segment a millisecond and acknowledged at one every two: the slower of the two,
    /// 4 Mbit/s, once the interval is a round trip.
    #[test]
    fn the_rate_is_the_slower_of_sending_and_acknowledging() {
        let mut board = ten_sent();
        for number in 0..10 {
            let at = ms(20 + 2 * u64::from(number));
            let sample = ack(&mut board, at, number + 1).expect("something was delivered");
            push(&mut board, 10 + number, at);
            assert_eq!(sample.delivered, Bytes(u64::from(number + 1) * 1000));
            assert_eq!(sample.interval, Span::from_millis(20 + 2 * u64::from(number)));
        }
        // The segments sent in answer to acknowledgments measure the pace of those.
        let sample = ack(&mut board, ms(40), 11).expect("delivered");
        assert_eq!(sample.delivered, Bytes(10_000));
        assert_eq!(sample.delivery_rate, Some(Bytes(10_000).over(Span::from_millis(20))));
        assert_eq!(sample.rtt, Some(Span::from_millis(20)));
    }

    /// All ten at once say nothing but how acknowledgments are held together: they were not sent
    /// faster than within nine milliseconds, nor delivered in less than a round trip.
    #[test]
    fn compressed_acknowledgments_do_not_raise_the_rate_above_what_was_sent() {
        let mut board = ten_sent();
        let sample = ack(&mut board, ms(29), 10).expect("delivered");
        assert_eq!(sample.interval, Span::from_millis(29));
        assert_eq!(sample.delivery_rate, Some(Bytes(10_000).over(Span::from_millis(29))));
    }

    #[test]
    fn an_interval_shorter_than_the_smallest_round_trip_is_not_believed() {
        let mut board = ten_sent();
        assert_eq!(ack(&mut board, ms(19), 1).expect("delivered").delivery_rate, None);
    }

    /// A byte counts once, whether by SACK or cumulatively.
    #[test]
    fn what_was_sacked_is_delivered_when_it_is_sacked() {
        let mut board = ten_sent();
        begin(&mut board, ms(25));
        let mut blocks = SackBlocks::default();
        assert!(blocks.push(SackBlock { start: Seq(3000), end: Seq(6000) }));
        board.mark_sacked(&blocks, Seq(0), Seq(10_000), |_| {});
        let by_sack = sample(&mut board).expect("delivered");
        assert_eq!((by_sack.newly_acked, by_sack.rtt), (Bytes(3_000), Some(Span::from_millis(20))));
        let rest = ack(&mut board, ms(30), 10).expect("delivered");
        assert_eq!((rest.newly_acked, rest.total_delivered), (Bytes(7_000), Bytes(10_000)));
        assert!(ack(&mut board, ms(31), 10).is_none(), "nothing new");
    }

    #[test]
    fn without_sack_a_duplicate_stands_for_a_segment_and_the_next_acknowledgment_takes_it_off() {
        let mut board = ten_sent();
        for duplicates in 1..=3 {
            begin(&mut board, ms(20 + duplicates));
            board.credit_duplicate(Bytes(1000));
            assert_eq!(sample(&mut board).expect("delivered").newly_acked, Bytes(1_000));
        }
        let rest = ack(&mut board, ms(45), 4).expect("delivered");
        assert_eq!((rest.newly_acked, rest.total_delivered), (Bytes(1_000), Bytes(4_000)));
    }

    /// §4.1.1.3: until the bubble has left the pipe.
    #[test]
    fn samples_are_limited_by_the_application_for_a_round_trip_after_it_ran_out() {
        let mut board = ten_sent();
        let pipe = board.pipe();
        board.delivery.as_mut().expect("it samples").mark_app_limited(pipe);
        push(&mut board, 10, ms(15));
        assert!(!ack(&mut board, ms(30), 10).expect("delivered").app_limited);
        push(&mut board, 11, ms(30));
        assert!(ack(&mut board, ms(35), 11).expect("delivered").app_limited);
        push(&mut board, 12, ms(35));
        assert!(ack(&mut board, ms(50), 12).expect("delivered").app_limited);
        assert!(!ack(&mut board, ms(55), 13).expect("delivered").app_limited);
    }

    #[test]
    fn a_loss_tells_what_was_in_flight_when_the_segment_left() {
        let mut board = ten_sent();
        begin(&mut board, ms(25));
        board.mark_oldest_lost();
        let delivery = board.delivery.as_mut().expect("it samples");
        let losses = delivery.take_losses();
        let [lost] = losses.as_slice() else { panic!("one loss, not {}", losses.len()) };
        assert_eq!((lost.sent_in_flight, lost.lost_since_sent), (Bytes(1_000), Bytes(1_000)));
        delivery.return_losses(losses);
        let next = ack(&mut board, ms(30), 2).expect("delivered");
        assert_eq!((next.newly_lost, next.lost_since_sent), (Bytes(1_000), Bytes(1_000)));
    }
}
