//! BBR version 3, as draft-ietf-ccwg-bbr-06 has it: a model of the path (the largest delivery rate,
//! the smallest round-trip time) decides pacing rate and window; loss bounds both.
//!
//! | file | what (section of the draft) |
//! | --- | --- |
//! | `startup.rs` | Startup and Drain (5.3.1, 5.3.2) |
//! | `probe_bw.rs` | the bandwidth-probing cycle: Down, Cruise, Refill, Up (5.3.3) |
//! | `probe_rtt.rs` | min_rtt, ProbeRTT, restart from idle (5.3.4, 5.4) |
//! | `bounds.rs` | what loss does to the model, and its undoing (5.5.10, 5.5.11) |
//! | `control_parameters.rs` | pacing rate, quantum and window (5.6) |
//! | `filters.rs` | windowed maxima; chance |
//!
//! Here: the order of the steps (5.2), the round-trip count (5.5.1), aggregation
//! (5.5.9). Rates and volumes are whole bits per second and bytes, gains percent.
//!
//! Where the draft leaves a choice: the send quantum that the sender uses is one segment, while the
//! offload budget follows the draft's formula with its floor of two; a cycle without a sample does
//! not advance the bandwidth filter; chance comes from the initial sequence number, so that runs
//! repeat; without a round-trip sample from the handshake the first pacing rate is worked out anew
//! at the first sample. Where a recovery by slow start is asked for (recovery `tahoe`) the window
//! falls as after a timeout.
//!
//! Marks (RFC 3168), to which the draft has no response, count as loss in their round trip and, while
//! bandwidth is probed for, as too much of it: RFC 3168 asks for the answer to a loss, and no echo
//! says how many packets were marked.
//!
//! Not here: pacing of the initial window by anything but the handshake's round-trip time.

mod bounds;
mod control_parameters;
mod filters;
mod probe_bw;
mod probe_rtt;
mod startup;

use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, Established, LossAnswer,
    LossResponse, LostSegment, PathModel, RateSample, RecoveryPhase, SampleAdvice,
};
use ackord_units::{Bytes, Knobs, Rate, Span, Time};
use bounds::{LatestDelivery, Undo};
use filters::{Chance, EXTRA_ACKED_FILTER_LEN, ExtraAcked, MaxBandwidth};
use probe_bw::Cycle;
use probe_rtt::RttProbe;
use startup::FullPipe;

/// A model of the path, its bandwidth and round trip, sets pacing rate and window (version 3)
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "congestion", name = "bbr", source = "draft-ietf-ccwg-bbr-06")]
pub struct BbrConfig {
    /// Share of a round trip's data that a bandwidth probe may lose
    #[knob(
        min = 0.0,
        max = 0.5,
        default = "0.02",
        source = "draft-ietf-ccwg-bbr-06 §2.8 (BBR.LossThresh)"
    )]
    pub loss_thresh: f64,
    /// What is left of the short-term bounds after a round trip with loss, at least
    #[knob(
        min = 0.1,
        max = 1.0,
        default = "0.7",
        source = "draft-ietf-ccwg-bbr-06 §2.8 (BBR.Beta)"
    )]
    pub beta: f64,
    /// Share of inflight_longterm that is left to others between probes
    #[knob(
        min = 0.0,
        max = 0.9,
        default = "0.15",
        source = "draft-ietf-ccwg-bbr-06 §2.8 (BBR.Headroom)"
    )]
    pub headroom: f64,
    /// Pacing gain of Startup
    #[knob(
        min = 1.0,
        max = 10.0,
        default = "2.77",
        source = "draft-ietf-ccwg-bbr-06 §2.5 (BBR.StartupPacingGain)"
    )]
    pub startup_pacing_gain: f64,
    /// How long a smallest round-trip time is believed
    #[knob(
        min = Span::from_millis(100), max = Span::from_secs(3600), default = "10 s",
        source = "draft-ietf-ccwg-bbr-06 §2.16.1 (BBR.MinRTTFilterLen)"
    )]
    pub min_rtt_filter: Span,
    /// How long without a smaller round-trip time until one is looked for
    #[knob(
        min = Span::from_millis(100), max = Span::from_secs(3600), default = "5 s",
        source = "draft-ietf-ccwg-bbr-06 §2.16.2 (BBR.ProbeRTTInterval; other values do not coordinate with \
                  other senders)"
    )]
    pub probe_rtt_interval: Span,
    /// How long little is kept in flight to find it, at least
    #[knob(
        min = Span::from_millis(1), max = Span::from_secs(10), default = "200 ms",
        source = "draft-ietf-ccwg-bbr-06 §2.16.2 (BBR.ProbeRTTDuration)"
    )]
    pub probe_rtt_duration: Span,
    /// Shortest wait between bandwidth probes
    #[knob(
        min = Span::ZERO, max = Span::from_secs(600), default = "2 s",
        source = "draft-ietf-ccwg-bbr-06 §5.3.3.8.2 (T_bbr)"
    )]
    pub probe_wait_min: Span,
    /// Longest wait between bandwidth probes; the wait is drawn between the two
    #[knob(
        min = Span::ZERO, max = Span::from_secs(600), default = "3 s",
        source = "draft-ietf-ccwg-bbr-06 §5.3.3.8.2 (T_bbr)"
    )]
    pub probe_wait_max: Span,
}

impl CongestionConfig for BbrConfig {
    fn build(&self) -> Box<dyn CongestionControl> {
        Box::new(Bbr::new(*self))
    }
}

/// BBR.state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    ProbeBw(Phase),
    ProbeRtt,
}

/// The phases of ProbeBW.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Down,
    Cruise,
    Refill,
    Up,
}

/// Packet-timed round trips (§5.5.1).
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    /// BBR.next_round_delivered.
    next_delivered: Bytes,
    /// BBR.round_count.
    count: u64,
    /// BBR.round_start.
    start: bool,
    /// C.delivered, as last heard.
    delivered: Bytes,
}

/// The excess over the expected rate of acknowledgment (§5.5.9).
#[derive(Clone, Copy, Debug)]
struct Aggregation {
    interval_start: Time,
    delivered: Bytes,
    filter: ExtraAcked,
}

/// Model-based congestion control.
#[derive(Clone, Debug)]
pub struct Bbr {
    knobs: BbrConfig,
    smss: Bytes,
    initial_window: Bytes,
    selective_acks: bool,
    chance: Chance,
    state: State,
    rounds: Rounds,
    max_bw: MaxBandwidth,
    /// BBR.bw.
    bw: Rate,
    /// BBR.bw_shortterm and the two inflight bounds; nothing and [`Bytes::MAX`] where the draft has
    /// infinity.
    bw_shortterm: Option<Rate>,
    inflight_shortterm: Bytes,
    inflight_longterm: Bytes,
    latest: LatestDelivery,
    undo: Undo,
    full_pipe: FullPipe,
    cycle: Cycle,
    rtt: RttProbe,
    aggregation: Aggregation,
    cwnd: Bytes,
    /// BBR.prior_cwnd.
    prior_cwnd: Bytes,
    recovery_phase: RecoveryPhase,
    pacing_rate: Rate,
    /// Whether the first pacing rate came from a measured round trip.
    paced_by_rtt: bool,
}

impl Bbr {
    /// A control with these constants.
    pub fn new(knobs: BbrConfig) -> Bbr {
        Bbr {
            knobs,
            smss: Bytes(1),
            initial_window: Bytes(1),
            selective_acks: false,
            chance: Chance::new(0),
            state: State::Startup,
            rounds: Rounds::default(),
            max_bw: MaxBandwidth::default(),
            bw: Rate::default(),
            bw_shortterm: None,
            inflight_shortterm: Bytes::MAX,
            inflight_longterm: Bytes::MAX,
            latest: LatestDelivery::default(),
            undo: Undo::default(),
            full_pipe: FullPipe::default(),
            cycle: Cycle::default(),
            rtt: RttProbe::new(Time::ZERO, None),
            aggregation: Aggregation {
                interval_start: Time::ZERO,
                delivered: Bytes::ZERO,
                filter: ExtraAcked::default(),
            },
            cwnd: Bytes(1),
            prior_cwnd: Bytes::ZERO,
            recovery_phase: RecoveryPhase::Open,
            pacing_rate: Rate::default(),
            paced_by_rtt: false,
        }
    }

    /// UpdateRound (§5.5.1).
    fn update_round(&mut self, sample: &RateSample) {
        self.rounds.start = sample.prior_delivered >= self.rounds.next_delivered;
        if self.rounds.start {
            self.start_round();
            self.rounds.count += 1;
            self.cycle.rounds_since_probe += 1;
        }
    }

    /// StartRound.
    fn start_round(&mut self) {
        self.rounds.next_delivered = self.rounds.delivered;
    }

    /// UpdateMaxBw (§5.5.5).
    fn update_max_bw(&mut self, sample: &RateSample) {
        self.update_round(sample);
        if let Some(rate) = sample.delivery_rate
            && (rate >= self.max_bw.get() || !sample.app_limited)
        {
            self.max_bw.update(rate);
        }
    }

    /// UpdateACKAggregation (§5.5.9).
    fn update_aggregation(&mut self, now: Time, sample: &RateSample) {
        let Aggregation { interval_start, delivered, filter } = &mut self.aggregation;
        let mut expected = self.bw.bytes_in(now.saturating_since(*interval_start));
        if *delivered <= expected {
            *delivered = Bytes::ZERO;
            *interval_start = now;
            expected = Bytes::ZERO;
        }
        *delivered += sample.newly_acked;
        filter.update(self.rounds.count, delivered.saturating_sub(expected).min(self.cwnd));
    }

    fn extra_acked(&self) -> Bytes {
        let length = if self.full_pipe.reached { EXTRA_ACKED_FILTER_LEN } else { 1 };
        self.aggregation.filter.max(self.rounds.count, length)
    }

    /// SaveCwnd (§5.6.4.4).
    fn save_cwnd(&mut self) {
        let unmodulated =
            self.recovery_phase == RecoveryPhase::Open && self.state != State::ProbeRtt;
        self.prior_cwnd = if unmodulated { self.cwnd } else { self.prior_cwnd.max(self.cwnd) };
    }

    /// RestoreCwnd.
    fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// OnEnterFastRecovery and OnEnterRTO (§5.6.4.4).
    fn enter_recovery(&mut self, recovery_phase: RecoveryPhase) {
        self.save_cwnd();
        self.save_state_upon_loss();
        if self.recovery_phase == RecoveryPhase::Open {
            self.full_pipe.recovery_began_in = self.rounds.count;
        }
        self.recovery_phase = recovery_phase;
        if recovery_phase == RecoveryPhase::Timeout {
            // "Inflight and one segment", and everything in flight counts as lost.
            self.cwnd = self.smss;
        }
    }

    fn exit_recovery(&mut self) {
        if self.recovery_phase != RecoveryPhase::Open {
            self.recovery_phase = RecoveryPhase::Open;
            self.restore_cwnd();
        }
    }
}

impl CongestionControl for Bbr {
    fn on_established(&mut self, now: Time, sizes: Established) {
        *self = Bbr::new(self.knobs);
        self.smss = sizes.smss;
        self.initial_window = sizes.initial_window;
        self.cwnd = sizes.initial_window;
        self.selective_acks = sizes.selective_acks;
        self.chance = Chance::new(u64::from(sizes.iss.0));
        self.rtt = RttProbe::new(now, sizes.srtt);
        self.aggregation.interval_start = now;
        self.init_pacing_rate(sizes.srtt);
    }

    fn on_ack(&mut self, _now: Time, _ack: &AckSample) {
        // Everything comes with the delivery-rate samples.
    }

    fn on_congestion(&mut self, now: Time, event: CongestionEvent) {
        match event {
            CongestionEvent::Loss { response: LossResponse::FastRecovery, .. } => {
                self.enter_recovery(RecoveryPhase::FastRecovery);
            }
            CongestionEvent::Mark { flight_size } => self.note_mark(now, flight_size),
            CongestionEvent::Loss { response: LossResponse::SlowStart, .. }
            | CongestionEvent::Timeout { .. } => self.enter_recovery(RecoveryPhase::Timeout),
            CongestionEvent::Undone { cwnd, .. } => {
                self.recovery_phase = RecoveryPhase::Open;
                self.on_spurious();
                self.cwnd = cwnd.max(self.smss);
            }
            CongestionEvent::Recovered { .. } => self.exit_recovery(),
            // §5.4.1: after an idle time the window stays, and the rate is the model's.
            CongestionEvent::Restart { .. } => {}
        }
    }

    fn cwnd(&self) -> Bytes {
        self.cwnd
    }

    fn ssthresh(&self) -> Bytes {
        // There is none: the model bounds the window.
        Bytes::MAX
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.pacing_rate)
    }

    fn loss_answer(&self) -> LossAnswer {
        LossAnswer::OwnWindow
    }

    fn path_model(&mut self) -> Option<&mut dyn PathModel> {
        Some(self)
    }
}

impl PathModel for Bbr {
    /// UpdateOnACK (§5.2.3), in the draft's order.
    fn on_rate_sample(&mut self, now: Time, sample: &RateSample) -> SampleAdvice {
        self.rounds.delivered = sample.total_delivered;
        if sample.recovery_phase == RecoveryPhase::Open {
            self.exit_recovery();
        }
        if !self.paced_by_rtt && sample.rtt.is_some() {
            self.init_pacing_rate(sample.rtt);
        }
        self.update_latest_delivery(sample);
        self.update_congestion_signals(sample);
        self.update_aggregation(now, sample);
        self.check_full_pipe(sample);
        self.check_startup_done(sample);
        self.check_drain_done(now, sample);
        self.update_cycle(now, sample);
        self.update_min_rtt(now, sample);
        let advice = self.check_probe_rtt(now, sample);
        self.advance_latest_delivery(sample);
        let max_bw = self.max_bw.get();
        self.bw = self.bw_shortterm.map_or(max_bw, |shortterm| max_bw.min(shortterm));
        self.set_pacing_rate(self.pacing_gain_percent());
        self.set_cwnd(sample);
        advice
    }

    fn on_segment_lost(&mut self, now: Time, lost: &LostSegment) {
        self.handle_lost(now, lost);
    }

    fn on_restart_from_idle(&mut self, now: Time) {
        self.restart_from_idle(now);
    }
}

#[cfg(test)]
mod tests;
