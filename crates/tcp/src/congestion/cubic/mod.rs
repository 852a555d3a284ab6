//! CUBIC (RFC 9438); `linux.rs` has it as Linux counts it.
//!
//! Windows are kept in bytes; the cubic function works in segments and seconds as the RFC does.
//! The cube root is our own (Newton's method), so that every platform gives the same bits.
//! Slow start may be left early by `hystart.rs`.

mod linux;

use super::growth::{AbcKnobs, GROWTH, GrowthBy};
use super::hystart::{HyStart, SlowStart, SlowStartPace, SlowStartWatch};
use super::{
    AckSample, CongestionConfig, CongestionControl, CongestionEvent, Established, Growth,
    LossResponse, SendLimit, TimeoutOrder, Window,
};
use ackord_units::{Bytes, Keyword, Knobs, Time};

/// Cubic growth towards the window of the last loss
#[derive(Clone, Copy, Debug, PartialEq, Knobs)]
#[mechanism(family = "congestion", name = "cubic", source = "RFC 9438")]
pub struct CubicConfig {
    /// Scale of the cubic function, segments per second cubed
    #[knob(min = 0.001, max = 100.0, default = "0.4", source = "RFC 9438 §5.1")]
    pub c: f64,
    /// What is left of cwnd after a loss
    #[knob(min = 0.1, max = 0.95, default = "0.7", source = "RFC 9438 §4.6")]
    pub beta: f64,
    /// What is left of cwnd after a mark in congestion avoidance; beta when absent
    #[knob(min = 0.1, max = 0.95, source = "RFC 9438 §4.6; RFC 8511 §3 tries 0.85")]
    pub beta_ecn: Option<f64>,
    /// Give way when the window of the last loss is falling
    #[knob(default = "on", source = "RFC 9438 §4.7")]
    pub fast_convergence: bool,
    #[knob(like = GROWTH, default = "per-byte")]
    growth: GrowthBy,
    #[knob(flatten)]
    abc: AbcKnobs,
    /// How slow start may end before a loss: not, by HyStart (a train of acknowledgments, or a rise
    /// of the delay), or by HyStart++ and its conservative rounds
    #[knob(default = "off", source = "Ha and Rhee 2008 with Linux's constants; RFC 9406")]
    pub hystart: HyStart,
    /// Whose rules hold where Linux's differ: windows are whole segments, the pace of growth is
    /// looked up at most once in 32 ms while cwnd stands still, alpha_cubic never becomes one, a
    /// twentieth a round trip at least while no window of a loss is known, a timeout forgets that
    /// window, and the curve is looked up the least round trip ahead
    #[knob(default = "rfc", source = "RFC 9438 §4.2, §4.3, §4.8; tcp_cubic of Linux")]
    pub rules: CubicRules,
}

impl CubicConfig {
    /// What counts in slow start and in the Reno-friendly region; the cubic itself is a function of
    /// time.
    fn growth(&self) -> Growth {
        self.abc.growth(self.growth)
    }
}

impl CongestionConfig for CubicConfig {
    fn build(&self) -> Box<dyn CongestionControl> {
        match self.rules {
            CubicRules::Rfc => Box::new(Cubic::new(*self)),
            CubicRules::Linux => Box::new(linux::LinuxCubic::new(*self)),
        }
    }
}

/// Whose rules hold where Linux's differ from the RFC's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Keyword)]
pub enum CubicRules {
    /// RFC 9438.
    Rfc,
    /// Linux's: whole segments and ticks, and what else `linux.rs` says.
    Linux,
}

/// Cubic growth towards, and beyond, the window of the last loss.
#[derive(Clone, Debug)]
pub struct Cubic {
    knobs: CubicConfig,
    /// alpha_cubic before the window of the last loss is reached (§4.3).
    alpha: f64,
    growth: Growth,
    window: Window,
    /// W_max in segments, once there was a loss; unknown again after a timeout (§4.8).
    w_max: Option<f64>,
    /// cwnd_prior: cwnd in segments when ssthresh was last set, once it was.
    cwnd_prior: Option<f64>,
    /// The congestion avoidance stage under way; nothing before its first acknowledgment.
    epoch: Option<Epoch>,
    /// Growth that does not yet make a whole byte.
    carried: f64,
    /// What the last reduction replaced (§4.9.2).
    prior: Option<Prior>,
    watch: SlowStartWatch,
}

/// The state before a reduction.
#[derive(Clone, Copy, Debug)]
struct Prior {
    w_max: Option<f64>,
    cwnd_prior: Option<f64>,
    epoch: Option<Epoch>,
    carried: f64,
}

/// A congestion avoidance stage (§4.2).
#[derive(Clone, Copy, Debug)]
struct Epoch {
    started_at: Time,
    /// Time to reach W_max, in seconds (Eq. 2).
    k: f64,
    /// Where the plateau is, in segments.
    origin: f64,
    /// The window Reno would have, in segments (§4.3).
    w_est: f64,
    /// cwnd when ssthresh was last set, or at the start if it never was, in segments.
    cwnd_prior: f64,
}

impl Cubic {
    /// A control with these constants, by the RFC.
    pub fn new(knobs: CubicConfig) -> Cubic {
        Cubic {
            watch: SlowStartWatch::new(knobs.hystart),
            growth: knobs.growth(),
            alpha: 3.0 * (1.0 - knobs.beta) / (1.0 + knobs.beta),
            knobs,
            window: Window::new(),
            w_max: None,
            cwnd_prior: None,
            epoch: None,
            carried: 0.0,
            prior: None,
        }
    }

    /// cwnd in segments.
    fn cwnd_segments(&self) -> f64 {
        self.window.cwnd.get() as f64 / self.window.smss.get() as f64
    }

    fn begin_epoch(&self, now: Time) -> Epoch {
        let cwnd = self.cwnd_segments();
        // Without an earlier loss (slow start left by other means, §4.10), and after a timeout
        // (§4.8), the plateau is here.
        let origin = self.w_max.unwrap_or(cwnd).max(cwnd);
        Epoch {
            started_at: now,
            k: cube_root((origin - cwnd) / self.knobs.c),
            origin,
            w_est: cwnd,
            cwnd_prior: self.cwnd_prior.unwrap_or(cwnd),
        }
    }

    fn avoid(&mut self, now: Time, ack: &AckSample) {
        let mut epoch = self.epoch.unwrap_or_else(|| self.begin_epoch(now));
        let c = self.knobs.c;
        let cwnd = self.cwnd_segments();
        let segments = |bytes: Bytes| bytes.get() as f64 / self.window.smss.get() as f64;
        let acked = segments(ack.acked);
        let rtt = ack.srtt.or(ack.rtt).map_or(0.0, |rtt| rtt.as_secs_f64());
        let elapsed = (now - epoch.started_at).as_secs_f64();

        // Eq. 4: the window Reno would have; alpha becomes 1 once it passes the old one.
        let past = epoch.w_est >= epoch.cwnd_prior;
        let alpha = if past { 1.0 } else { self.alpha };
        let counted = self.growth.avoidance_step(ack.acked, self.window.smss);
        let counted = if counted == ack.acked { acked } else { segments(counted) };
        epoch.w_est += alpha * counted / cwnd;

        // Eq. 1, at the present and one round trip ahead.
        let w_cubic = |t: f64| c * (t - epoch.k) * (t - epoch.k) * (t - epoch.k) + epoch.origin;
        let growth = if w_cubic(elapsed) < epoch.w_est {
            // §4.3: the Reno-friendly region.
            (epoch.w_est - cwnd).max(0.0)
        } else {
            // §4.4, §4.5, with the target bounded to [cwnd, 1.5 cwnd] by §4.2.
            let target = w_cubic(elapsed + rtt).clamp(cwnd, 1.5 * cwnd);
            (target - cwnd) / cwnd * acked
        };
        self.epoch = Some(epoch);
        // The one place where segments become bytes: whole ones, the rest carried on.
        let bytes = growth.min(acked + 1.0) * self.window.smss.get() as f64 + self.carried;
        let whole = bytes as u64;
        self.window.cwnd += Bytes(whole);
        self.carried = bytes - whole as f64;
    }

    fn slow_start(&mut self, now: Time, ack: &AckSample) {
        let Window { smss, cwnd, ssthresh, after } = self.window;
        let initial = ssthresh == Bytes::MAX;
        let step = match self.watch.limit(smss, initial) {
            Some(limit) => ack.acked.min(limit),
            None => self.growth.slow_start_step(ack.acked, smss, after),
        };
        match self.watch.on_ack(now, ack, SlowStart { cwnd, smss, initial }) {
            SlowStartPace::Full => {
                self.window.slow_start_by(step);
                let left = self.growth.left_over(ack.acked, self.window.cwnd - cwnd);
                if left > Bytes::ZERO && self.window.cwnd == ssthresh {
                    self.avoid(now, &AckSample { acked: left, ..*ack });
                }
            }
            SlowStartPace::Divided(divisor) => self.window.slow_start_by(step / divisor),
            // RFC 9406 §4.2: ssthresh = cwnd; congestion avoidance begins with the next.
            SlowStartPace::Leave => {
                self.window.ssthresh = cwnd.max(smss * 2);
                self.cwnd_prior = Some(self.cwnd_segments());
            }
        }
    }

    fn reduce(&mut self, flight_size: Bytes, beta: f64) {
        self.watch.on_reduction();
        let Cubic { w_max, cwnd_prior, epoch, carried, .. } = *self;
        self.prior = Some(Prior { w_max, cwnd_prior, epoch, carried });
        let cwnd = self.cwnd_segments();
        self.cwnd_prior = Some(cwnd);
        let gives_way = self.knobs.fast_convergence && self.w_max.is_some_and(|w_max| cwnd < w_max);
        // §4.7: W_max = cwnd * (1 + beta) / 2 while the window is falling.
        self.w_max = Some(if gives_way { cwnd * (1.0 + self.knobs.beta) / 2.0 } else { cwnd });
        self.window.reduce_ssthresh(flight_size, beta);
        self.epoch = None;
        self.carried = 0.0;
    }
}

impl CongestionControl for Cubic {
    fn on_established(&mut self, _now: Time, sizes: Established) {
        self.window.establish(sizes);
        self.watch.establish(sizes.paced);
    }

    fn on_ack(&mut self, now: Time, ack: &AckSample) {
        self.watch.on_rtt(ack.rtt);
        if ack.limit == SendLimit::Other {
            // §5.8: the epoch must not run on while the application is idle.
            self.epoch = None;
            return;
        }
        if self.window.in_slow_start() {
            self.slow_start(now, ack);
        } else {
            self.avoid(now, ack);
        }
    }

    fn on_congestion(&mut self, now: Time, event: CongestionEvent) {
        match event {
            CongestionEvent::Loss { flight_size, response } => {
                self.reduce(flight_size, self.knobs.beta);
                self.window.enter(response);
            }
            CongestionEvent::Mark { flight_size } => {
                let CubicConfig { beta, beta_ecn, .. } = self.knobs;
                // RFC 8511 §3: slow start overshoots, whatever says so.
                let gentle = beta_ecn.filter(|_| !self.window.in_slow_start());
                self.reduce(flight_size, gentle.unwrap_or(beta));
                self.window.enter(LossResponse::FastRecovery);
            }
            CongestionEvent::Timeout { flight_size, order, snd_nxt } => {
                self.watch.on_timeout(now, snd_nxt);
                if order == TimeoutOrder::First {
                    self.reduce(flight_size, self.knobs.beta);
                }
                self.epoch = None;
                self.window.time_out();
                // §4.8: the curve begins at its plateau, wherever slow start ends.
                self.w_max = None;
            }
            CongestionEvent::Undone { cwnd, ssthresh } => {
                self.window.set(cwnd, ssthresh);
                // §4.9.2: W_max and the epoch are those of before, as if nothing had happened.
                if let Some(Prior { w_max, cwnd_prior, epoch, carried }) = self.prior.take() {
                    (self.w_max, self.cwnd_prior) = (w_max, cwnd_prior);
                    (self.epoch, self.carried) = (epoch, carried);
                }
            }
            CongestionEvent::Restart { cwnd, ssthresh } => {
                self.window.set(cwnd, ssthresh);
                // The idle time is none of the epoch's.
                self.epoch = None;
            }
            CongestionEvent::Recovered { cwnd_at_most } => {
                self.epoch = None;
                self.window.recovered(cwnd_at_most);
            }
        }
    }

    fn cwnd(&self) -> Bytes {
        self.window.cwnd
    }

    fn ssthresh(&self) -> Bytes {
        self.window.ssthresh
    }
}

/// The cube root of a non-negative number by Newton's method: the same bits everywhere, which the
/// system's mathematics library does not promise.
fn cube_root(x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    // A third of the exponent is a first guess within a factor of two; each step doubles the
    // correct bits, so seven are more than enough for 53.
    let exponent = ((x.to_bits() >> 52) as i64 - 1023) / 3;
    let mut root = f64::from_bits(((exponent + 1023) as u64) << 52);
    for _ in 0..7 {
        root = (2.0 * root + x / (root * root)) / 3.0;
    }
    root
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "what a test expects may be off by a bit")]
mod tests;
