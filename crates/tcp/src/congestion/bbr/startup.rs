//! Startup and Drain (draft-ietf-ccwg-bbr-06 §5.3.1, §5.3.2).

use super::control_parameters::percent_of_rate;
use super::{Bbr, State};
use crate::congestion::{LostSegment, RateSample, RecoveryPhase};
use ackord_units::{Rate, Time};

/// Whether the pipe is full: by a plateau of the delivery rate, or by loss.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// BBR.full_bw_reached.
    pub(super) reached: bool,
    /// BBR.full_bw_now.
    pub(super) now: bool,
    /// BBR.full_bw.
    pub(super) bw: Rate,
    /// BBR.full_bw_count.
    count: u32,
    /// The round trip in which the recovery under way began.
    pub(super) recovery_began_in: u64,
    /// Discontiguous ranges lost in this round trip.
    lost_ranges: u32,
    /// BBR.drain_start_round.
    drain_start_round: u64,
}

/// BBRStartupFullLossCnt (§5.3.1.3).
const STARTUP_FULL_LOSS_RANGES: u32 = 6;
/// Round trips without growth that make a plateau (§5.3.1.2).
const PLATEAU_ROUNDS: u32 = 3;

impl FullPipe {
    /// ResetFullBW, with the baseline to compare with.
    pub(super) fn reset(&mut self, bw: Rate) {
        self.bw = bw;
        self.count = 0;
        self.now = false;
    }

    pub(super) fn note_lost(&mut self, lost: &LostSegment) {
        if !lost.adjoins {
            self.lost_ranges += 1;
        }
    }
}

impl Bbr {
    /// CheckFullBWReached (§5.3.1.2).
    pub(super) fn check_full_pipe(&mut self, sample: &RateSample) {
        let full = &mut self.full_pipe;
        if full.now || !self.rounds.start || sample.app_limited {
            return;
        }
        let rate = sample.delivery_rate.unwrap_or_default();
        if rate >= percent_of_rate(full.bw, 125) {
            full.reset(rate);
            return;
        }
        full.count += 1;
        full.now = full.count >= PLATEAU_ROUNDS;
        full.reached |= full.now;
    }

    /// CheckStartupDone (§5.3.1.1).
    pub(super) fn check_startup_done(&mut self, sample: &RateSample) {
        self.check_startup_high_loss(sample);
        if self.state == State::Startup && self.full_pipe.reached {
            self.state = State::Drain;
            self.full_pipe.drain_start_round = self.rounds.count;
        }
    }

    /// CheckStartupHighLoss (§5.3.1.3).
    fn check_startup_high_loss(&mut self, sample: &RateSample) {
        let lost_ranges = self.full_pipe.lost_ranges;
        if self.latest.loss_round_start {
            self.full_pipe.lost_ranges = 0;
        }
        if self.state != State::Startup || sample.recovery_phase != RecoveryPhase::FastRecovery {
            return;
        }
        let too_much = if self.selective_acks {
            self.latest.loss_round_start
                && self.rounds.count > self.full_pipe.recovery_began_in
                && lost_ranges >= STARTUP_FULL_LOSS_RANGES
                && self.is_inflight_too_high(sample.lost_since_sent, sample.sent_in_flight)
        } else {
            lost_ranges > 0
        };
        if too_much {
            self.undo.state = Some(State::Startup);
            self.full_pipe.reached = true;
            self.inflight_longterm = self.bdp().max(self.latest.inflight);
        }
    }

    /// CheckDrainDone (§5.3.2).
    pub(super) fn check_drain_done(&mut self, now: Time, sample: &RateSample) {
        if self.state == State::Drain
            && (sample.in_flight <= self.inflight_at(self.bw)
                || self.rounds.count > self.full_pipe.drain_start_round + 3)
        {
            self.start_down(now);
        }
    }

    /// EnterStartup.
    pub(super) fn enter_startup(&mut self) {
        self.state = State::Startup;
    }
}
