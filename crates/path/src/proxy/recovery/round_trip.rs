//! The round trip between a box and the mobile host, smoothed.

use ackord_units::Span;

/// The estimate of one connection's wireless round trip: from when a segment passed the box until
/// its acknowledgment did (RFC 6298 §2, over half of the path).
#[derive(Clone, Copy, Debug, Default)]
pub struct WirelessRoundTrip {
    estimate: Option<Estimate>,
}

#[derive(Clone, Copy, Debug)]
struct Estimate {
    srtt: Span,
    rttvar: Span,
    least: Span,
}

impl WirelessRoundTrip {
    /// A segment that was sent once was acknowledged after so long.
    pub fn sample(&mut self, round_trip: Span) {
        self.estimate = Some(match self.estimate {
            // RFC 6298 §2.2.
            None => Estimate { srtt: round_trip, rttvar: round_trip / 2, least: round_trip },
            // RFC 6298 §2.3.
            Some(Estimate { srtt, rttvar, least }) => Estimate {
                rttvar: (rttvar.saturating_mul(3) + srtt.abs_diff(round_trip)) / 4,
                srtt: (srtt.saturating_mul(7) + round_trip) / 8,
                least: least.min(round_trip),
            },
        });
    }

    /// How long to wait for an acknowledgment: SRTT + 4 RTTVAR; nothing before the first sample.
    pub fn timeout(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.srtt + estimate.rttvar.saturating_mul(4))
    }

    /// The shortest seen.
    pub fn least(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.least)
    }

    /// The smoothed round trip.
    pub fn smoothed(&self) -> Option<Span> {
        self.estimate.map(|estimate| estimate.srtt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_steady_round_trip_is_learnt_and_the_wait_for_it_shrinks_to_it() {
        let mut trip = WirelessRoundTrip::default();
        assert_eq!((trip.timeout(), trip.least(), trip.smoothed()), (None, None, None));
        trip.sample(Span::from_millis(20));
        assert_eq!(trip.timeout(), Some(Span::from_millis(60)));
        (0..100).for_each(|_| trip.sample(Span::from_millis(20)));
        assert_eq!(trip.smoothed(), Some(Span::from_millis(20)));
        let timeout = trip.timeout().expect("sampled");
        assert!(timeout < Span::from_millis(21), "{timeout}");
    }

    #[test]
    fn the_least_stays_when_a_queue_builds_up() {
        let mut trip = WirelessRoundTrip::default();
        for millis in [30, 20, 80, 90] {
            trip.sample(Span::from_millis(millis));
        }
        assert_eq!(trip.least(), Some(Span::from_millis(20)));
        assert!(trip.timeout() > Some(Span::from_millis(80)));
    }
}
