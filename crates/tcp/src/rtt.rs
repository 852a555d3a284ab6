//! Round-trip time estimation and the retransmission timeout (RFC 6298), with the variant that
//! Linux computes (Sarolahti and Kuznetsov 2002 §4) as a choice.

use ackord_units::{Keyword, Knobs, Seq, Span};

/// The bounds that turn an estimate into a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Knobs)]
pub struct RtoBounds {
    /// Retransmission timeout before the first round-trip sample
    #[knob(
        name = "rto_initial", min = Span::from_millis(1), max = Span::from_secs(120), default = "1 s",
        source = "RFC 6298 §2.1"
    )]
    pub initial: Span,
    /// Smallest retransmission timeout
    #[knob(
        name = "rto_min", min = Span::from_millis(1), max = Span::from_secs(10), default = "1 s",
        source = "RFC 6298 §2.4; Linux uses 200 ms"
    )]
    pub min: Span,
    /// Largest retransmission timeout
    #[knob(
        name = "rto_max", min = Span::from_secs(1), max = Span::from_secs(3600), default = "60 s",
        source = "RFC 6298 §2.5"
    )]
    pub max: Span,
    /// How the variance enters the retransmission timeout: RTTVAR with rto_min as floor of the
    /// whole, or the largest deviation of recent round trips with rto_min as its own floor
    #[knob(
        name = "rto_variance",
        default = "every-sample",
        source = "RFC 6298 §2; peak-of-round is Linux's, Sarolahti and Kuznetsov 2002 §4"
    )]
    pub variance: Variance,
    /// What round trips are measured of: every acknowledgment, or one new segment at a time in
    /// whole ticks of clock_granularity
    #[knob(
        name = "rtt_sampling",
        default = "every-ack",
        source = "RFC 6298 §4; one-at-a-time is 4.3BSD's and ns-2's"
    )]
    pub sampling: Sampling,
    /// G of the retransmission timeout, and the tick of the timestamps
    #[knob(
        name = "clock_granularity", min = Span::from_micros(1), max = Span::from_secs(1), default = "1 ms",
        source = "RFC 6298 §2.3, RFC 7323 §4.1"
    )]
    pub granularity: Span,
}

/// What round-trip samples are taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Sampling {
    /// Every acknowledgment of new data that Karn's rule allows.
    EveryAck,
    /// One new segment at a time, in whole ticks of the clock; a recovery ends its timing without a
    /// sample. About one a round trip, as in 4.3BSD.
    OneAtATime,
}

/// How the variance of the round-trip time enters the timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum Variance {
    /// RFC 6298 §2: RTTVAR follows every sample, and the floor bounds the whole timeout.
    EverySample,
    /// As Linux has it: the largest deviation of each round trip counts, falls off by a quarter a
    /// round trip, and is what the floor bounds, so that the timeout is SRTT and the floor at
    /// least. A sample below SRTT moves the deviation an eighth as much as one above.
    PeakOfRound,
}

/// What was outstanding when a sample was taken: a round trip is over once `snd_una` reaches the
/// `snd_nxt` of its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Oldest byte not acknowledged.
    pub snd_una: Seq,
    /// Next byte to be sent.
    pub snd_nxt: Seq,
}

/// SRTT, RTTVAR and RTO.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    bounds: RtoBounds,
    estimate: Option<Estimate>,
    min_rtt: Option<Span>,
    /// How often the timeout has been doubled since the last sample (§5.5).
    backoff: u32,
}

/// What the timeout begins with after a SYN that timed out (§5.7).
const AFTER_LOST_SYN: Span = Span::from_secs(3);

#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: Span,
    rttvar: Span,
    peak: Peak,
}

/// The largest deviation of a round trip, all times four as the timeout uses them.
#[derive(Clone, Copy, Debug)]
struct Peak {
    /// What counts: the peaks of the past, falling off.
    held: Span,
    /// The largest of the round trip under way.
    round: Span,
    /// Where this round trip ends.
    round_end: Seq,
}

impl Peak {
    fn first(deviation: Span, floor: Span, window: Window) -> Peak {
        let held = deviation.max(floor);
        Peak { held, round: held, round_end: window.snd_nxt }
    }

    fn on_sample(&mut self, deviation: Span, floor: Span, window: Window) {
        self.round = self.round.max(deviation);
        self.held = self.held.max(self.round);
        if window.snd_una.after(self.round_end) {
            self.held -= (self.held - self.round) / 4;
            self.round_end = window.snd_nxt;
            self.round = floor;
        }
    }
}

impl Estimate {
    /// §2.3 with alpha = 1/8 and beta = 1/4.
    #[inline(always)]
    fn follow_deviation(&mut self, rtt: Span, variance: Variance) {
        let error = self.srtt.abs_diff(rtt);
        let falling = rtt < self.srtt && error > self.rttvar;
        self.rttvar = match variance {
            // A path that has become faster is no reason to wait longer.
            Variance::PeakOfRound if falling => self.rttvar + (error - self.rttvar) / 32,
            Variance::EverySample | Variance::PeakOfRound => (self.rttvar * 3 + error) / 4,
        };
    }
}

impl RttEstimator {
    /// An estimator without a sample.
    pub fn new(bounds: RtoBounds) -> RttEstimator {
        RttEstimator { bounds, estimate: None, min_rtt: None, backoff: 0 }
    }

    /// Takes a sample that Karn's rule allows; it also ends the back-off (§5).
    #[inline(always)]
    pub fn on_sample(&mut self, rtt: Span, window: Window) {
        self.backoff = 0;
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let floor = self.bounds.min;
        match &mut self.estimate {
            // §2.2: the first sample.
            None => {
                let peak = Peak::first(rtt * 2, floor, window);
                self.estimate = Some(Estimate { srtt: rtt, rttvar: rtt / 2, peak });
            }
            // §2.3: RTTVAR first, from the old SRTT.
            Some(estimate) => {
                estimate.follow_deviation(rtt, self.bounds.variance);
                if self.bounds.variance == Variance::PeakOfRound {
                    estimate.peak.on_sample(estimate.rttvar * 4, floor, window);
                }
                estimate.srtt = (estimate.srtt * 7 + rtt) / 8;
            }
        }
    }

    /// The first sample of data sent after a spurious timeout: the estimate begins anew with it, and
    /// with no less than what was known before that timeout (RFC 4015 §3 step 11).
    pub(crate) fn on_late_sample(&mut self, rtt: Span, srtt: Span, rttvar: Span, window: Window) {
        self.backoff = 0;
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        let rttvar = rttvar.max(rtt / 2);
        let peak = Peak::first(rttvar * 4, self.bounds.min, window);
        self.estimate = Some(Estimate { srtt: srtt.max(rtt), rttvar, peak });
    }

    /// What samples are to be taken of.
    #[inline]
    pub(crate) fn sampling(&self) -> Sampling {
        self.bounds.sampling
    }

    /// The tick of the clock.
    pub(crate) fn granularity(&self) -> Span {
        self.bounds.granularity
    }

    /// A SYN was sent more than once, and the handshake is over. Without a sample the timeout begins
    /// anew at three seconds at least (§5.7): the timer that sent it again may have been too short.
    pub(crate) fn begin_after_lost_syn(&mut self) {
        if self.estimate.is_none() {
            self.backoff = 0;
            self.bounds.initial = self.bounds.initial.max(AFTER_LOST_SYN);
        }
    }

    /// Doubles the timeout after it has expired (§5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(63);
    }

    /// How often it has been doubled since the last sample.
    pub(crate) fn doublings(&self) -> u32 {
        self.backoff
    }

    /// The smoothed round-trip time, once there is a sample.
    #[inline]
    pub fn srtt(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.srtt)
    }

    /// The smallest sample so far.
    #[inline]
    pub fn min_rtt(&self) -> Option<Span> {
        self.min_rtt
    }

    /// The mean deviation of the round-trip time, once there is a sample.
    #[inline]
    pub fn rttvar(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.rttvar)
    }

    /// The retransmission timeout, backed off and bounded.
    // Nothing in it can fail: for an event of which nobody asks for it, it is not worked out.
    #[inline(always)]
    pub fn rto(&self) -> Span {
        let base = match &self.estimate {
            None => self.bounds.initial,
            Some(Estimate { srtt, rttvar, peak }) => {
                let spread = match self.bounds.variance {
                    Variance::EverySample => rttvar.saturating_mul(4),
                    Variance::PeakOfRound => peak.held,
                };
                srtt.saturating_add(spread.max(self.bounds.granularity))
            }
        };
        let floored = base.max(self.bounds.min);
        let doubled = match self.backoff {
            0 => floored,
            times => floored.saturating_mul(1 << times.min(62)),
        };
        doubled.min(self.bounds.max.max(self.bounds.min))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: RtoBounds = RtoBounds {
        initial: Span::from_secs(1),
        min: Span::from_millis(200),
        max: Span::from_secs(60),
        granularity: Span::from_millis(1),
        variance: Variance::EverySample,
        sampling: Sampling::EveryAck,
    };
    const PEAKS: RtoBounds = RtoBounds { variance: Variance::PeakOfRound, ..BOUNDS };

    /// Sample `number` of a sender with ten segments in flight.
    fn sample(rtt: &mut RttEstimator, millis: u64, number: u32) {
        let snd_una = Seq(number * 1000);
        rtt.on_sample(Span::from_millis(millis), Window { snd_una, snd_nxt: snd_una + 10_000 });
    }

    #[test]
    fn the_first_sample_sets_srtt_and_half_of_it_as_variance() {
        let mut rtt = RttEstimator::new(BOUNDS);
        assert_eq!(rtt.rto(), Span::from_secs(1));
        sample(&mut rtt, 100, 0);
        assert_eq!(rtt.srtt(), Some(Span::from_millis(100)));
        assert_eq!(rtt.rto(), Span::from_millis(300));
    }

    #[test]
    fn a_steady_path_ends_at_the_floor() {
        let mut rtt = RttEstimator::new(BOUNDS);
        for _ in 0..100 {
            sample(&mut rtt, 40, 0);
        }
        assert_eq!(rtt.rto(), BOUNDS.min);
    }

    #[test]
    fn back_off_doubles_up_to_the_ceiling_and_a_sample_ends_it() {
        let mut rtt = RttEstimator::new(BOUNDS);
        sample(&mut rtt, 100, 0);
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_millis(600));
        for _ in 0..80 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), BOUNDS.max);
        sample(&mut rtt, 100, 0);
        assert!(rtt.rto() < Span::from_millis(301));
    }

    /// What a stock kernel shows (`ss -ti`): 56 ms of round trip, 260 ms of timeout.
    #[test]
    fn with_peaks_a_steady_path_ends_at_the_round_trip_and_the_floor() {
        let mut rtt = RttEstimator::new(PEAKS);
        for number in 0..200 {
            sample(&mut rtt, 56, number);
        }
        assert_eq!(rtt.rto(), Span::from_millis(56) + BOUNDS.min);
    }

    #[test]
    fn one_peak_is_remembered_for_round_trips_to_come() {
        let after_a_peak = |bounds| {
            let mut rtt = RttEstimator::new(bounds);
            for number in 0..100 {
                sample(&mut rtt, if number == 50 { 900 } else { 100 }, number);
            }
            rtt.rto()
        };
        // 49 samples later RTTVAR alone has forgotten it; four round trips keep 3/4 each.
        assert!(after_a_peak(BOUNDS) < Span::from_millis(220));
        assert!(after_a_peak(PEAKS) > Span::from_millis(400));
    }

    #[test]
    fn a_path_that_becomes_faster_hardly_raises_the_timeout() {
        let mut rtt = RttEstimator::new(PEAKS);
        for number in 0..100 {
            sample(&mut rtt, 1_000, number);
        }
        let before = rtt.rto();
        sample(&mut rtt, 100, 101);
        assert!(rtt.rto() <= before, "{} after {before}", rtt.rto());
    }
}
