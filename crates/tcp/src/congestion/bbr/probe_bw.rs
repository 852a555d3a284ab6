//! The bandwidth-probing cycle (draft-ietf-ccwg-bbr-06 §5.3.3): Down drains the queue of the last
//! probe, Cruise keeps the rate, Refill fills the pipe, Up asks for more.

use super::{Bbr, Phase, State};
use crate::congestion::RateSample;
use ackord_units::{Bytes, Rate, Span, Time};

/// Where the cycle stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    /// BBR.ack_phase.
    pub(super) acks: Acks,
    /// BBR.is_bw_probe_sample.
    pub(super) probe_sample: bool,
    /// BBR.cycle_stamp.
    started_at: Time,
    /// BBR.bw_probe_wait.
    wait: Span,
    /// BBR.rounds_since_probe_up.
    pub(super) rounds_since_probe: u64,
    /// BBR.bw_probe_up_rounds, BBR.bw_probe_up_acked.
    up_rounds: u32,
    up_acked: Bytes,
    /// BBR.probe_up_acked_per_inc; nothing while inflight_longterm does not grow.
    acked_per_step: Option<Bytes>,
    /// BBR.prev_probe_too_high, BBR.prev_probe_precautionary.
    pub(super) too_high: bool,
    precautionary: bool,
}

/// What the acknowledgments that come in tell of (§2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Acks {
    NotProbing,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The upper bound of T_reno in round trips (§5.3.3.8.2).
const RENO_ROUNDS: u64 = 63;
/// Bound on the doublings of the growth of inflight_longterm.
const MAX_UP_ROUNDS: u32 = 30;

impl Default for Cycle {
    fn default() -> Cycle {
        Cycle {
            acks: Acks::NotProbing,
            probe_sample: false,
            started_at: Time::ZERO,
            wait: Span::ZERO,
            rounds_since_probe: 0,
            up_rounds: 0,
            up_acked: Bytes::ZERO,
            acked_per_step: None,
            too_high: false,
            precautionary: false,
        }
    }
}

impl Bbr {
    pub(super) fn is_probing_bw_state(&self) -> bool {
        matches!(self.state, State::ProbeBw(_))
    }

    /// StartProbeBW_DOWN.
    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_congestion_signals();
        self.cycle.acked_per_step = None;
        // PickProbeWait (§5.3.3.8.3): to the microsecond is more than fine enough.
        self.cycle.rounds_since_probe = self.chance.below(2);
        let (least, most) = (self.knobs.probe_wait_min, self.knobs.probe_wait_max);
        let range = most.saturating_sub(least).as_nanos() / 1_000;
        self.cycle.wait = least + Span::from_micros(self.chance.below(range + 1));
        self.cycle.started_at = now;
        self.cycle.acks = Acks::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBw(Phase::Down);
    }

    /// StartProbeBW_CRUISE.
    pub(super) fn start_cruise(&mut self) {
        self.state = State::ProbeBw(Phase::Cruise);
    }

    /// StartProbeBW_REFILL.
    pub(super) fn start_refill(&mut self) {
        self.reset_short_term_model();
        self.cycle.up_rounds = 0;
        self.cycle.up_acked = Bytes::ZERO;
        self.cycle.precautionary = false;
        self.cycle.acks = Acks::Refilling;
        self.start_round();
        self.state = State::ProbeBw(Phase::Refill);
    }

    /// StartProbeBW_UP.
    fn start_up(&mut self, rate: Rate) {
        self.cycle.acks = Acks::ProbeStarting;
        self.start_round();
        self.full_pipe.reset(rate);
        self.state = State::ProbeBw(Phase::Up);
        self.raise_slope();
    }

    /// UpdateProbeBWCyclePhase (§5.3.3.9).
    pub(super) fn update_cycle(&mut self, now: Time, sample: &RateSample) {
        if !self.full_pipe.reached || self.adapt_long_term_model(sample) {
            return;
        }
        let State::ProbeBw(phase) = self.state else { return };
        match phase {
            Phase::Down => {
                if self.is_time_to_probe(now) {
                    self.start_refill();
                } else if self.is_time_to_cruise(sample.in_flight) {
                    self.start_cruise();
                }
            }
            Phase::Cruise => {
                if self.is_time_to_probe(now) {
                    self.start_refill();
                }
            }
            Phase::Refill => {
                if self.rounds.start {
                    self.cycle.probe_sample = true;
                    self.start_up(sample.delivery_rate.unwrap_or_default());
                }
            }
            Phase::Up => {
                if self.is_time_to_go_down(sample) {
                    self.cycle.too_high = false;
                    self.start_down(now);
                }
            }
        }
    }

    /// IsTimeToProbeBW: T_probe = min (T_bbr, T_reno).
    fn is_time_to_probe(&self, now: Time) -> bool {
        let reno_rounds = (self.target_inflight().get() / self.smss.get()).min(RENO_ROUNDS);
        now.saturating_since(self.cycle.started_at) > self.cycle.wait
            || self.cycle.rounds_since_probe >= reno_rounds
    }

    fn is_time_to_cruise(&self, in_flight: Bytes) -> bool {
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.inflight_at(self.max_bw.get())
    }

    /// IsTimeToGoDown (§5.3.3.7).
    fn is_time_to_go_down(&mut self, sample: &RateSample) -> bool {
        if self.cycle.too_high && sample.in_flight >= self.inflight_longterm {
            self.cycle.precautionary = true;
            return true;
        }
        if self.fills_longterm(sample) {
            // inflight_longterm is what limits the rate: no plateau of the path's.
            self.full_pipe.reset(sample.delivery_rate.unwrap_or_default());
            return false;
        }
        self.full_pipe.now
    }

    /// Whether cwnd is used to the full and stands at inflight_longterm.
    fn fills_longterm(&self, sample: &RateSample) -> bool {
        sample.cwnd_limited && self.cwnd >= self.inflight_longterm
    }

    /// InflightWithHeadroom; [`Bytes::MAX`] while there is no bound.
    pub(super) fn inflight_with_headroom(&self) -> Bytes {
        if self.inflight_longterm == Bytes::MAX {
            return Bytes::MAX;
        }
        let share = (self.inflight_longterm.get() as f64 * self.knobs.headroom) as u64;
        let headroom = Bytes(share).max(self.smss);
        self.inflight_longterm.saturating_sub(headroom).max(self.min_pipe_cwnd())
    }

    /// RaiseInflightLongtermSlope: by 1, 2, 4 .. segments a round trip.
    fn raise_slope(&mut self) {
        let growth_this_round = 1u64 << self.cycle.up_rounds;
        self.cycle.up_rounds = (self.cycle.up_rounds + 1).min(MAX_UP_ROUNDS);
        self.cycle.acked_per_step = Some((self.cwnd / growth_this_round).max(self.smss));
    }

    /// ProbeInflightLongtermUpward.
    fn probe_longterm_upward(&mut self, sample: &RateSample) {
        if !self.fills_longterm(sample) {
            return;
        }
        self.cycle.up_acked += sample.newly_acked;
        if let Some(per_step) = self.cycle.acked_per_step {
            let steps = self.cycle.up_acked.get() / per_step.get();
            self.cycle.up_acked -= per_step * steps;
            self.inflight_longterm += self.smss * steps;
        }
        if self.rounds.start {
            self.raise_slope();
        }
    }

    /// AdaptLongTermModel (§5.3.3.9). Whether it has already decided on the next state.
    fn adapt_long_term_model(&mut self, sample: &RateSample) -> bool {
        if self.cycle.acks == Acks::ProbeStarting && self.rounds.start {
            self.cycle.acks = Acks::ProbeFeedback;
        }
        if self.cycle.acks == Acks::ProbeStopping && self.rounds.start {
            self.cycle.probe_sample = false;
            self.cycle.acks = Acks::NotProbing;
            if self.is_probing_bw_state() && !sample.app_limited {
                self.max_bw.advance();
            }
            if self.is_probing_bw_state() && self.cycle.precautionary && !self.cycle.too_high {
                self.start_refill();
                return true;
            }
        }
        let bounded = self.inflight_longterm != Bytes::MAX;
        if bounded && !self.is_inflight_too_high(sample.lost_since_sent, sample.sent_in_flight) {
            self.inflight_longterm = self.inflight_longterm.max(sample.sent_in_flight);
            if self.state == State::ProbeBw(Phase::Up) {
                self.probe_longterm_upward(sample);
            }
        }
        false
    }
}
