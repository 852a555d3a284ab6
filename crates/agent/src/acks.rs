//! How long acknowledgments of a connection should wait: the simulator's ACK policy, asked about segments that a
//! kernel has received.
//!
//! The policy is `adaptive` in practice (Lee et al. 2015 with bounds), the very code that `ackord run` simulates. It is
//! shown the arrivals of a report one by one; the kernel, and not the policy, has acknowledged them, and how long that
//! took is part of the report. Where the policy would have acknowledged at once and the kernel waited, the next
//! segment is taken to have come as much earlier: its sender had waited for the acknowledgment.

use crate::report::{Acked, Arrived};
use ackord_tcp::ack::{
    AckDecision, AckPolicy, Adaptive, AdaptiveConfig, Arrival, Carrier, Order, ReceiveWindow,
};
use ackord_tcp::{MarkSeen, RtoBounds, RttEstimator, Window};
use ackord_units::{Bytes, Seq, Span, Time};

/// How long a lone segment's acknowledgment should wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// As the kernel likes: nothing is known, or it does as well.
    Kernel,
    /// No longer than this.
    AtMost(Span),
    /// Not at all: experience says that no other segment comes meanwhile.
    AtOnce,
}

/// What is known of the acknowledgments of a connection.
#[derive(Clone, Debug)]
pub struct Acks {
    policy: Adaptive,
    now: Time,
    /// The policy lets an acknowledgment wait.
    waits: bool,
    /// What it said of the lone segments of late: at once, or later.
    at_once: u32,
    later: u32,
}

/// The shortest delayed acknowledgment of Linux (TCP_DELACK_MIN): a bound above it changes nothing.
pub const DELACK_MIN: Span = Span::from_millis(40);

impl Acks {
    /// Nothing is known.
    pub fn new() -> Acks {
        let mut knobs = AdaptiveConfig::default();
        knobs.ato_max = DELACK_MIN;
        // What the programs take for a pause.
        knobs.idle = Some(Span::from_millis(300));
        Acks { policy: Adaptive::new(knobs), now: Time::ZERO, waits: false, at_once: 0, later: 0 }
    }

    /// Segments have come.
    pub fn arrived(&mut self, arrivals: &[Arrived], srtt: Span, mss: Bytes) {
        // What was said before counts half.
        (self.at_once, self.later) = (self.at_once / 2, self.later / 2);
        let rtt = estimator(srtt);
        let mut waited_for = Span::ZERO;
        for one in arrivals {
            self.now += one.gap.saturating_sub(waited_for);
            waited_for = self.arrive(one, &rtt, mss);
        }
    }

    /// Answers how long a sender waited in vain, to whom the policy would have answered at once.
    fn arrive(&mut self, one: &Arrived, rtt: &RttEstimator, mss: Bytes) -> Span {
        let was_alone = !self.waits;
        let arrival = Arrival {
            payload: mss,
            full_size: mss,
            unacknowledged: if was_alone { mss } else { mss + mss },
            order: Order::InOrder,
            push: false,
            window: ReceiveWindow { offered: Bytes::ZERO, free: Bytes::ZERO, unread: Bytes::ZERO },
            rtt,
            echo: None,
            mark: MarkSeen::Nothing,
        };
        let decision = self.policy.on_segment(self.now, &arrival);
        match decision {
            AckDecision::NoLaterThan(_) => {
                self.later += u32::from(was_alone);
                self.waits = one.ack.is_none();
                if let Some(Acked { after, alone }) = one.ack {
                    let carrier = if alone { Carrier::PureAck } else { Carrier::Data };
                    self.policy.on_ack_sent(self.now + after, carrier);
                }
                Span::ZERO
            }
            AckDecision::Now | AckDecision::BeforeAnswers => {
                self.at_once += u32::from(was_alone);
                self.waits = false;
                self.policy.on_ack_sent(self.now, Carrier::PureAck);
                one.ack.filter(|ack| ack.alone).map_or(Span::ZERO, |ack| ack.after)
            }
        }
    }

    /// What follows.
    pub fn wait(&self) -> Wait {
        match self.policy.ato() {
            _ if self.at_once + self.later == 0 => Wait::Kernel,
            _ if self.at_once > self.later => Wait::AtOnce,
            Some(ato) if ato > Span::ZERO && ato < DELACK_MIN => Wait::AtMost(ato),
            _ => Wait::Kernel,
        }
    }
}

impl Default for Acks {
    fn default() -> Acks {
        Acks::new()
    }
}

/// One that knows this round-trip time.
fn estimator(srtt: Span) -> RttEstimator {
    let mut rtt = RttEstimator::new(RtoBounds::default());
    if srtt > Span::ZERO {
        rtt.on_sample(srtt, Window { snd_una: Seq(0), snd_nxt: Seq(0) });
    }
    rtt
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: Bytes = Bytes(1_448);
    const RTT: Span = Span::from_micros(500);

    fn after(arrivals: impl IntoIterator<Item = (u64, Option<(u64, bool)>)>) -> Wait {
        let mut acks = Acks::new();
        let of = |(gap, ack): (u64, Option<(u64, bool)>)| Arrived {
            gap: Span::from_micros(gap),
            ack: ack.map(|(after, alone)| Acked { after: Span::from_micros(after), alone }),
        };
        let arrivals: Vec<Arrived> = arrivals.into_iter().map(of).collect();
        arrivals.chunks(8).for_each(|some| acks.arrived(some, RTT, MSS));
        acks.wait()
    }

    #[test]
    fn gaps_of_a_steady_sender_bound_the_wait() {
        for millis in [3, 10, 20, 30] {
            // Each second one is acknowledged with its successor.
            let wait =
                after((0..200).map(|at| (millis * 1_000, (at % 2 == 1).then_some((1, false)))));
            let gap = Span::from_millis(millis);
            let Wait::AtMost(bound) = wait else { panic!("{wait:?} for gaps of {gap}") };
            assert!(bound >= gap && bound <= gap + gap / 4, "{bound} for gaps of {gap}");
        }
    }

    #[test]
    fn a_sender_that_waits_for_each_acknowledgment_gets_it_at_once() {
        // Write, write, read: the second write comes when the first is acknowledged, after 42 ms, and so on.
        // The reply carries the acknowledgment of the second one.
        let exchange = [(1_000, Some((42_000, true))), (42_500, Some((100, false)))];
        assert_eq!(after(exchange.into_iter().cycle().take(64)), Wait::AtOnce);
    }

    #[test]
    fn where_nothing_has_come_the_kernel_does_as_it_likes() {
        assert_eq!(after([]), Wait::Kernel);
    }

    #[test]
    fn a_sender_of_lone_segments_far_apart_gets_its_acknowledgments_at_once() {
        // Lone segments 100 ms apart: nothing is gained by waiting for the next one.
        assert_eq!(after((0..64).map(|_| (100_000, Some((42_000, true))))), Wait::AtOnce);
    }
}
