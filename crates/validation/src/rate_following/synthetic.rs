//! A trace drawn at random, in the manner of a phone that moves: the logarithm of the rate returns to its mean, and at
//! times nothing is delivered at all.

use ackord_path::{Trace, TraceError};
use ackord_units::{RandomStream, Rate, Span, Time, portable};

/// Time from one draw to the next.
const STEP: Span = Span::from_millis(20);
/// The logarithm of the rate returns to its mean in so long.
const RETURNS_IN: Span = Span::from_secs(2);
/// Standard deviation of the logarithm: a factor of two.
const SPREAD: f64 = 0.7;
/// Mean time from one outage to the next, and the mean length of one.
const OUTAGES: (f64, f64) = (20.0, 0.3);

/// Returns a trace of this mean rate (of its logarithm) and length, always the same for a seed.
///
/// # Errors
/// If nothing is delivered.
pub fn synthetic(seed: u64, mean: Rate, duration: Span) -> Result<Trace, TraceError> {
    let mut stream = RandomStream::for_element(seed, "synthetic cellular trace");
    let keeps = portable::exp(-STEP.as_secs_f64() / RETURNS_IN.as_secs_f64());
    let kick = SPREAD * (1.0 - keeps * keeps).sqrt();
    let (mut log, mut bits) = (0.0, 0.0);
    let mut totals = Vec::new();
    let (every, lasts) = OUTAGES;
    let mut outage = (every * stream.standard_exponential(), 0.0);
    let steps = duration.as_nanos() / STEP.as_nanos();
    for step in 0..steps {
        let at = (STEP * step).as_secs_f64();
        log = keeps * log + kick * stream.standard_normal();
        if at >= outage.0 + outage.1 {
            let begins = at + every * stream.standard_exponential();
            outage = (begins, lasts * stream.standard_exponential());
        }
        if at < outage.0 {
            bits += mean.as_bits_per_sec() as f64 * portable::exp(log) * STEP.as_secs_f64();
        }
        totals.push((bits / 8.0) as u64);
    }
    Trace::of_deliveries(duration, |now| {
        // Between two steps the rate is constant.
        let nanos = (now - Time::ZERO).as_nanos();
        let step = (nanos / STEP.as_nanos()) as usize;
        let total = |step: usize| totals.get(step).or(totals.last()).copied().unwrap_or(0);
        let before = if step == 0 { 0 } else { total(step - 1) };
        let part = nanos % STEP.as_nanos();
        before + (total(step) - before) * part / STEP.as_nanos()
    })
}
