//! Round-trip time estimation and the retransmission timeout (RFC 6298).

use ackord_units::Span;

/// The bounds that turn an estimate into a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoBounds {
    /// Timeout before the first sample (RFC 6298 §2.1).
    pub initial: Span,
    /// Smallest timeout (§2.4).
    pub min: Span,
    /// Largest timeout (§2.5).
    pub max: Span,
    /// G, the clock granularity (§2.3).
    pub granularity: Span,
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

#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: Span,
    rttvar: Span,
}

impl RttEstimator {
    /// An estimator without a sample.
    pub fn new(bounds: RtoBounds) -> RttEstimator {
        RttEstimator { bounds, estimate: None, min_rtt: None, backoff: 0 }
    }

    /// Takes a sample that Karn's rule allows; it also ends the back-off (§5.7).
    pub fn on_sample(&mut self, rtt: Span) {
        self.backoff = 0;
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        self.estimate = Some(match self.estimate {
            // §2.2: the first sample.
            None => Estimate { srtt: rtt, rttvar: rtt / 2 },
            // §2.3 with alpha = 1/8 and beta = 1/4; RTTVAR first, from the old SRTT.
            Some(Estimate { srtt, rttvar }) => Estimate {
                rttvar: (rttvar * 3 + srtt.abs_diff(rtt)) / 4,
                srtt: (srtt * 7 + rtt) / 8,
            },
        });
    }

    /// Doubles the timeout after it has expired (§5.5).
    pub fn back_off(&mut self) {
        self.backoff = (self.backoff + 1).min(63);
    }

    /// The smoothed round-trip time, once there is a sample.
    pub fn srtt(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.srtt)
    }

    /// The smallest sample so far.
    pub fn min_rtt(&self) -> Option<Span> {
        self.min_rtt
    }

    /// SRTT + 4 RTTVAR without floor or back-off: the fine-grained timeout of Vegas
    /// (Brakmo and Peterson 1995 §3.1).
    pub fn fine_timeout(&self) -> Option<Span> {
        self.estimate.map(|Estimate { srtt, rttvar }| srtt + rttvar * 4)
    }

    /// The retransmission timeout, backed off and bounded.
    pub fn rto(&self) -> Span {
        let base = match self.estimate {
            None => self.bounds.initial,
            Some(Estimate { srtt, rttvar }) => srtt + (rttvar * 4).max(self.bounds.granularity),
        };
        let doubled = base.max(self.bounds.min).saturating_mul(1 << self.backoff.min(62));
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
    };

    #[test]
    fn the_first_sample_sets_srtt_and_half_of_it_as_variance() {
        let mut rtt = RttEstimator::new(BOUNDS);
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.on_sample(Span::from_millis(100));
        assert_eq!(rtt.srtt(), Some(Span::from_millis(100)));
        assert_eq!(rtt.rto(), Span::from_millis(300));
    }

    #[test]
    fn a_steady_path_ends_at_the_floor() {
        let mut rtt = RttEstimator::new(BOUNDS);
        for _ in 0..100 {
            rtt.on_sample(Span::from_millis(40));
        }
        assert_eq!(rtt.rto(), BOUNDS.min);
    }

    #[test]
    fn back_off_doubles_up_to_the_ceiling_and_a_sample_ends_it() {
        let mut rtt = RttEstimator::new(BOUNDS);
        rtt.on_sample(Span::from_millis(100));
        rtt.back_off();
        assert_eq!(rtt.rto(), Span::from_millis(600));
        for _ in 0..80 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), BOUNDS.max);
        rtt.on_sample(Span::from_millis(100));
        assert!(rtt.rto() < Span::from_millis(301));
    }
}
