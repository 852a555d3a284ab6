//! Tahoe (Jacobson 1988): Reno's growth, and every detected loss is followed by slow start from one
//! segment, whatever the recovery sender would do. A mark loses nothing and halves as in Reno.

use super::growth::{AbcKnobs, GROWTH, GrowthBy};
use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, Established, Growth,
    LossAnswer, Reno,
};
use ackord_units::{Bytes, Knobs, Time};

/// Reno's growth; every detected loss restarts slow start, whatever the recovery
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "congestion", name = "tahoe", source = "Jacobson 1988")]
pub struct TahoeConfig {
    #[knob(like = GROWTH)]
    growth: GrowthBy,
    #[knob(flatten)]
    abc: AbcKnobs,
}

impl CongestionConfig for TahoeConfig {
    fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Tahoe::new(self.abc.growth(self.growth)))
    }
}

/// Slow start, additive increase, back to one segment on loss.
#[derive(Clone, Debug)]
pub struct Tahoe(Reno);

impl Tahoe {
    /// A control with this growth rule.
    pub fn new(growth: Growth) -> Tahoe {
        Tahoe(Reno::new(growth))
    }
}

impl CongestionControl for Tahoe {
    fn on_established(&mut self, now: Time, sizes: Established) {
        self.0.on_established(now, sizes);
    }

    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.0.on_ack(now, ack);
    }

    fn on_congestion(&mut self, now: Time, event: CongestionEvent) {
        self.0.on_congestion(now, event);
    }

    fn cwnd(&self) -> Bytes {
        self.0.cwnd()
    }

    fn ssthresh(&self) -> Bytes {
        self.0.ssthresh()
    }

    fn loss_answer(&self) -> LossAnswer {
        LossAnswer::SlowStart
    }
}
