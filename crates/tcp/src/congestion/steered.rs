//! Windows set from outside, by a driver that decides in place of a congestion control.
//!
//! Nothing that happens to the connection changes them. In fast recovery the window bounds what is in the network, as
//! with controls that model the path.

use super::{AckSample, CongestionControl, CongestionEvent, Established, LossAnswer};
use ackord_units::{Bytes, Rate, Time};

/// What a sender may have outstanding, and how fast it sends, until it is set anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steering {
    /// The congestion window.
    pub cwnd: Bytes,
    /// The slow-start threshold; [`Bytes::MAX`] for none. It changes nothing here and is reported.
    pub ssthresh: Bytes,
    /// The rate at which segments leave; where it is absent they leave as the window allows.
    pub pacing_rate: Option<Rate>,
}

impl CongestionControl for Steering {
    fn on_established(&mut self, _now: Time, _sizes: Established) {}

    fn on_ack(&mut self, _now: Time, _ack: &AckSample) {}

    fn on_congestion(&mut self, _now: Time, _event: CongestionEvent) {}

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn ssthresh(&self) -> Bytes {
        self.ssthresh
    }

    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_rate
    }

    fn may_pace(&self) -> bool {
        true
    }

    fn loss_answer(&self) -> LossAnswer {
        LossAnswer::OwnWindow
    }
}
