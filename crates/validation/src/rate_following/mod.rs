//! A shaper that follows a cellular link, compared with fixed rates and with an oracle, in simulated time.
//!
//! | file | what |
//! | --- | --- |
//! | `mod.rs` | `percentile`, `limits`: the shapers over one trace |
//! | `run.rs` | one shaper over one trace |
//! | `synthetic.rs` | [`synthetic`]: a trace drawn at random |
//!
//! ```text
//! server ── 15 ms ── gateway [shaper: FQ-CoDel] ── modem [drop-tail] ── trace, 10 ms ── phone
//! ```
//!
//! Two downloads fill the link. A voice flow of 50 datagrams per second shares it: its delay is that of everything that
//! is not a download.
//!
//! The shaper is a link of the path whose rate is changed at each decision; the meter and the control law are those of
//! the gateway. Differences to the gateway: this shaper passes a packet on when its last bit is sent, the gateway when
//! its first one is; the meter observes it at that instant, and no loop of a process is late.

mod run;
mod synthetic;
#[cfg(test)]
mod tests;

use ackord_path::Trace;
use ackord_path::follow::RateLimits;
use ackord_scenario::Errors;
use ackord_sim::{BuildError, ChangeError, RunError};
use ackord_units::{Rate, Span, Time};
use std::path::PathBuf;

pub use run::Shaped;
pub use synthetic::synthetic;

/// Rates are those of windows of so long where a share of them is meant.
const WINDOW: Span = Span::from_secs(1);

/// What sets the shaper's rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ShapedBy {
    /// Always this rate.
    Fixed(Rate),
    /// The trace itself: its rate over this time to come, times a share.
    Oracle(Span, f64),
    /// The control law.
    Follow(RateLimits),
    /// No shaper: the modem's queue is the only one.
    Nothing,
}

/// A comparison over one trace.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The file with the trace.
    pub trace: PathBuf,
    /// Length of a run.
    pub duration: Span,
    /// Packets that the modem queues at most.
    pub modem: u32,
    /// The congestion control of the downloads.
    pub congestion: String,
}

/// Why a comparison cannot be made. Each but the first is a defect of this project.
#[derive(Debug, thiserror::Error)]
pub enum RateFollowingError {
    /// The scenario is not sound: the trace cannot be read.
    #[error(transparent)]
    Scenario(#[from] Errors),
    /// The path cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The shaper's rate cannot be changed.
    #[error(transparent)]
    Change(#[from] ChangeError),
    /// The run ended badly.
    #[error(transparent)]
    Run(#[from] RunError),
}

/// The mean rate of a trace from `from` on, over `span`; the trace begins anew at its end.
pub(crate) fn rate_between(trace: &Trace, from: Time, span: Span) -> Rate {
    let bytes = delivered_until(trace, from + span) - delivered_until(trace, from);
    let bits = 8.0 * bytes as f64 / span.as_secs_f64();
    Rate::from_bits_per_sec(bits as u64)
}

/// Bytes that a trace delivers up to `until`.
fn delivered_until(trace: &Trace, until: Time) -> u64 {
    let (nanos, length) = (until.as_nanos(), trace.duration().as_nanos());
    let rest = Span::from_nanos(nanos % length);
    let within: u64 = trace
        .instants()
        .iter()
        .take_while(|one| one.at <= rest)
        .map(|one| u64::from(one.count))
        .sum();
    (nanos / length * trace.opportunities() + within) * ackord_path::OPPORTUNITY.get()
}

/// The rate below which a share of the trace's windows of a second are.
pub fn percentile(trace: &Trace, share: f64) -> Rate {
    let count = (trace.duration().as_nanos() / WINDOW.as_nanos()).max(1);
    let begins = (0..count).map(|index| Time::ZERO + WINDOW * index);
    let mut rates: Vec<Rate> = begins.map(|at| rate_between(trace, at, WINDOW)).collect();
    rates.sort_unstable();
    let index = (share * (rates.len() - 1) as f64).round() as usize;
    rates[index]
}

/// The limits of every comparison: those of a user who knows nothing about the link.
pub fn limits() -> RateLimits {
    RateLimits::between(Rate::from_bits_per_sec(100_000), Rate::from_mbits_per_sec(100))
}
