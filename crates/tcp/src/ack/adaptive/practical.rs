//! The adaptive delayed acknowledgment for use.
//!
//! Waiting can save one acknowledgment of two; waiting in vain costs a stall. So a lone segment
//! waits only as long as the next one may be expected within, and not at all where experience says
//! that nothing will come: the sender may be waiting for the very acknowledgment.

use super::super::delayed::DelayRule;
use super::super::{AckDecision, AckPolicy, Arrival, Carrier, Order};
use super::{AdaptiveConfig, average};
use ackord_units::{Span, Time};

/// Lone segments acknowledged at once after the first wait in vain, and at most.
const FIRST_PAUSE_SEGMENTS: u64 = 8;
const LONGEST_PAUSE_SEGMENTS: u64 = 256;

/// A wait in vain is cheap while it is below this part of the round-trip time.
const CHEAP_PART_OF_RTT: u64 = 8;

/// Eq. 1 of Lee et al. 2015 with bounds. Beside the published algorithm:
///
/// * the wait is the mean gap and twice its mean deviation (at least an eighth more than the
///   mean), within `[ato_min, ato_max]`, so that jitter does not make half of the waits useless;
/// * until a gap is known, and while the mean gap exceeds `ato_max`, nothing waits;
/// * pauses, arrivals at the same instant (coalesced ones), arrivals out of order, and gaps that
///   began with our own timer do not enter the average. The last would feed the wait back into
///   itself, for a sender held by Nagle's algorithm answers our acknowledgment;
/// * a wait that ended in vain and cost more than an eighth of the round-trip time makes the next
///   8 lone segments be acknowledged at once, doubling up to 256 as long as waits stay in vain and
///   halving as they pay.
#[derive(Clone, Copy, Debug)]
pub struct Adaptive {
    knobs: AdaptiveConfig,
    gaps: Option<Gaps>,
    last_at: Option<Time>,
    /// Whether the last segment's acknowledgment left by the timer.
    last_wait: LastWait,
    /// Lone segments still to be acknowledged at once.
    pause_left: u64,
    /// How many the last pause began with.
    pause_segments: u64,
    /// Above this a wait in vain is dear.
    cheap: Span,
    rule: DelayRule,
}

/// Mean and mean deviation of the gaps.
#[derive(Clone, Copy, Debug)]
struct Gaps {
    mean: Span,
    deviation: Span,
}

/// How the last wait for company ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LastWait {
    /// The timer expired: whatever comes next may be an answer to that acknowledgment.
    InVain,
    /// Company came, or there was no wait.
    Otherwise,
}

impl Adaptive {
    /// The policy, knowing nothing of the path yet.
    pub fn new(knobs: AdaptiveConfig) -> Adaptive {
        Adaptive {
            knobs,
            gaps: None,
            last_at: None,
            last_wait: LastWait::Otherwise,
            pause_left: 0,
            pause_segments: 0,
            cheap: Span::ZERO,
            rule: DelayRule::new(knobs.every),
        }
    }

    fn note_gap(&mut self, now: Time, arrival: &Arrival<'_>) {
        let last_at = self.last_at.replace(now);
        let answers_us = std::mem::replace(&mut self.last_wait, LastWait::Otherwise);
        let Some(gap) = last_at.map(|at| now.saturating_since(at)) else { return };
        let idle = self.knobs.idle.unwrap_or_else(|| arrival.rtt.rto());
        let coalesced = gap == Span::ZERO;
        let says_something = arrival.order == Order::InOrder
            && !coalesced
            && gap <= idle
            && answers_us == LastWait::Otherwise;
        if says_something {
            let a = self.knobs.a;
            self.gaps = Some(match self.gaps {
                // As RFC 6298 §2.2 begins.
                None => Gaps { mean: gap, deviation: gap / 2 },
                Some(Gaps { mean, deviation }) => Gaps {
                    deviation: average(a, deviation, mean.abs_diff(gap)),
                    mean: average(a, mean, gap),
                },
            });
        }
    }

    /// How long a lone segment may wait; nothing where waiting is pointless.
    fn wait(&self) -> Option<Span> {
        let Gaps { mean, deviation } = self.gaps?;
        let slack = (deviation * 2).max(mean / 8);
        (mean <= self.knobs.ato_max)
            .then(|| (mean + slack).max(self.knobs.ato_min).min(self.knobs.ato_max))
    }

    fn on_vain_wait(&mut self, waited: Span) {
        self.last_wait = LastWait::InVain;
        if waited > self.cheap {
            self.pause_segments =
                (self.pause_segments * 2).clamp(FIRST_PAUSE_SEGMENTS, LONGEST_PAUSE_SEGMENTS);
            self.pause_left = self.pause_segments;
        }
    }
}

impl AckPolicy for Adaptive {
    fn on_segment(&mut self, now: Time, arrival: &Arrival<'_>) -> AckDecision {
        self.note_gap(now, arrival);
        self.cheap = arrival.rtt.srtt().unwrap_or(Span::ZERO) / CHEAP_PART_OF_RTT;
        if self.rule.due_at().is_some() {
            // Company has come in time.
            self.pause_segments /= 2;
            return self.rule.decide(now, arrival, Span::ZERO);
        }
        let Some(wait) = self.wait() else { return AckDecision::Now };
        if self.pause_left > 0 {
            self.pause_left -= 1;
            return AckDecision::Now;
        }
        self.rule.decide(now, arrival, wait)
    }

    fn on_ack_sent(&mut self, now: Time, carrier: Carrier) {
        if let Some(due_at) = self.rule.due_at()
            && due_at <= now
            && carrier == Carrier::PureAck
            && let Some(last_at) = self.last_at
            && last_at < due_at
        {
            self.on_vain_wait(due_at.saturating_since(last_at));
        }
        self.rule.on_ack_sent();
    }

    fn ato(&self) -> Option<Span> {
        Some(self.wait().unwrap_or(Span::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::testing::{Bench, Fit, at_ms, at_us};
    use super::*;
    use crate::ack::Counted;
    use crate::mode::Mode;

    const KNOBS: AdaptiveConfig = AdaptiveConfig {
        a: 0.1,
        ato_min: Span::from_millis(1),
        ato_max: Span::from_millis(40),
        idle: None,
        mode: Mode::Practical,
        initial_ato: Span::from_millis(200),
        every: 2,
        counts: Counted::FullSized,
    };

    fn bench() -> Bench<Adaptive> {
        Bench::new(Adaptive::new(KNOBS))
    }

    /// The wait of a lone segment, after `count` gaps of `gap`.
    fn ato_after(gap: Span, count: u64) -> Span {
        let mut bench = bench();
        for number in 0..=count {
            bench.arrive(Time::ZERO + gap * number);
        }
        bench.policy.ato().expect("adaptive")
    }

    #[test]
    fn the_wait_follows_the_gaps_and_stays_just_above_them() {
        for millis in [3, 10, 20, 30] {
            let gap = Span::from_millis(millis);
            let ato = ato_after(gap, 60);
            assert!(ato >= gap && ato <= gap + gap / 4, "{ato} for gaps of {gap}");
        }
    }

    #[test]
    fn a_steady_stream_is_acknowledged_every_second_segment() {
        for millis in [3, 10, 20, 30] {
            let mut bench = bench();
            for number in 0..200 {
                bench.arrive(at_ms(number * millis));
            }
            // At worst the first two of them are alone.
            assert!((100..=102).contains(&bench.acks.len()), "{} {millis}", bench.acks.len());
        }
    }

    #[test]
    fn nothing_waits_where_the_next_segment_is_expected_too_late() {
        let mut bench = bench();
        for number in 0..20 {
            bench.arrive(at_ms(number * 100));
        }
        assert_eq!(bench.acks, (0..20).map(|number| at_ms(number * 100)).collect::<Vec<_>>());
        assert_eq!(bench.policy.ato(), Some(Span::ZERO));
    }

    #[test]
    fn a_pause_of_the_application_is_no_gap() {
        let mut bench = bench();
        for number in 0..=60 {
            bench.arrive(at_ms(number * 3));
        }
        let before = bench.policy.ato();
        bench.arrive(at_ms(60_000));
        assert_eq!(bench.policy.ato(), before);
    }

    #[test]
    fn segments_of_one_instant_count_once() {
        let mut bench = bench();
        for number in 0..=60 {
            (0..4).for_each(|_| bench.arrive(at_ms(number * 10)));
        }
        let ato = bench.policy.ato().expect("adaptive");
        assert!(ato >= Span::from_millis(10) && ato <= Span::from_millis(13), "{ato}");
    }

    /// Write-write-read: the sender holds the second small segment until the first one is
    /// acknowledged. The wait is not to be fed back into itself, and most rounds are not to stall.
    #[test]
    fn a_sender_that_waits_for_the_acknowledgment_soon_gets_it_at_once() {
        let mut bench = bench();
        let rtt = Span::from_millis(1);
        let small = Fit { payload: 50, rtt, ..Fit::in_order(0) };
        // Gaps of 5 ms have been seen before.
        (0..40).for_each(|number| bench.arrive(at_ms(number * 5)));
        let mut now = at_ms(300);
        let mut stalled = Span::ZERO;
        for _ in 0..100 {
            bench.take(now, small);
            bench.timer(now + Span::from_secs(1));
            let acked_at = *bench.acks.last().expect("acknowledged within a second");
            stalled += acked_at.saturating_since(now);
            bench.take(acked_at + rtt, small);
            bench.send_data(acked_at + rtt);
            now = acked_at + Span::from_millis(20);
        }
        // A stock Linux kernel stalls some 42 ms each time.
        assert!(stalled / 100 < Span::from_millis(2), "{} a round", stalled / 100);
        assert!(stalled > Span::ZERO, "it tries from time to time");
    }

    #[test]
    fn gaps_that_alternate_are_joined_in_pairs() {
        let mut bench = bench();
        for pair in 0..100 {
            bench.arrive(at_us(pair * 8_320));
            bench.arrive(at_us(pair * 8_320 + 890));
        }
        assert!((100..=104).contains(&bench.acks.len()), "{}", bench.acks.len());
    }
}
