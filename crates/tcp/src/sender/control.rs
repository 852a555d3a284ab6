//! The congestion control, with the window it gives: that is asked for when the control has heard something,
//! and not for every segment.

use crate::congestion::{
    AckSample, CongestionControl, CongestionEvent, Established, LossAnswer, PathModel,
};
use ackord_units::{Bytes, Rate, Time};

#[derive(Clone, Debug)]
pub(super) struct Control {
    control: Box<dyn CongestionControl>,
    /// What it says.
    cwnd: Bytes,
}

impl Control {
    pub(super) fn new(control: Box<dyn CongestionControl>) -> Control {
        Control { cwnd: control.cwnd(), control }
    }

    /// The congestion window.
    #[inline]
    pub(super) fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    /// The slow-start threshold.
    pub(super) fn ssthresh(&self) -> Bytes {
        self.control.ssthresh()
    }

    pub(super) fn pacing_rate(&self) -> Option<Rate> {
        self.control.pacing_rate()
    }

    pub(super) fn may_pace(&self) -> bool {
        self.control.may_pace()
    }

    pub(super) fn loss_answer(&self) -> LossAnswer {
        self.control.loss_answer()
    }

    pub(super) fn on_established(&mut self, now: Time, established: Established) {
        self.control.on_established(now, established);
        self.cwnd = self.control.cwnd();
    }

    #[inline]
    pub(super) fn on_ack(&mut self, now: Time, sample: &AckSample) {
        self.control.on_ack(now, sample);
        self.cwnd = self.control.cwnd();
    }

    pub(super) fn on_congestion(&mut self, now: Time, event: CongestionEvent) {
        self.control.on_congestion(now, event);
        self.cwnd = self.control.cwnd();
    }

    /// Tells its model of the path, if it has one.
    pub(super) fn tell_model<R>(
        &mut self,
        tell: impl FnOnce(&mut dyn PathModel) -> R,
    ) -> Option<R> {
        let said = tell(self.control.path_model()?);
        self.cwnd = self.control.cwnd();
        Some(said)
    }
}
