//! The control law: facts about the link in, a rate out.
//!
//! While the link queues, the bytes it delivers are its rate, and the shaper follows them. While it does not queue, the
//! shaper sends less than the link could, and raises its rate until a small queue forms. So the rate settles where the
//! delay stays a little above its baseline.

use super::baseline::Baseline;
use super::meter::LinkFacts;
use ackord_units::{Bytes, Rate, Span};
use std::collections::VecDeque;

/// A queue of so long behind the shaper is wanted: it shows the link's rate.
const WANTED: Span = Span::from_millis(20);
/// Packets whose transmission at the present rate is part of the wanted queue.
const PACKETS: u64 = 2;
/// Length of such a packet.
const PACKET: Bytes = Bytes(1_500);
/// The queue beyond the wanted one is to be gone after so long.
const DRAINED_IN: Span = Span::from_millis(150);
/// The least share of the delivered rate that a cut leaves.
const LEAST_SHARE: f64 = 0.3;
/// The least share of the present rate that one interval leaves: a gap in the link's schedule is no lower rate.
const LEAST_STEP: f64 = 0.7;
/// The highest increase per interval of [`RateControl::EVERY`], without any queue.
const INCREASE: f64 = 0.2;
/// The rate is at most so many times what was delivered, so that it cannot run away from traffic that is slower.
const AHEAD: f64 = 2.0;
/// From this share of the rate on the shaper is loaded.
const LOADED: f64 = 0.75;
/// Below this share it is idle, and no queue can be its doing.
const LIGHT: f64 = 0.4;
/// After so long without load the rate returns to where it starts.
const IDLE: Span = Span::from_secs(1);
/// The share of the way back to the start that is covered per interval.
const RETURNS_BY: f64 = 0.1;
/// The delivered rate is that of the last intervals: for so long at least, and for so many bytes, but no longer than that.
const WINDOW: (Span, Bytes, Span) = (Span::from_millis(80), Bytes(6_000), Span::from_millis(400));
/// Without an acknowledgment for so long beyond the baseline and the wanted queue the link stands still.
const STILL: Span = Span::from_millis(60);
/// Outstanding packets below which silence means nothing: a delayed ACK may hold one or two.
const STILL_PACKETS: u32 = 4;
/// The share of the rate that is left after an interval in which the link stands still, and the share of the rate before
/// that is left at least.
const STILL_SHARE: (f64, f64) = (0.5, 0.2);
/// The share of the delivered rate that is sent in a drain.
const DRAIN_SHARE: f64 = 0.5;
/// A higher share of retransmitted packets is a queue behind the shaper that overflows, not a lossy link.
const OVERFLOWS: f64 = 0.2;
/// Packets in an interval below which that share means nothing.
const OVERFLOW_PACKETS: u32 = 10;

/// Rates between which a shaper may follow its link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateLimits {
    /// The lowest rate.
    pub min: Rate,
    /// The highest rate.
    pub max: Rate,
    /// The rate at the start and after idle times.
    pub start: Rate,
}

impl RateLimits {
    /// Limits whose start is in the middle of a logarithmic scale.
    pub fn between(min: Rate, max: Rate) -> RateLimits {
        let [low, high] = [min, max].map(|rate| rate.as_bits_per_sec() as f64);
        RateLimits { min, max, start: Rate::from_bits_per_sec((low * high).sqrt() as u64) }
    }
}

/// Reason of a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RateReason {
    /// Loaded, and the delay is near its baseline: a raise.
    Raise,
    /// The link queues: a share of the rate it delivers.
    Bloat,
    /// Packets are lost in such numbers that a queue overflows: a little less than the rate delivered.
    Overflow,
    /// No acknowledgment arrives: a cut.
    Stall,
    /// The baseline was not observed for long: the queue is let run empty.
    Drain,
    /// There is little to send: a step back to the start.
    Idle,
    /// Loaded, and nothing shows the delay: a step back to the start.
    Unmeasured,
    /// Nothing calls for a change.
    Hold,
}

impl RateReason {
    /// All reasons.
    pub const ALL: [RateReason; 8] = [
        RateReason::Raise,
        RateReason::Bloat,
        RateReason::Overflow,
        RateReason::Stall,
        RateReason::Drain,
        RateReason::Idle,
        RateReason::Unmeasured,
        RateReason::Hold,
    ];

    /// The name in logs and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            RateReason::Raise => "raise",
            RateReason::Bloat => "bloat",
            RateReason::Overflow => "overflow",
            RateReason::Stall => "stall",
            RateReason::Drain => "drain",
            RateReason::Idle => "idle",
            RateReason::Unmeasured => "unmeasured",
            RateReason::Hold => "hold",
        }
    }
}

/// A rate, and the observations that led to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateDecision {
    /// The rate from now on.
    pub rate: Rate,
    /// Its reason.
    pub reason: RateReason,
    /// The delay behind the shaper in this interval; `None` without a sample.
    pub delay: Option<Span>,
    /// Its baseline; `None` before the first sample.
    pub baseline: Option<Span>,
    /// The rate that arrived at the mobile hosts.
    pub delivered: Rate,
    /// Bytes sent as a share of what the rate allowed.
    pub load: f64,
}

/// Follows a link: a pure function of the facts so far.
#[derive(Clone, Debug)]
pub struct RateControl {
    limits: RateLimits,
    /// bit/s.
    rate: f64,
    baseline: Baseline,
    recent: VecDeque<LinkFacts>,
    /// The rate before the stall under way, bit/s.
    before_stall: Option<f64>,
    /// Without load for so long.
    idle_for: Span,
    /// Loaded without a sample for so long.
    blind_for: Span,
}

impl RateControl {
    /// Interval between two decisions.
    pub const EVERY: Span = Span::from_millis(40);

    /// Returns a control at the start of its limits.
    pub fn new(limits: RateLimits) -> RateControl {
        let start = limits.start.as_bits_per_sec() as f64;
        RateControl {
            limits,
            rate: start,
            baseline: Baseline::default(),
            recent: VecDeque::new(),
            before_stall: None,
            idle_for: Span::ZERO,
            blind_for: Span::ZERO,
        }
    }

    /// The present rate.
    pub fn rate(&self) -> Rate {
        Rate::from_bits_per_sec(self.rate as u64)
    }

    /// Takes other limits; the baseline and the rate stay, the rate within the new limits.
    pub fn set_limits(&mut self, limits: RateLimits) {
        self.limits = limits;
        self.set(self.rate);
    }

    fn set(&mut self, rate: f64) {
        let [min, max] =
            [self.limits.min, self.limits.max].map(|rate| rate.as_bits_per_sec() as f64);
        self.rate = rate.clamp(min, max.max(min));
    }

    /// Decides by the facts of an interval. `applied` is the rate that the shaper had in it: another than the last
    /// decision if decisions are only reported.
    pub fn decide(&mut self, facts: &LinkFacts, applied: Rate) -> RateDecision {
        self.remember(facts);
        let load = load(facts, applied);
        let delivered = self.delivered();
        let wanted = WANTED + applied.time_for(Bytes(PACKETS * PACKET.get()));
        let is_light = load < LIGHT;
        // A bound cannot show a queue; a low one shows that there is none.
        let known = self.baseline.value();
        let low_bound =
            facts.delay_bound.filter(|bound| known.is_none_or(|it| *bound <= it + wanted));
        let delay = [facts.delay, low_bound].into_iter().flatten().min();
        self.baseline.observe(facts.at, delay, wanted, is_light);
        self.idle_for = if is_light { self.idle_for + facts.over } else { Span::ZERO };
        let is_blind = delay.is_none() && load >= LOADED;
        self.blind_for = if is_blind { self.blind_for + facts.over } else { Span::ZERO };
        let queued = delay.zip(self.baseline.value());
        let queued = queued.map(|(delay, baseline)| delay.saturating_sub(baseline));
        let reason = self.act(facts, (load, delivered), (queued, wanted));
        RateDecision {
            rate: self.rate(),
            reason,
            delay,
            baseline: self.baseline.value(),
            delivered: Rate::from_bits_per_sec(delivered as u64),
            load,
        }
    }

    fn act(
        &mut self,
        facts: &LinkFacts,
        (load, delivered): (f64, f64),
        (queued, wanted): (Option<Span>, Span),
    ) -> RateReason {
        let allowed = self.baseline.value().unwrap_or(Span::ZERO) + wanted + STILL;
        if facts.outstanding >= STILL_PACKETS && facts.quiet > allowed {
            let (step, least) = STILL_SHARE;
            let before = *self.before_stall.get_or_insert(self.rate);
            self.set((self.rate * step).max(before * least));
            return RateReason::Stall;
        }
        if facts.delivered > Bytes::ZERO {
            self.before_stall = None;
        }
        if load >= LOADED && self.baseline.drain_if_due(facts.at) {
            self.set(delivered.min(self.rate) * DRAIN_SHARE);
        }
        if self.baseline.is_draining() {
            return RateReason::Drain;
        }
        let lost = f64::from(facts.lost) / f64::from(facts.packets.max(1));
        if facts.packets >= OVERFLOW_PACKETS && lost > OVERFLOWS && delivered < self.rate {
            self.set(delivered * 0.95);
            return RateReason::Overflow;
        }
        match queued {
            Some(queued) if queued > wanted => {
                let excess = queued.saturating_sub(wanted).as_secs_f64();
                let share = (1.0 - excess / DRAINED_IN.as_secs_f64()).max(LEAST_SHARE);
                self.set((delivered * share).max(self.rate * LEAST_STEP));
                RateReason::Bloat
            }
            Some(queued) if load >= LOADED => {
                let room = 1.0 - queued.as_secs_f64() / wanted.as_secs_f64();
                let intervals = facts.over.as_secs_f64() / RateControl::EVERY.as_secs_f64();
                let raised = self.rate * (1.0 + INCREASE * room * intervals.min(2.0));
                self.set(raised.min(self.rate.max(AHEAD * delivered)));
                RateReason::Raise
            }
            None if self.blind_for >= IDLE => self.step_back(RateReason::Unmeasured),
            _ if self.idle_for >= IDLE => self.step_back(RateReason::Idle),
            _ => RateReason::Hold,
        }
    }

    fn step_back(&mut self, reason: RateReason) -> RateReason {
        let start = self.limits.start.as_bits_per_sec() as f64;
        self.set(self.rate + RETURNS_BY * (start - self.rate));
        reason
    }

    fn remember(&mut self, facts: &LinkFacts) {
        self.recent.push_back(*facts);
        let (least, bytes, longest) = WINDOW;
        while self.recent.len() > 1 {
            let rest = self.recent.iter().skip(1);
            let over = rest.clone().fold(Span::ZERO, |sum, one| sum + one.over);
            let delivered: Bytes = rest.map(|one| one.delivered).sum();
            if over < least || delivered < bytes && over < longest {
                break;
            }
            self.recent.pop_front();
        }
    }

    /// The rate that arrived at the mobile hosts, bit/s; traffic that is not measured is taken to arrive like the rest.
    fn delivered(&self) -> f64 {
        let sum = |of: fn(&LinkFacts) -> Bytes| -> f64 {
            self.recent.iter().map(of).sum::<Bytes>().get() as f64
        };
        let over: f64 = self.recent.iter().map(|one| one.over.as_secs_f64()).sum();
        let (sent, measured) = (sum(|one| one.sent), sum(|one| one.sent_measured));
        let scale = if measured > 0.0 { (sent / measured).max(1.0) } else { 1.0 };
        if over > 0.0 { 8.0 * sum(|one| one.delivered) * scale / over } else { 0.0 }
    }
}

/// Bytes sent as a share of what `rate` allowed.
fn load(facts: &LinkFacts, rate: Rate) -> f64 {
    let allowed = rate.as_bits_per_sec() as f64 * facts.over.as_secs_f64();
    if allowed > 0.0 { 8.0 * facts.sent.get() as f64 / allowed } else { 0.0 }
}
