//! Reno's congestion control (RFC 5681 §3.1).

use super::growth::{AbcKnobs, GROWTH, GrowthBy, Increase};
use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, Established, Growth,
    LossResponse, SendLimit, TimeoutOrder, Window,
};
use ackord_units::{Bytes, Knobs, Time};

/// Slow start and additive increase, halving on loss
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "congestion", name = "reno", source = "RFC 5681 §3.1")]
pub struct RenoConfig {
    #[knob(like = GROWTH)]
    growth: GrowthBy,
    #[knob(flatten)]
    abc: AbcKnobs,
    /// What is left of cwnd after a mark in congestion avoidance
    #[knob(
        min = 0.1,
        max = 0.95,
        default = "0.5",
        source = "RFC 3168 §6.1.2; RFC 8511 §3 tries 0.8"
    )]
    beta_ecn: f64,
}

impl CongestionConfig for RenoConfig {
    fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Reno::new(self.abc.growth(self.growth)).with_beta_ecn(self.beta_ecn))
    }
}

/// Slow start, additive increase, halving on loss.
#[derive(Clone, Debug)]
pub struct Reno {
    window: Window,
    increase: Increase,
    /// What is left of the window after a mark in congestion avoidance.
    beta_ecn: f64,
}

impl Reno {
    /// A control with this growth rule.
    pub fn new(growth: Growth) -> Reno {
        Reno { window: Window::new(), increase: Increase::new(growth), beta_ecn: 0.5 }
    }

    /// The same, but a mark leaves this share of the window in congestion avoidance (RFC 8511 §3).
    pub fn with_beta_ecn(self, beta_ecn: f64) -> Reno {
        Reno { beta_ecn, ..self }
    }
}

impl CongestionControl for Reno {
    fn on_established(&mut self, _now: Time, sizes: Established) {
        self.window.establish(sizes);
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
                self.increase.reduce_ssthresh(&mut self.window, flight_size, 0.5);
                self.window.enter(response);
            }
            CongestionEvent::Mark { flight_size } => {
                // RFC 8511 §3: slow start overshoots, whatever says so.
                let beta = if self.window.in_slow_start() { 0.5 } else { self.beta_ecn };
                self.increase.reduce_ssthresh(&mut self.window, flight_size, beta);
                self.window.enter(LossResponse::FastRecovery);
            }
            CongestionEvent::Timeout { flight_size, order, .. } => {
                if order == TimeoutOrder::First {
                    self.increase.reduce_ssthresh(&mut self.window, flight_size, 0.5);
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
}

#[cfg(test)]
mod tests {
    use super::super::testing::*;
    use super::*;

    #[test]
    fn slow_start_doubles_in_a_round_and_avoidance_adds_one_segment() {
        let mut reno = established(Reno::new(Growth::PerAck));
        for _ in 0..10 {
            reno.on_ack(Time::ZERO, &ack_of(1000));
        }
        assert_eq!(reno.cwnd(), Bytes(20_000));
        reno.on_congestion(Time::ZERO, loss(20_000, LossResponse::FastRecovery));
        assert_eq!(reno.cwnd(), Bytes(10_000));
        for _ in 0..10 {
            reno.on_ack(Time::ZERO, &ack_of(1000));
        }
        let grown = reno.cwnd().get();
        assert!((10_950..=11_000).contains(&grown), "one segment a round, not {grown}");
    }

    #[test]
    fn per_byte_growth_does_not_depend_on_how_many_acknowledgments_carry_it() {
        let mut every = established(Reno::new(Growth::per_byte(2)));
        let mut second = established(Reno::new(Growth::per_byte(2)));
        for reno in [&mut every, &mut second] {
            reno.on_congestion(Time::ZERO, loss(20_000, LossResponse::FastRecovery));
        }
        for _ in 0..40 {
            every.on_ack(Time::ZERO, &ack_of(1000));
        }
        for _ in 0..20 {
            second.on_ack(Time::ZERO, &ack_of(2000));
        }
        assert_eq!(every.cwnd(), second.cwnd());
    }

    #[test]
    fn a_mark_halves_and_leaves_more_in_avoidance_if_told_so() {
        let mark = CongestionEvent::Mark { flight_size: Bytes(10_000) };
        let mut reno = established(Reno::new(Growth::PerAck));
        reno.on_congestion(Time::ZERO, mark);
        assert_eq!((reno.cwnd(), reno.ssthresh()), (Bytes(5_000), Bytes(5_000)));
        let mut abe = established(Reno::new(Growth::PerAck).with_beta_ecn(0.8));
        abe.on_congestion(Time::ZERO, mark);
        assert_eq!(abe.cwnd(), Bytes(5_000), "slow start");
        abe.on_congestion(Time::ZERO, mark);
        assert_eq!(abe.cwnd(), Bytes(4_000), "avoidance");
    }

    #[test]
    fn a_repeated_timeout_holds_ssthresh() {
        let mut reno = established(Reno::new(Growth::PerAck));
        reno.on_congestion(Time::ZERO, timeout(10_000, TimeoutOrder::First));
        assert_eq!((reno.cwnd(), reno.ssthresh()), (Bytes(1000), Bytes(5_000)));
        reno.on_congestion(Time::ZERO, timeout(1_000, TimeoutOrder::Repeated));
        assert_eq!(reno.ssthresh(), Bytes(5_000));
    }

    #[test]
    fn ssthresh_does_not_rise_because_flight_size_counts_what_has_left_the_network() {
        let mut reno = established(Reno::new(Growth::PerAck));
        reno.on_congestion(Time::ZERO, timeout(60_000, TimeoutOrder::First));
        assert_eq!(reno.ssthresh(), Bytes(5_000));
    }

    #[test]
    fn a_sender_limited_by_its_application_does_not_grow() {
        let mut reno = established(Reno::new(Growth::PerAck));
        reno.on_ack(Time::ZERO, &AckSample { limit: SendLimit::Other, ..ack_of(1000) });
        assert_eq!(reno.cwnd(), Bytes(10_000));
    }
}
