//! Pacing rate, send quantum and window (5.6), as they follow from the model.

use super::{Bbr, Phase, State};
use crate::congestion::RateSample;
use ackord_units::{Bytes, Rate, Span};

/// BBR.PacingMarginPercent (§2.5).
const PACING_MARGIN_PERCENT: u64 = 1;
/// BBR.MinPipeCwnd in segments (§2.8).
const MIN_PIPE_SEGMENTS: u64 = 4;

impl Bbr {
    pub(super) fn min_pipe_cwnd(&self) -> Bytes {
        self.smss * MIN_PIPE_SEGMENTS
    }

    /// InitPacingRate (§5.6.2).
    pub(super) fn init_pacing_rate(&mut self, rtt: Option<Span>) {
        let nominal = self.initial_window.over(rtt.unwrap_or(Span::from_millis(1)));
        self.pacing_rate = percent_of_rate(nominal, self.pacing_gain_percent());
        self.paced_by_rtt = rtt.is_some();
    }

    /// BBR.pacing_gain by state (§5.6.1), in percent.
    pub(super) fn pacing_gain_percent(&self) -> u64 {
        match self.state {
            State::Startup => (self.knobs.startup_pacing_gain * 100.0) as u64,
            State::Drain => 50,
            State::ProbeBw(Phase::Down) => 90,
            State::ProbeBw(Phase::Cruise | Phase::Refill) | State::ProbeRtt => 100,
            State::ProbeBw(Phase::Up) => 125,
        }
    }

    /// BBR.cwnd_gain by state (§5.6.1), in percent.
    pub(super) fn cwnd_gain_percent(&self) -> u64 {
        match self.state {
            State::ProbeBw(Phase::Up) => 225,
            State::ProbeRtt => 50,
            State::Startup | State::Drain | State::ProbeBw(_) => 200,
        }
    }

    /// BDPMultiple (§5.6.4.2), at `bw`, in percent.
    pub(super) fn bdp_multiple(&self, bw: Rate, percent: u64) -> Bytes {
        match self.rtt.min_rtt {
            None => self.initial_window,
            Some(min_rtt) => percent_of(bw.bytes_in(min_rtt), percent),
        }
    }

    /// BBR.bdp.
    pub(super) fn bdp(&self) -> Bytes {
        self.bdp_multiple(self.bw, 100)
    }

    /// QuantizationBudget (§5.6.4.2): room for offloading, and for pipelining.
    pub(super) fn with_budget(&self, inflight: Bytes) -> Bytes {
        // SetSendQuantum (§5.6.3) and UpdateOffloadBudget (§5.5.8.1).
        let quantum = self.pacing_rate.bytes_in(Span::from_millis(1)).min(Bytes(65_536));
        let offload_budget = quantum.max(self.smss * 2) * 3;
        let budgeted = inflight.max(offload_budget).max(self.min_pipe_cwnd());
        match self.state {
            State::ProbeBw(Phase::Up) => budgeted + self.smss * 2,
            _ => budgeted,
        }
    }

    /// Inflight (§5.6.4.2) at a gain of one.
    pub(super) fn inflight_at(&self, bw: Rate) -> Bytes {
        self.with_budget(self.bdp_multiple(bw, 100))
    }

    /// TargetInflight (§5.3.3.8.3).
    pub(super) fn target_inflight(&self) -> Bytes {
        self.bdp().min(self.cwnd)
    }

    /// SetPacingRateWithGain (§5.6.2).
    pub(super) fn set_pacing_rate(&mut self, gain_percent: u64) {
        let rate = percent_of_rate(self.bw, gain_percent);
        let rate = percent_of_rate(rate, 100 - PACING_MARGIN_PERCENT);
        if rate > self.pacing_rate || (self.full_pipe.reached && rate > Rate::default()) {
            self.pacing_rate = rate;
        }
    }

    /// SetCwnd (§5.6.4.6).
    pub(super) fn set_cwnd(&mut self, sample: &RateSample) {
        let wanted = self.bdp_multiple(self.bw, self.cwnd_gain_percent()) + self.extra_acked();
        let max_inflight = self.with_budget(wanted);
        let grown = self.cwnd + sample.newly_acked;
        if self.full_pipe.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || sample.total_delivered < self.initial_window {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(self.min_pipe_cwnd());
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }
}

/// `percent` of a volume.
pub(super) fn percent_of(bytes: Bytes, percent: u64) -> Bytes {
    Bytes((u128::from(bytes.get()) * u128::from(percent) / 100) as u64)
}

/// `percent` of a rate.
pub(super) fn percent_of_rate(rate: Rate, percent: u64) -> Rate {
    let bits = u128::from(rate.as_bits_per_sec()) * u128::from(percent) / 100;
    Rate::from_bits_per_sec(bits as u64)
}
