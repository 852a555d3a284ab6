//! Westwood+ (Mascolo and Grieco 2004, "Performance evaluation and comparison of Westwood+, New
//! Reno, and Vegas TCP congestion control"): Reno's growth; after a loss ssthresh is what the path
//! has lately carried in its smallest round-trip time, instead of half of what was in flight.
//!
//! Once per round trip the bytes delivered meanwhile give a sample of the bandwidth, and a low-pass
//! filter smooths the samples (§2.2). Duplicate acknowledgments count as deliveries, which the
//! sender's delivery samples see to. Departures: before the first sample ssthresh is RFC 5681's; a
//! loss never raises cwnd, even where the estimate would allow more; idle time lowers the estimate
//! only by the one sample that spans it.

use super::growth::{AbcKnobs, GROWTH, GrowthBy, Increase};
use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, Established, Growth,
    LossResponse, PathModel, RateSample, SampleAdvice, SendLimit, TimeoutOrder, Window,
};
use ackord_units::{Bytes, Knobs, Rate, Span, Time};

/// Reno's growth; a loss leaves what the path has carried in its smallest round trip
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "congestion",
    name = "westwood",
    source = "Mascolo and Grieco 2004 (Westwood+)"
)]
pub struct WestwoodConfig {
    #[knob(like = GROWTH)]
    growth: GrowthBy,
    #[knob(flatten)]
    abc: AbcKnobs,
    /// Weight of the old bandwidth estimate when a round trip brings a sample
    #[knob(
        min = 0.0,
        max = 0.999,
        default = "0.875",
        source = "Mascolo and Grieco 2004 §2.2 (7/8)"
    )]
    filter: f64,
}

impl CongestionConfig for WestwoodConfig {
    fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Westwood::new(self.abc.growth(self.growth), self.filter))
    }
}

/// Bandwidth estimation behind Reno's window.
#[derive(Clone, Debug)]
pub struct Westwood {
    window: Window,
    increase: Increase,
    /// BWE, in bytes per second.
    bandwidth: Option<f64>,
    /// Share of the old estimate that a sample leaves.
    filter: f64,
    rtt_min: Option<Span>,
    /// The newest round-trip time: the length of a sample.
    rtt: Option<Span>,
    /// The sample under way.
    sample_from: Option<Time>,
    delivered: Bytes,
}

impl Westwood {
    /// A control with this growth rule; `filter` is the weight of the old estimate, 7/8 in the
    /// paper.
    pub fn new(growth: Growth, filter: f64) -> Westwood {
        Westwood {
            window: Window::new(),
            increase: Increase::new(growth),
            bandwidth: None,
            filter,
            rtt_min: None,
            rtt: None,
            sample_from: None,
            delivered: Bytes::ZERO,
        }
    }

    /// The bandwidth estimate, once there is one.
    pub fn bandwidth(&self) -> Option<Rate> {
        self.bandwidth.map(|bytes| Rate::from_bits_per_sec((bytes * 8.0) as u64))
    }

    /// ssthresh = BWE * RTTmin (§2.1), at least two segments.
    fn set_ssthresh(&mut self, flight_size: Bytes) {
        match self.bandwidth.zip(self.rtt_min) {
            Some((bandwidth, rtt_min)) => {
                let pipe = Bytes((bandwidth * rtt_min.as_secs_f64()) as u64);
                self.window.ssthresh = pipe.max(self.window.smss * 2);
            }
            None => self.window.reduce_ssthresh(flight_size, 0.5),
        }
    }
}

impl CongestionControl for Westwood {
    fn on_established(&mut self, now: Time, sizes: Established) {
        self.window.establish(sizes);
        self.rtt_min = sizes.srtt;
        self.rtt = sizes.srtt;
        self.sample_from = Some(now);
    }

    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        if ack.limit == SendLimit::Cwnd {
            self.increase.on_ack(&mut self.window, ack);
        }
    }

    fn on_congestion(&mut self, _now: Time, event: CongestionEvent) {
        self.increase.forget();
        match event {
            CongestionEvent::Loss { flight_size, response } => {
                self.set_ssthresh(flight_size);
                self.window.cwnd = match response {
                    LossResponse::FastRecovery => self.window.cwnd.min(self.window.ssthresh),
                    LossResponse::SlowStart => self.window.smss,
                };
            }
            CongestionEvent::Mark { flight_size } => {
                self.set_ssthresh(flight_size);
                self.window.cwnd = self.window.cwnd.min(self.window.ssthresh);
            }
            CongestionEvent::Timeout { flight_size, order, .. } => {
                if order == TimeoutOrder::First {
                    self.set_ssthresh(flight_size);
                }
                self.window.time_out();
            }
            CongestionEvent::Undone { cwnd, ssthresh }
            | CongestionEvent::Restart { cwnd, ssthresh } => self.window.set(cwnd, ssthresh),
            CongestionEvent::Recovered { cwnd_at_most } => self.window.recovered(cwnd_at_most),
        }
    }

    fn cwnd(&self) -> Bytes {
        self.window.cwnd
    }

    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }
}

impl PathModel for Westwood {
    fn on_rate_sample(&mut self, now: Time, sample: &RateSample) -> SampleAdvice {
        if let Some(rtt) = sample.rtt {
            self.rtt = Some(rtt);
            self.rtt_min = Some(self.rtt_min.map_or(rtt, |least| least.min(rtt)));
        }
        self.delivered += sample.newly_acked;
        let from = *self.sample_from.get_or_insert(now);
        let elapsed = now.saturating_since(from);
        // §2.2: one sample per round trip.
        if self.rtt.is_some_and(|rtt| elapsed >= rtt) && elapsed > Span::ZERO {
            let sample = self.delivered.get() as f64 / elapsed.as_secs_f64();
            let old = self.bandwidth.unwrap_or(sample);
            self.bandwidth = Some(self.filter * old + (1.0 - self.filter) * sample);
            self.sample_from = Some(now);
            self.delivered = Bytes::ZERO;
        }
        SampleAdvice::GoOn
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    const GROWTH: Growth = Growth::PerAck;

    /// One segment of 1000 bytes every millisecond, as a path of 8 Mbit/s delivers them.
    fn deliver(westwood: &mut Westwood, from_ms: u64, count: u64, rtt_ms: u64) {
        for ms in from_ms..from_ms + count {
            let sample = RateSample { rtt: Some(Span::from_millis(rtt_ms)), ..sample_of(1000) };
            westwood.on_rate_sample(Time::ZERO + Span::from_millis(ms), &sample);
        }
    }

    #[test]
    fn the_estimate_converges_on_what_the_path_delivers() {
        let mut westwood = established(Westwood::new(GROWTH, 0.875));
        deliver(&mut westwood, 1, 3_000, 50);
        let mbits = westwood.bandwidth().expect("an estimate").as_bits_per_sec() as f64 / 1e6;
        assert!((7.9..=8.1).contains(&mbits), "{mbits} Mbit/s");
    }

    /// Eq. of §2.1: 8 Mbit/s times 20 ms is twenty segments, however much was in flight.
    #[test]
    fn after_a_loss_the_window_is_what_the_path_carries_in_its_smallest_round_trip() {
        let mut westwood = established(Westwood::new(GROWTH, 0.875));
        deliver(&mut westwood, 1, 100, 20);
        deliver(&mut westwood, 101, 2_000, 80);
        for _ in 0..60 {
            westwood.on_ack(Time::ZERO, &ack_of(1000));
        }
        assert_eq!(westwood.cwnd(), Bytes(70_000));
        westwood.on_congestion(Time::ZERO, loss(70_000, LossResponse::FastRecovery));
        let segments = westwood.cwnd().get() as f64 / 1000.0;
        assert!((19.5..=20.5).contains(&segments), "{segments} segments");
        westwood.on_congestion(Time::ZERO, timeout(20_000, TimeoutOrder::First));
        assert_eq!(westwood.cwnd(), Bytes(1_000));
        assert!(westwood.ssthresh() >= Bytes(19_500));
    }

    #[test]
    fn a_loss_never_raises_the_window() {
        let mut westwood = established(Westwood::new(GROWTH, 0.875));
        deliver(&mut westwood, 1, 1_000, 50);
        westwood.on_congestion(Time::ZERO, loss(10_000, LossResponse::FastRecovery));
        assert_eq!(westwood.cwnd(), Bytes(10_000));
        assert!(westwood.ssthresh() > Bytes(40_000));
    }
}
