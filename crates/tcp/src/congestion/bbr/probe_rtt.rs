//! The smallest round-trip time, ProbeRTT and the restart from idle
//! (draft-ietf-ccwg-bbr-06 §5.3.4, §5.4.1).

use super::probe_bw::Acks;
use super::{Bbr, State};
use crate::congestion::{RateSample, SampleAdvice};
use ackord_units::{Bytes, Span, Time};

/// BBR.min_rtt, and when to look for it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttProbe {
    /// BBR.min_rtt and BBR.min_rtt_stamp; nothing before the first sample.
    pub(super) min_rtt: Option<Span>,
    min_rtt_at: Time,
    /// BBR.probe_rtt_min_delay and BBR.probe_rtt_min_stamp.
    recent: Option<Span>,
    recent_at: Time,
    /// BBR.probe_rtt_expired.
    expired: bool,
    /// BBR.probe_rtt_done_stamp and BBR.probe_rtt_round_done.
    done_at: Option<Time>,
    round_done: bool,
    /// BBR.idle_restart.
    idle_restart: bool,
}

impl RttProbe {
    pub(super) fn new(now: Time, srtt: Option<Span>) -> RttProbe {
        RttProbe {
            min_rtt: srtt,
            min_rtt_at: now,
            recent: srtt,
            recent_at: now,
            expired: false,
            done_at: None,
            round_done: false,
            idle_restart: false,
        }
    }
}

impl Bbr {
    /// UpdateMinRTT (§5.3.4.3).
    pub(super) fn update_min_rtt(&mut self, now: Time, sample: &RateSample) {
        let rtt = &mut self.rtt;
        rtt.expired = now.saturating_since(rtt.recent_at) > self.knobs.probe_rtt_interval;
        if let Some(latest) = sample.rtt
            && (rtt.expired || rtt.recent.is_none_or(|recent| latest < recent))
        {
            rtt.recent = Some(latest);
            rtt.recent_at = now;
        }
        let outdated = now.saturating_since(rtt.min_rtt_at) > self.knobs.min_rtt_filter;
        let Some(recent) = rtt.recent else { return };
        if outdated || rtt.min_rtt.is_none_or(|min_rtt| recent < min_rtt) {
            rtt.min_rtt = Some(recent);
            rtt.min_rtt_at = rtt.recent_at;
        }
    }

    /// CheckProbeRTT.
    pub(super) fn check_probe_rtt(&mut self, now: Time, sample: &RateSample) -> SampleAdvice {
        if self.state != State::ProbeRtt && self.rtt.expired && !self.rtt.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt;
            self.rtt.done_at = None;
            self.cycle.acks = Acks::ProbeStopping;
            self.start_round();
        }
        let advice = if self.state == State::ProbeRtt {
            self.handle_probe_rtt(now, sample.in_flight);
            // Low rates are to be expected here, and tell nothing.
            SampleAdvice::MarkAppLimited
        } else {
            SampleAdvice::GoOn
        };
        if sample.delivered > Bytes::ZERO {
            self.rtt.idle_restart = false;
        }
        advice
    }

    /// HandleProbeRTT.
    fn handle_probe_rtt(&mut self, now: Time, in_flight: Bytes) {
        match self.rtt.done_at {
            None if in_flight <= self.probe_rtt_cwnd() => {
                self.rtt.done_at = Some(now + self.knobs.probe_rtt_duration);
                self.rtt.round_done = false;
                self.start_round();
            }
            None => {}
            Some(_) => {
                self.rtt.round_done |= self.rounds.start;
                if self.rtt.round_done {
                    self.check_probe_rtt_done(now);
                }
            }
        }
    }

    /// CheckProbeRTTDone, ExitProbeRTT.
    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.rtt.done_at.is_none_or(|done_at| now <= done_at) {
            return;
        }
        self.rtt.recent_at = now;
        self.restore_cwnd();
        self.reset_short_term_model();
        if self.full_pipe.reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// ProbeRTTCwnd (§5.6.4.5).
    pub(super) fn probe_rtt_cwnd(&self) -> Bytes {
        self.bdp_multiple(self.bw, 50).max(self.min_pipe_cwnd())
    }

    /// HandleRestartFromIdle (§5.4.1).
    pub(super) fn restart_from_idle(&mut self, now: Time) {
        self.rtt.idle_restart = true;
        self.aggregation.interval_start = now;
        if self.is_probing_bw_state() {
            self.set_pacing_rate(100);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }
}
