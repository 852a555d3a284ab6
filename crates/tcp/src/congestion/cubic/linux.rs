//! CUBIC as Linux counts it: whole segments, whole ticks, and a pace that is looked up anew only so
//! often.
//!
//! The curve, K and the Reno-friendly window are those of RFC 9438. What differs, and shows where
//! windows are of ten segments or so: ssthresh and W_max are whole segments, rounded down
//! (bictcp_recalc_ssthresh), so that each reduction takes half a segment more; the number of
//! acknowledged segments for which cwnd grows by one is a whole number, rounded down; and while cwnd
//! stands still that number is worked out at most once in 32 ms (bictcp_update), which holds the
//! Reno-friendly window back. alpha_cubic is 8/15 and never becomes one (§4.3); while no window of a
//! loss is known cwnd grows by a twentieth a round trip at least; what a timeout forgets, and a
//! reduction has changed, stays so if it is undone (§4.9); the curve is looked up the least round
//! trip ahead (§4.2).
//!
//! Not modelled: a tick other than 4 ms (HZ=250), and its phase, which here is that of the run.

use super::super::hystart::{SlowStart, SlowStartPace, SlowStartWatch};
use super::super::{
    AckSample, CongestionControl, CongestionEvent, Established, Growth, LossResponse, SendLimit,
    TimeoutOrder, Window,
};
use super::{CubicConfig, cube_root};
use ackord_units::{Bytes, Span, Time};

/// HZ of the kernel that is modelled: of the counters here only time goes by it.
const HZ: u64 = 250;
const TICK: Span = Span::from_nanos(1_000_000_000 / HZ);
/// For so many ticks the pace holds while cwnd stands still: HZ/32.
const PACE_HOLDS: u64 = HZ / 32;
/// Acknowledged segments for each that cwnd grows by while no window of a loss is known, at most.
const UNKNOWN: u64 = 20;
/// Parts into which beta, C and times are cut.
const PARTS: f64 = 1024.0;

/// CUBIC by Linux's count.
#[derive(Clone, Debug)]
pub(in super::super) struct LinuxCubic {
    knobs: CubicConfig,
    growth: Growth,
    window: Window,
    /// W_max in segments, once there was a loss; zero before, and after a timeout.
    w_max: u64,
    epoch: Option<Epoch>,
    pace: Pace,
    /// Segments acknowledged that do not yet make one more (snd_cwnd_cnt).
    counted: u64,
    /// Bytes acknowledged that do not yet make a segment.
    rest: Bytes,
    /// When an acknowledgment last opened cwnd, and what it was before: one that shows congestion
    /// opens nothing.
    opened: Option<(Time, Bytes)>,
    /// When everything was acknowledged last, if nothing has been acknowledged since.
    idle_since: Option<Time>,
    watch: SlowStartWatch,
}

/// A congestion avoidance stage (§4.2), times in ticks.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: u64,
    /// K, in parts of a second.
    k: u64,
    origin: u64,
    /// The window Reno would have.
    friendly: u64,
    /// Segments acknowledged towards its next one.
    towards: u64,
}

/// For how many acknowledged segments cwnd grows by one, and when that was worked out.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    segments: u64,
    of_cwnd: u64,
    looked_up: u64,
}

impl LinuxCubic {
    pub(in super::super) fn new(knobs: CubicConfig) -> LinuxCubic {
        LinuxCubic {
            watch: SlowStartWatch::new(knobs.hystart),
            growth: knobs.growth(),
            knobs,
            window: Window::new(),
            w_max: 0,
            epoch: None,
            pace: Pace::default(),
            counted: 0,
            rest: Bytes::ZERO,
            opened: None,
            idle_since: None,
        }
    }

    fn cwnd_segments(&self) -> u64 {
        self.window.cwnd.get() / self.window.smss.get()
    }

    /// Whole segments of what an acknowledgment delivers; the rest waits for the next.
    fn whole_segments(&mut self, bytes: Bytes) -> u64 {
        let bytes = bytes + self.rest;
        let segments = bytes.get() / self.window.smss.get();
        self.rest = bytes - self.window.smss * segments;
        segments
    }

    fn avoid(&mut self, now: Time, acked: u64) {
        let cwnd = self.cwnd_segments();
        self.look_up_pace(now, cwnd, acked);
        let pace = self.pace.segments;
        let mut grown = 0;
        if self.counted >= pace {
            // Counted for a slower pace: it makes one segment, no more.
            (self.counted, grown) = (0, 1);
        }
        self.counted += acked;
        grown += self.counted / pace;
        self.counted %= pace;
        self.window.cwnd += self.window.smss * grown;
    }

    fn look_up_pace(&mut self, now: Time, cwnd: u64, acked: u64) {
        let tick = now.as_nanos() / TICK.as_nanos();
        if let Some(epoch) = &mut self.epoch {
            epoch.towards += acked;
        }
        let since = tick.saturating_sub(self.pace.looked_up);
        let known = self.pace.segments > 0;
        if known && self.pace.of_cwnd == cwnd && since <= PACE_HOLDS {
            return;
        }
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(tick, cwnd, acked));
        // Within a tick the curve stands still.
        if !known || self.epoch.is_none() || since > 0 {
            (self.pace.of_cwnd, self.pace.looked_up) = (cwnd, tick);
            self.pace.segments = self.towards_curve(&epoch, tick, cwnd);
        }
        // alpha_cubic in eighths: 3 (1 - beta) / (1 + beta) is 8/15 for 0.7.
        let beta = self.beta_parts();
        let fifteen = 8 * (1024 + beta) / 3 / (1024 - beta);
        let for_one = (cwnd * fifteen / 8).max(1);
        let friendlier = epoch.towards.saturating_sub(1) / for_one;
        epoch.towards -= friendlier * for_one;
        epoch.friendly += friendlier;
        if epoch.friendly > cwnd {
            self.pace.segments = self.pace.segments.min(cwnd / (epoch.friendly - cwnd));
        }
        self.pace.segments = self.pace.segments.max(2);
        self.epoch = Some(epoch);
    }

    fn begin_epoch(&self, tick: u64, cwnd: u64, acked: u64) -> Epoch {
        let distance = self.w_max.saturating_sub(cwnd);
        let k = cube_root(distance as f64 / self.knobs.c) * PARTS;
        Epoch {
            began: tick,
            k: k as u64,
            origin: self.w_max.max(cwnd),
            friendly: cwnd,
            towards: acked,
        }
    }

    /// Eq. 1 one least round trip ahead, as a number of segments to be acknowledged.
    fn towards_curve(&self, epoch: &Epoch, tick: u64, cwnd: u64) -> u64 {
        let ahead =
            self.watch.delay_min().map_or(0, |rtt| rtt.as_nanos().div_ceil(TICK.as_nanos()));
        let parts = (tick - epoch.began.min(tick) + ahead) * 1024 / HZ;
        let away = parts.abs_diff(epoch.k) as f64 / PARTS;
        // The distance to the plateau is cut off to whole segments.
        let distance = (self.knobs.c * away * away * away) as u64;
        let target = match parts < epoch.k {
            true => epoch.origin.saturating_sub(distance),
            false => epoch.origin.saturating_add(distance),
        };
        let pace = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.saturating_mul(100) };
        if self.w_max == 0 { pace.min(UNKNOWN) } else { pace }
    }

    fn beta_parts(&self) -> u64 {
        ((self.knobs.beta * PARTS).round() as u64).clamp(1, 1023)
    }

    fn slow_start(&mut self, now: Time, ack: &AckSample, pace: SlowStartPace) {
        let Window { smss, cwnd, ssthresh, after } = self.window;
        let initial = ssthresh == Bytes::MAX;
        let step = match self.watch.limit(smss, initial) {
            Some(limit) => ack.delivered.min(limit),
            None => self.growth.slow_start_step(ack.delivered, smss, after),
        };
        let step = if let SlowStartPace::Divided(divisor) = pace { step / divisor } else { step };
        self.window.slow_start_by(step);
        let left = self.growth.left_over(ack.delivered, self.window.cwnd - cwnd);
        if left > Bytes::ZERO && self.window.cwnd == ssthresh {
            let segments = self.whole_segments(left);
            self.avoid(now, segments);
        }
    }

    /// What HyStart makes of an acknowledgment; where it ends slow start, congestion avoidance begins
    /// with this one (cubictcp_acked comes before cubictcp_cong_avoid).
    fn watch(&mut self, now: Time, ack: &AckSample) -> SlowStartPace {
        let tick = now.as_nanos() / TICK.as_nanos();
        // Samples right after a recovery are not believed.
        if self.epoch.is_some_and(|epoch| tick.saturating_sub(epoch.began) < HZ) {
            return SlowStartPace::Full;
        }
        self.watch.on_rtt(ack.rtt);
        if !self.window.in_slow_start() {
            return SlowStartPace::Full;
        }
        let Window { smss, cwnd, ssthresh, .. } = self.window;
        let slow_start = SlowStart { cwnd, smss, initial: ssthresh == Bytes::MAX };
        let pace = self.watch.on_ack(now, ack, slow_start);
        if pace == SlowStartPace::Leave {
            self.window.ssthresh = cwnd.max(smss * 2);
        }
        pace
    }

    /// ssthresh: beta of cwnd (§4.6), in whole segments, and W_max (§4.7).
    fn reduce(&mut self, now: Time, beta_parts: u64) {
        self.watch.on_reduction();
        if let Some((_, cwnd)) = self.opened.filter(|(at, _)| *at == now) {
            self.window.cwnd = cwnd;
        }
        let cwnd = self.cwnd_segments();
        let gives_way = self.knobs.fast_convergence && cwnd < self.w_max;
        self.w_max = match gives_way {
            true => cwnd * (1024 + self.beta_parts()) / 2048,
            false => cwnd,
        };
        // What was counted towards the next segment is lost (tcp_init_cwnd_reduction).
        (self.epoch, self.counted) = (None, 0);
        self.window.ssthresh = self.window.smss * (cwnd * beta_parts / 1024).max(2);
    }

    /// Time without anything outstanding is none of the epoch's.
    fn leave_out_idle_time(&mut self, now: Time, ack: &AckSample) {
        if let Some(since) = self.idle_since.take()
            && let Some(epoch) = &mut self.epoch
        {
            let sent = now.saturating_since(since).saturating_sub(ack.rtt.unwrap_or(Span::ZERO));
            epoch.began += sent.as_nanos() / TICK.as_nanos();
        }
        if ack.snd_una == ack.snd_nxt {
            self.idle_since = Some(now);
        }
    }
}

impl CongestionControl for LinuxCubic {
    fn on_established(&mut self, _now: Time, sizes: Established) {
        self.window.establish(sizes);
        self.watch.establish(sizes.paced);
    }

    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.leave_out_idle_time(now, ack);
        let pace = self.watch(now, ack);
        if ack.limit == SendLimit::Other {
            return;
        }
        self.opened = Some((now, self.window.cwnd));
        if self.window.in_slow_start() {
            self.slow_start(now, ack, pace);
        } else {
            let segments = self.whole_segments(ack.delivered);
            self.avoid(now, segments);
        }
    }

    fn on_congestion(&mut self, now: Time, event: CongestionEvent) {
        match event {
            CongestionEvent::Loss { response, .. } => {
                self.reduce(now, self.beta_parts());
                self.window.enter(response);
            }
            CongestionEvent::Mark { .. } => {
                // RFC 8511 §3: slow start overshoots, whatever says so.
                let gentle = self.knobs.beta_ecn.filter(|_| !self.window.in_slow_start());
                let gentle = gentle.map(|beta| (beta * PARTS).round() as u64);
                self.reduce(now, gentle.unwrap_or(self.beta_parts()));
                self.window.enter(LossResponse::FastRecovery);
            }
            CongestionEvent::Timeout { order, snd_nxt, .. } => {
                self.watch.on_timeout(now, snd_nxt);
                if order == TimeoutOrder::First {
                    self.reduce(now, self.beta_parts());
                }
                self.window.time_out();
                // All that is known of the path is forgotten (bictcp_reset).
                (self.epoch, self.w_max) = (None, 0);
                (self.pace, self.counted) = (Pace::default(), 0);
            }
            CongestionEvent::Undone { cwnd, ssthresh } => self.window.set(cwnd, ssthresh),
            CongestionEvent::Restart { cwnd, ssthresh } => self.window.set(cwnd, ssthresh),
            CongestionEvent::Recovered { cwnd_at_most } => self.window.recovered(cwnd_at_most),
        }
    }

    fn cwnd(&self) -> Bytes {
        self.window.cwnd
    }

    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what a test expects may be off by a bit")]
mod tests;
