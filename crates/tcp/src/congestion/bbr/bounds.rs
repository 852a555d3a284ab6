//! What loss does to the model, and what is given back when it was none
//! (draft-ietf-ccwg-bbr-06 §5.5.10, §5.5.11, §5.6.4.7).

use super::{Bbr, Phase, State};
use crate::congestion::{LostSegment, RateSample};
use ackord_units::{Bytes, Rate, Time};

/// The delivery process of the last round trip (§5.5.10.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LatestDelivery {
    /// BBR.bw_latest.
    bw: Rate,
    /// BBR.inflight_latest.
    pub(super) inflight: Bytes,
    /// BBR.loss_round_delivered.
    loss_round_delivered: Bytes,
    /// BBR.loss_round_start.
    pub(super) loss_round_start: bool,
    /// BBR.is_loss_in_round.
    loss_in_round: bool,
}

/// What a spurious recovery gives back (§2.15).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    pub(super) state: Option<State>,
    bw_shortterm: Option<Option<Rate>>,
    inflight_shortterm: Bytes,
    inflight_longterm: Bytes,
}

impl Bbr {
    /// UpdateLatestDeliverySignals.
    pub(super) fn update_latest_delivery(&mut self, sample: &RateSample) {
        let latest = &mut self.latest;
        latest.bw = latest.bw.max(sample.delivery_rate.unwrap_or_default());
        latest.inflight = latest.inflight.max(sample.delivered);
        latest.loss_round_start = sample.prior_delivered >= latest.loss_round_delivered;
        if latest.loss_round_start {
            latest.loss_round_delivered = sample.total_delivered;
        }
    }

    /// AdvanceLatestDeliverySignals.
    pub(super) fn advance_latest_delivery(&mut self, sample: &RateSample) {
        if self.latest.loss_round_start {
            self.latest.bw = sample.delivery_rate.unwrap_or_default();
            self.latest.inflight = sample.delivered;
        }
    }

    /// ResetCongestionSignals.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.latest.loss_in_round = false;
        self.latest.bw = Rate::default();
        self.latest.inflight = Bytes::ZERO;
    }

    /// UpdateCongestionSignals, AdaptLowerBoundsFromCongestion.
    pub(super) fn update_congestion_signals(&mut self, sample: &RateSample) {
        self.update_max_bw(sample);
        if !self.latest.loss_round_start {
            return;
        }
        if self.latest.loss_in_round && !self.is_probing_for_more() {
            self.lower_short_term_model();
        }
        self.latest.loss_in_round = false;
    }

    /// IsProbingBW: the states that seek more bandwidth and so expect some loss.
    fn is_probing_for_more(&self) -> bool {
        matches!(self.state, State::Startup | State::ProbeBw(Phase::Refill | Phase::Up))
    }

    /// InitLowerBounds and LossLowerBounds.
    fn lower_short_term_model(&mut self) {
        let beta = self.knobs.beta;
        let bw = self.bw_shortterm.unwrap_or(self.max_bw.get());
        let reduced = Rate::from_bits_per_sec((bw.as_bits_per_sec() as f64 * beta) as u64);
        self.bw_shortterm = Some(self.latest.bw.max(reduced));
        let inflight = match self.inflight_shortterm {
            Bytes::MAX => self.cwnd,
            bound => bound,
        };
        let reduced = Bytes((inflight.get() as f64 * beta) as u64);
        self.inflight_shortterm = self.latest.inflight.max(reduced);
    }

    /// ResetShortTermModel.
    pub(super) fn reset_short_term_model(&mut self) {
        self.bw_shortterm = None;
        self.inflight_shortterm = Bytes::MAX;
    }

    /// IsInflightTooHigh (§5.5.10.2).
    pub(super) fn is_inflight_too_high(&self, lost: Bytes, sent_in_flight: Bytes) -> bool {
        let tolerated = sent_in_flight.get() as f64 * self.knobs.loss_thresh;
        lost.get() as f64 > tolerated || (lost > Bytes::ZERO && !self.selective_acks)
    }

    /// HandleLostPacket (§5.5.10.2).
    pub(super) fn handle_lost(&mut self, now: Time, lost: &LostSegment) {
        self.rounds.delivered = lost.total_delivered;
        self.full_pipe.note_lost(lost);
        if !self.latest.loss_in_round {
            self.latest.loss_round_delivered = lost.total_delivered;
            self.save_cwnd();
            self.save_state_upon_loss();
        }
        self.latest.loss_in_round = true;
        if self.cycle.probe_sample
            && self.is_inflight_too_high(lost.lost_since_sent, lost.sent_in_flight)
        {
            let inflight = self.inflight_at_loss(lost);
            self.handle_inflight_too_high(now, inflight, lost.app_limited);
        }
    }

    /// A mark came back with so much in flight: the round trip counts as one with loss, and a probe
    /// has gone too far. Nothing was lost, so that there is nothing to be given back.
    pub(super) fn note_mark(&mut self, now: Time, flight_size: Bytes) {
        if !self.latest.loss_in_round {
            self.latest.loss_round_delivered = self.rounds.delivered;
            self.save_cwnd();
        }
        self.latest.loss_in_round = true;
        if self.cycle.probe_sample {
            self.handle_inflight_too_high(now, flight_size, false);
        }
    }

    /// InflightAtLoss: what was in flight when losses crossed the threshold.
    fn inflight_at_loss(&self, lost: &LostSegment) -> Bytes {
        let inflight_before = lost.sent_in_flight.saturating_sub(lost.bytes).get() as f64;
        let lost_before = lost.lost_since_sent.saturating_sub(lost.bytes).get() as f64;
        let thresh = self.knobs.loss_thresh;
        let prefix = (thresh * inflight_before - lost_before) / (1.0 - thresh);
        Bytes((inflight_before + prefix).max(0.0) as u64)
    }

    /// HandleInflightTooHigh.
    fn handle_inflight_too_high(&mut self, now: Time, inflight: Bytes, limited: bool) {
        self.cycle.too_high = true;
        self.cycle.probe_sample = false;
        if !limited {
            let least = self.target_inflight().get() as f64 * self.knobs.beta;
            self.inflight_longterm = inflight.max(Bytes(least as u64));
        }
        if self.state == State::ProbeBw(Phase::Up) {
            self.undo.state = Some(self.state);
            self.start_down(now);
        }
    }

    /// SaveStateUponLoss (§5.5.11.1), save for cwnd.
    pub(super) fn save_state_upon_loss(&mut self) {
        self.undo = Undo {
            state: None,
            bw_shortterm: Some(self.bw_shortterm),
            inflight_shortterm: self.inflight_shortterm,
            inflight_longterm: self.inflight_longterm,
        };
    }

    /// HandleSpuriousLossDetection (§5.5.11.2).
    pub(super) fn on_spurious(&mut self) {
        self.restore_cwnd();
        self.latest.loss_in_round = false;
        self.full_pipe.reset(Rate::default());
        let Some(before) = self.undo.bw_shortterm.take() else { return };
        // Nothing stands for infinity, which is larger than any rate.
        self.bw_shortterm = self.bw_shortterm.zip(before).map(|(one, other)| one.max(other));
        self.inflight_shortterm = self.inflight_shortterm.max(self.undo.inflight_shortterm);
        self.inflight_longterm = self.inflight_longterm.max(self.undo.inflight_longterm);
        let was = self.undo.state.take();
        if was == Some(State::Startup) && self.state != State::Startup {
            self.full_pipe.reached = false;
            if self.state != State::ProbeRtt {
                self.enter_startup();
            }
        } else if was == Some(State::ProbeBw(Phase::Up))
            && was != Some(self.state)
            && self.state != State::ProbeRtt
        {
            self.start_refill();
        }
    }

    /// BoundCwndForModel (§5.6.4.7).
    pub(super) fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::ProbeBw(Phase::Cruise) | State::ProbeRtt => self.inflight_with_headroom(),
            State::ProbeBw(_) => self.inflight_longterm,
            State::Startup | State::Drain => Bytes::MAX,
        };
        let cap = cap.min(self.inflight_shortterm).max(self.min_pipe_cwnd());
        self.cwnd = self.cwnd.min(cap);
    }
}
