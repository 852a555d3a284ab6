//! The window of ns-2's one-way agents (TcpAgent's opencwnd and slowdown): counted in segments.
//!
//! What differs from Reno as RFC 5681 has it, and shows in a simulation of small windows: a
//! reduction halves the whole segments of cwnd, not what is in flight, and drops the rest; cwnd may
//! fall to one segment, where ssthresh may not; every timeout reduces ssthresh,
//! the repeated ones too.
//!
//! Not modelled: that a fast retransmit with a window of one leaves cwnd at zero until the next
//! acknowledgment, `windowOption_` other than 1, HighSpeed TCP, Quick-Start, limited slow start.

use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, Established, LossResponse,
    SendLimit, Window,
};
use ackord_units::{Bytes, Knobs, Time};

/// Reno in whole segments, as ns-2's one-way agents count
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "congestion",
    name = "ns2",
    source = "TcpAgent::opencwnd and slowdown of ns-2.35"
)]
pub struct Ns2Config {}

impl CongestionConfig for Ns2Config {
    fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Ns2::new())
    }
}

/// Slow start and additive increase in whole segments.
#[derive(Clone, Debug)]
pub struct Ns2 {
    smss: Bytes,
    /// In segments, with the fraction that additive increase has gathered.
    cwnd_segments: f64,
    /// None until the first reduction.
    ssthresh_segments: Option<u64>,
}

impl Ns2 {
    /// A control before the handshake.
    pub fn new() -> Ns2 {
        let Window { smss, .. } = Window::new();
        Ns2 { smss, cwnd_segments: 1.0, ssthresh_segments: None }
    }

    fn whole(&self) -> u64 {
        self.cwnd_segments as u64
    }

    fn in_slow_start(&self) -> bool {
        self.ssthresh_segments.is_none_or(|ssthresh| self.cwnd_segments < ssthresh as f64)
    }

    /// Returns half of the window, which ssthresh follows down to two segments.
    fn halve(&mut self) -> f64 {
        let half = (self.whole() / 2).max(1);
        self.ssthresh_segments = Some(half.max(2));
        half as f64
    }
}

impl Default for Ns2 {
    fn default() -> Ns2 {
        Ns2::new()
    }
}

impl CongestionControl for Ns2 {
    fn on_established(&mut self, _now: Time, sizes: Established) {
        self.smss = sizes.smss;
        self.cwnd_segments = (sizes.initial_window.get() / sizes.smss.get().max(1)) as f64;
    }

    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        // maxcwnd_ at the bound on what is in flight; ns-2 leaves it to the script.
        if ack.limit == SendLimit::Other {
            return;
        }
        self.cwnd_segments += if self.in_slow_start() { 1.0 } else { 1.0 / self.cwnd_segments };
    }

    fn on_congestion(&mut self, _now: Time, event: CongestionEvent) {
        match event {
            CongestionEvent::Loss { response, .. } => {
                let half = self.halve();
                self.cwnd_segments = match response {
                    LossResponse::FastRecovery => half,
                    LossResponse::SlowStart => 1.0,
                };
            }
            // TcpAgent::ecn slows down as for a loss.
            CongestionEvent::Mark { .. } => self.cwnd_segments = self.halve(),
            CongestionEvent::Timeout { .. } => {
                self.halve();
                self.cwnd_segments = 1.0;
            }
            CongestionEvent::Undone { cwnd, ssthresh }
            | CongestionEvent::Restart { cwnd, ssthresh } => {
                self.cwnd_segments = cwnd.get() as f64 / self.smss.get() as f64;
                self.ssthresh_segments =
                    (ssthresh != Bytes::MAX).then(|| ssthresh.get() / self.smss.get());
            }
            CongestionEvent::Recovered { cwnd_at_most: Some(bound) } => {
                let bound = bound.get() as f64 / self.smss.get() as f64;
                self.cwnd_segments = self.cwnd_segments.min(bound).max(1.0);
            }
            CongestionEvent::Recovered { cwnd_at_most: None } => {}
        }
    }

    fn cwnd(&self) -> Bytes {
        self.smss * self.whole()
    }

    fn ssthresh(&self) -> Bytes {
        self.ssthresh_segments.map_or(Bytes::MAX, |segments| self.smss * segments)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{TimeoutOrder, testing::*};
    use super::*;

    fn segments(ns2: &Ns2) -> (u64, u64) {
        (ns2.cwnd().get() / 1000, ns2.ssthresh().get() / 1000)
    }

    #[test]
    fn a_loss_halves_whole_segments_and_forgets_the_fraction() {
        let mut ns2 = established(Ns2::new());
        ns2.on_congestion(Time::ZERO, loss(10_000, LossResponse::FastRecovery));
        assert_eq!(segments(&ns2), (5, 5));
        for _ in 0..4 {
            ns2.on_ack(Time::ZERO, &ack_of(1000));
        }
        // 5.7 segments: five are sent, and half of five is two.
        assert_eq!(segments(&ns2), (5, 5));
        ns2.on_congestion(Time::ZERO, loss(9_000, LossResponse::FastRecovery));
        assert_eq!(segments(&ns2), (2, 2));
        ns2.on_congestion(Time::ZERO, loss(9_000, LossResponse::FastRecovery));
        assert_eq!(segments(&ns2), (1, 2), "ssthresh stays at two, cwnd does not");
        ns2.on_ack(Time::ZERO, &ack_of(1000));
        assert_eq!(segments(&ns2), (2, 2));
    }

    #[test]
    fn every_timeout_reduces_ssthresh() {
        let mut ns2 = established(Ns2::new());
        ns2.on_congestion(Time::ZERO, timeout(10_000, TimeoutOrder::First));
        assert_eq!(segments(&ns2), (1, 5));
        ns2.on_congestion(Time::ZERO, timeout(10_000, TimeoutOrder::Repeated));
        assert_eq!(segments(&ns2), (1, 2));
    }
}
