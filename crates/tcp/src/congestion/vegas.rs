//! TCP Vegas (Brakmo and Peterson 1995; Chae and Choi 2004 Eq. 4).
//!
//! Once per round trip the sender works out how many of its segments in transit wait in queues,
//! `diff = transit * (1 - base_rtt / rtt)`, and keeps that between alpha and beta.
//! Beside it stands the loss detector `vegas`, which brings the fine-grained timeout.

use super::growth::{AbcKnobs, GROWTH, GrowthBy};
use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, Established, Growth,
    LossResponse, SendLimit, TimeoutOrder, Window,
};
use ackord_units::{Bytes, Contradiction, Knobs, Seq, Span, Time};

/// Holds a few segments in the queue, judged by the round-trip time
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(
    family = "congestion", name = "vegas",
    source = "Brakmo and Peterson 1995; Chae and Choi 2004 Eq. 4", check = in_order
)]
pub struct VegasConfig {
    /// Grow while fewer than this many segments wait in the queue
    #[knob(
        name = "alpha",
        min = 0.0,
        max = 1000.0,
        default = "1",
        source = "Brakmo and Peterson 1995 §3.2; ns-2's default"
    )]
    pub alpha_segments: f64,
    /// Shrink while more than this many segments wait in the queue
    #[knob(
        name = "beta",
        min = 0.0,
        max = 1000.0,
        default = "3",
        source = "Brakmo and Peterson 1995 §3.2; ns-2's default"
    )]
    pub beta_segments: f64,
    /// Leave slow start once this many segments wait in the queue
    #[knob(
        name = "gamma",
        min = 0.0,
        max = 1000.0,
        default = "1",
        source = "Brakmo and Peterson 1995 §3.3; ns-2's default"
    )]
    pub gamma_segments: f64,
    /// What is left of cwnd after a fast retransmit
    #[knob(
        min = 0.1,
        max = 1.0,
        default = "0.75",
        source = "the x-kernel's and ns-2's Vegas; the 1995 paper gives no number"
    )]
    pub loss_factor: f64,
    #[knob(like = GROWTH)]
    growth: GrowthBy,
    #[knob(flatten)]
    abc: AbcKnobs,
}

fn in_order(config: &VegasConfig) -> Result<(), Contradiction> {
    let (alpha, beta) = (config.alpha_segments, config.beta_segments);
    match alpha > beta {
        true => {
            let (alpha, beta) = (("alpha", alpha.to_string()), ("beta", beta.to_string()));
            Err(Contradiction::out_of_order(alpha, beta))
        }
        false => Ok(()),
    }
}

impl CongestionConfig for VegasConfig {
    fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Vegas::new(*self))
    }
}

/// Delay-based congestion avoidance.
#[derive(Clone, Debug)]
pub struct Vegas {
    knobs: VegasConfig,
    /// What counts in slow start. Congestion avoidance spreads one segment over the
    /// acknowledgments of a round trip.
    growth: Growth,
    window: Window,
    /// The smallest round-trip time seen.
    base_rtt: Option<Span>,
    round: Round,
    /// In slow start the window grows only every other round (§3.3), so that a round at a fixed
    /// window can be measured.
    slow_start_round: SlowStartRound,
    /// What congestion avoidance does in this round.
    course: Course,
}

/// The round-trip times of a round, which ends when the segment that begins at `ends_at` is
/// acknowledged: the next to be sent when the round began.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    ends_at: Option<Seq>,
    sum: Span,
    samples: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlowStartRound {
    Growing,
    Measuring,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    /// One segment more over this round: so much per acknowledgment, so much still to come.
    Grow {
        per_ack: Bytes,
        left: Bytes,
    },
    Hold,
}

impl Vegas {
    /// A control with these thresholds.
    pub fn new(knobs: VegasConfig) -> Vegas {
        Vegas {
            growth: knobs.abc.growth(knobs.growth),
            knobs,
            window: Window::new(),
            base_rtt: None,
            round: Round::default(),
            slow_start_round: SlowStartRound::Growing,
            course: Course::Hold,
        }
    }

    /// Segments waiting in queues, by Eq. 4 in units of segments. The window is what is in transit
    /// (Brakmo and Peterson 1995 §3.2): a part of cwnd too small for a segment waits nowhere.
    fn queued_segments(&self, rtt: Span, in_transit: Bytes) -> f64 {
        let base = self.base_rtt.unwrap_or(rtt).as_nanos() as f64;
        let segments = in_transit.get() as f64 / self.window.smss.get() as f64;
        segments * (1.0 - base / rtt.as_nanos().max(1) as f64)
    }

    fn on_round(&mut self, rtt: Span, in_transit: Bytes) {
        let queued = self.queued_segments(rtt, in_transit);
        let Window { smss, cwnd, .. } = self.window;
        if self.window.in_slow_start() {
            self.slow_start_round = match self.slow_start_round {
                // §3.3: only a round at a fixed window makes a valid comparison.
                SlowStartRound::Growing => SlowStartRound::Measuring,
                SlowStartRound::Measuring => SlowStartRound::Growing,
            };
            let measured = self.slow_start_round == SlowStartRound::Growing;
            if measured && queued > self.knobs.gamma_segments {
                // Leave slow start, giving back an eighth of the window.
                let least = smss * 2;
                self.window.ssthresh = least;
                self.window.cwnd = cwnd.saturating_sub(cwnd / 8).max(least);
                self.course = Course::Hold;
            }
            return;
        }
        self.course = Course::Hold;
        if queued > self.knobs.beta_segments {
            self.window.cwnd = cwnd.saturating_sub(smss).max(smss * 2);
        } else if queued < self.knobs.alpha_segments {
            // Eq. 4: one segment, whole. Anything less would leave a fraction that never becomes a
            // segment in flight but counts as if it waited in the queue.
            let acks = (cwnd.get() / smss.get()).max(1);
            self.course = Course::Grow { per_ack: Bytes(smss.get().div_ceil(acks)), left: smss };
        }
    }

    /// Collects the round's samples; true at its end.
    fn measure(&mut self, ack: &AckSample) -> Option<Span> {
        if let Some(rtt) = ack.rtt {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.round.sum += rtt;
            self.round.samples += 1;
        }
        let ended = self.round.ends_at.is_none_or(|end| ack.snd_una.after(end));
        if !ended {
            return None;
        }
        let Round { sum, samples, .. } = self.round;
        self.round = Round { ends_at: Some(ack.snd_nxt), sum: Span::ZERO, samples: 0 };
        (samples > 0).then(|| sum / samples)
    }

    fn restart_round(&mut self) {
        self.round = Round::default();
        self.course = Course::Hold;
    }
}

impl CongestionControl for Vegas {
    fn on_established(&mut self, _now: Time, sizes: Established) {
        self.window.establish(sizes);
    }

    fn on_ack(&mut self, _now: Time, ack: &AckSample) {
        if let Some(rtt) = self.measure(ack) {
            self.on_round(rtt, ack.flight_size);
        }
        if ack.limit == SendLimit::Other {
            return;
        }
        if self.window.in_slow_start() {
            if self.slow_start_round == SlowStartRound::Growing {
                self.window.slow_start(ack.acked, self.growth);
            }
        } else if let Course::Grow { per_ack, left } = &mut self.course {
            let step = (*per_ack).min(*left);
            *left -= step;
            self.window.cwnd += step;
        }
    }

    fn on_congestion(&mut self, _now: Time, event: CongestionEvent) {
        self.restart_round();
        match event {
            CongestionEvent::Loss { flight_size, response } => {
                self.window.reduce_ssthresh(flight_size, self.knobs.loss_factor);
                self.window.enter(response);
            }
            CongestionEvent::Mark { flight_size } => {
                self.window.reduce_ssthresh(flight_size, self.knobs.loss_factor);
                self.window.enter(LossResponse::FastRecovery);
            }
            CongestionEvent::Timeout { flight_size, order, .. } => {
                if order == TimeoutOrder::First {
                    self.window.reduce_ssthresh(flight_size, 0.5);
                }
                self.window.time_out();
                self.slow_start_round = SlowStartRound::Growing;
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
    use super::super::{LossResponse, testing::*};
    use super::*;

    fn vegas() -> Vegas {
        established(Vegas::new(VegasConfig::default()))
    }

    /// Rounds of one window each at a constant round-trip time.
    fn rounds(vegas: &mut Vegas, una: &mut Seq, count: u32, rtt_ms: u64) {
        for _ in 0..count {
            let segments = vegas.cwnd().get() / 1000;
            for _ in 0..segments {
                let rtt = Some(Span::from_millis(rtt_ms));
                // cwnd holds only whole segments; the next leaves after the acknowledgment.
                let flight_size = Bytes(vegas.cwnd().get() / 1000 * 1000);
                let snd_nxt = *una + flight_size.get() as u32;
                *una += 1000;
                let ack = AckSample { rtt, flight_size, snd_una: *una, snd_nxt, ..ack_of(1000) };
                vegas.on_ack(Time::ZERO, &ack);
            }
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round() {
        let (mut vegas, mut una) = (vegas(), Seq(0));
        // A round is over when the segment sent at its beginning is acknowledged (§3.2), neither one
        // acknowledgment sooner nor later: measured, doubled, measured, doubled.
        for cwnd in [10_000, 20_000, 20_000, 40_000] {
            rounds(&mut vegas, &mut una, 1, 100);
            assert_eq!(vegas.cwnd(), Bytes(cwnd));
        }
    }

    #[test]
    fn a_round_in_which_the_window_grew_does_not_end_slow_start() {
        let (mut vegas, mut una) = (vegas(), Seq(0));
        rounds(&mut vegas, &mut una, 1, 100);
        // Of twenty segments 1.8 seem to wait, more than gamma; but they were not twenty all along.
        rounds(&mut vegas, &mut una, 1, 110);
        // At twenty segments 0.8 wait, at forty 1.5.
        rounds(&mut vegas, &mut una, 2, 104);
        assert_eq!((vegas.cwnd(), vegas.ssthresh()), (Bytes(40_000), Bytes::MAX));
        rounds(&mut vegas, &mut una, 2, 104);
        assert_eq!((vegas.cwnd(), vegas.ssthresh()), (Bytes(35_000), Bytes(2_000)));
    }

    #[test]
    fn the_window_settles_where_between_alpha_and_beta_segments_wait() {
        let (mut vegas, mut una) = (vegas(), Seq(0));
        rounds(&mut vegas, &mut una, 1, 100);
        vegas.on_congestion(Time::ZERO, loss(20_000, LossResponse::FastRecovery));
        // A path of ten segments: beyond them each segment adds a tenth of the base round trip.
        for _ in 0..60 {
            let segments = vegas.cwnd().get() / 1000;
            rounds(&mut vegas, &mut una, 1, 100 * segments.max(10) / 10);
        }
        let waiting = vegas.cwnd().get() as f64 / 1000.0 - 10.0;
        assert!((0.5..=3.5).contains(&waiting), "{waiting} segments wait");
    }

    #[test]
    fn a_round_of_growth_adds_a_whole_segment() {
        let (mut vegas, mut una) = (vegas(), Seq(0));
        rounds(&mut vegas, &mut una, 1, 100);
        vegas.on_congestion(Time::ZERO, loss(4_000, LossResponse::FastRecovery));
        assert_eq!(vegas.cwnd(), Bytes(3_000));
        rounds(&mut vegas, &mut una, 1, 100);
        let cwnd = vegas.cwnd();
        assert_eq!(cwnd, Bytes(4_000), "nothing waits, so one more: not {cwnd}");
    }

    #[test]
    fn a_part_of_the_window_too_small_for_a_segment_does_not_count_as_waiting() {
        let (mut vegas, mut una) = (vegas(), Seq(0));
        rounds(&mut vegas, &mut una, 1, 100);
        vegas.on_congestion(Time::ZERO, loss(4_667, LossResponse::FastRecovery));
        assert_eq!(vegas.cwnd(), Bytes(3_500));
        // Of three segments in transit 2.85 wait, which is below beta; of 3.5 it would be 3.3.
        rounds(&mut vegas, &mut una, 4, 2_000);
        assert_eq!(vegas.cwnd(), Bytes(3_500));
    }
}
